//! Tests of HALU's f32 instructions and conversions against rustc_apfloat.

use crate::machine::Machine;
use crate::random::{FLOATS, INTEGERS, Random};
use halfbyte_isa::half::{Compare, Format, Rounding};
use halfbyte_isa::halu::{Inst, Opcode, fields as f};
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float, Round};

const ROUND: Round = Round::NearestTiesToEven;

/// Executes an instruction with the words in its source registers R1, R2 and R3, and returns R0.
fn run(inst: Inst, [a, b, c]: [u32; 3]) -> u32 {
    inst.validate().unwrap();
    let mut m = Machine::default();
    m.gpr[1..4].copy_from_slice(&[a, b, c]);
    m.step(&inst);
    m.gpr[0]
}

/// Returns an instruction with the opcode `op`, the destination R0 and the single source R1.
fn unary(op: Opcode) -> Inst {
    Inst::new(op).with(f::RD, 0).with(f::R32, 1)
}

fn binary(op: Opcode) -> Inst {
    Inst::new(op).with(f::RD, 0).with(f::RA, 1).with(f::R32, 2)
}

fn single(bits: u32) -> Single {
    Single::from_bits(bits.into())
}

fn bits(x: Single) -> u32 {
    if x.is_nan() { 0x7FFF_FFFF } else { x.to_bits() as u32 }
}

/// Returns the correctly rounded square root of an f32, computed by an integer square root.
fn root(x: Single) -> Single {
    if x.is_zero() || x.is_nan() || (x.is_infinite() && !x.is_negative()) {
        return x;
    }
    if x.is_negative() {
        return Single::NAN;
    }
    // x = m * 2^(2k), where the integer m has 76 or 77 bits. The integer square root of m has at
    // least 38 bits, which is enough to round once with a sticky bit.
    let raw = x.to_bits() as u32;
    let exponent = (raw >> 23).max(1) as i32 - 150;
    let significand = if raw >> 23 == 0 { raw & 0x7F_FFFF } else { raw & 0x7F_FFFF | 0x80_0000 };
    let up = 75 - significand.ilog2() as i32;
    let up = up + (exponent - up).rem_euclid(2);
    let m = u128::from(significand) << up;
    let floor = m.isqrt();
    let sticky = u128::from(floor * floor != m);
    Single::from_u128_r(floor << 1 | sticky, ROUND).value.scalbn((exponent - up) / 2 - 1)
}

#[test]
fn arithmetic_rounds_to_nearest() {
    let mut random = Random(1);
    for _ in 0..100_000 {
        let words @ [a, b, c] = [0; 3].map(|_| random.word(&FLOATS));
        let [x, y, z] = words.map(single);
        let ffma = binary(Opcode::FFMA_RRR).with(f::R64, 3);
        assert_eq!(run(binary(Opcode::FADD_RR), words), bits(x.add_r(y, ROUND).value), "{a:x} + {b:x}");
        assert_eq!(run(binary(Opcode::FMUL_RR), words), bits(x.mul_r(y, ROUND).value), "{a:x} * {b:x}");
        assert_eq!(run(binary(Opcode::FDIV_RR), words), bits(x.div_r(y, ROUND).value), "{a:x} / {b:x}");
        assert_eq!(run(ffma, words), bits(x.mul_add_r(y, z, ROUND).value), "{a:x} * {b:x} + {c:x}");
        assert_eq!(run(unary(Opcode::FSQRT_R), words), bits(root(x)), "root of {a:x}");
        // This addend cancels the product except for the bits that rounding discards.
        let product = bits(x.mul_r(y, ROUND).value) ^ 0x8000_0000;
        assert_eq!(run(ffma, [a, b, product]), bits(x.mul_add_r(y, single(product), ROUND).value));
    }
}

#[test]
fn applies_abs_before_neg_to_sources() {
    let words = [0xC000_0000, 0xBF80_0000, 0];
    for (neg, abs, want) in [(0, 0, -3.0f32), (1, 0, 1.0), (0, 1, 1.0), (1, 1, -3.0)] {
        let inst = binary(Opcode::FADD_RR).with(f::RA_NEG, neg).with(f::RA_ABS, abs);
        assert_eq!(f32::from_bits(run(inst, words)), want, "neg {neg} abs {abs}");
    }
    let inst = binary(Opcode::FADD_RI).with(f::IMM32, 0x3F00_0000);
    assert_eq!(f32::from_bits(run(inst, words)), -1.5);
}

#[test]
fn fsetp_compares() {
    let mut random = Random(2);
    for _ in 0..5_000 {
        let [a, b] = [0; 2].map(|_| random.word(&FLOATS));
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let unordered = x.is_nan() || y.is_nan();
        for (i, ordered) in [x < y, x == y, x <= y, x > y, x != y && !unordered, x >= y].into_iter().enumerate() {
            for (compare, want) in [(Compare::ALL[i], ordered), (Compare::ALL[i + 8], ordered || unordered)] {
                let inst = binary_compare(compare);
                let mut m = Machine::default();
                m.gpr[1..3].copy_from_slice(&[a, b]);
                m.step(&inst);
                assert_eq!((m.pred[1], m.pred[2]), (want, !want), "{a:x} {compare:?} {b:x}");
            }
        }
    }
}

fn binary_compare(compare: Compare) -> Inst {
    let inst = Inst::new(Opcode::FSETP_RR).with(f::RA, 1).with(f::R32, 2).with(f::PU, 1).with(f::PV, 2);
    inst.with(f::CMP, compare.code().into())
}

#[test]
fn integers_and_floats() {
    let mut random = Random(3);
    for _ in 0..50_000 {
        let int = random.word(&INTEGERS);
        let (i2f, f2i) = (unary(Opcode::I2F_R), unary(Opcode::F2I_R));
        assert_eq!(run(i2f, [int, 0, 0]), bits(Single::from_u128_r(int.into(), ROUND).value), "{int}");
        let signed = i128::from(int as i32);
        assert_eq!(run(i2f.with(f::SIGN, 1), [int, 0, 0]), bits(Single::from_i128_r(signed, ROUND).value), "{signed}");

        // Besides edge cases, the operands are numbers with all exponents from -8 to 39.
        let float = random.word(&FLOATS);
        let float = float & 0x807F_FFFF | (0x3B80_0000 + (float >> 3) % 48 * 0x80_0000);
        for float in [float, random.word(&FLOATS)] {
            let exact = f64::from(f32::from_bits(float));
            let whole = if exact.is_nan() { 0 } else { exact.trunc().clamp(-1e10, 1e10) as i64 };
            assert_eq!(run(f2i, [float, 0, 0]), whole.clamp(0, u32::MAX.into()) as u32, "{exact}");
            let want = whole.clamp(i32::MIN.into(), i32::MAX.into()) as u32;
            assert_eq!(run(f2i.with(f::SIGN, 1), [float, 0, 0]), want, "{exact}");
        }
    }
}

#[test]
fn halves_and_floats() {
    let mut random = Random(4);
    let narrow = [Opcode::F2F_F16_F32, Opcode::F2F_BF16_F32];
    let widen = [Opcode::F2F_F32_F16, Opcode::F2F_F32_BF16];
    for _ in 0..20_000 {
        let words @ [a, b, _] = [0; 3].map(|_| random.word(&FLOATS));
        for (i, format) in Format::ALL.into_iter().enumerate() {
            for (code, rounding) in (0..).zip(Rounding::ALL) {
                let inst = unary(narrow[i]).with(f::RND, code);
                assert_eq!(run(inst, words), u32::from(format.narrow(a, rounding)));
                assert_eq!(run(inst.with(f::SLOT_NEG, 1), words), u32::from(format.narrow(a ^ 0x8000_0000, rounding)));
                let pack = binary(Opcode::F2FP_RR).with(f::HFMT, i as u64).with(f::RND, code);
                let pair = [a, b].map(|x| u32::from(format.narrow(x, rounding)));
                assert_eq!(run(pack, words), pair[0] << 16 | pair[1]);
            }
            let inst = unary(widen[i]);
            assert_eq!(run(inst, words), format.widen(a as u16));
            assert_eq!(run(inst.with(f::LANE, 1), words), format.widen((a >> 16) as u16));
            let negative = inst.with(f::LANE, 1).with(f::SLOT_ABS, 1).with(f::SLOT_NEG, 1);
            assert_eq!(run(negative, words), format.widen((a >> 16) as u16 | 0x8000));
        }
    }
}

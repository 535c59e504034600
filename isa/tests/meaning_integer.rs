//! Tests of HALU's integer instructions against plain 64-bit arithmetic.

use crate::machine::Machine;
use crate::random::{INTEGERS, Random};
use halfbyte_isa::halu::{Inst, Opcode, fields as f};

/// Returns a machine that holds the words in R0, R1 and so on.
fn machine(words: &[u32]) -> Machine {
    let mut m = Machine::default();
    m.gpr[..words.len()].copy_from_slice(words);
    m
}

/// Returns an instruction with the opcode `op`, the sources R1, R2 and R3, and the destination R8 (or R8 and R9).
fn three(op: Opcode) -> Inst {
    Inst::new(op).with(f::RD, 8).with(f::RA, 1).with(f::R32, 2).with(f::R64, 3)
}

#[test]
fn iadd3_is_the_exact_sum() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let [a, b, c] = [0; 3].map(|_| random.word(&INTEGERS));
        let choice = random.next();
        let (extended, carry_in) = (choice & 8 != 0, choice & 16 != 0);
        let neg = [0, 1, 2].map(|i| choice >> i & 1);
        let mut inst = three(Opcode::IADD3_RRR)
            .with(f::PU, 1)
            .with(f::RA_NEG, neg[0])
            .with(f::SLOT_NEG, neg[1])
            .with(f::R64_NEG, neg[2]);
        if extended {
            inst = inst.with(f::X, 1).with(f::PP, 0).with(f::PP_NOT, 0);
        }
        inst.validate().unwrap();
        let mut m = machine(&[0, a, b, c]);
        m.pred[0] = carry_in;
        m.step(&inst);
        let mut sum = u64::from(extended && carry_in);
        for (x, neg) in [a, b, c].into_iter().zip(neg) {
            sum += if neg == 0 { x.into() } else { u64::from(!x) + u64::from(!extended) };
        }
        assert_eq!((m.gpr[8], m.pred[1]), (sum as u32, sum >= 1 << 32), "{a:x} {b:x} {c:x} {choice:b}");
    }
}

#[test]
fn iadd3_composes_to_64_bits() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let words = [0; 4].map(|_| random.word(&INTEGERS));
        let [a, b] = [0, 2].map(|i| u64::from(words[i + 1]) << 32 | u64::from(words[i]));
        for subtract in [0, 1] {
            let base = Inst::new(Opcode::IADD3_RRR).with(f::SLOT_NEG, subtract);
            let mut m = machine(&words);
            m.step(&base.with(f::RD, 8).with(f::PU, 0).with(f::RA, 0).with(f::R32, 2));
            let high = base.with(f::RD, 9).with(f::RA, 1).with(f::R32, 3);
            m.step(&high.with(f::X, 1).with(f::PP, 0).with(f::PP_NOT, 0));
            let got = u64::from(m.gpr[9]) << 32 | u64::from(m.gpr[8]);
            let want = if subtract == 0 { a.wrapping_add(b) } else { a.wrapping_sub(b) };
            assert_eq!(got, want, "{a:x} {subtract} {b:x}");
        }
    }
}

#[test]
fn imad_and_imad_wide() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let words @ [a, b, c, d] = [0; 4].map(|_| random.word(&INTEGERS));
        let mut m = machine(&[0, a, b, c]);
        m.step(&three(Opcode::IMAD_RRR));
        assert_eq!(m.gpr[8], a.wrapping_mul(b).wrapping_add(c), "{words:x?}");
        for signed in [false, true] {
            let mut m = machine(&[0, a, b, 0, c, d]);
            m.step(&three(Opcode::IMAD_WIDE_RRR).with(f::R64, 4).with(f::SIGN, signed.into()));
            let extend = |x: u32| {
                if signed { i64::from(x as i32) } else { i64::from(x) }
            };
            let addend = i64::from(d) << 32 | i64::from(c);
            let want = extend(a).wrapping_mul(extend(b)).wrapping_add(addend) as u64;
            assert_eq!((m.gpr[8], m.gpr[9]), (want as u32, (want >> 32) as u32), "{words:x?} {signed}");
        }
    }
}

#[test]
fn division_of_words_and_pairs() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let words @ [a, b, c, d] = [0; 4].map(|_| random.word(&INTEGERS));
        let shift = random.next() as u32 % 32;
        for (x, y) in [(a, b), (a, b >> shift), (a, 0), (1 << 31, u32::MAX)] {
            let (s, t) = (x as i32, y as i32);
            let signed = if y == 0 { [u32::MAX; 2] } else { [s.wrapping_div(t), s.wrapping_rem(t)].map(|x| x as u32) };
            let unsigned = [x.checked_div(y), x.checked_rem(y)].map(|result| result.unwrap_or(u32::MAX));
            for (sign, expected) in [(0, unsigned), (1, signed)] {
                for (opcode, expected) in [Opcode::IDIV_RR, Opcode::IREM_RR].into_iter().zip(expected) {
                    let mut m = machine(&[0, x, y]);
                    m.step(&Inst::new(opcode).with(f::RD, 8).with(f::RA, 1).with(f::R32, 2).with(f::SIGN, sign));
                    assert_eq!(m.gpr[8], expected, "{opcode:?} {sign} {x:x} {y:x}");
                }
            }
        }
        let (x, y) = (u64::from(b) << 32 | u64::from(a), (u64::from(d) << 32 | u64::from(c)) >> (2 * shift));
        let mut m = machine(&[a, b, y as u32, (y >> 32) as u32]);
        let inst = Inst::new(Opcode::IDIV_WIDE_RR).with(f::RD, 8).with(f::RA, 0).with(f::R32, 2).with(f::SIGN, 1);
        m.step(&inst);
        let want = if y == 0 { u64::MAX } else { (x as i64).wrapping_div(y as i64) as u64 };
        assert_eq!(u64::from(m.gpr[9]) << 32 | u64::from(m.gpr[8]), want, "{words:x?}");
    }
}

#[test]
fn lea_scales_and_adds() {
    let mut random = Random(9);
    for shift in 0..32 {
        let [a, b] = [0; 2].map(|_| random.word(&INTEGERS));
        let mut m = machine(&[0, a, b, 0]);
        m.step(&Inst::new(Opcode::LEA).with(f::RD, 8).with(f::RA, 1).with(f::R32, 2).with(f::SHIFT, shift));
        assert_eq!(m.gpr[8], (a << shift).wrapping_add(b), "{a:x} << {shift} + {b:x}");
    }
}

#[test]
fn lop3_applies_its_truth_table() {
    let mut random = Random(4);
    for lut in 0..=255 {
        for [a, b, c] in [[0xF0, 0xCC, 0xAA], [0; 3].map(|_| random.next() as u32)] {
            let mut m = machine(&[0, a, b, c]);
            m.step(&three(Opcode::LOP3_RRR).with(f::LUT, lut));
            for i in 0..32 {
                let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
                assert_eq!(u64::from(m.gpr[8] >> i & 1), lut >> index & 1, "table {lut:#x}, bit {i}");
            }
        }
    }
}

#[test]
fn shf_shifts_a_pair() {
    let mut random = Random(5);
    for count in (0..64).chain([0x8000_0000, 0xFFFF_FFFF]) {
        for _ in 0..50 {
            let [low, high] = [0; 2].map(|_| random.word(&INTEGERS));
            let value = u64::from(high) << 32 | u64::from(low);
            for (right, signed, hi) in (0..8).map(|i| (i & 1, i >> 1 & 1, i >> 2 & 1)) {
                let mut m = machine(&[0, low, count, high]);
                m.step(&three(Opcode::SHF_RRR).with(f::DIR, right).with(f::SIGN, signed).with(f::HI, hi));
                let shifted = match (right, signed) {
                    (0, _) => value << (count % 32),
                    (_, 0) => value >> (count % 32),
                    _ => ((value as i64) >> (count % 32)) as u64,
                };
                assert_eq!(m.gpr[8], (shifted >> (32 * hi)) as u32, "{value:x} by {count}: {right} {signed} {hi}");
            }
        }
    }
}

#[test]
fn prmt_with_every_selector() {
    let (a, c) = (0x8001_7FFEu32, 0x9012_C334u32);
    let bytes = [a.to_le_bytes(), c.to_le_bytes()].concat();
    for selector in 0..=0xFFFFu32 {
        let mut m = machine(&[0, a, 0xABCD_0000 | selector, c]);
        m.step(&three(Opcode::PRMT_RRR));
        let want = std::array::from_fn(|i| {
            let nibble = selector >> (4 * i) & 15;
            let byte = bytes[nibble as usize & 7];
            if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
        });
        assert_eq!(m.gpr[8], u32::from_le_bytes(want), "{selector:#06x}");
    }
    let mut m = machine(&[0, a, 0, c]);
    m.step(&Inst::new(Opcode::PRMT_RIR).with(f::RD, 8).with(f::RA, 1).with(f::R64, 3).with(f::IMM16, 0xBA98));
    assert_eq!(m.gpr[8], 0xFF00_00FF);
}

type Relation = fn(i64, i64) -> bool;

/// The comparison operators, each with its encoding in the instruction word.
const RELATIONS: [(u64, Relation); 6] = [
    (1, |a, b| a < b),
    (2, |a, b| a == b),
    (3, |a, b| a <= b),
    (4, |a, b| a > b),
    (5, |a, b| a != b),
    (6, |a, b| a >= b),
];

#[test]
fn isetp_compares_and_combines() {
    let mut random = Random(6);
    for _ in 0..2_000 {
        let [a, b] = [0; 2].map(|_| random.word(&INTEGERS));
        for (code, relation) in RELATIONS {
            for (signed, lop, pp) in (0..12).map(|i| (i & 1, i / 4, i >> 1 & 1 != 0)) {
                let inst = Inst::new(Opcode::ISETP_RR).with(f::RA, 1).with(f::R32, 2).with(f::PU, 1).with(f::PV, 2);
                let inst = inst.with(f::ICMP, code).with(f::SIGN, signed).with(f::LOP, lop).with(f::PP, 3);
                let mut m = machine(&[0, a, b]);
                m.pred[3] = pp;
                m.step(&inst);
                let extend = |x: u32| {
                    if signed == 1 { i64::from(x as i32) } else { i64::from(x) }
                };
                let combine = |p: bool| match lop {
                    0 => p && pp,
                    1 => p || pp,
                    _ => p != pp,
                };
                let p = relation(extend(a), extend(b));
                assert_eq!((m.pred[1], m.pred[2]), (combine(p), combine(!p)), "{a:x} {b:x} {inst:?}");
            }
        }
    }
}

#[test]
fn isetp_composes_to_64_bits() {
    let mut random = Random(7);
    for _ in 0..5_000 {
        let words = [0; 4].map(|_| random.word(&INTEGERS[..3]));
        let [a, b] = [0, 2].map(|i| (u64::from(words[i + 1]) << 32 | u64::from(words[i])) as i64);
        for (code, relation) in RELATIONS {
            for signed in [0, 1] {
                let base = Inst::new(Opcode::ISETP_RR).with(f::ICMP, code).with(f::PU, 0);
                let mut m = machine(&words);
                m.step(&base.with(f::RA, 0).with(f::R32, 2));
                m.step(&base.with(f::RA, 1).with(f::R32, 3).with(f::SIGN, signed).with(f::EX, 1).with(f::PX, 0));
                let flip = if signed == 1 { 0 } else { i64::MIN };
                assert_eq!(m.pred[0], relation(a ^ flip, b ^ flip), "{a:x} {b:x} {code} {signed}");
            }
        }
    }
}

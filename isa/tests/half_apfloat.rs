//! Tests of half arithmetic against rustc_apfloat, with every rounding in both formats. One operand
//! has every value; the other operands have edge cases and random values.

use std::cmp::Ordering;

use crate::random::Random;
use halfbyte_isa::half::{Clamp, Compare, Format, HalfMode, NAN, NAN_F32, Relation, Rounding};
use rustc_apfloat::ieee::{BFloat, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Edge cases of f16 and bfloat16: zeros, smallest and largest subnormals, smallest normals,
/// neighbours of one, largest finite numbers, infinities, NaNs.
const EDGES: [u16; 22] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x007F, 0x0080, 0x3C00, 0xBC00, 0x3BFF, 0x3F80, 0xBF81,
    0x7BFF, 0xFBFF, 0x7C00, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FFF,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Add,
    Mul,
    Fma,
}

const OPS: [Op; 3] = [Op::Add, Op::Mul, Op::Fma];

fn ours(op: Op, mode: HalfMode, [a, b, c]: [u16; 3]) -> u16 {
    match op {
        Op::Add => mode.add(a, b),
        Op::Mul => mode.mul(a, b),
        Op::Fma => mode.fma(a, b, c),
    }
}

fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
        Rounding::Zero => Round::TowardZero,
    }
}

/// Computes an operation on halves with apfloat, in the steps that the listing of seed 001 (the
/// HALU reference) prescribes.
fn oracle<F: Float>(op: Op, mode: HalfMode, operands: [u16; 3]) -> u16 {
    let flush = |x: F| {
        if mode.ftz && x.is_denormal() { F::ZERO.copy_sign(x) } else { x }
    };
    let [a, b, c] = operands.map(|x| flush(F::from_bits(x.into())));
    let rounding = round(mode.rounding);
    let d = match op {
        Op::Add => a.add_r(b, rounding),
        Op::Mul => a.mul_r(b, rounding),
        Op::Fma => a.mul_add_r(b, c, rounding),
    }
    .value;
    let one = F::from_u128(1).value;
    let d = match mode.clamp {
        Clamp::None => d,
        Clamp::Sat if d.is_nan() || d.is_negative() => F::ZERO,
        Clamp::Sat => d.minimum(one),
        Clamp::Relu if d < F::ZERO => F::ZERO,
        Clamp::Relu => d,
    };
    let d = flush(d);
    if d.is_nan() { NAN } else { d.to_bits() as u16 }
}

fn theirs(op: Op, mode: HalfMode, operands: [u16; 3]) -> u16 {
    match mode.format {
        Format::F16 => oracle::<Half>(op, mode, operands),
        Format::Bf16 => oracle::<BFloat>(op, mode, operands),
    }
}

fn check(op: Op, mode: HalfMode, operands: [u16; 3]) {
    let (got, want) = (ours(op, mode, operands), theirs(op, mode, operands));
    assert_eq!(got, want, "{op:?} {mode:?} of {operands:04x?}: {got:04x}, apfloat {want:04x}");
}

/// Returns the bits of a half: an edge case or uniformly random bits, with equal probability.
fn any(random: &mut Random) -> u16 {
    let bits = random.next();
    if bits & 1 == 0 { EDGES[(bits >> 1) as usize % EDGES.len()] } else { (bits >> 16) as u16 }
}

/// Returns the bits of a random half whose exponent is near that of `a`. The sum with `a` then
/// often cancels, and is rounded.
fn near(random: &mut Random, a: u16) -> u16 {
    let bits = random.next();
    a.wrapping_add(bits as u16 & 0x3FFF).wrapping_sub(0x2000) ^ ((bits >> 48) as u16 & 0x8000)
}

fn modes() -> impl Iterator<Item = HalfMode> {
    Format::ALL.into_iter().flat_map(|format| Rounding::ALL.map(|rounding| HalfMode::new(format, rounding)))
}

#[test]
fn every_first_operand() {
    let mut random = Random(1);
    for mode in modes() {
        for op in [Op::Add, Op::Mul] {
            for a in 0..=u16::MAX {
                check(op, mode, [a, near(&mut random, a), 0]);
                for _ in 0..12 {
                    check(op, mode, [a, any(&mut random), 0]);
                }
            }
        }
        for x in 0..=u16::MAX {
            for _ in 0..8 {
                let (y, z) = (any(&mut random), any(&mut random));
                check(Op::Fma, mode, [x, y, z]);
                check(Op::Fma, mode, [y, z, x]);
                // An addend near the product in magnitude detects a product that was rounded before the addition.
                let product = mode.mul(x, y);
                check(Op::Fma, mode, [x, y, near(&mut random, product)]);
                check(Op::Fma, mode, [x, y, product ^ 0x8000]);
            }
        }
    }
}

#[test]
fn every_combination_of_edges() {
    for mode in modes() {
        for a in EDGES {
            for b in EDGES {
                for c in EDGES {
                    check(Op::Fma, mode, [a, b, c]);
                }
                check(Op::Add, mode, [a, b, 0]);
                check(Op::Mul, mode, [a, b, 0]);
            }
        }
    }
}

#[test]
fn flush_and_clamp() {
    let mut random = Random(2);
    for mode in modes() {
        for clamp in [Clamp::None, Clamp::Sat, Clamp::Relu] {
            for ftz in [false, true] {
                let mode = HalfMode { ftz, clamp, ..mode };
                for op in OPS {
                    for a in 0..=u16::MAX {
                        check(op, mode, [a, any(&mut random), any(&mut random)]);
                    }
                }
            }
        }
    }
}

#[test]
fn min_max_and_compares() {
    fn check<F: Float>(format: Format, a: u16, b: u16) {
        let (x, y) = (F::from_bits(a.into()), F::from_bits(b.into()));
        let order = x.partial_cmp(&y);
        for compare in Compare::ALL {
            let want = match compare {
                Compare::NUM => order.is_some(),
                Compare::NAN => order.is_none(),
                Compare::LT => x < y,
                Compare::EQ => x == y,
                Compare::LE => x <= y,
                Compare::GT => x > y,
                Compare::GE => x >= y,
                Compare::NE => matches!(order, Some(Ordering::Less | Ordering::Greater)),
                Compare::LTU => order.is_none_or(Ordering::is_lt),
                Compare::EQU => order.is_none_or(Ordering::is_eq),
                Compare::LEU => order.is_none_or(Ordering::is_le),
                Compare::GTU => order.is_none_or(Ordering::is_gt),
                Compare::GEU => order.is_none_or(Ordering::is_ge),
                _ => x != y,
            };
            assert_eq!(compare.holds(format.compare(a, b)), want, "{format:?} {compare:?} {a:04x} {b:04x}");
        }
        let canonical = |x: F| if x.is_nan() { NAN } else { x.to_bits() as u16 };
        for (nan, min, max) in [
            (true, x.minimum(y), x.maximum(y)),
            (
                false,
                if y.is_nan() {
                    x
                } else if x.is_nan() {
                    y
                } else {
                    x.minimum(y)
                },
                {
                    if y.is_nan() {
                        x
                    } else if x.is_nan() {
                        y
                    } else {
                        x.maximum(y)
                    }
                },
            ),
        ] {
            assert_eq!(format.min(a, b, nan), canonical(min), "min {format:?} {a:04x} {b:04x} nan {nan}");
            assert_eq!(format.max(a, b, nan), canonical(max), "max {format:?} {a:04x} {b:04x} nan {nan}");
        }
        let flushed = if x.is_denormal() { F::ZERO.copy_sign(x) } else { x };
        assert_eq!(u128::from(format.flush(a)), if x.is_nan() { a.into() } else { flushed.to_bits() });
    }
    let mut random = Random(3);
    for a in 0..=u16::MAX {
        for b in [any(&mut random), any(&mut random), near(&mut random, a), a, a ^ 0x8000] {
            check::<Half>(Format::F16, a, b);
            check::<BFloat>(Format::Bf16, a, b);
        }
    }
    assert_eq!(Relation::from(Some(Ordering::Less)), Relation::Less);
}

#[test]
fn widening_is_exact() {
    fn check<F: Float + FloatConvert<Single>>(format: Format) {
        for bits in 0..=u16::MAX {
            let wide: Single = F::from_bits(bits.into()).convert(&mut false).value;
            let want = if wide.is_nan() { NAN_F32 } else { wide.to_bits() as u32 };
            assert_eq!(format.widen(bits), want, "{format:?} {bits:04x}");
        }
    }
    check::<Half>(Format::F16);
    check::<BFloat>(Format::Bf16);
}

#[test]
fn narrowing_rounds_once() {
    fn check<F: Float>(format: Format, bits: u32)
    where
        Single: FloatConvert<F>,
    {
        for rounding in Rounding::ALL {
            let narrow: F = Single::from_bits(bits.into()).convert_r(round(rounding), &mut false).value;
            let want = if narrow.is_nan() { NAN } else { narrow.to_bits() as u16 };
            assert_eq!(format.narrow(bits, rounding), want, "{format:?} {rounding:?} {bits:08x}");
        }
    }
    let mut random = Random(4);
    for half in 0..=u16::MAX {
        // Tests values around every half and around the midpoints between neighbouring halves, and random values.
        for (bits, middle) in [(Format::F16.widen(half), 0x1000), (Format::Bf16.widen(half), 0x8000)] {
            for offset in [0, 1, middle - 1, middle, middle + 1, !0] {
                check::<Half>(Format::F16, bits.wrapping_add(offset));
                check::<BFloat>(Format::Bf16, bits.wrapping_add(offset));
            }
        }
        let bits = random.next() as u32;
        check::<Half>(Format::F16, bits);
        check::<BFloat>(Format::Bf16, bits);
    }
}

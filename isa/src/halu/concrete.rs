//! The interpreter's domain, in which a word is a `u32` and a predicate is a `bool`.

use super::domain::{Divide, Domain, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, double_in_steps};
use crate::approx::Function;
use crate::half::{Compare, Format, NAN_F32, Relation, Rounding};

/// Evaluates operations on concrete values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Concrete;

/// Returns the bits of an f32 result, with NaN made canonical.
fn bits(x: f32) -> u32 {
    if x.is_nan() { NAN_F32 } else { x.to_bits() }
}

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Applies `f` to each lane of packed halves.
fn lanes<const N: usize>(words: [u32; N], mut f: impl FnMut([u16; N]) -> u16) -> u32 {
    let low = f(words.map(|w| w as u16));
    let high = f(words.map(|w| (w >> 16) as u16));
    u32::from(high) << 16 | u32::from(low)
}

#[rustfmt::skip]
impl Domain for Concrete {
    type Word = u32;
    type Pred = bool;

    fn word(&mut self, value: u32) -> u32 { value }
    fn truth(&mut self, value: bool) -> bool { value }

    fn and(&mut self, a: u32, b: u32) -> u32 { a & b }
    fn or(&mut self, a: u32, b: u32) -> u32 { a | b }
    fn xor(&mut self, a: u32, b: u32) -> u32 { a ^ b }
    fn not(&mut self, a: u32) -> u32 { !a }

    fn shl(&mut self, a: u32, count: u32) -> u32 { a.wrapping_shl(count) }
    fn shr(&mut self, a: u32, count: u32) -> u32 { a.wrapping_shr(count) }
    fn sar(&mut self, a: u32, count: u32) -> u32 { (a as i32).wrapping_shr(count) as u32 }

    fn add(&mut self, a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    fn sub(&mut self, a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    fn mul(&mut self, a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    fn mul_high(&mut self, signed: bool, a: u32, b: u32) -> u32 {
        if signed {
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
        } else {
            ((u64::from(a) * u64::from(b)) >> 32) as u32
        }
    }
    fn divide(&mut self, op: Divide, a: u32, b: u32) -> u32 {
        match (b, op.signed, op.remainder) {
            (0, ..) => u32::MAX,
            (_, false, false) => a / b,
            (_, false, true) => a % b,
            (_, true, false) => (a as i32).wrapping_div(b as i32) as u32,
            (_, true, true) => (a as i32).wrapping_rem(b as i32) as u32,
        }
    }
    fn divide_wide(&mut self, op: Divide, a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
        let [a, b] = [a, b].map(|[low, high]| u64::from(high) << 32 | u64::from(low));
        let result = match (b, op.signed, op.remainder) {
            (0, ..) => u64::MAX,
            (_, false, false) => a / b,
            (_, false, true) => a % b,
            (_, true, false) => (a as i64).wrapping_div(b as i64) as u64,
            (_, true, true) => (a as i64).wrapping_rem(b as i64) as u64,
        };
        [result as u32, (result >> 32) as u32]
    }
    fn equal(&mut self, a: u32, b: u32) -> bool { a == b }
    fn less(&mut self, signed: bool, a: u32, b: u32) -> bool {
        if signed { (a as i32) < b as i32 } else { a < b }
    }

    fn both(&mut self, p: bool, q: bool) -> bool { p & q }
    fn either(&mut self, p: bool, q: bool) -> bool { p | q }
    fn differ(&mut self, p: bool, q: bool) -> bool { p ^ q }
    fn negate(&mut self, p: bool) -> bool { !p }
    fn select(&mut self, p: bool, a: u32, b: u32) -> u32 { if p { a } else { b } }

    fn fadd(&mut self, a: u32, b: u32) -> u32 { bits(float(a) + float(b)) }
    fn fmul(&mut self, a: u32, b: u32) -> u32 { bits(float(a) * float(b)) }
    fn fma(&mut self, a: u32, b: u32, c: u32) -> u32 { bits(float(a).mul_add(float(b), float(c))) }
    fn fdiv(&mut self, a: u32, b: u32) -> u32 { bits(float(a) / float(b)) }
    fn fsqrt(&mut self, a: u32) -> u32 { bits(float(a).sqrt()) }
    fn elementary(&mut self, function: Function, a: u32) -> u32 { function.single(a) }
    fn fcompare(&mut self, compare: Compare, a: u32, b: u32) -> bool {
        compare.holds(Relation::from(float(a).partial_cmp(&float(b))))
    }
    fn int_to_float(&mut self, signed: bool, a: u32) -> u32 {
        bits(if signed { a as i32 as f32 } else { a as f32 })
    }
    fn float_to_int(&mut self, signed: bool, a: u32) -> u32 {
        if signed { float(a) as i32 as u32 } else { float(a) as u32 }
    }
    fn narrow(&mut self, format: Format, rounding: Rounding, a: u32) -> u32 { format.narrow(a, rounding).into() }
    fn widen(&mut self, format: Format, a: u32) -> u32 { format.widen(a as u16) }

    fn double(&mut self, op: &FloatOp, operands: [[u32; 2]; 3]) -> [u32; 2] {
        let [a, b, c] = operands.map(|[low, high]| f64::from_bits(u64::from(high) << 32 | u64::from(low)));
        let result = match op.kind {
            FloatKind::Add => a + b,
            FloatKind::Sub => a - b,
            FloatKind::Mul => a * b,
            FloatKind::Fma => a.mul_add(b, c),
            FloatKind::Div => a / b,
            FloatKind::Sqrt => a.sqrt(),
        };
        // The host rounds to nearest and has its own NaN payloads. For other rounding modes and for
        // NaN, the software implementation computes the result.
        if op.rounding != Rounding::Nearest || result.is_nan() {
            return double_in_steps(self, op, operands);
        }
        [result.to_bits() as u32, (result.to_bits() >> 32) as u32]
    }
    fn double_compare(&mut self, compare: Compare, a: [u32; 2], b: [u32; 2]) -> bool {
        let [a, b] = [a, b].map(|[low, high]| f64::from_bits(u64::from(high) << 32 | u64::from(low)));
        compare.holds(Relation::from(a.partial_cmp(&b)))
    }

    fn half(&mut self, op: &HalfOp, a: u32, b: u32, c: u32) -> u32 {
        lanes([a, b, c], |[a, b, c]| match op.kind {
            HalfKind::Add => op.mode.add(a, b),
            HalfKind::Mul => op.mode.mul(a, b),
            HalfKind::Fma => op.mode.fma(a, b, c),
        })
    }
    fn half_minmax(&mut self, op: &HalfMinMax, min: bool, a: u32, b: u32) -> u32 {
        let HalfMinMax { format, ftz, nan } = *op;
        lanes([a, b], |operands| {
            let [a, b] = operands.map(|x| if ftz { format.flush(x) } else { x });
            if min { format.min(a, b, nan) } else { format.max(a, b, nan) }
        })
    }
    fn half_compare(&mut self, op: &HalfCompare, a: u32, b: u32) -> [bool; 2] {
        let HalfCompare { format, ftz, compare } = *op;
        [0, 16].map(|lane| {
            let [a, b] = [a, b].map(|w| (w >> lane) as u16).map(|x| if ftz { format.flush(x) } else { x });
            compare.holds(format.compare(a, b))
        })
    }
}

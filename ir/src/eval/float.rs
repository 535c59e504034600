//! Floating-point arithmetic on the bits of a lane.
//!
//! Every arithmetic op has the same steps: flush subnormal operands if `ftz`, compute exactly, round once, clamp, flush
//! the rounded result, and replace every NaN by the canonical NaN of the format. In f64, an op with a NaN operand
//! returns the first NaN operand, quieted, instead of a canonical NaN.

use std::cmp::Ordering;

use halfbyte_abi::Elem;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::elementary::function;
use crate::attr::{Clamp, FloatCC, FloatFlags, Rounding};
use crate::op::Op;

/// Masks for the bit fields of a floating-point format.
#[derive(Clone, Copy)]
struct Format {
    sign: u64,
    infinity: u64,
    one: u64,
}

const INFINITY_F64: u64 = 0x7ff0_0000_0000_0000;
/// Quiet bit of an f64 NaN.
const QUIET_F64: u64 = 0x0008_0000_0000_0000;
/// Result of an invalid f64 operation whose operands are not NaN.
const INVALID_F64: u64 = 0xfff8_0000_0000_0000;

/// Returns the final result of an f64 op. If the result is NaN, returns the first NaN operand,
/// quieted, or the NaN of an invalid operation if no operand is NaN.
fn propagate_f64_nan(operands: &[u64], d: u64) -> u64 {
    let format = Format::of(Elem::F64);
    match operands.iter().find(|&&operand| format.is_nan(operand)) {
        _ if !format.is_nan(d) => d,
        Some(operand) => operand | QUIET_F64,
        None => INVALID_F64,
    }
}

impl Format {
    fn of(elem: Elem) -> Format {
        let (infinity, one) = match elem {
            Elem::F16 => (0x7c00, 0x3c00),
            Elem::BF16 => (0x7f80, 0x3f80),
            Elem::F64 => (INFINITY_F64, 0x3ff0_0000_0000_0000),
            _ => (0x7f80_0000, 0x3f80_0000),
        };
        let sign = elem.mask() ^ elem.mask() >> 1;
        Format { sign, infinity, one }
    }

    /// Returns the canonical NaN of the format: 0x7fff, or 0x7fffffff for f32.
    fn nan(self) -> u64 {
        self.sign - 1
    }

    fn is_nan(self, a: u64) -> bool {
        a & !self.sign > self.infinity
    }

    /// Replaces the number `a` by a zero of the same sign if it is subnormal and `ftz` is set.
    fn flush(self, ftz: bool, a: u64) -> u64 {
        if ftz && a & self.infinity == 0 { a & self.sign } else { a }
    }

    /// Clamps, flushes and canonicalises a rounded result.
    fn finish(self, flags: FloatFlags, d: u64) -> u64 {
        let negative = d & self.sign != 0;
        let d = match flags.clamp {
            Clamp::None => d,
            Clamp::Sat if negative || self.is_nan(d) => 0,
            Clamp::Sat => d.min(self.one),
            Clamp::Relu if negative && d != self.sign && !self.is_nan(d) => 0,
            Clamp::Relu => d,
        };
        self.canonical(self.flush(flags.ftz, d))
    }

    fn canonical(self, d: u64) -> u64 {
        if self.is_nan(d) { self.nan() } else { d }
    }
}

/// Calls a generic function for the floating-point format of an element type, or returns `$otherwise` for other types.
macro_rules! in_format {
    ($elem:expr, $otherwise:expr, $f:ident($($arg:expr),*)) => {
        match $elem {
            Elem::F16 => $f::<Half>($($arg),*),
            Elem::BF16 => $f::<BFloat>($($arg),*),
            Elem::F32 => $f::<Single>($($arg),*),
            Elem::F64 => $f::<Double>($($arg),*),
            _ => $otherwise,
        }
    };
}

fn mode(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Rn => Round::NearestTiesToEven,
        Rounding::Rz => Round::TowardZero,
        Rounding::Rp => Round::TowardPositive,
        Rounding::Rm => Round::TowardNegative,
    }
}

fn from<F: Float>(bits: u64) -> F {
    F::from_bits(u128::from(bits))
}

fn bits<F: Float>(value: F) -> u64 {
    value.to_bits() as u64
}

fn exact_add<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    bits(from::<F>(a).add_r(from(b), round).value)
}

fn exact_mul<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    bits(from::<F>(a).mul_r(from(b), round).value)
}

fn exact_fma<F: Float>(a: u64, b: u64, c: u64, round: Round) -> u64 {
    bits(from::<F>(a).mul_add_r(from(b), from(c), round).value)
}

fn exact_div<F: Float>(a: u64, b: u64, round: Round) -> u64 {
    bits(from::<F>(a).div_r(from(b), round).value)
}

fn order<F: Float>(a: u64, b: u64) -> Option<Ordering> {
    from::<F>(a).partial_cmp(&from(b))
}

/// Converts a number to a double, which represents every value of every supported format exactly.
fn widen<F: Float + FloatConvert<Double>>(a: u64) -> Double {
    from::<F>(a).convert(&mut false).value
}

fn narrow<F: Float>(a: Double, round: Round) -> u64
where
    Double: FloatConvert<F>,
{
    bits::<F>(a.convert_r(round, &mut false).value)
}

fn from_integer<F: Float>(a: i128, round: Round) -> u64 {
    bits(F::from_i128_r(a, round).value)
}

/// Converts a number to a signed integer of `width` bits, saturated to its range.
fn to_signed<F: Float>(a: u64, width: u32) -> i128 {
    from::<F>(a).to_i128_r(width as usize, Round::TowardZero, &mut false).value
}

/// Converts a number to an unsigned integer of `width` bits, saturated to its range.
fn to_unsigned<F: Float>(a: u64, width: u32) -> i128 {
    from::<F>(a).to_u128_r(width as usize, Round::TowardZero, &mut false).value as i128
}

pub(super) fn add(elem: Elem, flags: FloatFlags, operands: [u64; 2]) -> u64 {
    let format = Format::of(elem);
    let [a, b] = operands.map(|x| format.flush(flags.ftz, x));
    let d = in_format!(elem, 0, exact_add(a, b, mode(flags.rounding)));
    if elem == Elem::F64 { propagate_f64_nan(&operands, d) } else { format.finish(flags, d) }
}

pub(super) fn sub(elem: Elem, flags: FloatFlags, [a, b]: [u64; 2]) -> u64 {
    let d = add(elem, flags, [a, neg(elem, b)]);
    if elem == Elem::F64 { propagate_f64_nan(&[a, b], d) } else { d }
}

pub(super) fn mul(elem: Elem, flags: FloatFlags, operands: [u64; 2]) -> u64 {
    let format = Format::of(elem);
    let [a, b] = operands.map(|x| format.flush(flags.ftz, x));
    let d = in_format!(elem, 0, exact_mul(a, b, mode(flags.rounding)));
    if elem == Elem::F64 { propagate_f64_nan(&operands, d) } else { format.finish(flags, d) }
}

pub(super) fn fma(elem: Elem, flags: FloatFlags, operands: [u64; 3]) -> u64 {
    let format = Format::of(elem);
    let [a, b, c] = operands.map(|x| format.flush(flags.ftz, x));
    let d = in_format!(elem, 0, exact_fma(a, b, c, mode(flags.rounding)));
    if elem == Elem::F64 { propagate_f64_nan(&operands, d) } else { format.finish(flags, d) }
}

pub(super) fn div(elem: Elem, flags: FloatFlags, [a, b]: [u64; 2]) -> u64 {
    let d = in_format!(elem, 0, exact_div(a, b, mode(flags.rounding)));
    if elem == Elem::F64 { propagate_f64_nan(&[a, b], d) } else { Format::of(elem).canonical(d) }
}

pub(super) fn neg(elem: Elem, a: u64) -> u64 {
    a ^ Format::of(elem).sign
}

pub(super) fn abs(elem: Elem, a: u64) -> u64 {
    a & !Format::of(elem).sign
}

/// Returns the minimum of two numbers, or the maximum if `greater`.
pub(super) fn min_max(elem: Elem, flags: FloatFlags, greater: bool, operands: [u64; 2]) -> u64 {
    let format = Format::of(elem);
    let [a, b] = operands.map(|x| format.flush(flags.ftz, x));
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) if elem == Elem::F64 => a | QUIET_F64,
        (true, true) => format.nan(),
        (true, false) | (false, true) if flags.nan => format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => match in_format!(elem, None, order(a, b)) {
            Some(Ordering::Less) => [a, b][usize::from(greater)],
            Some(Ordering::Greater) => [b, a][usize::from(greater)],
            // Equal numbers differ at most in the sign of a zero: -0 is less than +0.
            _ if greater => a & b,
            _ => a | b,
        },
    }
}

pub(super) fn compare(elem: Elem, cc: FloatCC, ftz: bool, operands: [u64; 2]) -> bool {
    let [a, b] = operands.map(|x| Format::of(elem).flush(ftz, x));
    let order = in_format!(elem, None, order(a, b));
    let holds = |test: fn(Ordering) -> bool, unordered| order.map_or(unordered, test);
    match cc {
        FloatCC::Eq => holds(Ordering::is_eq, false),
        FloatCC::Ne => holds(Ordering::is_ne, false),
        FloatCC::Lt => holds(Ordering::is_lt, false),
        FloatCC::Le => holds(Ordering::is_le, false),
        FloatCC::Gt => holds(Ordering::is_gt, false),
        FloatCC::Ge => holds(Ordering::is_ge, false),
        FloatCC::Equ => holds(Ordering::is_eq, true),
        FloatCC::Neu => holds(Ordering::is_ne, true),
        FloatCC::Ltu => holds(Ordering::is_lt, true),
        FloatCC::Leu => holds(Ordering::is_le, true),
        FloatCC::Gtu => holds(Ordering::is_gt, true),
        FloatCC::Geu => holds(Ordering::is_ge, true),
        FloatCC::Num => order.is_some(),
        FloatCC::Nan => order.is_none(),
    }
}

/// Returns the bits of 1.0 if `holds`, else those of +0.
pub(super) fn truth(elem: Elem, holds: bool) -> u64 {
    if holds { Format::of(elem).one } else { 0 }
}

/// Returns the square root of an f32 or f64.
pub(super) fn sqrt(elem: Elem, flags: FloatFlags, a: u64) -> u64 {
    let format = Format::of(elem);
    if a & !format.sign == 0 || a == format.infinity {
        return a;
    }
    if a & format.sign != 0 || format.is_nan(a) {
        return if elem == Elem::F64 { propagate_f64_nan(&[a], INVALID_F64) } else { format.nan() };
    }
    match elem {
        Elem::F64 => root::<Double>(a, 52, 1023, flags),
        _ => root::<Single>(a, 23, 127, flags),
    }
}

/// Returns the square root of a positive number. `fraction_bits` and `bias` describe the format.
fn root<F: Float>(a: u64, fraction_bits: u32, bias: i32, flags: FloatFlags) -> u64 {
    let hidden = 1u64 << fraction_bits;
    let (fraction, biased) = (a & (hidden - 1), (a >> fraction_bits) as i32);
    let (significand, exponent) = match biased {
        0 => (fraction, 1 - bias - fraction_bits as i32),
        _ => (fraction | hidden, biased - bias - fraction_bits as i32),
    };
    // The significand is shifted as far left as possible with an even exponent, so the integer root
    // has at least 63 bits. A sticky bit below the root records a nonzero remainder, which is
    // sufficient for rounding. The root is never subnormal.
    let room = u128::from(significand).leading_zeros() as i32;
    let shift = room - ((exponent - room) & 1);
    let square = u128::from(significand) << shift;
    let root = square.isqrt();
    let sticky = u128::from(root * root != square);
    let rounded = F::from_u128_r(root << 1 | sticky, mode(flags.rounding)).value;
    bits(rounded.scalbn((exponent - shift) / 2 - 1))
}

/// Computes an elementary function. The result is an f32, rounded to nearest even, and then rounded to `elem`.
pub(super) fn elementary(op: Op, elem: Elem, a: u64) -> u64 {
    let operand = convert(elem, Elem::F32, Rounding::Rn, a) as u32;
    let result = function(op, operand).unwrap_or(Format::of(Elem::F32).nan());
    convert(Elem::F32, elem, Rounding::Rn, result)
}

pub(super) fn convert(from: Elem, to: Elem, rounding: Rounding, a: u64) -> u64 {
    if to == Elem::F64 && Format::of(from).is_nan(a) {
        let (payload, unused) = if from == Elem::F16 { (a & 0x3ff, 42) } else { (a & 0x7f_ffff, 29) };
        return INFINITY_F64 | QUIET_F64 | payload << unused;
    }
    let wide = match from {
        Elem::E4M3 => widen::<Float8E4M3FN>(a),
        Elem::E5M2 => widen::<Float8E5M2>(a),
        _ => in_format!(from, Double::ZERO, widen(a)),
    };
    match to {
        Elem::E4M3 => to_fp8::<Float8E4M3FN>(wide),
        Elem::E5M2 => to_fp8::<Float8E5M2>(wide),
        _ => Format::of(to).canonical(in_format!(to, 0, narrow(wide, mode(rounding)))),
    }
}

/// Converts a double to FP8, rounded to nearest even. Infinities and overflows become the largest
/// number of the same sign.
fn to_fp8<F: Float>(a: Double) -> u64
where
    Double: FloatConvert<F>,
{
    if a.is_nan() {
        return 0x7f;
    }
    let rounded: F = a.convert_r(Round::NearestTiesToEven, &mut false).value;
    let finite = if rounded.is_finite() { rounded.abs() } else { F::largest() };
    bits(if a.is_negative() { -finite } else { finite })
}

pub(super) fn from_int(to: Elem, rounding: Rounding, a: i128) -> u64 {
    in_format!(to, 0, from_integer(a, mode(rounding)))
}

/// Returns the integer to which a NaN of element type `from` is converted.
fn int_of_nan(from: Elem, to: Elem) -> i128 {
    if from == Elem::F64 || to == Elem::I64 { 1 << (to.bits() - 1) } else { 0 }
}

/// Converts a number to a signed integer, rounded toward zero and saturated to the range of `to`.
pub(super) fn to_int_s(from: Elem, to: Elem, a: u64) -> i128 {
    match Format::of(from).is_nan(a) {
        true => int_of_nan(from, to),
        false => in_format!(from, 0, to_signed(a, to.bits())),
    }
}

/// Converts a number to an unsigned integer, rounded toward zero and saturated to the range of `to`.
pub(super) fn to_int_u(from: Elem, to: Elem, a: u64) -> i128 {
    match Format::of(from).is_nan(a) {
        true => int_of_nan(from, to),
        false => in_format!(from, 0, to_unsigned(a, to.bits())),
    }
}

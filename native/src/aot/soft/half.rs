//! Operations on halves, by f64.
//!
//! In f64 the product of two halves is exact, and so is the sum of two f16 values. An inexact
//! result is rounded to odd in f64, so that the later rounding to a half equals one rounding of the
//! exact result. Rounding to nearest is done by a floating-point addition of the machine. The
//! addend is so large that the last bit of the sum has the weight of the last bit of the half.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use halfbyte_isa::half::{Clamp, Format, NAN, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{Domain, HalfCompare, HalfKind, HalfMinMax, HalfOp};

use super::odd_sum;
use crate::aot::scalar::Scalar;

/// Number of fraction bits of an f64.
const FRACTION: u32 = 52;
/// Exponent field of the f64 1.0.
const BIAS: i32 = 1023;

/// Returns the exponent of the least normal number.
const fn least(format: Format) -> i32 {
    format.min_exponent() + format.fraction_bits() as i32
}

/// Returns the bits of the f64 that is 2 to a power.
const fn power(exponent: i32) -> u64 {
    ((exponent + BIAS) as u64) << FRACTION
}

/// Emits an operation on both lanes.
pub(super) fn half(s: &mut Scalar<'_, '_, '_>, op: &HalfOp, words: [Value; 3]) -> Value {
    s.lanes(words, |s, lanes| {
        let [a, b, c] = lanes.map(|lane| operand(s, op, lane));
        let (format, rounding) = (op.mode.format, op.mode.rounding);
        let nearest = rounding == Rounding::Nearest;
        let (result, addends) = match op.kind {
            HalfKind::Mul => (s.b.ins().fmul(a, b), None),
            // The bits of two f16 values span at most 40 bits.
            HalfKind::Add if format == Format::F16 => (s.b.ins().fadd(a, b), Some([a, b])),
            HalfKind::Add => (odd(s, a, b), Some([a, b])),
            HalfKind::Fma => {
                let product = s.b.ins().fmul(a, b);
                // An f16 sum to nearest does not need rounding to odd. The sum is inexact in f64 only if one addend has
                // no bit within 2^-52 of the leading bit of the other addend. The other addend then is the result or
                // lies beyond the format. That addend is no midpoint of two halves, because a midpoint would require a
                // bit of a product within 2^-33.
                let sum =
                    if nearest && format == Format::F16 { s.b.ins().fadd(product, c) } else { odd(s, product, c) };
                (sum, Some([product, c]))
            }
        };
        let result = match addends {
            Some(addends) if rounding == Rounding::Down => with_zero_down(s, result, addends),
            _ => result,
        };
        let rounded = narrow(s, format, rounding, result);
        finish(s, op, rounded)
    })
}

fn odd(s: &mut Scalar<'_, '_, '_>, a: Value, b: Value) -> Value {
    let bits = odd_sum(s, a, b);
    s.cast(F64, bits)
}

/// Returns a sum in which an exact zero of addends with unlike signs is -0.
fn with_zero_down(s: &mut Scalar<'_, '_, '_>, sum: Value, addends: [Value; 2]) -> Value {
    let zero = s.f64(0.0);
    let is_zero = s.b.ins().fcmp(FloatCC::Equal, sum, zero);
    let [a, b] = addends.map(|x| s.cast(I64, x));
    let either = s.b.ins().bor(a, b);
    let sign = s.constant(I64, 1 << 63);
    let of_zero = s.b.ins().band(either, sign);
    let bits = s.cast(I64, sum);
    let bits = s.b.ins().select(is_zero, of_zero, bits);
    s.cast(F64, bits)
}

/// Returns the f64 of an operand. The operand is in the low half of a word whose upper half is zero.
fn operand(s: &mut Scalar<'_, '_, '_>, op: &HalfOp, lane: Value) -> Value {
    let lane = if op.mode.ftz { flush(s, op.mode.format, lane) } else { lane };
    widen(s, op.mode.format, lane)
}

/// Returns a half, or the zero of the same sign if the half is subnormal.
fn flush(s: &mut Scalar<'_, '_, '_>, format: Format, lane: Value) -> Value {
    let exponent = s.b.ins().band_imm_s(lane, i64::from(format.infinity()));
    let is_small = s.b.ins().icmp_imm_s(IntCC::Equal, exponent, 0);
    let zero = s.b.ins().band_imm_s(lane, 0x8000);
    s.b.ins().select(is_small, zero, lane)
}

/// Returns the f64 of a half. All NaNs become one NaN.
///
/// No intermediate value is a subnormal f64 or f32, because such a value takes processors a hundred times as long. A
/// subnormal half gets the exponent of the least normal number, and thereby a leading one too many. A subtraction
/// removes this leading one.
pub(super) fn widen(s: &mut Scalar<'_, '_, '_>, format: Format, lane: Value) -> Value {
    let fraction = format.fraction_bits();
    let magnitude = s.b.ins().band_imm_s(lane, 0x7FFF);
    let is_small = s.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, magnitude, 1 << fraction);
    let is_finite = s.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, magnitude, i64::from(format.infinity()));
    let bits = s.b.ins().uextend(I64, magnitude);
    let bits = s.b.ins().ishl_imm_s(bits, i64::from(FRACTION - fraction));
    // Differences between the exponents of the formats.
    let unit = s.constant(I64, power(least(format)));
    let normal = s.constant(I64, power(least(format) - 1));
    let infinite = s.constant(I64, u64::from(0x7FF - (format.infinity() >> fraction)) << FRACTION);
    let by = s.b.ins().select(is_finite, normal, infinite);
    let by = s.b.ins().select(is_small, unit, by);
    let bits = s.b.ins().iadd(bits, by);
    let none = s.constant(I64, 0);
    let less = s.b.ins().select(is_small, unit, none);
    let (number, less) = (s.cast(F64, bits), s.cast(F64, less));
    let number = s.b.ins().fsub(number, less);
    let bits = s.cast(I64, number);
    let sign = s.b.ins().band_imm_s(lane, 0x8000);
    let sign = s.b.ins().uextend(I64, sign);
    let sign = s.b.ins().ishl_imm_s(sign, 48);
    let bits = s.b.ins().bor(bits, sign);
    s.cast(F64, bits)
}

/// Rounds an f64 to a half in the low half of a word. A NaN becomes the canonical NaN.
pub(super) fn narrow(s: &mut Scalar<'_, '_, '_>, format: Format, rounding: Rounding, x: Value) -> Value {
    let bits = s.cast(I64, x);
    let sign = s.b.ins().ushr_imm_s(bits, 48);
    let sign = s.b.ins().ireduce(I32, sign);
    let sign = s.b.ins().band_imm_s(sign, 0x8000);
    let all = s.constant(I64, u64::MAX >> 1);
    let magnitude = s.b.ins().band(bits, all);
    // All magnitudes from here on round to infinity.
    let end = s.constant(I64, power(beyond(format)));
    let kept = s.b.ins().umin(magnitude, end);
    let exponents = s.constant(I64, 0x7FF << FRACTION);
    let exponent = s.b.ins().band(kept, exponents);
    let first = s.constant(I64, power(least(format)));
    let exponent = s.b.ins().umax(exponent, first);
    // The addend is so much greater than the number that the last bit of the sum is the last bit of the half.
    let apart = s.constant(I64, u64::from(FRACTION - format.fraction_bits()) << FRACTION);
    let beside = s.b.ins().iadd(exponent, apart);
    let (kept_float, beside_float) = (s.cast(F64, kept), s.cast(F64, beside));
    let sum = s.b.ins().fadd(kept_float, beside_float);
    let sum_bits = s.cast(I64, sum);
    let mut units = s.b.ins().isub(sum_bits, beside);
    if rounding != Rounding::Nearest {
        let near = s.b.ins().fsub(sum, beside_float);
        let is_above = s.b.ins().fcmp(FloatCC::GreaterThan, near, kept_float);
        let is_below = s.b.ins().fcmp(FloatCC::LessThan, near, kept_float);
        let (is_above, is_below) = (s.b.ins().uextend(I64, is_above), s.b.ins().uextend(I64, is_below));
        let toward = s.b.ins().isub(units, is_above);
        let away = s.b.ins().iadd(units, is_below);
        units = match rounding {
            Rounding::Zero | Rounding::Nearest => toward,
            Rounding::Up => s.b.ins().select(sign, toward, away),
            Rounding::Down => s.b.ins().select(sign, away, toward),
        };
    }
    // The leading one of a normal number counts as one in the exponent, and so does a carry out of the fraction.
    let low = s.b.ins().isub(exponent, first);
    let low = s.b.ins().ushr_imm_s(low, i64::from(FRACTION - format.fraction_bits()));
    let result = s.b.ins().iadd(low, units);
    let mut result = s.b.ins().ireduce(I32, result);
    if rounding != Rounding::Nearest {
        // A finite number that is too large stays finite if it is rounded toward zero.
        let is_reached = s.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, magnitude, end);
        let is_finite = s.b.ins().icmp(IntCC::UnsignedLessThan, magnitude, exponents);
        let is_large = s.b.ins().band(is_reached, is_finite);
        let most = s.word(u32::from(format.infinity()) - 1);
        let toward = s.b.ins().select(is_large, most, result);
        result = match rounding {
            Rounding::Zero | Rounding::Nearest => toward,
            Rounding::Up => s.b.ins().select(sign, toward, result),
            Rounding::Down => s.b.ins().select(sign, result, toward),
        };
    }
    let result = s.b.ins().bor(result, sign);
    let is_nan = s.b.ins().icmp(IntCC::UnsignedGreaterThan, magnitude, exponents);
    let nan = s.word(NAN.into());
    s.b.ins().select(is_nan, nan, result)
}

/// Returns the exponent of the first power of two that is too large for the format.
const fn beyond(format: Format) -> i32 {
    1 - least(format) + 1
}

/// Applies the clamp and the flush of an operation to the rounded result.
fn finish(s: &mut Scalar<'_, '_, '_>, op: &HalfOp, rounded: Value) -> Value {
    let format = op.mode.format;
    let zero = s.word(0);
    let clamped = match op.mode.clamp {
        Clamp::None => rounded,
        Clamp::Sat => {
            // As unsigned bits, negative numbers and NaN are above infinity.
            let is_number = s.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, rounded, i64::from(format.infinity()));
            let one = s.word(format.one().into());
            let limited = s.b.ins().umin(rounded, one);
            s.b.ins().select(is_number, limited, zero)
        }
        Clamp::Relu => {
            let is_less = s.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, rounded, 0x8000);
            s.b.ins().select(is_less, zero, rounded)
        }
    };
    if op.mode.ftz { flush(s, format, clamped) } else { clamped }
}

/// [`Domain::narrow`]
pub(in crate::aot) fn narrow_single(s: &mut Scalar<'_, '_, '_>, format: Format, rounding: Rounding, x: Value) -> Value {
    let single = s.cast(F32, x);
    let double = s.b.ins().fpromote(F64, single);
    narrow(s, format, rounding, double)
}

/// [`Domain::widen`]
pub(in crate::aot) fn widen_to_single(s: &mut Scalar<'_, '_, '_>, format: Format, x: Value) -> Value {
    let lane = s.b.ins().band_imm_s(x, 0xFFFF);
    let magnitude = s.b.ins().band_imm_s(lane, 0x7FFF);
    let is_nan = s.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, magnitude, i64::from(format.infinity()));
    let bits = match format {
        Format::Bf16 => s.b.ins().ishl_imm_s(lane, 16),
        Format::F16 => {
            let double = widen(s, format, lane);
            let single = s.b.ins().fdemote(F32, double);
            s.cast(I32, single)
        }
    };
    let nan = s.word(NAN_F32);
    s.b.ins().select(is_nan, nan, bits)
}

/// Maps halves to signed words in the order of their values, with -0 below +0.
fn order_key(s: &mut Scalar<'_, '_, '_>, lane: Value) -> Value {
    let high = s.b.ins().ishl_imm_s(lane, 16);
    let signed = s.b.ins().sshr_imm_s(high, 16);
    let signs = s.b.ins().sshr_imm_s(high, 31);
    let turned = s.b.ins().band_imm_s(signs, 0x7FFF);
    s.b.ins().bxor(signed, turned)
}

fn is_nan(s: &mut Scalar<'_, '_, '_>, format: Format, lane: Value) -> Value {
    let magnitude = s.b.ins().band_imm_s(lane, 0x7FFF);
    s.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, magnitude, i64::from(format.infinity()))
}

/// [`Domain::half_minmax`]
pub(in crate::aot) fn half_minmax(s: &mut Scalar<'_, '_, '_>, op: &HalfMinMax, min: Value, words: [Value; 2]) -> Value {
    s.lanes(words, |s, lanes| {
        let [a, b] = lanes.map(|lane| if op.ftz { flush(s, op.format, lane) } else { lane });
        let [a_key, b_key] = [a, b].map(|lane| order_key(s, lane));
        let is_less = s.b.ins().icmp(IntCC::SignedLessThan, a_key, b_key);
        // `a` is chosen if it is less and the minimum is requested, or if neither holds.
        let is_second = s.b.ins().bxor(is_less, min);
        let chosen = s.b.ins().select(is_second, b, a);
        let [a_nan, b_nan] = [a, b].map(|lane| is_nan(s, op.format, lane));
        let nan = s.word(NAN.into());
        if op.nan {
            let either = s.b.ins().bor(a_nan, b_nan);
            return s.b.ins().select(either, nan, chosen);
        }
        let of_b_nan = s.b.ins().select(b_nan, a, chosen);
        let of_a_nan = s.b.ins().select(b_nan, nan, b);
        s.b.ins().select(a_nan, of_a_nan, of_b_nan)
    })
}

/// [`Domain::half_compare`]
pub(in crate::aot) fn half_compare(s: &mut Scalar<'_, '_, '_>, op: &HalfCompare, words: [Value; 2]) -> [Value; 2] {
    let [a, b] = words.map(|word| s.halves(word));
    [[a[0], b[0]], [a[1], b[1]]].map(|lanes| {
        let [a, b] = lanes.map(|lane| {
            let lane = if op.ftz { flush(s, op.format, lane) } else { lane };
            widen(s, op.format, lane)
        });
        s.relation(op.compare, a, b)
    })
}

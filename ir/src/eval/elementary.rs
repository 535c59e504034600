//! Correctly rounded elementary functions, in 128-bit fixed-point arithmetic.
//!
//! The relative error of every result before rounding is less than 2^-100. The hardest operands
//! have results more than 2^-64 away from a rounding boundary. A sticky bit therefore suffices for correct rounding.

use rustc_apfloat::ieee::{Quad, Single};
use rustc_apfloat::{Float, FloatConvert};

use crate::op::Op;

/// The number 1 in fixed point. Fixed-point numbers in this module have 127 fractional bits, unless stated otherwise.
const ONE: u128 = 1 << 127;
/// ln 2, with 127 fractional bits.
const LN_2: u128 = 0x58B9_0BFB_E8E7_BCD5_E4F1_D9CC_01F9_7B57;
/// pi / 2, with 254 fractional bits; the high half comes first.
const HALF_PI: [u128; 2] = [0x6487_ED51_10B4_611A_6263_3145_C06E_0E68, 0x9481_2704_4533_E63A_0105_DF53_1D89_CD91];

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7F80_0000;

/// The value of an elementary function before rounding.
enum Exact {
    Nan,
    Zero {
        negative: bool,
    },
    Infinite {
        negative: bool,
    },
    /// The number `significand * 2^exponent`, or a slightly larger magnitude if `inexact`.
    Number {
        negative: bool,
        significand: u128,
        exponent: i32,
        inexact: bool,
    },
}

/// Evaluates an elementary op for an f32. Returns `None` for a NaN result.
pub(super) fn function(op: Op, single: u32) -> Option<u64> {
    rounded(match op {
        Op::Fexp2 => exp2(single),
        Op::Flog2 => log2(single),
        Op::Frsqrt => rsqrt(single),
        Op::Fsin => sine(single, 0),
        Op::Fcos => sine(single, 1),
        _ => tanh(single),
    })
}

/// Rounds a value to the nearest f32, to even in a tie. Returns `None` for NaN.
fn rounded(exact: Exact) -> Option<u64> {
    let (negative, value) = match exact {
        Exact::Nan => return None,
        Exact::Zero { negative } => (negative, Single::ZERO),
        Exact::Infinite { negative } => (negative, Single::INFINITY),
        Exact::Number { negative, significand, exponent, inexact } => {
            // A quad has 113 significant bits. All lower bits are combined into a sticky bit.
            let cut = (128 - significand.leading_zeros()).saturating_sub(112);
            let left = inexact || significand & ((1 << cut) - 1) != 0;
            let (kept, below) = ((significand >> cut) << 1 | u128::from(left), cut as i32 - 1);
            let quad = Quad::from_u128(kept).value.scalbn(exponent + below);
            (negative, quad.convert(&mut false).value)
        }
    };
    Some((if negative { -value } else { value }).to_bits() as u64)
}

/// Splits a finite positive f32 into `significand * 2^exponent`, with a 24-bit significand. Returns
/// `None` for zero, infinity and NaN.
fn parts(magnitude: u32) -> Option<(u128, i32)> {
    if magnitude == 0 || magnitude >= INFINITY {
        return None;
    }
    let (fraction, biased) = (magnitude & 0x7F_FFFF, (magnitude >> 23) as i32);
    let (significand, exponent) = if biased == 0 { (fraction, -149) } else { (fraction | 1 << 23, biased - 150) };
    let left = significand.leading_zeros() - 8;
    Some((u128::from(significand) << left, exponent - left as i32))
}

/// Returns an inexact number that is above 1 by less than half an ulp.
fn one() -> Exact {
    Exact::Number { negative: false, significand: 1 << 100, exponent: -100, inexact: true }
}

/// Returns a number with a magnitude slightly less than `significand * 2^exponent`.
fn slightly_below(negative: bool, significand: u128, exponent: i32) -> Exact {
    Exact::Number { negative, significand: (significand << 80) - 1, exponent: exponent - 80, inexact: true }
}

/// Returns the upper 128 bits of the product of two 128-bit numbers.
fn high(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let ([a1, a0], [b1, b0]) = ([a >> 64, a & LOW], [b >> 64, b & LOW]);
    let (middle, other) = (a1 * b0, a0 * b1);
    let carry = ((a0 * b0) >> 64) + (middle & LOW) + (other & LOW);
    a1 * b1 + (middle >> 64) + (other >> 64) + (carry >> 64)
}

fn times(a: u128, b: u128) -> u128 {
    high(a, b) << 1
}

/// Returns e^r - 1 for `r` below ln 2. Evaluates the power series of e^x - 1 at x = r / 256, and
/// then squares e^x eight times.
fn exponential_less_one(r: u128) -> u128 {
    let part = r >> 8;
    // The truncation error of the series is (ln 2 / 256)^14 / 14! = 2^-155.
    let series = (2..14).rev().fold(ONE, |sum, k| ONE + times(part, sum) / k);
    // Squaring e^x = 1 + u: (1 + u)^2 = 1 + (2u + u^2).
    (0..8).fold(times(part, series), |u, _| 2 * u + times(u, u))
}

fn exp2(single: u32) -> Exact {
    let (negative, magnitude) = (single & SIGN != 0, single & !SIGN);
    let Some((significand, exponent)) = parts(magnitude) else {
        return match magnitude {
            0 => Exact::Number { negative: false, significand: 1, exponent: 0, inexact: false },
            INFINITY if negative => Exact::Zero { negative: false },
            INFINITY => Exact::Infinite { negative: false },
            _ => Exact::Nan,
        };
    };
    if exponent < -80 {
        return one();
    }
    // The magnitude of the operand is at least 256, so the result overflows or underflows.
    if exponent > -16 {
        return if negative { Exact::Zero { negative: false } } else { Exact::Infinite { negative: false } };
    }
    let whole = (significand >> -exponent) as i32;
    let part = significand << (127 + exponent) & (ONE - 1);
    if part == 0 {
        let exponent = if negative { -whole } else { whole };
        return Exact::Number { negative: false, significand: 1, exponent, inexact: false };
    }
    let (whole, part) = if negative { (-whole - 1, ONE - part) } else { (whole, part) };
    let significand = ONE + exponential_less_one(times(part, LN_2));
    Exact::Number { negative: false, significand, exponent: whole - 127, inexact: true }
}

/// Computes the binary digits of the base-2 logarithm one by one: squaring a number doubles its logarithm.
fn log2(single: u32) -> Exact {
    const DIGITS: i32 = 118;
    let Some((significand, exponent)) = parts(single) else {
        return match single {
            0 | SIGN => Exact::Infinite { negative: true },
            INFINITY => Exact::Infinite { negative: false },
            _ => Exact::Nan,
        };
    };
    let whole = i128::from(exponent + 23);
    let mut m = significand << 104;
    let mut digits = 0;
    for _ in 0..DIGITS {
        let square = high(m, m);
        let is_two = square >> 127;
        m = square << (1 - is_two);
        digits = digits << 1 | is_two;
    }
    let value = (whole << DIGITS) + digits as i128;
    if value == 0 {
        return Exact::Zero { negative: false };
    }
    let inexact = significand != 1 << 23;
    // Truncation rounds a negative value down, which increases its magnitude. Correct the
    // magnitude, so that the sticky bit means a larger magnitude.
    let significand = value.unsigned_abs() - u128::from(inexact && value < 0);
    Exact::Number { negative: value < 0, significand, exponent: -DIGITS, inexact }
}

fn rsqrt(single: u32) -> Exact {
    let Some((significand, exponent)) = parts(single) else {
        return match single {
            0 | SIGN => Exact::Infinite { negative: single == SIGN },
            INFINITY => Exact::Zero { negative: false },
            _ => Exact::Nan,
        };
    };
    // Compute 2^k / significand, where k and the exponent are both even or both odd.
    let k = 126 + (exponent & 1);
    let root = ((1u128 << k) / significand).isqrt();
    let inexact = root * root * significand != 1 << k;
    Exact::Number { negative: false, significand: root, exponent: -(k + exponent) / 2, inexact }
}

/// Returns twice a 256-bit number, given as its high and its low half.
fn doubled([high, low]: [u128; 2]) -> [u128; 2] {
    [high << 1 | low >> 127, low << 1]
}

fn less([high, low]: [u128; 2], [of_high, of_low]: [u128; 2]) -> [u128; 2] {
    let (low, borrow) = low.overflowing_sub(of_low);
    [high.wrapping_sub(of_high).wrapping_sub(borrow.into()), low]
}

/// Returns the sine of the operand plus `quarters` times pi / 2.
fn sine(single: u32, quarters: u32) -> Exact {
    let (negative, magnitude) = (single & SIGN != 0 && quarters == 0, single & !SIGN);
    let Some((significand, exponent)) = parts(magnitude) else {
        return match magnitude {
            0 if quarters == 1 => Exact::Number { negative: false, significand: 1, exponent: 0, inexact: false },
            0 => Exact::Zero { negative },
            _ => Exact::Nan,
        };
    };
    // Below 2^-12, x^3 / 6 is less than a quarter ulp of x, and x^2 / 2 is less than a quarter ulp of 1.
    if exponent + 23 < -12 {
        return if quarters == 0 {
            slightly_below(negative, significand, exponent)
        } else {
            slightly_below(false, 1, 0)
        };
    }
    // Range reduction modulo pi / 2 by long division, with the quotient in `count`.
    let doublings = (exponent + 23).max(0);
    let bits = 254 - 23 + (exponent + 23).min(0);
    let mut rest = [significand << (bits - 128), 0];
    let mut count: u32 = 0;
    for step in 0..=doublings {
        if step > 0 {
            (rest, count) = (doubled(rest), count << 1);
        }
        if rest >= HALF_PI {
            (rest, count) = (less(rest, HALF_PI), count | 1);
        }
    }
    // A remainder of more than pi / 4 is replaced by its distance to the next multiple of pi / 2.
    let is_over = doubled(rest) > HALF_PI;
    if is_over {
        rest = less(HALF_PI, rest);
    }
    let r = doubled(rest)[0];
    let quarter = count.wrapping_add(quarters);
    let square = times(r, r);
    let series = |first: u128| {
        // The truncation error of the series is (pi / 4)^34 / 34! = 2^-139.
        (0..17).rev().fold(ONE, |sum, k| ONE - times(square, sum) / ((2 * k + first) * (2 * k + first + 1)))
    };
    let value = if (quarter & 1 == 1) == is_over { times(r, series(2)) } else { series(1) };
    Exact::Number { negative: negative != (quarter & 2 != 0), significand: value, exponent: -127, inexact: true }
}

fn tanh(single: u32) -> Exact {
    const BITS: i32 = 110;
    let (negative, magnitude) = (single & SIGN != 0, single & !SIGN);
    let Some((significand, exponent)) = parts(magnitude) else {
        return match magnitude {
            0 => Exact::Zero { negative },
            INFINITY => Exact::Number { negative, significand: 1, exponent: 0, inexact: false },
            _ => Exact::Nan,
        };
    };
    // Below 2^-12, x^3 / 3 is less than a quarter ulp of x.
    if exponent + 23 < -12 {
        return slightly_below(negative, significand, exponent);
    }
    // From 32 on, the result differs from 1 by less than half an ulp.
    if exponent + 23 >= 5 {
        return slightly_below(negative, 1, 0);
    }
    // Divide 2x by ln 2, both with 120 fractional bits.
    let twice = significand << (121 + exponent);
    let ln_2 = LN_2 >> 7;
    let (whole, rest) = (twice / ln_2, twice % ln_2);
    // Compute (e^r - 2^-n) / (e^r + 2^-n) by long division, one bit per step.
    let power = (ONE + exponential_less_one(rest << 7)) >> 2;
    let other = (ONE >> 2).checked_shr(whole as u32).unwrap_or(0);
    let (mut rest, divisor) = (power - other, power + other);
    let mut quotient = 0;
    for _ in 0..BITS {
        rest <<= 1;
        let fits = rest >= divisor;
        rest -= if fits { divisor } else { 0 };
        quotient = quotient << 1 | u128::from(fits);
    }
    Exact::Number { negative, significand: quotient, exponent: -BITS, inexact: true }
}

//! Taylor series at 0 of the elementary functions, for operands after range reduction.
//!
//! A constant in double-double form consists of the nearest f64, and the f64 that is nearest to the
//! difference. Quotients of integers are computed at compile time.

use super::real::{Pair, Real, power};
use super::reduce::reduce_by_half_pi;

/// ln 2.
pub const LN_2: Pair = Pair::new(f64::from_bits(0x3FE6_2E42_FEFA_39EF), f64::from_bits(0x3C7A_BC9E_3B39_803F));
/// 2 / ln 2.
pub const TWO_BY_LN_2: Pair = Pair::new(f64::from_bits(0x4007_1547_652B_82FE), f64::from_bits(0x3C87_77D0_FFDA_0D24));
/// pi / 2.
pub const HALF_PI: Pair = Pair::new(f64::from_bits(0x3FF9_21FB_5444_2D18), f64::from_bits(0x3C91_A626_3314_5C07));
/// A limit slightly below pi / 4. Below it, sine and cosine need no range reduction.
pub const QUARTER_PI: f64 = 0.785;

const TERMS: usize = 34;

/// Table of 1 / k!.
pub const BY_FACTORIAL: [Pair; TERMS] = {
    let mut table = [Pair::new(1.0, 0.0); TERMS];
    let mut k = 1;
    while k < TERMS {
        table[k] = table[k - 1].divide(Pair::new(k as f64, 0.0));
        k += 1;
    }
    table
};

/// Table of 1 / (2k + 1).
pub const BY_ODD: [Pair; TERMS] = {
    let mut table = [Pair::new(1.0, 0.0); TERMS];
    let mut k = 1;
    while k < TERMS {
        table[k] = table[k].divide(Pair::new((2 * k + 1) as f64, 0.0));
        k += 1;
    }
    table
};

/// Evaluates at `t` the polynomial with the given coefficients, by Horner's rule.
fn sum<R: Real>(t: R, coefficients: impl DoubleEndedIterator<Item = Pair>) -> R {
    coefficients.rev().fold(R::of(0.0), |sum, coefficient| sum * t + R::constant(coefficient))
}

/// Returns e^t for |t| of at most 0.35.
fn exponential<R: Real>(t: R) -> R {
    // Truncation error: 0.35^16 / 16! is 2^-68, and 0.35^26 / 26! is 2^-127.
    sum(t, BY_FACTORIAL.iter().take(R::TERMS * 4 / 5).copied())
}

/// Returns 2^x for x between -160 and 130.
pub(super) fn ex2<R: Real>(x: f64) -> R {
    let whole = (x + 0.5).floor();
    exponential(R::of(x - whole) * R::constant(LN_2)) * R::of(power(whole))
}

/// Returns the logarithm to base 2 of a positive number that is normal as an f64. The number must not be 1.
pub(super) fn lg2<R: Real>(x: f64) -> R {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut m = f64::from_bits(bits & 0xF_FFFF_FFFF_FFFF | 0x3FF << 52);
    // The normalised `m` is between 0.7071 and 1.4142. Therefore, the sum of the exponent and the
    // logarithm of `m` is never close to 0, unless the exponent is 0.
    if m > 1.414 {
        (m, exponent) = (m / 2.0, exponent + 1);
    }
    // ln m = 2 atanh s, where s is at most 0.172. Both m - 1 and m + 1 are exact.
    let s = R::of(m - 1.0) / R::of(m + 1.0);
    // Truncation error: 0.172^26 / 27 is 2^-70, and 0.172^42 / 43 is 2^-112.
    let series = sum(s * s, BY_ODD.iter().take(R::TERMS * 2 / 3).copied());
    R::of(exponent.into()) + s * series * R::constant(TWO_BY_LN_2)
}

/// Returns the cosine of `x` if `cosine` is set, else the sine.
pub(super) fn sin_cos<R: Real>(x: f64, cosine: bool) -> R {
    let magnitude = x.abs();
    let (quarter, r) = if magnitude < QUARTER_PI {
        (0, R::of(magnitude))
    } else {
        let (quarter, part) = reduce_by_half_pi(magnitude);
        (quarter, R::constant(part) * R::constant(HALF_PI))
    };
    let quarter = quarter + u32::from(cosine);
    let square = -(r * r);
    // Truncation error: 0.79^20 / 20! is 2^-67, and 0.79^32 / 32! is 2^-128.
    let terms = BY_FACTORIAL.iter().take(R::TERMS);
    let value = match quarter & 1 {
        0 => r * sum(square, terms.skip(1).step_by(2).copied()),
        _ => sum(square, terms.step_by(2).copied()),
    };
    let negative = (quarter & 2 != 0) != (!cosine && x < 0.0);
    if negative { -value } else { value }
}

/// Returns the hyperbolic tangent of an operand of magnitude below 32.
pub(super) fn tanh<R: Real>(x: f64) -> R {
    let t = 2.0 * x.abs();
    let value = if t < 0.35 {
        // Computes (e^t - 1) / (e^t + 1) from the series of e^t - 1, which avoids cancellation.
        let t = R::of(t);
        let less_one = t * sum(t, BY_FACTORIAL.iter().take(R::TERMS * 4 / 5).skip(1).copied());
        less_one / (less_one + R::of(2.0))
    } else {
        let whole = (t * std::f64::consts::LOG2_E + 0.5).floor();
        let rest = R::of(t) - R::of(whole) * R::constant(LN_2);
        let power = exponential(rest) * R::of(power(whole));
        (power - R::of(1.0)) / (power + R::of(1.0))
    };
    if x < 0.0 { -value } else { value }
}

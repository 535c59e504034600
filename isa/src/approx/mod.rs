//! Elementary functions, correctly rounded to nearest even. Hardware approximates these functions.
//!
//! A function is first evaluated in f64 (`series`), with an error bound. If every value within the
//! bound rounds to the same result, that result is correct (Ziv's test). Otherwise the same steps
//! are repeated in double-double arithmetic (`real::Pair`), whose 100 bits suffice for every
//! operand. For a transcendental function, the result of the hardest of the 2^32 operands is about
//! 2^-(24 + 32) away from the midpoint of two floats. Algebraic cases are handled separately.
//!
//! Only additions, multiplications, divisions and square roots are used. IEEE 754 defines these
//! operations exactly, so the results are the same on every machine.

mod real;
mod reduce;
mod series;

pub use real::Pair;
use real::Real;

use crate::half::NAN_F32;

/// The constants of the evaluation, for generated code that computes the same functions.
pub mod constants {
    pub use super::reduce::{TWO_BY_PI, WORDS};
    pub use super::series::{BY_FACTORIAL, BY_ODD, HALF_PI, LN_2, QUARTER_PI, TWO_BY_LN_2};

    /// Number of terms of a series in f64 and in double-double arithmetic.
    pub const TERMS: [usize; 2] = [<f64 as super::Real>::TERMS, <super::Pair as super::Real>::TERMS];
}

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;

/// An elementary function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// 2^x.
    Ex2,
    /// The logarithm to base 2.
    Lg2,
    /// The reciprocal square root.
    Rsqrt,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The hyperbolic tangent.
    Tanh,
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 6] =
        [Function::Ex2, Function::Lg2, Function::Rsqrt, Function::Sin, Function::Cos, Function::Tanh];

    /// Returns the function's name in PTX mnemonics.
    pub const fn name(self) -> &'static str {
        match self {
            Function::Ex2 => "ex2",
            Function::Lg2 => "lg2",
            Function::Rsqrt => "rsqrt",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tanh => "tanh",
        }
    }

    /// Evaluates the function for an f32. Every NaN result is 0x7fffffff.
    pub fn single(self, bits: u32) -> u32 {
        let round = |y: f64| if y.is_nan() { NAN_F32 } else { (y as f32).to_bits() };
        let x = f64::from(f32::from_bits(bits));
        if let Some(y) = self.exact(bits, x) {
            return round(y);
        }
        let near: f64 = self.compute(x);
        // The relative error of each step of `series` is at most 2^-52. No step amplifies earlier
        // errors by more than 2^6.
        let error = near.abs() * f64::from_bits(0x3D20_0000_0000_0000); // 2^-45
        let (below, above) = (round(near - error), round(near + error));
        if below == above {
            return below;
        }
        let Pair { high, low } = self.compute(x);
        // `high` is the f64 nearest to `high + low`. Rounding the sum to an odd f64 therefore keeps
        // it on the same side of each midpoint of two floats.
        round(to_odd(high, low))
    }

    /// Returns the result if it is exact or NaN, or if the operand is outside the range of the
    /// series evaluation. Otherwise returns `None`.
    fn exact(self, bits: u32, x: f64) -> Option<f64> {
        let magnitude = bits & !SIGN;
        let negative = bits & SIGN != 0;
        let (is_zero, is_infinite) = (magnitude == 0, magnitude == INFINITY);
        if magnitude > INFINITY {
            return Some(f64::NAN);
        }
        match self {
            // Values below 2^-160 round to 0, and values above 2^130 overflow to infinity.
            Function::Ex2 if is_zero || x >= 130.0 || x <= -160.0 || x == x.trunc() => {
                Some(real::power(x.clamp(-160.0, 130.0)))
            }
            Function::Lg2 if is_zero => Some(f64::NEG_INFINITY),
            Function::Lg2 | Function::Rsqrt if negative && !is_zero => Some(f64::NAN),
            Function::Lg2 if is_infinite => Some(f64::INFINITY),
            Function::Lg2 if magnitude == 0x3F80_0000 => Some(0.0),
            Function::Rsqrt if is_zero => Some(f64::INFINITY.copysign(x)),
            Function::Rsqrt if is_infinite => Some(0.0),
            Function::Sin | Function::Cos if is_infinite => Some(f64::NAN),
            // For operands below 2^-50, the result differs from the operand (or from 1 for the
            // cosine) by less than the precision of the series.
            Function::Cos if magnitude < 0x2680_0000 => Some(1.0),
            Function::Sin | Function::Tanh if magnitude < 0x2680_0000 => Some(x),
            // From 24 upwards the result differs from 1 by less than 2^-60.
            Function::Tanh if magnitude >= 0x41C0_0000 => Some(1f64.copysign(x)),
            _ => None,
        }
    }

    fn compute<R: Real>(self, x: f64) -> R {
        match self {
            Function::Ex2 => series::ex2(x),
            Function::Lg2 => series::lg2(x),
            Function::Rsqrt => R::of(1.0) / R::of(x).root(),
            Function::Sin => series::sin_cos(x, false),
            Function::Cos => series::sin_cos(x, true),
            Function::Tanh => series::tanh(x),
        }
    }
}

/// Rounds `high + low` to an odd f64. `high` must be the f64 nearest to the sum.
fn to_odd(high: f64, low: f64) -> f64 {
    let bits = high.to_bits();
    if low == 0.0 || bits & 1 == 1 {
        return high;
    }
    let outward = (low > 0.0) == (high > 0.0);
    f64::from_bits(if outward { bits + 1 } else { bits - 1 })
}

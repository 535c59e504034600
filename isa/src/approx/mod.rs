//! Functions that machines approximate, here correctly rounded: the exact result to nearest even.
//!
//! A function is evaluated in f64 first (`series`), with a bound on its error. Where all of the interval that the bound
//! leaves rounds to one result, that is it (Ziv's test). Else the same steps are done once more in pairs of f64
//! (`real::Pair`), whose 100 bits are more than any operand needs: of a function that is not algebraic the hardest of 2^32
//! operands lies some 2^-(24 + 32) beside the middle of two results, and what is algebraic is decided by hand.
//!
//! Only sums, products, quotients and roots are used, which IEEE 754 rounds alike on every machine.

mod real;
mod reduce;
mod series;

pub use real::Pair;
use real::Real;

use crate::half::{Format, NAN_F32, Rounding};

/// What the functions are evaluated with, for code that does their steps elsewhere.
pub mod constants {
    pub use super::reduce::{TWO_BY_PI, WORDS};
    pub use super::series::{BY_FACTORIAL, BY_ODD, HALF_PI, LN_2, QUARTER_PI, TWO_BY_LN_2};

    /// Terms of a series in f64, and in pairs of them.
    pub const TERMS: [usize; 2] = [<f64 as super::Real>::TERMS, <super::Pair as super::Real>::TERMS];
}

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// 2 to the power of it.
    Ex2,
    /// The logarithm to base 2.
    Lg2,
    /// 1 by the square root.
    Rsqrt,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The hyperbolic tangent.
    Tanh,
}

impl Function {
    /// Every one.
    pub const ALL: [Function; 6] =
        [Function::Ex2, Function::Lg2, Function::Rsqrt, Function::Sin, Function::Cos, Function::Tanh];

    /// The name in mnemonics of PTX.
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

    /// Of an f32. Every NaN is 0x7fffffff.
    pub fn single(self, bits: u32) -> u32 {
        self.rounded(bits, |y| (y as f32).to_bits(), NAN_F32)
    }

    /// Of a half.
    pub fn half(self, format: Format, bits: u16) -> u16 {
        // A result that is exact as an f32, infinite or zero is so in a half too, or is rounded once.
        let narrow = |y: f64| u32::from(format.narrow(to_odd(y), Rounding::Nearest));
        let nan = u32::from(crate::half::NAN);
        self.rounded(format.widen(bits), narrow, nan) as u16
    }

    /// The result of an f32, rounded to a format.
    fn rounded(self, bits: u32, round: impl Fn(f64) -> u32, nan: u32) -> u32 {
        let x = f64::from(f32::from_bits(bits));
        let of = |y: f64| if y.is_nan() { nan } else { round(y) };
        if let Some(y) = self.exact(bits, x) {
            return of(y);
        }
        let near: f64 = self.compute(x);
        // The bound of `series`: each of its steps is within 2^-52, and none grows what came before 2^6 times.
        let error = near.abs() * f64::from_bits(0x3D20_0000_0000_0000); // 2^-45
        let (below, above) = (round(near - error), round(near + error));
        if below == above {
            return below;
        }
        let Pair { high, low } = self.compute(x);
        // The sum of the two, of which `high` is the nearest f64: what is beside a middle stays on its side of it.
        of_odd(high, low, round)
    }

    /// The results that are exact or have no value, and those beyond the range of what is evaluated.
    fn exact(self, bits: u32, x: f64) -> Option<f64> {
        let magnitude = bits & !SIGN;
        let negative = bits & SIGN != 0;
        let (is_zero, is_infinite) = (magnitude == 0, magnitude == INFINITY);
        if magnitude > INFINITY {
            return Some(f64::NAN);
        }
        match self {
            // What is below 2^-160 is 0 in every format, and what is above 2^130 infinite.
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
            // Below 2^-50 what is left beside the operand, or beside 1, is less than the series can say.
            Function::Cos if magnitude < 0x2680_0000 => Some(1.0),
            Function::Sin | Function::Tanh if magnitude < 0x2680_0000 => Some(x),
            // From 24 on 1 is nearer than 2^-60.
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

/// The f64 nearest to the sum of two, of which the first is much the greater, or beside it where that is even and not exact:
/// one that rounds as the sum does.
fn of_odd(high: f64, low: f64, round: impl Fn(f64) -> u32) -> u32 {
    let bits = high.to_bits();
    if low == 0.0 || bits & 1 == 1 {
        return round(high);
    }
    let outward = (low > 0.0) == (high > 0.0);
    round(f64::from_bits(if outward { bits + 1 } else { bits - 1 }))
}

/// The f32 of an f64 rounded to odd, as bits: what is cut off leaves its trace in the last bit, so that a second rounding to
/// fewer bits is as one.
fn to_odd(y: f64) -> u32 {
    let near = y as f32;
    let bits = near.to_bits();
    let rest = y - f64::from(near);
    if rest == 0.0 || bits & 1 == 1 || near.is_infinite() {
        return bits;
    }
    match (rest > 0.0) == (y > 0.0) {
        true => bits + 1,
        false => bits - 1,
    }
}

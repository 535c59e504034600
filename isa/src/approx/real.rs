//! Floating-point types with 53 and with about 104 significant bits. The elementary functions are
//! evaluated in either type.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A floating-point type in which a function is evaluated.
pub(super) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Number of summed terms `t^k / k!` of a Taylor series, where t is at most 0.79.
    const TERMS: usize;

    /// Converts an f64 to this type.
    fn of(x: f64) -> Self;
    /// Converts a double-double constant to this type.
    fn constant(x: Pair) -> Self;
    /// Returns the square root.
    fn root(self) -> Self;
}

/// Returns 2^x for an integer x between -1022 and 1023.
pub(super) const fn power(x: f64) -> f64 {
    f64::from_bits(((x as i64 + 1023) as u64) << 52)
}

impl Real for f64 {
    // Truncation error: 0.79^20 / 20! is 2^-67.
    const TERMS: usize = 20;

    fn of(x: f64) -> f64 {
        x
    }

    fn constant(x: Pair) -> f64 {
        x.high
    }

    fn root(self) -> f64 {
        self.sqrt()
    }
}

/// A double-double: the unevaluated sum of two f64. The magnitude of the second f64 is at most half
/// a unit in the last place of the first. The algorithms are those of Dekker and Knuth. The
/// relative error of each result is at most about 2^-103.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The f64 nearest to the sum.
    pub high: f64,
    /// The difference of the sum and `high`.
    pub low: f64,
}

impl Pair {
    /// Creates a pair. `low` must be at most half a unit in the last place of `high`.
    pub const fn new(high: f64, low: f64) -> Pair {
        Pair { high, low }
    }

    /// Returns the exact sum of two f64 (Knuth's two-sum).
    const fn two_sum(a: f64, b: f64) -> Pair {
        let high = a + b;
        let of_b = high - a;
        Pair { high, low: (a - (high - of_b)) + (b - of_b) }
    }

    /// Returns the exact sum of two f64, where `a` has the greater magnitude (Dekker's fast two-sum).
    pub(super) const fn quick(a: f64, b: f64) -> Pair {
        let high = a + b;
        Pair { high, low: b - (high - a) }
    }

    /// Splits an f64 into two parts of 26 bits (Veltkamp's splitting).
    const fn split(a: f64) -> [f64; 2] {
        let scaled = a * 134_217_729.0;
        let high = scaled - (scaled - a);
        [high, a - high]
    }

    /// Returns the exact product of two f64.
    const fn product(a: f64, b: f64) -> Pair {
        let high = a * b;
        let ([x, u], [y, v]) = (Pair::split(a), Pair::split(b));
        Pair { high, low: ((x * y - high) + x * v + u * y) + u * v }
    }

    pub(super) const fn plus(self, other: Pair) -> Pair {
        let high = Pair::two_sum(self.high, other.high);
        let low = Pair::two_sum(self.low, other.low);
        let sum = Pair::quick(high.high, high.low + low.high);
        Pair::quick(sum.high, sum.low + low.low)
    }

    pub(super) const fn times(self, other: Pair) -> Pair {
        let product = Pair::product(self.high, other.high);
        Pair::quick(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    pub(super) const fn divide(self, other: Pair) -> Pair {
        // Long division with three quotient digits, each of which is an f64.
        let first = self.high / other.high;
        let rest = self.plus(other.times(Pair::new(-first, 0.0)));
        let second = rest.high / other.high;
        let rest = rest.plus(other.times(Pair::new(-second, 0.0)));
        let sum = Pair::quick(first, second);
        sum.plus(Pair::new(rest.high / other.high, 0.0))
    }
}

impl Real for Pair {
    // Truncation error: 0.79^32 / 32! is 2^-128.
    const TERMS: usize = 32;

    fn of(x: f64) -> Pair {
        Pair::new(x, 0.0)
    }

    fn constant(x: Pair) -> Pair {
        x
    }

    fn root(self) -> Pair {
        // The f64 root has 53 correct bits, and one Newton step doubles their number.
        let near = self.high.sqrt();
        let rest = self - Pair::product(near, near);
        Pair::of(near) + rest / Pair::of(2.0 * near)
    }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        self.plus(other)
    }
}

impl Sub for Pair {
    type Output = Pair;
    fn sub(self, other: Pair) -> Pair {
        self.plus(-other)
    }
}

impl Mul for Pair {
    type Output = Pair;
    fn mul(self, other: Pair) -> Pair {
        self.times(other)
    }
}

impl Div for Pair {
    type Output = Pair;
    fn div(self, other: Pair) -> Pair {
        self.divide(other)
    }
}

impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair::new(-self.high, -self.low)
    }
}

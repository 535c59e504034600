//! Reciprocals of constant divisors, by which a division becomes a multiplication and a shift.
//!
//! The multiplier is `2^n / divisor`, rounded up or down. Its error adds a fraction to the quotient. The quotient is
//! exact if this fraction is too small to reach the next integer for the largest dividend. Each method searches for the
//! smallest shift with an exact quotient (Granlund and Montgomery, "Division by Invariant Integers using
//! Multiplication").

use halfbyte_ir::Type;

use crate::range::Range;

/// A multiplier and a right shift that compute quotients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reciprocal {
    pub(crate) multiplier: u64,
    pub(crate) shift: u32,
}

/// A division by a constant of at least 2, in 32 or 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    /// Largest dividend.
    max: u128,
    /// Largest magnitude of a negative dividend.
    negative: u128,
    /// Magnitude of the divisor.
    divisor: u128,
    width: u32,
}

impl Division {
    fn new(dividends: &Range, divisor: u64, ty: Type) -> Option<Division> {
        let magnitude = |number: i128| u128::try_from(number).unwrap_or(0);
        let (max, negative) = (magnitude(*dividends.end()), magnitude(-dividends.start()));
        let (divisor, width) = (divisor.into(), ty.elem().bits());
        (matches!(ty, Type::I32 | Type::I64) && divisor > 1).then_some(Division { max, negative, divisor, width })
    }

    /// Returns the unsigned division of a dividend in a range of unsigned numbers by a constant.
    pub(crate) fn unsigned(ty: Type, dividends: &Range, divisor: i64) -> Option<Division> {
        Division::new(dividends, divisor.cast_unsigned() & ty.elem().mask(), ty)
    }

    /// Returns the signed division of a dividend in a range of signed numbers by a constant.
    pub(crate) fn signed(ty: Type, dividends: &Range, divisor: i64) -> Option<Division> {
        Division::new(dividends, divisor.unsigned_abs(), ty)
    }

    /// Returns the division with dividend and divisor shifted right by `count`.
    pub(crate) fn shifted(self, count: i64) -> Division {
        Division { max: self.max >> count, divisor: self.divisor >> count, ..self }
    }

    /// Returns the division in 16 bits, if dividend and divisor have at most 16 bits.
    pub(crate) fn in_half_word(self) -> Option<Division> {
        ((self.max | self.divisor) >> 16 == 0).then_some(Division { width: 16, ..self })
    }

    /// Returns `true` if the quotient is at most 1.
    pub(crate) fn contains_once(self) -> bool {
        self.max / 2 < self.divisor
    }

    /// Returns the reciprocal for which the quotient is the upper half of `x * multiplier`, shifted right by `shift`.
    pub(crate) fn high_product(self) -> Option<Reciprocal> {
        let (multiplier, shift) = self.rounded_up()?;
        reciprocal(multiplier, shift, self.width)
    }

    /// Returns the reciprocal for which the quotient is `((x - h) / 2 + h) >> shift`, where `h` is the upper half of
    /// `x * multiplier`. The complete multiplier is `2^width + multiplier`.
    pub(crate) fn sum(self) -> Option<Reciprocal> {
        let (multiplier, shift) = self.rounded_up()?;
        reciprocal(multiplier.checked_sub(1 << self.width)?, shift.checked_sub(1)?, self.width)
    }

    /// Returns the reciprocal for which the quotient is the upper half of `x * multiplier + multiplier`, shifted right
    /// by `shift`. The multiplier is rounded down. The sum does not wrap.
    pub(crate) fn increased_product(self) -> Option<Reciprocal> {
        (0..self.width).find_map(|shift| {
            let one = 1u128 << (self.width + shift);
            let multiplier = one / self.divisor;
            let error = one - multiplier * self.divisor;
            let is_exact = error > 0 && error * (self.max + 1) <= one;
            reciprocal(multiplier, shift, self.width).filter(|_| is_exact)
        })
    }

    /// Returns the reciprocal for which the quotient is `x * multiplier >> shift`. The product does not wrap.
    pub(crate) fn low_product(self) -> Option<Reciprocal> {
        (0..self.width).find_map(|shift| {
            let multiplier = self.multiplier_up(shift)?;
            reciprocal(multiplier, shift, self.width).filter(|_| (multiplier * self.max) >> self.width == 0)
        })
    }

    /// Returns the reciprocal of a signed division: the quotient is the upper half of `x * multiplier`, shifted right
    /// by `shift`, plus 1 if `x` is negative. The multiplier is a positive signed number.
    pub(crate) fn signed_high_product(self) -> Option<Reciprocal> {
        let (multiplier, shift) = self.rounded_above()?;
        reciprocal(multiplier, shift, self.width - 1)
    }

    /// Returns the reciprocal of a signed division: the quotient is the sum of `x` and the upper half of
    /// `x * multiplier`, shifted right by `shift`, plus 1 if `x` is negative. The multiplier is a negative signed number.
    pub(crate) fn signed_sum(self) -> Option<Reciprocal> {
        let (multiplier, shift) = self.rounded_above()?;
        reciprocal(multiplier, shift, self.width).filter(|_| multiplier >> (self.width - 1) == 1)
    }

    /// Returns the reciprocal of a signed division: the quotient is `x * multiplier >> shift`, plus 1 if `x` is
    /// negative. The product does not wrap.
    pub(crate) fn signed_low_product(self) -> Option<Reciprocal> {
        (0..self.width).find_map(|shift| {
            let multiplier = self.multiplier_above(shift)?;
            let max = self.max.max(self.negative);
            reciprocal(multiplier, shift, self.width).filter(|_| (multiplier * max) >> (self.width - 1) == 0)
        })
    }

    /// Returns the smallest shift, and its multiplier, for which `x * multiplier >> (width + shift)` is exact.
    fn rounded_up(self) -> Option<(u128, u32)> {
        (0..self.width).find_map(|shift| Some((self.multiplier_up(self.width + shift)?, shift)))
    }

    /// Returns the smallest shift, and its multiplier, for which `x * multiplier >> (width + shift)` is exact once 1 is
    /// added for a negative `x`.
    fn rounded_above(self) -> Option<(u128, u32)> {
        (0..self.width).find_map(|shift| Some((self.multiplier_above(self.width + shift)?, shift)))
    }

    /// Returns `2^shift / divisor`, rounded up, if a product with it is exact.
    fn multiplier_up(self, shift: u32) -> Option<u128> {
        let one = 1u128 << shift;
        let multiplier = one.div_ceil(self.divisor);
        let error = multiplier * self.divisor - one;
        (error * self.max < one).then_some(multiplier)
    }

    /// Returns the next integer above `2^shift / divisor`, if a product with it is exact. The multiplier is strictly
    /// above the exact value. The product of a negative dividend, rounded down, is therefore always one less than the
    /// quotient.
    fn multiplier_above(self, shift: u32) -> Option<u128> {
        let one = 1u128 << shift;
        let multiplier = one / self.divisor + 1;
        let error = multiplier * self.divisor - one;
        (error * self.max < one && error * self.negative <= one).then_some(multiplier)
    }
}

/// Returns a reciprocal whose multiplier has at most `bits` bits.
fn reciprocal(multiplier: u128, shift: u32, bits: u32) -> Option<Reciprocal> {
    let multiplier = u64::try_from(multiplier).ok().filter(|multiplier| u128::from(*multiplier) >> bits == 0)?;
    Some(Reciprocal { multiplier, shift })
}

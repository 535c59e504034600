//! Semantics of extended-precision additions and subtractions with the carry flag.
//!
//! The flag is always a carry, never a borrow. Hardware computes `a - b` as `a + ~b + 1`, and the carry of that sum is
//! 1 if there is no borrow. The difference is observable only in chains that mix additions and subtractions.

use super::wide::{self, Wide};
use super::{Context, Reader};
use crate::halu::domain::Domain;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Computes `a + b`, plus the carry flag if `carried` is set, and sets the flag to the carry of the sum.
    pub(super) fn add_with_carry(&mut self, carried: bool) {
        let (a, b) = (self.value(1), self.value(2));
        self.define_carried_sum(a, b, carried);
    }

    /// Computes the low or high half of `a * b`, plus `c`, plus the carry flag if `carried` is set.
    /// Sets the flag to the carry of the sum.
    pub(super) fn mad_with_carry(&mut self, carried: bool) {
        let (half, c) = (self.half_product(), self.value(3));
        self.define_carried_sum(half, c, carried);
    }

    fn define_carried_sum(&mut self, a: [D::Word; 2], b: [D::Word; 2], carried: bool) {
        let mut sum = self.wrapped(wide::add, D::add, a, b);
        let mut carry = self.is_below(sum, a);
        if carried {
            let flag = self.carry();
            let one = self.one_if(flag);
            sum = self.wrapped(wide::add, D::add, sum, one);
            let more = self.is_below(sum, one);
            carry = self.d.either(carry, more);
        }
        self.define(sum);
        self.define_carry(carry);
    }

    /// Computes `a + ~b`, plus the carry flag if `carried` is set, otherwise plus 1. Sets the flag
    /// to the carry of that sum.
    pub(super) fn sub_with_carry(&mut self, carried: bool) {
        let (a, b) = (self.value(1), self.value(2));
        let mut difference = self.wrapped(wide::sub, D::sub, a, b);
        let mut borrow = self.is_below(a, b);
        if carried {
            // The sum of `a`, `~b` and the flag is `a - b - 1` if the flag is clear.
            let carry = self.carry();
            let borrowed = self.d.negate(carry);
            let one = self.one_if(borrowed);
            let more = self.is_below(difference, one);
            difference = self.wrapped(wide::sub, D::sub, difference, one);
            borrow = self.d.either(borrow, more);
        }
        self.define(difference);
        let carry = self.d.negate(borrow);
        self.define_carry(carry);
    }

    /// Returns the 64-bit integer 1 if the predicate is true, otherwise 0.
    fn one_if(&mut self, p: D::Pred) -> [D::Word; 2] {
        [wide::one_if(self.d, p), self.d.word(0)]
    }

    /// Applies `pair` to a 64-bit type and `word` to a narrower type. The result is modulo 2^64 or 2^32.
    fn wrapped(
        &mut self,
        pair: fn(&mut D, Wide<D>, Wide<D>) -> Wide<D>,
        word: fn(&mut D, D::Word, D::Word) -> D::Word,
        a: [D::Word; 2],
        b: [D::Word; 2],
    ) -> [D::Word; 2] {
        if self.ty(0).bits() == 64 { pair(self.d, a, b) } else { [word(self.d, a[0], b[0]), self.d.word(0)] }
    }

    /// Returns `true` if `a < b`, unsigned.
    fn is_below(&mut self, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        if self.ty(0).bits() == 64 { wide::less(self.d, false, a, b) } else { self.d.less(false, a[0], b[0]) }
    }
}

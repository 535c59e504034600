//! Integer arithmetic, bit and byte operations, and integer comparisons.

use super::{Context, f};
use crate::half::Compare;
use crate::halu::domain::{Divide, Domain, DotElements, DotOp, Reader};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn iadd3(&mut self) {
        let extended = self.flag(f::X);
        let zero = self.d.word(0);
        let mut sum = zero;
        let mut carry = self.d.truth(false);
        let mut add = |d: &mut D, x| {
            sum = d.add(sum, x);
            let out = d.less(false, sum, x);
            carry = d.either(carry, out);
        };
        let mut ones = 0;
        for i in 0..3 {
            let source = self.source(i);
            ones += u32::from(source.neg);
            let word = if source.neg { self.d.not(source.word) } else { source.word };
            add(self.d, word);
        }
        if extended {
            let p = self.pred(f::PP, f::PP_NOT);
            let carry_in = self.one_if(p);
            add(self.d, carry_in);
        } else if ones != 0 {
            let ones = self.d.word(ones);
            add(self.d, ones);
        }
        self.define(f::RD, [sum]);
        self.define_pred(f::PU, carry);
    }

    pub(super) fn imad(&mut self) {
        let [a, b, c] = [0, 1, 2].map(|i| self.word(i));
        let product = self.d.mul(a, b);
        let result = self.d.add(product, c);
        self.define(f::RD, [result]);
    }

    pub(super) fn imad_wide(&mut self) {
        let (a, b) = (self.word(0), self.word(1));
        let c = self.pair(f::R64);
        let product = [self.d.mul(a, b), self.d.mul_high(self.flag(f::SIGN), a, b)];
        let low = self.d.add(product[0], c[0]);
        let carry = self.d.less(false, low, c[0]);
        let carry = self.one_if(carry);
        let high = self.d.add(product[1], c[1]);
        let high = self.d.add(high, carry);
        self.define(f::RD, [low, high]);
    }

    pub(super) fn divide(&mut self, remainder: bool) {
        let op = Divide { signed: self.flag(f::SIGN), remainder };
        let (a, b) = (self.word(0), self.word(1));
        let result = self.d.divide(op, a, b);
        self.define(f::RD, [result]);
    }

    pub(super) fn divide_wide(&mut self, remainder: bool) {
        let op = Divide { signed: self.flag(f::SIGN), remainder };
        let (a, b) = (self.pair(f::RA), self.pair(f::R32));
        let result = self.d.divide_wide(op, a, b);
        self.define(f::RD, result);
    }

    pub(super) fn lea(&mut self) {
        let (index, offset) = (self.word(0), self.word(1));
        let count = self.d.word(self.get(f::SHIFT) as u32);
        let scaled = self.d.shl(index, count);
        let sum = self.d.add(scaled, offset);
        self.define(f::RD, [sum]);
    }

    pub(super) fn lop3(&mut self) {
        let [a, b, c] = [0, 1, 2].map(|i| self.word(i));
        let result = self.d.lop3(self.get(f::LUT) as u8, a, b, c);
        self.define(f::RD, [result]);
    }

    pub(super) fn shf(&mut self) {
        let [low, count, high] = [0, 1, 2].map(|i| self.word(i));
        let result = match (self.flag(f::DIR), self.flag(f::HI)) {
            (false, false) => self.d.shl(low, count),
            (false, true) => {
                // The bits that a left shift moves from the low word to the high word are `low >>
                // (32 - count)`. The shift has two steps, because shift counts are modulo 32.
                let (one, rest) = (self.d.word(1), self.d.not(count));
                let kept = self.d.shl(high, count);
                let over = self.d.shr(low, one);
                let over = self.d.shr(over, rest);
                self.d.or(kept, over)
            }
            (true, false) => {
                let (one, rest) = (self.d.word(1), self.d.not(count));
                let kept = self.d.shr(low, count);
                let over = self.d.shl(high, one);
                let over = self.d.shl(over, rest);
                self.d.or(kept, over)
            }
            (true, true) if self.flag(f::SIGN) => self.d.sar(high, count),
            (true, true) => self.d.shr(high, count),
        };
        self.define(f::RD, [result]);
    }

    pub(super) fn prmt(&mut self) {
        let [a, selector, c] = [0, 1, 2].map(|i| self.word(i));
        let result = self.d.permute(a, c, selector);
        self.define(f::RD, [result]);
    }

    pub(super) fn popc(&mut self) {
        let a = self.word(0);
        let result = self.d.count_ones(a);
        self.define(f::RD, [result]);
    }

    pub(super) fn flo(&mut self) {
        let (a, highest) = (self.word(0), self.d.word(31));
        let zeros = self.d.leading_zeros(a);
        let result = self.d.sub(highest, zeros);
        self.define(f::RD, [result]);
    }

    pub(super) fn brev(&mut self) {
        let a = self.word(0);
        let result = self.d.reverse_bits(a);
        self.define(f::RD, [result]);
    }

    pub(super) fn idp_4a(&mut self) {
        self.dot(DotElements::Bytes);
    }

    pub(super) fn idp_2a(&mut self) {
        self.dot(if self.flag(f::UPPER) { DotElements::HighBytes } else { DotElements::LowBytes });
    }

    fn dot(&mut self, elements: DotElements) {
        let op = DotOp { a_signed: self.flag(f::ATYPE), b_signed: self.flag(f::BTYPE), elements };
        let [a, b, c] = [0, 1, 2].map(|i| self.word(i));
        let result = self.d.dot(&op, a, b, c);
        self.define(f::RD, [result]);
    }

    pub(super) fn isetp(&mut self) {
        let (a, b) = (self.word(0), self.word(1));
        let signed = self.flag(f::SIGN);
        let compare = Compare::from_code(self.get(f::ICMP));
        let mut p = match compare {
            Compare::EQ | Compare::NE => self.d.equal(a, b),
            Compare::LT | Compare::GE => self.d.less(signed, a, b),
            _ => self.d.less(signed, b, a),
        };
        if matches!(compare, Compare::NE | Compare::GE | Compare::LE) {
            p = self.d.negate(p);
        }
        if self.flag(f::EX) {
            let low = self.pred(f::PX, f::PX_NOT);
            let equal = self.d.equal(a, b);
            let unequal = self.d.negate(equal);
            let (low, high) = (self.d.both(equal, low), self.d.both(unequal, p));
            p = self.d.either(low, high);
        }
        self.set_pred(p);
    }
}

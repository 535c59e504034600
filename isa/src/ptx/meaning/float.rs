//! f32 arithmetic.

use super::{Context, Reader};
use crate::half::Compare;
use crate::halu::domain::{Domain, float_minmax};
use crate::ptx::types::Token;

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7F80_0000;
const ONE: u32 = 0x3F80_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// An operand, flushed if the instruction says so.
    pub(super) fn float(&mut self, i: usize) -> D::Word {
        let word = self.word(i);
        self.flushed(word)
    }

    /// Under `.ftz` the zero of its sign for a subnormal.
    pub(super) fn flushed(&mut self, a: D::Word) -> D::Word {
        if !self.has(Token::Ftz) {
            return a;
        }
        let (exponent, sign, zero) = (self.d.word(EXPONENT), self.d.word(SIGN), self.d.word(0));
        let found = self.d.and(a, exponent);
        let small = self.d.equal(found, zero);
        let flushed = self.d.and(a, sign);
        self.d.select(small, flushed, a)
    }

    /// Under `.sat` the nearest of 0 to 1, and +0 for NaN and -0.
    pub(super) fn saturated(&mut self, a: D::Word) -> D::Word {
        if !self.has(Token::Sat) {
            return a;
        }
        let (one, zero) = (self.d.word(ONE), self.d.word(0));
        let (positive, above) = (self.d.fcompare(Compare::GT, a, zero), self.d.fcompare(Compare::GT, a, one));
        let clamped = self.d.select(above, one, a);
        self.d.select(positive, clamped, zero)
    }

    pub(super) fn define_float(&mut self, a: D::Word) {
        let flushed = self.flushed(a);
        let result = self.saturated(flushed);
        self.define_word(result);
    }

    /// ADD, MUL, DIV.
    pub(super) fn float_binary(&mut self, op: fn(&mut D, D::Word, D::Word) -> D::Word) {
        let (a, b) = (self.float(1), self.float(2));
        let result = op(self.d, a, b);
        self.define_float(result);
    }

    pub(super) fn float_sub(&mut self) {
        let (a, b, sign) = (self.float(1), self.float(2), self.d.word(SIGN));
        let b = self.d.xor(b, sign);
        let result = self.d.fadd(a, b);
        self.define_float(result);
    }

    pub(super) fn float_fma(&mut self) {
        let (a, b, c) = (self.float(1), self.float(2), self.float(3));
        let result = self.d.fma(a, b, c);
        self.define_float(result);
    }

    pub(super) fn float_sqrt(&mut self) {
        let a = self.float(1);
        let result = self.d.fsqrt(a);
        self.define_float(result);
    }

    pub(super) fn float_minmax(&mut self, min: bool) {
        let (a, b) = (self.float(1), self.float(2));
        let min = self.d.truth(min);
        let result = float_minmax(self.d, min, self.has(Token::Nan), a, b);
        self.define_word(result);
    }

    /// NEG, or else ABS.
    pub(super) fn float_sign(&mut self, neg: bool) {
        let (a, sign) = (self.float(1), self.d.word(SIGN));
        let result = if neg {
            self.d.xor(a, sign)
        } else {
            let magnitude = self.d.not(sign);
            self.d.and(a, magnitude)
        };
        self.define_word(result);
    }
}

//! Semantics of instructions that hardware approximates. The engines return the exact result, rounded to nearest.

use super::exact::{self, Finish, Float, Number, RoundingMode};
use super::{Context, Reader};
use crate::approx::Function;
use crate::half::{Compare, Format, Rounding};
use crate::halu::domain::Domain;
use crate::ptx::types::Token;

const MAGNITUDE: u32 = 0x7FFF_FFFF;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;
const NAN: u32 = 0x7FFF_FFFF;
/// Bits of the smallest normal f32, 2^-126.
const LEAST: u32 = 0x0080_0000;
/// Bits of the f32 2^126, the largest divisor that `.approx` supports.
const LARGE: u32 = 0x7E80_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn elementary(&mut self, function: Function) {
        let a = self.operand_float(1);
        let result = self.d.elementary(function, a);
        self.define_float(result);
    }

    pub(super) fn elementary_halves(&mut self, function: Function, format: Format) {
        let mut a = self.word(1);
        let ftz = self.has(Token::Ftz);
        if ftz {
            a = self.flush_halves(format, a);
        }
        let mut result = self.d.half_elementary(function, format, a);
        if ftz {
            result = self.flush_halves(format, result);
        }
        self.define_word(result);
    }

    /// Executes `div.approx.f32` or `div.full.f32`.
    pub(super) fn approximate_quotient(&mut self) {
        let (a, b) = (self.operand_float(1), self.operand_float(2));
        let mut result = self.d.fdiv(a, b);
        let (magnitude, sign) = (self.d.word(MAGNITUDE), self.d.word(SIGN));
        let signs = self.d.xor(a, b);
        let zero = self.d.and(signs, sign);
        let (of_a, of_b) = (self.d.and(a, magnitude), self.d.and(b, magnitude));
        if self.has(Token::Ftz) {
            // With `.ftz`, a quotient below the smallest normal number becomes zero, even if it
            // rounds up to that number. The product that detects this case is exact.
            let least = self.d.word(LEAST);
            let of_result = self.d.and(result, magnitude);
            let is_least = self.d.equal(of_result, least);
            let product = self.d.fmul(of_b, least);
            let is_less = self.d.fcompare(Compare::LT, of_a, product);
            let is_tiny = self.d.both(is_least, is_less);
            result = self.d.select(is_tiny, zero, result);
        }
        if self.has(Token::Approx) {
            let (large, infinity, nan) = (self.d.word(LARGE), self.d.word(INFINITY), self.d.word(NAN));
            let above = self.d.fcompare(Compare::GT, of_b, large);
            let finite = self.d.fcompare(Compare::LT, of_b, infinity);
            let is_beyond = self.d.both(above, finite);
            let is_number = self.d.fcompare(Compare::LT, of_a, infinity);
            let special = self.d.select(is_number, zero, nan);
            result = self.d.select(is_beyond, special, result);
        }
        self.define_float(result);
    }

    /// Executes `rsqrt` on f64.
    pub(super) fn approximate_root(&mut self) {
        let a = self.value(1);
        let a = exact::unpack(self.d, Float::F64, a);
        let root = exact::rsqrt(self.d, a);
        let result = self.nearest(Float::F64, root, Finish::default());
        self.define(result);
    }

    /// Executes `rcp` or `rsqrt` on the high word of an f64.
    pub(super) fn approximate_high_word(&mut self, root: bool) {
        let [_, high] = self.value(1);
        let (zero, exponents) = (self.d.word(0), self.d.word(Float::F64_HIGH_EXPONENT));
        let exponent = self.d.and(high, exponents);
        let is_small = self.d.equal(exponent, zero);
        let sign = self.d.word(SIGN);
        let sign = self.d.and(high, sign);
        let flushed = self.d.select(is_small, sign, high);
        let a = exact::unpack(self.d, Float::F64_HIGH, [flushed, zero]);
        let number = if root {
            exact::rsqrt(self.d, a)
        } else {
            let one = exact::one(self.d);
            exact::div(self.d, Float::F64_HIGH, one, a)
        };
        let [high, _] = self.nearest(Float::F64_HIGH, number, Finish { ftz: true, ..Finish::default() });
        self.define([zero, high]);
    }

    fn nearest(&mut self, format: Float, number: Number<D>, finish: Finish) -> [D::Word; 2] {
        exact::round(self.d, format, number, RoundingMode::Rounding(Rounding::Nearest), finish, None)
    }
}

//! Semantics of arithmetic on f16 and bfloat16, scalar or as a packed pair.

use super::{Context, Reader};
use crate::half::{Clamp, Compare, Format, HalfMode, Rounding};
use crate::halu::domain::{Domain, HalfCompare, HalfKind, HalfMinMax, HalfOp};
use crate::ptx::types::Token;

const SIGNS: u32 = 0x8000_8000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Executes `add`, `mul` or `fma` on halves.
    pub(super) fn half(&mut self, kind: HalfKind, format: Format) {
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        self.half_of(kind, format, [a, b, c]);
    }

    /// Executes `sub` on halves.
    pub(super) fn half_sub(&mut self, format: Format) {
        let (a, b, signs) = (self.word(1), self.word(2), self.d.word(SIGNS));
        let b = self.d.xor(b, signs);
        self.half_of(HalfKind::Add, format, [a, b, b]);
    }

    fn half_of(&mut self, kind: HalfKind, format: Format, operands: [D::Word; 3]) {
        let [a, b, c] = operands;
        let (ftz, clamp) = (self.has(Token::Ftz), if self.has(Token::Sat) { Clamp::Sat } else { Clamp::None });
        let mode = HalfMode { format, rounding: Rounding::Nearest, ftz, clamp };
        let mut result = self.d.half(&HalfOp { kind, mode }, a, b, c);
        // A sum below the smallest normal number is exact, so rounding cannot make it normal.
        if ftz && kind != HalfKind::Add {
            result = self.zero_if_tiny(kind, format, operands, result);
        }
        let result = self.rectified(format, result);
        self.define_word(result);
    }

    /// Returns `rounded`, except in lanes whose exact result is below the smallest normal number. These lanes become
    /// the zero of their sign. The exact result of such a lane may round up to the smallest normal number, which
    /// [`HalfMode::ftz`](crate::half::HalfMode::ftz) does not flush. The method therefore computes the result again,
    /// rounded toward zero: it is then subnormal and flushed.
    fn zero_if_tiny(&mut self, kind: HalfKind, format: Format, [a, b, c]: [D::Word; 3], rounded: D::Word) -> D::Word {
        let mode = HalfMode { ftz: true, ..HalfMode::new(format, Rounding::Zero) };
        let truncated = self.d.half(&HalfOp { kind, mode }, a, b, c);
        let (op, zero) = (HalfCompare { format, ftz: false, compare: Compare::NEU }, self.d.word(0));
        let kept = self.d.half_compare(&op, truncated, zero);
        let mut mask = zero;
        for (kept, position) in kept.into_iter().zip([0, 16]) {
            let (all, sign) = (self.d.word(0xFFFF << position), self.d.word(0x8000 << position));
            let lane = self.d.select(kept, all, sign);
            mask = self.d.or(mask, lane);
        }
        self.d.and(rounded, mask)
    }

    /// Replaces negative halves and -0 in a pair of halves by +0 if the instruction has `.relu`.
    /// NaN becomes the canonical NaN.
    pub(super) fn rectified(&mut self, format: Format, a: D::Word) -> D::Word {
        if !self.has(Token::Relu) {
            return a;
        }
        let op = HalfMinMax { format, ftz: false, nan: true };
        let (max, zero) = (self.d.truth(false), self.d.word(0));
        self.d.half_minmax(&op, max, a, zero)
    }

    pub(super) fn half_minmax(&mut self, min: bool, format: Format) {
        let op = HalfMinMax { format, ftz: self.has(Token::Ftz), nan: self.has(Token::Nan) };
        let (a, b, min) = (self.word(1), self.word(2), self.d.truth(min));
        let result = self.d.half_minmax(&op, min, a, b);
        self.define_word(result);
    }

    /// Executes `min` or `max` with `.xorsign.abs` on halves. The magnitudes are compared, and the
    /// sign of the result is the exclusive or of the operands' signs.
    pub(super) fn half_minmax_signed(&mut self, min: bool, format: Format) {
        let op = HalfMinMax { format, ftz: self.has(Token::Ftz), nan: self.has(Token::Nan) };
        let (a, b, min, signs) = (self.word(1), self.word(2), self.d.truth(min), self.d.word(SIGNS));
        let magnitudes = self.d.not(signs);
        let differ = self.d.xor(a, b);
        let [a, b] = [a, b].map(|word| self.d.and(word, magnitudes));
        let result = self.d.half_minmax(&op, min, a, b);
        let numbers = HalfCompare { format, ftz: false, compare: Compare::NUM };
        let numbers = self.d.half_compare(&numbers, result, result);
        let zero = self.d.word(0);
        let mut signed = result;
        for (number, position) in numbers.into_iter().zip([15, 31]) {
            let sign = self.d.word(1 << position);
            let sign = self.d.and(differ, sign);
            let sign = self.d.select(number, sign, zero);
            signed = self.d.or(signed, sign);
        }
        self.define_word(signed);
    }

    /// Executes `neg` or, if `neg` is false, `abs` on halves.
    pub(super) fn half_sign(&mut self, neg: bool, format: Format) {
        let mut a = self.word(1);
        if self.has(Token::Ftz) {
            a = self.flush_halves(format, a);
        }
        let signs = self.d.word(SIGNS);
        let result = if neg {
            self.d.xor(a, signs)
        } else {
            let magnitudes = self.d.not(signs);
            self.d.and(a, magnitudes)
        };
        self.define_word(result);
    }

    /// Replaces each subnormal in a pair of halves by the zero of its sign.
    pub(super) fn flush_halves(&mut self, format: Format, a: D::Word) -> D::Word {
        let mut kept = a;
        for position in [0, 16] {
            let exponent = self.d.word(u32::from(format.infinity()) << position);
            let (fraction, zero) = (self.d.word(!(0x7FFF << position)), self.d.word(0));
            let found = self.d.and(a, exponent);
            let small = self.d.equal(found, zero);
            let flushed = self.d.and(kept, fraction);
            kept = self.d.select(small, flushed, kept);
        }
        kept
    }
}

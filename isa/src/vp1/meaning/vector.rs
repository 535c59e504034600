//! The vector unit, except multiplications.

use super::{Context, Outcome, f};
use crate::vp1::domain::expand::{absolute, clamp, splat};
use crate::vp1::domain::{ByteKind, ByteOp, Domain, Index, Logic, Reader, Write};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Writes a result to `$v[DST]`, and its sign and zero flags to a `$vc` register.
    fn vector_result(&mut self, result: D::Bytes, sign: D::Mask) -> Outcome<D> {
        let mut outcome = Outcome::writes([Write::V(self.reg(f::DST), result)]);
        if let Some(vc) = self.flag_register() {
            let (value, zero) = (self.d.widen(false, result), splat(self.d, 0));
            let zero = self.d.wide_equal(value, zero);
            outcome.writes.push(Write::Vc(vc, [sign, zero]));
        }
        outcome
    }

    /// Writes a result to `$v[DST]`. All sign flags of the result are 0.
    fn unsigned_result(&mut self, result: D::Bytes) -> Outcome<D> {
        let zero = self.d.word(0);
        let sign = self.d.mask(zero);
        self.vector_result(result, sign)
    }

    /// Applies an operation to the bytes of `$v[SRC1]` and the last source.
    pub(super) fn components(&mut self, kind: ByteKind, signed: bool) -> Outcome<D> {
        let (a, b) = (self.v(f::SRC1), self.source_bytes());
        let (result, sign) = self.d.byte_op(ByteOp { kind, signed }, a, b);
        self.vector_result(result, sign)
    }

    /// Applies a bitwise operation to `$v[SRC1]` and the last source.
    pub(super) fn components_logic(&mut self, logic: Logic) -> Outcome<D> {
        let (a, b) = (self.v(f::SRC1), self.source_bytes());
        let result = self.d.bytes_logic(logic, a, b);
        self.unsigned_result(result)
    }

    /// Evaluates `vadd9`. The second source and the third together hold sixteen 16-bit integers, of
    /// which the low 9 bits are used.
    pub(super) fn add_nine_bits(&mut self) -> Outcome<D> {
        let (low, high) = (self.v(f::SRC2), self.v(f::SRC3));
        let [even, odd] = [0, 1].map(|first| {
            let index = self.d.bytes(std::array::from_fn(|i| 2 * i as u8 + first));
            let bytes = self.d.swizzle(low, high, index);
            self.d.widen(false, bytes)
        });
        let odd = self.d.wide_shl(odd, 8);
        let halfwords = self.d.wide_add(even, odd);
        let nine = self.d.wide_shl(halfwords, 32 - 9);
        let nine = self.d.wide_sar(nine, 32 - 9);
        let bytes = self.wide(Index::Fixed(self.reg(f::SRC1)), false);
        let sum = self.d.wide_add(bytes, nine);
        let (result, outside) = clamp(self.d, sum, false);
        self.vector_result(result, outside)
    }

    /// Evaluates `vclip`, which returns the median of three vectors per component.
    pub(super) fn clip(&mut self) -> Outcome<D> {
        let [x, start, end] = [f::SRC1, f::SRC2, f::SRC3].map(|field| self.wide(Index::Fixed(self.reg(field)), true));
        let (low, high) = (self.d.wide_min(start, end), self.d.wide_max(start, end));
        let median = self.d.wide_max(x, low);
        let median = self.d.wide_min(median, high);
        let result = self.d.narrow(median);
        let (above, below) = (self.d.wide_less(start, x), self.d.wide_less(x, end));
        let clipped = self.d.mask_logic(Logic::NAND, above, below);
        self.vector_result(result, clipped)
    }

    /// Evaluates `vminabs`, which returns the minimum of absolute values.
    pub(super) fn min_abs(&mut self) -> Outcome<D> {
        let [a, b] = [f::SRC1, f::SRC2].map(|field| {
            let x = self.wide(Index::Fixed(self.reg(field)), true);
            absolute(self.d, x)
        });
        let min = self.d.wide_min(a, b);
        let (result, _) = clamp(self.d, min, true);
        self.unsigned_result(result)
    }

    /// Evaluates `vmov`, which writes a constant to all components.
    pub(super) fn vector_constant(&mut self) -> Outcome<D> {
        let result = self.source_bytes();
        let (value, zero) = (self.d.widen(true, result), splat(self.d, 0));
        let sign = self.d.wide_less(value, zero);
        self.vector_result(result, sign)
    }

    /// Evaluates `mov`, which copies a vector.
    pub(super) fn vector_copy(&mut self) -> Outcome<D> {
        let result = self.v(f::SRC1);
        self.unsigned_result(result)
    }

    /// Evaluates `mov` from all `$vc` registers to a vector.
    pub(super) fn vector_of_flags(&mut self) -> Outcome<D> {
        let words = [0, 1, 2, 3].map(|n| {
            let [sign, zero] = self.read.vc(self.d, n).map(|mask| self.d.mask_bits(mask));
            let sixteen = self.d.word(16);
            let zero = self.d.shl(zero, sixteen);
            self.or(sign, zero)
        });
        Outcome::writes([Write::V(self.reg(f::DST), self.d.bytes_of_words(words))])
    }

    /// Evaluates `vswz`.
    pub(super) fn swizzle(&mut self) -> Outcome<D> {
        let (a, b, mut index) = (self.v(f::SRC1), self.v(f::SRC2), self.v(f::SRC3));
        if self.flag(f::SWZLOHI) {
            // Swaps the nibbles of each selector byte. In this mode, the high nibble is the
            // component number, and bit 0 selects the source.
            let wide = self.d.widen(false, index);
            let (low, high) = (self.d.wide_shl(wide, 4), self.d.wide_sar(wide, 4));
            let swapped = self.d.wide_add(low, high);
            index = self.d.narrow(swapped);
        }
        Outcome::writes([Write::V(self.reg(f::DST), self.d.swizzle(a, b, index))])
    }

    /// Evaluates `vcmpad`, which compares the absolute difference of two vectors with a third one.
    /// The vectors are the last source, and the first and the second register of a pair.
    pub(super) fn compare_difference(&mut self) -> Outcome<D> {
        let Some(vc) = self.flag_register() else { return Outcome::default() };
        let n = self.reg(f::SRC1);
        let [a, limit] = [n, n | 1].map(|n| self.wide(Index::Fixed(n), false));
        let b = self.source_bytes();
        let b = self.d.widen(false, b);
        let difference = self.d.wide_sub(b, a);
        let difference = absolute(self.d, difference);
        let (less, equal) = (self.d.wide_less(difference, limit), self.d.wide_equal(difference, limit));
        let flag = self.forwarded_flags();
        let sign = self.d.mask_logic(Logic::of_table(self.reg(f::CMPOP)), less, flag);
        Outcome::writes([Write::Vc(vc, [sign, equal])])
    }
}

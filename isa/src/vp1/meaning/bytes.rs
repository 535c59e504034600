//! Arithmetic on bytes: sixteen in the vector unit, four in the scalar unit.

use super::{Context, f};
use crate::vp1::domain::expand::{clamp, splat};
use crate::vp1::domain::{ByteKind, ByteOp, Domain, Reader};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns a vector whose lowest four bytes are the word `a` and whose other bytes are zero.
    pub(super) fn low_bytes(&mut self, a: D::Word) -> D::Bytes {
        let zero = self.d.word(0);
        self.d.bytes_of_words([a, zero, zero, zero])
    }

    /// Applies a byte operation to the four bytes of a word and the four lowest bytes of a vector.
    pub(super) fn byte_op(&mut self, kind: ByteKind, signed: bool, a: D::Word, b: D::Bytes) -> D::Word {
        let a = self.low_bytes(a);
        let (result, _) = self.d.byte_op(ByteOp { kind, signed }, a, b);
        self.d.word_of(result, 0)
    }

    /// Evaluates `bmul`, which multiplies bytes as fixed-point fractions. A signed byte has 7
    /// fraction bits and an unsigned byte has 8.
    pub(super) fn byte_product(&mut self, signed: bool, a: D::Word, b: D::Bytes) -> D::Word {
        let product = self.exact_product(signed, self.flag(f::RND), a, b);
        let product = self.d.wide_sar(product, if signed { 9 } else { 8 });
        let (product, _) = clamp(self.d, product, signed);
        self.d.word_of(product, 0)
    }

    /// Returns the exact products of bytes as fractions. If `round` is set, half a unit of the last
    /// bit of the result is added.
    pub(super) fn exact_product(&mut self, signed: bool, round: bool, a: D::Word, b: D::Bytes) -> D::Wide {
        let a = self.low_bytes(a);
        let (a, b) = (self.fraction(a, self.flag(f::SIGN1)), self.fraction(b, self.flag(f::SIGN2)));
        let product = self.d.wide_mul(a, b);
        let half = splat(self.d, if signed { 0x100 } else { 0x80 });
        if round { self.d.wide_add(product, half) } else { product }
    }

    /// Converts bytes to fractions in units of 1/256. A signed byte, whose unit is 1/128, is doubled.
    pub(super) fn fraction(&mut self, a: D::Bytes, signed: bool) -> D::Wide {
        let a = self.d.widen(signed, a);
        if signed { self.d.wide_shl(a, 1) } else { a }
    }
}

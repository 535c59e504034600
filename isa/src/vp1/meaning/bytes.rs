//! Arithmetic on bytes: sixteen of them for the vector unit, four for the scalar unit.

use super::{Context, f};
use crate::vp1::domain::expand::{clamp, splat};
use crate::vp1::domain::{ByteKind, ByteOp, Domain, Reader};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// A vector whose first word is `a`.
    pub(super) fn low_bytes(&mut self, a: D::Word) -> D::Bytes {
        let zero = self.d.word(0);
        self.d.bytes_of_words([a, zero, zero, zero])
    }

    /// A byte operation on the four bytes of a word and the lowest of a vector.
    pub(super) fn byte_op(&mut self, kind: ByteKind, signed: bool, a: D::Word, b: D::Bytes) -> D::Word {
        let a = self.low_bytes(a);
        let (result, _) = self.d.byte_op(ByteOp { kind, signed }, a, b);
        self.d.word_of(result, 0)
    }

    /// `bmul`: products of fractions, of which signed ones have 7 bits and unsigned ones 8.
    pub(super) fn byte_product(&mut self, signed: bool, a: D::Word, b: D::Bytes) -> D::Word {
        let product = self.exact_product(signed, self.flag(f::RND), a, b);
        let product = self.d.wide_sar(product, if signed { 9 } else { 8 });
        let (product, _) = clamp(self.d, product, signed);
        self.d.word_of(product, 0)
    }

    /// The product of fractions before any of it is dropped, with half of the last place that is kept added if it is to be rounded.
    pub(super) fn exact_product(&mut self, signed: bool, round: bool, a: D::Word, b: D::Bytes) -> D::Wide {
        let a = self.low_bytes(a);
        let (a, b) = (self.fraction(a, self.flag(f::SIGN1)), self.fraction(b, self.flag(f::SIGN2)));
        let product = self.d.wide_mul(a, b);
        let half = splat(self.d, if signed { 0x100 } else { 0x80 });
        if round { self.d.wide_add(product, half) } else { product }
    }

    /// Bytes as fractions of 256; signed ones are of 128.
    pub(super) fn fraction(&mut self, a: D::Bytes, signed: bool) -> D::Wide {
        let a = self.d.widen(signed, a);
        if signed { self.d.wide_shl(a, 1) } else { a }
    }
}

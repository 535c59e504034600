//! Arithmetic on bytes: sixteen of them for the vector unit, four for the scalar unit.

use super::{Context, f};
use crate::vp1::domain::{ByteKind, ByteOp, Domain, Logic, Reader};

/// [`Domain::byte_op`] by way of exact integers.
pub fn components<D: Domain>(d: &mut D, op: ByteOp, a: D::Bytes, b: D::Bytes) -> (D::Bytes, D::Mask) {
    let zero = splat(d, 0);
    let x = d.widen(op.signed, a);
    if op.kind == ByteKind::ShiftRight {
        let result = shift_right(d, x, b);
        let value = d.widen(true, result);
        let sign = d.wide_less(value, zero);
        return (result, sign);
    }
    let y = d.widen(op.signed, b);
    let exact = match op.kind {
        ByteKind::Min => d.wide_min(x, y),
        ByteKind::Max => d.wide_max(x, y),
        ByteKind::Abs => absolute(d, x),
        ByteKind::Neg => d.wide_sub(zero, x),
        ByteKind::Add => d.wide_add(x, y),
        ByteKind::Sub | ByteKind::ShiftRight => d.wide_sub(x, y),
    };
    let (result, outside) = clamp(d, exact, op.signed);
    let sign = if op.signed { d.wide_less(exact, zero) } else { outside };
    (result, sign)
}

/// `x` shifted right by the low nibble of each count, which is signed. One right shift of `x << 8`, by 8 more than the count, goes
/// either way.
fn shift_right<D: Domain>(d: &mut D, x: D::Wide, counts: D::Bytes) -> D::Bytes {
    let (nibble, eight) = (d.bytes([15; 16]), d.bytes([8; 16]));
    let counts = d.bytes_logic(Logic::AND, counts, nibble);
    let counts = d.bytes_logic(Logic::XOR, counts, eight);
    let counts = d.widen(false, counts);
    let x = d.wide_shl(x, 8);
    let x = d.wide_sar_each(x, counts);
    d.narrow(x)
}

/// Components clamped to the range of signed or unsigned bytes, and which of them were outside.
pub(super) fn clamp<D: Domain>(d: &mut D, exact: D::Wide, signed: bool) -> (D::Bytes, D::Mask) {
    let (low, high) = if signed { (-0x80, 0x7f) } else { (0, 0xff) };
    let clamped = clamp_to(d, exact, low, high);
    let inside = d.wide_equal(exact, clamped);
    (d.narrow(clamped), d.mask_logic(Logic::NOT, inside, inside))
}

/// Components clamped to a range.
pub(super) fn clamp_to<D: Domain>(d: &mut D, x: D::Wide, low: i32, high: i32) -> D::Wide {
    let (low, high) = (splat(d, low), splat(d, high));
    let x = d.wide_max(x, low);
    d.wide_min(x, high)
}

/// `|x|`
pub(super) fn absolute<D: Domain>(d: &mut D, x: D::Wide) -> D::Wide {
    let zero = splat(d, 0);
    let negative = d.wide_sub(zero, x);
    d.wide_max(x, negative)
}

/// A constant in every component.
pub(super) fn splat<D: Domain>(d: &mut D, value: i32) -> D::Wide {
    let word = d.word(value as u32);
    d.splat(word)
}

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

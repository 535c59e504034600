//! Default implementations of the domain's compound operations, in terms of its primitive operations.

use super::{ByteKind, ByteOp, Domain, Logic};

/// Implements [`Domain::byte_op`] on 32-bit components, where the results are exact.
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

/// Shifts each component of `x` right by the signed low nibble of its count. A right shift of `x <<
/// 8` by the count plus 8 implements both shift directions.
fn shift_right<D: Domain>(d: &mut D, x: D::Wide, counts: D::Bytes) -> D::Bytes {
    let (nibble, eight) = (d.bytes([15; 16]), d.bytes([8; 16]));
    let counts = d.bytes_logic(Logic::AND, counts, nibble);
    let counts = d.bytes_logic(Logic::XOR, counts, eight);
    let counts = d.widen(false, counts);
    let x = d.wide_shl(x, 8);
    let x = d.wide_sar_each(x, counts);
    d.narrow(x)
}

/// Clamps components to the range of signed or unsigned bytes. Also returns a mask of the
/// components that were out of range.
pub(in crate::vp1) fn clamp<D: Domain>(d: &mut D, exact: D::Wide, signed: bool) -> (D::Bytes, D::Mask) {
    let (low, high) = if signed { (-0x80, 0x7f) } else { (0, 0xff) };
    let clamped = clamp_to(d, exact, low, high);
    let inside = d.wide_equal(exact, clamped);
    (d.narrow(clamped), d.mask_logic(Logic::NOT, inside, inside))
}

/// Clamps components to a range.
pub(in crate::vp1) fn clamp_to<D: Domain>(d: &mut D, x: D::Wide, low: i32, high: i32) -> D::Wide {
    let (low, high) = (splat(d, low), splat(d, high));
    let x = d.wide_max(x, low);
    d.wide_min(x, high)
}

/// Returns `|x|`.
pub(in crate::vp1) fn absolute<D: Domain>(d: &mut D, x: D::Wide) -> D::Wide {
    let zero = splat(d, 0);
    let negative = d.wide_sub(zero, x);
    d.wide_max(x, negative)
}

/// Returns a vector with a constant in every component.
pub(in crate::vp1) fn splat<D: Domain>(d: &mut D, value: i32) -> D::Wide {
    let word = d.word(value as u32);
    d.splat(word)
}

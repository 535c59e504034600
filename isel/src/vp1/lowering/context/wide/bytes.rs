//! Value ranges of bytes and of the bytes of vectors.

use std::ops::RangeInclusive;

use halfbyte_ir::{Kernel, Known, Op, Value};

use crate::vp1::operands::Sign;

type Range = RangeInclusive<i64>;

/// Returns the range of all bytes, read with a signedness.
const fn all(sign: Sign) -> Range {
    match sign {
        Sign::U => 0..=0xff,
        Sign::S => -0x80..=0x7f,
    }
}

/// Returns `true` if a signed or unsigned byte, as given, can hold all numbers of the range.
pub(in crate::vp1::lowering) fn fits(range: &Range, sign: Sign) -> bool {
    all(sign).contains(range.start()) && all(sign).contains(range.end())
}

/// Returns the value range of a byte, or of all bytes of a vector, read with a signedness.
pub(in crate::vp1::lowering) fn range(kernel: &Kernel, value: Value, sign: Sign) -> Range {
    let lane = Known::of(kernel, value).all();
    match sign {
        _ if lane.width() != 8 => all(sign),
        Sign::U => lane.unsigned().0 as i64..=lane.unsigned().1 as i64,
        Sign::S => lane.signed().0..=lane.signed().1,
    }
}

/// Returns `true` if in every lane the signed byte of `low` is at most that of `high`.
pub(super) fn ordered(kernel: &Kernel, low: Value, high: Value) -> bool {
    if let (Some(mut low), Some(high)) = (constant_bytes(kernel, low), constant_bytes(kernel, high)) {
        return high.zip(&mut low).all(|(high, low)| low.cast_signed() <= high.cast_signed());
    }
    let negated = kernel.def_inst(low).filter(|&inst| kernel.insts[inst].op == Op::Neg);
    let is_opposite = negated.is_some_and(|inst| kernel.args(inst) == [high]);
    let least = *range(kernel, high, Sign::S).start();
    is_opposite && least >= 0 || *range(kernel, low, Sign::S).end() <= least
}

/// Returns the bytes of a constant, or `None` if the value is not constant.
fn constant_bytes(kernel: &Kernel, value: Value) -> Option<impl Iterator<Item = u8>> {
    let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == Op::Const)?;
    let bytes = kernel.const_bits(inst)?.into_iter().flat_map(u64::to_le_bytes);
    Some(bytes.take(kernel.ty(value).lanes()))
}

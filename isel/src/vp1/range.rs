//! Value ranges of 32-bit integers.

use std::ops::RangeInclusive;

use halfbyte_ir::{Kernel, Known, Type, Value};

/// Returns the value range of a scalar, read as a signed 32-bit integer. A scalar with fewer than
/// 32 bits has the full range.
pub(crate) fn range(kernel: &Kernel, value: Value) -> RangeInclusive<i64> {
    if kernel.ty(value) != Type::I32 {
        return i64::from(i32::MIN)..=i64::from(i32::MAX);
    }
    let (low, high) = Known::of(kernel, value).all().signed();
    low..=high
}

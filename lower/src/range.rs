//! Ranges of integers.

use std::ops::RangeInclusive;

use halfbyte_ir::Type;

/// Inclusive range of signed numbers. The type also holds products of two 64-bit lanes.
pub(crate) type Range = RangeInclusive<i128>;

/// Returns the range of a type's lanes as signed numbers.
pub(crate) fn signed_lanes(ty: Type) -> Range {
    let half = 1 << (ty.elem().bits() - 1);
    -half..=half - 1
}

/// Returns the range of a type's lanes as unsigned numbers.
pub(crate) fn unsigned_lanes(ty: Type) -> Range {
    0..=i128::from(ty.elem().mask())
}

/// Returns `true` if `range` lies within `of`.
pub(crate) fn is_in(range: &Range, of: &Range) -> bool {
    of.contains(range.start()) && of.contains(range.end())
}

/// Returns the range of the sums of a number in `a` and a number in `b`.
pub(crate) fn sum(a: &Range, b: &Range) -> Range {
    a.start() + b.start()..=a.end() + b.end()
}

/// Returns the range of the negations of the numbers in `a`.
pub(crate) fn negated(a: &Range) -> Range {
    -a.end()..=-a.start()
}

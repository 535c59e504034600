//! Value ranges of integer lanes, computed from definitions.

use std::ops::RangeInclusive;

use halfbyte_ir::{Attr, Kernel, Op, Type, Value};

use crate::rewrite::{constant_lanes, signed_lane};

/// Inclusive range of signed numbers. The type also holds products of two 64-bit lanes.
pub(crate) type Range = RangeInclusive<i128>;

/// Maximum number of nested definitions that the analysis follows.
const DEPTH: u32 = 4;

/// Returns the range of a type's lanes as signed numbers.
pub(crate) fn signed_lanes(ty: Type) -> Range {
    let half = 1 << (ty.elem().bits() - 1);
    -half..=half - 1
}

/// Returns the range of a type's lanes as unsigned numbers.
pub(crate) fn unsigned_lanes(ty: Type) -> Range {
    0..=i128::from(ty.elem().mask())
}

/// Returns a range that contains the lanes of an integer value, as signed numbers.
pub(crate) fn of(kernel: &Kernel, value: Value) -> Range {
    within(kernel, value, DEPTH)
}

/// Returns `true` if `range` lies within `of`.
pub(crate) fn is_in(range: &Range, of: &Range) -> bool {
    of.contains(range.start()) && of.contains(range.end())
}

fn within(kernel: &Kernel, value: Value, depth: u32) -> Range {
    let all = signed_lanes(kernel.ty(value));
    let exact = (depth > 0).then(|| exact(kernel, value, depth - 1)).flatten();
    // If the exact result may not fit, the op wraps, and any lane is possible.
    exact.filter(|range| is_in(range, &all)).unwrap_or(all)
}

/// Returns the range of an op's exact result before wrapping; `None` for an op that the analysis does not support.
fn exact(kernel: &Kernel, value: Value, depth: u32) -> Option<Range> {
    let inst = kernel.def_inst(value)?;
    let of = |value| within(kernel, value, depth);
    let unsigned = |value: Value| match of(value) {
        range if *range.start() >= 0 => range,
        _ => unsigned_lanes(kernel.ty(value)),
    };
    let range = match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Const, _) => {
            let (ty, lanes) = constant_lanes(kernel, value)?;
            let lanes = lanes.get(..ty.lanes())?.iter().map(|&lane| i128::from(signed_lane(ty.elem(), lane)));
            lanes.clone().min()?..=lanes.max()?
        }
        (Op::Bitcast, &[a]) if are_bytes(kernel, a) && kernel.ty(value) == Type::I16X2 => 0..=255,
        (Op::Sext, &[a]) => of(a),
        (Op::Zext, &[a]) => unsigned(a),
        (Op::Add, &[a, b]) => sum(&of(a), &of(b)),
        (Op::Sub, &[a, b]) => sum(&of(a), &negated(&of(b))),
        (Op::Neg, &[a]) => negated(&of(a)),
        (Op::Mul, &[a, b]) => product(&of(a), &of(b)),
        (Op::MulWideS, &[a, b]) => product(&of(a), &of(b)),
        (Op::MulWideU, &[a, b]) => product(&unsigned(a), &unsigned(b)),
        (Op::MinS, &[a, b]) => {
            let (a, b) = (of(a), of(b));
            *a.start().min(b.start())..=*a.end().min(b.end())
        }
        (Op::MaxS, &[a, b]) => {
            let (a, b) = (of(a), of(b));
            *a.start().max(b.start())..=*a.end().max(b.end())
        }
        (Op::MinU, &[a, b]) => 0..=*unsigned(a).end().min(unsigned(b).end()),
        (Op::And, &[a, b]) => 0..=*unsigned(a).end().min(unsigned(b).end()),
        (Op::ShrU, &[a, count]) => {
            let (_, counts) = constant_lanes(kernel, count)?;
            let ty = kernel.ty(value);
            let least = counts.get(..ty.lanes())?.iter().map(|count| count % u64::from(ty.elem().bits())).min()?;
            0..=unsigned(a).end() >> least
        }
        (Op::Select, &[_, a, b]) => {
            let (a, b) = (of(a), of(b));
            *a.start().min(b.start())..=*a.end().max(b.end())
        }
        _ => return None,
    };
    Some(range)
}

/// Returns `true` if a shuffle makes lanes 1 and 3 of an `i8x4` zero.
fn are_bytes(kernel: &Kernel, value: Value) -> bool {
    let Some(inst) = kernel.def_inst(value).filter(|_| kernel.ty(value) == Type::I8X4) else { return false };
    let (Op::Shuffle, Attr::Lanes(map), &[a, b]) = (kernel.insts[inst].op, kernel.insts[inst].attr, kernel.args(inst))
    else {
        return false;
    };
    let is_zero = |lane: usize| {
        let from = if lane < 4 { a } else { b };
        constant_lanes(kernel, from).is_some_and(|(_, lanes)| lanes.get(lane % 4) == Some(&0))
    };
    is_zero(map.get(1)) && is_zero(map.get(3))
}

pub(crate) fn sum(a: &Range, b: &Range) -> Range {
    a.start() + b.start()..=a.end() + b.end()
}

pub(crate) fn negated(a: &Range) -> Range {
    -a.end()..=-a.start()
}

pub(crate) fn product(a: &Range, b: &Range) -> Range {
    let ends = [a.start() * b.start(), a.start() * b.end(), a.end() * b.start(), a.end() * b.end()];
    let [first, rest @ ..] = ends;
    rest.iter().fold(first..=first, |range, &end| *range.start().min(&end)..=*range.end().max(&end))
}

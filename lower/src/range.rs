//! What the lanes of an integer value can be, by what defines it.

use std::ops::RangeInclusive;

use halfbyte_ir::{Kernel, Op, Type, Value};

use crate::rewrite::{constant_lanes, signed_lane};

/// Signed numbers between two bounds. Products of two lanes of 64 bits fit as well.
pub(crate) type Range = RangeInclusive<i128>;

/// So many definitions are looked through, one after another.
const DEPTH: u32 = 4;

/// The signed range of a type's lanes.
pub(crate) fn signed_lanes(ty: Type) -> Range {
    let half = 1 << (ty.elem().bits() - 1);
    -half..=half - 1
}

/// The unsigned range of a type's lanes.
pub(crate) fn unsigned_lanes(ty: Type) -> Range {
    0..=i128::from(ty.elem().mask())
}

/// The range that the lanes of an integer value are in, as signed numbers.
pub(crate) fn of(kernel: &Kernel, value: Value) -> Range {
    within(kernel, value, DEPTH)
}

/// Whether a range is part of another one.
pub(crate) fn is_in(range: &Range, of: &Range) -> bool {
    of.contains(range.start()) && of.contains(range.end())
}

fn within(kernel: &Kernel, value: Value, depth: u32) -> Range {
    let all = signed_lanes(kernel.ty(value));
    let exact = (depth > 0).then(|| exact(kernel, value, depth - 1)).flatten();
    // Where the exact result may not fit, the op wraps.
    exact.filter(|range| is_in(range, &all)).unwrap_or(all)
}

/// The range of the exact result, where the op is one of those that are known.
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
        (Op::Select, &[_, a, b]) => {
            let (a, b) = (of(a), of(b));
            *a.start().min(b.start())..=*a.end().max(b.end())
        }
        _ => return None,
    };
    Some(range)
}

fn sum(a: &Range, b: &Range) -> Range {
    a.start() + b.start()..=a.end() + b.end()
}

fn negated(a: &Range) -> Range {
    -a.end()..=-a.start()
}

fn product(a: &Range, b: &Range) -> Range {
    let ends = [a.start() * b.start(), a.start() * b.end(), a.end() * b.start(), a.end() * b.end()];
    let [first, rest @ ..] = ends;
    rest.iter().fold(first..=first, |range, &end| *range.start().min(&end)..=*range.end().max(&end))
}

//! Value ranges of integer lanes, computed from definitions.

use std::ops::RangeInclusive;

use halfbyte_ir::{Attr, Kernel, Op, Type, Value};

use crate::rewrite::{constant_lanes, signed_lane};

/// Inclusive range of signed numbers. Products of two 64-bit lanes also fit.
pub(crate) type Range = RangeInclusive<i128>;

/// Maximum depth of definitions that the analysis follows.
const DEPTH: u32 = 4;

/// Returns the signed range of a type's lanes.
pub(crate) fn signed_lanes(ty: Type) -> Range {
    let half = 1 << (ty.elem().bits() - 1);
    -half..=half - 1
}

/// Returns the unsigned range of a type's lanes.
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
    // The op wraps if its exact result may not fit.
    exact.filter(|range| is_in(range, &all)).unwrap_or(all)
}

/// Returns the range of an op's exact result, without wrapping; `None` for an unsupported op.
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

/// Returns `true` if a shuffle makes the odd ones of four byte lanes zero.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_ir::text::read;

    use super::*;

    /// Returns the range of `%r` after these lines.
    fn range(lines: &str) -> Range {
        let text = format!("kernel @k(%a: i8, %b: i16, %v: i8x4) {{\n^entry:\n{lines}\nret\n}}");
        let kernel = read(&text).unwrap().kernels.remove(0);
        let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some("r")).unwrap();
        of(&kernel, value)
    }

    #[test]
    fn ranges_follow_from_definitions() {
        for (lines, expected) in [
            ("%r = zext.i32 %a", 0..=255),
            ("%r = sext.i32 %a", -128..=127),
            ("%r = const.i8x4 [1, -3, 7, 200]", -56..=7),
            ("%p = zext.i32 %a\n%q = sext.i32 %b\n%r = sub.i32 %p, %q", -32767..=33023),
            ("%p = zext.i32 %a\n%n = neg.i32 %p\n%r = mul.i32 %p, %n", -65025..=0),
            ("%r = mul_wide_s.i8 %a, %a", -16256..=16384),
            (
                "%p = sext.i32 %b\n%k = const.i32 9\n%m = min_s.i32 %p, %k\n%l = const.i32 -4\n%r = max_s.i32 %m, %l",
                -4..=9,
            ),
            ("%p = sext.i32 %a\n%k = const.i32 15\n%r = and.i32 %p, %k", 0..=15),
            ("%p = sext.i32 %a\n%k = const.i32 15\n%r = min_u.i32 %p, %k", 0..=15),
            ("%p = zext.i32 %a\n%q = sext.i32 %b\n%c = icmp.eq.i32 %p, %q\n%r = select.i32 %c, %p, %q", -32768..=32767),
        ] {
            assert_eq!(range(lines), expected, "{lines}");
        }
    }

    /// The range is the full type if a result may wrap, for example a product of unsigned bytes in
    /// a signed halfword. The same holds for unsupported ops and for definitions beyond the maximum
    /// depth.
    #[test]
    fn what_may_wrap_is_anything() {
        for (lines, expected) in [
            ("%p = zext.i16 %a\n%r = mul.i16 %p, %p", -32768..=32767),
            ("%r = mul_wide_u.i8 %a, %a", -32768..=32767),
            ("%r = add.i8 %a, %a", -128..=127),
            ("%r = min_u.i8 %a, %a", -128..=127),
            ("%r = reduce_add_u.i8x4 %v", -(1 << 31)..=(1 << 31) - 1),
            (
                "%p = zext.i32 %a\n%q = neg.i32 %p\n%s = neg.i32 %q\n%t = neg.i32 %s\n%r = neg.i32 %t",
                -(1 << 31)..=(1 << 31) - 1,
            ),
        ] {
            assert_eq!(range(lines), expected, "{lines}");
        }
    }
}

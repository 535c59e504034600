//! Value ranges of bytes and of the bytes of vectors.

use std::ops::RangeInclusive;

use halfbyte_ir::{Inst, Kernel, Op, Type, Value};

use crate::vp1::operands::Sign;
use crate::vp1::range::range as word_range;

/// Maximum number of nested ops that the range analysis inspects.
const MAX_DEPTH: u32 = 6;

type Range = RangeInclusive<i64>;

/// Returns the range of all bytes, read with a signedness.
const fn all(sign: Sign) -> Range {
    match sign {
        Sign::U => 0..=0xff,
        Sign::S => -0x80..=0x7f,
    }
}

/// Returns `true` if a signed or unsigned byte, as given, can hold all numbers of the range.
pub(super) fn fits(range: &Range, sign: Sign) -> bool {
    all(sign).contains(range.start()) && all(sign).contains(range.end())
}

/// Returns the value range of a byte, or of all bytes of a vector, read with a signedness.
pub(super) fn range(kernel: &Kernel, value: Value, sign: Sign) -> Range {
    within(kernel, value, sign, MAX_DEPTH)
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

fn within(kernel: &Kernel, value: Value, sign: Sign, depth: u32) -> Range {
    if let Some(bytes) = constant_bytes(kernel, value) {
        let number = |byte: u8| if sign == Sign::S { byte.cast_signed().into() } else { byte.into() };
        let (least, most) = bytes.map(number).fold((i64::MAX, i64::MIN), |(a, b), n: i64| (a.min(n), b.max(n)));
        return least..=most;
    }
    let known = kernel.def_inst(value).filter(|_| depth > 0).and_then(|inst| natural(kernel, inst, depth - 1));
    match known {
        Some((of, range)) if of == sign || *range.start() >= 0 && *range.end() <= 0x7f => range,
        _ => all(sign),
    }
}

/// Returns the value range of an op's result, and the signedness with which the range is to be read.
fn natural(kernel: &Kernel, inst: Inst, depth: u32) -> Option<(Sign, Range)> {
    let data = &kernel.insts[inst];
    let args = kernel.args(inst);
    let inner = |value: Value, sign: Sign| within(kernel, value, sign, depth);
    // `both` handles saturating ops that are monotonic: increasing in the first operand, and
    // decreasing (`falls`) or increasing in the second.
    let both = |sign: Sign, falls: bool, op: fn(i64, i64) -> i64| {
        let &[a, b] = args else { return None };
        let (a, b) = (inner(a, sign), inner(b, sign));
        let (first, last) = if falls { (b.end(), b.start()) } else { (b.start(), b.end()) };
        let whole = all(sign);
        let clipped = |n: i64| n.clamp(*whole.start(), *whole.end());
        Some((sign, clipped(op(*a.start(), *first))..=clipped(op(*a.end(), *last))))
    };
    // `either` returns the unsigned range if all its numbers are below 0x80, else the signed range.
    let either = |of: &dyn Fn(Sign) -> Range| {
        let unsigned = of(Sign::U);
        Some(if *unsigned.end() <= 0x7f { (Sign::U, unsigned) } else { (Sign::S, of(Sign::S)) })
    };
    match (data.op, args) {
        (Op::Splat, &[scalar]) => either(&|sign| inner(scalar, sign)),
        (Op::Trunc, &[word]) if kernel.ty(word) == Type::I32 => {
            let range = word_range(kernel, word);
            [Sign::U, Sign::S].into_iter().find(|&sign| fits(&range, sign)).map(|sign| (sign, range))
        }
        (Op::MinU, _) => both(Sign::U, false, i64::min),
        (Op::MaxU, _) => both(Sign::U, false, i64::max),
        (Op::MinS, _) => both(Sign::S, false, i64::min),
        (Op::MaxS, _) => both(Sign::S, false, i64::max),
        (Op::AddSatU, _) => both(Sign::U, false, |a, b| a + b),
        (Op::AddSatS, _) => both(Sign::S, false, |a, b| a + b),
        (Op::SubSatU, _) => both(Sign::U, true, |a, b| a - b),
        (Op::SubSatS, _) => both(Sign::S, true, |a, b| a - b),
        (Op::AvgU, _) => both(Sign::U, false, |a, b| (a + b + 1) >> 1),
        (Op::And, &[a, b]) => Some((Sign::U, 0..=*inner(a, Sign::U).end().min(inner(b, Sign::U).end()))),
        (Op::ShrU, &[a, n]) => {
            let mut counts = constant_bytes(kernel, n)?.map(|count| count & 7);
            let count = counts.next().filter(|&first| counts.all(|other| other == first))?;
            let range = inner(a, Sign::U);
            Some((Sign::U, range.start() >> count..=range.end() >> count))
        }
        (Op::Select, &[_, a, b]) => either(&|sign| {
            let (a, b) = (inner(a, sign), inner(b, sign));
            *a.start().min(b.start())..=*a.end().max(b.end())
        }),
        _ => None,
    }
}

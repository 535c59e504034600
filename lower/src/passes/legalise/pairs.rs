//! Wide lanes as pairs of half-words, for targets whose ops on a pair of half-words cost no more than ops on one
//! half-word.
//!
//! Bytes are usually narrowed from sums of multiples of bytes. A pair holds two lanes of 16 or 32 bits modulo 2^16.
//! [`numbers`] computes the range of the lanes. If the range has at most 2^16 numbers, the lanes modulo 2^16 determine
//! the values. Lanes that are never negative are multiplied and added as one 32-bit word, because no lane then carries
//! into the other.
//!
//! If a shifted value is clamped to a byte, the clamp can also come before the right shift. Only the resulting byte is
//! used, so the bits that the shift moves in from the other lane do not matter.

use std::ops::RangeInclusive;

use halfbyte_ir::{Attr, Inst, Kernel, Known, LaneMap, Op, Type, Value};

use super::{Legaliser, packed_words};
use crate::rewrite::{constant_lanes, signed_lane};

/// Number of pairs in a vector of sixteen lanes.
const COUNT: usize = 8;
/// Maximum nesting of ops. A value that is nested deeper is legalised lane by lane.
const DEPTH: u32 = 48;
/// Bits of a half-word.
const BITS: u32 = 16;

pub(super) type Pairs = [Value; COUNT];
/// Inclusive range of numbers.
pub(super) type Range = RangeInclusive<i64>;

const SIGNED: Range = -0x8000..=0x7fff;
const UNSIGNED: Range = 0..=0xffff;

/// Legalises an instruction that has a wide operand and a result that is not wide, by pairs of
/// half-words. Returns `false` if the target does not support the resulting ops.
pub(super) fn by_pairs(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    let kernel = legaliser.kernel();
    let (data, result) = (kernel.insts[inst], kernel.result(inst));
    let (Some(result), &[value]) = (result, kernel.args(inst)) else { return false };
    if !legaliser.has_half_word_pairs() || !kernel.ty(value).is_wide() {
        return false;
    }
    let done = legaliser.attempt(|legaliser| match (data.op, data.ty, data.attr) {
        (op, Type::I8X16, _) => Narrowing::of(op).and_then(|how| narrowed(legaliser, value, how)),
        (Op::Split, Type::I16X2, Attr::Lane(number)) if legaliser.kernel().ty(value) == Type::I16X16 => {
            pairs(legaliser, value, DEPTH).and_then(|pairs| pairs.get(usize::from(number)).copied())
        }
        _ => None,
    });
    done.inspect(|&value| legaliser.replace(result, value)).is_some()
}

/// Conversion of wide lanes to bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Narrowing {
    /// Truncation to the low eight bits.
    Wrap,
    /// Saturation of a signed number to a signed or an unsigned byte.
    Signed,
    Unsigned,
    /// Saturation of an unsigned number to an unsigned byte.
    UnsignedOfUnsigned,
}

impl Narrowing {
    const fn of(op: Op) -> Option<Narrowing> {
        match op {
            Op::Trunc => Some(Narrowing::Wrap),
            Op::NarrowSatS => Some(Narrowing::Signed),
            Op::NarrowSatU => Some(Narrowing::Unsigned),
            Op::NarrowSatUU => Some(Narrowing::UnsignedOfUnsigned),
            _ => None,
        }
    }

    /// Returns the range of the resulting bytes.
    const fn bytes(self) -> Range {
        match self {
            Narrowing::Signed => -0x80..=0x7f,
            _ => 0..=0xff,
        }
    }
}

fn is_in(range: &Range, of: &Range) -> bool {
    of.contains(range.start()) && of.contains(range.end())
}

/// Returns the full range of a type's lanes, as signed or unsigned numbers.
fn all(ty: Type, signed: bool) -> Range {
    match (ty.elem().bits(), signed) {
        (BITS, true) => SIGNED,
        (BITS, false) => UNSIGNED,
        (_, true) => i32::MIN.into()..=i32::MAX.into(),
        (_, false) => 0..=u32::MAX.into(),
    }
}

/// Returns the range of lanes as an op reads them, signed or unsigned. The result is `numbers` if
/// all of them are in the signed or unsigned range of the type, otherwise that whole range.
fn taken(ty: Type, numbers: Range, signed: bool) -> Range {
    let all = all(ty, signed);
    if is_in(&numbers, &all) { numbers } else { all }
}

/// Returns the lane of a splat constant as a signed number.
fn everywhere(kernel: &Kernel, value: Value) -> Option<i64> {
    let (ty, lanes) = constant_lanes(kernel, value)?;
    let lanes = lanes.get(..ty.lanes())?;
    let &first = lanes.first()?;
    lanes.iter().all(|&lane| lane == first).then(|| signed_lane(ty.elem(), first))
}

/// Matches a right shift by a splat constant. Returns the operand, the count, `true` if the shift
/// is signed, and the number that a rounding shift adds first.
fn shift(kernel: &Kernel, value: Value) -> Option<(Value, u32, bool, i64)> {
    let inst = kernel.def_inst(value)?;
    let op = kernel.insts[inst].op;
    let &[shifted, count] = kernel.args(inst) else { return None };
    let signed = matches!(op, Op::ShrS | Op::RoundShrS);
    if !signed && !matches!(op, Op::ShrU | Op::RoundShrU) {
        return None;
    }
    let count = everywhere(kernel, count)? as u32 % kernel.ty(value).elem().bits();
    let rounds = matches!(op, Op::RoundShrS | Op::RoundShrU) && count > 0;
    (count < BITS).then(|| (shifted, count, signed, if rounds { 1 << (count - 1) } else { 0 }))
}

/// Returns a range of numbers that are congruent to the lanes modulo 2^16, or modulo 2^32 for
/// 32-bit lanes. The range of 32-bit lanes contains their signed values.
pub(super) fn numbers(legaliser: &mut Legaliser<'_, '_, '_>, value: Value, depth: u32) -> Option<Range> {
    let value = legaliser.current(value);
    if let Some(known) = legaliser.numbers.get(&value) {
        return known.clone();
    }
    let found = depth.checked_sub(1).and_then(|depth| numbers_of(legaliser, value, depth));
    // If a 32-bit sum may wrap, its range is unknown.
    let found = found.filter(|found| is_in(found, &(i32::MIN.into()..=i32::MAX.into())));
    legaliser.numbers.insert(value, found.clone());
    found
}

fn numbers_of(legaliser: &mut Legaliser<'_, '_, '_>, value: Value, depth: u32) -> Option<Range> {
    let kernel = legaliser.kernel();
    let (ty, inst) = (kernel.ty(value), kernel.def_inst(value)?);
    let op = kernel.insts[inst].op;
    let args = kernel.args(inst).to_vec();
    if let Some((shifted, count, signed, half)) = shift(kernel, value) {
        let of = taken(ty, numbers(legaliser, shifted, depth)?, signed);
        return Some((of.start() + half) >> count..=(of.end() + half) >> count);
    }
    match (op, args.as_slice()) {
        (Op::Const, []) => {
            let (ty, lanes) = constant_lanes(kernel, value)?;
            let lanes = lanes.get(..ty.lanes())?.iter().map(|&lane| signed_lane(ty.elem(), lane));
            Some(lanes.clone().min()?..=lanes.max()?)
        }
        (Op::Zext | Op::Sext, &[narrow]) => {
            let signed = op == Op::Sext;
            if kernel.ty(narrow) == Type::I8X16 {
                return Some(bytes(kernel, narrow, signed));
            }
            let of = numbers(legaliser, narrow, depth)?;
            Some(taken(Type::I16X16, of, signed))
        }
        (Op::MulWideS | Op::MulWideU, &[x, y]) if kernel.ty(x) == Type::I8X16 => {
            let signed = op == Op::MulWideS;
            Some(product(&bytes(kernel, x, signed), &bytes(kernel, y, signed)))
        }
        (Op::Concat, _) if ty == Type::I16X16 => Some(UNSIGNED),
        (Op::Neg, &[x]) => numbers(legaliser, x, depth).map(|x| -x.end()..=-x.start()),
        (Op::Abs, &[x]) => {
            let x = taken(ty, numbers(legaliser, x, depth)?, true);
            let most = x.start().abs().max(x.end().abs());
            Some(if x.contains(&0) { 0 } else { x.start().abs().min(x.end().abs()) }..=most)
        }
        (Op::Add, &[x, y]) => {
            let (x, y) = (numbers(legaliser, x, depth)?, numbers(legaliser, y, depth)?);
            Some(x.start() + y.start()..=x.end() + y.end())
        }
        (Op::Sub, &[x, y]) => {
            let (x, y) = (numbers(legaliser, x, depth)?, numbers(legaliser, y, depth)?);
            Some(x.start() - y.end()..=x.end() - y.start())
        }
        (Op::Mul, &[x, y]) => Some(product(&numbers(legaliser, x, depth)?, &numbers(legaliser, y, depth)?)),
        (Op::Shl, &[x, n]) => {
            let count = everywhere(kernel, n)? as u32 % ty.elem().bits();
            Some(product(&numbers(legaliser, x, depth)?, &(1 << count..=1 << count)))
        }
        (Op::MinS | Op::MaxS | Op::MinU | Op::MaxU, &[x, y]) => {
            let signed = matches!(op, Op::MinS | Op::MaxS);
            let x = taken(ty, numbers(legaliser, x, depth)?, signed);
            let y = taken(ty, numbers(legaliser, y, depth)?, signed);
            Some(match op {
                Op::MinS | Op::MinU => *x.start().min(y.start())..=*x.end().min(y.end()),
                _ => *x.start().max(y.start())..=*x.end().max(y.end()),
            })
        }
        (Op::Trunc, &[wide]) => numbers(legaliser, wide, depth),
        // If the operand is always in the range of the saturation, the range does not change.
        (Op::NarrowSatS, &[wide]) => numbers(legaliser, wide, depth).filter(|wide| is_in(wide, &SIGNED)),
        (Op::NarrowSatU, &[wide]) => numbers(legaliser, wide, depth).filter(|wide| is_in(wide, &UNSIGNED)),
        (op, [_, ..]) if ty == Type::I16X16 && is_packed(op) => Some(UNSIGNED),
        _ => None,
    }
}

/// Returns `true` for lane-wise ops that targets also have on pairs of half-words.
const fn is_packed(op: Op) -> bool {
    matches!(
        op,
        Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::AbsDiffS
            | Op::AbsDiffU
            | Op::AddSatS
            | Op::AddSatU
            | Op::SubSatS
            | Op::SubSatU
            | Op::AvgS
            | Op::AvgU
    )
}

/// Returns the range of the lanes of a byte vector, as signed or unsigned numbers.
fn bytes(kernel: &Kernel, value: Value, signed: bool) -> Range {
    let known = Known::of(kernel, value);
    let range = if signed { known.signed() } else { known.unsigned() };
    *range.start() as i64..=*range.end() as i64
}

fn product(x: &Range, y: &Range) -> Range {
    let ends = [x.start(), x.end()].map(|x| [x.saturating_mul(*y.start()), x.saturating_mul(*y.end())]);
    let [[a, b], [c, d]] = ends;
    a.min(b).min(c).min(d)..=a.max(b).max(c).max(d)
}

/// Returns the pairs of half-words that represent a wide value.
fn pairs(legaliser: &mut Legaliser<'_, '_, '_>, value: Value, depth: u32) -> Option<Pairs> {
    let value = legaliser.current(value);
    if let Some(&known) = legaliser.pairs_here.get(&value) {
        return known;
    }
    let found = depth.checked_sub(1).and_then(|depth| pairs_of(legaliser, value, depth));
    legaliser.pairs_here.insert(value, found);
    found
}

fn pairs_of(legaliser: &mut Legaliser<'_, '_, '_>, value: Value, depth: u32) -> Option<Pairs> {
    let kernel = legaliser.kernel();
    let (ty, inst) = (kernel.ty(value), kernel.def_inst(value)?);
    let op = kernel.insts[inst].op;
    let args: Vec<Value> = kernel.args(inst).iter().map(|&arg| legaliser.current(arg)).collect();
    let known = numbers(legaliser, value, DEPTH)?;
    if let Some((shifted, count, signed, half)) = shift(legaliser.kernel(), value) {
        return shifted_by(legaliser, (shifted, count, signed, half), depth);
    }
    match (op, args.as_slice()) {
        (Op::Const, []) => {
            let (_, lanes) = constant_lanes(legaliser.kernel(), value)?;
            let mut pairs = [value; COUNT];
            for (pair, lanes) in pairs.iter_mut().zip(lanes.chunks(2)) {
                let bits = lanes.iter().rev().fold(0, |bits, lane| bits << BITS | lane & 0xffff);
                *pair = legaliser.place(Op::Const, Type::I16X2, Attr::Bits(bits), &[])?;
            }
            Some(pairs)
        }
        (Op::Zext | Op::Sext, &[narrow]) if legaliser.kernel().ty(narrow) == Type::I8X16 => {
            extended(legaliser, narrow, op)
        }
        (Op::Zext | Op::Sext | Op::Trunc | Op::NarrowSatS | Op::NarrowSatU, &[other]) => pairs(legaliser, other, depth),
        (Op::MulWideS | Op::MulWideU, &[x, y]) => {
            let signed = op == Op::MulWideS;
            if let (false, Some((x, scalar))) = (signed, with_splat(legaliser.kernel(), x, y)) {
                let scalar = legaliser.current(scalar);
                let scalar = legaliser.place(Op::Zext, Type::I32, Attr::None, &[scalar])?;
                let pairs = extended(legaliser, x, Op::Zext)?;
                // A product of two unsigned bytes is less than 2^16, so it does not carry into the other lane.
                return as_words(legaliser, Op::Mul, &pairs, &[scalar; COUNT]);
            }
            let kernel = legaliser.kernel();
            let (x, y) = if everywhere(kernel, x).is_some() { (y, x) } else { (x, y) };
            let factor = everywhere(kernel, y)?;
            let factor = if signed { factor } else { factor & 0xff };
            let numbers = bytes(kernel, x, signed);
            let pairs = extended(legaliser, x, if signed { Op::Sext } else { Op::Zext })?;
            times(legaliser, &pairs, &numbers, factor)
        }
        (Op::Concat, parts) => match (legaliser.kernel().ty(*parts.first()?), Pairs::try_from(parts)) {
            (Type::I16X2, Ok(pairs)) if ty == Type::I16X16 => Some(pairs),
            _ => None,
        },
        (Op::Add | Op::Sub, &[x, y]) => {
            let y = if op == Op::Add { y } else { return subtracted(legaliser, x, y, depth) };
            match [(x, y), (y, x)].into_iter().find_map(|(x, y)| Some((x, negative_product(legaliser.kernel(), y)?))) {
                Some((x, (y, factor))) => {
                    let product = product_of(legaliser, y, factor, depth)?;
                    let x = pairs(legaliser, x, depth)?;
                    each(legaliser, Op::Sub, &[x, product])
                }
                None => sum(legaliser, x, y, depth),
            }
        }
        (Op::Mul, &[x, y]) => {
            let (x, y) = if everywhere(legaliser.kernel(), x).is_some() { (y, x) } else { (x, y) };
            let factor = everywhere(legaliser.kernel(), y)?;
            product_of(legaliser, x, factor, depth)
        }
        (Op::Shl, &[x, count]) => {
            let count = everywhere(legaliser.kernel(), count)? as u32 % ty.elem().bits();
            let numbers = numbers(legaliser, x, DEPTH)?;
            let x = pairs(legaliser, x, depth)?;
            if count >= BITS {
                return None;
            }
            if is_in(&numbers, &UNSIGNED) && is_in(&known, &UNSIGNED) {
                let count = legaliser.place(Op::Const, Type::I32, Attr::Bits(count.into()), &[])?;
                return as_words(legaliser, Op::Shl, &x, &[count; COUNT]);
            }
            let count = constant(legaliser, count.into())?;
            each(legaliser, Op::Shl, &[x, count])
        }
        (Op::MinS | Op::MaxS | Op::MinU | Op::MaxU, &[x, y]) => {
            if ty != Type::I16X16 {
                return None;
            }
            let (x, y) = (pairs(legaliser, x, depth)?, pairs(legaliser, y, depth)?);
            each(legaliser, op, &[x, y])
        }
        (Op::Neg | Op::Abs | Op::Not, &[x]) if op == Op::Neg || ty == Type::I16X16 => {
            let x = pairs(legaliser, x, depth)?;
            each(legaliser, op, &[x])
        }
        (op, &[x, y]) if ty == Type::I16X16 && is_packed(op) => {
            let (x, y) = (pairs(legaliser, x, depth)?, pairs(legaliser, y, depth)?);
            each(legaliser, op, &[x, y])
        }
        _ => None,
    }
}

/// If `x` or `y` is a splat, returns the other vector and the scalar of the splat.
fn with_splat(kernel: &Kernel, x: Value, y: Value) -> Option<(Value, Value)> {
    [(x, y), (y, x)].into_iter().find_map(|(x, y)| Some((x, splatted(kernel, y)?)))
}

/// Returns the byte that every lane of a vector holds. Returns `None` unless the vector is a splat
/// of a byte, or of a 32-bit word that is a splat of a byte.
fn splatted(kernel: &Kernel, vector: Value) -> Option<Value> {
    let inst = kernel.def_inst(vector)?;
    let (&part, others) = kernel.args(inst).split_first()?;
    let is_splat = match kernel.insts[inst].op {
        Op::Splat => true,
        Op::Concat => others.iter().all(|&other| other == part),
        _ => false,
    };
    match kernel.ty(part) {
        Type::I8 if is_splat => Some(part),
        Type::I8X4 if is_splat => splatted(kernel, part),
        _ => None,
    }
}

/// Extends a vector of bytes to pairs of half-words.
fn extended(legaliser: &mut Legaliser<'_, '_, '_>, bytes: Value, extend: Op) -> Option<Pairs> {
    let words = packed_words::words(legaliser, bytes)?;
    let mut pairs = [bytes; COUNT];
    for (number, pair) in pairs.iter_mut().enumerate() {
        let word = *words.get(number / 2)?;
        let lane = 2 * (number % 2) as u8;
        *pair = if extend == Op::Zext {
            let zero = legaliser.place(Op::Const, Type::I8X4, Attr::Bits(0), &[])?;
            let map = LaneMap::new(&[lane, 4, lane + 1, 4]);
            let apart = legaliser.place(Op::Shuffle, Type::I8X4, Attr::Lanes(map), &[word, zero])?;
            legaliser.place(Op::Bitcast, Type::I16X2, Attr::None, &[apart])?
        } else {
            let mut halves = [word; 2];
            for (half, lane) in halves.iter_mut().zip(lane..) {
                let byte = legaliser.place(Op::Extract, Type::I8X4, Attr::Lane(lane), &[word])?;
                *half = legaliser.place(Op::Sext, Type::I16, Attr::None, &[byte])?;
            }
            legaliser.place(Op::Concat, Type::I16X2, Attr::None, &halves)?
        };
    }
    Some(pairs)
}

/// Returns pairs that all hold the same constant in both half-words.
fn constant(legaliser: &mut Legaliser<'_, '_, '_>, number: i64) -> Option<Pairs> {
    let lane = number as u64 & 0xffff;
    let pair = legaliser.place(Op::Const, Type::I16X2, Attr::Bits(lane << BITS | lane), &[])?;
    Some([pair; COUNT])
}

/// Applies an op on pairs of half-words to each pair.
fn each(legaliser: &mut Legaliser<'_, '_, '_>, op: Op, args: &[Pairs]) -> Option<Pairs> {
    let is_shift = matches!(op, Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU);
    if !is_shift && !legaliser.is_native(op, Type::I16X2) {
        return None;
    }
    let mut results = *args.first()?;
    for (number, result) in results.iter_mut().enumerate() {
        let args = args.iter().map(|pairs| pairs.get(number).copied()).collect::<Option<Vec<Value>>>()?;
        *result = legaliser.place(op, Type::I16X2, Attr::None, &args)?;
    }
    Some(results)
}

/// Applies a 32-bit op to each pair as one word. The caller ensures that no lane carries into the other.
fn as_words(legaliser: &mut Legaliser<'_, '_, '_>, op: Op, pairs: &Pairs, others: &[Value; COUNT]) -> Option<Pairs> {
    let mut results = *pairs;
    for (result, &other) in results.iter_mut().zip(others) {
        let word = word(legaliser, *result)?;
        let done = legaliser.place(op, Type::I32, Attr::None, &[word, other])?;
        *result = legaliser.place(Op::Bitcast, Type::I16X2, Attr::None, &[done])?;
    }
    Some(results)
}

fn word(legaliser: &mut Legaliser<'_, '_, '_>, pair: Value) -> Option<Value> {
    legaliser.place(Op::Bitcast, Type::I32, Attr::None, &[pair])
}

/// Adds pairs. If no lane can overflow, uses 32-bit additions.
fn added(
    legaliser: &mut Legaliser<'_, '_, '_>,
    (x, of_x): (Pairs, &Range),
    (y, of_y): (Pairs, &Range),
) -> Option<Pairs> {
    let sums = of_x.start() + of_y.start()..=of_x.end() + of_y.end();
    if !(is_in(of_x, &UNSIGNED) && is_in(of_y, &UNSIGNED) && is_in(&sums, &UNSIGNED)) {
        return each(legaliser, Op::Add, &[x, y]);
    }
    let mut words = y;
    for other in &mut words {
        *other = word(legaliser, *other)?;
    }
    as_words(legaliser, Op::Add, &x, &words)
}

fn sum(legaliser: &mut Legaliser<'_, '_, '_>, x: Value, y: Value, depth: u32) -> Option<Pairs> {
    let (of_x, of_y) = (numbers(legaliser, x, DEPTH)?, numbers(legaliser, y, DEPTH)?);
    let (x, y) = (pairs(legaliser, x, depth)?, pairs(legaliser, y, depth)?);
    added(legaliser, (x, &of_x), (y, &of_y))
}

fn subtracted(legaliser: &mut Legaliser<'_, '_, '_>, x: Value, y: Value, depth: u32) -> Option<Pairs> {
    let (x, y) = (pairs(legaliser, x, depth)?, pairs(legaliser, y, depth)?);
    each(legaliser, Op::Sub, &[x, y])
}

/// Matches a product with a negative constant. Returns the other factor and the absolute value of the constant.
fn negative_product(kernel: &Kernel, value: Value) -> Option<(Value, i64)> {
    let inst = kernel.def_inst(value).filter(|&inst| kernel.insts[inst].op == Op::Mul)?;
    let &[x, y] = kernel.args(inst) else { return None };
    let (x, y) = if everywhere(kernel, x).is_some() { (y, x) } else { (x, y) };
    everywhere(kernel, y).filter(|&factor| factor < 0).map(|factor| (x, -factor))
}

fn product_of(legaliser: &mut Legaliser<'_, '_, '_>, x: Value, factor: i64, depth: u32) -> Option<Pairs> {
    let of_x = numbers(legaliser, x, DEPTH)?;
    let x = pairs(legaliser, x, depth)?;
    times(legaliser, &x, &of_x, factor)
}

/// Multiplies pairs by a constant. If no lane can overflow, uses 32-bit multiplications.
fn times(legaliser: &mut Legaliser<'_, '_, '_>, pairs: &Pairs, numbers: &Range, factor: i64) -> Option<Pairs> {
    if factor < 0 {
        let positive = times(legaliser, pairs, numbers, -factor)?;
        return each(legaliser, Op::Neg, &[positive]);
    }
    if factor == 1 {
        return Some(*pairs);
    }
    let from = *numbers.start();
    let is_product = |numbers: &Range| is_in(&product(numbers, &(factor..=factor)), &UNSIGNED);
    if !is_in(numbers, &UNSIGNED) || !is_product(numbers) {
        if factor == 2 {
            return each(legaliser, Op::Add, &[*pairs, *pairs]);
        }
        if (factor as u64).is_power_of_two() && factor <= *UNSIGNED.end() {
            let count = constant(legaliser, factor.trailing_zeros().into())?;
            return each(legaliser, Op::Shl, &[*pairs, count]);
        }
        // Subtracts the lower end of the range first, so that no lane is negative.
        let apart = 0..=numbers.end() - from;
        if !is_product(&apart) || from == 0 {
            return None;
        }
        let pairs = plus(legaliser, *pairs, numbers, -from)?;
        let product = times(legaliser, &pairs, &apart, factor)?;
        let unmoved = constant(legaliser, from * factor)?;
        return each(legaliser, Op::Add, &[product, unmoved]);
    }
    let factor = legaliser.place(Op::Const, Type::I32, Attr::Bits(factor as u64), &[])?;
    as_words(legaliser, Op::Mul, pairs, &[factor; COUNT])
}

/// Shifts each half-word to the right, without bits of the other half-word.
fn shifted_by(
    legaliser: &mut Legaliser<'_, '_, '_>,
    (shifted, count, signed, half): (Value, u32, bool, i64),
    depth: u32,
) -> Option<Pairs> {
    let ty = legaliser.kernel().ty(shifted);
    let known = taken(ty, numbers(legaliser, shifted, DEPTH)?, signed);
    let rounded = known.start() + half..=known.end() + half;
    let x = pairs(legaliser, shifted, depth)?;
    let counts = constant(legaliser, count.into())?;
    let op = match (is_in(&rounded, &UNSIGNED), is_in(&rounded, &SIGNED)) {
        (true, _) => Op::ShrU,
        (_, true) => Op::ShrS,
        // The sum with the rounding constant does not fit in 16 bits.
        _ if ty == Type::I16X16 => {
            return each(legaliser, if signed { Op::RoundShrS } else { Op::RoundShrU }, &[x, counts]);
        }
        _ => return None,
    };
    let x = plus(legaliser, x, &known, half)?;
    each(legaliser, op, &[x, counts])
}

/// Adds a constant to each half-word. `numbers` is the range of the half-words.
fn plus(legaliser: &mut Legaliser<'_, '_, '_>, pairs: Pairs, numbers: &Range, number: i64) -> Option<Pairs> {
    if number == 0 {
        return Some(pairs);
    }
    let other = constant(legaliser, number)?;
    added(legaliser, (pairs, numbers), (other, &(number..=number)))
}

/// Narrows a wide value to a vector of bytes.
fn narrowed(legaliser: &mut Legaliser<'_, '_, '_>, value: Value, how: Narrowing) -> Option<Value> {
    let mut value = legaliser.current(value);
    // Skips an earlier narrowing whose operand is always in its range.
    while let kernel = legaliser.kernel()
        && let Some(inst) = kernel.def_inst(value)
        && matches!(kernel.insts[inst].op, Op::NarrowSatS | Op::NarrowSatU | Op::Trunc)
        && let (op, &[wider]) = (kernel.insts[inst].op, kernel.args(inst))
    {
        let fits = if op == Op::NarrowSatU { UNSIGNED } else { SIGNED };
        let is_same = numbers(legaliser, wider, DEPTH).is_some_and(|wider| is_in(&wider, &fits));
        if !is_same || how == Narrowing::UnsignedOfUnsigned || op == Op::NarrowSatU && how != Narrowing::Wrap {
            break;
        }
        value = legaliser.current(wider);
    }
    let shift =
        shift(legaliser.kernel(), value).filter(|&(.., count, signed, _)| count_fits(count) && how.takes(signed));
    let found = shift.and_then(|(shifted, count, _, half)| clamped(legaliser, shifted, count, half, how));
    let (pairs, count) = match found {
        Some(pairs) => (pairs, shift.map_or(0, |(_, count, ..)| count)),
        None => (clamped(legaliser, value, 0, 0, how)?, 0),
    };
    let mut words = [value; COUNT / 2];
    for (result, halves) in words.iter_mut().zip(pairs.chunks(2)) {
        let &[low, high] = halves else { return None };
        let mut bytes = [low, high];
        for pair in &mut bytes {
            if count % 8 != 0 {
                let word = word(legaliser, *pair)?;
                let count = legaliser.place(Op::Const, Type::I32, Attr::Bits(count.into()), &[])?;
                *pair = legaliser.place(Op::ShrU, Type::I32, Attr::None, &[word, count])?;
            }
            *pair = legaliser.place(Op::Bitcast, Type::I8X4, Attr::None, &[*pair])?;
        }
        let first = u8::from(count == 8);
        let map = LaneMap::new(&[first, first + 2, first + 4, first + 6]);
        *result = legaliser.place(Op::Shuffle, Type::I8X4, Attr::Lanes(map), &bytes)?;
    }
    let whole = legaliser.place(Op::Concat, Type::I8X16, Attr::None, &words)?;
    legaliser.words.insert(whole, words);
    Some(whole)
}

/// Returns `true` if the eight bits from bit `count` on are all in the same half-word.
const fn count_fits(count: u32) -> bool {
    count <= 8
}

impl Narrowing {
    /// Returns `true` if a shift of this signedness can be narrowed without an intermediate clamp.
    fn takes(self, signed: bool) -> bool {
        self == Narrowing::Wrap || (self != Narrowing::UnsignedOfUnsigned) == signed
    }
}

/// Clamps a value such that its right shift by `count` is in the range of the resulting byte, and
/// adds the rounding constant `half`.
fn clamped(
    legaliser: &mut Legaliser<'_, '_, '_>,
    value: Value,
    count: u32,
    half: i64,
    how: Narrowing,
) -> Option<Pairs> {
    let ty = legaliser.kernel().ty(value);
    let known = numbers(legaliser, value, DEPTH)?;
    let x = pairs(legaliser, value, DEPTH)?;
    if how == Narrowing::Wrap {
        return plus(legaliser, x, &known, half);
    }
    let signed = how != Narrowing::UnsignedOfUnsigned;
    let known = taken(ty, known, signed);
    let bytes = how.bytes();
    // The rounding constant is added after the clamp, so that the sum cannot overflow.
    let (least, most) = ((bytes.start() << count) - half, ((bytes.end() + 1) << count) - 1 - half);
    // If the values fit neither the signed nor the unsigned 16-bit range, subtracts the lower end of their range first.
    let (min, max, from) = match (is_in(&known, &SIGNED), is_in(&known, &UNSIGNED)) {
        (_, true) => (Op::MinU, Op::MaxU, 0),
        (true, _) => (Op::MinS, Op::MaxS, 0),
        _ if *known.start() < least && known.end() - known.start() <= *UNSIGNED.end() => {
            (Op::MinU, Op::MaxU, *known.start())
        }
        _ => return None,
    };
    let mut x = plus(legaliser, x, &known, -from)?;
    let mut left = known.start() - from..=known.end() - from;
    if *known.end() > most {
        let most = most - from;
        let bound = constant(legaliser, most)?;
        x = each(legaliser, min, &[x, bound])?;
        left = *left.start()..=most;
    }
    if *known.start() < least {
        let least = least - from;
        let bound = constant(legaliser, least)?;
        x = each(legaliser, max, &[x, bound])?;
        left = least..=*left.end();
    }
    plus(legaliser, x, &left, from + half)
}

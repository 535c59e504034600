//! Addresses as sums of a uniform base and an index times a constant, as compilers write them:
//! `base + i * 4` in 64 bits. The engine knows how such an address changes from item to item.

use halfbyte_isa::halu::domain::Domain;

use super::dataflow::{Dataflow, Id, Op, Scale, Shape};

/// 64-bit sum. The low word of each operand comes first.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// Base, which is meant to be uniform.
    pub base: [Id; 2],
    /// Index word, with its scale.
    pub index: Option<(Id, Scale)>,
}

/// Maximum nesting depth of the sums that are analysed.
const DEPTH: u32 = 3;

/// Returns the base and the index of an address, or `None` if the address is not such a sum.
pub(crate) fn form(d: &mut Dataflow, address: [Id; 2]) -> Option<Form> {
    form_within(d, address, DEPTH)
}

fn form_within(d: &mut Dataflow, value: [Id; 2], depth: u32) -> Option<Form> {
    if value.iter().all(|&word| d.shape(word) == Shape::Uniform) {
        return Some(Form { base: value, index: None });
    }
    let zero = d.word(0);
    if let Some(index) = scaled(d, value) {
        return Some(Form { base: [zero; 2], index: Some(index) });
    }
    let depth = depth.checked_sub(1)?;
    let ([a, b], high) = sum(d, value)?;
    // The upper words may be split in any way that preserves their sum.
    let parted = operands(d, Op::Add, high).map(|[x, y]| [[[a, x], [b, y]], [[a, y], [b, x]]]);
    let whole = [[[a, high], [b, zero]], [[a, zero], [b, high]]];
    for [x, y] in parted.into_iter().flatten().chain(whole) {
        let Some(x) = form_within(d, x, depth) else { continue };
        let Some(y) = form_within(d, y, depth) else { continue };
        if x.index.is_none() || y.index.is_none() {
            return Some(Form { base: add(d, x.base, y.base), index: x.index.or(y.index) });
        }
    }
    None
}

/// Returns the operands of `id` if its operation is `op`.
fn operands(d: &Dataflow, op: Op, id: Id) -> Option<[Id; 2]> {
    if d.op(id) == op { d.args(id).first_chunk().copied() } else { None }
}

/// Returns the lower words of a 64-bit sum, and the sum of its upper words without the carry from the lower words.
fn sum(d: &Dataflow, [low, high]: [Id; 2]) -> Option<([Id; 2], Id)> {
    let lower = operands(d, Op::Add, low)?;
    let [upper, carry] = operands(d, Op::Add, high)?;
    let &[is_carried, one, zero, ..] = d.args(carry).as_slice() else { return None };
    let is_one = d.op(carry) == Op::Select && (d.constant(one), d.constant(zero)) == (Some(1), Some(0));
    // A sum that wraps is less than either operand.
    let is_less = lower.iter().any(|&one| operands(d, Op::Less(false), is_carried) == Some([low, one]));
    (is_one && is_less).then_some((lower, upper))
}

/// Returns the index and the scale of a 64-bit value that is a word times a constant.
fn scaled(d: &Dataflow, [low, high]: [Id; 2]) -> Option<(Id, Scale)> {
    if d.constant(high) == Some(0) {
        return Some((low, Scale::BYTES));
    }
    let is_sign =
        |id: Id, of: Id| operands(d, Op::Sar, id).is_some_and(|[x, by]| x == of && d.constant(by) == Some(31));
    if is_sign(high, low) {
        return Some((low, Scale { by: 1, signed: true }));
    }
    let number = |id: Id| d.constant(id).filter(|&by| by != 0 && by < 1 << 31);
    if let (Op::MulHigh(signed), Some([x, y])) = (d.op(high), operands(d, Op::Mul, low)) {
        let is_same = d.args(high).as_slice() == [x, y];
        let (index, by) = number(y).map(|by| (x, by)).or_else(|| number(x).map(|by| (y, by)))?;
        return is_same.then_some((index, Scale { by, signed }));
    }
    // A shift, which moves upper bits of the word, and copies of its sign, to the upper word.
    let [index, count] = operands(d, Op::Shl, low)?;
    let count = d.constant(count).filter(|count| (1..=30).contains(count))?;
    let is_rest =
        |id: Id| operands(d, Op::Shr, id).is_some_and(|[x, by]| x == index && d.constant(by) == Some(32 - count));
    let is_shifted_sign =
        |id: Id| operands(d, Op::Shl, id).is_some_and(|[x, by]| is_sign(x, index) && d.constant(by) == Some(count));
    let scale = |signed: bool| Some((index, Scale { by: 1 << count, signed }));
    if is_rest(high) {
        return scale(false);
    }
    let [x, y] = operands(d, Op::Or, high)?;
    let is_both = (is_rest(x) && is_shifted_sign(y)) || (is_rest(y) && is_shifted_sign(x));
    if is_both { scale(true) } else { None }
}

/// Returns `a + b`.
fn add(d: &mut Dataflow, a: [Id; 2], b: [Id; 2]) -> [Id; 2] {
    let is_zero = |d: &Dataflow, words: [Id; 2]| words.iter().all(|&word| d.constant(word) == Some(0));
    if is_zero(d, b) {
        return a;
    }
    if is_zero(d, a) {
        return b;
    }
    let low = d.add(a[0], b[0]);
    let is_carried = d.less(false, low, a[0]);
    let (one, zero) = (d.word(1), d.word(0));
    let carry = d.select(is_carried, one, zero);
    let high = d.add(a[1], b[1]);
    [low, d.add(high, carry)]
}

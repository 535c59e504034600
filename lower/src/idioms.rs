//! Extractors of `idioms.isle` for patterns that ISLE cannot express.

use halfbyte_ir::{Attr, IntCC, Kernel, KnownValues, Op, Type, Value};
use smallvec::SmallVec;

use crate::range::Range;
use crate::rewrite::{constant_lanes, signed_lane};

/// Returns the op and the operands of the instruction that defines a value.
pub(crate) fn def(kernel: &Kernel, value: Value) -> Option<(Op, &[Value])> {
    let inst = kernel.def_inst(value)?;
    Some((kernel.insts[inst].op, kernel.args(inst)))
}

/// Returns the condition and the operands of an integer comparison.
pub(crate) fn comparison(kernel: &Kernel, value: Value) -> Option<(IntCC, Value, Value)> {
    let inst = kernel.def_inst(value)?;
    match (kernel.insts[inst].attr, kernel.args(inst)) {
        (Attr::IntCC(cc), &[a, b]) => Some((cc, a, b)),
        _ => None,
    }
}

/// Returns the lane of a splat constant as a signed number.
pub(crate) fn number(kernel: &Kernel, value: Value) -> Option<i128> {
    let (ty, lanes) = constant_lanes(kernel, value)?;
    let (&first, rest) = lanes.get(..ty.lanes())?.split_first()?;
    let is_integer = ty.is_int() && rest.iter().all(|&lane| lane == first);
    is_integer.then(|| i128::from(signed_lane(ty.elem(), first)))
}

/// Returns `x` if `value` is `x` clamped to the range `to` by a minimum and a maximum. If the range
/// of `x` shows that it cannot exceed one bound, the op for the other bound suffices.
pub(crate) fn clamped(kernel: &Kernel, known: &mut KnownValues<'_>, value: Value, to: &Range) -> Option<Value> {
    let mut range = |value| known.of(kernel, value).signed();
    let mut inner = value;
    let (mut low, mut high) = (false, false);
    while let Some((op, &[a, k])) = def(kernel, inner) {
        match op {
            Op::MaxS if !low && number(kernel, k) == Some(*to.start()) => low = true,
            Op::MinS if !high && number(kernel, k) == Some(*to.end()) => high = true,
            // An unsigned minimum clamps correctly only if the value is never negative.
            Op::MinU if !high && number(kernel, k) == Some(*to.end()) && *range(a).start() >= 0 => high = true,
            _ => break,
        }
        inner = a;
    }
    if low && high {
        return Some(inner);
    }
    let range = range(inner);
    let fits = (low || range.start() >= to.start()) && (high || range.end() <= to.end());
    ((low || high) && fits).then_some(inner)
}

/// Matches a right shift with rounding, `(x + (1 << (n - 1))) >> n`. Returns `x` and `n`. The sum may wrap.
pub(crate) fn rounded_shift(kernel: &Kernel, value: Value) -> Option<(Value, i64)> {
    let Some((Op::ShrU | Op::ShrS, &[sum, n])) = def(kernel, value) else { return None };
    let Some((Op::Add, &[shifted, half])) = def(kernel, sum) else { return None };
    let count = number(kernel, n).filter(|count| (1..i128::from(kernel.ty(value).elem().bits())).contains(count))?;
    (number(kernel, half)? == 1 << (count - 1)).then_some((shifted, count as i64))
}

/// Matches an average that rounds up, `(a + b + 1) >> 1`. Returns `a` and `b`.
pub(crate) fn half_up(kernel: &Kernel, value: Value) -> Option<(Value, Value)> {
    let is_one = |value| number(kernel, value) == Some(1);
    let added = |value| match def(kernel, value) {
        Some((Op::Add, &[a, b])) => Some((a, b)),
        _ => None,
    };
    match def(kernel, value)? {
        (Op::RoundShrU | Op::RoundShrS, &[sum, n]) if is_one(n) => added(sum),
        (Op::ShrU | Op::ShrS, &[sum, n]) if is_one(n) => {
            let (a, b) = added(sum)?;
            if is_one(b) {
                return added(a);
            }
            let less_one = |value| added(value).filter(|&(_, one)| is_one(one)).map(|(rest, _)| rest);
            less_one(a).map(|a| (a, b)).or_else(|| less_one(b).map(|b| (a, b)))
        }
        _ => None,
    }
}

/// Returns the two operands of an absolute difference.
pub(crate) fn distance(kernel: &Kernel, value: Value) -> Option<(Value, Value)> {
    match def(kernel, value)? {
        (Op::AbsDiffS, &[a, b]) => Some((a, b)),
        (Op::Abs, &[difference]) => match def(kernel, difference)? {
            (Op::Sub, &[a, b]) => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the greater and the lesser operand of a comparison that is signed or unsigned. For `>=` and `<=`, the
/// operands may also be equal.
pub(crate) fn above(kernel: &Kernel, value: Value, is_signed: bool) -> Option<(Value, Value)> {
    match (comparison(kernel, value)?, is_signed) {
        ((IntCC::GtS | IntCC::GeS, a, b), true) | ((IntCC::GtU | IntCC::GeU, a, b), false) => Some((a, b)),
        ((IntCC::LtS | IntCC::LeS, a, b), true) | ((IntCC::LtU | IntCC::LeU, a, b), false) => Some((b, a)),
        _ => None,
    }
}

/// Matches a comparison of a sum with one of its addends, which tests for unsigned overflow.
/// Returns the sum. If `holds`, the comparison must be true on overflow, otherwise false.
pub(crate) fn wrapped_sum(kernel: &Kernel, value: Value, holds: bool) -> Option<Value> {
    let (sum, part) = match (comparison(kernel, value)?, holds) {
        ((IntCC::LtU, a, b), true) | ((IntCC::GeU, a, b), false) => (a, b),
        ((IntCC::GtU, a, b), true) | ((IntCC::LeU, a, b), false) => (b, a),
        _ => return None,
    };
    match def(kernel, sum)? {
        (Op::Add, parts) if parts.contains(&part) => Some(sum),
        _ => None,
    }
}

/// Matches a mask whose lanes are all ones where `x` is negative, and zero elsewhere. Returns `x`.
pub(crate) fn signs_of(kernel: &Kernel, mask: Value) -> Option<Value> {
    let ty = kernel.ty(mask);
    match def(kernel, mask)? {
        (Op::ShrS, &[value, n]) => (number(kernel, n)? == i128::from(ty.elem().bits()) - 1).then_some(value),
        (Op::MaskExpand, &[negative]) => match comparison(kernel, negative)? {
            (IntCC::LtS, value, zero) if number(kernel, zero) == Some(0) && kernel.ty(value) == ty => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// Matches a rotation count that is `-n`, or a multiple of the lane width minus `n`. Returns `n`.
pub(crate) fn count_below(kernel: &Kernel, ty: Type, count: Value) -> Option<Value> {
    match def(kernel, count)? {
        (Op::Neg, &[other]) => Some(other),
        (Op::Sub, &[whole, other]) if number(kernel, whole)? % i128::from(ty.elem().bits()) == 0 => Some(other),
        _ => None,
    }
}

/// Returns `true` if `holds` is true for each pair of corresponding lanes of two constants.
pub(crate) fn of_lanes(kernel: &Kernel, a: Value, b: Value, holds: impl Fn(i64, i64) -> bool) -> bool {
    let (Some((ty, a)), Some((_, b))) = (constant_lanes(kernel, a), constant_lanes(kernel, b)) else { return false };
    let lanes = a.iter().zip(&b).take(ty.lanes());
    lanes.map(|(&a, &b)| (signed_lane(ty.elem(), a), signed_lane(ty.elem(), b))).all(|(a, b)| holds(a, b))
}

/// A dot product of two packed words `a` and `b`, with the addend `rest` if there is one.
pub(crate) struct Dot {
    pub op: Op,
    pub a: Value,
    pub b: Value,
    pub rest: Option<Value>,
}

/// Kind of extension of the lanes of two operands before their multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Signs {
    Signed,
    Unsigned,
    /// The first operand is sign-extended, the second zero-extended.
    Mixed,
}

/// Maximum number of terms: the four products of a `dot4` and an addend.
const MOST_TERMS: usize = 5;

/// Matches `x + y` as a dot product of two packed words. Each pair of corresponding lanes must be
/// multiplied exactly once, and the sum may have one more addend.
pub(crate) fn dot(kernel: &Kernel, x: Value, y: Value) -> Option<Dot> {
    let mut terms = SmallVec::<[Value; MOST_TERMS]>::from_slice(&[x, y]);
    let mut products = SmallVec::<[Product; MOST_TERMS]>::new();
    let mut rest = None;
    while let Some(term) = terms.pop() {
        match (product(kernel, term), def(kernel, term)) {
            (Some(product), _) => products.push(product),
            (None, Some((Op::Add, &[a, b]))) if products.len() + terms.len() + 2 <= MOST_TERMS => {
                terms.extend([a, b]);
            }
            (None, _) if rest.is_none() => rest = Some(term),
            (None, _) => return None,
        }
    }
    let &Product { a, b, signs, .. } = products.first()?;
    let like_first = |product: &Product| (product.a, product.b, product.signs) == (a, b, signs);
    let lanes = products.iter().fold(0u32, |lanes, product| lanes | 1 << product.lane);
    let count = kernel.ty(a).lanes();
    let all = products.len() == count && lanes == (1 << count) - 1 && products.iter().all(like_first);
    let op = match (count, signs) {
        (4, Signs::Signed) => Op::Dot4S,
        (4, Signs::Unsigned) => Op::Dot4U,
        (4, Signs::Mixed) => Op::Dot4SU,
        (_, Signs::Signed) => Op::Dot2S,
        (_, Signs::Unsigned) => Op::Dot2U,
        (_, Signs::Mixed) => Op::Dot2SU,
    };
    all.then_some(Dot { op, a, b, rest })
}

/// Product of corresponding lanes of two packed words. If both lanes have the same extension, `a`
/// is the operand with the lower value number.
struct Product {
    a: Value,
    b: Value,
    lane: u8,
    signs: Signs,
}

fn product(kernel: &Kernel, value: Value) -> Option<Product> {
    let Some((Op::Mul, &[x, y])) = def(kernel, value) else { return None };
    let ((a, lane, a_signed), (b, other, b_signed)) = (extended_lane(kernel, x)?, extended_lane(kernel, y)?);
    if lane != other || kernel.ty(a) != kernel.ty(b) {
        return None;
    }
    let (a, b, signs) = match (a_signed, b_signed) {
        (true, false) => (a, b, Signs::Mixed),
        (false, true) => (b, a, Signs::Mixed),
        (signed, _) => (a.min(b), a.max(b), if signed { Signs::Signed } else { Signs::Unsigned }),
    };
    Some(Product { a, b, lane, signs })
}

/// Matches a lane of a packed word, extended to 32 bits. Returns the word, the lane number, and
/// `true` if the lane is sign-extended.
fn extended_lane(kernel: &Kernel, value: Value) -> Option<(Value, u8, bool)> {
    let (op, &[narrow]) = def(kernel, value)? else { return None };
    let signed = match op {
        Op::Sext => true,
        Op::Zext => false,
        _ => return None,
    };
    let inst = kernel.def_inst(narrow)?;
    match (kernel.insts[inst].op, kernel.insts[inst].attr, kernel.args(inst)) {
        (Op::Extract, Attr::Lane(lane), &[packed]) if matches!(kernel.ty(packed), Type::I8X4 | Type::I16X2) => {
            Some((packed, lane, signed))
        }
        _ => None,
    }
}

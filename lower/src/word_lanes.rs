//! Packed arithmetic that a program computes with 32-bit ops (SWAR): extractors of `word_lanes.isle`.
//!
//! Programs compute the lanes of a word by sums whose carries stay within the lanes, and by bitwise logic. The
//! functions of CUDA's SIMD header are an example. The order and the form of the bitwise ops differ between compilers.
//! The extractors therefore identify a bitwise function of up to three words by its truth tables: one for the sign bits
//! of the lanes, and one for the other bits.

use halfbyte_ir::{Attr, Inst, IntCC, Kernel, Op, Type, Value};
use smallvec::SmallVec;

use crate::idioms::{comparison, def, number};

/// An op on packed lanes. The operands may have another type of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct SwarOp {
    pub(crate) op: Op,
    pub(crate) attr: Attr,
    pub(crate) ty: Type,
    /// Type to which the result is converted.
    pub(crate) result: Option<Type>,
    /// Condition of a select.
    pub(crate) condition: Option<Value>,
    pub(crate) args: [Operand; 2],
}

/// Operand of a [`SwarOp`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Of(Value),
    /// The constant 0.
    Zero,
    /// The op has only one operand.
    None,
}

/// Maximum number of nested bitwise ops of a function.
const MAX_DEPTH: u32 = 10;

/// Truth table of a bitwise function of three words. Bit `4 * a + 2 * b + c` is the result for the bits a, b and c.
type Table = u8;

const A: Table = 0xf0;
const B: Table = 0xcc;
const C: Table = 0xaa;

/// Truth tables of a bitwise function of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tables {
    /// Table of the sign bits of the lanes.
    sign: Table,
    /// Table of the other bits.
    low: Table,
}

impl Tables {
    fn both(table: Table) -> Tables {
        Tables { sign: table, low: table }
    }
}

/// A sum or difference of `a` and `b`. The sign bit of each lane has the meaning that `kind` states.
struct CarryWord {
    of: Value,
    ty: Type,
    kind: Carry,
    a: Value,
    b: Value,
}

/// Meaning of a set sign bit in a lane of a [`CarryWord`]. Except for `Difference`, the sign bits of `a` and `b` are
/// ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carry {
    /// The sum of `a` and `b` carries into the sign bit.
    Sum,
    /// `a` is greater than `b`.
    Greater,
    /// `a` is at least `b`.
    NotLess,
    /// `a` is 0. `b` is the same word as `a`.
    Negated,
    /// The difference of `a` and `b`, which may have wrapped, is negative.
    Difference,
}

/// Returns the op on packed lanes that equals the result of an instruction.
pub(crate) fn lane_op(kernel: &Kernel, inst: Inst) -> Option<SwarOp> {
    let result = kernel.result(inst)?;
    let ty = kernel.ty(result);
    if ty.bits() != 32 {
        return None;
    }
    let lanes = match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Xor, &[a, b]) if ty == Type::I32 => carried(kernel, result).or_else(|| blend_by_xor(kernel, [a, b])),
        (Op::Or, &[a, b]) if ty == Type::I32 => saturated_sum_u(kernel, [a, b])
            .or_else(|| blend_by_or(kernel, [a, b]))
            .or_else(|| halves_extreme(kernel, [a, b])),
        (Op::And, &[a, b]) if ty == Type::I32 => saturated_difference_u(kernel, [a, b]),
        (Op::Add, &[a, b]) if ty == Type::I32 => halves_difference(kernel, [a, b])
            .or_else(|| magnitude(kernel, [a, b]))
            .or_else(|| total(kernel, [a, b]))
            .or_else(|| average_s(kernel, [a, b])),
        (Op::Sub, &[a, b]) if ty == Type::I32 => average_u(kernel, a, b)
            .or_else(|| halves_sum(kernel, a, b))
            .or_else(|| halves_negation(kernel, a, b))
            .or_else(|| saturated_negation(kernel, a, b))
            .or_else(|| distance_of_extremes(kernel, a, b)),
        (Op::Select, &[condition, a, b]) => saturated_s(kernel, ty, condition, a, b),
        (Op::AbsDiffU, &[a, b]) => flipped_distance(kernel, ty, a, b),
        _ => None,
    };
    lanes.map(|lanes| SwarOp { result: Some(ty), ..lanes })
}

/// Returns the comparison of packed lanes whose result a word holds in the sign bits of its lanes.
pub(crate) fn signs(kernel: &Kernel, ty: Type, value: Value) -> Option<SwarOp> {
    let value = word(kernel, value);
    let compare = |cc, a, b| Some(SwarOp { attr: Attr::IntCC(cc), ..two(Op::Icmp, ty, a, b) });
    if !matches!(ty, Type::I8X4 | Type::I16X2) {
        return None;
    }
    // The sign bit of the average of a and !b is bit n of a + 2^n - b. It is set if a is at least b.
    if let Some((Op::AvgU, &[p, q])) = def(kernel, value)
        && kernel.ty(value) == ty
    {
        let of = |a: Value, b: Value| inverted(kernel, word(kernel, b)).map(|b| (a, b));
        let (a, b) = of(p, q).or_else(|| of(q, p))?;
        return compare(IntCC::GeU, a, b);
    }
    if let Some((Op::Add, &[a, b])) = def(kernel, value)
        && let Some((p, q)) = average(kernel, Op::And, ty, [a, b])
    {
        let (a, b) = inverted(kernel, q).map(|b| (p, b)).or_else(|| inverted(kernel, p).map(|b| (q, b)))?;
        return compare(IntCC::GtU, a, b);
    }
    if let Some((cc, a, b)) = equality(kernel, ty, value) {
        return compare(cc, a, b);
    }
    let carry = carry_word(kernel, value, ty)?;
    let found = tables(kernel, value, &[carry.a, carry.b, carry.of], ty, MAX_DEPTH)?.sign;
    let by_carry = !(A ^ B) & C;
    let cc = match carry.kind {
        Carry::Greater if found == A & !B | by_carry => IntCC::GtU,
        Carry::Greater if found == !A & B | by_carry => IntCC::GtS,
        Carry::Greater if !found == A & !B | by_carry => IntCC::LeU,
        Carry::Greater if !found == !A & B | by_carry => IntCC::LeS,
        Carry::NotLess if found == A & !B | by_carry => IntCC::GeU,
        Carry::NotLess if found == !A & B | by_carry => IntCC::GeS,
        Carry::NotLess if !found == A & !B | by_carry => IntCC::LtU,
        Carry::NotLess if !found == !A & B | by_carry => IntCC::LtS,
        Carry::Difference if found == (C ^ A) & (A ^ B) ^ C => IntCC::LtS,
        Carry::Difference if !found == (C ^ A) & (A ^ B) ^ C => IntCC::GeS,
        _ => return None,
    };
    compare(cc, carry.a, carry.b)
}

/// Returns the packed type whose sign bits are the set bits of `mask`, if its lanes have `count + 1` bits.
pub(crate) fn lanes_of_signs(mask: i64, count: i64) -> Option<Type> {
    [Type::I8X4, Type::I16X2]
        .into_iter()
        .find(|&ty| mask as u32 == sign_bits(ty) && count == i64::from(ty.elem().bits()) - 1)
}

fn two(op: Op, ty: Type, a: Value, b: Value) -> SwarOp {
    SwarOp { op, attr: Attr::None, ty, result: None, condition: None, args: [Operand::Of(a), Operand::Of(b)] }
}

fn one(op: Op, ty: Type, a: Value) -> SwarOp {
    SwarOp { op, attr: Attr::None, ty, result: None, condition: None, args: [Operand::Of(a), Operand::None] }
}

fn orders([a, b]: [Value; 2]) -> [(Value, Value); 2] {
    [(a, b), (b, a)]
}

/// Looks through bitcasts between 32-bit types, and returns the original value.
fn word(kernel: &Kernel, mut value: Value) -> Value {
    while let Some((Op::Bitcast, &[from])) = def(kernel, value)
        && kernel.ty(from).bits() == 32
    {
        value = from;
    }
    value
}

/// Returns the bits of a constant of 32 bits.
fn constant(kernel: &Kernel, value: Value) -> Option<u32> {
    let bits = kernel.const_bits(kernel.def_inst(value)?)?;
    (kernel.ty(value).bits() == 32).then_some(*bits.first()? as u32)
}

fn sign_bits(ty: Type) -> u32 {
    if ty == Type::I8X4 { 0x8080_8080 } else { 0x8000_8000 }
}

/// Returns a word with the lowest bit of each lane.
fn lowest_bits(ty: Type) -> u32 {
    if ty == Type::I8X4 { 0x0101_0101 } else { 0x0001_0001 }
}

/// Returns the operand of a complement.
fn inverted(kernel: &Kernel, value: Value) -> Option<Value> {
    match def(kernel, value)? {
        (Op::Not, &[of]) => Some(word(kernel, of)),
        _ => None,
    }
}

/// Matches a binary op with a constant second operand. Returns the first operand and the constant.
fn with_constant(kernel: &Kernel, value: Value, op: Op) -> Option<(Value, u32)> {
    match def(kernel, word(kernel, value))? {
        (found, &[of, mask]) if found == op => Some((word(kernel, of), constant(kernel, mask)?)),
        _ => None,
    }
}

/// Matches a binary op. Returns its operands without bitcasts.
fn operands(kernel: &Kernel, value: Value, op: Op) -> Option<[Value; 2]> {
    match def(kernel, word(kernel, value))? {
        (found, &[a, b]) if found == op => Some([word(kernel, a), word(kernel, b)]),
        _ => None,
    }
}

/// Returns the operands of a binary op on packed lanes, and the type of the lanes.
fn lane_operands(kernel: &Kernel, value: Value, op: Op) -> Option<(Type, [Value; 2])> {
    let value = word(kernel, value);
    let ty = kernel.ty(value);
    let is_packed = matches!(ty, Type::I8X4 | Type::I16X2);
    operands(kernel, value, op).filter(|_| is_packed).map(|args| (ty, args))
}

/// Matches a mask whose lanes are all ones if a condition is true, and zero otherwise. Returns the type of the mask and
/// the condition.
fn mask(kernel: &Kernel, value: Value) -> Option<(Type, Value)> {
    let value = word(kernel, value);
    let ty = kernel.ty(value);
    match def(kernel, value)? {
        (Op::MaskExpand, &[condition]) if matches!(ty, Type::I8X4 | Type::I16X2) => Some((ty, condition)),
        _ => None,
    }
}

/// Matches the signed comparison `x < 0`. Returns `x`.
fn negative(kernel: &Kernel, condition: Value) -> Option<Value> {
    match comparison(kernel, condition)? {
        (IntCC::LtS, of, zero) if number(kernel, zero) == Some(0) => Some(word(kernel, of)),
        _ => None,
    }
}

/// Returns the truth tables of a value as a bitwise function of `words`.
fn tables(kernel: &Kernel, value: Value, words: &[Value], ty: Type, depth: u32) -> Option<Tables> {
    let value = word(kernel, value);
    if let Some(table) = words.iter().zip([A, B, C]).find_map(|(&of, table)| (of == value).then_some(table)) {
        return Some(Tables::both(table));
    }
    if let Some(bits) = constant(kernel, value) {
        let of = |places: u32| match bits & places {
            0 => Some(0),
            set if set == places => Some(Table::MAX),
            _ => None,
        };
        return Some(Tables { sign: of(sign_bits(ty))?, low: of(!sign_bits(ty))? });
    }
    let depth = depth.checked_sub(1)?;
    let of = |value: Value| tables(kernel, value, words, ty, depth);
    let joined = |a: Value, b: Value, op: fn(Table, Table) -> Table| {
        let (a, b) = (of(a)?, of(b)?);
        Some(Tables { sign: op(a.sign, b.sign), low: op(a.low, b.low) })
    };
    match def(kernel, value)? {
        (Op::Not, &[a]) => of(a).map(|a| Tables { sign: !a.sign, low: !a.low }),
        (Op::And, &[a, b]) => joined(a, b, |a, b| a & b),
        (Op::Or, &[a, b]) => joined(a, b, |a, b| a | b),
        (Op::Xor, &[a, b]) => joined(a, b, |a, b| a ^ b),
        _ => None,
    }
}

/// Returns the first [`CarryWord`] among the operands of the bitwise ops that compute a value.
fn carry_word(kernel: &Kernel, value: Value, ty: Type) -> Option<CarryWord> {
    let mut work = SmallVec::<[Value; 16]>::from_slice(&[value]);
    let mut seen = 0;
    while let Some(value) = work.pop() {
        let value = word(kernel, value);
        seen += 1;
        match def(kernel, value) {
            _ if seen > 24 => return None,
            Some((Op::Add | Op::Sub, _)) => {
                if let Some(carry) = carry(kernel, value).filter(|carry| carry.ty == ty) {
                    return Some(carry);
                }
            }
            Some((Op::And | Op::Or | Op::Xor | Op::Not, args)) => work.extend_from_slice(args),
            _ => {}
        }
    }
    None
}

/// Matches a sum or difference of words in which the sign bits of the lanes are cleared or set, or a packed difference.
fn carry(kernel: &Kernel, of: Value) -> Option<CarryWord> {
    let types = [Type::I8X4, Type::I16X2];
    let masked = |value: Value| {
        let (of, mask) = with_constant(kernel, value, Op::And)?;
        types.into_iter().find(|&ty| mask == !sign_bits(ty)).map(|ty| (ty, of))
    };
    match def(kernel, of)? {
        (Op::Add, &[p, q]) => {
            let ((ty, a), (other, b)) = (masked(p)?, masked(q)?);
            let (kind, a, b) = match (inverted(kernel, a), inverted(kernel, b)) {
                (None, Some(b)) => (Carry::Greater, a, b),
                (Some(a), None) => (Carry::Greater, b, a),
                _ => (Carry::Sum, a, b),
            };
            (ty == other).then_some(CarryWord { of, ty, kind, a, b })
        }
        (Op::Sub, &[a, b]) if types.contains(&kernel.ty(of)) => {
            let (a, b) = (word(kernel, a), word(kernel, b));
            Some(CarryWord { of, ty: kernel.ty(of), kind: Carry::Difference, a, b })
        }
        (Op::Sub, &[p, q]) => {
            let (ty, b) = masked(q)?;
            if constant(kernel, p) == Some(sign_bits(ty)) {
                return Some(CarryWord { of, ty, kind: Carry::Negated, a: b, b });
            }
            let (a, mask) = with_constant(kernel, p, Op::Or)?;
            (mask == sign_bits(ty)).then_some(CarryWord { of, ty, kind: Carry::NotLess, a, b })
        }
        _ => None,
    }
}

/// Matches a packed sum, difference or negation of bytes or half-words. A 32-bit op computes the low bits of the lanes,
/// and an exclusive or adds the sign bits.
fn carried(kernel: &Kernel, value: Value) -> Option<SwarOp> {
    [Type::I8X4, Type::I16X2].into_iter().find_map(|ty| {
        let CarryWord { of, kind, a, b, .. } = carry_word(kernel, value, ty)?;
        let Tables { sign, low } = tables(kernel, value, &[a, b, of], ty, MAX_DEPTH)?;
        match kind {
            _ if low != C => None,
            Carry::Sum if sign == A ^ B ^ C => Some(two(Op::Add, ty, a, b)),
            Carry::NotLess if sign == !(A ^ B) ^ C => Some(two(Op::Sub, ty, a, b)),
            Carry::Negated if sign == !A ^ C => Some(one(Op::Neg, ty, a)),
            _ => None,
        }
    })
}

/// Matches a 32-bit sum or difference in which the carry or borrow into the upper half-word is undone. The carry or
/// borrow is bit 16 of the exclusive or of both operands and the sum or difference.
fn halves(kernel: &Kernel, sum: Value, carry: Value, op: Op) -> Option<SwarOp> {
    let ([a, b], sum) = (operands(kernel, sum, op)?, word(kernel, sum));
    let (function, place) = with_constant(kernel, carry, Op::And)?;
    let is_carry =
        place == 0x1_0000 && tables(kernel, function, &[a, b, sum], Type::I16X2, MAX_DEPTH)? == Tables::both(A ^ B ^ C);
    is_carry.then(|| two(op, Type::I16X2, a, b))
}

fn halves_sum(kernel: &Kernel, sum: Value, carry: Value) -> Option<SwarOp> {
    halves(kernel, sum, carry, Op::Add)
}

fn halves_difference(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(difference, borrow)| halves(kernel, difference, borrow, Op::Sub))
}

/// Matches `((x ^ -x) & 0x10000) - x`.
fn halves_negation(kernel: &Kernel, borrow: Value, x: Value) -> Option<SwarOp> {
    let (function, place) = with_constant(kernel, borrow, Op::And)?;
    let x = word(kernel, x);
    let is_negation = |(of, negated): (Value, Value)| {
        of == x && matches!(def(kernel, negated), Some((Op::Neg, &[of])) if word(kernel, of) == x)
    };
    let args = operands(kernel, function, Op::Xor).filter(|_| place == 0x1_0000)?;
    orders(args).into_iter().any(is_negation).then(|| one(Op::Neg, Type::I16X2, x))
}

/// Matches `p op q` and `((p ^ q) & m) >> 1`, where `m` clears the lowest bit of each lane. Returns p and q.
fn average(kernel: &Kernel, op: Op, ty: Type, args: [Value; 2]) -> Option<(Value, Value)> {
    orders(args).into_iter().find_map(|(base, half)| {
        let [p, q] = operands(kernel, base, op)?;
        let (Op::ShrU, &[kept, count]) = def(kernel, word(kernel, half))? else { return None };
        let (function, bits) = with_constant(kernel, kept, Op::And)?;
        let of = |value: Value, table: Table| match inverted(kernel, value) {
            Some(value) => (value, !table),
            None => (value, table),
        };
        let ((a, p_table), (b, q_table)) = (of(p, A), of(q, B));
        let is_average = constant(kernel, count)? == 1
            && bits == !lowest_bits(ty)
            && tables(kernel, function, &[a, b], ty, MAX_DEPTH)? == Tables::both(p_table ^ q_table);
        is_average.then_some((p, q))
    })
}

/// Matches `(a | b) - (((a ^ b) & ~1) >> 1)`, the average that rounds up.
fn average_u(kernel: &Kernel, base: Value, half: Value) -> Option<SwarOp> {
    [Type::I8X4, Type::I16X2].into_iter().find_map(|ty| {
        operands(kernel, base, Op::Or)?;
        average(kernel, Op::Or, ty, [base, half]).map(|(a, b)| two(Op::AvgU, ty, a, b))
    })
}

/// Matches words whose sign bits tell if the lanes of two words are equal. `d` is the exclusive or of the two words.
fn equality(kernel: &Kernel, ty: Type, value: Value) -> Option<(IntCC, Value, Value)> {
    let ones = lowest_bits(ty);
    let raised = |value: Value| with_constant(kernel, value, Op::Or).filter(|&(_, bits)| bits == sign_bits(ty));
    let (cc, difference) = if let Some(args) = operands(kernel, value, Op::And) {
        // `(0x1010100 - (d | 0x80808080)) & ~d`
        let difference = orders(args).into_iter().find_map(|(by, complement)| {
            let [from, sub] = operands(kernel, by, Op::Sub)?;
            let (difference, _) = raised(sub).filter(|_| constant(kernel, from) == Some(ones & !1))?;
            (inverted(kernel, complement)? == difference).then_some(difference)
        });
        (IntCC::Eq, difference?)
    } else {
        // `((d | 0x80808080) - 0x1010101) | d`
        let args = operands(kernel, value, Op::Or)?;
        let difference = orders(args).into_iter().find_map(|(sum, difference)| {
            let (added, number) = with_constant(kernel, sum, Op::Add)?;
            let (of, _) = raised(added).filter(|_| number == ones.wrapping_neg())?;
            (of == difference).then_some(difference)
        });
        (IntCC::Ne, difference?)
    };
    let [a, b] = operands(kernel, difference, Op::Xor)?;
    Some((cc, a, b))
}

/// Matches `(m & a) | (b & ~m)` with a mask of lanes `m`.
fn blend_by_or(kernel: &Kernel, [x, y]: [Value; 2]) -> Option<SwarOp> {
    let kept = |value: Value, is_kept: &dyn Fn(Value) -> bool| {
        let args = operands(kernel, value, Op::And)?;
        orders(args).into_iter().find_map(|(of, by)| is_kept(by).then_some((of, by)))
    };
    orders([x, y]).into_iter().find_map(|(x, y)| {
        let (a, by) = kept(x, &|by| mask(kernel, by).is_some())?;
        let (b, _) = kept(y, &|other| inverted(kernel, other) == Some(by))?;
        let (ty, condition) = mask(kernel, by)?;
        Some(SwarOp { condition: Some(condition), ..two(Op::Select, ty, a, b) })
    })
}

/// Matches `((a ^ b) & m) ^ b` with a mask of lanes `m`.
fn blend_by_xor(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(masked, b)| {
        let b = word(kernel, b);
        let args = operands(kernel, masked, Op::And)?;
        orders(args).into_iter().find_map(|(difference, by)| {
            let (ty, condition) = mask(kernel, by)?;
            let [x, y] = operands(kernel, difference, Op::Xor)?;
            let a = if y == b { x } else { y };
            (x == b || y == b).then(|| SwarOp { condition: Some(condition), ..two(Op::Select, ty, a, b) })
        })
    })
}

/// Matches `s | m`, where `s` is a packed sum and the mask `m` selects the lanes in which the sum overflows.
fn saturated_sum_u(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(sum, by)| {
        let (ty, condition) = mask(kernel, by)?;
        let (_, [a, b]) = lane_operands(kernel, sum, Op::Add).filter(|&(of, _)| of == ty)?;
        let carry = negative(kernel, condition)?;
        let word = carry_word(kernel, carry, ty).filter(|word| word.kind == Carry::Sum)?;
        let is_same = [word.a, word.b] == [a, b] || [word.b, word.a] == [a, b];
        let found = tables(kernel, carry, &[a, b, word.of], ty, MAX_DEPTH).filter(|_| is_same)?;
        (found.sign == A & B | (A | B) & C).then(|| two(Op::AddSatU, ty, a, b))
    })
}

/// Matches `(a - b) & m`, where the mask `m` selects the lanes with `a` at least `b`.
fn saturated_difference_u(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(difference, by)| {
        let (ty, condition) = mask(kernel, by)?;
        let (_, [a, b]) = lane_operands(kernel, difference, Op::Sub).filter(|&(of, _)| of == ty)?;
        let (x, y) = match comparison(kernel, condition)? {
            (IntCC::GeU | IntCC::GtU, x, y) => (x, y),
            (IntCC::LeU | IntCC::LtU, x, y) => (y, x),
            _ => return None,
        };
        ((word(kernel, x), word(kernel, y)) == (a, b)).then(|| two(Op::SubSatU, ty, a, b))
    })
}

/// Matches a select between a sum or difference and a bound. The select returns the bound, which has the sign of `a`,
/// in the lanes that overflow.
fn saturated_s(kernel: &Kernel, ty: Type, condition: Value, limit: Value, of: Value) -> Option<SwarOp> {
    let overflow = negative(kernel, condition)?;
    let sum = word(kernel, of);
    let (op, [a, b]) = match def(kernel, sum)? {
        (Op::Add, &[a, b]) if kernel.ty(sum) == ty => (Op::AddSatS, [a, b]),
        (Op::Sub, &[a, b]) if kernel.ty(sum) == ty => (Op::SubSatS, [a, b]),
        _ => return None,
    };
    let [a, b] = [a, b].map(|value| word(kernel, value));
    let (signs, bound) = with_constant(kernel, limit, Op::Xor)?;
    let (_, is_negative) = mask(kernel, signs).filter(|&(of, _)| of == ty && bound == !sign_bits(ty))?;
    let first = negative(kernel, is_negative)?;
    let is_first = first == a || op == Op::AddSatS && first == b;
    let found = |of: Value| tables(kernel, overflow, &[a, b, of], ty, MAX_DEPTH).map(|found| found.sign);
    let expected = if op == Op::AddSatS { (C ^ A) & (C ^ B) } else { (C ^ A) & (A ^ B) };
    let by_carry = || {
        let word = carry_word(kernel, overflow, ty).filter(|word| word.kind == Carry::Sum && op == Op::AddSatS)?;
        let is_same = [word.a, word.b] == [a, b] || [word.b, word.a] == [a, b];
        found(word.of).filter(|_| is_same)
    };
    let overflows = found(sum).or_else(by_carry)? == expected;
    (is_first && overflows).then(|| two(op, ty, a, b))
}

/// Matches `n - ((x & n & 0x80808080) >> 7)`, where `n` is `-x` in each lane. This negation saturates for the least
/// number.
fn saturated_negation(kernel: &Kernel, negated: Value, least: Value) -> Option<SwarOp> {
    let negated = word(kernel, negated);
    let ty = kernel.ty(negated);
    let (Op::Neg, &[x]) = def(kernel, negated)? else { return None };
    let x = word(kernel, x);
    let (Op::ShrU, &[signs, count]) = def(kernel, word(kernel, least))? else { return None };
    let is_lowest = matches!(ty, Type::I8X4 | Type::I16X2) && constant(kernel, count)? == ty.elem().bits() - 1;
    let found = tables(kernel, signs, &[x, negated], ty, MAX_DEPTH).filter(|_| is_lowest)?;
    let args = [Operand::Zero, Operand::Of(x)];
    (found == Tables { sign: A & B, low: 0 }).then_some(SwarOp { args, ..one(Op::SubSatS, ty, x) })
}

/// Matches the difference of the maximum and the minimum of two words.
fn distance_of_extremes(kernel: &Kernel, high: Value, low: Value) -> Option<SwarOp> {
    let (ty, [a, b]) = lane_operands(kernel, high, Op::MaxU)?;
    let (other, args) = lane_operands(kernel, low, Op::MinU)?;
    (ty == other && (args == [a, b] || args == [b, a])).then(|| two(Op::AbsDiffU, ty, a, b))
}

/// Matches `(x ^ m) + (m & 1)` in each lane, which is an absolute value or an absolute difference. The mask `m` selects
/// the lanes to negate. No carry leaves a lane, because a lane that is negated is not zero.
fn magnitude(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(flipped, one_where)| {
        let (by, ones) = with_constant(kernel, one_where, Op::And)?;
        let (ty, condition) = mask(kernel, by).filter(|&(ty, _)| ones == lowest_bits(ty))?;
        let args = operands(kernel, flipped, Op::Xor)?;
        let (x, _) = orders(args).into_iter().find(|&(_, other)| other == by)?;
        if negative(kernel, condition) == Some(x) {
            return Some(one(Op::Abs, ty, x));
        }
        let (IntCC::LtS, a, b) = comparison(kernel, condition)? else { return None };
        let (_, difference) = lane_operands(kernel, x, Op::Sub).filter(|&(of, _)| of == ty)?;
        let is_difference = difference == [word(kernel, a), word(kernel, b)];
        is_difference.then(|| two(Op::AbsDiffS, ty, a, b))
    })
}

/// Matches the unsigned absolute difference of two words with inverted sign bits. It equals the signed absolute
/// difference of the words.
fn flipped_distance(kernel: &Kernel, ty: Type, a: Value, b: Value) -> Option<SwarOp> {
    let flipped = |value: Value| with_constant(kernel, value, Op::Xor).filter(|&(_, bits)| bits == sign_bits(ty));
    let (a, _) = flipped(a)?;
    if let Some((b, _)) = flipped(b) {
        return Some(two(Op::AbsDiffS, ty, a, b));
    }
    (constant(kernel, b)? == sign_bits(ty)).then(|| one(Op::Abs, ty, a))
}

/// Matches a packed minimum or maximum of half-words. Its upper half-word is that of the minimum or maximum of the
/// words. Its lower half-word is the minimum or maximum of the lower half-words.
fn halves_extreme(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    orders(args).into_iter().find_map(|(high, low)| {
        let (whole, upper) = with_constant(kernel, high, Op::And)?;
        let (op, &[a, b]) = def(kernel, whole)? else { return None };
        let (low, by) = match op {
            Op::MinU | Op::MaxU => (low, Op::And),
            Op::MinS | Op::MaxS => (with_constant(kernel, low, Op::ShrU).filter(|&(_, count)| count == 16)?.0, Op::Shl),
            _ => return None,
        };
        let moved = |value: Value| {
            let (of, number) = with_constant(kernel, value, by)?;
            (number == if by == Op::Shl { 16 } else { 0xffff }).then_some(of)
        };
        let [p, q] = operands(kernel, low, op)?;
        let (a, b, p, q) = (word(kernel, a), word(kernel, b), moved(p)?, moved(q)?);
        let is_of_words = [whole, word(kernel, low)].iter().all(|&value| kernel.ty(value) == Type::I32);
        let is_same = [p, q] == [a, b] || [q, p] == [a, b];
        (is_of_words && is_same && upper == 0xffff_0000).then(|| two(op, Type::I16X2, a, b))
    })
}

/// Matches the sum of the lanes of a word: of four bytes, which are first added in pairs, or of two half-words.
fn total(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    let shifted = |value: Value, by: u32| with_constant(kernel, value, Op::ShrU).filter(|&(_, count)| count == by);
    orders(args).into_iter().find_map(|(high, low)| {
        let ((of, _), (other, mask)) = (shifted(high, 16)?, with_constant(kernel, low, Op::And)?);
        if of != other {
            return None;
        }
        if kernel.ty(of) == Type::I16X2 {
            return (mask == 0xffff).then(|| one(Op::ReduceAddU, Type::I16X2, of));
        }
        let pairs = operands(kernel, of, Op::Add).filter(|_| mask == 0x1ff || mask == 0xffff)?;
        orders(pairs).into_iter().find_map(|(odd, even)| {
            let (even, even_mask) = with_constant(kernel, even, Op::And)?;
            let (odd, odd_mask) = with_constant(kernel, shifted(odd, 8)?.0, Op::And)?;
            let is_total = even == odd && even_mask == 0x00ff_00ff && odd_mask == 0xff00_ff00;
            is_total.then(|| one(Op::ReduceAddU, Type::I8X4, even))
        })
    })
}

/// Matches the signed average that rounds away from zero. It is the average that rounds down, plus the lowest bit of
/// the sum in lanes in which the average is not negative.
fn average_s(kernel: &Kernel, args: [Value; 2]) -> Option<SwarOp> {
    let masked = |value: Value, bits: u32| with_constant(kernel, value, Op::And).filter(|&(_, mask)| mask == bits);
    [Type::I8X4, Type::I16X2].into_iter().find_map(|ty| {
        let (ones, signs, sign_place) = (lowest_bits(ty), sign_bits(ty), ty.elem().bits() - 1);
        orders(args).into_iter().find_map(|(floor, increment)| {
            let floor = word(kernel, floor);
            let difference = orders(operands(kernel, increment, Op::And)?).into_iter().find_map(|(odd, upward)| {
                let (of, count) = with_constant(kernel, inverted(kernel, upward)?, Op::ShrU)?;
                (of == floor && count == sign_place).then(|| masked(odd, ones)).flatten()
            });
            let (difference, _) = difference?;
            let [a, b] = operands(kernel, difference, Op::Xor)?;
            let parts = orders(operands(kernel, floor, Op::Xor)?).into_iter();
            let sum = parts.filter(|&(_, sign)| masked(sign, signs).is_some_and(|(of, _)| of == difference));
            let sum = sum.map(|(sum, _)| sum).next()?;
            let mut terms = SmallVec::<[Value; 4]>::new();
            for part in operands(kernel, sum, Op::Add)? {
                match operands(kernel, part, Op::Add) {
                    Some(inner) => terms.extend(inner),
                    None => terms.push(part),
                }
            }
            let is_half = |term: Value, of: Value| {
                let half = with_constant(kernel, term, Op::ShrU).filter(|&(_, count)| count == 1);
                half.and_then(|(kept, _)| masked(kept, !ones)).is_some_and(|(kept, _)| kept == of)
            };
            let is_common = |term: Value| {
                let both = masked(term, ones).and_then(|(of, _)| operands(kernel, of, Op::And));
                both.is_some_and(|both| both == [a, b] || both == [b, a])
            };
            let has = |is: &dyn Fn(Value) -> bool| terms.iter().filter(|&&term| is(term)).count() == 1;
            let is_average =
                terms.len() == 3 && has(&|term| is_half(term, a)) && has(&|term| is_half(term, b)) && has(&is_common);
            is_average.then(|| two(Op::AvgS, ty, a, b))
        })
    })
}

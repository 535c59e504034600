//! Semantics of scalar video instructions: exact arithmetic on parts of registers, followed by
//! saturation and by a second operation or a merge.

use super::integer::WideOp;
use super::{Context, Reader, wide};
use crate::halu::domain::Domain;
use crate::ptx::operand::{Operand, Part};
use crate::ptx::types::{Token, Type};

/// The two sources of a scalar video instruction.
struct Sources<W> {
    /// The values of both sources, sign-extended or zero-extended to 64 bits; each value is a low
    /// and a high word.
    values: [[W; 2]; 2],
    /// A type whose range contains the values of both sources.
    ty: Type,
    /// `true` if both sources are bytes or half-words.
    are_narrow: bool,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Executes `vadd` or `vsub`.
    pub(super) fn part_sum(&mut self, op: WideOp<D>) {
        let Sources { values: [a, b], are_narrow, .. } = self.parts([self.ty(1), self.ty(2)]);
        let sum = op(self.d, a, b);
        self.define_part(sum, if are_narrow { Type::S32 } else { Type::S64 }, self.ty(0));
    }

    /// Executes `vabsdiff`.
    pub(super) fn part_distance(&mut self) {
        let Sources { values: [a, b], ty, .. } = self.parts([self.ty(1), self.ty(2)]);
        let less = self.less(ty, a, b);
        let (up, down) = (wide::sub(self.d, b, a), wide::sub(self.d, a, b));
        let distance = wide::select(self.d, less, up, down);
        self.define_part(distance, if ty == Type::S64 { ty } else { Type::U32 }, self.ty(0));
    }

    /// Executes `vmin` or `vmax`.
    pub(super) fn part_extremum(&mut self, min: bool) {
        let Sources { values: [a, b], ty, .. } = self.parts([self.ty(1), self.ty(2)]);
        let less = self.less(ty, a, b);
        let (first, second) = if min { (a, b) } else { (b, a) };
        let extremum = wide::select(self.d, less, first, second);
        self.define_part(extremum, ty, self.ty(0));
    }

    /// Executes `vshl` or `vshr`.
    pub(super) fn part_shift(&mut self, left: bool) {
        let ty = self.ty(1);
        let [a, [count, _]] = self.parts([ty, Type::U32]).values;
        let count = if self.has(Token::Wrap) {
            let last = self.d.word(31);
            self.d.and(count, last)
        } else {
            let width = self.d.word(32);
            wide::min_word(self.d, count, width)
        };
        let (shifted, ty) = match (left, ty.is_signed()) {
            (true, signed) => (wide::shl(self.d, a, count), if signed { Type::S64 } else { Type::U64 }),
            (false, true) => (wide::sar(self.d, a, count), ty),
            (false, false) => (wide::shr(self.d, a, count), ty),
        };
        self.define_part(shifted, ty, self.ty(0));
    }

    /// Executes `vset`.
    pub(super) fn part_set(&mut self) {
        let Sources { values: [a, b], ty, .. } = self.parts([self.ty(0), self.ty(1)]);
        let holds = self.compare_ints(ty, a, b);
        let (truth, zero) = (wide::one_if(self.d, holds), self.d.word(0));
        self.define_part([truth, zero], Type::U32, Type::U32);
    }

    /// Executes `vmad`.
    pub(super) fn part_mad(&mut self) {
        let Sources { values: [a, b], ty, .. } = self.parts([self.ty(1), self.ty(2)]);
        let product = match ty {
            Type::S64 => wide::mul_low(self.d, a, b),
            ty => wide::product(self.d, ty.is_signed(), a[0], b[0]),
        };
        let is_negated = |i| matches!(self.operand(i), Some(Operand::Part { negated: true, .. }));
        let (subtracts_product, subtracts_c) = (is_negated(1) != is_negated(2), is_negated(3));
        let signed = self.ty(1).is_signed() || self.ty(2).is_signed() || subtracts_product || subtracts_c;
        let mut c = self.wide_int(3, if signed { Type::S32 } else { Type::U32 });
        if self.has(Token::PlusOne) {
            let one = wide::constant(self.d, 1);
            c = wide::add(self.d, c, one);
        }
        let sum = match (subtracts_product, subtracts_c) {
            (true, _) => wide::sub(self.d, c, product),
            (_, true) => wide::sub(self.d, product, c),
            _ => wide::add(self.d, product, c),
        };
        let negative = match (signed, ty) {
            (false, _) => self.d.truth(false),
            // The difference of `c` and an unsigned product has 65 bits.
            (true, Type::U32) if subtracts_product => self.less_than_unsigned(c, product),
            (true, Type::U32) => self.unsigned_less(product, c),
            (true, _) => wide::is_negative(self.d, sum[1]),
        };
        self.define_scaled(sum, negative, signed);
    }

    /// Returns the predicate `a < b` for an s64 and a u64.
    fn less_than_unsigned(&mut self, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        let (negative, less) = (wide::is_negative(self.d, a[1]), wide::less(self.d, false, a, b));
        self.d.either(negative, less)
    }

    /// Returns the predicate `a < b` for a u64 and an s64.
    fn unsigned_less(&mut self, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        let (negative, less) = (wide::is_negative(self.d, b[1]), wide::less(self.d, false, a, b));
        let positive = self.d.negate(negative);
        self.d.both(positive, less)
    }

    /// Writes the low word of a sum, after the shift and the saturation that the modifiers of `vmad`
    /// select. The sum has 65 bits: a sign and 64 bits.
    fn define_scaled(&mut self, sum: [D::Word; 2], negative: D::Pred, signed: bool) {
        let scale = match () {
            () if self.has(Token::ShiftRight7) => 7,
            () if self.has(Token::ShiftRight15) => 15,
            () => 0,
        };
        let count = self.d.word(scale);
        let [mut result, _] = wide::shr(self.d, sum, count);
        if self.has(Token::Sat) {
            // The result is in range if all bits above the range equal the sign.
            let (ones, zero) = (self.d.word(u32::MAX), self.d.word(0));
            let sign = self.d.select(negative, ones, zero);
            let unlike = sum.map(|word| self.d.xor(word, sign));
            let above = self.d.word(scale + if signed { 31 } else { 32 });
            let unlike = wide::shr(self.d, unlike, above);
            let is_in_range = wide::equal(self.d, unlike, [zero; 2]);
            let (least, greatest) = if signed { (1 << 31, u32::MAX >> 1) } else { (0, u32::MAX) };
            let [least, greatest] = [least, greatest].map(|bound| self.d.word(bound));
            let bound = self.d.select(negative, least, greatest);
            result = self.d.select(is_in_range, result, bound);
        }
        self.define_word(result);
    }

    /// Returns the part of a register that the selector of operand `i` names.
    fn part(&self, i: usize) -> Part {
        match self.operand(i) {
            Some(&Operand::Part { part, .. }) => part,
            _ => Part::Whole,
        }
    }

    /// Returns the two sources, which have the given types.
    fn parts(&mut self, types: [Type; 2]) -> Sources<D::Word> {
        let parts = [self.part(1), self.part(2)];
        let mut extended = |i: usize, part: Part, ty: Type| {
            let word = self.word(i);
            let above = self.d.word(32 - part.start() - part.bits());
            let top = self.d.shl(word, above);
            let unused = self.d.word(32 - part.bits());
            let word = if ty.is_signed() { self.d.sar(top, unused) } else { self.d.shr(top, unused) };
            wide::extend(self.d, 32, ty.is_signed(), [word, word])
        };
        let values = [extended(1, parts[0], types[0]), extended(2, parts[1], types[1])];
        let is_in_s32 = |(part, ty): (Part, Type)| ty.is_signed() || part != Part::Whole;
        let ty = match () {
            () if parts.into_iter().zip(types).all(is_in_s32) => Type::S32,
            () if types.iter().any(|ty| ty.is_signed()) => Type::S64,
            () => Type::U32,
        };
        Sources { values, ty, are_narrow: parts.iter().all(|&part| part != Part::Whole) }
    }

    /// Writes the result of a scalar video instruction whose destination has type `ty`. Saturates
    /// `value`, which has type `from` and is extended to 64 bits, and applies the second operation
    /// or the merge.
    fn define_part(&mut self, value: [D::Word; 2], from: Type, ty: Type) {
        let part = self.part(0);
        let (mut value, mut from) = (value, from);
        if self.has(Token::Sat) {
            value = self.clamp(value, from, within(ty, part));
            from = ty;
        }
        let c = self.wide_int(3, ty);
        let mut result = value[0];
        if self.has(Token::Add) {
            result = self.d.add(result, c[0]);
        } else if self.has(Token::Min) || self.has(Token::Max) {
            let below = match (from, ty) {
                (Type::U64, Type::S32) => self.unsigned_less(value, c),
                (Type::U64, _) => self.less(from, value, c),
                _ if from == ty => self.less(ty, value, c),
                _ => self.less(Type::S64, value, c),
            };
            let (if_below, otherwise) = if self.has(Token::Min) { (result, c[0]) } else { (c[0], result) };
            result = self.d.select(below, if_below, otherwise);
        } else if part != Part::Whole {
            let mask = u32::MAX >> (32 - part.bits());
            let [taken, kept] = [mask, !(mask << part.start())].map(|mask| self.d.word(mask));
            let (taken, kept) = (self.d.and(result, taken), self.d.and(c[0], kept));
            let start = self.d.word(part.start());
            let placed = self.d.shl(taken, start);
            result = self.d.or(kept, placed);
        }
        self.define_word(result);
    }
}

/// Returns the type with the signedness of `ty` and the width of a part.
fn within(ty: Type, part: Part) -> Type {
    match (part.bits(), ty.is_signed()) {
        (8, true) => Type::S8,
        (8, false) => Type::U8,
        (16, true) => Type::S16,
        (16, false) => Type::U16,
        _ => ty,
    }
}

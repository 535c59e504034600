//! f64, in two words.

use super::convert::Integral;
use super::exact::{self, Finish, Float, Towards};
use super::float::Arith;
use super::wide::{self, Wide};
use super::{Context, Reader};
use crate::half::{Compare, Relation};
use crate::halu::domain::Domain;
use crate::ptx::types::{Token, Type};

const SIGN: u32 = 0x8000_0000;
const INFINITY: u64 = 0x7FF0_0000_0000_0000;
const QUIET: u32 = 0x0008_0000;
/// What an invalid operation on numbers gives.
const INVALID: u64 = 0xFFF8_0000_0000_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn double(&mut self, arith: Arith) {
        let operands = [1, 2, 3].map(|i| self.value(i));
        let number = self.exact(arith, Float::F64, operands);
        let count = match arith {
            Arith::Sqrt | Arith::Rcp => 1,
            Arith::Fma => 3,
            _ => 2,
        };
        let mut nan = wide::constant(self.d, INVALID);
        for &operand in operands.iter().take(count).rev() {
            let is_nan = self.is_nan(operand);
            let quiet = self.quiet(operand);
            nan = wide::select(self.d, is_nan, quiet, nan);
        }
        let towards = Towards::Rounding(self.rounding());
        let result = exact::round(self.d, Float::F64, number, towards, Finish::default(), Some(nan));
        self.define(result);
    }

    /// Whether an f64 is NaN.
    fn is_nan(&mut self, a: Wide<D>) -> D::Pred {
        let magnitude = self.double_magnitude(a);
        let infinity = wide::constant(self.d, INFINITY);
        wide::less(self.d, false, infinity, magnitude)
    }

    fn double_magnitude(&mut self, [low, high]: Wide<D>) -> Wide<D> {
        let magnitudes = self.d.word(!SIGN);
        [low, self.d.and(high, magnitudes)]
    }

    fn quiet(&mut self, [low, high]: Wide<D>) -> Wide<D> {
        let quiet = self.d.word(QUIET);
        [low, self.d.or(high, quiet)]
    }

    /// Integers in the order of numbers, -0 below +0.
    fn order_key(&mut self, a: Wide<D>) -> Wide<D> {
        let negative = wide::is_negative(self.d, a[1]);
        let turned = wide::constant(self.d, u64::MAX >> 1);
        let turned = wide::bitwise(self.d, D::xor, a, turned);
        wide::select(self.d, negative, turned, a)
    }

    /// How two f64 compare.
    pub(super) fn double_compare(&mut self, compare: Compare, a: Wide<D>, b: Wide<D>) -> D::Pred {
        let (a_nan, b_nan) = (self.is_nan(a), self.is_nan(b));
        let unordered = self.d.either(a_nan, b_nan);
        let ordered = self.d.negate(unordered);
        let (a_key, b_key) = (self.order_key(a), self.order_key(b));
        let (a, b) = (self.double_magnitude(a), self.double_magnitude(b));
        let either = wide::bitwise(self.d, D::or, a, b);
        let none = wide::constant(self.d, 0);
        let zeros = wide::equal(self.d, either, none);
        let same = wide::equal(self.d, a_key, b_key);
        let equal = self.d.either(zeros, same);
        let less = wide::less(self.d, true, a_key, b_key);
        let mut result = if compare.holds(Relation::Unordered) { unordered } else { self.d.truth(false) };
        let other = self.d.negate(equal);
        let lower = self.d.both(other, less);
        let reached = self.d.either(equal, less);
        let greater = self.d.negate(reached);
        for (relation, holds) in [(Relation::Less, lower), (Relation::Equal, equal), (Relation::Greater, greater)] {
            if compare.holds(relation) {
                let holds = self.d.both(ordered, holds);
                result = self.d.either(result, holds);
            }
        }
        result
    }

    pub(super) fn double_minmax(&mut self, min: bool) {
        let (a, b) = (self.value(1), self.value(2));
        let (a_nan, b_nan) = (self.is_nan(a), self.is_nan(b));
        let (a_key, b_key) = (self.order_key(a), self.order_key(b));
        let less = wide::less(self.d, true, a_key, b_key);
        let (lesser, greater) = (wide::select(self.d, less, a, b), wide::select(self.d, less, b, a));
        let chosen = if min { lesser } else { greater };
        let quiet = self.quiet(a);
        let chosen = wide::select(self.d, b_nan, a, chosen);
        let of_a_nan = wide::select(self.d, b_nan, quiet, b);
        let result = wide::select(self.d, a_nan, of_a_nan, chosen);
        self.define(result);
    }

    /// NEG, or else ABS.
    pub(super) fn double_sign(&mut self, neg: bool) {
        let a = self.value(1);
        let result = if neg {
            let sign = self.d.word(SIGN);
            [a[0], self.d.xor(a[1], sign)]
        } else {
            self.double_magnitude(a)
        };
        self.define(result);
    }

    pub(super) fn int_to_double(&mut self) {
        let ty = self.ty(1);
        let value = self.wide_int(1, ty);
        let negative = if ty.is_signed() { wide::is_negative(self.d, value[1]) } else { self.d.truth(false) };
        let opposite = wide::neg(self.d, value);
        let magnitude = wide::select(self.d, negative, opposite, value);
        let number = exact::of_magnitude(self.d, negative, magnitude);
        let finish = Finish { sat: self.has(Token::Sat), ..Finish::default() };
        let result = exact::round(self.d, Float::F64, number, Towards::Rounding(self.rounding()), finish, None);
        self.define(result);
    }

    /// An f64 rounded to an integer as the words say.
    fn double_integral(&mut self, a: Wide<D>) -> Integral<D::Word, D::Pred> {
        let number = exact::unpack(self.d, Float::F64, a);
        let (kept, rest) = exact::split(self.d, number);
        let rounding = self.rounding();
        let up = exact::rounds_up(self.d, rounding, number.negative, kept[0], rest);
        let zero = self.d.word(0);
        let magnitude = wide::add(self.d, kept, [up, zero]);
        let (last, whole) = (self.d.word(63), self.d.word(51));
        let overflow = self.d.less(true, last, number.exponent);
        let already = self.d.less(true, whole, number.exponent);
        Integral { magnitude, overflow, negative: number.negative, already }
    }

    pub(super) fn double_to_int(&mut self) {
        let a = self.value(1);
        let integral = self.double_integral(a);
        let nan = self.is_nan(a);
        let of_nan = 1 << (self.ty(0).bits() - 1);
        self.define_integral(integral, nan, of_nan);
    }

    pub(super) fn narrow_double(&mut self) {
        let a = self.value(1);
        let number = exact::unpack(self.d, Float::F64, a);
        let format = float_of(self.ty(0));
        let finish = Finish { ftz: self.has(Token::Ftz), sat: self.has(Token::Sat), ..Finish::default() };
        let result = exact::round(self.d, format, number, Towards::Rounding(self.rounding()), finish, None);
        self.define(result);
    }

    pub(super) fn widen_double(&mut self) {
        let a = self.value(1);
        let a = if self.ty(1) == Type::F32 { [self.flushed(a[0]), a[1]] } else { a };
        let from = float_of(self.ty(1));
        let number = exact::unpack(self.d, from, a);
        let word = match self.ty(1) {
            Type::F16 => exact::shl(self.d, a, 13)[0],
            Type::Bf16 => exact::shl(self.d, a, 16)[0],
            _ => a[0],
        };
        // The payload of an f32, or of the f32 that a half is.
        let zero = self.d.word(0);
        let payload = exact::shl(self.d, [word, zero], 29);
        let all = wide::constant(self.d, INFINITY);
        let payload = wide::bitwise(self.d, D::or, payload, all);
        let nan = self.quiet(payload);
        let nan = self.double_magnitude(nan);
        let finish = Finish { sat: self.has(Token::Sat), ..Finish::default() };
        let towards = Towards::Rounding(crate::half::Rounding::Nearest);
        let result = exact::round(self.d, Float::F64, number, towards, finish, Some(nan));
        self.define(result);
    }

    pub(super) fn double_to_double(&mut self) {
        let a = self.value(1);
        let rounds = [Token::Rni, Token::Rzi, Token::Rmi, Token::Rpi].into_iter().any(|token| self.has(token));
        let mut result = a;
        if rounds {
            let Integral { magnitude, negative, already, .. } = self.double_integral(a);
            let number = exact::of_magnitude(self.d, negative, magnitude);
            let towards = Towards::Rounding(crate::half::Rounding::Nearest);
            let rounded = exact::round(self.d, Float::F64, number, towards, Finish::default(), None);
            result = wide::select(self.d, already, a, rounded);
        }
        let nan = self.is_nan(a);
        if self.has(Token::Sat) {
            let (one, none) = (wide::constant(self.d, 1f64.to_bits()), wide::constant(self.d, 0));
            let above = wide::less(self.d, true, one, result);
            let clamped = wide::select(self.d, above, one, result);
            let negative = wide::is_negative(self.d, result[1]);
            let lost = self.d.either(negative, nan);
            result = wide::select(self.d, lost, none, clamped);
        } else {
            let quiet = self.quiet(a);
            result = wide::select(self.d, nan, quiet, result);
        }
        self.define(result);
    }
}

/// The format of a type of one float.
pub(super) fn float_of(ty: Type) -> Float {
    match ty {
        Type::F16 | Type::F16x2 => Float::F16,
        Type::Bf16 | Type::Bf16x2 => Float::BF16,
        Type::F64 => Float::F64,
        _ => Float::F32,
    }
}

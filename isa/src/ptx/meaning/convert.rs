//! Semantics of conversions.

use super::{Context, Reader, exact, wide};
use crate::half::{Compare, Format, NAN_F32, Rounding};
use crate::halu::domain::Domain;
use crate::halu::domain::float::{Integral, clamped};
use crate::ptx::types::{Token, Type};

/// Rounding of an integer that an f32 cannot represent exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inexact {
    /// Rounding in this direction.
    Round(Rounding),
    /// Rounding to odd, so that a second rounding to fewer bits gives the result of a single rounding.
    Odd,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn int_to_int(&mut self) {
        let (d, s) = (self.ty(0), self.ty(1));
        let value = self.wide_int(1, s);
        let result = wide::extend(self.d, d.bits(), d.is_signed(), value);
        self.define(result);
    }

    pub(super) fn int_to_int_saturating(&mut self) {
        let (d, s) = (self.ty(0), self.ty(1));
        let value = self.wide_int(1, s);
        let result = self.clamp(value, s, d);
        self.define(result);
    }

    /// Executes `cvt.pack`: clamps two integers and packs them into the low bits of a word, the second integer lowest.
    /// The bits above hold the low bits of `c` if `below` is set, otherwise zeros.
    pub(super) fn pack_clamped(&mut self, below: bool) {
        let ty = self.ty(0);
        let bits = ty.bits();
        let mut word = if below { self.word(3) } else { self.d.word(0) };
        for i in [1, 2] {
            let value = self.wide_int(i, Type::S32);
            let clamped = self.clamp(value, Type::S32, ty);
            let part = wide::extend_word(self.d, bits, false, clamped[0]);
            let count = self.d.word(bits);
            let above = self.d.shl(word, count);
            word = self.d.or(above, part);
        }
        self.define_word(word);
    }

    pub(super) fn int_to_float(&mut self) {
        let rounding = self.rounding();
        let float = self.float_of_int(Inexact::Round(rounding));
        let result = self.saturated(float);
        self.define_word(result);
    }

    pub(super) fn int_to_half(&mut self, format: Format) {
        let float = self.float_of_int(Inexact::Odd);
        let float = self.saturated(float);
        let rounding = self.rounding();
        let result = self.d.narrow(format, rounding, float);
        self.define_word(result);
    }

    pub(super) fn float_to_int(&mut self) {
        let a = self.operand_float(1);
        self.define_int_of(a);
    }

    pub(super) fn half_to_int(&mut self, format: Format) {
        let half = self.word(1);
        let a = self.d.widen(format, half);
        self.define_int_of(a);
    }

    pub(super) fn narrow(&mut self, format: Format) {
        // When hardware rounds an f32 to a half, it ignores `.ftz`: a subnormal is rounded like any other number.
        let a = self.word(1);
        let a = self.saturated(a);
        let half = self.half_of_float(format, a);
        let result = self.rectified(format, half);
        self.define_word(result);
    }

    pub(super) fn narrow_pair(&mut self) {
        let format = if self.ty(0) == Type::F16x2 { Format::F16 } else { Format::Bf16 };
        let [high, low] = [1, 2].map(|i| {
            let a = self.word(i);
            self.half_of_float(format, a)
        });
        let half = self.d.word(16);
        let high = self.d.shl(high, half);
        let halves = self.d.or(high, low);
        let result = self.rectified(format, halves);
        self.define_word(result);
    }

    pub(super) fn widen(&mut self, format: Format) {
        let half = self.word(1);
        let float = self.d.widen(format, half);
        let flushed = self.flushed(float);
        let result = self.saturated(flushed);
        self.define_word(result);
    }

    pub(super) fn float_to_float(&mut self) {
        let a = self.operand_float(1);
        let a = self.integral_float(a);
        let result = self.saturated(a);
        self.define_word(result);
    }

    pub(super) fn half_to_half(&mut self, format: Format) {
        let half = self.word(1);
        let a = self.d.widen(format, half);
        let a = self.integral_float(a);
        let a = self.saturated(a);
        let result = self.d.narrow(format, Rounding::Nearest, a);
        self.define_word(result);
    }

    /// Converts between f16 and bfloat16.
    pub(super) fn half_to_other(&mut self, from: Format, to: Format) {
        let half = self.word(1);
        let a = self.d.widen(from, half);
        let rounding = self.rounding();
        let result = self.d.narrow(to, rounding, a);
        self.define_word(result);
    }

    /// Returns the rounding mode that the modifiers name; to nearest if they name none.
    pub(super) fn rounding(&self) -> Rounding {
        match () {
            () if self.has(Token::Rz) || self.has(Token::Rzi) => Rounding::Zero,
            () if self.has(Token::Rm) || self.has(Token::Rmi) => Rounding::Down,
            () if self.has(Token::Rp) || self.has(Token::Rpi) => Rounding::Up,
            () => Rounding::Nearest,
        }
    }

    /// Rounds an f32 to a half; `.satfinite` replaces an infinity by the largest finite number.
    fn half_of_float(&mut self, format: Format, a: D::Word) -> D::Word {
        let rounding = self.rounding();
        let half = self.d.narrow(format, rounding, a);
        if !self.has(Token::Satfinite) {
            return half;
        }
        let (magnitudes, infinity, one) = (self.d.word(0x7FFF), self.d.word(format.infinity().into()), self.d.word(1));
        let magnitude = self.d.and(half, magnitudes);
        let infinite = self.d.equal(magnitude, infinity);
        let greatest = self.d.sub(half, one);
        self.d.select(infinite, greatest, half)
    }

    /// Converts the integer source operand to f32.
    fn float_of_int(&mut self, inexact: Inexact) -> D::Word {
        let ty = self.ty(1);
        let value = self.wide_int(1, ty);
        // An f32 represents integers of less than 24 bits exactly, so the rounding does not matter.
        let is_nearest = ty.bits() < 24 || inexact == Inexact::Round(Rounding::Nearest);
        if ty.bits() <= 32 && is_nearest {
            return self.d.int_to_float(ty.is_signed(), value[0]);
        }
        let negative = if ty.is_signed() { wide::is_negative(self.d, value[1]) } else { self.d.truth(false) };
        let opposite = wide::neg(self.d, value);
        let magnitude = wide::select(self.d, negative, opposite, value);
        let zero = self.d.word(0);
        let is_zero = wide::equal(self.d, magnitude, [zero; 2]);

        // Normalise: shift the leading one to bit 63.
        let (mut top, mut shifted) = (magnitude, zero);
        for step in [32, 16, 8, 4, 2, 1] {
            let bound = wide::constant(self.d, 1 << (64 - step));
            let small = wide::less(self.d, false, top, bound);
            let count = self.d.word(step);
            let moved = wide::shl(self.d, top, count);
            top = wide::select(self.d, small, moved, top);
            let count = self.d.select(small, count, zero);
            shifted = self.d.add(shifted, count);
        }
        let [low, high] = top;
        let eight = self.d.word(8);
        let significand = self.d.shr(high, eight);
        // `rest` holds the discarded bits as a fraction of 2^32; its lowest bit is a sticky bit.
        let twenty_four = self.d.word(24);
        let rest = self.d.shl(high, twenty_four);
        let nothing = self.d.equal(low, zero);
        let more = self.d.negate(nothing);
        let more = wide::one_if(self.d, more);
        let rest = self.d.or(rest, more);

        let exponent = self.d.word(127 + 63 - 1);
        let exponent = self.d.sub(exponent, shifted);
        let position = self.d.word(23);
        let exponent = self.d.shl(exponent, position);
        // In the final addition, the leading one of the significand adds one to the exponent. A
        // carry from rounding also adds one.
        let significand = match inexact {
            Inexact::Round(rounding) => {
                let up = exact::rounds_up(self.d, rounding, negative, significand, rest);
                self.d.add(significand, up)
            }
            Inexact::Odd => {
                let exact = self.d.equal(rest, zero);
                let inexact = self.d.negate(exact);
                let sticky = wide::one_if(self.d, inexact);
                self.d.or(significand, sticky)
            }
        };
        let float = self.d.add(exponent, significand);
        let float = self.d.select(is_zero, zero, float);
        let sign = self.d.word(1 << 31);
        let signed = self.d.or(float, sign);
        self.d.select(negative, signed, float)
    }

    /// Rounds an f32 that is not NaN to an integer, in the rounding mode that the modifiers name.
    fn integral(&mut self, a: D::Word) -> Integral<D::Word, D::Pred> {
        let negative = wide::is_negative(self.d, a);
        let (position, zero) = (self.d.word(23), self.d.word(0));
        let exponent = self.d.shr(a, position);
        let byte = self.d.word(0xFF);
        let exponent = self.d.and(exponent, byte);
        let fraction = self.d.word(0x7F_FFFF);
        let fraction = self.d.and(a, fraction);
        let leading = self.d.word(0x80_0000);
        let is_small = self.d.equal(exponent, zero);
        let leading = self.d.select(is_small, zero, leading);
        let significand = self.d.or(fraction, leading);

        let unit = self.d.word(150);
        let already = self.d.less(false, exponent, unit);
        let already = self.d.negate(already);
        let up = self.d.sub(exponent, unit);
        let left = wide::shl(self.d, [significand, zero], up);
        let most = self.d.word(40);
        let overflow = self.d.less(false, most, up);
        let overflow = self.d.both(already, overflow);

        let down = self.d.sub(unit, exponent);
        let all = self.d.word(26);
        let down = wide::min_word(self.d, down, all);
        let kept = self.d.shr(significand, down);
        let width = self.d.word(32);
        let rest = self.d.sub(width, down);
        let rest = wide::shl_word(self.d, significand, rest);
        let rounding = self.rounding();
        let away = exact::rounds_up(self.d, rounding, negative, kept, rest);
        let right = self.d.add(kept, away);
        let magnitude = wide::select(self.d, already, left, [right, zero]);
        Integral { magnitude, overflow, negative, was_integer: already }
    }

    /// Writes the f32 `a`, rounded to an integer and clamped to the result type.
    fn define_int_of(&mut self, a: D::Word) {
        let ty = self.ty(0);
        if ty.bits() == 32 && self.rounding() == Rounding::Zero {
            let low = self.d.float_to_int(ty.is_signed(), a);
            let (zero, sign) = (self.d.word(0), self.d.word(31));
            let high = if ty.is_signed() { self.d.sar(low, sign) } else { zero };
            return self.define([low, high]);
        }
        let integral = self.integral(a);
        let nan = self.d.fcompare(Compare::NAN, a, a);
        let of_nan = if ty.bits() == 64 { 1 << 63 } else { 0 };
        let result = clamped(self.d, (ty.is_signed(), ty.bits()), &integral, nan, of_nan);
        self.define(result);
    }

    /// Returns the f32 `a`, rounded to an integral value if the modifiers name a rounding. NaN
    /// becomes the canonical NaN.
    fn integral_float(&mut self, a: D::Word) -> D::Word {
        let rounds = [Token::Rni, Token::Rzi, Token::Rmi, Token::Rpi].into_iter().any(|token| self.has(token));
        let mut result = a;
        if rounds {
            let Integral { magnitude, was_integer: already, .. } = self.integral(a);
            let (sign, float) = (self.d.word(1 << 31), self.d.int_to_float(true, magnitude[0]));
            let sign = self.d.and(a, sign);
            let rounded = self.d.or(float, sign);
            result = self.d.select(already, a, rounded);
        }
        let nan = self.d.fcompare(Compare::NAN, a, a);
        let canonical = self.d.word(NAN_F32);
        self.d.select(nan, canonical, result)
    }
}

//! Semantics of f64 instructions. The domain represents an f64 as two 32-bit words.

use super::exact::{self, Finish, Float, RoundingMode};
use super::float::Arith;
use super::wide;
use super::{Context, Reader};
use crate::half::Rounding;
use crate::halu::domain::float::{self, Integral};
use crate::halu::domain::{Conversion, Domain, NumberFormat};
use crate::ptx::types::{Token, Type, TypeKind};

const SIGN: u32 = 0x8000_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn double(&mut self, arith: Arith) {
        let [a, b, c] = [1, 2, 3].map(|i| self.value(i));
        let operands = if arith == Arith::RCP { [wide::constant(self.d, 1f64.to_bits()), a, c] } else { [a, b, c] };
        let op = self.operation(arith);
        let result = self.d.double(&op, operands);
        self.define(result);
    }

    pub(super) fn double_minmax(&mut self, min: bool) {
        let (a, b) = (self.value(1), self.value(2));
        let min = self.d.truth(min);
        let result = self.d.double_minmax(min, a, b);
        self.define(result);
    }

    /// Executes `neg.f64` or, if `neg` is false, `abs.f64`.
    pub(super) fn double_sign(&mut self, neg: bool) {
        let a = self.value(1);
        let result = if neg {
            let sign = self.d.word(SIGN);
            [a[0], self.d.xor(a[1], sign)]
        } else {
            float::magnitude(self.d, a)
        };
        self.define(result);
    }

    /// Executes the conversion if the domain supports it in one step. Otherwise executes nothing
    /// and returns `false`.
    fn converted(&mut self) -> bool {
        // Integer results are clamped with or without `.sat`.
        let clamps = self.has(Token::Sat) && self.ty(0).kind() != TypeKind::Integer;
        let plain = !self.has(Token::Ftz) && !clamps;
        let (Some(from), Some(to), true) = (form_of(self.ty(1)), form_of(self.ty(0)), plain) else { return false };
        let a = self.value(1);
        let rounding = self.rounding();
        let result = self.d.convert(&Conversion { from, to, rounding }, a);
        let ty = self.ty(0);
        // An integer result has the width of its type, even for a NaN operand. In a wider register,
        // the result is sign-extended or zero-extended.
        let is_integer = ty.kind() == TypeKind::Integer && ty.bits() < 64;
        let result = if is_integer { wide::extend(self.d, ty.bits(), ty.is_signed(), result) } else { result };
        self.define(result);
        true
    }

    pub(super) fn int_to_double(&mut self) {
        if self.converted() {
            return;
        }
        let ty = self.ty(1);
        let value = self.wide_int(1, ty);
        let number = float::of_integer(self.d, ty.is_signed(), value);
        let finish = Finish { sat: self.has(Token::Sat), ..Finish::default() };
        let result = exact::round(self.d, Float::F64, number, RoundingMode::Rounding(self.rounding()), finish, None);
        self.define(result);
    }

    pub(super) fn double_to_int(&mut self) {
        self.converted();
    }

    pub(super) fn narrow_double(&mut self) {
        if self.converted() {
            return;
        }
        let a = self.value(1);
        let number = exact::unpack(self.d, Float::F64, a);
        let format = float_of(self.ty(0));
        let finish = Finish { ftz: self.has(Token::Ftz), sat: self.has(Token::Sat), ..Finish::default() };
        let result = exact::round(self.d, format, number, RoundingMode::Rounding(self.rounding()), finish, None);
        self.define(result);
    }

    pub(super) fn widen_double(&mut self) {
        if self.converted() {
            return;
        }
        let a = self.value(1);
        let a = if self.ty(1) == Type::F32 { [self.flushed(a[0]), a[1]] } else { a };
        let number = exact::unpack(self.d, float_of(self.ty(1)), a);
        let nan = form_of(self.ty(1)).map(|from| float::widened_nan(self.d, from, a));
        let finish = Finish { sat: self.has(Token::Sat), ..Finish::default() };
        let result = exact::round(self.d, Float::F64, number, RoundingMode::Rounding(Rounding::Nearest), finish, nan);
        self.define(result);
    }

    pub(super) fn double_to_double(&mut self) {
        let a = self.value(1);
        let rounds = [Token::Rni, Token::Rzi, Token::Rmi, Token::Rpi].into_iter().any(|token| self.has(token));
        let mut result = a;
        if rounds {
            let Integral { magnitude, negative, was_integer: already, .. } =
                float::integral(self.d, Float::F64, self.rounding(), a);
            let number = exact::of_magnitude(self.d, negative, magnitude);
            let towards = RoundingMode::Rounding(Rounding::Nearest);
            let rounded = exact::round(self.d, Float::F64, number, towards, Finish::default(), None);
            result = wide::select(self.d, already, a, rounded);
        }
        let nan = float::is_nan(self.d, a);
        if self.has(Token::Sat) {
            let (one, none) = (wide::constant(self.d, 1f64.to_bits()), wide::constant(self.d, 0));
            let above = wide::less(self.d, true, one, result);
            let clamped = wide::select(self.d, above, one, result);
            let negative = wide::is_negative(self.d, result[1]);
            let lost = self.d.either(negative, nan);
            result = wide::select(self.d, lost, none, clamped);
        } else {
            let quiet = float::quieted(self.d, a);
            result = wide::select(self.d, nan, quiet, result);
        }
        self.define(result);
    }
}

/// Returns the format of a floating-point type. For a packed type, returns the format of its elements.
pub(super) fn float_of(ty: Type) -> Float {
    match ty {
        Type::F16 | Type::F16x2 => Float::F16,
        Type::Bf16 | Type::Bf16x2 => Float::BF16,
        Type::F64 => Float::F64,
        _ => Float::F32,
    }
}

/// Returns the conversion format of a scalar type, if conversions support the type.
fn form_of(ty: Type) -> Option<NumberFormat> {
    Some(match ty {
        Type::F16 => NumberFormat::F16,
        Type::Bf16 => NumberFormat::Bf16,
        Type::F32 => NumberFormat::F32,
        Type::F64 => NumberFormat::F64,
        _ if ty.kind() == TypeKind::Integer => NumberFormat::Int { signed: ty.is_signed(), bits: ty.bits() },
        _ => return None,
    })
}

//! Arithmetic on f32, and conversions.

use super::{Context, SourceOperand, f};
use crate::approx::Function;
use crate::half::{Compare, Format, Rounding};
use crate::halu::domain::{Conversion, Domain, FloatKind, FloatOp, NumberFormat, Reader, float_minmax};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Reads an f32 source and applies its absolute value, then its negation.
    fn float(&mut self, i: usize) -> D::Word {
        let source = self.source(i);
        self.signs(source, 0x8000_0000)
    }

    /// Evaluates FADD, FMUL, FFMA, FDIV and FSQRT.
    pub(super) fn float_arithmetic(&mut self, kind: FloatKind) {
        let zero = self.d.word(0);
        let operands = [0, 1, 2].map(|i| if i < kind.operands() { self.float(i) } else { zero });
        let op = FloatOp { kind, rounding: self.rounding() };
        let result = self.d.single(&op, operands);
        self.define(f::RD, [result]);
    }

    /// Evaluates FMNMX.
    pub(super) fn fmnmx(&mut self) {
        let min = self.pred(f::PP, f::PP_NOT);
        let (a, b) = (self.float(0), self.float(1));
        let result = float_minmax(self.d, min, self.flag(f::NAN), a, b);
        self.define(f::RD, [result]);
    }

    /// Evaluates MUFU.
    pub(super) fn mufu(&mut self) {
        let a = self.float(0);
        let function = match self.get(f::MUFU) {
            0 => Function::Cos,
            1 => Function::Sin,
            2 => Function::Ex2,
            3 => Function::Lg2,
            5 => Function::Rsqrt,
            _ => Function::Tanh,
        };
        let result = self.d.elementary(function, a);
        self.define(f::RD, [result]);
    }

    /// Evaluates FSETP.
    pub(super) fn fsetp(&mut self) {
        let (a, b) = (self.float(0), self.float(1));
        let p = self.d.fcompare(Compare::from_code(self.get(f::CMP)), a, b);
        self.set_pred(p);
    }

    /// Evaluates I2F.
    pub(super) fn i2f(&mut self) {
        let a = self.word(0);
        let signed = self.flag(f::SIGN);
        let rounding = Rounding::from_code(self.get(f::INT_RND));
        let result = if rounding == Rounding::Nearest {
            self.d.int_to_float(signed, a)
        } else {
            let from = NumberFormat::Int { signed, bits: 32 };
            let zero = self.d.word(0);
            self.d.convert(&Conversion { from, to: NumberFormat::F32, rounding }, [a, zero])[0]
        };
        self.define(f::RD, [result]);
    }

    /// Evaluates F2I.
    pub(super) fn f2i(&mut self) {
        let a = self.float(0);
        let result = self.d.float_to_int(self.flag(f::SIGN), a);
        self.define(f::RD, [result]);
    }

    /// Evaluates F2F from f32.
    pub(super) fn narrow(&mut self, format: Format) {
        let a = self.float(0);
        let result = self.d.narrow(format, self.rounding(), a);
        self.define(f::RD, [result]);
    }

    /// Evaluates F2F to f32. The absolute value and the negation apply to the selected half.
    pub(super) fn widen(&mut self, format: Format) {
        let source = self.source(0);
        let position = self.d.word(16 * source.select as u32);
        let word = self.d.shr(source.word, position);
        let half = self.signs(SourceOperand { word, ..source }, 0x8000);
        let result = self.d.widen(format, half);
        self.define(f::RD, [result]);
    }

    /// Evaluates F2FP.
    pub(super) fn f2fp(&mut self) {
        let [high, low] = [0, 1].map(|i| {
            let x = self.float(i);
            self.d.narrow(self.format(), self.rounding(), x)
        });
        let half = self.d.word(16);
        let high = self.d.shl(high, half);
        let result = self.d.or(high, low);
        self.define(f::RD, [result]);
    }

    pub(super) fn rounding(&self) -> Rounding {
        Rounding::from_code(self.get(f::RND))
    }
}

//! Arithmetic on f64, in register pairs.

use super::{Context, f};
use crate::half::{Compare, Rounding};
use crate::halu::domain::{Conversion, Domain, FloatKind, FloatOp, NumberFormat, Reader};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates DADD, DMUL, DFMA, DDIV and DSQRT.
    pub(super) fn double_arithmetic(&mut self, kind: FloatKind) {
        let zero = self.d.word(0);
        let fields = match kind {
            FloatKind::Sqrt => [f::R32; 3],
            _ => [f::RA, f::R32, f::R64],
        };
        let mut operands = [[zero; 2]; 3];
        for (operand, field) in operands.iter_mut().zip(fields).take(kind.operands()) {
            *operand = self.pair(field);
        }
        let subtracts = kind == FloatKind::Add && self.flag(f::SLOT_NEG);
        let kind = if subtracts { FloatKind::Sub } else { kind };
        let op = FloatOp { kind, rounding: self.rounding() };
        let result = self.d.double(&op, operands);
        self.define(f::RD, result);
    }

    /// Evaluates DMNMX.
    pub(super) fn dmnmx(&mut self) {
        let min = self.pred(f::PP, f::PP_NOT);
        let (a, b) = (self.pair(f::RA), self.pair(f::R32));
        let result = self.d.double_minmax(min, a, b);
        self.define(f::RD, result);
    }

    /// Evaluates DSETP.
    pub(super) fn dsetp(&mut self) {
        let (a, b) = (self.pair(f::RA), self.pair(f::R32));
        let p = self.d.double_compare(Compare::from_code(self.get(f::CMP)), a, b);
        self.set_pred(p);
    }

    /// Evaluates F2F to f64.
    pub(super) fn widen_to_double(&mut self, from: NumberFormat) {
        let (word, zero) = (self.word(0), self.d.word(0));
        let result =
            self.d.convert(&Conversion { from, to: NumberFormat::F64, rounding: Rounding::Nearest }, [word, zero]);
        self.define(f::RD, result);
    }

    /// Evaluates F2F from f64.
    pub(super) fn narrow_double(&mut self, to: NumberFormat) {
        let a = self.pair(f::R32);
        let [word, _] = self.d.convert(&Conversion { from: NumberFormat::F64, to, rounding: self.rounding() }, a);
        self.define(f::RD, [word]);
    }

    fn integer(&self, bits: u32) -> NumberFormat {
        NumberFormat::Int { signed: self.flag(f::SIGN), bits }
    }

    /// Evaluates I2F of 32 bits to f64.
    pub(super) fn word_to_double(&mut self) {
        self.widen_to_double(self.integer(32));
    }

    /// Evaluates I2F of 64 bits to f64.
    pub(super) fn pair_to_double(&mut self) {
        let a = self.pair(f::R32);
        let rounding = Rounding::from_code(self.get(f::INT_RND));
        let result = self.d.convert(&Conversion { from: self.integer(64), to: NumberFormat::F64, rounding }, a);
        self.define(f::RD, result);
    }

    /// Evaluates F2I of an f64 to an integer of `bits` bits. Returns the low and the high word.
    fn double_to_int(&mut self, bits: u32) -> [D::Word; 2] {
        let a = self.pair(f::R32);
        self.d.convert(&Conversion { from: NumberFormat::F64, to: self.integer(bits), rounding: Rounding::Zero }, a)
    }

    /// Evaluates F2I of an f64 to 32 bits.
    pub(super) fn double_to_word(&mut self) {
        let [word, _] = self.double_to_int(32);
        self.define(f::RD, [word]);
    }

    /// Evaluates F2I of an f64 to 64 bits.
    pub(super) fn double_to_pair(&mut self) {
        let result = self.double_to_int(64);
        self.define(f::RD, result);
    }
}

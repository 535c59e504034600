//! Packed-half arithmetic, as in the listings of the HALU reference (seed 001).

use super::{Context, SourceOperand, f};
use crate::half::{Clamp, Compare, Format, HalfMode};
use crate::halu::domain::{Domain, HalfCompare, HalfKind, HalfMinMax, HalfOp, Reader};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates HADD2, HMUL2 and HFMA2.
    pub(super) fn half(&mut self, kind: HalfKind) {
        let format = self.format();
        let clamp = match kind {
            _ if self.flag(f::SAT) => Clamp::Sat,
            HalfKind::Fma if self.flag(f::RELU) => Clamp::Relu,
            _ => Clamp::None,
        };
        let mode = HalfMode { format, rounding: self.rounding(), ftz: self.flag(f::FTZ), clamp };
        let (a, b) = (self.packed(0), self.packed(1));
        let c = if kind == HalfKind::Fma { self.packed(2) } else { self.d.word(0) };
        let mut result = self.d.half(&HalfOp { kind, mode }, a, b, c);
        if kind == HalfKind::Add && self.flag(f::F32) {
            result = self.d.widen(format, result);
        }
        self.define(f::RD, [result]);
    }

    /// Evaluates HMNMX2.
    pub(super) fn half_minmax(&mut self) {
        let op = HalfMinMax { format: self.format(), ftz: self.flag(f::FTZ), nan: self.flag(f::NAN) };
        let min = self.pred(f::PP, f::PP_NOT);
        let (a, b) = (self.packed(0), self.packed(1));
        let result = self.d.half_minmax(&op, min, a, b);
        self.define(f::RD, [result]);
    }

    /// Evaluates HSETP2.
    pub(super) fn half_set_pred(&mut self) {
        let [pu, pv] = self.half_compare();
        self.define_pred(f::PU, pu);
        self.define_pred(f::PV, pv);
    }

    /// Evaluates HSET2.
    pub(super) fn half_set(&mut self) {
        let lanes = self.half_compare();
        let truth = if self.flag(f::BVAL) { self.format().one() } else { 0xFFFF };
        let zero = self.d.word(0);
        let [low, high] = [0, 16].map(|position| self.d.word(u32::from(truth) << position));
        let low = self.d.select(lanes[0], low, zero);
        let high = self.d.select(lanes[1], high, zero);
        let result = self.d.or(low, high);
        self.define(f::RD, [result]);
    }

    fn half_compare(&mut self) -> [D::Pred; 2] {
        let compare = Compare::from_code(self.get(f::CMP));
        let op = HalfCompare { format: self.format(), ftz: self.flag(f::FTZ), compare };
        let (a, b) = (self.packed(0), self.packed(1));
        self.d.half_compare(&op, a, b).map(|p| self.combine(p))
    }

    pub(super) fn format(&self) -> Format {
        Format::from_code(self.get(f::HFMT))
    }

    /// Reads a packed-half source: selects the halves, then applies the absolute value, then the negation.
    fn packed(&mut self, i: usize) -> D::Word {
        let source = self.source(i);
        let word = match source.select {
            // `.H0_H0` copies the low half to both lanes.
            2 => {
                let (low, both) = (self.d.word(0xFFFF), self.d.word(0x1_0001));
                let low = self.d.and(source.word, low);
                self.d.mul(low, both)
            }
            // `.H1_H1` copies the high half to both lanes.
            3 => {
                let (high, half) = (self.d.word(0xFFFF_0000), self.d.word(16));
                let high = self.d.and(source.word, high);
                let low = self.d.shr(high, half);
                self.d.or(high, low)
            }
            _ => source.word,
        };
        self.signs(SourceOperand { word, ..source }, 0x8000_8000)
    }
}

//! Moves between register files, and predicate logic.

use super::{Context, f};
use crate::halu::domain::expand::{Gate, truth_table};
use crate::halu::domain::{Domain, Reader, SpecialReg, Write};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn mov(&mut self) {
        let b = self.word(0);
        self.define(f::RD, [b]);
    }

    pub(super) fn sel(&mut self) {
        let (a, b) = (self.word(0), self.word(1));
        let p = self.pred(f::PP, f::PP_NOT);
        let result = self.d.select(p, a, b);
        self.define(f::RD, [result]);
    }

    pub(super) fn s2r(&mut self) {
        let number = self.read.special(self.d, SpecialReg::read_by(self.inst));
        self.define(f::RD, [number]);
    }

    pub(super) fn r2ur(&mut self) {
        let b = self.word(0);
        self.define_ur(f::URD, [b]);
    }

    pub(super) fn plop3(&mut self) {
        let [p, x, y] = [(f::PP, f::PP_NOT), (f::PX, f::PX_NOT), (f::PY, f::PY_NOT)].map(|(n, not)| self.pred(n, not));
        let constants = [false, true].map(|t| self.d.truth(t));
        let pu = truth_table(self.get(f::LUT) as u8, [y, x, p], constants, |gate, p, q| match gate {
            Gate::And => self.d.both(p, q),
            Gate::Xor => self.d.differ(p, q),
        });
        let pv = self.d.negate(pu);
        self.define_pred(f::PU, pu);
        self.define_pred(f::PV, pv);
    }

    pub(super) fn p2r(&mut self) {
        let mask = self.get(f::PMASK) as u32;
        let kept = self.d.word(!mask);
        let a = self.word(0);
        let mut result = self.d.and(a, kept);
        let zero = self.d.word(0);
        for i in bits(mask) {
            let p = self.read.pred(self.d, i);
            let bit = self.d.word(1 << i);
            let bit = self.d.select(p, bit, zero);
            result = self.d.or(result, bit);
        }
        self.define(f::RD, [result]);
    }

    pub(super) fn r2p(&mut self) {
        let a = self.word(0);
        let zero = self.d.word(0);
        for i in bits(self.get(f::PMASK) as u32) {
            let mask = self.d.word(1 << i);
            let bit = self.d.and(a, mask);
            let clear = self.d.equal(bit, zero);
            let p = self.d.negate(clear);
            self.effects.writes.push(Write::Pred(i, p));
        }
    }
}

/// Returns the numbers of the predicates in a mask. The numbers are below 7, so PT is never included.
fn bits(mask: u32) -> impl Iterator<Item = u8> {
    (0..f::PT).filter(move |i| mask >> i & 1 != 0)
}

//! The branch unit: jumps and loop counters.

use super::{Bit, Context, Flags, Outcome, f};
use crate::vp1::domain::{Domain, Jump, Logic, Next, Reader, Target, Write};

/// Mask of the flag lzf in a `$c` register.
const LZF: u32 = 1 << 13;

/// The value of the condition bit for which a jump is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Set,
    Clear,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the outcome of a branch that uses no loop counter. The branch sets lzf.
    pub(super) fn branch_outcome(&mut self, next: Next<D::Word>) -> Outcome<D> {
        let flags = self.d.word(LZF);
        Outcome { next: Some(next), ..Outcome::default() }.with_flags(self.flags(LZF, flags))
    }

    /// Evaluates `bra` and `call`.
    pub(super) fn jump(&mut self, kind: Jump, when: When) -> Outcome<D> {
        let next = self.next(kind, when);
        self.branch_outcome(next)
    }

    /// Evaluates `bra loop` and `call loop`. The jump depends only on the condition. The loop
    /// counter is decremented, or reloaded if its count is 0.
    pub(super) fn counted_jump(&mut self, kind: Jump, when: When) -> Outcome<D> {
        let next = self.next(kind, when);
        let old = self.read.l(self.d, self.reg(f::LSRC));
        let count = self.and(old, 0xff);
        let (zero, one) = (self.d.word(0), self.d.word(1));
        let done = self.d.equal(count, zero);
        let (less, start) = (self.d.sub(old, one), self.bits(old, 8, 0xff));
        let again = self.or(old, start);
        let new = self.d.select(done, again, less);
        let count = self.and(new, 0xff);
        let last = self.d.equal(count, zero);
        let lzf = self.d.word(LZF);
        let flags = self.d.select(last, lzf, zero);
        Outcome { next: Some(next), ..Outcome::writes([Write::L(self.reg(f::LDST), new)]) }
            .with_flags(self.flags(LZF, flags))
    }

    fn next(&mut self, kind: Jump, when: When) -> Next<D::Word> {
        let target = Target::Relative(self.signed(f::BTARG));
        let taken = match self.condition() {
            Bit::Known(bit) if bit == (when == When::Set) => None,
            Bit::Known(_) => return Next::Fall,
            Bit::Word(bit) if when == When::Set => Some(bit),
            Bit::Word(bit) => {
                let one = self.d.word(1);
                Some(self.d.logic(Logic::XOR, bit, one))
            }
        };
        Next::Jump { kind, taken, target }
    }

    /// Evaluates `abra`.
    pub(super) fn absolute_jump(&mut self) -> Outcome<D> {
        let target = Target::Absolute(self.get(f::ABTARG) as u32);
        let next = Next::Jump { kind: Jump::Branch, taken: None, target };
        Outcome { next: Some(next), ..Outcome::default() }
    }

    /// Evaluates `mov` to a loop counter. Also writes lzf to the `$c` register with the counter's number.
    pub(super) fn load_counter(&mut self) -> Outcome<D> {
        let (n, value) = (self.reg(f::LC), self.get(f::IMM16) as u32);
        let bits = self.d.word(if value & 0xff == 0 { LZF } else { 0 });
        Outcome::writes([Write::L(n, self.d.word(value))]).with_flags(Some(Flags { c: n, group: LZF, bits }))
    }

    /// Evaluates `exit`.
    pub(super) fn exit(&mut self) -> Outcome<D> {
        let next = Next::Exit { code: self.get(f::IMM16) as u16, interrupt: self.flag(f::INTR) };
        Outcome { next: Some(next), ..Outcome::default() }
    }
}

//! The semantics of every HALU instruction, generic over the [`Domain`].
//!
//! Each submodule covers one group of instructions. This module reads the operands of every kind
//! and calls the function of each opcode.

mod atomic;
mod collective;
mod double;
mod float;
mod half;
mod integer;
mod memory;
mod moves;
mod video;

pub use collective::{
    collective, collective_result, has_strong_result, is_collective, is_strong_access, may_access_scratch,
    needs_group_execution,
};

use super::opcodes::opcodes;
use arrayvec::ArrayVec;

use super::domain::{
    ControlFlow, Domain, Effects, FloatKind, HalfKind, Lanes, NumberFormat, Reader, VideoKind, Width, Write,
};
use super::fields::{self as f, PT, RZ, URZ};
use super::{Inst, Opcode};
use crate::atomic::AtomicOp;
use crate::half::Format;
use crate::row::{Operand, OperandKind, OperandRole, RegFile, Suffix};
use crate::word::Field;

/// Evaluates the guard of an instruction. Returns `None` if the instruction always executes (`@PT`). If the guard is
/// false, the caller applies none of the effects and continues with the next instruction.
pub fn guard<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Option<D::Pred> {
    (!inst.is_unconditional()).then(|| Context::new(inst, domain, read).pred(f::GUARD, f::GUARD_NOT))
}

/// Evaluates a valid instruction, assuming that its guard holds. All sources are read through `read` before any effect.
pub fn meaning<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Effects<D::Word, D::Pred> {
    let mut cx = Context::new(inst, domain, read);
    cx.execute();
    cx.effects
}

/// The state of one instruction's evaluation.
struct Context<'a, D: Domain, R: Reader<D>> {
    inst: &'a Inst,
    d: &'a mut D,
    read: &'a mut R,
    effects: Effects<D::Word, D::Pred>,
}

/// A source operand and its absolute-value and negation modifiers. The modifiers are applied later,
/// because their effect depends on the type of the operand.
struct SourceOperand<W> {
    word: W,
    neg: bool,
    abs: bool,
    select: u64,
}

impl<'a, D: Domain, R: Reader<D>> Context<'a, D, R> {
    fn new(inst: &'a Inst, d: &'a mut D, read: &'a mut R) -> Self {
        Self { inst, d, read, effects: Effects { writes: ArrayVec::new(), access: None, next: ControlFlow::Fall } }
    }

    fn get(&self, field: Field) -> u64 {
        self.inst.get(field)
    }

    fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    fn gpr(&mut self, n: u8) -> D::Word {
        if n == RZ { self.d.word(0) } else { self.read.gpr(self.d, n) }
    }

    fn ur(&mut self, n: u8) -> D::Word {
        if n == URZ { self.d.word(0) } else { self.read.ur(self.d, n) }
    }

    /// Returns the register whose number is `i` above that in `field`. Returns zero if the field holds RZ.
    fn gpr_after(&mut self, field: Field, i: u8) -> D::Word {
        self.gpr((self.get(field) as u8).saturating_add(i))
    }

    /// Returns the values of a pair of registers, low word first.
    fn pair(&mut self, field: Field) -> [D::Word; 2] {
        [0, 1].map(|i| self.gpr_after(field, i))
    }

    /// Returns the values of a pair of uniform registers, low word first.
    fn urs(&mut self, field: Field) -> [D::Word; 2] {
        let first = self.get(field) as u8;
        [first, if first == URZ { URZ } else { first + 1 }].map(|n| self.ur(n))
    }

    /// Returns a predicate source with its negation applied.
    fn pred(&mut self, number: Field, not: Field) -> D::Pred {
        let (n, not) = (self.get(number) as u8, self.flag(not));
        if n == PT {
            return self.d.truth(!not);
        }
        let p = self.read.pred(self.d, n);
        if not { self.d.negate(p) } else { p }
    }

    /// Returns the `i`-th of the source operands that are 32-bit words: registers, immediates and constants.
    fn source(&mut self, i: usize) -> SourceOperand<D::Word> {
        let Some(operand) = self.inst.row().operands.iter().filter(|o| is_word_source(o)).nth(i) else {
            return SourceOperand { word: self.d.word(0), neg: false, abs: false, select: 0 };
        };
        let word = match operand.kind {
            OperandKind::Reg { file: RegFile::Ur, field, .. } => self.ur(self.get(field) as u8),
            OperandKind::Reg { field, .. } => self.gpr(self.get(field) as u8),
            OperandKind::Const { bank, offset, .. } => self.constant(bank, offset, 0),
            OperandKind::HalfPair { field, .. } | OperandKind::F32(field) | OperandKind::Bits(field) => {
                self.d.word(self.get(field) as u32)
            }
            _ => self.d.word(0),
        };
        let flag = |field: Option<Field>| field.is_some_and(|field| self.flag(field));
        let select = if let Suffix::Choice(m) = operand.suffix { self.get(m.field) } else { 0 };
        SourceOperand { word, neg: flag(operand.neg), abs: flag(operand.abs), select }
    }

    /// Calls the function of the opcode. The opcodes of a mnemonic differ only in the kinds of their sources.
    #[rustfmt::skip]
    fn execute(&mut self) {
        macro_rules! dispatch {
            ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {{
                let $m = self;
                match $m.inst.opcode() { $($($(Opcode::$name)|+ => $meaning,)*)* }
            }};
        }
        opcodes!(dispatch)
    }

    /// Returns the value of the `i`-th source operand, without absolute value or negation.
    fn word(&mut self, i: usize) -> D::Word {
        self.source(i).word
    }

    /// Returns a word from a constant bank, `words` 32-bit words above the offset of the operand.
    fn constant(&mut self, bank: Field, offset: Field, words: u16) -> D::Word {
        let (bank, offset) = (self.get(bank) as u8, self.get(offset) as u16);
        self.read.constant(self.d, bank, offset.wrapping_add(4 * words))
    }

    /// Applies the source modifiers to the sign bits in the mask `lanes`: `abs` clears the bits,
    /// then `neg` inverts them.
    fn signs(&mut self, source: SourceOperand<D::Word>, lanes: u32) -> D::Word {
        let mut word = source.word;
        if source.abs {
            let magnitude = self.d.word(!lanes);
            word = self.d.and(word, magnitude);
        }
        if source.neg {
            let lanes = self.d.word(lanes);
            word = self.d.xor(word, lanes);
        }
        word
    }

    /// Combines `p` with the predicate source by the operation in field `lop`.
    fn combine(&mut self, p: D::Pred) -> D::Pred {
        let pp = self.pred(f::PP, f::PP_NOT);
        match self.get(f::LOP) {
            0 => self.d.both(p, pp),
            1 => self.d.either(p, pp),
            _ => self.d.differ(p, pp),
        }
    }

    /// Writes the two predicates of a comparison: the result and its negation, each combined with the predicate source.
    fn set_pred(&mut self, p: D::Pred) {
        let opposite = self.d.negate(p);
        let (pu, pv) = (self.combine(p), self.combine(opposite));
        self.define_pred(f::PU, pu);
        self.define_pred(f::PV, pv);
    }

    /// Converts a predicate to 1 or 0.
    fn one_if(&mut self, p: D::Pred) -> D::Word {
        let (one, zero) = (self.d.word(1), self.d.word(0));
        self.d.select(p, one, zero)
    }

    /// Writes values to consecutive registers from the register in `field` upwards. A write to RZ is discarded.
    fn define<const N: usize>(&mut self, field: Field, words: [D::Word; N]) {
        let first = self.get(field) as u8;
        if first != RZ {
            self.effects.writes.extend((first..=u8::MAX).zip(words).map(|(n, w)| Write::Gpr(n, w)));
        }
    }

    /// Writes values to consecutive uniform registers from the register in `field` upwards. A write
    /// to URZ is discarded.
    fn define_ur<const N: usize>(&mut self, field: Field, words: [D::Word; N]) {
        let first = self.get(field) as u8;
        if first != URZ {
            self.effects.writes.extend((first..=u8::MAX).zip(words).map(|(n, w)| Write::Ur(n, w)));
        }
    }

    /// Writes a predicate; a write to PT is discarded.
    fn define_pred(&mut self, field: Field, p: D::Pred) {
        let n = self.get(field) as u8;
        if n != PT {
            self.effects.writes.push(Write::Pred(n, p));
        }
    }
}

fn is_word_source(operand: &Operand) -> bool {
    operand.role == OperandRole::Use
        && match operand.kind {
            OperandKind::Reg { file, .. } => file != RegFile::Pred,
            OperandKind::Const { .. } | OperandKind::HalfPair { .. } | OperandKind::F32(_) | OperandKind::Bits(_) => {
                true
            }
            _ => false,
        }
}

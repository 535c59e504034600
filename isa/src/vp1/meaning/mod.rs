//! The semantics of every VP1 bundle, generic over the [`Domain`].
//!
//! There is one submodule per unit and one for each larger topic of a unit. This module combines
//! the units of a bundle. All units read the state before any unit changes it. Within a bundle,
//! only the scalar unit passes values to another unit, the vector unit.
//!
//! If two units write the same register, or need one read port for different registers, one of them
//! takes precedence. No useful program contains such a bundle.

mod address;
mod branch;
mod bytes;
mod leftover;
mod multiply;
mod s2v;
mod scalar;
mod transfer;
mod vector;

use super::opcodes::opcodes;
use arrayvec::ArrayVec;

use super::domain::{ByteKind, Domain, Effects, Index, Jump, Logic, Next, Reader, Shape, Unknown, Write};
use super::fields as f;
use super::{Bundle, Inst, Opcode, Unit};
use crate::row::{OperandKind, ROTATE, RegFile};
use crate::word::Field;
use address::AddressUpdate;
use branch::When;
use multiply::{Inputs, Results};
use s2v::Forwarded;

/// Evaluates a bundle. A unit without an instruction in the bundle has no effect.
pub fn meaning<D: Domain>(bundle: &Bundle, domain: &mut D, read: &mut impl Reader<D>) -> Effects<D> {
    effects(bundle, domain, read)
        .unwrap_or_else(|unknown| Effects { writes: ArrayVec::new(), next: Next::Trap(unknown) })
}

fn effects<D: Domain>(bundle: &Bundle, d: &mut D, read: &mut impl Reader<D>) -> Result<Effects<D>, Unknown> {
    if let Some(word) = bundle.undefined() {
        return Err(Unknown::Instruction(word));
    }
    let mut run = |inst: Option<&Inst>, forwarded: Option<Forwarded<D::Word>>| match inst {
        Some(inst) => Context { bundle, inst, forwarded, d: &mut *d, read: &mut *read }.execute(),
        None => Ok(Outcome::default()),
    };
    let scalar = run(bundle.inst(Unit::Scalar), None)?;
    let vector = run(bundle.inst(Unit::Vector), scalar.forwarded)?;
    let address = run(bundle.inst(Unit::Address), None)?;
    let branch = run(bundle.inst(Unit::Branch), None)?;

    // If several units write one register, the last write in this order takes effect.
    let mut writes = ArrayVec::new();
    writes.extend(scalar.overridable_write);
    writes.extend(address.writes);
    writes.extend(scalar.writes);
    writes.extend(vector.writes);
    writes.extend(branch.writes);
    let flags = [scalar.flags, address.flags, branch.flags].into_iter().flatten();
    writes.extend(flags.map(|Flags { c: n, group, bits }| Write::C { n, group, bits }));
    Ok(Effects { writes, next: branch.next.unwrap_or(Next::Fall) })
}

/// The effects of one unit's instruction.
struct Outcome<D: Domain> {
    /// A write of the scalar unit, which a write of the address or vector unit to the same register overrides.
    overridable_write: Option<Write<D>>,
    /// All other writes. The writes of the scalar unit override those of the address unit.
    writes: ArrayVec<Write<D>, 3>,
    /// The flags to write to a `$c` register.
    flags: Option<Flags<D::Word>>,
    /// The values that the scalar unit forwards to the vector unit.
    forwarded: Option<Forwarded<D::Word>>,
    /// The control flow that the branch unit determines.
    next: Option<Next<D::Word>>,
}

impl<D: Domain> Default for Outcome<D> {
    fn default() -> Self {
        Self { overridable_write: None, writes: ArrayVec::new(), flags: None, forwarded: None, next: None }
    }
}

impl<D: Domain> Outcome<D> {
    fn writes(writes: impl IntoIterator<Item = Write<D>>) -> Self {
        Self { writes: writes.into_iter().collect(), ..Self::default() }
    }

    fn with_flags(self, flags: Option<Flags<D::Word>>) -> Self {
        Self { flags, ..self }
    }
}

/// New values for some bits of a `$c` register. Each unit writes a different group of bits.
#[derive(Clone, Copy)]
struct Flags<W> {
    /// The number of the `$c` register.
    c: u8,
    /// The mask of the bits to write.
    group: u32,
    /// The new values of the bits in the mask; all other bits are 0.
    bits: W,
}

/// The state of one unit's evaluation.
struct Context<'a, D: Domain, R: Reader<D>> {
    bundle: &'a Bundle,
    inst: &'a Inst,
    /// The values that the scalar unit has forwarded. `Some` only in the vector unit.
    forwarded: Option<Forwarded<D::Word>>,
    d: &'a mut D,
    read: &'a mut R,
}

/// A source that is a register in some opcodes of a mnemonic and a constant in others.
enum SourceOperand<W> {
    Register(RegFile, Index<W>),
    Constant(u32),
}

/// A predicate: a constant if the instruction fixes its value, otherwise the word 0 or 1.
enum Bit<W> {
    Known(bool),
    Word(W),
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Calls the function of the opcode. The opcodes of a mnemonic differ only in the kind of their last source.
    #[rustfmt::skip]
    fn execute(&mut self) -> Result<Outcome<D>, Unknown> {
        macro_rules! dispatch {
            ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {{
                let $m = self;
                match $m.inst.opcode() { $($($(Opcode::$name)|+ => $meaning,)*)* }
            }};
        }
        Ok(opcodes!(dispatch))
    }

    /// Returns a context for the instruction of another unit in the same bundle.
    fn for_unit<'b>(&'b mut self, inst: &'b Inst) -> Context<'b, D, R> {
        Context { bundle: self.bundle, inst, forwarded: None, d: &mut *self.d, read: &mut *self.read }
    }

    /// Returns the bits of a field. Fields that overlap have all their effects, even those of
    /// fields that do not occur in the text.
    fn get(&self, field: Field) -> u64 {
        self.inst.get(field)
    }

    fn signed(&self, field: Field) -> i32 {
        self.inst.get_signed(field) as i32
    }

    /// Returns a number whose low and high bits are in two fields.
    fn split(&self, low: Field, high: Field) -> u64 {
        self.get(high) << low.width | self.get(low)
    }

    fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    fn reg(&self, field: Field) -> u8 {
        self.get(field) as u8
    }

    fn r(&mut self, field: Field) -> D::Word {
        self.read.r(self.d, Index::Fixed(self.reg(field)))
    }

    fn v(&mut self, field: Field) -> D::Bytes {
        self.read.v(self.d, Index::Fixed(self.reg(field)))
    }

    /// Returns a `$v` register with its bytes sign-extended or zero-extended to 32 bits.
    fn wide(&mut self, n: Index<D::Word>, signed: bool) -> D::Wide {
        let v = self.read.v(self.d, n);
        self.d.widen(signed, v)
    }

    fn a(&mut self, field: Field) -> D::Word {
        self.read.a(self.d, Index::Fixed(self.reg(field)))
    }

    /// Returns the `$c` register of the condition.
    fn c(&mut self) -> D::Word {
        self.read.c(self.d, self.reg(f::COND))
    }

    /// Returns the bit of the `$c` register that is the condition. Bits 11, 12 and 14 are always 0,
    /// and bit 15 is always 1.
    fn condition(&mut self) -> Bit<D::Word> {
        match self.get(f::SLCT) as u32 {
            11 | 12 | 14 => Bit::Known(false),
            15 => Bit::Known(true),
            bit => {
                let c = self.c();
                Bit::Word(self.bits(c, bit, 1))
            }
        }
    }

    /// Converts a predicate to the word 0 or 1.
    fn word_of_bit(&mut self, bit: Bit<D::Word>) -> D::Word {
        match bit {
            Bit::Known(bit) => self.d.word(bit.into()),
            Bit::Word(word) => word,
        }
    }

    /// Returns `(word >> low) & mask`.
    fn bits(&mut self, word: D::Word, low: u32, mask: u32) -> D::Word {
        let (low, mask) = (self.d.word(low), self.d.word(mask));
        let word = self.d.shr(word, low);
        self.d.logic(Logic::AND, word, mask)
    }

    fn and(&mut self, a: D::Word, mask: u32) -> D::Word {
        let mask = self.d.word(mask);
        self.d.logic(Logic::AND, a, mask)
    }

    fn or(&mut self, a: D::Word, b: D::Word) -> D::Word {
        self.d.logic(Logic::OR, a, b)
    }

    /// Returns the number of register `k` of the quad that contains the register in `field`. Bits 4
    /// and 5 of the condition's `$c` register rotate the numbers within the quad.
    fn quad(&mut self, field: Field, k: u8) -> Index<D::Word> {
        let n = self.reg(field);
        let (c, start) = (self.c(), self.d.word(((n + k) & 3).into()));
        let rotation = self.bits(c, 4, 3);
        let element = self.d.add(start, rotation);
        Index::InQuad { first: n & !3, element: self.and(element, 3) }
    }

    /// Returns the register number in `field` XORed with the condition bit.
    fn xor_selected(&mut self, field: Field) -> Index<D::Word> {
        let n = self.reg(field);
        match self.condition() {
            Bit::Known(bit) => Index::Fixed(n ^ u8::from(bit)),
            Bit::Word(bit) => {
                let start = self.d.word((n & 3).into());
                Index::InQuad { first: n & !3, element: self.d.logic(Logic::XOR, start, bit) }
            }
        }
    }

    /// Returns the number of the register that the condition selects. If the condition is bit b20, the quad of the
    /// register in `field` is rotated. Any other bit is XORed with the register number in `field`.
    fn selected(&mut self, field: Field) -> Index<D::Word> {
        if self.get(f::SLCT) == ROTATE { self.quad(field, 0) } else { self.xor_selected(field) }
    }

    /// Returns the last source in the text.
    fn source(&mut self) -> SourceOperand<D::Word> {
        match self.inst.row().operands.iter().rev().find(|operand| !operand.silent).map(|operand| operand.kind) {
            Some(OperandKind::Reg { file, field, .. }) => SourceOperand::Register(file, Index::Fixed(self.reg(field))),
            Some(OperandKind::Selected { file, field, .. }) => SourceOperand::Register(file, self.selected(field)),
            Some(OperandKind::Number { field, signed: true, .. }) => SourceOperand::Constant(self.signed(field) as u32),
            Some(OperandKind::Number { field, shift, .. }) => {
                SourceOperand::Constant((self.get(field) << shift) as u32)
            }
            Some(OperandKind::SplitNumber { low, high, shift }) => {
                SourceOperand::Constant((self.split(low, high) << shift) as u32)
            }
            _ => SourceOperand::Constant(0),
        }
    }

    /// Returns the last source as a word.
    fn source_word(&mut self) -> D::Word {
        match self.source() {
            SourceOperand::Register(RegFile::A, n) => self.read.a(self.d, n),
            SourceOperand::Register(_, n) => self.read.r(self.d, n),
            SourceOperand::Constant(value) => self.d.word(value),
        }
    }

    /// Returns the last source as bytes: a vector, a word in the lowest four bytes, or a constant in all bytes.
    fn source_bytes(&mut self) -> D::Bytes {
        match self.source() {
            SourceOperand::Register(RegFile::V, n) => self.read.v(self.d, n),
            SourceOperand::Register(_, n) => {
                let word = self.read.r(self.d, n);
                self.low_bytes(word)
            }
            SourceOperand::Constant(value) => self.d.bytes([value as u8; 16]),
        }
    }

    /// Returns the number of the `$c` or `$vc` register that receives the flags, if there is one.
    fn flag_register(&self) -> Option<u8> {
        let n = self.reg(f::CDST);
        (n < 4).then_some(n)
    }

    /// Returns the flags to write to `$c[CDST]`, or `None` if CDST names no register.
    fn flags(&self, group: u32, bits: D::Word) -> Option<Flags<D::Word>> {
        self.flag_register().map(|c| Flags { c, group, bits })
    }

    /// Returns the write of an `$r` register, or `None` for `$r31`.
    fn define(&self, field: Field, value: D::Word) -> Option<Write<D>> {
        let n = self.reg(field);
        (n != f::R_ZERO).then_some(Write::R(n, value))
    }
}

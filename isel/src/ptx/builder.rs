//! Builder of PTX instructions on virtual registers.

use std::collections::BTreeMap;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::types::{Requirements, Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg, Vector};
use smallvec::SmallVec;

use super::expand::is_expanded;
use super::operands::{Pred, Src};
use crate::Ptx;
use crate::driver::InstDraft;
use crate::vcode::VInst;

/// Maximum number of constants that the entry block loads into registers. 255 is the number of registers of a thread.
const MOST_NUMBERS: usize = 255;

/// Builder of PTX instructions, and of virtual registers for their results.
pub(crate) struct Builder {
    /// Type of each virtual register, by register number.
    pub types: Vec<Type>,
    /// Emitted instructions that were not moved to a block draft yet, in forward order.
    pub insts: Vec<InstDraft<Ptx>>,
    /// Source location of the instructions that are emitted next.
    pub loc: Loc,
    /// Registers of constants that the entry block loads, for operands that accept no immediate.
    pub numbers: BTreeMap<u32, Reg>,
    /// Registers of constants that the current block loads.
    pub block_constants: BTreeMap<u32, Reg>,
    /// Requirements, such as an SM version, of the instructions emitted since the last call of
    /// `take_since`. Instructions that are expanded later do not count.
    since: Requirements,
}

impl Builder {
    /// Creates a builder for a kernel of about `ops` ops.
    pub(super) fn with_capacity(ops: usize) -> Builder {
        Builder {
            types: Vec::with_capacity(4 * ops),
            insts: Vec::with_capacity(16),
            loc: Loc::default(),
            numbers: BTreeMap::new(),
            block_constants: BTreeMap::new(),
            since: Requirements::ALWAYS,
        }
    }

    pub(super) fn reg(&mut self, ty: Type) -> Reg {
        self.types.push(ty);
        Reg(self.types.len() as u32 - 1)
    }

    /// Returns a new 128-bit register, which takes two register numbers, as an operand.
    pub(super) fn reg_of_128_bits(&mut self) -> Operand {
        let low = self.reg(Type::B128);
        self.reg(Type::B128);
        Operand::Vector(Vector::of_pair(low))
    }

    pub(super) fn ty(&self, reg: Reg) -> Type {
        self.types.get(reg.0 as usize).copied().unwrap_or(Type::B32)
    }

    pub(super) fn push(&mut self, opcode: Opcode, words: &[Token], operands: &[Operand]) {
        self.append(opcode, words, operands.iter().cloned().collect());
    }

    fn append(&mut self, opcode: Opcode, words: &[Token], operands: SmallVec<[Operand; 4]>) {
        let inst = Inst { opcode, modifiers: words.iter().copied().collect(), guard: None, operands };
        if !is_expanded(&inst) {
            self.since = self.since.and(inst.since());
        }
        debug_assert!(inst.is_valid(|reg| Some(self.ty(reg))), "{inst:?}");
        self.insts.push(VInst::alone(inst, self.loc).into());
    }

    /// Returns the requirements of the instructions emitted since the last call of this function.
    pub(super) fn take_since(&mut self) -> Requirements {
        std::mem::replace(&mut self.since, Requirements::ALWAYS)
    }

    /// Appends an instruction whose first operand is a new register of type `ty`.
    pub(super) fn define(&mut self, ty: Type, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Reg {
        let reg = self.reg(ty);
        let mut operands = SmallVec::new();
        operands.push(Operand::Register(reg));
        operands.extend(sources.iter().cloned());
        self.append(opcode, words, operands);
        reg
    }

    /// Appends an instruction whose result is a new 32-bit register.
    pub(super) fn word(&mut self, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Reg {
        self.define(Type::B32, opcode, words, sources)
    }

    /// Appends an instruction whose result is a new predicate.
    pub(super) fn pred(&mut self, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Pred {
        Pred::new(self.define(Type::Pred, opcode, words, sources))
    }

    /// Returns a register that holds a constant. The entry block loads the constant. If the entry
    /// block already loads many constants, the current block loads it, because registers that are
    /// live in the whole kernel slow down compilation.
    pub(super) fn constant_reg(&mut self, bits: u32) -> Reg {
        if let Some(&reg) = self.numbers.get(&bits).or_else(|| self.block_constants.get(&bits)) {
            return reg;
        }
        let reg = self.reg(Type::B32);
        if self.is_crowded() { &mut self.block_constants } else { &mut self.numbers }.insert(bits, reg);
        reg
    }

    /// Returns `true` if the entry block already loads its maximum number of constants.
    pub(super) fn is_crowded(&self) -> bool {
        self.numbers.len() >= MOST_NUMBERS
    }

    /// Returns a register with the value of an operand. A constant is loaded into a register.
    pub(super) fn in_reg(&mut self, src: Src) -> Reg {
        match src {
            Src::Reg(reg) => reg,
            Src::Number(bits) => self.constant_reg(bits),
        }
    }

    /// Packs registers into one register of type `B32` or `B64`.
    pub(super) fn pack(&mut self, ty: Type, parts: &[Reg]) -> Reg {
        let parts = Operand::Vector(parts.iter().copied().map(Some).collect());
        self.define(ty, Opcode::MOV_PACK, &[Token::Type(ty)], &[parts])
    }

    /// Unpacks a register of type `ty` into two registers of half the size. If `wanted` is false
    /// for a half, the register returned for it is unspecified.
    pub(super) fn unpack(&mut self, ty: Type, wanted: [bool; 2], from: Reg) -> [Reg; 2] {
        let part = if ty == Type::B64 { Type::B32 } else { Type::B16 };
        let parts = wanted.map(|wanted| wanted.then(|| self.reg(part)));
        let vector = Operand::Vector(parts.into_iter().collect());
        self.push(Opcode::MOV_UNPACK, &[Token::Type(ty)], &[vector, Operand::Register(from)]);
        parts.map(|part| part.unwrap_or(from))
    }

    /// Returns half `k` of a 32-bit register in a 16-bit register.
    pub(super) fn half(&mut self, k: u8, from: Reg) -> Reg {
        self.unpack(Type::B32, [k == 0, k == 1], from)[usize::from(k == 1)]
    }

    /// Packs two 32-bit registers into a 64-bit register.
    pub(super) fn pair(&mut self, low: Reg, high: Reg) -> Reg {
        self.pack(Type::B64, &[low, high])
    }
}

//! Instructions on virtual registers as they are made.

use std::collections::BTreeMap;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::types::{Since, Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg, Vector};
use smallvec::SmallVec;

use super::expand::is_expanded;
use super::operands::{Pred, Src};
use crate::Ptx;
use crate::driver::Drafted;
use crate::vcode::VInst;

/// Numbers that the entry writes at most: as many as there are registers.
const MOST_NUMBERS: usize = 255;

/// Makes instructions, and registers for what they define.
pub(crate) struct Builder {
    /// The types of the registers, by number.
    pub types: Vec<Type>,
    /// Those made and not yet taken away, in forward order.
    pub insts: Vec<Drafted<Ptx>>,
    /// What is made now comes from there.
    pub loc: Loc,
    /// Numbers that stand in registers, because instructions take no number there: those that the entry writes.
    pub numbers: BTreeMap<u32, Reg>,
    /// Likewise those that the block at hand writes.
    pub numbers_here: BTreeMap<u32, Reg>,
    /// What the instructions made since this was last asked need, but for those that are yet to be expanded.
    since: Since,
}

impl Builder {
    /// With room for the instructions of so many ops.
    pub fn with_capacity(ops: usize) -> Builder {
        Builder {
            types: Vec::with_capacity(4 * ops),
            insts: Vec::with_capacity(16),
            loc: Loc::default(),
            numbers: BTreeMap::new(),
            numbers_here: BTreeMap::new(),
            since: Since::ALWAYS,
        }
    }

    pub fn reg(&mut self, ty: Type) -> Reg {
        self.types.push(ty);
        Reg(self.types.len() as u32 - 1)
    }

    /// A register of 128 bits, which has two numbers, as an operand.
    pub fn reg_of_128_bits(&mut self) -> Operand {
        let low = self.reg(Type::B128);
        self.reg(Type::B128);
        Operand::Vector(Vector::of_pair(low))
    }

    pub fn ty(&self, reg: Reg) -> Type {
        self.types.get(reg.0 as usize).copied().unwrap_or(Type::B32)
    }

    pub fn push(&mut self, opcode: Opcode, words: &[Token], operands: &[Operand]) {
        self.append(opcode, words, operands.iter().cloned().collect());
    }

    fn append(&mut self, opcode: Opcode, words: &[Token], operands: SmallVec<[Operand; 4]>) {
        let inst = Inst { opcode, words: words.iter().copied().collect(), guard: None, operands };
        if !is_expanded(&inst) {
            self.since = self.since.and(inst.since());
        }
        debug_assert!(inst.is_valid(|reg| Some(self.ty(reg))), "{inst:?}");
        self.insts.push(VInst::alone(inst, self.loc).into());
    }

    /// What was made since this was last asked needs.
    pub fn take_since(&mut self) -> Since {
        std::mem::replace(&mut self.since, Since::ALWAYS)
    }

    /// An instruction whose first operand is a new register of that type.
    pub fn define(&mut self, ty: Type, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Reg {
        let reg = self.reg(ty);
        let mut operands = SmallVec::new();
        operands.push(Operand::Register(reg));
        operands.extend(sources.iter().cloned());
        self.append(opcode, words, operands);
        reg
    }

    /// The same with a word.
    pub fn word(&mut self, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Reg {
        self.define(Type::B32, opcode, words, sources)
    }

    /// The same with a predicate.
    pub fn pred(&mut self, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Pred {
        Pred::new(self.define(Type::Pred, opcode, words, sources))
    }

    /// The register that holds a number. It is written where the kernel begins, or where that writes many, in the block at hand: what
    /// is live everywhere costs every block.
    pub fn number(&mut self, bits: u32) -> Reg {
        if let Some(&reg) = self.numbers.get(&bits).or_else(|| self.numbers_here.get(&bits)) {
            return reg;
        }
        let reg = self.reg(Type::B32);
        if self.is_crowded() { &mut self.numbers_here } else { &mut self.numbers }.insert(bits, reg);
        reg
    }

    /// Whether the entry writes as many numbers as it is to.
    pub fn is_crowded(&self) -> bool {
        self.numbers.len() >= MOST_NUMBERS
    }

    /// The operand in a register.
    pub fn in_reg(&mut self, src: Src) -> Reg {
        match src {
            Src::Reg(reg) => reg,
            Src::Number(bits) => self.number(bits),
        }
    }

    /// Parts as one value of that type, `B32` or `B64`.
    pub fn pack(&mut self, ty: Type, parts: &[Reg]) -> Reg {
        let parts = Operand::Vector(parts.iter().copied().map(Some).collect());
        self.define(ty, Opcode::MOV_PACK, &[Token::Type(ty)], &[parts])
    }

    /// The two halves of a value of that type; `None` where one is not wanted.
    pub fn unpack(&mut self, ty: Type, wanted: [bool; 2], from: Reg) -> [Reg; 2] {
        let part = if ty == Type::B64 { Type::B32 } else { Type::B16 };
        let parts = wanted.map(|wanted| wanted.then(|| self.reg(part)));
        let vector = Operand::Vector(parts.into_iter().collect());
        self.push(Opcode::MOV_UNPACK, &[Token::Type(ty)], &[vector, Operand::Register(from)]);
        parts.map(|part| part.unwrap_or(from))
    }

    /// Half `k` of a word, in a register of 16 bits.
    pub fn half(&mut self, k: u8, from: Reg) -> Reg {
        self.unpack(Type::B32, [k == 0, k == 1], from)[usize::from(k == 1)]
    }

    /// Two words as 64 bits.
    pub fn pair(&mut self, low: Reg, high: Reg) -> Reg {
        self.pack(Type::B64, &[low, high])
    }
}

//! Selected code: machine instructions on virtual registers, in SSA form with block parameters.

use std::ops::Range;

use halfbyte_isa::abi::Signature;
use halfbyte_isa::object::{Loc, Part};

use crate::mach::BlockIndex;
use crate::machine::Machine;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VReg(pub u32);

/// How an instruction touches an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Use,
    /// Writes all of it, or a part of it; the other parts hold nothing yet.
    Def,
    /// Writes a part; the other parts are those of this register, which lies in the same place.
    Replace(VReg),
}

/// A register operand of an instruction.
///
/// On VP1 several operands in a row with one place are a tuple, of which the instruction has one number n; their parts count
/// from 0. A pair `$v[n]d` is n and n | 1, which are one where both operands are the same register. Of `(slct $c bit $v[n]d)`,
/// part 0 is read where the bit is 0 and part 1 where it is 1. Of a quad of `$v`, part k is element k where the instruction's
/// `$c` has zeros in bits 4 and 5, which rotate it; parts of a quad that are not read may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand<M: Machine> {
    /// Where in the instruction the register number goes.
    pub place: M::Place,
    /// The register.
    pub reg: VReg,
    /// Of a wide register of HALU, the 32-bit part that the number names; of a tuple of VP1, which of its registers this is.
    pub part: u8,
    /// Read or written.
    pub access: Access,
}

/// An instruction. Register fields that no operand names already hold what they should, such as RZ.
#[derive(Clone, Debug)]
pub struct VInst<M: Machine> {
    /// What it is without its virtual registers.
    pub inst: M::Inst,
    /// Its operands in [`VCode::operands`].
    pub operands: Range<u32>,
    /// The text it comes from.
    pub loc: Loc,
}

/// A way out of a block.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where to.
    pub block: BlockIndex,
    /// The arguments in [`VCode::pool`], one a parameter.
    pub args: Range<u32>,
}

/// How a block ends. No edge is critical: a block with several ways out has only targets with one way in.
#[derive(Clone, Debug)]
pub enum Terminator<M: Machine> {
    /// The work item, or on VP1 the program, ends.
    Exit,
    /// To one block.
    Jump(Edge),
    /// By a branch to one of two blocks.
    Branch {
        /// The branch, which reads registers and writes none.
        inst: VInst<M>,
        /// Where to if it is taken.
        then: Edge,
        /// Where to if it is not.
        otherwise: Edge,
    },
}

/// A block.
#[derive(Clone, Debug)]
pub struct VBlock<M: Machine> {
    /// Its parameters in [`VCode::pool`].
    pub params: Range<u32>,
    /// Its instructions in [`VCode::insts`], without the terminator.
    pub insts: Range<u32>,
    /// How it ends.
    pub terminator: Terminator<M>,
    /// The text that the terminator comes from.
    pub loc: Loc,
}

/// A kernel in machine instructions on virtual registers.
#[derive(Clone, Debug)]
pub struct VCode<M: Machine> {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// What each virtual register holds. Each is defined once, except that [`Access::Replace`] continues another.
    pub vregs: Vec<M::Class>,
    /// The blocks in order; the first is the entry and has no parameters.
    pub blocks: Vec<VBlock<M>>,
    /// All instructions, block after block.
    pub insts: Vec<VInst<M>>,
    /// All operands, those of branches too.
    pub operands: Vec<Operand<M>>,
    /// Lists of registers.
    pub pool: Vec<VReg>,
    /// What instructions stand for that access more than one thing of the text, in their order; a part's word is the
    /// instruction's index in [`VCode::insts`].
    pub parts: Vec<Part>,
    /// What else emission must know.
    pub extra: M::Extra,
}

impl<M: Machine> VCode<M> {
    /// An instruction's operands.
    pub fn operands(&self, inst: &VInst<M>) -> &[Operand<M>] {
        self.operands.get(inst.operands.start as usize..inst.operands.end as usize).unwrap_or(&[])
    }

    /// The parts of a run of instructions.
    pub fn parts(&self, insts: &Range<u32>) -> &[Part] {
        let place = |at: u32| self.parts.partition_point(|part| part.word < at);
        self.parts.get(place(insts.start)..place(insts.end)).unwrap_or(&[])
    }

    /// A list of registers.
    pub fn list(&self, range: &Range<u32>) -> &[VReg] {
        self.pool.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}

//! Selected code: machine instructions on virtual registers, in SSA form with block parameters.

use std::ops::Range;

use halfbyte_isa::abi::Signature;
use halfbyte_isa::halu::Inst;
use halfbyte_isa::object::Loc;
use halfbyte_isa::word::Field;

use crate::mach::BlockIndex;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VReg(pub u32);

/// What a virtual register holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegClass {
    /// A predicate.
    Pred,
    /// One 32-bit register.
    Word,
    /// Two, the first even.
    Pair,
    /// Four, the first a multiple of four.
    Quad,
}

impl RegClass {
    /// How many 32-bit registers it takes; a predicate takes none.
    pub const fn words(self) -> u32 {
        match self {
            RegClass::Pred => 0,
            RegClass::Word => 1,
            RegClass::Pair => 2,
            RegClass::Quad => 4,
        }
    }
}

/// How an instruction touches an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Use,
    /// Writes all of it, or the first part of it; the other parts hold nothing yet.
    Def,
    /// Writes a part; the other parts are those of this register, which lies in the same place.
    Replace(VReg),
}

/// A register operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Where in the word the register number goes.
    pub field: Field,
    /// The register.
    pub reg: VReg,
    /// Of a wide register, the 32-bit part that the number names.
    pub part: u8,
    /// Read or written.
    pub access: Access,
}

/// An instruction. Register fields that no operand names already hold what they should, such as RZ.
#[derive(Clone, Debug)]
pub struct VInst {
    /// The word without its virtual registers.
    pub inst: Inst,
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
pub enum Terminator {
    /// The work item ends.
    Exit,
    /// To one block.
    Jump(Edge),
    /// To the first block where the predicate holds (does not, under `not`), else to the second.
    Branch {
        /// The predicate.
        cond: VReg,
        /// Inverts it.
        not: bool,
        /// Taken where it holds.
        then: Edge,
        /// Taken where it does not.
        otherwise: Edge,
    },
}

/// A block.
#[derive(Clone, Debug)]
pub struct VBlock {
    /// Its parameters in [`VCode::pool`].
    pub params: Range<u32>,
    /// Its instructions in [`VCode::insts`], without the terminator.
    pub insts: Range<u32>,
    /// How it ends.
    pub terminator: Terminator,
    /// The text that the terminator comes from.
    pub loc: Loc,
}

/// A kernel in machine instructions on virtual registers.
#[derive(Clone, Debug)]
pub struct VCode {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// What each virtual register holds. Each is defined once, except that [`Access::Replace`] continues another.
    pub vregs: Vec<RegClass>,
    /// The blocks in order; the first is the entry and has no parameters.
    pub blocks: Vec<VBlock>,
    /// All instructions, block after block.
    pub insts: Vec<VInst>,
    /// All operands.
    pub operands: Vec<Operand>,
    /// Lists of registers.
    pub pool: Vec<VReg>,
}

impl VCode {
    /// An instruction's operands.
    pub fn operands(&self, inst: &VInst) -> &[Operand] {
        self.operands.get(inst.operands.start as usize..inst.operands.end as usize).unwrap_or(&[])
    }

    /// A list of registers.
    pub fn list(&self, range: &Range<u32>) -> &[VReg] {
        self.pool.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}

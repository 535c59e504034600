//! Machine functions: blocks of machine instructions with the kernel's signature and the source of every instruction.
//!
//! Allocation makes them of [`VCode`](crate::vcode::VCode) and writes hardware registers into the words. Emission reads
//! nothing else.

use halfbyte_isa::abi::Signature;
use halfbyte_isa::halu::Inst;
use halfbyte_isa::object::Loc;

/// A block of a machine function, by its place in the layout.
pub type BlockIndex = u32;

/// A machine instruction.
#[derive(Clone, Copy, Debug)]
pub struct MachInst {
    /// The word.
    pub inst: Inst,
    /// Of a branch: the block it goes to; the offset in the word is filled in by emission.
    pub target: Option<BlockIndex>,
    /// The text it comes from.
    pub loc: Loc,
}

/// A block: a run of instructions.
#[derive(Clone, Debug, Default)]
pub struct MachBlock {
    /// In order.
    pub insts: Vec<MachInst>,
}

/// A kernel in machine instructions with hardware registers: what emission reads.
#[derive(Clone, Debug)]
pub struct MachFunc {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// Blocks in layout order; the first is the entry. Control falls through from one to the next.
    pub blocks: Vec<MachBlock>,
    /// Bytes of local memory that an item needs for spills.
    pub local_bytes: u32,
    /// General registers used: the highest number plus one.
    pub registers: u32,
    /// Stores to local memory of values that no register was left for.
    pub spills: u32,
}

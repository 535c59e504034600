//! Machine functions: blocks of machine instructions with the kernel's signature and the source of every instruction.
//!
//! Allocation makes them of [`VCode`](crate::vcode::VCode) and writes hardware registers into the words. Emission reads
//! nothing else.

use halfbyte_abi::Signature;
use halfbyte_isa::object::{Loc, Part};

use crate::vcode::{BlockIndex, Machine};

/// A machine instruction.
#[derive(Clone, Debug)]
pub struct MachInst<M: Machine> {
    /// The word, or those that must stay together.
    pub inst: M::Inst,
    /// Of a branch: the block it goes to; the offset in the word is filled in by emission.
    pub target: Option<BlockIndex>,
    /// The text it comes from.
    pub loc: Loc,
}

impl<M: Machine<Inst: Copy>> Copy for MachInst<M> {}

/// A block: a run of instructions.
#[derive(Clone, Debug, Default)]
pub struct MachBlock<M: Machine> {
    /// In order.
    pub insts: Vec<MachInst<M>>,
    /// What those stand for that access more than one thing of the text, in their order; a part's word is the instruction's
    /// index in [`MachBlock::insts`].
    pub parts: Vec<Part>,
}

/// A kernel in machine instructions with hardware registers: what emission reads.
#[derive(Clone, Debug)]
pub struct MachFunc<M: Machine> {
    /// The kernel's name and parameters.
    pub signature: Signature,
    /// Blocks in layout order; the first is the entry. Control falls through from one to the next.
    pub blocks: Vec<MachBlock<M>>,
    /// Bytes of local memory that an item needs for spills; on VP1, of the data store that the image and the spills take from
    /// address 0 on.
    pub local_bytes: u32,
    /// General registers used, on VP1 `$r`: the highest number plus one.
    pub registers: u32,
    /// Stores of values that no register was left for.
    pub spills: u32,
    /// What else emission must know.
    pub extra: M::Extra,
}

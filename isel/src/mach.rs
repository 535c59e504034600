//! Machine functions: blocks of machine instructions, with the kernel's signature and the source
//! location of every instruction.
//!
//! Allocation builds them from [`VCode`](crate::vcode::VCode) and writes hardware registers into
//! the instructions. Emission reads nothing else.

use halfbyte_abi::Signature;
use halfbyte_isa::object::{Loc, PartialAccess};

use crate::vcode::{BlockIndex, Machine};

/// Machine instruction after allocation.
#[derive(Clone, Debug)]
pub struct MachInst<M: Machine> {
    /// The instruction, or a bundle of instructions that must stay together.
    pub inst: M::Inst,
    /// Target block of a branch. Emission fills in the offset.
    pub target: Option<BlockIndex>,
    /// Source location.
    pub loc: Loc,
}

impl<M: Machine<Inst: Copy>> Copy for MachInst<M> {}

/// Basic block of a machine function.
#[derive(Clone, Debug, Default)]
pub struct MachBlock<M: Machine> {
    /// Instructions in order.
    pub insts: Vec<MachInst<M>>,
    /// Source accesses of the instructions that each perform several accesses, in order. The `word`
    /// of a part is an index into [`MachBlock::insts`].
    pub parts: Vec<PartialAccess>,
}

/// Kernel as machine instructions with hardware registers, as emission reads it.
#[derive(Clone, Debug)]
pub struct MachFunc<M: Machine> {
    /// Name and parameters of the kernel.
    pub signature: Signature,
    /// Blocks in layout order; the first one is the entry. Control falls through from each block to
    /// the next.
    pub blocks: Vec<MachBlock<M>>,
    /// Bytes of local memory that an item needs for spills. On VP1: bytes of the data store, from
    /// address 0 on, that the image and the spills occupy.
    pub local_bytes: u32,
    /// Number of general registers used (`$r` on VP1): the highest register number plus one.
    pub registers: u32,
    /// Number of spill stores.
    pub spills: u32,
    /// Target-specific data for emission.
    pub extra: M::Extra,
}

//! Machine functions: blocks of machine instructions on hardware registers, with the kernel's
//! signature and the source location of every instruction.
//!
//! Register allocation builds a machine function from [`VCode`](crate::vcode::VCode). The emission
//! of objects reads only the machine function.

use halfbyte_abi::Signature;
use halfbyte_isa::object::{Loc, PartialAccess};

use crate::vcode::{BlockIndex, Machine};

/// Machine instruction after register allocation.
#[derive(Clone, Debug)]
pub struct MachInst<M: Machine> {
    /// The instruction, or a bundle of instructions that must stay together.
    pub inst: M::Inst,
    /// Target block of a branch. Emission writes the branch offset into the instruction.
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
    /// Source accesses of loads and stores that each replace several source accesses, in order. The
    /// field `word` of such an access is an index into [`MachBlock::insts`].
    pub parts: Vec<PartialAccess>,
}

/// Kernel as machine instructions with hardware registers, from which emission builds an object.
#[derive(Clone, Debug)]
pub struct MachFunc<M: Machine> {
    /// Name and parameters of the kernel.
    pub signature: Signature,
    /// Blocks in layout order. The first one is the entry. Without a branch, control continues in the next block.
    pub blocks: Vec<MachBlock<M>>,
    /// HALU: bytes of local memory of an item, for scratch arrays and spill slots. VP1: bytes of
    /// the data store, from address 0 on, that the data image and the spill slots occupy.
    pub local_bytes: u32,
    /// Number of general registers used (`$r` on VP1): the highest register number plus one.
    pub registers: u32,
    /// Number of instructions that store a spilled register.
    pub spills: u32,
    /// Target-specific data for emission.
    pub extra: M::Extra,
}

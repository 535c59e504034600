//! What each machine does by itself.

use super::{AllocError, Allocator, Options};
use crate::mach::MachFunc;
use crate::vcode::{BlockIndex, Machine, VBlock, VCode, VInst};

/// A machine whose registers can be allocated. One whose registers are all alike says so by [`Uniform`](super::Uniform), and has this.
pub trait Allocate: Machine {
    /// Checks the operands of a block's instructions, which exist, and what the machine demands of their order.
    ///
    /// # Errors
    /// The first instruction that is not as it should be.
    fn check(code: &VCode<Self>, block: &VBlock<Self>) -> Result<(), AllocError>;

    /// Checks a block's branch, whose operands exist and are uses.
    ///
    /// # Errors
    /// A branch that is not as it should be.
    fn check_branch(code: &VCode<Self>, block: BlockIndex, branch: &VInst<Self>) -> Result<(), AllocError>;

    /// Allocates code that was checked and whose flow and liveness the allocator has.
    ///
    /// # Errors
    /// Registers that have no room.
    fn allocate(allocator: &mut Allocator, code: VCode<Self>, options: &Options) -> Result<MachFunc<Self>, AllocError>;
}

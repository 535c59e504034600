//! Machine-specific part of register allocation.

use super::{AllocError, Allocator, Options};
use crate::mach::MachFunc;
use crate::vcode::{BlockIndex, Machine, VBlock, VCode, VInst};

/// Machine whose registers can be allocated. A machine with interchangeable registers implements
/// [`Uniform`](super::Uniform), which provides this trait.
pub trait Allocate: Machine {
    /// Checks the operands of a block's instructions, and the machine's constraints on instruction
    /// order. The operand ranges were already checked.
    ///
    /// # Errors
    /// Fails at the first invalid instruction.
    fn check(code: &VCode<Self>, block: &VBlock<Self>) -> Result<(), AllocError>;

    /// Checks a block's branch. Its operand ranges were already checked, and all operands are uses.
    ///
    /// # Errors
    /// Fails if the branch is invalid.
    fn check_branch(code: &VCode<Self>, block: BlockIndex, branch: &VInst<Self>) -> Result<(), AllocError>;

    /// Allocates verified code. The allocator already holds the code's flow graph and liveness.
    ///
    /// # Errors
    /// Fails if the registers do not fit.
    fn allocate(allocator: &mut Allocator, code: VCode<Self>, options: &Options) -> Result<MachFunc<Self>, AllocError>;
}

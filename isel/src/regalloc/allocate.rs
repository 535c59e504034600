//! Part of register allocation that each machine implements.

use super::{AllocError, Allocator, Options};
use crate::mach::MachFunc;
use crate::vcode::{BlockIndex, Machine, VBlock, VCode, VInst};

/// Machine whose registers can be allocated. A machine with interchangeable registers implements
/// [`SingleRegisterFile`](super::SingleRegisterFile), which provides this trait.
pub trait Allocate: Machine {
    /// Checks the operands of the instructions in a block, and the machine's constraints on the
    /// order of instructions. The caller has already checked the operand ranges.
    ///
    /// # Errors
    /// Fails at the first invalid instruction.
    fn check(code: &VCode<Self>, block: &VBlock<Self>) -> Result<(), AllocError>;

    /// Checks the branch of a block. The caller has already checked that its operand range is valid
    /// and that all operands are uses.
    ///
    /// # Errors
    /// Fails if the branch is invalid.
    fn check_branch(code: &VCode<Self>, block: BlockIndex, branch: &VInst<Self>) -> Result<(), AllocError>;

    /// Allocates verified code. The allocator already holds the control-flow graph and the liveness of the code.
    ///
    /// # Errors
    /// Fails if the code needs more registers and spill memory than there are.
    fn allocate(allocator: &mut Allocator, code: VCode<Self>, options: &Options) -> Result<MachFunc<Self>, AllocError>;
}

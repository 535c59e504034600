//! Errors of layout.

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::MAX_REGISTERS;
use halfbyte_isa::row::EncodeError;
use halfbyte_isa::vp1::BundleError;
use halfbyte_isa::vp1::domain::Unknown;
use halfbyte_isel::vcode::BlockIndex;
use thiserror::Error;

/// Error of instructions that cannot be combined to one operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum OpError {
    /// The instructions cannot share a bundle.
    #[error("the instructions cannot be in one bundle: {0}")]
    Bundle(#[from] BundleError),
    /// The effect of an instruction with this encoding is not known.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Error of layout: an invariant of selection or allocation is broken, or a limit of the target is exceeded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The function belongs to another backend.
    #[error("internal error: the function belongs to another backend")]
    Backend,
    /// An instruction cannot be encoded.
    #[error("kernel `{kernel}`: {opcode} cannot be encoded: {error}")]
    Invalid {
        /// Name of the kernel.
        kernel: String,
        /// Opcode of the instruction.
        opcode: &'static str,
        /// Reason why encoding fails.
        error: EncodeError,
        /// Source location of the instruction.
        loc: Loc,
    },
    /// A branch lacks its target, or another instruction has one.
    #[error("kernel `{kernel}`: {opcode} {}", if *.expected { "has no branch target" } else { "cannot have a branch target" })]
    Target {
        /// Name of the kernel.
        kernel: String,
        /// Opcode of the instruction.
        opcode: &'static str,
        /// `true` if the instruction needs a target.
        expected: bool,
        /// Source location of the instruction.
        loc: Loc,
    },
    /// A branch to a block that does not exist.
    #[error("kernel `{kernel}`: branch to block {block}, but there are only {blocks} blocks")]
    Block {
        /// Name of the kernel.
        kernel: String,
        /// Target of the branch.
        block: BlockIndex,
        /// The number of blocks.
        blocks: usize,
    },
    /// The distance of a branch exceeds the range of its field.
    #[error("kernel `{kernel}` is too long: {words} words, but a branch reaches at most {limit}")]
    TooLong {
        /// Name of the kernel.
        kernel: String,
        /// Number of instruction words of the kernel.
        words: usize,
        /// Maximum number of instruction words.
        limit: usize,
    },
    /// The kernel needs more registers than PTX may declare.
    #[error("kernel `{kernel}` needs more than {MAX_REGISTERS} registers")]
    Registers {
        /// Name of the kernel.
        kernel: String,
    },
    /// The instructions cannot share a bundle, or the effect of one is unknown.
    #[error("kernel `{kernel}`: {error}")]
    Operation {
        /// Name of the kernel.
        kernel: String,
        /// Reason of the failure.
        error: OpError,
        /// Source location of the instructions.
        loc: Loc,
    },
    /// An instruction is a call or a return, or a branch or exit that is not at the end of its block.
    #[error("kernel `{kernel}`: {opcode} is not allowed here: branches and exits must end a block")]
    Control {
        /// Name of the kernel.
        kernel: String,
        /// Opcode of the instruction.
        opcode: &'static str,
        /// Source location of the instruction.
        loc: Loc,
    },
    /// The instruction words decode into bundles that differ from the bundles of the scheduler.
    #[error("internal error: kernel `{kernel}`: the bundle at word {word} differs from the schedule")]
    Bundle {
        /// Name of the kernel.
        kernel: String,
        /// Address of the planned bundle's first word.
        word: usize,
    },
}

impl LayoutError {
    /// Returns `true` if a valid kernel exceeds a limit of the target.
    pub const fn is_limit(&self) -> bool {
        matches!(self, LayoutError::TooLong { .. } | LayoutError::Registers { .. })
    }
}

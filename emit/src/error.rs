//! Why a machine function has no words.

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::MAX_REGISTERS;
use halfbyte_isa::row::EncodeError;
use halfbyte_isa::vp1::BundleError;
use halfbyte_isa::vp1::domain::Unknown;
use halfbyte_isel::vcode::BlockIndex;
use thiserror::Error;

/// Why instructions are no operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum OpError {
    /// They cannot be one bundle.
    #[error("the instructions cannot be in one bundle: {0}")]
    Bundle(#[from] BundleError),
    /// The effect of one is not known.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Why a machine function has no words: it is not one that selection and allocation should have made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A function of another backend's.
    #[error("the function is of another instruction set than what lays it out")]
    Backend,
    /// An instruction that no word decodes to.
    #[error("kernel `{kernel}`: {opcode} is not encodable: {error}")]
    Invalid {
        /// The kernel.
        kernel: String,
        /// The instruction.
        opcode: &'static str,
        /// What is wrong with it.
        error: EncodeError,
        /// Its source.
        loc: Loc,
    },
    /// A target on an instruction that takes none, or a branch without one.
    #[error("kernel `{kernel}`: {opcode} {}", if *.expected { "has no target" } else { "takes no target" })]
    Target {
        /// The kernel.
        kernel: String,
        /// The instruction.
        opcode: &'static str,
        /// Whether it takes a target.
        expected: bool,
        /// Its source.
        loc: Loc,
    },
    /// A branch to a block that is not there.
    #[error("kernel `{kernel}`: branch to block {block}; there are {blocks}")]
    Block {
        /// The kernel.
        kernel: String,
        /// The target.
        block: BlockIndex,
        /// The number of blocks.
        blocks: usize,
    },
    /// More words than a branch can cross.
    #[error("kernel `{kernel}` has {words} words; a branch crosses at most {limit}")]
    TooLong {
        /// The kernel.
        kernel: String,
        /// Its words.
        words: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More registers than a kernel of PTX may declare.
    #[error("kernel `{kernel}` has more than {MAX_REGISTERS} registers")]
    Registers {
        /// The kernel.
        kernel: String,
    },
    /// Instructions that cannot be in one bundle, or whose effect is not known.
    #[error("kernel `{kernel}`: {error}")]
    Operation {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        error: OpError,
        /// Their source.
        loc: Loc,
    },
    /// A call or a return, or a branch or exit before the end of its block.
    #[error("kernel `{kernel}`: {opcode} is not one of the branches or the exit at the end of a block")]
    Control {
        /// The kernel.
        kernel: String,
        /// The instruction.
        opcode: &'static str,
        /// Its source.
        loc: Loc,
    },
    /// The words group into other bundles than those that were planned.
    #[error("kernel `{kernel}`: the bundle at word {word} is not the one that was planned")]
    Bundle {
        /// The kernel.
        kernel: String,
        /// Where the planned bundle begins.
        word: usize,
    },
}

impl LayoutError {
    /// Whether the kernel asks for more than there is, and nothing is wrong with it.
    pub const fn is_limit(&self) -> bool {
        matches!(self, LayoutError::TooLong { .. } | LayoutError::Registers { .. })
    }
}

//! Register allocation: from [`VCode`] to a [`MachFunc`].
//!
//! regalloc2 does the allocation, and only this module depends on regalloc2. regalloc2 has no
//! register pairs or quads, no file of 255 registers, and no files of four registers that cannot be
//! spilled. So each machine maps its registers to regalloc2 in its own way: `halu`, `vp1`, and
//! [`Uniform`] for external machines with interchangeable registers.
//!
//! The machines share the view of the code for regalloc2, the checks before allocation, and a fast
//! path for code without spills and splits (`adapter::direct`).

mod adapter;
mod allocate;
mod flow;
mod halu;
mod list_of_lists;
mod liveness;
mod ptx;
mod rewrite;
mod uniform;
mod verify;
mod vp1;
mod webs;

use halfbyte_abi::MAX_LOCAL_BYTES;
use halfbyte_abi::{Exceeded, Watchdog};
use halfbyte_isa::row::RegFile;
use halfbyte_isa::stream::MAX_FRAME_BYTES;
use halfbyte_isa::word::Field;
use thiserror::Error;

use crate::mach::MachFunc;
use crate::vcode::{BlockIndex, VCode, VReg};
use adapter::AllocationRun;
pub use allocate::Allocate;
use flow::Flow;
use liveness::Liveness;
pub use uniform::SingleRegisterFile;
use verify::{DefsAndUses, verify};

/// Options of register allocation.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Lets regalloc2 validate its input and check its own result. The checks cost more than the
    /// allocation itself.
    pub check: bool,
    /// Resource limits and cancellation, if any.
    pub watchdog: Option<&'a Watchdog>,
}

impl Default for Options<'_> {
    /// Enables checks if debug assertions are enabled.
    fn default() -> Self {
        Options { check: cfg!(debug_assertions), watchdog: None }
    }
}

/// Reason why code cannot be allocated. All variants except [`AllocError::LocalMemory`],
/// [`AllocError::Frame`], [`AllocError::Pressure`] and [`AllocError::TooLarge`] are defects of the
/// producer of the code. Instructions are identified by their index in [`VCode::insts`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum AllocError {
    /// Register with two definitions.
    #[error("{0:?} is defined more than once")]
    Redefined(VReg),
    /// Use that no definition reaches.
    #[error("{0:?} is used where it is not defined")]
    Undefined(VReg),
    /// Operand that does not fit its field: wrong file, role, width, part, or class of the replaced
    /// register.
    #[error("instruction {inst} has an invalid operand at {field:?}")]
    Operand {
        /// Index of the instruction.
        inst: u32,
        /// Field of the operand.
        field: Field,
    },
    /// Register field that needs an operand but has none.
    #[error("instruction {inst} has no operand at {field:?}")]
    Missing {
        /// Index of the instruction.
        inst: u32,
        /// The field.
        field: Field,
    },
    /// Instruction that does not accept its operands.
    #[error("instruction {0} does not accept its operands")]
    Unfit(u32),
    /// Instruction whose operands are outside the list of operands.
    #[error("instruction {0} has operands outside the list")]
    Operands(u32),
    /// Replacing operand that comes too late in its instruction.
    #[error("{0:?} replaces another register but comes after 31 operands")]
    Replace(VReg),
    /// PTX instruction whose modifiers, guard or operands do not match its row.
    #[error("instruction {inst} ({name}) does not match its row")]
    Inst {
        /// Index of the instruction.
        inst: u32,
        /// Opcode name.
        name: &'static str,
    },
    /// P2R or R2P, which access predicates by number.
    #[error("instruction {0} touches predicates that are not among its operands")]
    AllPreds(u32),
    /// Empty bundle, or a bundle of instructions that cannot execute together.
    #[error("instruction {0} is not a valid bundle")]
    Bundle(u32),
    /// Read of `$va` by an instruction that does not directly follow the one that wrote the value.
    #[error("instruction {0} reads $va, but the previous instruction does not write it")]
    Accumulator(u32),
    /// Block that does not exist, or whose instructions are out of range.
    #[error("block {0} is not in the code, or not all of its instructions are")]
    Block(BlockIndex),
    /// Block parameters that do not match the arguments of the edges.
    #[error("the edges of block {0} pass arguments that do not match the parameters")]
    Arguments(BlockIndex),
    /// Block whose branch is not a branch, or has invalid operands.
    #[error("block {0} ends in an invalid branch")]
    Branch(BlockIndex),
    /// Critical edge: from a block with several successors to a block with several predecessors.
    #[error("the edge from block {from} to block {to} is critical")]
    CriticalEdge {
        /// Source block.
        from: BlockIndex,
        /// Target block.
        to: BlockIndex,
    },
    /// Code with more instructions or registers than the allocator can number, or an instruction
    /// with too many registers.
    #[error("the code is too large to allocate")]
    TooLarge,
    /// Spills that need more local memory than an item can have.
    #[error("spilled registers take {0} bytes of local memory; at most {MAX_LOCAL_BYTES} are possible")]
    LocalMemory(u64),
    /// Spills and an image that together need more of VP1's data store than an immediate can
    /// address.
    #[error(
        "the image takes {image} bytes and spilled registers {spilled}; together at most {MAX_FRAME_BYTES} are possible"
    )]
    Frame {
        /// Size of the image in bytes.
        image: usize,
        /// Size of the spill slots in bytes.
        spilled: u64,
    },
    /// Register pressure beyond the registers and the spill memory. This error is detected before
    /// allocation.
    #[error(
        "{live} registers are live at once, of which there are {registers}; the others take at least {bytes} bytes of memory, \
         and there are {most} for them"
    )]
    Pressure {
        /// Number of live registers.
        live: u32,
        /// Number of available registers.
        registers: u32,
        /// Bytes of memory that the excess needs.
        bytes: u64,
        /// Bytes of memory that are available.
        most: u64,
    },
    /// Flags that need more registers than there are. Flags cannot be moved or spilled.
    #[error("no {} is left for {reg:?} in block {block}, and flags cannot be moved or saved", file.prefix())]
    Flags {
        /// Register file of the flags: `$c` or `$vc`.
        file: RegFile,
        /// The virtual register.
        reg: VReg,
        /// Block in which the flags are defined or passed.
        block: BlockIndex,
    },
    /// Invalid allocation, which is a defect of regalloc2 or of this module.
    #[error("the allocation is wrong: {0}")]
    Unsound(String),
    /// Register file that cannot be allocated.
    #[error("{registers} registers of {bytes} bytes cannot be allocated: there may be 1 to 64, of 4, 8 or 16 bytes")]
    File {
        /// Number of registers.
        registers: u32,
        /// Bytes per register.
        bytes: u32,
    },
    /// Allocation that was cancelled or exceeded a limit.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

impl AllocError {
    /// Returns `true` if the code is valid but exceeds a limit.
    pub const fn is_limit(&self) -> bool {
        use AllocError::{Frame, LocalMemory, Pressure, TooLarge};
        matches!(self, LocalMemory(_) | Frame { .. } | Pressure { .. } | TooLarge)
    }
}

/// Register allocator, which reuses its memory from one function to the next.
#[derive(Default)]
pub struct Allocator {
    flow: Flow,
    sites: DefsAndUses,
    liveness: Liveness,
    main: AllocationRun,
    preds: AllocationRun,
}

impl Allocator {
    /// Creates an allocator that always uses a single linear pass. Other allocators use it only if
    /// too many registers would spill, because it generates worse code.
    pub fn linear() -> Allocator {
        let mut allocator = Allocator::default();
        (allocator.main.is_linear, allocator.preds.is_linear) = (true, true);
        allocator
    }

    /// Returns `true` if the fast path made the last allocation, predicates aside. The result does
    /// not show which allocator ran. Public for `tests/regalloc_fast_path.rs`.
    #[doc(hidden)]
    pub fn took_fast_path(&self) -> bool {
        self.main.is_direct()
    }

    /// Assigns hardware registers and spill slots to the virtual registers, and writes the register
    /// numbers into the instructions.
    ///
    /// # Errors
    /// Fails if the code breaks an invariant of [`VCode`], is too large, or needs more registers
    /// and memory than there are.
    pub fn allocate<M: Allocate>(&mut self, code: VCode<M>, options: &Options<'_>) -> Result<MachFunc<M>, AllocError> {
        self.flow.read(&code)?;
        verify(&code, &self.flow, &mut self.sites)?;
        self.liveness.compute(&self.flow, &mut self.sites)?;
        if let Some(watchdog) = options.watchdog {
            watchdog.poll()?;
            let [live] = self.liveness.pressure(&code, &self.flow, |_, _: &[u32; 1]| Some(0));
            let exceeded = |found, limit| Exceeded::LiveValues { found, limit };
            watchdog.check(live.into(), watchdog.limits().live_values, exceeded)?;
        }
        M::allocate(self, code, options)
    }
}

/// Allocates the registers of one function; see [`Allocator::allocate`].
///
/// # Errors
/// Fails if the code breaks an invariant of [`VCode`], is too large, or needs more registers and
/// memory than there are.
pub fn allocate<M: Allocate>(code: VCode<M>, options: &Options<'_>) -> Result<MachFunc<M>, AllocError> {
    Allocator::default().allocate(code, options)
}

//! Register allocation: from [`VCode`] to a [`MachFunc`].
//!
//! regalloc2 allocates the registers, and only this module depends on regalloc2. regalloc2 has no
//! register pairs or quads, no register file of 255 registers, and no registers that cannot be
//! spilled. So each machine has its own mapping of its registers to registers of regalloc2: `halu`,
//! `vp1`, and [`SingleRegisterFile`] for external machines with interchangeable registers.
//!
//! The machines share the interface to regalloc2, the checks before allocation, and a fast path for
//! code that needs no spills (`adapter::direct`).

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
    /// `true` if regalloc2 validates its input and its own result. The checks take longer than the allocation itself.
    pub check: bool,
    /// Limits of time and memory, and cancellation, if any.
    pub watchdog: Option<&'a Watchdog>,
}

impl Default for Options<'_> {
    /// Returns options without a watchdog. Checks are enabled if debug assertions are enabled.
    fn default() -> Self {
        Options { check: cfg!(debug_assertions), watchdog: None }
    }
}

/// Reason why the registers of some code cannot be allocated. [`AllocError::LocalMemory`], [`AllocError::Frame`],
/// [`AllocError::Pressure`] and [`AllocError::TooLarge`] are limits. All other variants are defects of the program that
/// built the code. An instruction is identified by its index in [`VCode::insts`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum AllocError {
    /// A virtual register has two definitions.
    #[error("{0:?} is defined more than once")]
    Redefined(VReg),
    /// A virtual register is used where no definition reaches the use.
    #[error("{0:?} is used where no definition reaches the use")]
    Undefined(VReg),
    /// An operand does not fit its instruction field: wrong register file, role, width or part, or
    /// an in-place update of a register of another class.
    #[error("instruction {inst} has an invalid operand at {field:?}")]
    Operand {
        /// Index of the instruction.
        inst: u32,
        /// Field of the operand.
        field: Field,
    },
    /// A register field needs an operand but has none.
    #[error("instruction {inst} has no operand at {field:?}")]
    Missing {
        /// Index of the instruction.
        inst: u32,
        /// Field without an operand.
        field: Field,
    },
    /// An instruction does not accept its operands.
    #[error("instruction {0} does not accept its operands")]
    Unfit(u32),
    /// The operand range of an instruction is outside the list of operands.
    #[error("instruction {0} has operands outside the list of operands")]
    Operands(u32),
    /// An in-place update of a register is not among the first operands of its instruction.
    #[error("{0:?} replaces another register but comes after 31 operands")]
    Replace(VReg),
    /// The modifiers, guard or operands of a PTX instruction do not match its description.
    #[error("instruction {inst} ({name}) does not match the description of `{name}`")]
    Inst {
        /// Index of the instruction.
        inst: u32,
        /// Opcode name.
        name: &'static str,
    },
    /// P2R or R2P, which access predicates by number, cannot be allocated.
    #[error("instruction {0} accesses predicates that are not among its operands")]
    AllPreds(u32),
    /// A VP1 bundle is empty, or its instructions cannot execute together.
    #[error("instruction {0} is not a valid bundle")]
    Bundle(u32),
    /// An instruction reads `$va`, but the instruction before it does not write `$va`.
    #[error("instruction {0} reads $va, but the previous instruction does not write it")]
    Accumulator(u32),
    /// A block does not exist, or its instructions are out of range.
    #[error("block {0} does not exist, or its instructions are out of range")]
    Block(BlockIndex),
    /// A block has invalid parameters, or passes arguments that do not match the parameters of a successor.
    #[error("block {0} has invalid parameters, or passes arguments that do not match the parameters of a successor")]
    Arguments(BlockIndex),
    /// The branch of a block is not a branch instruction, or has invalid operands.
    #[error("block {0} ends in an invalid branch")]
    Branch(BlockIndex),
    /// An edge is critical: it leads from a block with several successors to a block with several predecessors.
    #[error("the edge from block {from} to block {to} is critical")]
    CriticalEdge {
        /// Source block.
        from: BlockIndex,
        /// Target block.
        to: BlockIndex,
    },
    /// The code has more instructions or registers than the allocator can number, or an instruction
    /// has too many registers.
    #[error("the code is too large to allocate")]
    TooLarge,
    /// Spilled registers need more local memory than an item can have.
    #[error("spilled registers take {0} bytes of local memory; the maximum is {MAX_LOCAL_BYTES} bytes")]
    LocalMemory(u64),
    /// The data image and spilled registers need more of VP1's data store than an immediate can address.
    #[error(
        "the data image takes {image} bytes, and spilled registers take {spilled} bytes; the maximum is {MAX_FRAME_BYTES} bytes together"
    )]
    Frame {
        /// Size of the data image in bytes.
        image: usize,
        /// Size of the spill slots in bytes.
        spilled: u64,
    },
    /// More registers are live at once than fit the registers and the memory for spills. This error
    /// is detected before allocation.
    #[error(
        "{live} registers are live at once, but there are {registers}; spills need at least {bytes} bytes of memory, and \
         {most} are available"
    )]
    Pressure {
        /// Number of live registers.
        live: u32,
        /// Number of available registers.
        registers: u32,
        /// Bytes of memory that the values without a register need at least.
        bytes: u64,
        /// Bytes of memory that are available for spills.
        most: u64,
    },
    /// More flags are live at once than there are registers for flags. Flags cannot be moved or spilled.
    #[error("block {block} needs more `{}` registers than there are, and flags cannot be spilled", file.prefix())]
    Flags {
        /// Register file of the flags: `$c` or `$vc`.
        file: RegFile,
        /// Virtual register that found no free flags register.
        reg: VReg,
        /// Block that defines the flags or passes them to its successor.
        block: BlockIndex,
    },
    /// The computed allocation is invalid. This is a defect of regalloc2 or of this module.
    #[error("internal error: invalid register allocation: {0}")]
    Unsound(String),
    /// The register file of a machine cannot be allocated.
    #[error("{registers} registers of {bytes} bytes cannot be allocated: there may be 1 to 64, of 4, 8 or 16 bytes")]
    File {
        /// Number of registers.
        registers: u32,
        /// Size of a register in bytes.
        bytes: u32,
    },
    /// Allocation was cancelled or exceeded a limit of the watchdog.
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
    /// Creates an allocator that always uses regalloc2's linear algorithm. Other allocators use
    /// this algorithm only if too many registers would spill, because it generates worse code.
    pub fn linear() -> Allocator {
        let mut allocator = Allocator::default();
        (allocator.main.is_linear, allocator.preds.is_linear) = (true, true);
        allocator
    }

    /// Returns `true` if the last allocation took the fast path. A separate run for predicates does not count. Public
    /// only for `tests/regalloc_fast_path.rs`, because the allocated code does not show which allocator ran.
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
/// Fails if the code breaks an invariant of [`VCode`], is too large, or needs more registers and memory than there are.
pub fn allocate<M: Allocate>(code: VCode<M>, options: &Options<'_>) -> Result<MachFunc<M>, AllocError> {
    Allocator::default().allocate(code, options)
}

//! Register allocation: from [`VCode`] to a [`MachFunc`].
//!
//! regalloc2 does it, and only this module knows of it. It has no notion of pairs and quads, of a file of 255 registers, or
//! of files of four that nothing can be saved from, so each machine has its own way to put its registers to it: `halu`,
//! `vp1`, and [`Uniform`] for machines of others, whose registers are all alike. What they share is the code as regalloc2 sees it, the checks before it sees any, and a shorter way to its result
//! where nothing is spilled, split or moved (`adapter::direct`).

mod adapter;
mod allocate;
mod flow;
mod halu;
mod liveness;
mod ptx;
mod ragged;
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
use adapter::Run;
pub use allocate::Allocate;
use flow::Flow;
use liveness::Liveness;
pub use uniform::Uniform;
use verify::{Sites, verify};

/// How to allocate.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Has regalloc2 check the code before and its own result after; costs more than the allocation itself.
    pub check: bool,
    /// The limits of the work, and what cancels it.
    pub watchdog: Option<&'a Watchdog>,
}

impl Default for Options<'_> {
    /// Checks where debug assertions are on.
    fn default() -> Self {
        Options { check: cfg!(debug_assertions), watchdog: None }
    }
}

/// Why code cannot be allocated. All but [`AllocError::LocalMemory`], [`AllocError::Frame`], [`AllocError::Pressure`] and
/// [`AllocError::TooLarge`] are defects of what made the code. Instructions are named by their index in [`VCode::insts`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum AllocError {
    /// A register has two definitions.
    #[error("{0:?} is defined more than once")]
    Redefined(VReg),
    /// A definition does not reach a use.
    #[error("{0:?} is used where it is not defined")]
    Undefined(VReg),
    /// An operand does not fit its place in the word: file, role, width, part, or the class of what it replaces.
    #[error("the operand at {field:?} of instruction {inst} does not belong there")]
    Operand {
        /// The instruction.
        inst: u32,
        /// The operand's place.
        field: Field,
    },
    /// A place for a register that is to be allocated has no operand.
    #[error("instruction {inst} has no operand at {field:?}")]
    Missing {
        /// The instruction.
        inst: u32,
        /// The place.
        field: Field,
    },
    /// An instruction does not take such operands.
    #[error("instruction {0} does not take its operands")]
    Unfit(u32),
    /// An instruction's operands are not in the list of operands.
    #[error("instruction {0} has operands outside the list")]
    Operands(u32),
    /// An operand replaces a register and comes too late in its instruction.
    #[error("{0:?} replaces another register but comes after 31 operands")]
    Replace(VReg),
    /// An instruction of PTX whose words, guard or operands are not those of its row.
    #[error("instruction {inst}, {name}, is not what its row says")]
    Inst {
        /// The instruction.
        inst: u32,
        /// Its opcode.
        name: &'static str,
    },
    /// P2R and R2P name predicates by number.
    #[error("instruction {0} touches predicates that are not among its operands")]
    AllPreds(u32),
    /// Two instructions cannot share a bundle, or there is none.
    #[error("instruction {0} is not what a bundle can hold")]
    Bundle(u32),
    /// `$va` is read by an instruction that does not come right after the one that made its value.
    #[error("instruction {0} reads $va, which the one before it does not write")]
    Accumulator(u32),
    /// A block, or some of its instructions, are not there.
    #[error("block {0} is not in the code, or not all of its instructions are")]
    Block(BlockIndex),
    /// A block's parameters, or what its edges pass, do not fit.
    #[error("block {0} has other parameters than arguments")]
    Arguments(BlockIndex),
    /// A block's branch cannot be one, or has operands that do not belong there.
    #[error("block {0} does not end in a branch that reads what it may")]
    Branch(BlockIndex),
    /// An edge from a block with several successors to one with several predecessors.
    #[error("the edge from block {from} to block {to} is critical")]
    CriticalEdge {
        /// From.
        from: BlockIndex,
        /// To.
        to: BlockIndex,
    },
    /// More code, or more registers in one instruction, than the allocator can name.
    #[error("the code is too large to allocate")]
    TooLarge,
    /// Spilled registers need more local memory than an item can have.
    #[error("spilled registers take {0} bytes of local memory; at most {MAX_LOCAL_BYTES} are possible")]
    LocalMemory(u64),
    /// Spilled registers and the image need more of VP1's data store than an immediate reaches.
    #[error(
        "the image takes {image} bytes and spilled registers {spilled}; together at most {MAX_FRAME_BYTES} are possible"
    )]
    Frame {
        /// Bytes of the image.
        image: usize,
        /// Bytes of spilled registers.
        spilled: u64,
    },
    /// More is live at once than registers and memory hold; known before registers are allocated.
    #[error(
        "{live} registers are live at once, of which there are {registers}; the others take at least {bytes} bytes of memory, \
         and there are {most} for them"
    )]
    Pressure {
        /// Registers that are live.
        live: u32,
        /// Registers that there are.
        registers: u32,
        /// Bytes that the others take.
        bytes: u64,
        /// Bytes that they may take.
        most: u64,
    },
    /// Flags have to stay in their registers, which do not suffice.
    #[error("no {} is left for {reg:?} in block {block}, and flags cannot be moved or saved", file.prefix())]
    Flags {
        /// `$c` or `$vc`.
        file: RegFile,
        /// The flags.
        reg: VReg,
        /// Where they are defined or passed.
        block: BlockIndex,
    },
    /// The allocation is wrong: a defect of regalloc2 or of this module.
    #[error("the allocation is wrong: {0}")]
    Unsound(String),
    /// A machine's file is one that cannot be allocated.
    #[error("{registers} registers of {bytes} bytes cannot be allocated: there may be 1 to 64, of 4, 8 or 16 bytes")]
    File {
        /// How many registers.
        registers: u32,
        /// Bytes of one.
        bytes: u32,
    },
    /// It was ended early.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

impl AllocError {
    /// Whether the code asks for more than there is, and nothing is wrong with it.
    pub const fn is_limit(&self) -> bool {
        use AllocError::{Frame, LocalMemory, Pressure, TooLarge};
        matches!(self, LocalMemory(_) | Frame { .. } | Pressure { .. } | TooLarge)
    }
}

/// Allocates registers; keeps its memory from one function to the next.
#[derive(Default)]
pub struct Allocator {
    flow: Flow,
    sites: Sites,
    liveness: Liveness,
    main: Run,
    preds: Run,
}

impl Allocator {
    /// One that goes through the code of whatever size once. Other allocators do so where too much would have to be spilled;
    /// what they make of less is better.
    pub fn linear() -> Allocator {
        let mut allocator = Allocator::default();
        (allocator.main.is_linear, allocator.preds.is_linear) = (true, true);
        allocator
    }

    /// Gives every virtual register a place and writes the hardware registers into the words.
    ///
    /// # Errors
    /// Code that breaks the rules of [`VCode`], that is too large, or whose registers have no room.
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
/// Code that breaks the rules of [`VCode`], that is too large, or whose registers have no room.
pub fn allocate<M: Allocate>(code: VCode<M>, options: &Options<'_>) -> Result<MachFunc<M>, AllocError> {
    Allocator::default().allocate(code, options)
}

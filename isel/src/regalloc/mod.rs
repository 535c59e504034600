//! Register allocation: from [`VCode`] to a [`MachFunc`].
//!
//! regalloc2 does it, and only this module knows of it. It has no notion of pairs, quads or a file of 255 registers, so what
//! it allocates are slots ([`banks`]), which get hardware numbers afterwards ([`slots`]). A run allocates predicates and
//! general registers together where their banks are three at most, else there is one run for each. A frugal offer of
//! registers is tried first; if they do not suffice, all of them.
//!
//! Spilled registers lie in the item's local memory. A predicate gets there by way of a general register that is kept for
//! that once there are spilled predicates.

mod adapter;
mod banks;
mod flow;
mod liveness;
mod ragged;
mod rewrite;
mod slots;
mod verify;

use halfbyte_isa::abi::MAX_LOCAL_BYTES;
use halfbyte_isa::word::Field;
use thiserror::Error;

use crate::mach::{BlockIndex, MachFunc};
use crate::vcode::{VCode, VReg};
use adapter::Run;
use banks::Effort;
use flow::Flow;
use liveness::Liveness;
use rewrite::{Part, rewrite};
use verify::{Site, verify};

/// How to allocate.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Has regalloc2 check the code before and its own result after; costs more than the allocation itself.
    pub check: bool,
}

impl Default for Options {
    /// Checks where debug assertions are on.
    fn default() -> Options {
        Options { check: cfg!(debug_assertions) }
    }
}

/// Why code cannot be allocated. All but [`AllocError::LocalMemory`] and [`AllocError::TooLarge`] are defects of what made the
/// code. Instructions are named by their index in [`VCode::insts`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
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
    /// An instruction's operands are not in the list of operands.
    #[error("instruction {0} has operands outside the list")]
    Operands(u32),
    /// An operand replaces a register and comes too late in its instruction.
    #[error("{0:?} replaces another register but comes after 31 operands")]
    Replace(VReg),
    /// P2R and R2P name predicates by number.
    #[error("instruction {0} touches predicates that are not among its operands")]
    AllPreds(u32),
    /// A block, or some of its instructions, are not there.
    #[error("block {0} is not in the code, or not all of its instructions are")]
    Block(BlockIndex),
    /// A block's parameters, or what its edges and its branch pass, do not fit.
    #[error("block {0} has other parameters than arguments, or no predicate to branch by")]
    Arguments(BlockIndex),
    /// An edge from a block with several ways out to one with several ways in.
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
    /// The allocation is wrong: a defect of regalloc2 or of this module.
    #[error("the allocation is wrong: {0}")]
    Unsound(String),
}

/// Allocates registers; keeps its memory from one function to the next.
#[derive(Default)]
pub struct Allocator {
    flow: Flow,
    sites: Vec<Site>,
    liveness: Liveness,
    main: Run,
    preds: Run,
}

impl Allocator {
    /// Gives every virtual register a place and writes the hardware registers into the words.
    ///
    /// # Errors
    /// Code that breaks the rules of [`VCode`], or that is too large.
    pub fn allocate(&mut self, code: VCode, options: &Options) -> Result<MachFunc, AllocError> {
        let Allocator { flow, sites, liveness, main, preds } = self;
        flow.read(&code)?;
        verify(&code, flow, sites)?;
        liveness.compute(&code, flow, sites)?;

        let mut plan = banks::plan(&code, flow, liveness, Effort::Frugal);
        main.allocate(&code, flow, &plan.main, options)?;
        if main.spills_registers() {
            plan = banks::plan(&code, flow, liveness, Effort::Full);
            main.allocate(&code, flow, &plan.main, options)?;
        }
        let main = Part::new(main, &plan.main);
        match &plan.preds {
            None => rewrite(code, flow, &mut [main]),
            Some(assignment) => {
                preds.allocate(&code, flow, assignment, options)?;
                rewrite(code, flow, &mut [main, Part::new(preds, assignment)])
            }
        }
    }
}

/// Allocates the registers of one function; see [`Allocator::allocate`].
///
/// # Errors
/// Code that breaks the rules of [`VCode`], or that is too large.
pub fn allocate(code: VCode, options: &Options) -> Result<MachFunc, AllocError> {
    Allocator::default().allocate(code, options)
}

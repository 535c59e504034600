//! All compiler stages of one kernel for one target.

use std::collections::BTreeMap;

use halfbyte::pipeline::Stats;
use halfbyte_abi::Target;
use halfbyte_ir::ConvergenceScope;

use super::decisions::CodeReasons;
use super::lifetimes::Lifetimes;
use super::model::{Line, Origin, Snapshot};
use super::slots::Slots;

/// All compilation stages of a kernel for one target.
pub(super) struct View {
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The target for which the kernel is compiled.
    pub target: Target,
    /// The collective operations by their source positions, each with the group of items that synchronise.
    pub meets: BTreeMap<Origin, ConvergenceScope>,
    /// The source text of the kernel.
    pub text: Vec<Line>,
    /// The kernel after parsing, and after each pass that changed it.
    pub passes: Vec<Snapshot>,
    /// The machine instructions on virtual registers, after selection.
    pub selected: Vec<Line>,
    /// The machine instructions on hardware registers, after register allocation.
    pub allocated: Vec<Line>,
    /// The machine code.
    pub words: Vec<Line>,
    /// The reasons for each instruction.
    pub why: CodeReasons,
    /// The chart of the live ranges of registers, after register allocation.
    pub lifetimes: Lifetimes,
    /// The chart of bundles; `None` if the target has no bundles.
    pub slots: Option<Slots>,
    /// The statistics of the compilation.
    pub stats: Stats,
}

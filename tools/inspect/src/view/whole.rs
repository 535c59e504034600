//! The complete view of a kernel.

use std::collections::BTreeMap;

use halfbyte::pipeline::Stats;
use halfbyte_abi::Target;
use halfbyte_ir::ConvergenceScope;

use super::decisions::Why;
use super::lifetimes::Lifetimes;
use super::model::{Line, Origin, Snapshot};
use super::slots::Slots;

/// All compilation stages of a kernel for one target.
pub(super) struct View {
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The target.
    pub target: Target,
    /// The collective operations, each with the group of items that synchronise.
    pub meets: BTreeMap<Origin, ConvergenceScope>,
    /// The source text of the kernel.
    pub text: Vec<Line>,
    /// The kernel as read, and after each pass that changed it.
    pub passes: Vec<Snapshot>,
    /// Instructions on virtual registers.
    pub selected: Vec<Line>,
    /// Instructions on hardware registers.
    pub allocated: Vec<Line>,
    /// The machine code.
    pub words: Vec<Line>,
    /// The reasons for each instruction.
    pub why: Why,
    /// The lifetimes of registers in the allocated code.
    pub lifetimes: Lifetimes,
    /// The chart of bundles, if the target has bundles.
    pub slots: Option<Slots>,
    /// The statistics of the compilation.
    pub stats: Stats,
}

//! All that the page shows of a kernel.

use std::collections::BTreeMap;

use halfbyte::pipeline::Stats;
use halfbyte_abi::Target;
use halfbyte_ir::Party;

use super::lifetimes::Lifetimes;
use super::model::{Line, Origin, Snapshot};
use super::slots::Slots;
use super::why::Why;

/// A kernel on its way to the words of one target.
pub(super) struct View {
    /// The kernel, without `@`.
    pub kernel: String,
    /// The target.
    pub target: Target,
    /// Where items meet, and which.
    pub meets: BTreeMap<Origin, Party>,
    /// The kernel in the text.
    pub text: Vec<Line>,
    /// The kernel as it was read and after each pass that changed it, the last of them after all.
    pub passes: Vec<Snapshot>,
    /// Instructions on virtual registers.
    pub selected: Vec<Line>,
    /// Instructions on hardware registers.
    pub allocated: Vec<Line>,
    /// Words.
    pub words: Vec<Line>,
    /// Why each instruction was made.
    pub why: Why,
    /// When registers of the allocated instructions hold what.
    pub lifetimes: Lifetimes,
    /// The units of bundles, where there are any.
    pub slots: Option<Slots>,
    /// Counts.
    pub stats: Stats,
}

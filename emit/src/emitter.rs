//! What emission is to everyone who does not care for which machine: the interface that each machine implements.

use std::fmt::{Debug, Write};

use halfbyte_isa::isa::Words;
use halfbyte_isa::object::{KernelInfo, Loc, Part};
use halfbyte_isel::AllocatedCode;

use crate::error::LayoutError;
use crate::stats::BlockStats;

/// Emission for the targets of an instruction set.
pub trait Emitter: Debug + Sync {
    /// Lays a machine function out, block after block: every instruction gets its address, and every branch its distance.
    ///
    /// # Errors
    /// A function of another backend's, or one that breaks the rules of its form.
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<Code, LayoutError>;

    /// Completes the first line of a listing, which says how many words there are, and adds lines about what a launch sets up.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_head(&self, out: &mut String, code: &Code) -> std::fmt::Result {
        writeln!(out, ", {} registers", code.info.registers)
    }

    /// The assembly of a kernel as listings show it: the line of a word begins with [`WORD`], unlike that of a label.
    fn lines(&self, code: &Code) -> String {
        code.words.disassemble()
    }
}

/// What the line of a word begins with, unlike that of a label.
pub const WORD: &str = "    ";

/// A kernel in words, as it stands in an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// What the loader must know besides the words.
    pub info: KernelInfo,
    /// The words in order. An address is an index here.
    pub words: Words,
    /// Where each word comes from.
    pub locs: Vec<Loc>,
    /// What words stand for that access more than one thing of the text, in the order of their addresses.
    pub parts: Vec<Part>,
    /// How dense the bundles of each block are; none where there are no bundles.
    pub stats: Vec<BlockStats>,
}

/// The function, where it is of that form.
pub(crate) fn own<C: AllocatedCode>(func: Box<dyn AllocatedCode>) -> Result<C, LayoutError> {
    func.downcast().map(|func| *func).ok_or(LayoutError::Backend)
}

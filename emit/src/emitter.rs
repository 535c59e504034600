//! The target-independent interface of emission.

use std::fmt::{Debug, Write};

use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::object::{KernelInfo, Loc, PartialAccess};
use halfbyte_isel::AllocatedCode;

use crate::error::LayoutError;
use crate::stats::BlockStats;

/// Emitter for the targets of an instruction set.
pub trait Emitter: Debug + Sync {
    /// Lays out a machine function block by block: assigns an address to each instruction and a
    /// distance to each branch.
    ///
    /// # Errors
    /// The function belongs to another backend, or it breaks an invariant of its machine IR.
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError>;

    /// Completes the first line of a listing after its word count, and appends lines about what a
    /// launch sets up.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_head(&self, out: &mut String, code: &KernelCode) -> std::fmt::Result {
        writeln!(out, ", {} registers", code.info.registers)
    }

    /// Returns the assembly of a kernel as listings show it. An instruction's line begins with
    /// [`WORD`]; a label's line does not.
    fn lines(&self, code: &KernelCode) -> String {
        code.words.disassemble()
    }
}

/// Indentation of an instruction's line, which a label's line lacks.
pub const WORD: &str = "    ";

/// Machine code of a kernel, as stored in an object file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCode {
    /// Launch information for the loader.
    pub info: KernelInfo,
    /// Instruction words in order. An address is an index into them.
    pub words: SharedCode,
    /// Source location of each word.
    pub locs: Vec<Loc>,
    /// Accesses of the source text that share a word with others, ordered by the word's address.
    pub parts: Vec<PartialAccess>,
    /// Bundle statistics per block; empty if the target has no bundles.
    pub stats: Vec<BlockStats>,
}

/// Downcasts a machine function to the emitter's own representation.
pub(crate) fn downcast<C: AllocatedCode>(func: Box<dyn AllocatedCode>) -> Result<C, LayoutError> {
    func.downcast().map(|func| *func).ok_or(LayoutError::Backend)
}

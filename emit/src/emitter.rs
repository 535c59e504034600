//! The target-independent interface of emission.

use std::fmt::{Debug, Write};

use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::object::{KernelInfo, Loc, PartialAccess};
use halfbyte_isel::AllocatedCode;

use crate::error::LayoutError;
use crate::stats::BlockStats;

/// Emitter of machine code for the targets of an instruction set.
pub trait Emitter: Debug + Sync {
    /// Lays out a machine function block by block: assigns an address to each instruction and a
    /// distance to each branch.
    ///
    /// # Errors
    /// The function belongs to another backend, or it breaks an invariant of its machine IR.
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError>;

    /// Writes the rest of a listing's first line, after the number of instruction words, and
    /// further lines about the preparations for a launch.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    fn write_head(&self, out: &mut String, code: &KernelCode) -> std::fmt::Result {
        writeln!(out, ", {} registers", code.info.registers)
    }

    /// Returns the assembly of a kernel as it appears in a listing. The line of an instruction
    /// begins with [`WORD`], the line of a label does not.
    fn lines(&self, code: &KernelCode) -> String {
        code.words.disassemble()
    }
}

/// Indentation of the line of an instruction. The line of a label has none.
pub const WORD: &str = "    ";

/// Machine code of a kernel, as stored in an object file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCode {
    /// Information that a launch needs.
    pub info: KernelInfo,
    /// Instruction words in order. The address of an instruction word is its index.
    pub words: SharedCode,
    /// Source location of each instruction word.
    pub locs: Vec<Loc>,
    /// Accesses of the source that were combined into one instruction word, ordered by the address of that word.
    pub parts: Vec<PartialAccess>,
    /// Bundle statistics of each block; empty if the target has no bundles.
    pub stats: Vec<BlockStats>,
}

/// Converts a machine function to the type of one backend, or fails if it belongs to another backend.
pub(crate) fn downcast<C: AllocatedCode>(func: Box<dyn AllocatedCode>) -> Result<C, LayoutError> {
    func.downcast().map(|func| *func).ok_or(LayoutError::Backend)
}

//! Assembly text, driven by the rows of an instruction set: [`reader`] turns a line into a word, [`printer`] a word into its
//! one canonical line. What an instruction looks like is said only by its row.

mod number;
pub mod printer;
pub(crate) mod program;
pub mod reader;
mod syntax;

use crate::row::EncodeError;
use std::fmt;
use std::ops::Range;
use thiserror::Error;

pub use number::FloatFormat;
pub use program::Program;
pub(crate) use syntax::spaced::{Names, tuple};
pub(crate) use syntax::split;
pub use syntax::{Code, Line, Piece, Statement, Syntax};

/// What is wrong with a line of assembly, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct AsmError {
    /// The line, from 1.
    pub line: usize,
    /// The offending bytes of the line; empty where something is missing.
    pub span: Range<usize>,
    /// The offending text.
    pub found: String,
    /// What is wrong with it, and what may stand there.
    pub kind: AsmErrorKind,
}

/// What is wrong with a piece of assembly text, and what may stand in its place.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum AsmErrorKind {
    /// Text that is no piece of any instruction.
    #[error("malformed {what}, expected {expected}")]
    Malformed {
        /// What it was read as.
        what: &'static str,
        /// What may stand there.
        expected: &'static str,
    },
    /// No row has the mnemonic.
    #[error("unknown instruction")]
    UnknownMnemonic,
    /// The modifier is none of the mnemonic's, or not at this place.
    #[error("{mnemonic} has no modifier of this name here{}", Allowed("; it takes ", ".", allowed))]
    UnknownModifier {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The modifiers that may stand there.
        allowed: Vec<&'static str>,
    },
    /// A second modifier of one kind.
    #[error("this kind of modifier is given twice{}", Allowed(": one of ", ".", allowed))]
    RepeatedModifier {
        /// The modifiers of the kind.
        allowed: Vec<&'static str>,
    },
    /// A modifier that must be written is not.
    #[error("{mnemonic} needs a modifier here{}", Allowed(": one of ", ".", allowed))]
    MissingModifier {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The modifiers of the kind.
        allowed: Vec<&'static str>,
    },
    /// An operand of another kind than any form of the mnemonic has there.
    #[error("{operand} must be {}", Allowed("", "", allowed))]
    Operand {
        /// The operand's name.
        operand: &'static str,
        /// The kinds that may stand there.
        allowed: Vec<&'static str>,
    },
    /// A second source that is no GPR.
    #[error("at most one source may come from outside the GPRs")]
    OutsideSources,
    /// A register number past the last register of its file.
    #[error("{allowed}")]
    Register {
        /// The registers of the file.
        allowed: &'static str,
    },
    /// A suffix that the operand does not take.
    #[error("{operand} has no such selector or mask, expected {allowed}")]
    Suffix {
        /// The operand's name.
        operand: &'static str,
        /// The suffixes it takes.
        allowed: String,
    },
    /// A number that its place cannot hold.
    #[error("{what} out of range: {allowed}")]
    Range {
        /// What the number is.
        what: &'static str,
        /// What it may be.
        allowed: String,
    },
    /// The line ends before the operand.
    #[error("too few operands: {operand} is missing")]
    TooFew {
        /// The first operand that is missing.
        operand: &'static str,
    },
    /// Operands after the last one.
    #[error("too many operands: {mnemonic} takes none here")]
    TooMany {
        /// The mnemonic.
        mnemonic: &'static str,
    },
    /// Two parts of the text give different values to bits that they share.
    #[error("another part of the line gives {field} another value")]
    Conflict {
        /// The bits.
        field: &'static str,
    },
    /// Each part is right and the whole is no instruction.
    #[error("{0}")]
    Encode(EncodeError),
    /// A branch to a label that no line defines.
    #[error("no such label")]
    UndefinedLabel,
    /// A label that an earlier line defines.
    #[error("this label is defined on line {first} already")]
    DuplicateLabel {
        /// The earlier line.
        first: usize,
    },
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() { write!(f, "{}", self.kind) } else { write!(f, "`{}`: {}", self.found, self.kind) }
    }
}

/// A list in an error: what goes before it, what before each item, and the items.
struct Allowed<'a>(&'static str, &'static str, &'a [&'static str]);

impl fmt::Display for Allowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Allowed(lead, mark, items) = self;
        for (i, item) in items.iter().enumerate() {
            let between = match i {
                0 => lead,
                _ if i + 1 == items.len() => " or ",
                _ => ", ",
            };
            write!(f, "{between}{mark}{item}")?;
        }
        Ok(())
    }
}

//! Assembly text, derived from the rows of an instruction set. [`reader`] parses a line to an
//! instruction word; [`printer`] prints an instruction word as its canonical line. The row of an
//! instruction completely defines its syntax.

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
pub use syntax::{Fragment, Line, LineBody, Statement, Syntax};

/// An error in a line of assembly, with its position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct AsmError {
    /// The line number, from 1.
    pub line: usize,
    /// The byte range of the error in the line; empty if a part of the line is missing.
    pub span: Range<usize>,
    /// The text in the range `span`.
    pub found: String,
    /// The kind of error, with the accepted alternatives.
    pub kind: AsmErrorKind,
}

/// The kind of an assembly error, with the accepted alternatives.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum AsmErrorKind {
    /// Malformed text.
    #[error("malformed {what}, expected {expected}")]
    Malformed {
        /// The expected syntactic element.
        what: &'static str,
        /// The accepted syntax.
        expected: &'static str,
    },
    /// The mnemonic is unknown.
    #[error("unknown instruction")]
    UnknownMnemonic,
    /// The mnemonic does not accept the modifier at this position.
    #[error("{mnemonic} does not accept this modifier here{}", Allowed("; it accepts ", ".", allowed))]
    UnknownModifier {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The modifiers that are accepted here.
        allowed: Vec<&'static str>,
    },
    /// Two modifiers of the same kind.
    #[error("this modifier conflicts with an earlier one{}", Allowed(": use only one of ", ".", allowed))]
    RepeatedModifier {
        /// The modifiers of that kind.
        allowed: Vec<&'static str>,
    },
    /// A mandatory modifier is missing.
    #[error("{mnemonic} needs a modifier here{}", Allowed(": one of ", ".", allowed))]
    MissingModifier {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The modifiers of that kind.
        allowed: Vec<&'static str>,
    },
    /// No row of the mnemonic accepts an operand of this kind at this position.
    #[error("{operand} must be {}", Allowed("", "", allowed))]
    Operand {
        /// The operand's name.
        operand: &'static str,
        /// The kinds that are accepted here.
        allowed: Vec<&'static str>,
    },
    /// A second source that is not a GPR.
    #[error("at most one source may be something other than a GPR")]
    TooManyNonGprSources,
    /// A register number past the last register of its file.
    #[error("{allowed}")]
    Register {
        /// The registers of the file.
        allowed: &'static str,
    },
    /// The operand does not accept the suffix.
    #[error("{operand} does not accept this suffix, expected {allowed}")]
    Suffix {
        /// The operand's name.
        operand: &'static str,
        /// The accepted suffixes.
        allowed: String,
    },
    /// A number that is out of range.
    #[error("{what} is out of range, expected {allowed}")]
    Range {
        /// The role of the number.
        what: &'static str,
        /// The valid range.
        allowed: String,
    },
    /// The line ends before a mandatory operand.
    #[error("too few operands: {operand} is missing")]
    TooFew {
        /// The first operand that is missing.
        operand: &'static str,
    },
    /// More operands than the instruction takes.
    #[error("too many operands for {mnemonic}")]
    TooMany {
        /// The mnemonic.
        mnemonic: &'static str,
    },
    /// Two parts of the line give different values for the same field.
    #[error("another part of the line sets {field} to a different value")]
    Conflict {
        /// The field's name.
        field: &'static str,
    },
    /// The modifiers and operands are valid, but their combination is not a valid instruction.
    #[error("{0}")]
    Encode(EncodeError),
    /// A branch to an undefined label.
    #[error("undefined label")]
    UndefinedLabel,
    /// A second definition of a label.
    #[error("the label is already defined on line {first}")]
    DuplicateLabel {
        /// The line of the first definition.
        first: usize,
    },
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() { write!(f, "{}", self.kind) } else { write!(f, "`{}`: {}", self.found, self.kind) }
    }
}

/// A formatted list of alternatives: the text before the list, the text before each item, and the items.
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

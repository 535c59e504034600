//! What can be wrong with a template.

use std::ops::Range;

use thiserror::Error;

use super::Template;
use crate::text::{AsmError, Piece};

/// Why a text is no template, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{kind}")]
pub struct TemplateError {
    /// The offending bytes of the text; empty where something is missing.
    pub span: Range<usize>,
    /// What is wrong.
    pub kind: TemplateErrorKind,
}

/// Why a text is no template.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// No word where one should be.
    #[error("an instruction is missing: `;` stands between bundles, `&` between the words of one")]
    Empty,
    /// A placeholder that stands for nothing: its name, and how many operands there are.
    #[error("`{0}` is no placeholder: `$d` is the result, {operands} `$t0`, `$t1`, ... are temporary", operands = operands(*.1))]
    Placeholder(String, usize),
    /// A register by name.
    #[error("register `{0}` cannot be named: use `$d`, `$0`, `$1`, ... and `$t0`, `$t1`, ...")]
    Register(String),
    /// A file of registers that a computation has no part in.
    #[error(
        "`{mnemonic}` is a move from or to `{file}`: an intrinsic computes with `$r`, `$v`, `$c`, `$vc` and `$va` only"
    )]
    Outside {
        /// The instruction.
        mnemonic: &'static str,
        /// What the names of the registers begin with.
        file: &'static str,
    },
    /// More values than there are registers.
    #[error("more than {max} values: the result, the operands and `$t0` to the last temporary", max = Template::MAX_VALUES)]
    TooMany,
    /// A word is no instruction. Its place is within the text.
    #[error("{0}")]
    Asm(AsmError),
    /// An instruction of another unit.
    #[error("`{0}` is for the address or the branch unit; an intrinsic only computes")]
    Unit(&'static str),
    /// An instruction that writes nothing.
    #[error("`{0}` has no effect")]
    Idle(&'static str),
    /// Words that share no bundle.
    #[error("a bundle has at most one word of the scalar and one of the vector unit, in this order")]
    Order,
    /// A placeholder where the instruction has registers of another file.
    #[error("`{0}` is in another register file")]
    File(String),
    /// An operand that is written.
    #[error("`{0}` is an operand, and cannot be written; copy it to a temporary")]
    Written(String),
    /// Two words of a bundle that write the same.
    #[error("`{0}` is written twice in one bundle")]
    Twice(String),
    /// A register that is read first.
    #[error("`{0}` is read, and no bundle before writes it")]
    Unwritten(String),
    /// `$va` that is read first, or after other bundles.
    #[error("`{0}` reads `$va`, which the bundle before it does not write")]
    Accumulator(&'static str),
    /// `$vx` is given a value beside other words.
    #[error("`mov $vx` stands for a store and a load: it takes one vector, and stands alone")]
    Extra,
    /// Flags are read that only other units write.
    #[error("flags of `{0}` are read that the scalar unit does not write")]
    Flags(String),
    /// A copy of all flags that is used otherwise than word by word.
    #[error("`{0}` holds all `$vc`, whose numbers are not known yet: only its words can be read, by `mov`")]
    AllFlags(String),
    /// A consumer without a producer.
    #[error("`{0}` takes what the scalar unit hands over, and no word of its bundle hands anything over")]
    Factors(&'static str),
    /// The result is not written.
    #[error("the result `$d` is not written")]
    NoResult,
    /// An operand is not read.
    #[error("operand `${0}` is not used")]
    Unused(usize),
}

fn operands(count: usize) -> String {
    match count {
        0 => String::from("there are no operands,"),
        1 => String::from("`$0` the operand,"),
        _ => format!("`$0` to `${}` the operands,", count - 1),
    }
}

impl TemplateErrorKind {
    /// The error at a piece of the text.
    pub(super) fn at(self, piece: Piece<'_>) -> TemplateError {
        TemplateError { span: piece.span(), kind: self }
    }
}

impl From<AsmError> for TemplateError {
    fn from(error: AsmError) -> TemplateError {
        TemplateError { span: error.span.clone(), kind: TemplateErrorKind::Asm(error) }
    }
}

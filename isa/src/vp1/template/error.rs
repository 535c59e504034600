//! Errors in templates.

use std::ops::Range;

use thiserror::Error;

use super::Template;
use crate::text::{AsmError, Fragment};

/// An error in a template, with its position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{kind}")]
pub struct TemplateError {
    /// The byte range of the error in the text; empty if a part of the text is missing.
    pub span: Range<usize>,
    /// The kind of error.
    pub kind: TemplateErrorKind,
}

/// The kind of a template error.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// Nothing in place of an instruction, for example between two `;`.
    #[error("missing instruction: `;` separates bundles and `&` separates the instructions of a bundle")]
    Empty,
    /// An invalid placeholder, and the number of operands.
    #[error("`{0}` is not a valid placeholder: `$d` is the result, {operands} `$t0`, `$t1`, ... are temporary", operands = operands(*.1))]
    Placeholder(String, usize),
    /// An explicit register name.
    #[error("register `{0}` is not allowed: use `$d`, `$0`, `$1`, ... and `$t0`, `$t1`, ...")]
    Register(String),
    /// A register file that intrinsics must not use.
    #[error("`{mnemonic}` accesses `{file}`: an intrinsic may use `$r`, `$v`, `$c`, `$vc` and `$va` only")]
    UnsupportedFile {
        /// The instruction.
        mnemonic: &'static str,
        /// The prefix of the register names.
        file: &'static str,
    },
    /// More values than a template may have.
    #[error("more than {max} values: the result, the operands and `$t0` to the last temporary", max = Template::MAX_VALUES)]
    TooMany,
    /// Text that is not a valid instruction. The position in the error is relative to the whole template.
    #[error("{0}")]
    Asm(AsmError),
    /// An instruction of the address or the branch unit.
    #[error(
        "`{0}` is an instruction of the address or branch unit: an intrinsic may use only the scalar and vector units"
    )]
    Unit(&'static str),
    /// An instruction without an effect.
    #[error("`{0}` has no effect")]
    NoEffect(&'static str),
    /// Instructions in one bundle that are not in bundle order.
    #[error("a bundle has at most one instruction of the scalar unit and one of the vector unit, in this order")]
    Order,
    /// A placeholder whose value is in another register file than the instruction needs.
    #[error("`{0}` is in a register file that this instruction does not accept")]
    File(String),
    /// A write to an operand.
    #[error("cannot write operand `{0}`; copy it to a temporary")]
    Written(String),
    /// Two writes to the same value in one bundle.
    #[error("`{0}` is written twice in one bundle")]
    WrittenTwice(String),
    /// A read of a value before its first write.
    #[error("`{0}` is read before it is written")]
    Unwritten(String),
    /// A read of `$va` in a bundle that does not directly follow a write of `$va`.
    #[error("`{0}` reads `$va`, which the previous bundle does not write")]
    Accumulator(&'static str),
    /// An invalid use of `mov $vx`.
    #[error("`mov $vx` takes one vector and must be alone in its bundle")]
    InvalidMoveToVx,
    /// A read of flags in a `$c` register that only the address unit or the branch unit writes.
    #[error("this instruction reads flags of `{0}` that the scalar unit does not write")]
    Flags(String),
    /// An invalid use of a copy of all `$vc` registers. Only reads of one 32-bit word of the copy are valid.
    #[error("`{0}` holds a copy of all `$vc` registers: read its 32-bit words with `mov`")]
    AllFlags(String),
    /// A vector instruction that needs values from the scalar unit, in a bundle whose scalar instruction forwards none.
    #[error("`{0}` needs factors or flags from a scalar instruction in the same bundle")]
    Factors(&'static str),
    /// The template does not write the result.
    #[error("the result `$d` is not written")]
    NoResult,
    /// The template does not read an operand.
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
    /// Creates the error at the position of a part of the text.
    pub(super) fn at(self, piece: Fragment<'_>) -> TemplateError {
        TemplateError { span: piece.span(), kind: self }
    }
}

impl From<AsmError> for TemplateError {
    fn from(error: AsmError) -> TemplateError {
        TemplateError { span: error.span.clone(), kind: TemplateErrorKind::Asm(error) }
    }
}

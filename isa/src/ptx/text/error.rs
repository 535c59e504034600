//! What can be wrong with a text.

use thiserror::Error;

use crate::object::Loc;
use crate::ptx::module::{MAX_REGISTERS, TargetName};
use crate::ptx::types::{Since, Space, Special, Type};

/// An error and where it is.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}:{}: {kind}", at.line, at.column)]
pub struct Error {
    /// The first character of what is wrong, columns counted in bytes from 1.
    pub at: Loc,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something else should stand here.
    #[error("expected {expected}; found {found}")]
    Expected {
        /// What should.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A character that no PTX text has outside comments and strings.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A comment or a string without an end.
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    /// PTX, but outside the subset.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// No instruction is called so.
    #[error("unknown instruction `{0}`")]
    Mnemonic(String),
    /// No instruction has such a word.
    #[error("unknown modifier `.{word}` of `{mnemonic}`")]
    UnknownWord {
        /// The instruction.
        mnemonic: String,
        /// The word.
        word: String,
    },
    /// The word cannot stand here.
    #[error("`.{word}` cannot stand here in `{mnemonic}`")]
    Word {
        /// The instruction.
        mnemonic: &'static str,
        /// The word.
        word: &'static str,
    },
    /// There is no such machine.
    #[error("there is no target `{0}`")]
    Target(TargetName),
    /// A special register stands where none can.
    #[error("`{special}` cannot be an operand of `{mnemonic}`; read it with `mov` first")]
    SpecialOperand {
        /// The special register.
        special: Special,
        /// The instruction.
        mnemonic: String,
    },
    /// The machine is one of later versions of PTX.
    #[error("`{target}` needs PTX {}.{}; the text is for PTX {}.{}", needs.0, needs.1, version.0, version.1)]
    EarlyVersion {
        /// The `.target` of the text.
        target: TargetName,
        /// The first version that has it.
        needs: (u8, u8),
        /// The `.version` of the text.
        version: (u8, u8),
    },
    /// An instruction that what the text is for does not have.
    #[error("`{inst}` needs {needs}; the text is for PTX {}.{} and {target}", version.0, version.1)]
    Missing {
        /// The instruction.
        inst: String,
        /// What it needs.
        needs: Since,
        /// The `.version` of the text.
        version: (u8, u8),
        /// Its `.target`.
        target: TargetName,
    },
    /// No instruction is of what the text is for.
    #[error("the text is for PTX {}.{} and {target}; PTX 6.3 and sm_75 are the least that are read", version.0, version.1)]
    Older {
        /// The `.version` of the text.
        version: (u8, u8),
        /// Its `.target`.
        target: TargetName,
    },
    /// A word that must be there is not.
    #[error("`{mnemonic}` needs a modifier for {slot} here")]
    MissingWord {
        /// The instruction.
        mnemonic: &'static str,
        /// What it says.
        slot: &'static str,
    },
    /// Not as many operands as there are places.
    #[error("`{mnemonic}` takes {expected} operands; found {found}")]
    Count {
        /// The instruction.
        mnemonic: &'static str,
        /// As many as must be there.
        expected: usize,
        /// As many as are.
        found: usize,
    },
    /// The operand cannot stand here.
    #[error("operand `{name}` of `{mnemonic}` must be {expected}")]
    Operand {
        /// The instruction.
        mnemonic: &'static str,
        /// The operand's name on the instruction's page.
        name: &'static str,
        /// What may stand here.
        expected: String,
    },
    /// A number that does not fit its type.
    #[error("`{number}` does not fit {ty}")]
    Range {
        /// The number as written.
        number: String,
        /// The type, or what else it must fit.
        ty: String,
    },
    /// A number that is none.
    #[error("`{0}` is not a number")]
    Number(String),
    /// An expression that has no value.
    #[error("{0}")]
    Expression(&'static str),
    /// More values than a variable has elements.
    #[error("more than {0} values")]
    Values(u32),
    /// More variables than a space holds.
    #[error("the `.{}` variables take more than {} bytes", .0.name(), .0.most_bytes())]
    Variables(Space),
    /// A type that no variable has.
    #[error("there are no variables of type {0}")]
    Type(Type),
    /// A name that nothing has.
    #[error("unknown name `{0}`")]
    Name(String),
    /// A name that something else has already.
    #[error("`{0}` is already defined")]
    Duplicate(String),
    /// What PTX has from a later version on.
    #[error("`.{what}` needs PTX {}.{}; the text is for {}.{}", needs.0, needs.1, version.0, version.1)]
    Version {
        /// The word.
        what: String,
        /// The first version that has it.
        needs: (u8, u8),
        /// The version of the text.
        version: (u8, u8),
    },
    /// A label that stands nowhere.
    #[error("label `{0}` is not defined")]
    Label(String),
    /// A call that is not as its function is declared.
    #[error("`{name}` is not called as it is declared: {what}")]
    Call {
        /// The function, or the prototype.
        name: String,
        /// What is different.
        what: String,
    },
    /// A function that is not as it was declared before.
    #[error("`{0}` is not as it was declared before")]
    Redeclared(String),
    /// Too many registers.
    #[error("more than {MAX_REGISTERS} registers")]
    Registers,
    /// More errors than anybody reads.
    #[error("too many errors")]
    TooMany,
}

/// What is to be said of a text with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is not PTX.
    Wrong,
    /// It may be PTX, of which this is not read here.
    Unsupported,
    /// It is PTX, and more than is read here.
    TooLarge,
}

impl ErrorKind {
    /// What is to be said of a text with this error.
    pub fn verdict(&self) -> Verdict {
        match self {
            ErrorKind::Unsupported(_) => Verdict::Unsupported,
            ErrorKind::Registers | ErrorKind::Variables(Space::Global) => Verdict::TooLarge,
            _ => Verdict::Wrong,
        }
    }
}

//! Errors of the PTX parser.

use thiserror::Error;

use crate::object::Loc;
use crate::ptx::module::{MAX_REGISTERS, NEWEST_VERSION, TargetName};
use crate::ptx::types::{Requirements, Space, Special, Type};

/// A parse error with its location in the PTX text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}:{}: {kind}", at.line, at.column)]
pub struct Error {
    /// Location of the first character of the error; columns count bytes from 1.
    pub at: Loc,
    /// The kind of error, which determines the message.
    pub kind: ErrorKind,
}

/// Kinds of errors of the PTX parser.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another token was expected.
    #[error("expected {expected}; found {found}")]
    Expected {
        /// Description of the expected token.
        expected: &'static str,
        /// Description of the token that was found.
        found: String,
    },
    /// A character that PTX allows only in comments and strings.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A comment or string without an end.
    #[error("{0} is not closed")]
    Unclosed(&'static str),
    /// A PTX feature that is not supported.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// A PTX feature that SM 90 or a later SM introduced, and that is not supported.
    #[error("{0} is not supported")]
    UnsupportedOfNewer(String),
    /// No instruction has this mnemonic, or no variant of the instruction matches.
    #[error("unknown instruction `{0}`")]
    Mnemonic(String),
    /// The instruction has no modifier with this name.
    #[error("unknown modifier `.{word}` of `{mnemonic}`")]
    UnknownWord {
        /// The mnemonic.
        mnemonic: String,
        /// The modifier.
        word: String,
    },
    /// The modifier is not allowed at this position.
    #[error("modifier `.{word}` is not allowed here in `{mnemonic}`")]
    Word {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The modifier.
        word: &'static str,
    },
    /// NVIDIA has no target with this name.
    #[error("there is no target `{0}`")]
    Target(TargetName),
    /// PTX has no version with this number, or halfbyte does not know it.
    #[error("PTX {}.{} is not a known version; the known versions are 1.4 to {}.{}", .0.0, .0.1, NEWEST_VERSION.0, NEWEST_VERSION.1)]
    UnknownVersion((u8, u8)),
    /// A special register is used as an operand of an instruction that cannot read it.
    #[error("`{special}` cannot be an operand of `{mnemonic}`; read it with `mov` first")]
    SpecialOperand {
        /// The special register.
        special: Special,
        /// The mnemonic.
        mnemonic: String,
    },
    /// The target needs a later PTX version.
    #[error("`{target}` needs PTX {}.{}, but `.version` is {}.{}", needs.0, needs.1, version.0, version.1)]
    EarlyVersion {
        /// The `.target` of the module.
        target: TargetName,
        /// The first PTX version with the target.
        needs: (u8, u8),
        /// The `.version` of the module.
        version: (u8, u8),
    },
    /// The module's PTX version or target does not support the instruction.
    #[error("`{inst}` needs {needs}, but the file is for PTX {}.{} and {target}", version.0, version.1)]
    Missing {
        /// The instruction.
        inst: String,
        /// The requirements of the instruction.
        needs: Requirements,
        /// The `.version` of the module.
        version: (u8, u8),
        /// The `.target` of the module.
        target: TargetName,
    },
    /// A required modifier is missing.
    #[error("`{mnemonic}` is missing a modifier for the {slot} here")]
    MissingWord {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The property that the missing modifier selects.
        slot: &'static str,
    },
    /// The number of operands is wrong.
    #[error("`{mnemonic}` takes {expected} operands; found {found}")]
    Count {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The expected number of operands.
        expected: usize,
        /// The number of operands found.
        found: usize,
    },
    /// The operand is invalid for the instruction.
    #[error("operand `{name}` of `{mnemonic}` must be {expected}")]
    Operand {
        /// The mnemonic.
        mnemonic: &'static str,
        /// The operand's name in the documentation.
        name: &'static str,
        /// Description of the valid operands.
        expected: String,
    },
    /// A number is outside its valid range.
    #[error("`{number}` is not {ty}")]
    Range {
        /// The number, as written.
        number: String,
        /// Description of the valid numbers, such as `a value of type .u8`.
        ty: String,
    },
    /// A malformed number.
    #[error("`{0}` is not a number")]
    Number(String),
    /// A constant expression that cannot be evaluated. The value is the message.
    #[error("{0}")]
    Expression(&'static str),
    /// A variable has more initial values than elements. The value is the number of elements.
    #[error("more than {0} initial values")]
    Values(u32),
    /// The variables of a state space together exceed its size.
    #[error("the `.{}` variables take more than {} bytes", .0.name(), .0.most_bytes())]
    Variables(Space),
    /// A type that variables cannot have.
    #[error("variables cannot have type {0}")]
    Type(Type),
    /// An undeclared identifier.
    #[error("unknown name `{0}`")]
    Name(String),
    /// A name that is already defined.
    #[error("`{0}` is already defined")]
    Duplicate(String),
    /// A modifier that needs a later PTX version.
    #[error("`.{what}` needs PTX {}.{}, but `.version` is {}.{}", needs.0, needs.1, version.0, version.1)]
    Version {
        /// The modifier.
        what: String,
        /// The first PTX version with the modifier.
        needs: (u8, u8),
        /// The `.version` of the module.
        version: (u8, u8),
    },
    /// A label that is used but not defined.
    #[error("label `{0}` is not defined")]
    Label(String),
    /// A call does not match the callee's declaration.
    #[error("call of `{name}` does not match its declaration: {what}")]
    Call {
        /// The name of the function or prototype.
        name: String,
        /// Description of the difference.
        what: String,
    },
    /// A function does not match its earlier declaration.
    #[error("declaration of `{0}` does not match the earlier one")]
    Redeclared(String),
    /// A body declares more registers than the maximum.
    #[error("more than {MAX_REGISTERS} registers")]
    Registers,
    /// The maximum number of reported errors is reached.
    #[error("too many errors")]
    TooMany,
}

/// Classification of a PTX text that has an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The text is not valid PTX.
    Wrong,
    /// The text may be valid PTX but uses an unsupported feature.
    Unsupported,
    /// The text is valid PTX but exceeds a limit of this implementation.
    TooLarge,
}

impl ErrorKind {
    /// Returns a change of the text that may avoid the error, as an imperative sentence.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ErrorKind::UnsupportedOfNewer(_) => {
                Some("compile the kernel for sm_80, whose code does not need this feature".to_owned())
            }
            ErrorKind::Version { needs, .. } | ErrorKind::EarlyVersion { needs, .. } => {
                Some(format!("change `.version` to {}.{}", needs.0, needs.1))
            }
            ErrorKind::UnknownVersion(version) if *version > NEWEST_VERSION => {
                Some(format!("compile the kernel for PTX {}.{}", NEWEST_VERSION.0, NEWEST_VERSION.1))
            }
            _ => None,
        }
    }

    /// Returns the classification of a PTX text that has this error.
    pub fn verdict(&self) -> Verdict {
        match self {
            ErrorKind::Unsupported(_) | ErrorKind::UnsupportedOfNewer(_) => Verdict::Unsupported,
            // On targets newer than the last SM with the instruction, `ptxas` emulates the
            // instruction. Therefore, the text is valid but not supported.
            ErrorKind::Missing { needs, target, .. }
                if needs.suffix.is_none() && needs.last_sm.is_some_and(|last| target.sm > last) =>
            {
                Verdict::Unsupported
            }
            ErrorKind::Registers | ErrorKind::Variables(Space::Global | Space::Shared) => Verdict::TooLarge,
            _ => Verdict::Wrong,
        }
    }
}

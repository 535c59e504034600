//! Why there is no object.

use cranelift_module::ModuleError;
use thiserror::Error;

use super::machine::MachineError;

/// What Cranelift says where it makes no code.
#[derive(Debug)]
pub(super) struct NoCode(String);

impl From<ModuleError> for NoCode {
    fn from(error: ModuleError) -> NoCode {
        NoCode(match error {
            ModuleError::Compilation(error) => error.to_string(),
            error => error.to_string(),
        })
    }
}

impl From<NoCode> for Error {
    fn from(NoCode(said): NoCode) -> Error {
        Error::Code(said)
    }
}

impl From<ModuleError> for Error {
    fn from(error: ModuleError) -> Error {
        NoCode::from(error).into()
    }
}

/// Why no object is made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel does what no function of an object does.
    #[error("kernel `{kernel}` cannot be a native object{}: {reason}", at(*.line))]
    Refused {
        /// The kernel.
        kernel: String,
        /// The line of its text, 0 where none is known.
        line: u32,
        /// What it does.
        reason: Refusal,
    },
    /// Two functions of one name.
    #[error("two kernels have the function name `{0}`")]
    Symbol(String),
    /// There is no code for the computer.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Cranelift does not make the code.
    #[error("native code generation failed: {0}")]
    Code(String),
}

fn at(line: u32) -> String {
    if line == 0 { String::new() } else { format!(", at line {line}") }
}

/// What a kernel does that no function of an object does.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Its machine code is of a machine whose items do not run one by one.
    #[error("native objects support only code for halu or ptx")]
    Machine,
    /// Its items meet.
    #[error("its work items synchronise, but a native object runs work items one after another")]
    Meets,
    /// Its items have memory together.
    #[error("it has shared memory, but a native object runs work items one after another")]
    Shared,
    /// Its items wait for each other.
    #[error("its work items may wait for stores of others, but a native object runs work items one after another")]
    Waits,
    /// What only an interpreter does.
    #[error("only the interpreter can run it: {0}")]
    Interpreted(String),
    /// It has too much local memory.
    #[error("a work item uses {bytes} bytes of local memory; the limit of a native object is {limit}")]
    Private {
        /// Bytes of an item.
        bytes: u32,
        /// How many there may be.
        limit: u32,
    },
    /// An operation for which there is no code.
    #[error("there is no code for {0}")]
    Op(String),
}

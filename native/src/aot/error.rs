//! Errors of ahead-of-time compilation.

use cranelift_module::ModuleError;
use thiserror::Error;

use super::machine::MachineError;

/// Message of Cranelift when code generation fails.
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

/// Reason why an object cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel does something that no function of an object supports.
    #[error("kernel `{kernel}` cannot be a native object{}: {reason}", at(*.line))]
    Refused {
        /// Name of the kernel.
        kernel: String,
        /// Line of the kernel's text, or 0 if the line is unknown.
        line: u32,
        /// The unsupported feature.
        reason: Refusal,
    },
    /// Two functions have the same name.
    #[error("two kernels have the function name `{0}`")]
    Symbol(String),
    /// The machine is not supported.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Cranelift cannot generate the code.
    #[error("native code generation failed: {0}")]
    Code(String),
}

fn at(line: u32) -> String {
    if line == 0 { String::new() } else { format!(", at line {line}") }
}

/// Feature of a kernel that no function of an object supports.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The machine code is for an instruction set whose items do not run one by one.
    #[error("native objects support only code for halu or ptx")]
    Machine,
    /// The items of a group synchronise.
    #[error("its work items synchronise, but a native object runs work items one after another")]
    Meets,
    /// The items of a group share memory.
    #[error("it has shared memory, but a native object runs work items one after another")]
    Shared,
    /// Items wait for each other.
    #[error("its work items may wait for stores of others, but a native object runs work items one after another")]
    Waits,
    /// An operation that only the interpreter supports.
    #[error("only the interpreter can run it: {0}")]
    Interpreted(String),
    /// An item has too much local memory.
    #[error("a work item uses {bytes} bytes of local memory; the limit of a native object is {limit}")]
    Private {
        /// Number of bytes of an item.
        bytes: u32,
        /// Maximum number of bytes.
        limit: u32,
    },
    /// An operation that native objects do not support.
    #[error("there is no code for {0}")]
    Op(String),
}

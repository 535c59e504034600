//! Errors of a compilation.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::CompilerKind;
use crate::log::{Diagnostic, Severity};

/// Error of a compilation of CUDA C++.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No compiler is installed.
    #[error("no compiler for CUDA C++ is installed; `pip install nvidia-cuda-nvrtc` installs one")]
    NoCompiler,
    /// The requested compiler is not installed.
    #[error("{compiler} is not installed; {}", compiler.advice())]
    Missing {
        /// The requested compiler.
        compiler: CompilerKind,
    },
    /// The library of NVRTC cannot be loaded.
    #[error("NVRTC cannot be loaded from {}: {reason}", path.display())]
    Load {
        /// Path or name of the library.
        path: PathBuf,
        /// The error of the loader.
        reason: String,
    },
    /// The compiler does not support the SM version.
    #[error("{compiler} does not compile for sm_{sm}; it supports {supported}")]
    Sm {
        /// The compiler with its version, such as `NVRTC 13.5`.
        compiler: String,
        /// The requested SM version.
        sm: u16,
        /// The supported SM versions, separated by commas.
        supported: String,
    },
    /// The compiler rejects the source text or an option.
    #[error("{0}")]
    Rejected(Rejection),
    /// A name expression denotes no kernel.
    #[error("`{name}` is not the name of a kernel: {reason}")]
    Name {
        /// The name expression.
        name: String,
        /// The message of the compiler.
        reason: String,
    },
    /// A compiler program, or a file for it, failed.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the program or the file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A text for the compiler contains a NUL byte.
    #[error("{what} contains a NUL byte")]
    Nul {
        /// The text, such as `the source text`.
        what: &'static str,
    },
    /// A function of NVRTC failed.
    #[error("{call} fails with code {code}")]
    Call {
        /// Name of the function.
        call: &'static str,
        /// Result code of NVRTC.
        code: i32,
    },
}

impl Error {
    /// Returns the first error of the compiler in the source text, if any.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Error::Rejected(rejection) => rejection.first_error(),
            _ => None,
        }
    }

    /// Returns `true` if a compiler is missing.
    pub fn is_missing_compiler(&self) -> bool {
        matches!(self, Error::NoCompiler | Error::Missing { .. } | Error::Load { .. })
    }
}

/// Messages with which a compiler rejected a source text. The display form is the log, followed by the help.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The messages of the log that have a location.
    pub diagnostics: Vec<Diagnostic>,
    /// The log of the compiler.
    pub log: String,
    /// Advice for a common error, such as the command that installs a missing header.
    pub help: Option<String>,
}

impl Rejection {
    /// Returns the first error, if any.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log.trim();
        f.write_str(if log.is_empty() { "the compiler rejected the source text" } else { log })?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

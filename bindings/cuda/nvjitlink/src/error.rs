//! Errors, as the error log of a link step shows them.

use std::path::PathBuf;

use halfbyte_isa::ptx::text::LinkError;

use crate::status::Status;

/// Reason why a function fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the argument `{0}` is null")]
    Null(&'static str),
    #[error("the handle is invalid")]
    Handle,
    #[error("unrecognised option `{0}`\nhelp: an option has the form `-lto` or `-arch=sm_80`")]
    Option(String),
    #[error("the architecture is missing\nhelp: add an option such as `-arch=sm_80`")]
    MissingArch,
    #[error("unrecognised architecture `{0}`\nhelp: an architecture has the form `sm_80` or `compute_80`")]
    Arch(String),
    #[error("`-ptx` requires `-lto`")]
    PtxWithoutLto,
    #[error("input `{0}` is LTO-IR, which requires the option `-lto`")]
    WithoutLto(String),
    #[error("input `{name}` is empty")]
    Empty { name: String },
    #[error("input `{name}` has the unknown type {kind}\nhelp: the types of PTX and LTO-IR are 2 and 3")]
    Kind { name: String, kind: u32 },
    #[error("input `{name}` is not {expected}")]
    Mismatch { name: String, expected: &'static str },
    #[error("cannot recognise input `{0}`\nhelp: add PTX text or LTO-IR")]
    Unrecognised(String),
    #[error(
        "input `{name}` is {what}, which needs a GPU or its tools; halfbyte links only PTX and LTO-IR\n\
         help: compile to PTX with `nvcc -ptx -rdc=true`, or with NVRTC and nvrtcGetPTX; or to LTO-IR with `-dlto`\n\
         help: if the program caches compiled code, use an empty cache folder"
    )]
    WithoutPtx { name: String, what: &'static str },
    #[error("cannot read {}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("cannot link the PTX of {inputs}: {error}")]
    Link { inputs: String, error: LinkError },
    #[error("there is no linked code; nvJitLinkComplete has not succeeded")]
    NotLinked,
    #[error("linked LTO-IR is not available; halfbyte links to PTX")]
    NoLinkedLtoIr,
    #[error(
        "LTO-IR is compiled by NVIDIA's nvJitLink, but HALFBYTE_NVJITLINK does not name this library\n\
         help: install the library with `pip install nvidia-nvjitlink` (for CUDA 12: `nvidia-nvjitlink-cu12`), and \
         run the program with `halfbyte exec`"
    )]
    NoLibrary,
    #[error("cannot load NVIDIA's nvJitLink, {}: {reason}\nhelp: set HALFBYTE_NVJITLINK to its path", path.display())]
    Load { path: PathBuf, reason: String },
    #[error("NVIDIA's nvJitLink reports error {}\n{log}", status.0)]
    Nvidia { status: Status, log: String },
}

impl Error {
    /// Returns the result code of the function that fails.
    pub fn status(&self) -> Status {
        match self {
            Error::Null(_) => Status::NULL_INPUT,
            Error::Option(_) => Status::UNRECOGNIZED_OPTION,
            Error::MissingArch => Status::MISSING_ARCH,
            Error::Arch(_) => Status::UNRECOGNIZED_ARCH,
            Error::PtxWithoutLto => Status::INCOMPATIBLE_OPTIONS,
            Error::WithoutLto(_) => Status::LTO_NOT_ENABLED,
            Error::Kind { .. } | Error::Mismatch { .. } => Status::INCORRECT_INPUT_TYPE,
            Error::Handle
            | Error::Empty { .. }
            | Error::Unrecognised(_)
            | Error::WithoutPtx { .. }
            | Error::File { .. }
            | Error::NoLinkedLtoIr => Status::INVALID_INPUT,
            Error::Link { .. } => Status::PTX_COMPILE,
            Error::NoLibrary | Error::Load { .. } => Status::NVVM_COMPILE,
            Error::NotLinked => Status::INTERNAL,
            Error::Nvidia { status, .. } => *status,
        }
    }
}

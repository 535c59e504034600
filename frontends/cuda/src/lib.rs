//! The CUDA C++ front end of halfbyte: compiles CUDA C++ to PTX by NVRTC, nvcc or clang.
//!
//! [`compile`] finds a compiler and the CUDA headers in a [`SearchPath`], and keeps the PTX in a [`Cache`]. The
//! compilers need no GPU. NVRTC is a library, which is loaded at its first use; nvcc and clang are programs.

#[cfg(test)]
mod any_text;
mod cache;
mod clang;
mod compile;
mod error;
mod hash;
mod include;
mod log;
mod names;
mod nvcc;
mod nvrtc;
mod packages;
mod parameters;
mod ptx;
mod search;
mod standard;
mod tool;

pub use cache::Cache;
pub use compile::{Compiled, CompilerKind, Request, Source, compile};
pub use error::{Error, Rejection};
pub use halfbyte_abi::mangled_name::{name_parts, plain_name};
pub use log::{Diagnostic, Severity};
pub use names::is_expression;
pub use parameters::{parameter_names, with_parameter_names};
pub use ptx::entries;
pub use search::{SearchPath, module_folders, module_folders_of_path};

/// Returns `true` if a file name has the extension of CUDA C++, `cu`.
pub fn is_cuda(file: &std::path::Path) -> bool {
    file.extension().is_some_and(|extension| extension == "cu")
}

//! The text form of the IR, described in `docs/ir.md`: what [`print`] writes, [`read`] reads to the same kernels, and
//! printing them again gives the same text.

mod inst;
mod kernels;
mod lexer;
mod literal;
mod names;
mod print;
mod read;
mod streams;
mod suggest;

pub use kernels::{Kernels, read};
pub use literal::{BadNumber, lane as number, magnitude};
pub use print::{print, print_inst};
pub use suggest::closest;

/// Whether this can be a name of a kernel, block or value, or a parameter, after its sigil.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

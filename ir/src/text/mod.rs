//! The text form of the IR, described in `docs/ir.md`: what [`print()`] writes, [`read`] reads to the same kernels, and
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

/// The version of the language that is read, which a text may say in its first line: `halfbyte 1`. A text that says another one is refused.
pub const VERSION: u32 = 1;

pub use crate::kernel::is_name;
pub use kernels::{Kernels, read};
pub use literal::{BadNumber, lane as number, magnitude};
pub use print::{print, print_inst};
pub use suggest::closest;

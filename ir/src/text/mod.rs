//! The text form of the IR, described in `docs/ir.md`: what [`print()`] writes, [`read`] reads to the same kernels, and
//! printing them again gives the same text.

mod arrays;
mod inst;
mod kernels;
mod lexer;
mod literal;
mod names;
mod print;
mod read;
mod streams;
mod suggest;
pub(crate) mod words;

/// The version of the language that is read, which a text may say in its first line: `halfbyte 1`. A text that says another one is refused.
pub const VERSION: u32 = 1;

/// What a buffer says whose argument may overlap others.
pub(crate) const MAY_ALIAS: &str = "may_alias";

/// What a barrier says to which items do not come together.
pub const UNALIGNED: &str = "unaligned";

pub use crate::kernel::is_name;
pub use kernels::{Kernels, read};
pub use literal::{BadNumber, element, lane as number, lane_text as number_text, magnitude};
pub use print::{print, print_inst};
pub use suggest::closest;
pub use words::{no_op, op as op_meant, suffix as suffix_meant, ty as type_meant};

pub use crate::wellformed::{one_of, refused_flag, suffix_words};

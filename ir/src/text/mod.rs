//! Text form of the IR, described in `docs/ir.md`. [`read`] parses the output of [`print()`] to the
//! same kernels. Printing these kernels again gives the same text.

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
pub(crate) mod suggestions;

/// Supported version of the IR text. A text can declare its version in the first line: `halfbyte
/// 1`. A text with another version is rejected.
pub const VERSION: u32 = 1;

/// Keyword of a buffer parameter whose argument may overlap other buffers.
pub(crate) const MAY_ALIAS: &str = "may_alias";

/// Modifier of a barrier at which items of a subgroup may execute different barrier instructions.
pub const UNALIGNED: &str = "unaligned";

pub use crate::kernel::is_name;
pub use kernels::{Kernels, read};
pub use literal::{BadNumber, element, lane as number, lane_text as number_text, magnitude};
pub use print::{print, print_inst};
pub use suggest::closest;
pub use suggestions::{no_op, op as op_meant, suffix as suffix_meant, ty as type_meant};

pub use crate::wellformed::{one_of, refused_flag, suffix_words};

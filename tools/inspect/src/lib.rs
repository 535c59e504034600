//! Tools that show how the compiler has compiled a kernel. [`explain`](mod@explain) names the rule
//! that selected an instruction, and the rules that nearly matched. [`view`] writes an HTML page
//! with all stages of the compiler side by side.

pub mod explain;
pub mod view;

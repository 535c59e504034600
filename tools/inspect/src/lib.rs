//! What the compiler did with a kernel, for people: [`explain`](mod@explain) says which rule made an instruction, which nearly did, and why
//! not; [`view`] writes a page with every stage side by side.

pub mod explain;
pub mod view;

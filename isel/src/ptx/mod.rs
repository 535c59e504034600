//! Selection for PTX.

mod code;

pub use code::{Block, Code, Edge, Func, Placed, Terminator};

//! Selection for PTX.

mod code;
pub mod expand;
mod finish;
mod live;
mod moves;

pub use code::{Block, Code, Edge, Func, Placed, Terminator};
pub use finish::{CodeError, finish};

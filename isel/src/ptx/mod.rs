//! Selection for PTX.

mod code;
mod finish;
mod live;
mod moves;

pub use finish::{CodeError, finish};

pub use code::{Block, Code, Edge, Func, Placed, Terminator};

//! Lowering: passes over the IR, from kernels as they are written to kernels in ops that a target has.
//!
//! What a target has is a [`Legality`](halfbyte_ir::Legality), a value that this crate is handed; it names no target.
//! Every pass keeps the meaning of every kernel, bit for bit. The order of passes is the caller's.

extern crate alloc;

mod idioms;
mod manager;
mod pass;
mod passes;
mod range;
mod rewrite;
pub mod trace;
pub mod trial;

pub use manager::{LowerError, Observer, UnknownPass, find, run};
pub use pass::{Context, Order, Pass};
pub use passes::{ORDER, PASSES, documentation};
pub use rewrite::RULES;

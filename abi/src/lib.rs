//! What the compiler and the runtime agree on, and neither owns: how much a piece of work may take, and how it is stopped.

mod limits;
mod watchdog;

pub use limits::{Exceeded, Limits};
pub use watchdog::{CancelToken, Watchdog};

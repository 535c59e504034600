//! Loads objects ([`Program::load`]) and runs their words ([`Kernel::launch`]), exactly, on any computer.
//!
//! Nothing here knows the compiler: a program is what its object says.

mod interp;
mod launch;
mod load;
mod memory;
mod state;
mod trap;

pub use launch::{Arg, Launch, LaunchError, Stats};
pub use load::{Kernel, LoadError, Program};
pub use trap::{Access, Near, Space, Trap, TrapKind};

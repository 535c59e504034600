//! Loads objects ([`Program::load`]) and runs their words ([`Kernel::launch`]), exactly, on any computer.
//!
//! Nothing here knows the compiler: a program is what its object says. What the machines have in common (objects, arguments,
//! buffers, traps) is at the top; each has a folder for how its words run.

mod buffers;
mod halu;
mod launch;
mod load;
mod trap;
mod vp1;

pub use launch::{Arg, Launch, LaunchError, Stats, TooLarge};
pub use load::{Kernel, LoadError, Program};
pub use trap::{Access, Near, Space, Trap, TrapKind};

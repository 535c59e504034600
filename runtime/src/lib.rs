//! Loads objects ([`Program::load`]) and runs their words ([`Kernel::bind`], [`Bound::run`]), exactly, on any computer.
//!
//! Nothing here knows the compiler: a program is what its object says. What the machines have in common (objects, arguments,
//! buffers, traps) is at the top; each has a folder for how its words run.

#[cfg(feature = "aot")]
pub mod aot;
mod arguments;
mod bound;
mod buffers;
mod device;
mod engine;
mod error;
mod group;
mod halu;
mod host;
mod kernel;
mod launch;
mod load;
#[cfg(feature = "jit")]
mod meet;
mod native;
pub mod ptx;
mod threads;
mod trap;
mod vp1;

pub use arguments::{Arg, Arguments, Scalars, Scratch};
pub use bound::Bound;
pub use buffers::{Buffer, Buffers, Bytes};
pub use engine::Engine;
pub use error::{LaunchError, TooLarge};
pub use halu::Halu;
pub use kernel::{Executable, Kernel, Machine};
pub use launch::{Launch, Order, Stats, Work};
pub use load::{LoadError, Program};
pub use native::{NativeError, Translation};
pub use ptx::Ptx;
pub use threads::{ThreadPool, ThreadPoolError};
pub use trap::{Access, Fault, Near, Other, Space, Trap, TrapKind, Unwritten, Use};
pub use vp1::Vp1;

// What `halfbyte prove` proves of the engines, a step at a time; not to be built on.
#[doc(hidden)]
pub use halu::{native_effects, rows};
#[doc(hidden)]
pub use vp1::{StepError, step_bundle};

//! Loads objects ([`Program::load`]) and runs their words ([`Kernel::bind`], [`Bound::run`]), exactly, on any computer.
//!
//! Nothing here knows the compiler: a program is what its object says. What the machines have in common (objects, arguments,
//! buffers, traps) is at the top; each has a folder for how its words run.

mod arguments;
mod bound;
mod device;
mod error;
mod group;
mod halu;
mod kernel;
mod launch;
mod load;
pub mod ptx;
mod vp1;

#[cfg(feature = "aot")]
pub use halfbyte_native::aot;

pub use arguments::{Arg, Arguments, Scalars, Scratch};
pub use bound::Bound;
pub use error::{LaunchError, TooLarge};
pub use halfbyte_abi::{Engine, Stats, Work};
pub use halfbyte_isa::buffers::{Buffer, Buffers, Bytes};
pub use halfbyte_isa::trap::{Access, Fault, Near, Other, Space, Trap, TrapKind, Unwritten, Use};
pub use halfbyte_native::clif::{NativeError, Translation};
pub use halfbyte_native::launch::Order;
pub use halfbyte_native::threads::{ThreadPool, ThreadPoolError};
pub use halu::Halu;
pub use kernel::{Executable, Kernel, Machine};
pub use launch::Launch;
pub use load::{LoadError, Program};
pub use ptx::Ptx;
pub use vp1::Vp1;

// What `halfbyte prove` proves of the engines, a step at a time; not to be built on.
#[doc(hidden)]
pub use halfbyte_native::rows;
#[doc(hidden)]
pub use halu::native_effects;
#[doc(hidden)]
pub use vp1::{StepError, step_bundle};

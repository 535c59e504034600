//! Runtime that loads objects ([`Program::load`]) and executes their machine code
//! ([`Kernel::bind`], [`Bound::run`]). The results are bit-exact on every computer.
//!
//! The crate does not depend on the compiler: an object contains everything about a program. The
//! top-level modules contain what all machines share (objects, arguments, buffers, traps). Each
//! machine has a folder with its execution engines.

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
pub use halfbyte_isa::trap::{Access, ConflictingAccess, Fault, Near, Space, Trap, TrapKind, Unwritten, Use};
pub use halfbyte_native::clif::{NativeError, Translation};
pub use halfbyte_native::launch::LaunchOptions;
pub use halfbyte_native::threads::{ThreadPool, ThreadPoolError};
pub use halu::Halu;
pub use kernel::{Executable, Kernel, Machine};
pub use launch::Launch;
pub use load::{LoadError, Program};
pub use ptx::Ptx;
pub use vp1::Vp1;

// Functions that execute single instructions on each engine, for `halfbyte prove`. They are not a stable interface.
#[doc(hidden)]
pub use halfbyte_native::rows;
#[doc(hidden)]
pub use halu::native_effects;
#[doc(hidden)]
pub use vp1::{StepError, step_bundle};

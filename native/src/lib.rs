//! Native code for kernels: translation of HALU machine code and PTX to instructions of the host.
//!
//! [`halu`] and [`ptx`] run launches in memory, [`aot`] makes object files. The engine depends on
//! neither the compiler nor an interpreter: a launch accesses its memory through [`jit::Reached`].

#![allow(unreachable_pub)]

#[cfg(feature = "aot")]
pub mod aot;
pub mod clif;
#[cfg(feature = "jit")]
pub mod halu;
pub mod host;
#[cfg(feature = "jit")]
pub mod jit;
pub mod launch;
#[cfg(feature = "jit")]
mod meet;
#[cfg(feature = "jit")]
pub mod ptx;
pub mod rows;
pub mod threads;
#[cfg(feature = "aot")]
mod vir;
#[cfg(feature = "jit")]
#[cfg_attr(not(feature = "aot"), allow(dead_code, reason = "only objects use some instructions"))]
mod x86;

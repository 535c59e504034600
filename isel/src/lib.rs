//! Instruction selection, by rules, and register allocation.
//!
//! A [`Backend`] turns a kernel into machine instructions on virtual registers, which then get hardware registers. What a target can
//! do is said once, by its rules: [`Backend::legality`] reads it off their patterns.

mod backend;
#[path = "../classes.rs"]
mod classes;
mod driver;
mod halu;
mod intrinsics;
pub mod mach;
pub mod print;
// For emission, which is PTX's too; not to be built on.
#[doc(hidden)]
pub mod ptx;
mod reasons;
pub mod regalloc;
pub mod rules;
mod signature;
pub mod straight;
mod threads;
// For those who explain what was selected; not to be built on.
#[doc(hidden)]
pub mod trace;
pub mod vcode;
// For emission, which is VP1's too; not to be built on.
#[doc(hidden)]
pub mod vp1;

pub use backend::{AllocatedCode, Backend, Request, Scratch, Selected, SelectedCode};
pub use halfbyte_ir::Refusal;
pub use halu::machine::{Halu, HaluExtra, RegClass};
pub use ptx::machine::{Ptx, PtxArray, PtxExtra};
pub use rules::Rule;
pub use signature::signature;
pub use vp1::machine::Vp1;

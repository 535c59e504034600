//! Instruction selection, by rules, and register allocation.
//!
//! A [`Backend`] turns a kernel into machine instructions on virtual registers, which then get hardware registers. What a target can
//! do is said once, by its rules: [`Backend::legality`] reads it off their patterns.

mod backend;
#[path = "../classes.rs"]
mod classes;
mod driver;
mod halu;
pub mod mach;
pub mod print;
pub mod ptx;
pub mod regalloc;
pub mod rules;
mod signature;
pub mod straight;
mod threads;
pub mod trace;
pub mod vcode;
pub mod vp1;

pub use backend::{AllocatedCode, Backend, Request, Scratch, Selected, SelectedCode};
pub use halfbyte_ir::Refusal;
pub use halu::machine::{Halu, RegClass};
pub use ptx::machine::{Ptx, PtxExtra};
pub use rules::Rule;
pub use signature::signature;
pub use vp1::machine::Vp1;

//! Rule-based instruction selection, and register allocation.
//!
//! A [`Backend`] selects machine instructions on virtual registers for a kernel. Register allocation then assigns
//! hardware registers. The rules of a target are the only description of its instructions: [`Backend::legality`]
//! derives the supported ops from the patterns of the rules.

mod backend;
#[path = "../classes.rs"]
mod classes;
mod driver;
// Public only for `tests/halu_combine.rs`. The module is not part of the stable interface.
#[doc(hidden)]
pub mod halu;
mod intrinsics;
pub mod mach;
pub mod print;
// Public only for the emission of PTX. The module is not part of the stable interface.
#[doc(hidden)]
pub mod ptx;
mod reasons;
pub mod regalloc;
pub mod rules;
mod signature;
mod simt;
pub mod straight;
// Public only for tools that explain selection. The module is not part of the stable interface.
#[doc(hidden)]
pub mod trace;
pub mod vcode;
// Public only for the emission of VP1. The module is not part of the stable interface.
#[doc(hidden)]
pub mod vp1;

pub use backend::{AllocatedCode, Backend, Request, Scratch, Selected, SelectedCode};
pub use halfbyte_ir::Refusal;
pub use halu::machine::{Halu, HaluExtra, RegClass};
pub use ptx::machine::{Ptx, PtxArray, PtxExtra};
pub use rules::Rule;
pub use signature::signature;
pub use vp1::machine::Vp1;

//! Rule-based instruction selection, and register allocation.
//!
//! A [`Backend`] turns a kernel into machine instructions on virtual registers, which then get
//! hardware registers. A target's rules are the only description of its capabilities:
//! [`Backend::legality`] derives legality from their patterns.

mod backend;
#[path = "../classes.rs"]
mod classes;
mod driver;
// Public for `tests/halu_combine.rs`. The module is not part of the stable interface.
#[doc(hidden)]
pub mod halu;
mod intrinsics;
pub mod mach;
pub mod print;
// Public for the emission of PTX. The module is not part of the stable interface.
#[doc(hidden)]
pub mod ptx;
mod reasons;
pub mod regalloc;
pub mod rules;
mod signature;
mod simt;
pub mod straight;
// Public for tools that explain selection. The module is not part of the stable interface.
#[doc(hidden)]
pub mod trace;
pub mod vcode;
// Public for the emission of VP1. The module is not part of the stable interface.
#[doc(hidden)]
pub mod vp1;

pub use backend::{AllocatedCode, Backend, Request, Scratch, Selected, SelectedCode};
pub use halfbyte_ir::Refusal;
pub use halu::machine::{Halu, HaluExtra, RegClass};
pub use ptx::machine::{Ptx, PtxArray, PtxExtra};
pub use rules::Rule;
pub use signature::signature;
pub use vp1::machine::Vp1;

//! Example: a third-party target, a machine with eight instructions and sixteen 32-bit registers,
//! from instruction selection to launch.
//!
//! The example uses only public interfaces, and can be the template for another target. It provides
//! the rows of its instructions, a selection function, an interpreter, and [`SUPPORT`], its entry
//! in a [`TargetSet`]. halfbyte provides register allocation, encoding and object files.

pub mod isa;
pub mod isel;
pub mod runtime;

use halfbyte::targets::{BUILT_IN, Support, TargetSet};

/// Entry of the toy target in a list of targets.
pub const SUPPORT: Support = Support {
    isa: &isa::ISA,
    isel: &isel::Toy,
    emit: &halfbyte_emit::Straight,
    runtime: &runtime::Toy,
    intrinsics: None,
};

/// The built-in targets and the toy target.
pub static TARGETS: TargetSet = TargetSet::new(&ALL);

const ALL: [Support; 4] = [BUILT_IN[0], BUILT_IN[1], BUILT_IN[2], SUPPORT];

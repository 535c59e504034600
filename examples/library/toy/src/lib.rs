//! A target of someone else's: a machine of eight instructions on sixteen 32-bit registers, from selection to launch.
//!
//! It is made of public interfaces alone, and is what a target of one's own begins as: rows for its instructions, a function that selects
//! them, an interpreter, and [`SUPPORT`], its line in a [`TargetSet`]. Registers, words and objects it is given.

pub mod isa;
pub mod isel;
pub mod runtime;

use halfbyte::targets::{BUILT_IN, Support, TargetSet};

/// The toy target's line in a list of targets.
pub const SUPPORT: Support = Support {
    isa: &isa::ISA,
    isel: &isel::Toy,
    emit: &halfbyte_emit::Straight,
    runtime: &runtime::Toy,
    intrinsics: None,
};

/// The targets of halfbyte, and this one.
pub static TARGETS: TargetSet = TargetSet::new(&ALL);

const ALL: [Support; 4] = [BUILT_IN[0], BUILT_IN[1], BUILT_IN[2], SUPPORT];

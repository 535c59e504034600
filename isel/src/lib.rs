//! Instruction selection, by rules, and register allocation.
//!
//! [`select`] turns a kernel into machine instructions on virtual registers, [`regalloc::allocate`] gives these hardware
//! registers. What a target can do is said once, by its rules: [`legality`] reads it off their patterns.

#[path = "../classes.rs"]
mod classes;
mod halu;
pub mod mach;
pub mod regalloc;
pub mod rules;
mod signature;
pub mod vcode;

pub use halfbyte_ir::Refusal;
use halfbyte_ir::{Kernel, Legality, Span};
use halfbyte_isa::object::Loc;
use halfbyte_isa::target::Target;

pub use rules::{Rule, rules};
pub use signature::signature;

/// A kernel's machine instructions, and how they came about.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions, on virtual registers.
    pub code: vcode::VCode,
    /// The numbers of the rules that were taken, in the order in which they were: places in [`rules`].
    pub fired: Vec<u32>,
}

/// Selects the machine instructions of a verified kernel. `locate` finds the line and column of a place in the text.
///
/// # Errors
/// Every op that no rule of the target matches, in the order of the text.
pub fn select(kernel: &Kernel, target: Target, locate: &dyn Fn(Span) -> Loc) -> Result<Selected, Vec<Refusal>> {
    match target {
        Target::Halu => halu::select(kernel, locate),
        Target::Vp1 | Target::Ptx { .. } => Err(vec![Refusal {
            op: None,
            span: kernel.span,
            target: target.name(),
            reason: Some("there are no rules for this target yet".to_string()),
        }]),
    }
}

/// The intrinsics of a kernel that are no instructions of the target. Asked before the passes, which drop unused ones.
pub fn check_intrinsics(kernel: &Kernel, target: Target) -> Vec<Refusal> {
    match target {
        Target::Halu => halu::check_intrinsics(kernel),
        Target::Vp1 | Target::Ptx { .. } => Vec::new(),
    }
}

/// What a target can do, for the passes before selection.
pub fn legality(target: Target) -> Legality {
    match target {
        Target::Halu => Legality::new(target.name(), rules::HALU_NATIVE.iter().copied(), halu::reason_for_type),
        Target::Vp1 | Target::Ptx { .. } => Legality::new(target.name(), [], |_, _| None),
    }
}

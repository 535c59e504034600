//! Instruction selection, by rules, and register allocation.
//!
//! [`select`] turns a kernel into machine instructions on virtual registers, [`regalloc::allocate`] gives these hardware
//! registers. What a target can do is said once, by its rules: [`legality`] reads it off their patterns.

#[path = "../classes.rs"]
mod classes;
mod halu;
pub mod mach;
pub mod machine;
pub mod ptx;
pub mod regalloc;
pub mod rules;
mod signature;
mod threads;
pub mod trace;
pub mod vcode;
pub mod vp1;

pub use halfbyte_ir::Refusal;
use halfbyte_ir::{Kernel, Legality, Span};
use halfbyte_isa::object::Loc;
use halfbyte_isa::target::Target;
use mach::MachFunc;
use machine::{Halu, Vp1};
use regalloc::{AllocError, Allocator};
use trace::Trace;
use vcode::VCode;

pub use rules::{Rule, rules};
pub use signature::signature;

/// Selected code, whichever machine it is for.
#[derive(Clone, Debug)]
pub enum Code {
    /// Of HALU.
    Halu(VCode<Halu>),
    /// Of VP1.
    Vp1(VCode<Vp1>),
    /// Of PTX.
    Ptx(ptx::Code),
}

impl Code {
    /// Puts instructions of the machine in place of those that it lacks. Only PTX is selected with such.
    ///
    /// # Errors
    /// What is wrong with the table of sequences.
    pub fn expand(&mut self) -> Result<(), ptx::expand::TableError> {
        match self {
            Code::Halu(_) | Code::Vp1(_) => Ok(()),
            Code::Ptx(code) => ptx::expand::expand(code),
        }
    }

    /// Allocates its registers; of PTX, whose registers are as many as are named, it leaves SSA form.
    ///
    /// # Errors
    /// Code that breaks the rules of [`VCode`], that is too large, or whose registers have no room.
    pub fn allocate(self, allocator: &mut Allocator, options: &regalloc::Options<'_>) -> Result<Func, AllocError> {
        match self {
            Code::Halu(code) => allocator.allocate(code, options).map(Func::Halu),
            Code::Vp1(code) => allocator.allocate(code, options).map(Func::Vp1),
            Code::Ptx(code) => Ok(Func::Ptx(ptx::finish(code)?)),
        }
    }
}

/// Code with hardware registers, whichever machine it is for.
#[derive(Clone, Debug)]
pub enum Func {
    /// Of HALU.
    Halu(MachFunc<Halu>),
    /// Of VP1.
    Vp1(MachFunc<Vp1>),
    /// Of PTX.
    Ptx(ptx::Func),
}

impl Func {
    /// Stores of values that no register was left for.
    pub fn spills(&self) -> u32 {
        match self {
            Func::Halu(func) => func.spills,
            Func::Vp1(func) => func.spills,
            // The assembler gives registers to these.
            Func::Ptx(_) => 0,
        }
    }
}

/// A kernel's machine instructions, and how they came about.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The instructions, on virtual registers.
    pub code: Code,
    /// The numbers of the rules that were taken, in the order in which they were: places in [`rules`].
    pub fired: Vec<u32>,
}

/// Selects the machine instructions of a verified kernel. `locate` finds the line and column of a place in the text.
///
/// # Errors
/// Every op that no rule of the target matches, in the order of the text.
pub fn select(kernel: &Kernel, target: Target, locate: &dyn Fn(Span) -> Loc) -> Result<Selected, Vec<Refusal>> {
    Selector::default().select(kernel, target, locate)
}

/// Selects instructions; keeps its memory from one kernel to the next.
#[derive(Default)]
pub struct Selector {
    halu: halu::Scratch,
}

impl Selector {
    /// As [`select`].
    ///
    /// # Errors
    /// Those of [`select`].
    pub fn select(
        &mut self,
        kernel: &Kernel,
        target: Target,
        locate: &dyn Fn(Span) -> Loc,
    ) -> Result<Selected, Vec<Refusal>> {
        select_and_tell(kernel, target, locate, None, self)
    }
}

/// The same, told step by step.
///
/// # Errors
/// Those of [`select`]; what was told until then is in the trace.
pub fn select_traced(
    kernel: &Kernel,
    target: Target,
    locate: &dyn Fn(Span) -> Loc,
    trace: &mut Trace,
) -> Result<Selected, Vec<Refusal>> {
    select_and_tell(kernel, target, locate, Some(trace), &mut Selector::default())
}

fn select_and_tell(
    kernel: &Kernel,
    target: Target,
    locate: &dyn Fn(Span) -> Loc,
    trace: Option<&mut Trace>,
    selector: &mut Selector,
) -> Result<Selected, Vec<Refusal>> {
    match target {
        Target::Halu => halu::select(kernel, locate, trace, &mut selector.halu),
        Target::Vp1 => vp1::select(kernel, locate, trace),
        Target::Ptx { sm } => ptx::select(kernel, sm, locate, trace),
    }
}

/// The intrinsics of a kernel that are no instructions of the target. Asked before the passes, which drop unused ones.
pub fn check_intrinsics(kernel: &Kernel, target: Target) -> Vec<Refusal> {
    match target {
        Target::Halu => halu::check_intrinsics(kernel),
        Target::Vp1 => vp1::check_intrinsics(kernel),
        Target::Ptx { sm } => ptx::check_intrinsics(kernel, sm),
    }
}

/// What a target can do, for the passes before selection.
pub fn legality(target: Target) -> Legality {
    match target {
        Target::Halu => halu::legality(),
        Target::Vp1 => vp1::legality(),
        Target::Ptx { sm } => ptx::legality(sm),
    }
}

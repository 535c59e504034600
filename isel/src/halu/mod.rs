//! Instruction selection for HALU.

mod builder;
pub mod combine;
mod hoist;
mod in_place;
mod lowering;
pub(crate) mod machine;
pub mod operands;
mod predicate;

use halfbyte_abi::Target;
use halfbyte_ir::{Attr, Kernel, Legality, Op, Reason, Type};
use halfbyte_isa::halu::TARGET;

use crate::rules::{HALU_NATIVE, HALU_RULES, Rule};
use crate::{Backend, Halu, Refusal, Request, Scratch, Selected, reasons};

/// Returns the ops that HALU supports.
fn legality() -> Legality {
    Legality::new(TARGET.name(), HALU_NATIVE.iter().copied(), reason_for_type)
        .with_free_parts(4)
        .with_constant_counts()
        .with_half_word_pairs()
        .with_access_alignment(4)
}

/// Returns the reason why HALU does not support an op on a type, if the type explains it.
pub(crate) fn reason_for_type(op: Op, ty: Type) -> Option<Reason> {
    Some(match op {
        Op::Load | Op::Store if ty.is_mask() => reasons::MASK_IN_MEMORY,
        _ if ty.bits() > 128 => reasons::WIDER_THAN_REGISTERS,
        op if reasons::is_upper_half(op) => return reasons::upper_half(ty),
        _ => return None,
    })
}

/// Returns the reason why HALU does not support an op, if one is known.
fn reason(op: Op, ty: Type, attr: &Attr) -> Option<Reason> {
    match attr {
        Attr::Float(flags) if ty.is_half() && flags.ftz => {
            Some(Reason::with_help("bf16 arithmetic has no `ftz`", "leave out `ftz`: subnormals are kept"))
        }
        Attr::Float(_) if ty == Type::F32 => Some(Reason::with_help(
            "f32 arithmetic supports neither `ftz` nor clamps",
            "leave out all modifiers except the rounding mode, or compute in f16",
        )),
        Attr::FloatCC { ftz: true, .. } if ty == Type::F32 => {
            Some(Reason::with_help("f32 compares keep subnormals", "leave out `ftz`"))
        }
        Attr::Mem(mem) => reasons::alignment(mem, ty).or_else(|| reason_for_type(op, ty)),
        _ => reason_for_type(op, ty),
    }
}

impl Backend for Halu {
    fn legality(&self, _: Target) -> Legality {
        legality()
    }

    fn rules(&self) -> &'static [Rule] {
        HALU_RULES
    }

    fn check_intrinsics(&self, kernel: &Kernel, _: Target) -> Vec<Refusal> {
        lowering::intrinsic::check(kernel)
    }

    fn select(&self, request: Request<'_>, scratch: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        let mut own = scratch.take::<lowering::Scratch>();
        let selected = lowering::select(request, &mut own);
        scratch.keep(own);
        selected
    }
}

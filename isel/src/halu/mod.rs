//! Selection for HALU.

mod builder;
mod in_place;
mod lowering;
pub(crate) mod machine;
mod operands;
mod predicate;

use halfbyte_abi::Target;
use halfbyte_ir::{Attr, Kernel, Legality, Op, Type};
use halfbyte_isa::halu::TARGET;

use crate::rules::{HALU_NATIVE, HALU_RULES, Rule};
use crate::{Backend, Halu, Refusal, Request, Scratch, Selected};

/// What HALU can do. A pair is two general registers, and a quad four.
fn legality() -> Legality {
    Legality::new(TARGET.name(), HALU_NATIVE.iter().copied(), reason_for_type).with_free_parts(4)
}

/// Why HALU has no such op on the type, where more can be said.
pub(crate) fn reason_for_type(op: Op, ty: Type) -> Option<&'static str> {
    Some(match op {
        Op::Swizzle => "it has no shuffle by lanes chosen at run time",
        Op::LocalId | Op::GroupId | Op::GroupSize => "it knows no groups of items, only `item_id` and `item_count`",
        Op::FcvtFromS | Op::FcvtFromU if ty.is_half() => "by way of f32 it would round twice",
        Op::Shl | Op::ShrS | Op::ShrU if !ty.is_scalar() => "packed lanes shift by one constant for all",
        Op::Load | Op::Store if ty.is_mask() => "masks have no place in memory; expand them with `mask_expand`",
        _ if ty.bits() > 128 => "its registers hold at most 128 bits",
        _ => return None,
    })
}

/// Why HALU cannot do this op, where more can be said than that.
fn reason(op: Op, ty: Type, attr: &Attr) -> Option<&'static str> {
    match attr {
        Attr::Float(flags) if ty.is_half() && flags.ftz => Some("bf16 arithmetic has no `ftz`"),
        Attr::Float(_) if ty == Type::F32 && matches!(op, Op::Fmin | Op::Fmax) => {
            Some("it has no f32 minimum or maximum; compare and select")
        }
        Attr::Float(_) if ty == Type::F32 => Some("f32 arithmetic rounds to nearest even and keeps subnormals"),
        Attr::FloatCC { ftz: true, .. } if ty == Type::F32 => Some("f32 compares keep subnormals"),
        Attr::Mem(mem) if mem.align > ty.bytes() => {
            Some("an access is checked for alignment to its own size, not to more")
        }
        Attr::Mem(mem) if mem.align < ty.bytes().min(4) => {
            Some("an access needs the alignment of its size, or of 4 where it is larger")
        }
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
        let selected = lowering::select(request.kernel, request.locate, request.trace, &mut own);
        scratch.keep(own);
        selected
    }
}

//! Instruction selection for VP1.

mod builder;
mod constants;
mod demand;
mod group;
// Public only for `tests/vp1_identity.rs`, which also covers operations that no rule emits.
pub mod identity;
mod lowering;
pub(crate) mod machine;
mod opcode_of_type;
// Public only for `tests/vp1_identity.rs`. The module is not part of the stable interface.
pub mod operands;
mod range;
mod streams;
mod uniform;

use halfbyte_abi::Target;
use halfbyte_ir::{Axes, Elem, Kernel, Lanes, Legality, Op, Reason, Type};
use halfbyte_isa::stream::MAX_REGIONS;
use halfbyte_isa::vp1::TARGET;

pub(crate) use group::is_branch;
pub use group::{Class, Extra, Group, GroupRegisterPosition};

use crate::rules::{Rule, VP1_RULES};
use crate::{Backend, Refusal, Request, Scratch, Selected, Vp1, reasons};

const NO_GROUPS: Reason = Reason::with_help(
    "groups of items are not supported, only `item_id` and `item_count`",
    "compute them from `item_id` and a parameter for the group size; `--target halu` and `--target ptx` have groups",
);
const NO_COMMUNICATION: Reason = Reason::with_help(
    "barriers, atomics and other communication between items are not supported",
    "make each item independent of the others, or compile with `--target halu` or `--target ptx`",
);
const NO_FLOATS: Reason = Reason::with_help(
    "VP1 has no floating-point arithmetic",
    "use integers (fixed point), or `fadd`, `fsub` and `fmul`, which are expanded into integer code; `--target halu` and `--target ptx` have floats",
);
const NEAREST_ONLY: Reason = Reason::with_help(
    "on VP1, sums, differences and products of floats only round to nearest and have no modifiers",
    "leave out the modifier, use integers (fixed point), or compile with `--target halu` or `--target ptx`",
);
const NO_WIDE_LANES: Reason = Reason::with_help(
    "the lanes of VP1's vectors are 8 bits wide",
    "compute on `i8` lanes, or on scalars of 16 and 32 bits",
);
const NO_WIDE_PARAMETER: Reason = Reason::with_help(
    "vectors with wide lanes cannot be block arguments",
    "narrow to bytes before the branch, or run the pass `legalise`, which replaces them by vectors of bytes",
);
const NO_EXACT_SUM: Reason = Reason::with_help(
    "wide lanes are supported only for sums of a few byte products that fit the accumulator exactly",
    "narrow earlier: shift or clamp to bytes after a few products",
);
const NO_WIDE_SCALARS: Reason = Reason::with_help(
    "the scalar registers of VP1 hold 32 bits",
    "compute the upper and the lower half separately in `i32`; `--target halu` and `--target ptx` have `i64`",
);
const NO_DIVISION: Reason = Reason::with_help(
    "VP1 has no division",
    "divide by a constant, which becomes a product and a shift; `--target halu` and `--target ptx` divide by variables",
);
const NO_POINTERS: Reason = Reason::with_help(
    "addresses are not values, because memory is accessed only by streams",
    "access the buffer by its parameter and an index: `%x[%i + 8]`",
);
const NARROW_ACCESS: Reason = Reason::with_help(
    "an access must be `i8x16` or at most 32 bits wide",
    "access `i8x16`, or scalars and words of at most 32 bits",
);

/// Approximate number of values that `$r` or `$v` can hold at once, apart from the registers that address streams.
const REGISTERS: usize = 28;

/// Returns the ops that VP1 supports.
fn legality() -> Legality {
    let lanes = Lanes { vector: Type::I8X16, max_streams: MAX_REGIONS, registers: REGISTERS };
    Legality::new(TARGET.name(), crate::rules::VP1_NATIVE.iter().copied(), reason_for_type)
        .with_lanes(lanes)
        .with_axes(Axes::X)
        .with_narrowings(lowering::context::wide::narrowings)
}

/// Returns the reason why VP1 does not support an op on a type, if the type explains it.
fn reason_for_type(op: Op, ty: Type) -> Option<Reason> {
    Some(match op {
        op if op.tells_group() => NO_GROUPS,
        op if op.orders_memory() => NO_COMMUNICATION,
        Op::FcvtFromS | Op::FcvtFromU | Op::FcvtToS | Op::FcvtToU => NO_FLOATS,
        // Without modifiers, these ops are expanded into integer code.
        Op::Fadd | Op::Fsub | Op::Fmul if ty.is_float() && ty.elem() != Elem::F64 => NEAREST_ONLY,
        Op::PtrAdd => NO_POINTERS,
        Op::DivS | Op::DivU | Op::RemS | Op::RemU if ty != Type::I64 => NO_DIVISION,
        Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU if ty == Type::I8X16 => NO_EXACT_SUM,
        Op::Load | Op::Store if ty.is_mask() => reasons::MASK_IN_MEMORY,
        Op::Load | Op::Store if ty == Type::F64 => NO_FLOATS,
        Op::Load | Op::Store => NARROW_ACCESS,
        _ if ty.is_float() => NO_FLOATS,
        _ => match (ty.elem(), ty.is_scalar()) {
            (Elem::I16 | Elem::I32, false) => NO_WIDE_LANES,
            (Elem::I64, true) => NO_WIDE_SCALARS,
            (Elem::Ptr, _) => NO_POINTERS,
            _ if reasons::is_upper_half(op) => return reasons::upper_half(ty),
            _ => return None,
        },
    })
}

/// Returns the reason why no register of VP1 holds a value of the type.
fn reason_for_value(ty: Type) -> Reason {
    match ty.elem() {
        Elem::I16 | Elem::I32 if !ty.is_scalar() => NO_WIDE_LANES,
        Elem::I64 => NO_WIDE_SCALARS,
        Elem::F64 => NO_FLOATS,
        Elem::Ptr => NO_POINTERS,
        _ => reasons::no_register(ty),
    }
}

impl Backend for Vp1 {
    fn legality(&self, _: Target) -> Legality {
        legality()
    }

    fn rules(&self) -> &'static [Rule] {
        VP1_RULES
    }

    fn check_intrinsics(&self, kernel: &Kernel, _: Target) -> Vec<Refusal> {
        lowering::intrinsic::check(kernel)
    }

    fn select(&self, request: Request<'_>, _: &mut Scratch) -> Result<Selected, Vec<Refusal>> {
        lowering::select(request)
    }
}

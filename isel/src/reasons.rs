//! Reasons for refusals that several targets share, with help. Reasons of one target are in that
//! target's folder.

use halfbyte_ir::{Array, MemAttr, Op, Reason, Type};

pub(crate) const MASK_IN_MEMORY: Reason = Reason::with_help(
    "masks have no place in memory; expand them with `mask_expand`",
    "store `mask_expand` to integers of as many lanes, as `mask_expand.i8x4` is of `i1x4`, and make a mask of what is loaded by `icmp.ne`",
);

pub(crate) const MASK_PARAMETER: Reason = Reason::with_help(
    "a mask cannot be a parameter",
    "let the parameter be integers, `%m: i8x4`, and compare them with zero: `icmp.ne.i8x4 %m, %zero`",
);

pub(crate) const WIDER_THAN_REGISTERS: Reason = Reason::with_help(
    "its registers hold at most 128 bits",
    "compute on parts of at most 128 bits: two `i8x16` or four `i32` in place of one wider value",
);

const PRODUCT_OF_128_BITS: Reason = Reason::with_help(
    "it has no product of 128 bits",
    "put it together from products of the 32-bit halves: `mul_wide_u.i32` is exact",
);

const PRODUCT_OF_SMALL_LANES: Reason = Reason::with_help(
    "it has no upper half of a product of lanes below 32 bits",
    "take each lane alone (`extract`), extend it (`sext.i32` or `zext.i32`), then `mul.i32` and a shift to the right",
);

const ALIGNED_BEYOND_ITS_SIZE: Reason = Reason::with_help(
    "an access is checked for alignment to its own size, not to more",
    "leave `align` out, or ask for no more than the type's size",
);

/// Returns the reason why a target without such memory refuses an array.
pub(crate) fn no_array(array: &Array) -> Reason {
    let why = format!("`%{}`: it has no `{}` memory", array.name, array.space);
    Reason::from(why).help("use a buffer, or `--target halu` or `--target ptx`")
}

/// Returns the reason why the upper half of a product of this type is unsupported, if the type
/// explains it.
pub(crate) fn upper_half(ty: Type) -> Option<Reason> {
    match ty.elem().bits() {
        64 => Some(PRODUCT_OF_128_BITS),
        32 => None,
        _ => Some(PRODUCT_OF_SMALL_LANES),
    }
}

/// Returns `true` if the op computes the upper half of a product.
pub(crate) const fn is_upper_half(op: Op) -> bool {
    matches!(op, Op::MulHiS | Op::MulHiU)
}

/// Returns the reason why an access's alignment is unsupported, on targets that check alignment.
pub(crate) fn alignment(mem: &MemAttr, ty: Type) -> Option<Reason> {
    (mem.align > ty.bytes()).then_some(ALIGNED_BEYOND_ITS_SIZE)
}

/// Returns the reason for an intrinsic of another target.
pub(crate) fn wrong_target(target: &str) -> Reason {
    let help = format!("compile it for `{target}`, or write the ops that the instruction stands for");
    Reason::from(format!("it is an instruction of `{target}`")).help(help)
}

/// Returns the reason for a value of a type that no register holds.
pub(crate) fn no_register(ty: Type) -> Reason {
    let help = match ty.bits() {
        129.. => "compute on parts of at most 128 bits: two `i8x16` or four `i32` in place of one wider value",
        _ => "another type with as many lanes, or the lanes one by one as scalars",
    };
    Reason::from(format!("no register holds {ty}")).help(help)
}

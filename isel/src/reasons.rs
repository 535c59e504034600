//! Reasons and help of refusals that several targets share. A reason that only one target gives is
//! in the folder of the target.

use halfbyte_ir::{Array, MemAttr, Op, Reason, Type};

pub(crate) const MASK_IN_MEMORY: Reason = Reason::with_help(
    "masks cannot be loaded or stored",
    "convert the mask to integers with as many lanes before the store (`mask_expand.i8x4` of an `i1x4`), and back after the load (`icmp.ne`)",
);

pub(crate) const MASK_PARAMETER: Reason = Reason::with_help(
    "a mask cannot be a parameter",
    "declare the parameter as integers, `%m: i8x4`, and compare them with zero: `icmp.ne.i8x4 %m, %zero`",
);

pub(crate) const WIDER_THAN_REGISTERS: Reason = Reason::with_help(
    "the registers of this target hold at most 128 bits",
    "compute on parts of at most 128 bits: two `i8x16` or four `i32` in place of one wider value",
);

const PRODUCT_OF_128_BITS: Reason = Reason::with_help(
    "128-bit products are not supported",
    "compute the product from products of the 32-bit halves; `mul_wide_u.i32` is exact",
);

const PRODUCT_OF_SMALL_LANES: Reason = Reason::with_help(
    "the upper half of a product is not supported for lanes below 32 bits",
    "extract each lane (`extract`), extend it (`sext.i32` or `zext.i32`), multiply with `mul.i32` and shift right",
);

const ALIGNED_BEYOND_ITS_SIZE: Reason = Reason::with_help(
    "alignment beyond the size of the access is not supported",
    "remove `align`, or use at most the size of the type",
);

/// Returns the reason to refuse an array in shared or scratch memory, on a target without such memory.
pub(crate) fn no_array(array: &Array) -> Reason {
    let why = format!("`%{}`: `{}` memory is not supported", array.name, array.space);
    Reason::from(why).help("use a buffer, or `--target halu` or `--target ptx`")
}

/// Returns the reason why the upper half of a product of this type is unsupported, if the type explains it.
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
    let help = format!("compile for `{target}`, or replace the intrinsic by ops");
    Reason::from(format!("the instruction belongs to target `{target}`")).help(help)
}

/// Returns the reason for a value of a type that no register holds.
pub(crate) fn no_register(ty: Type) -> Reason {
    let help = match ty.bits() {
        129.. => "compute on parts of at most 128 bits: two `i8x16` or four `i32` in place of one wider value",
        _ => "use another type with as many lanes, or compute the lanes one by one as scalars",
    };
    Reason::from(format!("no register can hold `{ty}`")).help(help)
}

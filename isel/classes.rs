//! Type classes that the patterns of rules name: `(half ty)` matches if `ty` is a half type.
//!
//! The build script reads the classes to derive the supported ops from the patterns. The selector
//! reads the classes to match the patterns.

use halfbyte_ir::{Elem, Type};

/// Returns `Some(true)` if `ty` belongs to the named class, `Some(false)` if it does not, and
/// `None` if there is no such class. The function is inlined because rules pass a constant name, so
/// no strings are compared at run time.
#[inline(always)]
pub(crate) fn type_class(class: &str, ty: Type) -> Option<bool> {
    Some(match class {
        "half" => ty.is_half(),
        "f16" => ty.elem() == Elem::F16,
        "bf16" => ty.elem() == Elem::BF16,
        "half_pair" => ty.is_half() && !ty.is_scalar(),
        "half_scalar" => ty.is_half() && ty.is_scalar(),
        // Integer types whose lanes a video instruction computes. A scalar uses the lowest lane;
        // the upper lanes are unspecified.
        "lanes" => is_video(ty),
        "lanes_packed" => is_video(ty) && !ty.is_scalar(),
        "lanes_scalar" => is_video(ty) && ty.is_scalar(),
        "int_scalar" => is_word(ty) && ty.is_int() && ty.is_scalar(),
        // Integers and masks that fit one 32-bit register, except truth values.
        "bits32" => is_word(ty) && (ty.is_int() || ty.is_mask()),
        "word" => is_word(ty),
        "halfword" => ty.bits() == 16,
        "pair" => ty.bits() == 64,
        "quad" => ty.bits() == 128,
        "mask" => ty.is_mask() && is_word(ty),
        // VP1: types whose values are in a vector register.
        "vector" => matches!(ty, Type::I8X16 | Type::I1X16),
        // VP1: one byte or four bytes in a scalar register.
        "bytes_in_r" => matches!(ty, Type::I8 | Type::I8X4),
        // VP1: four byte lanes or mask lanes in a scalar register.
        "four_in_r" => matches!(ty, Type::I8X4 | Type::I1X4),
        "narrow" => matches!(ty, Type::I8 | Type::I16),
        // VP1: integers and masks in a scalar register.
        "bits_in_r" => ty.bits() <= 32 && (ty.is_int() || matches!(ty, Type::I1 | Type::I1X4)),
        // VP1: all types in a scalar register except masks.
        "data_in_r" => is_scalar_register(ty),
        "word_data" => is_scalar_register(ty) && ty.bits() == 32,
        "half_data" => is_scalar_register(ty) && ty.bits() == 16,
        // VP1: types that any register can hold.
        "held" => is_scalar_register(ty) || matches!(ty, Type::I8X16 | Type::I1X16 | Type::I1X4 | Type::I1),
        // VP1: types of stream elements.
        "in_stream" => is_scalar_register(ty) || ty == Type::I8X16,
        // Types for which a single load or store instruction exists.
        "stored" => !ty.is_mask() && ty.bits() <= 128,
        _ => return None,
    })
}

fn is_video(ty: Type) -> bool {
    matches!(ty.elem(), Elem::I8 | Elem::I16) && is_word(ty)
}

fn is_scalar_register(ty: Type) -> bool {
    ty.bits() <= 32 && !ty.is_mask()
}

/// Returns `true` if one 32-bit register holds a value of the type. In a mask register, each lane
/// is all ones or all zeros, and as wide as the lanes of the packed integers that the mask selects.
fn is_word(ty: Type) -> bool {
    ty.bits() <= 32 && ty != Type::I1 && ty != Type::I1X16
}

//! Type classes that patterns name: `(half ty)` matches if `ty` is a half type.
//!
//! The build script reads the classes to derive legality from the patterns; the selector reads them
//! to match the patterns.

use halfbyte_ir::{Elem, Type};

/// Returns whether `ty` belongs to the named class, or `None` if there is no such class. The
/// function is inlined because rules pass a constant name, so no strings are compared at run time.
#[inline(always)]
pub(crate) fn type_class(class: &str, ty: Type) -> Option<bool> {
    Some(match class {
        "half" => ty.is_half(),
        "f16" => ty.elem() == Elem::F16,
        "bf16" => ty.elem() == Elem::BF16,
        "half_pair" => ty.is_half() && !ty.is_scalar(),
        "half_scalar" => ty.is_half() && ty.is_scalar(),
        // Integer lanes that a video instruction computes. The upper lanes of a scalar are
        // unspecified.
        "lanes" => is_video(ty),
        "lanes_packed" => is_video(ty) && !ty.is_scalar(),
        "lanes_scalar" => is_video(ty) && ty.is_scalar(),
        "int_scalar" => is_word(ty) && ty.is_int() && ty.is_scalar(),
        // Bits of at most one register, except truth values.
        "bits32" => is_word(ty) && (ty.is_int() || ty.is_mask()),
        "word" => is_word(ty),
        "halfword" => ty.bits() == 16,
        "pair" => ty.bits() == 64,
        "quad" => ty.bits() == 128,
        "mask" => ty.is_mask() && is_word(ty),
        // VP1: contents of a vector register.
        "vector" => matches!(ty, Type::I8X16 | Type::I1X16),
        // VP1: contents of a scalar register. The classes are bytes, four byte or mask lanes,
        // narrow integers, bits, and everything but masks.
        "bytes_in_r" => matches!(ty, Type::I8 | Type::I8X4),
        "four_in_r" => matches!(ty, Type::I8X4 | Type::I1X4),
        "narrow" => matches!(ty, Type::I8 | Type::I16),
        "bits_in_r" => ty.bits() <= 32 && (ty.is_int() || matches!(ty, Type::I1 | Type::I1X4)),
        "data_in_r" => is_scalar_register(ty),
        "word_data" => is_scalar_register(ty) && ty.bits() == 32,
        "half_data" => is_scalar_register(ty) && ty.bits() == 16,
        // VP1: contents of any register, and of streams.
        "held" => is_scalar_register(ty) || matches!(ty, Type::I8X16 | Type::I1X16 | Type::I1X4 | Type::I1),
        "in_stream" => is_scalar_register(ty) || ty == Type::I8X16,
        // Types that loads and stores of a single size can access.
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

/// Returns `true` if values of the type live in one general register. A mask there has lanes of all
/// ones or all zeros, as wide as the lanes of a packed word.
fn is_word(ty: Type) -> bool {
    ty.bits() <= 32 && ty != Type::I1 && ty != Type::I1X16
}

//! Classes of types that patterns name: `(half ty)` matches where `ty` is a half type.
//!
//! Read by the build script, which derives legality from the patterns, and by the selector, which matches them.

use halfbyte_ir::{Elem, Type};

/// Whether a type belongs to the class of that name; `None` where there is no such class. Inlined, for the name is known where
/// rules ask, and no text is compared then.
#[inline(always)]
pub fn type_class(class: &str, ty: Type) -> Option<bool> {
    Some(match class {
        "half" => ty.is_half(),
        "f16" => ty.elem() == Elem::F16,
        "bf16" => ty.elem() == Elem::BF16,
        "half_pair" => ty.is_half() && !ty.is_scalar(),
        "half_scalar" => ty.is_half() && ty.is_scalar(),
        // Integer lanes that a video instruction computes; of a scalar the upper lanes are nobody's.
        "lanes" => is_video(ty),
        "lanes_packed" => is_video(ty) && !ty.is_scalar(),
        "lanes_scalar" => is_video(ty) && ty.is_scalar(),
        "int_scalar" => is_word(ty) && ty.is_int() && ty.is_scalar(),
        // Bits of at most one register, truth values apart.
        "bits32" => is_word(ty) && (ty.is_int() || ty.is_mask()),
        "word" => is_word(ty),
        "halfword" => ty.bits() == 16,
        "pair" => ty.bits() == 64,
        "quad" => ty.bits() == 128,
        "mask" => ty.is_mask() && is_word(ty),
        // Of VP1: what a vector register holds.
        "vector" => matches!(ty, Type::I8X16 | Type::I1X16),
        // What a scalar register of VP1 holds: bytes; lanes of bytes; what is not 32 bits wide; bits; all but masks.
        "bytes_in_r" => matches!(ty, Type::I8 | Type::I8X4),
        "four_in_r" => matches!(ty, Type::I8X4 | Type::I1X4),
        "narrow" => matches!(ty, Type::I8 | Type::I16),
        "bits_in_r" => ty.bits() <= 32 && (ty.is_int() || matches!(ty, Type::I1 | Type::I1X4)),
        "data_in_r" => is_scalar_register(ty),
        "word_data" => is_scalar_register(ty) && ty.bits() == 32,
        "half_data" => is_scalar_register(ty) && ty.bits() == 16,
        // What any register of VP1 holds, and what its streams do.
        "held" => is_scalar_register(ty) || matches!(ty, Type::I8X16 | Type::I1X16 | Type::I1X4 | Type::I1),
        "in_stream" => is_scalar_register(ty) || ty == Type::I8X16,
        // Has a place in memory that loads and stores of one size can reach.
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

/// Lives in one general register. A mask has its lanes there, all ones or all zeros, as wide as those of a packed word.
fn is_word(ty: Type) -> bool {
    ty.bits() <= 32 && ty != Type::I1 && ty != Type::I1X16
}

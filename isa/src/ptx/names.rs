//! PTX identifiers of kernels and parameters, and name prefixes of registers.

use std::borrow::Cow;
use std::fmt::Write;

use super::types::Type;

/// A predefined constant of PTX, whose name cannot be declared.
const RESERVED: &str = "WARP_SZ";

/// Returns the prefix of register names of a type, such as `%r`. A number follows the prefix.
pub const fn register_prefix(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "%p",
        Type::B64 => "%rd",
        Type::U64 => "%ud",
        Type::S64 => "%sd",
        Type::F64 => "%fd",
        Type::B32 => "%r",
        Type::U32 => "%u",
        Type::S32 => "%s",
        Type::F32 => "%f",
        Type::B16 => "%h",
        Type::U16 => "%uh",
        Type::S16 => "%sh",
        Type::F16 => "%fh",
        Type::F16x2 => "%fx",
        // Registers cannot be declared with any other type.
        _ => "%o",
    }
}

/// Returns a name as a PTX identifier. A valid identifier is returned unchanged. Any other name
/// gets the prefix `$`, and each invalid character is replaced by its hexadecimal code between two
/// `$`. Different names always give different identifiers.
pub fn identifier(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_plain = name.chars().all(plain)
        && name.starts_with(|c: char| !c.is_ascii_digit())
        && name.contains(|c| c != '_')
        && name != RESERVED;
    if is_plain {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::from("$");
    for c in name.chars() {
        // The result can be ignored, because writing to a string cannot fail.
        let _ = if plain(c) { write!(escaped, "{c}") } else { write!(escaped, "${:x}$", u32::from(c)) };
    }
    Cow::Owned(escaped)
}

/// Returns the IR name of a PTX kernel, in which `_` replaces every character that is not a letter
/// or digit.
pub fn ir_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_where_they_can_be() {
        for name in ["axpy", "_1", "add", "R2D2", "x_"] {
            assert_eq!(identifier(name), name);
        }
        let escaped = [("0", "$0"), ("_", "$_"), ("WARP_SZ", "$WARP_SZ"), ("a b", "$a$20$b"), ("$0", "$$24$0")];
        for (name, expected) in escaped {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(identifier("größe"), "$gr$f6$$df$e");
    }
}

//! Generation of C headers and Rust bindings for the functions of native objects.

mod c;
mod rust;

use halfbyte_abi::{Direction, Elem, Param, ParamKind, Type};

use super::names::Names;
use super::{Function, Machine};

/// The language of a generated header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Language {
    /// C11 and C++17, in one header.
    C,
    /// Rust: foreign declarations, and safe functions on slices.
    Rust,
}

impl Language {
    /// Returns the header language for a file name, determined by the extension, if known.
    pub fn of_file(name: &str) -> Option<Language> {
        match name.rsplit_once('.')?.1 {
            "h" | "hh" | "hpp" | "hxx" => Some(Language::C),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }
}

/// The contents of a header besides its functions.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Name of the header file, from which its include guard is derived.
    pub name: &'a str,
    /// Source file of the kernels.
    pub source: &'a str,
    /// Target machine of the object.
    pub machine: &'a Machine,
}

/// Returns the text of the header for an object's functions.
pub fn header(language: Language, about: &About<'_>, functions: &[Function]) -> String {
    match language {
        Language::C => c::header(about, functions),
        Language::Rust => rust::header(about, functions),
    }
}

/// The type of an element or a scalar in generated headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Repr {
    /// An unsigned integer with the given number of bits.
    Bits(u32),
    F32,
    F64,
    /// Sixteen bytes with an alignment of 16.
    Vector,
}

impl Repr {
    fn of(ty: Type) -> Repr {
        match (ty.elem(), ty.bytes()) {
            (Elem::F32, 4) => Repr::F32,
            (Elem::F64, 8) => Repr::F64,
            (_, bytes @ ..=8) => Repr::Bits(8 * bytes),
            _ => Repr::Vector,
        }
    }
}

/// Returns the names of the arguments that describe the launch. They precede the kernel's parameters.
fn launch(function: &Function) -> &'static [&'static str] {
    if function.takes_grid { &["grid", "block"] } else { &["items"] }
}

/// Returns, for each parameter, its name and the name of its length argument.
fn names(function: &Function, taken: &[&str]) -> Vec<[String; 2]> {
    let mut names = Names::new(launch(function).iter().chain(taken).copied());
    function.parameters.iter().map(|param| names.of(&param.name)).collect()
}

/// Describes a parameter for a comment. `length` is the name of the length argument of a buffer, if
/// the language has such an argument.
fn describe_param(param: &Param, length: Option<&str>) -> String {
    let ty = param.ty();
    let (one, many) = element(ty);
    let ParamKind::Buffer { direction, align, may_alias, .. } = param.kind else {
        return match ty.lanes() {
            1 => format!("{ty}, {one}"),
            lanes => format!("{ty}, {lanes} {many}, lowest lane first"),
        };
    };
    let does = match direction {
        Direction::In => "read",
        Direction::Out => "filled with zeros, then written",
        Direction::InOut => "read and written",
    };
    let what = match ty.lanes() {
        1 => many.to_owned(),
        lanes => format!("elements of {lanes} {many}, lowest lane first"),
    };
    let count = length.map_or(String::new(), |length| format!("{length} "));
    let aligned = if align > ty.bytes() { format!("; aligned to {align} bytes") } else { String::new() };
    let overlaps = match (may_alias, direction) {
        (true, _) => "; may overlap other `may_alias` buffers",
        (false, Direction::In) => "",
        (false, _) => "; must not overlap other buffers",
    };
    format!("{}, {does}: {count}{what}{aligned}{overlaps}", param.kind)
}

/// Describes the lanes of a type for a comment, in the singular and in the plural.
fn element(ty: Type) -> (&'static str, &'static str) {
    match ty.elem() {
        Elem::I1 if ty.is_scalar() => ("a truth value, 0 or 1", "truth values, 0 or 1"),
        Elem::I1 => ("a truth value", "truth values of one bit each"),
        Elem::I8 => ("an 8-bit integer", "8-bit integers"),
        Elem::I16 => ("a 16-bit integer", "16-bit integers"),
        Elem::I32 => ("a 32-bit integer", "32-bit integers"),
        Elem::I64 => ("a 64-bit integer", "64-bit integers"),
        Elem::F16 => ("the bits of an IEEE half", "IEEE halves"),
        Elem::BF16 => ("the bits of a bfloat16", "bfloat16"),
        Elem::F32 => ("an IEEE single", "IEEE singles"),
        Elem::F64 => ("an IEEE double", "IEEE doubles"),
        Elem::E4M3 => ("the bits of an FP8 E4M3", "FP8 E4M3"),
        Elem::E5M2 => ("the bits of an FP8 E5M2", "FP8 E5M2"),
        Elem::Ptr => ("an address", "addresses"),
    }
}

/// Maximum line length of a generated file, in characters.
const COLUMNS: usize = 120;

/// Formats a call or a declaration. If it exceeds the maximum line length, each argument gets its own line.
fn format_arguments(indent: &str, before: &str, arguments: &[String], after: &str) -> String {
    let line = format!("{indent}{before}({}){after}", arguments.join(", "));
    if line.len() <= COLUMNS {
        return line;
    }
    format!("{indent}{before}(\n{indent}    {}\n{indent}){after}", arguments.join(&format!(",\n{indent}    ")))
}

/// Capitalises the first letter of a text and adds a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_the_language() {
        assert_eq!(Language::of_file("k.h"), Some(Language::C));
        assert_eq!(Language::of_file("out/k.v2.hpp"), Some(Language::C));
        assert_eq!(Language::of_file("k.rs"), Some(Language::Rust));
        assert_eq!(Language::of_file("k.o"), None);
        assert_eq!(Language::of_file("h"), None);
    }

    fn param(kind: ParamKind) -> Param {
        Param { name: "x".to_owned(), kind }
    }

    fn buffer(direction: Direction, elem: Type, align: u32, may_alias: bool) -> Param {
        param(ParamKind::Buffer { direction, elem, align, may_alias })
    }

    #[test]
    fn parameters_are_described() {
        let f16x2 = describe_param(&param(ParamKind::Scalar(Type::F16X2)), None);
        assert_eq!(f16x2, "f16x2, 2 IEEE halves, lowest lane first");
        assert_eq!(describe_param(&param(ParamKind::Scalar(Type::F32)), None), "f32, an IEEE single");
        let read = buffer(Direction::In, Type::I8X4, 16, false);
        let expected = "in i8x4, read: x_len elements of 4 8-bit integers, lowest lane first; aligned to 16 bytes";
        assert_eq!(describe_param(&read, Some("x_len")), expected);
        let written = buffer(Direction::Out, Type::F32, 4, false);
        assert_eq!(
            describe_param(&written, None),
            "out f32, filled with zeros, then written: IEEE singles; must not overlap other buffers"
        );
        let shared = buffer(Direction::InOut, Type::I1, 1, true);
        let expected =
            "inout may_alias i1, read and written: truth values, 0 or 1; may overlap other `may_alias` buffers";
        assert_eq!(describe_param(&shared, None), expected);
    }

    #[test]
    fn every_type_of_a_parameter_has_its_own_size() {
        for ty in Type::ALL.iter().copied().filter(|ty| !ty.is_wide()) {
            let bytes = match Repr::of(ty) {
                Repr::Bits(bits) => bits / 8,
                Repr::F32 => 4,
                Repr::F64 => 8,
                Repr::Vector => 16,
            };
            assert_eq!(bytes, ty.bytes(), "{ty}");
        }
    }
}

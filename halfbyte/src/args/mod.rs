//! Argument values of a launch: numbers, lists, files, zeros and random data. They are converted to bytes of the
//! parameter's type, and buffers are converted back to text.
//!
//! A `0x` hexadecimal number with all digits of an element gives the bits of the element, lane 0 lowest. A decimal
//! number is the value of every lane. A list of numbers gives each lane, lane 0 first. So `0x40003c00` and `[1.0, 2.0]`
//! are the same `f16x2`, and `1.5` gives two equal lanes. Constants in the text of kernels follow the same rule.

pub mod array;
pub mod bind;
pub mod names;
pub mod npy;
pub mod picture;
pub mod print;
mod raw;
mod syntax;

use std::path::Path;

use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::eval::pack;
use halfbyte_ir::text::{element, number};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Elem, ParamKind, Span, Type};

use crate::files::FileError;
pub use crate::files::{Loader, MAX_FILE_BYTES};
use array::Array;
pub use raw::{is_like_file, unread_format};
pub use syntax::{Cursor, shortened};

/// The maximum size in bytes of a buffer that `zeros` or `random` creates.
pub const MAX_BYTES: u64 = 1 << 28;

/// A parsed value of an argument.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// The span of the value in the text.
    pub span: Span,
    /// The kind of value, with its contents.
    pub kind: ValueKind,
}

/// The kinds of values that the text can give.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueKind {
    /// A number, such as `5`, `-1.5`, `inf` or `0x3c00`.
    Number(String),
    /// A list in brackets. Its entries are numbers, or lists of the lanes of an element.
    List(Vec<Value>),
    /// A file: `@file.npy`, `@file.png`, `@file.bin:DTYPE:SHAPE`, or the bytes of any other file.
    File(String),
    /// A buffer of `N` zeros, written `zeros(N)`, or `zeros:TYPE:N` to count elements of `TYPE`.
    Zeros {
        /// The type of the counted elements; `None` for the parameter's type.
        ty: Option<Type>,
        /// The number of elements.
        count: u64,
    },
    /// A buffer of `N` random elements, written `random(N, SEED)`: random bits, edge values, and
    /// values near edge values.
    Random {
        /// The number of elements.
        count: u64,
        /// The seed of the random number generator.
        seed: u64,
    },
    /// An alias, such as `&x` or `&x+16`: an address in the buffer of another parameter.
    Alias {
        /// The name of the parameter that owns the buffer, with the span of the name.
        of: (String, Span),
        /// The offset in that buffer, in bytes.
        offset: u64,
    },
}

/// The bytes of a value, after conversion to a parameter's type.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The bytes of the scalar or buffer.
    pub bytes: Vec<u8>,
    /// The dtype and shape, if the value is a file that defines them.
    pub array: Option<Array>,
}

impl Value {
    /// Parses a text that consists of a single value.
    ///
    /// # Errors
    /// Fails if the text is invalid, with the span of the error.
    pub fn parse(text: &str) -> Result<Value, Diagnostic> {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut cursor = Cursor::new(text, Span { start: 0, end });
        let value = cursor.value()?;
        if cursor.at_end() { Ok(value) } else { Err(cursor.unexpected("the end of the value")) }
    }

    /// Adds `by` bytes to the spans of the value and of its parts.
    pub fn shift(&mut self, by: u32) {
        self.span = Span { start: self.span.start.saturating_add(by), end: self.span.end.saturating_add(by) };
        match &mut self.kind {
            ValueKind::List(list) => list.iter_mut().for_each(|value| value.shift(by)),
            ValueKind::Alias { of: (_, span), .. } => {
                *span = Span { start: span.start.saturating_add(by), end: span.end.saturating_add(by) };
            }
            _ => {}
        }
    }

    /// Returns `true` if the value contains a negative number.
    pub fn has_minus(&self) -> bool {
        match &self.kind {
            ValueKind::Number(text) => text.starts_with('-'),
            ValueKind::List(list) => list.iter().any(Value::has_minus),
            _ => false,
        }
    }

    /// Converts the value to bytes for a parameter of the given kind.
    ///
    /// # Errors
    /// Fails if the parameter's type cannot represent the value, or if a file cannot be read.
    pub fn bytes(&self, kind: ParamKind, loader: &Loader) -> Result<Vec<u8>, Diagnostic> {
        self.load(kind, loader).map(|loaded| loaded.bytes)
    }

    /// Converts the value to bytes for a parameter of the given kind. Also returns the dtype and
    /// the shape, if the value is a file that defines them.
    ///
    /// # Errors
    /// Fails if the parameter's type cannot represent the value, or if a file cannot be read.
    pub fn load(&self, kind: ParamKind, loader: &Loader) -> Result<Loaded, Diagnostic> {
        let mut array = None;
        let (ty, is_scalar) = match kind {
            ParamKind::Scalar(ty) => (ty, true),
            ParamKind::Buffer { elem, .. } => (elem, false),
        };
        let bytes = match &self.kind {
            ValueKind::Number(_) if !is_scalar => {
                return Err(Diagnostic::new(self.span, "a single number is given for a buffer")
                    .expected("a list such as [1, 2]"));
            }
            ValueKind::List(list) if !is_scalar => {
                let mut bytes = Vec::new();
                for element in list {
                    element.element(ty, &mut bytes)?;
                }
                bytes
            }
            ValueKind::Number(_) | ValueKind::List(_) => {
                let mut bytes = Vec::new();
                self.element(ty, &mut bytes)?;
                bytes
            }
            ValueKind::File(name) => {
                let loaded = self.file(name, kind, loader)?;
                array = loaded.array;
                loaded.bytes
            }
            ValueKind::Alias { .. } => {
                return Err(
                    Diagnostic::new(self.span, "an alias cannot be the contents of a buffer").expected("a value")
                );
            }
            &ValueKind::Zeros { ty: of, count } => vec![0; self.size(count, of.unwrap_or(ty), loader)?],
            &ValueKind::Random { count, seed } => {
                let mut bytes = Vec::with_capacity(self.size(count, ty, loader)?);
                let mut random = Random(seed);
                let mut lanes = [0; 16];
                for _ in 0..count {
                    for lane in 0..ty.lanes() {
                        let other = lanes[(lane + 15) % 16];
                        lanes[lane] = random.lane(ty.elem(), other);
                    }
                    push(ty, &lanes, &mut bytes);
                }
                bytes
            }
        };
        let size = ty.bytes() as usize;
        if is_scalar && bytes.len() != size || bytes.len() % size != 0 {
            let message = format!("{} bytes are given for {ty}", bytes.len());
            let expected = if is_scalar { format!("{size} bytes") } else { format!("a multiple of {size}") };
            return Err(Diagnostic::new(self.span, message).expected(expected));
        }
        Ok(Loaded { bytes, array })
    }

    /// Appends the bytes of the value as one element of type `ty`.
    fn element(&self, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
        let mut lanes = [0; 16];
        match &self.kind {
            ValueKind::Number(text) => match (self.whole(text, ty), text.strip_prefix("0x")) {
                (Some(words), _) => {
                    bytes.extend(words?.iter().flat_map(|word| word.to_le_bytes()).take(ty.bytes() as usize));
                    return Ok(());
                }
                (None, Some(digits)) => return self.bits(digits, ty, bytes),
                (None, None) => lanes = [self.lane(text, ty)?; 16],
            },
            ValueKind::List(list) if list.len() == ty.lanes() && !ty.is_scalar() => {
                for (lane, value) in lanes.iter_mut().zip(list) {
                    let ValueKind::Number(text) = &value.kind else {
                        return Err(Diagnostic::new(value.span, "a lane cannot be a list").expected("a number"));
                    };
                    *lane = value.lane(text, ty)?;
                }
            }
            ValueKind::List(list) => {
                let message = format!("a list of {} entries is not a valid {ty}", list.len());
                let expected = match ty.lanes() {
                    1 => "a number".into(),
                    lanes => format!("a number, or a list of {lanes} lanes"),
                };
                return Err(Diagnostic::new(self.span, message).expected(expected));
            }
            _ => return Err(Diagnostic::new(self.span, "this value is invalid in a list").expected("a number")),
        }
        push(ty, &lanes, bytes);
        Ok(())
    }

    /// Returns the 64-bit words of a vector element that is given as one hexadecimal number.
    /// Returns `None` for any other text.
    fn whole(&self, text: &str, ty: Type) -> Option<Result<[u64; 8], Diagnostic>> {
        let (magnitude, negative) = sign(text);
        let read = element(magnitude, negative, ty)?;
        Some(read.map_err(|bad| Diagnostic::new(self.span, bad.message).expected(bad.expected)))
    }

    fn lane(&self, text: &str, ty: Type) -> Result<u64, Diagnostic> {
        let (magnitude, negative) = sign(text);
        number(magnitude, negative, ty.elem()).map_err(|bad| {
            let (message, mut expected) = match integers(ty.elem()) {
                // For an integer out of range, the message of the lane conversion is clearer.
                Some(_) if is_integer(magnitude) => (bad.message, bad.expected),
                Some(range) => {
                    (format!("`{}` is not a valid {}", shortened(text), ty.lane_type()), format!("an integer, {range}"))
                }
                None => (bad.message, bad.expected),
            };
            if !ty.is_scalar() {
                expected += "; or the bits of all lanes in 0x hexadecimal";
            }
            Diagnostic::new(self.span, message).expected(expected)
        })
    }

    /// Appends the bytes of a scalar element whose bits are given by hexadecimal digits.
    fn bits(&self, digits: &str, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
        let most = ty.elem().mask();
        match u64::from_str_radix(digits, 16) {
            // `from_str_radix` accepts a leading `+`, which is not a digit here.
            Ok(bits) if bits <= most && !digits.starts_with('+') => {
                bytes.extend(bits.to_le_bytes().iter().take(ty.bytes() as usize));
                Ok(())
            }
            _ => {
                let message = format!("`0x{}` is not the bits of {ty}", shortened(digits));
                Err(Diagnostic::new(self.span, message).expected(format!("0x0 to {most:#x}")))
            }
        }
    }

    fn file(&self, name: &str, kind: ParamKind, loader: &Loader) -> Result<Loaded, Diagnostic> {
        let ty = kind.ty();
        let wrong = |file: &str, reason: String| Diagnostic::new(self.span, format!("{}: {reason}", shortened(file)));
        let is = |file: &str, extension: &str| {
            Path::new(file).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
        };
        let (path, said) = match raw::split(name) {
            None => {
                if let Some(format) = unread_format(name) {
                    return Err(wrong(name, format!("{format} is not supported"))
                        .expected(".npy, .png, or raw bytes as `@FILE.bin` or `@FILE:u8:COUNT`"));
                }
                (name, None)
            }
            Some((path, ..)) if is(path, "npy") || is(path, "png") => {
                return Err(wrong(path, "files of this format contain their dtype and shape".into())
                    .expected(format!("@{path}")));
            }
            Some((path, dtype, shape)) => {
                let array = raw::array(dtype, shape, ty);
                (path, Some(array.map_err(|(reason, expected)| wrong(name, reason).expected(expected))?))
            }
        };
        let bytes = loader.read(path).map_err(|error| match error {
            FileError::Outside(_) => wrong(path, format!("{error}; add `--allow FOLDER` to read it")),
            error => wrong(path, error.to_string()),
        })?;
        let scalar = |reason: String| match kind {
            ParamKind::Scalar(_) => wrong(path, format!("the file is an array, but the parameter is a single {ty}"))
                .expected(if ty.is_scalar() {
                    "a number".into()
                } else {
                    format!("a number, or a list of {} lanes", ty.lanes())
                }),
            ParamKind::Buffer { .. } => wrong(path, reason),
        };
        if let Some(array) = said {
            let (expected, found) = (array.bytes(), bytes.len());
            return match expected == found as u128 {
                true => Ok(Loaded { bytes, array: Some(array) }),
                false => Err(wrong(path, format!("the file has {found} bytes; expected {expected}"))),
            };
        }
        let loaded = if is(path, "npy") {
            npy::load(&bytes, ty).map_err(|error| scalar(error.to_string()))?
        } else if is(path, "png") {
            let most = MAX_BYTES.min(loader.limits().buffer_bytes);
            picture::read(&bytes, ty, most).map_err(|error| scalar(error.to_string()))?
        } else {
            return Ok(Loaded { bytes, array: None });
        };
        let (bytes, array) = loaded;
        match kind {
            ParamKind::Scalar(_) if bytes.len() != ty.bytes() as usize => Err(scalar(String::new())),
            _ => Ok(Loaded { bytes, array: Some(array) }),
        }
    }

    /// Returns the size in bytes of `count` elements, or an error if it exceeds the limit.
    fn size(&self, count: u64, ty: Type, loader: &Loader) -> Result<usize, Diagnostic> {
        let most = MAX_BYTES.min(loader.limits().buffer_bytes);
        let size = count.checked_mul(ty.bytes().into()).filter(|&size| size <= most);
        let most = most / u64::from(ty.bytes());
        let wrong = || Diagnostic::new(self.span, format!("{count} elements of {ty} are too many"));
        size.and_then(|size| size.try_into().ok()).ok_or_else(|| wrong().expected(format!("at most {most}")))
    }
}

/// Returns the range of the integers that fit in a lane, for a message. Returns `None` for floating-point lanes.
fn integers(elem: Elem) -> Option<String> {
    let max = elem.mask();
    match elem {
        Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 | Elem::E4M3 | Elem::E5M2 => None,
        Elem::I1 | Elem::Ptr => Some(format!("0 to {max}")),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => Some(format!("-{} to {max}", max / 2 + 1)),
    }
}

/// Returns `true` if the text has the syntax of an integer, regardless of the integer's size.
fn is_integer(text: &str) -> bool {
    match text.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Splits the sign off the text of a number. Returns the remaining text, and `true` if the sign is a minus.
fn sign(text: &str) -> (&str, bool) {
    text.strip_prefix('-').map_or((text, false), |magnitude| (magnitude, true))
}

fn push(ty: Type, lanes: &[u64; 16], bytes: &mut Vec<u8>) {
    let words = pack(ty, lanes.get(..ty.lanes()).unwrap_or(lanes));
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(ty.bytes() as usize));
}

/// Formats the elements of a buffer as a list that parses back to the same bits. Each element is
/// given by its bits in hexadecimal. An element of more than 128 bits is a list of its lanes.
pub fn list(ty: Type, bytes: &[u8]) -> String {
    let mut text = String::from("[");
    for (number, element) in bytes.chunks_exact(ty.bytes() as usize).enumerate() {
        text += if number == 0 { "" } else { ", " };
        push_bits(&mut text, ty, element);
    }
    text + "]"
}

/// Formats the bits of an element in hexadecimal, with all digits. An element of more than 128 bits
/// is a list of its lanes.
pub fn element_bits(ty: Type, element: &[u8]) -> String {
    let mut text = String::new();
    push_bits(&mut text, ty, element);
    text
}

/// Appends the bits of an element in hexadecimal to `text`. Buffers may be large, so this function
/// does not allocate memory for each element.
fn push_bits(text: &mut String, ty: Type, element: &[u8]) {
    if ty.bits() > 128 {
        *text += &list(ty.lane_type(), element);
        return;
    }
    *text += "0x";
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    text.extend(element.iter().rev().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::print::{Sign, values};
    use super::*;
    use halfbyte_ir::Direction;

    fn buffer(elem: Type) -> ParamKind {
        ParamKind::Buffer { direction: Direction::In, elem, align: 1, may_alias: false }
    }

    fn parsed_bytes(text: &str, kind: ParamKind) -> Result<Vec<u8>, String> {
        let wrong = |d: Diagnostic| format!("{}..{}: {d}", d.span.start, d.span.end);
        Value::parse(text).and_then(|value| value.bytes(kind, &Loader::within(Path::new(".")))).map_err(wrong)
    }

    #[test]
    fn one_element_in_four_ways() {
        let two = vec![0x00, 0x3c, 0x00, 0x40];
        for text in ["0x40003c00", "[1.0, 2.0]", "[0x3c00, 0x4000]", " [ 1 , 2e0 ] "] {
            assert_eq!(parsed_bytes(text, ParamKind::Scalar(Type::F16X2)), Ok(two.clone()), "{text}");
            assert_eq!(parsed_bytes(&format!("[{text}]"), buffer(Type::F16X2)), Ok(two.clone()), "{text}");
        }
        assert_eq!(parsed_bytes("-1", ParamKind::Scalar(Type::I8X4)), Ok(vec![255; 4]));
        assert_eq!(parsed_bytes("1", ParamKind::Scalar(Type::I1X4)), Ok(vec![15]));
        assert_eq!(parsed_bytes("[[1, 0, 1, 0], 0x3]", buffer(Type::I1X4)), Ok(vec![5, 3]));
        assert_eq!(parsed_bytes("[]", buffer(Type::I8X4)), Ok(vec![]));
    }

    #[test]
    fn lists_read_back() {
        for &ty in Type::ALL {
            let value = Value::parse("random(9, 1)").unwrap();
            let bytes = value.bytes(buffer(ty), &Loader::within(Path::new("."))).unwrap();
            assert_eq!(bytes.len(), 9 * ty.bytes() as usize);
            assert_eq!(parsed_bytes(&list(ty, &bytes), buffer(ty)), Ok(bytes.clone()), "{ty}");
            for sign in [Sign::Unsigned, Sign::Signed] {
                let values = values(ty, &bytes, sign);
                assert_eq!(parsed_bytes(&values, buffer(ty)), Ok(bytes.clone()), "{ty}: {values}");
            }
        }
    }

    #[test]
    fn counts_are_bounded() {
        assert_eq!(parsed_bytes("zeros(3)", buffer(Type::F16X2)), Ok(vec![0; 12]));
        assert_eq!(parsed_bytes("zeros:i8:8", buffer(Type::F16X2)), Ok(vec![0; 8]));
        for text in ["zeros(18446744073709551615)", "zeros:f16x2:18446744073709551615", "random(99999999999, 1)"] {
            assert!(
                parsed_bytes(text, buffer(Type::F16X2))
                    .unwrap_err()
                    .contains("are too many; expected at most 67108864"),
                "{text}"
            );
        }
    }

    #[test]
    fn each_mistake_has_its_place() {
        let x = buffer(Type::F16X2);
        let a = ParamKind::Scalar(Type::I8X4);
        for (text, kind, message) in [
            (
                "",
                x,
                "0..0: the line ends too early; expected a value: a number, a [list], @file.npy, zeros(N), random(N, SEED) or &BUFFER+BYTES",
            ),
            ("5", x, "0..1: a single number is given for a buffer; expected a list such as [1, 2]"),
            (
                "[1.0, [2.0]]",
                x,
                "6..11: a list of 1 entries is not a valid f16x2; expected a number, or a list of 2 lanes",
            ),
            ("[1.0 2.0]", x, "5..6: unexpected `2`; expected `,` or `]`"),
            ("[1.0", x, "4..4: the line ends too early; expected `,` or `]`"),
            ("[[[1]]]", x, "2..3: unexpected `[`; expected a number"),
            (
                "[1.0, 0x123456789]",
                x,
                "6..17: `0x123456789` has 9 digits, the bits of f16x2 have 8; expected `0x` and 8 digits, or a list of lanes",
            ),
            (
                "[0x3c00]",
                x,
                "1..7: `0x3c00` has 4 digits, the bits of f16x2 have 8; expected `0x00003c00` for the bits of the element, or `[0x3c00, 0x3c00]` for every lane",
            ),
            ("zeros(x)", x, "6..7: `x` is invalid here; expected a number of elements"),
            ("zeros:f17:1", x, "6..9: `f17` is not a type; expected a type such as i8x4, f16x2 or i32"),
            ("zeros:i8:3", x, "0..10: 3 bytes are given for f16x2; expected a multiple of 4"),
            ("random(5)", x, "8..9: unexpected `)`; expected `,`"),
            ("@", x, "1..1: the line ends too early; expected a file name"),
            ("[1.0] x", x, "6..7: unexpected `x`; expected the end of the value"),
            ("256", a, "0..3: 256 does not fit i8; expected -128 to 255; or the bits of all lanes in 0x hexadecimal"),
            ("1.5", ParamKind::Scalar(Type::I8), "0..3: `1.5` is not a valid i8; expected an integer, -128 to 255"),
            ("true", ParamKind::Scalar(Type::I1), "0..4: `true` is not a valid i1; expected an integer, 0 to 1"),
            (
                "[1e3]",
                buffer(Type::I16X2),
                "1..4: `1e3` is not a valid i16; expected an integer, -32768 to 65535; or the bits of all lanes in 0x hexadecimal",
            ),
            ("0x+1", a, "0..4: `0x+1` is not the bits of i8x4; expected 0x0 to 0xffffffff"),
            ("zeros(+2)", x, "6..8: `+2` is invalid here; expected a number of elements"),
            ("zeros(2)", a, "0..8: 8 bytes are given for i8x4; expected 4 bytes"),
        ] {
            assert_eq!(parsed_bytes(text, kind), Err(message.into()), "{text}");
        }
        let missing = parsed_bytes("@there-is-no-such.npy", x).unwrap_err();
        assert!(missing.starts_with("0..21: there-is-no-such.npy: "), "{missing}");
    }
}

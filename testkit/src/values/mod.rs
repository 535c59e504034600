//! Values for the parameters of a launch: numbers, lists, files, zeros and random data, as bytes of the parameter's type.
//!
//! A number in `0x` hexadecimal is the bits of a whole element, lane 0 lowest; any other number is the value of every
//! lane, and a list of numbers gives the lanes one by one, lane 0 first. So `0x40003c00`, `[1.0, 2.0]` are one `f16x2`,
//! and `1.5` is one with two equal lanes.

mod loader;
pub mod npy;
mod syntax;

use std::path::Path;

use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::eval::pack;
use halfbyte_ir::text::number;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{ParamKind, Span, Type};

pub use loader::{Loader, MAX_FILE_BYTES};
pub(crate) use syntax::{Cursor, brief};

/// What a buffer made by `zeros` or `random` may take, in bytes.
pub const MAX_BYTES: u64 = 1 << 28;

/// A value as it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Its place in the text.
    pub span: Span,
    /// What it is.
    pub kind: ValueKind,
}

/// The forms of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueKind {
    /// `5`, `-1.5`, `inf`, `0x3c00`.
    Number(String),
    /// `[..]` of numbers, or of lists of lanes.
    List(Vec<Value>),
    /// `@file.npy`, or the bytes of any other file.
    File(String),
    /// `zeros(N)`, or `zeros:TYPE:N` with the type that the count is in.
    Zeros {
        /// The type; the parameter's where there is none.
        ty: Option<Type>,
        /// The number of elements.
        count: u64,
    },
    /// `random(N, SEED)`: edge values, values near them and random bits; always the same for a seed.
    Random {
        /// The number of elements.
        count: u64,
        /// What the data depend on.
        seed: u64,
    },
}

impl Value {
    /// Reads one value that makes up a whole text.
    ///
    /// # Errors
    /// What is wrong, with its place in the text.
    pub fn parse(text: &str) -> Result<Value, Diagnostic> {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut cursor = Cursor::new(text, Span { start: 0, end });
        let value = cursor.value()?;
        if cursor.at_end() { Ok(value) } else { Err(cursor.unexpected("the end of the value")) }
    }

    /// Moves its place, and those of its parts, by so many bytes.
    pub fn shift(&mut self, by: u32) {
        self.span = Span { start: self.span.start.saturating_add(by), end: self.span.end.saturating_add(by) };
        if let ValueKind::List(list) = &mut self.kind {
            list.iter_mut().for_each(|value| value.shift(by));
        }
    }

    /// The bytes for a parameter.
    ///
    /// # Errors
    /// A value that the parameter's type cannot hold, or a file that cannot be read.
    pub fn bytes(&self, kind: ParamKind, loader: &Loader) -> Result<Vec<u8>, Diagnostic> {
        let (ty, is_scalar) = match kind {
            ParamKind::Scalar(ty) => (ty, true),
            ParamKind::Buffer { elem, .. } => (elem, false),
        };
        let bytes = match &self.kind {
            ValueKind::Number(_) if !is_scalar => {
                return Err(
                    Diagnostic::new(self.span, "one number is given for a buffer").expected("a list such as [1, 2]")
                );
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
            ValueKind::File(name) => self.file(name, ty, loader)?,
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
        Ok(bytes)
    }

    /// One element's bytes.
    fn element(&self, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
        let mut lanes = [0; 16];
        match &self.kind {
            ValueKind::Number(text) => match text.strip_prefix("0x") {
                Some(digits) => return self.bits(digits, ty, bytes),
                None => lanes = [self.lane(text, ty)?; 16],
            },
            ValueKind::List(list) if list.len() == ty.lanes() && !ty.is_scalar() => {
                for (lane, value) in lanes.iter_mut().zip(list) {
                    let ValueKind::Number(text) = &value.kind else {
                        return Err(Diagnostic::new(value.span, "a list is given for a lane").expected("a number"));
                    };
                    *lane = value.lane(text, ty)?;
                }
            }
            ValueKind::List(list) => {
                let message = format!("a list of {} is given for one {ty}", list.len());
                let expected = match ty.lanes() {
                    1 => "a number".into(),
                    lanes => format!("a number, or a list of {lanes} lanes"),
                };
                return Err(Diagnostic::new(self.span, message).expected(expected));
            }
            _ => return Err(Diagnostic::new(self.span, "this cannot stand in a list").expected("a number")),
        }
        push(ty, &lanes, bytes);
        Ok(())
    }

    fn lane(&self, text: &str, ty: Type) -> Result<u64, Diagnostic> {
        let (magnitude, negative) = match text.strip_prefix('-') {
            Some(magnitude) => (magnitude, true),
            None => (text, false),
        };
        number(magnitude, negative, ty.elem()).map_err(|bad| {
            let hint = if ty.is_scalar() { "" } else { "; or the bits of all lanes in 0x hexadecimal" };
            Diagnostic::new(self.span, bad.message).expected(bad.expected + hint)
        })
    }

    fn bits(&self, digits: &str, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Diagnostic> {
        let most = u128::MAX >> 128u32.saturating_sub(ty.bits());
        match u128::from_str_radix(digits, 16) {
            // The library takes a plus before the digits.
            Ok(bits) if bits <= most && ty.bits() <= 128 && !digits.starts_with('+') => {
                bytes.extend(bits.to_le_bytes().iter().take(ty.bytes() as usize));
                Ok(())
            }
            _ if ty.bits() > 128 => {
                let expected = format!("a decimal number or a list of {} lanes", ty.lanes());
                Err(Diagnostic::new(self.span, format!("bits cannot be given for {ty}")).expected(expected))
            }
            _ => {
                let message = format!("`0x{}` is not the bits of {ty}", brief(digits));
                Err(Diagnostic::new(self.span, message).expected(format!("0x0 to {most:#x}")))
            }
        }
    }

    fn file(&self, name: &str, ty: Type, loader: &Loader) -> Result<Vec<u8>, Diagnostic> {
        let wrong = |reason: String| Diagnostic::new(self.span, format!("{}: {reason}", brief(name)));
        let bytes = loader.read(name).map_err(wrong)?;
        if Path::new(name).extension().is_some_and(|extension| extension == "npy") {
            npy::read(&bytes, ty).map_err(|error| wrong(error.to_string()))
        } else {
            Ok(bytes)
        }
    }

    /// The size of so many elements, where that is reasonable.
    fn size(&self, count: u64, ty: Type, loader: &Loader) -> Result<usize, Diagnostic> {
        let most = MAX_BYTES.min(loader.limits().buffer_bytes);
        let size = count.checked_mul(ty.bytes().into()).filter(|&size| size <= most);
        let most = most / u64::from(ty.bytes());
        let wrong = || Diagnostic::new(self.span, format!("{count} elements of {ty} are too many"));
        size.and_then(|size| size.try_into().ok()).ok_or_else(|| wrong().expected(format!("at most {most}")))
    }
}

fn push(ty: Type, lanes: &[u64; 16], bytes: &mut Vec<u8>) {
    let words = pack(ty, lanes.get(..ty.lanes()).unwrap_or(lanes));
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(ty.bytes() as usize));
}

/// A buffer's elements as a list that reads back: each the bits of an element where these fit 128, else its lanes.
pub fn list(ty: Type, bytes: &[u8]) -> String {
    let mut text = String::from("[");
    for (number, element) in bytes.chunks_exact(ty.bytes() as usize).enumerate() {
        text += if number == 0 { "" } else { ", " };
        push_bits(&mut text, ty, element);
    }
    text + "]"
}

/// An element's bits in hexadecimal, all digits written; by lanes in brackets where there are more than 128 bits.
pub fn element_bits(ty: Type, element: &[u8]) -> String {
    let mut text = String::new();
    push_bits(&mut text, ty, element);
    text
}

/// Adds an element's bits. Buffers are large, so nothing is allocated for one element.
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
    use super::*;
    use halfbyte_ir::Direction;

    fn buffer(elem: Type) -> ParamKind {
        ParamKind::Buffer { direction: Direction::In, elem, align: 1 }
    }

    fn read(text: &str, kind: ParamKind) -> Result<Vec<u8>, String> {
        let wrong = |d: Diagnostic| format!("{}..{}: {d}", d.span.start, d.span.end);
        Value::parse(text).and_then(|value| value.bytes(kind, &Loader::within(Path::new(".")))).map_err(wrong)
    }

    #[test]
    fn one_element_in_four_ways() {
        let two = vec![0x00, 0x3c, 0x00, 0x40];
        for text in ["0x40003c00", "[1.0, 2.0]", "[0x3c00, 0x4000]", " [ 1 , 2e0 ] "] {
            assert_eq!(read(text, ParamKind::Scalar(Type::F16X2)), Ok(two.clone()), "{text}");
            assert_eq!(read(&format!("[{text}]"), buffer(Type::F16X2)), Ok(two.clone()), "{text}");
        }
        assert_eq!(read("-1", ParamKind::Scalar(Type::I8X4)), Ok(vec![255; 4]));
        assert_eq!(read("1", ParamKind::Scalar(Type::I1X4)), Ok(vec![15]));
        assert_eq!(read("[[1, 0, 1, 0], 0x3]", buffer(Type::I1X4)), Ok(vec![5, 3]));
        assert_eq!(read("[]", buffer(Type::I8X4)), Ok(vec![]));
    }

    #[test]
    fn lists_read_back() {
        for &ty in Type::ALL {
            let value = Value::parse("random(9, 1)").unwrap();
            let bytes = value.bytes(buffer(ty), &Loader::within(Path::new("."))).unwrap();
            assert_eq!(bytes.len(), 9 * ty.bytes() as usize);
            assert_eq!(read(&list(ty, &bytes), buffer(ty)), Ok(bytes), "{ty}");
        }
    }

    #[test]
    fn counts_are_bounded() {
        assert_eq!(read("zeros(3)", buffer(Type::F16X2)), Ok(vec![0; 12]));
        assert_eq!(read("zeros:i8:8", buffer(Type::F16X2)), Ok(vec![0; 8]));
        for text in ["zeros(18446744073709551615)", "zeros:f16x2:18446744073709551615", "random(99999999999, 1)"] {
            assert!(
                read(text, buffer(Type::F16X2)).unwrap_err().contains("are too many; expected at most 67108864"),
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
                "0..0: the line ends too early; expected a value: a number, a [list], @file.npy, zeros(N) or random(N, SEED)",
            ),
            ("5", x, "0..1: one number is given for a buffer; expected a list such as [1, 2]"),
            ("[1.0, [2.0]]", x, "6..11: a list of 1 is given for one f16x2; expected a number, or a list of 2 lanes"),
            ("[1.0 2.0]", x, "5..6: unexpected `2`; expected `,` or `]`"),
            ("[1.0", x, "4..4: the line ends too early; expected `,` or `]`"),
            ("[[[1]]]", x, "2..3: unexpected `[`; expected a number"),
            ("[1.0, 0x123456789]", x, "6..17: `0x123456789` is not the bits of f16x2; expected 0x0 to 0xffffffff"),
            ("zeros(x)", x, "6..7: `x` does not do here; expected a number of elements"),
            ("zeros:f17:1", x, "6..9: `f17` is no type; expected a type such as i8x4, f16x2 or i32"),
            ("zeros:i8:3", x, "0..10: 3 bytes are given for f16x2; expected a multiple of 4"),
            ("random(5)", x, "8..9: unexpected `)`; expected `,`"),
            ("@", x, "1..1: the line ends too early; expected a file name"),
            ("[1.0] x", x, "6..7: unexpected `x`; expected the end of the value"),
            ("256", a, "0..3: 256 does not fit i8; expected -128 to 255; or the bits of all lanes in 0x hexadecimal"),
            ("0x+1", a, "0..4: `0x+1` is not the bits of i8x4; expected 0x0 to 0xffffffff"),
            ("zeros(+2)", x, "6..8: `+2` does not do here; expected a number of elements"),
            ("zeros(2)", a, "0..8: 8 bytes are given for i8x4; expected 4 bytes"),
        ] {
            assert_eq!(read(text, kind), Err(message.into()), "{text}");
        }
        let missing = read("@there-is-no-such.npy", x).unwrap_err();
        assert!(missing.starts_with("0..21: there-is-no-such.npy: "), "{missing}");
    }
}

//! Conversion of buffers to text that parses back to the same bits: the numbers in the lanes, or
//! the bits of the elements.

use std::collections::HashMap;

use halfbyte_ir::text::number_text;
use halfbyte_ir::{Elem, Type};

/// The signedness with which integers are printed. The integers of the IR have no signedness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sign {
    /// Integers are printed as unsigned numbers.
    #[default]
    Unsigned,
    /// Integers are printed as signed numbers in two's complement.
    Signed,
}

impl Sign {
    /// Returns `Signed` if `is_signed`, otherwise `Unsigned`.
    pub const fn signed(is_signed: bool) -> Sign {
        if is_signed { Sign::Signed } else { Sign::Unsigned }
    }

    /// Returns `true` if integers are printed as signed numbers.
    pub const fn is_signed(self) -> bool {
        matches!(self, Sign::Signed)
    }
}

/// Formats the elements of a buffer as a list of numbers. A vector element is a list of its lanes.
/// A floating-point number has the fewest decimal digits that parse back to the same bits.
/// Addresses, and NaNs other than the canonical `nan`, are given by their bits.
pub fn values(ty: Type, bytes: &[u8], sign: Sign) -> String {
    let mut writer = Writer { sign, halves: HashMap::new() };
    let mut text = String::from("[");
    for (number, element) in bytes.chunks_exact(ty.bytes() as usize).enumerate() {
        text += if number == 0 { "" } else { ", " };
        writer.element(&mut text, ty, element);
    }
    text + "]"
}

/// Formats one element: a number, or a list of the lanes of a vector.
pub fn element_values(ty: Type, element: &[u8], sign: Sign) -> String {
    let mut text = String::new();
    Writer { sign, halves: HashMap::new() }.element(&mut text, ty, element);
    text
}

/// Formats the value of one lane, whose bits are `bits`.
pub fn lane_value(elem: Elem, bits: u64, sign: Sign) -> String {
    match elem {
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 if !sign.is_signed() => bits.to_string(),
        Elem::Ptr => format!("{bits:#018x}"),
        // The formatter of the standard library gives the shortest digits, and is the fastest.
        Elem::F32 if !f32::from_bits(bits as u32).is_nan() && f32::from_bits(bits as u32).is_finite() => {
            format!("{:?}", f32::from_bits(bits as u32))
        }
        Elem::F64 if f64::from_bits(bits).is_finite() => format!("{:?}", f64::from_bits(bits)),
        elem => number_text(bits, elem),
    }
}

/// Returns the bits of each lane of an element, lane 0 first.
pub fn lanes(ty: Type, element: &[u8]) -> impl Iterator<Item = u64> {
    let size = ty.elem().bits() as usize / 8;
    (0..ty.lanes()).map(move |lane| match ty.elem() {
        Elem::I1 => element.get(lane / 8).map_or(0, |byte| u64::from(byte >> (lane % 8) & 1)),
        _ => {
            let bytes = element.get(lane * size..(lane + 1) * size).unwrap_or_default();
            bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
        }
    })
}

struct Writer {
    sign: Sign,
    /// Cache of the formatted halves, keyed by their bits. Formatting a half is slow, and a buffer
    /// contains few distinct halves.
    halves: HashMap<u64, String>,
}

impl Writer {
    fn element(&mut self, text: &mut String, ty: Type, element: &[u8]) {
        if ty.is_scalar() {
            return lanes(ty, element).for_each(|bits| self.lane(text, ty.elem(), bits));
        }
        for (lane, bits) in lanes(ty, element).enumerate() {
            *text += if lane == 0 { "[" } else { ", " };
            self.lane(text, ty.elem(), bits);
        }
        text.push(']');
    }

    fn lane(&mut self, text: &mut String, elem: Elem, bits: u64) {
        match elem {
            Elem::F16 | Elem::BF16 => {
                *text += self.halves.entry(bits).or_insert_with(|| lane_value(elem, bits, self.sign));
            }
            _ => *text += &lane_value(elem, bits, self.sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_type() {
        let text = |ty, bytes: &[u8]| values(ty, bytes, Sign::Unsigned);
        assert_eq!(text(Type::F16X2, &[0, 0x3c, 0, 0x80, 0x66, 0x2e, 0xff, 0x7f]), "[[1.0, -0.0], [0.1, nan]]");
        assert_eq!(text(Type::F16, &[0, 0x7c, 0, 0xfc, 0, 0x7e, 1, 0]), "[inf, -inf, 0x7e00, 6e-8]");
        assert_eq!(text(Type::BF16, &[0x80, 0x3f, 0x49, 0x40]), "[1.0, 3.14]");
        assert_eq!(
            text(Type::F32, &[0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0x80, 0xff, 0, 0, 0xc0, 0x7f]),
            "[0.1, -inf, 0x7fc00000]"
        );
        assert_eq!(text(Type::I8X4, &[0, 127, 128, 255]), "[[0, 127, 128, 255]]");
        assert_eq!(values(Type::I8X4, &[0, 127, 128, 255], Sign::Signed), "[[0, 127, -128, -1]]");
        let doubles = [0.1, f64::NAN, -f64::INFINITY, 5e-324]
            .map(|x: f64| (x.to_bits() & !(u64::from(x.is_nan()) << 63)).to_le_bytes());
        assert_eq!(text(Type::F64, &doubles.concat()), "[0.1, nan, -inf, 5e-324]");
        assert_eq!(values(Type::I64, &[255; 8], Sign::Signed), "[-1]");
        assert_eq!(text(Type::I64, &[255; 8]), "[18446744073709551615]");
        assert_eq!(text(Type::I1X4, &[5]), "[[1, 0, 1, 0]]");
        assert_eq!(text(Type::I1, &[1, 0]), "[1, 0]");
        assert_eq!(text(Type::PTR, &[1, 0, 0, 0, 0, 1, 0, 0]), "[0x0000010000000001]");
        assert_eq!(text(Type::I32, &[]), "[]");
        assert_eq!(element_values(Type::I16X2, &[1, 0, 0, 1], Sign::Unsigned), "[1, 256]");
    }
}

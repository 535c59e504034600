//! Comparison of numbers, bit for bit or within a tolerance.

use halfbyte_abi::Type;

/// A floating-point format in which numbers can be compared within a tolerance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    name: &'static str,
    /// The size of a number in bytes.
    bytes: usize,
    exponent_bits: u32,
    fraction_bits: u32,
    /// `true` if the largest exponent encodes infinities and NaNs. Otherwise the only NaN has all
    /// bits of exponent and fraction set.
    has_infinity: bool,
}

impl Format {
    /// Returns the format with the given name: `f16`, `bf16`, `f32`, `tf32`, `f64`, `e4m3` or `e5m2`. For `f16x2` and
    /// `bf16x2`, returns the format of one lane.
    pub fn from_name(name: &str) -> Option<Format> {
        let (name, bytes, exponent_bits, fraction_bits, has_infinity) = match name {
            "f16" | "f16x2" => ("f16", 2, 5, 10, true),
            "bf16" | "bf16x2" => ("bf16", 2, 8, 7, true),
            "f32" => ("f32", 4, 8, 23, true),
            // A `tf32` is a 32-bit word whose low 13 bits are ignored.
            "tf32" => ("tf32", 4, 8, 23, true),
            "f64" => ("f64", 8, 11, 52, true),
            "e4m3" => ("e4m3", 1, 4, 3, false),
            "e5m2" => ("e5m2", 1, 5, 2, true),
            _ => return None,
        };
        Some(Format { name, bytes, exponent_bits, fraction_bits, has_infinity })
    }

    /// Returns the format's name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the number of bits of a number in memory.
    pub fn bits(self) -> u32 {
        8 * self.bytes as u32
    }

    /// Returns the format of the lanes of a type, or `None` if the type is not floating-point.
    pub fn of(ty: Type) -> Option<Format> {
        Format::from_name(ty.name())
    }

    /// Decodes a number from its bits.
    fn number(self, bits: u64) -> Number {
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let largest = (1 << self.exponent_bits) - 1;
        let exponent = bits >> self.fraction_bits & largest;
        let magnitude = exponent << self.fraction_bits | fraction;
        let is_negative = bits >> (8 * self.bytes - 1) != 0;
        let signed = |value: f64| if is_negative { -value } else { value };
        let place = if is_negative { -i128::from(magnitude) } else { magnitude.into() };
        if exponent == largest && self.has_infinity {
            let infinity = Number::Value { value: signed(f64::INFINITY), place, unit: 0.0 };
            return if fraction == 0 { infinity } else { Number::Nan };
        }
        if exponent == largest && fraction == (1 << self.fraction_bits) - 1 {
            return Number::Nan;
        }
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let significand = if exponent == 0 { fraction } else { 1 << self.fraction_bits | fraction };
        let scale = exponent.max(1) as i32 - bias - self.fraction_bits as i32;
        Number::Value { value: signed(scaled(significand as f64, scale)), place, unit: scaled(1.0, scale) }
    }
}

/// Returns `value * 2^scale`; the result is exact if an `f64` can represent it.
fn scaled(value: f64, scale: i32) -> f64 {
    // A single multiplication is not enough: for a `scale` of -1074 the factor would be subnormal,
    // but the two factors of half that exponent are normal.
    let half = scale / 2;
    value * 2_f64.powi(half) * 2_f64.powi(scale - half)
}

enum Number {
    Nan,
    Value {
        value: f64,
        /// The signed number of representable numbers between zero and this number.
        place: i128,
        /// The value of one unit in the last place.
        unit: f64,
    },
}

/// The largest accepted distance of a number from the expected number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Margin {
    /// A number of units in the last place, or an absolute distance. NaNs must match unless
    /// `any_nan` is set, and the sign of a zero matters.
    Ulps {
        /// The accepted distance in units in the last place.
        ulps: u64,
        /// The accepted absolute distance.
        absolute: f64,
        /// `true` if a NaN may have other bits than the expected NaN.
        any_nan: bool,
    },
    /// A distance of at most `absolute + relative * |expected|`, plus `ulps` units in the last
    /// place. All NaNs are equal, and so are both zeros.
    Distance {
        /// The accepted absolute distance.
        absolute: f64,
        /// The accepted distance as a fraction of the expected number.
        relative: f64,
        /// The accepted distance in units in the last place of the found number.
        ulps: f64,
    },
}

impl Margin {
    fn allows(self, expected: &Number, found: &Number) -> bool {
        let (
            &Number::Value { value: expected, place: expected_place, .. },
            &Number::Value { value: found, place, unit },
        ) = (expected, found)
        else {
            let are_nans = matches!((expected, found), (Number::Nan, Number::Nan));
            return are_nans && !matches!(self, Margin::Ulps { any_nan: false, .. });
        };
        if expected.is_infinite() || found.is_infinite() {
            return expected == found;
        }
        let distance = (expected - found).abs();
        match self {
            Margin::Ulps { ulps, absolute, .. } => {
                // Zeros of opposite signs are at distance 0 but must differ.
                let by_distance = expected != found && absolute > 0.0 && distance <= absolute;
                let is_zero = expected == 0.0 || found == 0.0;
                by_distance || !is_zero && (expected_place - place).unsigned_abs() <= ulps.into()
            }
            Margin::Distance { absolute, relative, ulps } => {
                expected == found || distance <= absolute + relative * expected.abs() + ulps * unit
            }
        }
    }
}

/// A set of accepted distances. A number is accepted if it is within at least one of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Tolerance {
    format: Format,
    margins: Vec<Margin>,
    /// The description of the accepted distances in messages.
    pub description: String,
}

impl Tolerance {
    /// Creates a tolerance from accepted distances and a description for messages.
    pub fn new(format: Format, margins: Vec<Margin>, said: impl Into<String>) -> Tolerance {
        Tolerance { format, margins, description: said.into() }
    }

    /// Returns `true` if the found number equals the expected number or is within an accepted
    /// distance. Both are given as bits.
    pub fn allows(&self, expected: u64, found: u64) -> bool {
        let numbers = || (self.format.number(expected), self.format.number(found));
        expected == found || {
            let (expected, found) = numbers();
            self.margins.iter().any(|margin| margin.allows(&expected, &found))
        }
    }

    /// Returns the distance of two numbers, or `None` if one of them is not finite.
    pub fn distance(&self, expected: u64, found: u64) -> Option<f64> {
        let finite = |bits| match self.format.number(bits) {
            Number::Value { value, .. } if value.is_finite() => Some(value),
            _ => None,
        };
        Some((finite(found)? - finite(expected)?).abs())
    }
}

/// The expected contents of a buffer, with a tolerance if the contents are compared as numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The expected bytes.
    pub bytes: Vec<u8>,
    /// The tolerance for the numbers; `None` for exact comparison.
    pub near: Option<Tolerance>,
}

impl Expected {
    /// Returns the byte offset of the first number or byte that differs from the expected contents.
    /// If the lengths differ, returns the shorter length.
    pub fn differs_at(&self, found: &[u8]) -> Option<usize> {
        if self.bytes.len() != found.len() {
            return Some(self.bytes.len().min(found.len()));
        }
        let Some(near) = &self.near else {
            return self.bytes.iter().zip(found).position(|(expected, found)| expected != found);
        };
        let size = near.format.bytes;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        let differs = |(expected, found): (&[u8], &[u8])| {
            expected != found && (expected.len() < size || !near.allows(number(expected), number(found)))
        };
        let mut pairs = self.bytes.chunks(size).zip(found.chunks(size));
        pairs.position(differs).map(|number| number * size)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn format(name: &str) -> Format {
        Format::from_name(name).unwrap()
    }

    fn value(name: &str, bits: u64) -> Option<f64> {
        match format(name).number(bits) {
            Number::Nan => None,
            Number::Value { value, .. } => Some(value),
        }
    }

    fn differ(margin: Margin, name: &str, expected: u32, found: u32) -> bool {
        let near = Some(Tolerance::new(format(name), vec![margin], ""));
        let expected = Expected { bytes: expected.to_le_bytes().to_vec(), near };
        expected.differs_at(&found.to_le_bytes()).is_some()
    }

    #[test]
    fn numbers_are_those_of_their_formats() {
        for bits in [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x8000_0001, 0xff80_0000] {
            let expected = f64::from(f32::from_bits(bits));
            assert_eq!(value("f32", bits.into()).map(f64::to_bits), Some(expected.to_bits()), "{bits:#x}");
        }
        for bits in [0, 1, 0x000f_ffff_ffff_ffff, 0x7fef_ffff_ffff_ffff, 0x3ff0_0000_0000_0001, 1 << 63 | 1] {
            assert_eq!(value("f64", bits).map(f64::to_bits), Some(bits));
        }
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits).to_f64();
            assert_eq!(value("f16", bits.into()), (!expected.is_nan()).then_some(expected), "{bits:#x}");
        }
        assert_eq!((value("e4m3", 0x7e), value("e4m3", 0x7f), value("e4m3", 0xff)), (Some(448.0), None, None));
        assert_eq!((value("e5m2", 0x7b), value("e5m2", 0x7c)), (Some(57344.0), Some(f64::INFINITY)));
        assert_eq!((value("e5m2", 0x7d), value("tf32", 0x7fff_ffff)), (None, None));
    }

    #[test]
    fn units_in_the_last_place_count_up_to_their_number() {
        let two = Margin::Ulps { ulps: 2, absolute: 0.0, any_nan: false };
        assert!(!differ(two, "f32", 0x3f80_0000, 0x3f80_0002));
        assert!(differ(two, "f32", 0x3f80_0000, 0x3f80_0003));
        assert!(!differ(two, "f32", 0x3f80_0000, 0x3f7f_fffe));
        // Zeros of opposite signs, zero and a subnormal, the largest number and infinity, and two
        // NaNs are never within two ulps.
        assert!(differ(two, "f32", 0x8000_0000, 0));
        assert!(differ(two, "f32", 0, 1));
        assert!(differ(two, "f32", 0x7f7f_ffff, 0x7f80_0000));
        assert!(differ(two, "f32", 0x7fff_ffff, 0x7fc0_0000));
        assert!(!differ(Margin::Ulps { ulps: 0, absolute: 0.0, any_nan: true }, "f32", 0x7fff_ffff, 0x7fc0_0000));
        assert!(!differ(Margin::Ulps { ulps: 0, absolute: 1e-40, any_nan: false }, "f32", 0, 1));
        assert!(differ(Margin::Ulps { ulps: 0, absolute: 1e-40, any_nan: false }, "f32", 0x8000_0000, 0));
    }

    #[test]
    fn distance_treats_zeros_and_nans_as_equal() {
        let near = Margin::Distance { absolute: 0.0, relative: 0.25, ulps: 0.0 };
        assert!(!differ(near, "f32", 2.0_f32.to_bits(), 2.5_f32.to_bits()));
        assert!(differ(near, "f32", 2.0_f32.to_bits(), 2.625_f32.to_bits()));
        assert!(!differ(near, "f32", 0x8000_0000, 0));
        assert!(!differ(near, "f32", 0x7fff_ffff, 0xffc0_0000));
        assert!(differ(near, "f32", 0x7fff_ffff, 0));
        assert!(differ(near, "f32", 0x7f80_0000, 0xff80_0000));
    }

    #[test]
    fn units_of_a_distance_are_of_what_was_found() {
        let units = |ulps| Margin::Distance { absolute: 0.0, relative: 0.0, ulps };
        assert!(!differ(units(2.5), "f32", 0x3f80_0002, 0x3f80_0000));
        assert!(differ(units(2.5), "f32", 0x3f80_0003, 0x3f80_0000));
        // The found number is 1.0 here, but just below 1.0 an ulp is half as large.
        assert!(!differ(units(2.0), "f32", 0x3f7f_fffc, 0x3f80_0000));
        assert!(differ(units(2.0), "f32", 0x3f7f_fffb, 0x3f80_0000));
        assert!(!differ(units(1.0), "f32", 1, 0));
        assert!(differ(units(1.0), "f32", 2, 0));
        assert!(differ(units(9.0), "f32", 0x7f7f_ffff, 0x7f80_0000));
    }

    #[test]
    fn one_of_several_margins_is_enough() {
        let distance = |absolute, relative| Margin::Distance { absolute, relative, ulps: 0.0 };
        let near = Tolerance::new(format("f32"), vec![distance(0.5, 0.0), distance(0.0, 0.125)], "");
        let allows = |expected: f32, found: f32| near.allows(expected.to_bits().into(), found.to_bits().into());
        assert!(allows(0.0, 0.5) && allows(8.0, 9.0) && !allows(8.0, 9.25) && !allows(0.0, 0.625));
        assert_eq!(near.distance(1.0_f32.to_bits().into(), 0.75_f32.to_bits().into()), Some(0.25));
        assert_eq!(near.distance(0x7fc0_0000, 0), None);
    }

    #[test]
    fn every_bit_and_the_length_count_without_a_margin() {
        let expected = Expected { bytes: vec![1, 2, 3], near: None };
        assert_eq!(expected.differs_at(&[1, 2, 3]), None);
        assert_eq!(expected.differs_at(&[1, 2, 4]), Some(2));
        assert_eq!(expected.differs_at(&[1, 2]), Some(2));
        let within_1 = Margin::Distance { absolute: 1.0, relative: 0.0, ulps: 0.0 };
        let numbers = Expected { bytes: vec![0; 5], near: Some(Tolerance::new(format("f16"), vec![within_1], "")) };
        // The last byte does not form a whole number, so it is compared exactly.
        assert_eq!(numbers.differs_at(&[0, 0, 1, 0, 1]), Some(4));
    }
}

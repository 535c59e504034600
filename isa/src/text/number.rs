//! Numbers in assembly text: integers, and decimals that are rounded correctly to a binary floating-point format.

use std::cmp::Ordering;

/// A binary interchange format of at most 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// Name of the format in errors.
    pub name: &'static str,
    /// Number of stored significand bits.
    pub fraction: u32,
    /// Number of exponent bits.
    pub exponent: u32,
}

impl FloatFormat {
    /// IEEE binary16.
    pub const F16: FloatFormat = FloatFormat { name: "F16", fraction: 10, exponent: 5 };
    /// bfloat16.
    pub const BF16: FloatFormat = FloatFormat { name: "BF16", fraction: 7, exponent: 8 };
    /// IEEE binary32.
    pub const F32: FloatFormat = FloatFormat { name: "F32", fraction: 23, exponent: 8 };

    const fn sign(self) -> u32 {
        1 << (self.fraction + self.exponent)
    }

    const fn infinity(self) -> u32 {
        self.sign() - (1 << self.fraction)
    }

    /// Returns the canonical NaN of arithmetic, spelled `+QNAN`.
    const fn nan(self) -> u32 {
        self.sign() - 1
    }

    /// Returns the exponent of the least significant bit of a subnormal.
    const fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction as i32
    }

    /// Returns the width of the floating-point format in bits, sign included.
    pub const fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// Splits the magnitude of a finite value into its significand and the exponent of its least significant bit.
    const fn parts(self, bits: u32) -> (u32, i32) {
        let fraction = bits & ((1 << self.fraction) - 1);
        match (bits & self.infinity()) >> self.fraction {
            0 => (fraction, self.min_exponent()),
            e => (fraction | 1 << self.fraction, self.min_exponent() + e as i32 - 1),
        }
    }

    /// Rounds `magnitude`, which is finite and not negative, toward zero. Returns the bits, and the
    /// order of the discarded part relative to half a unit in the last place.
    fn truncate(self, magnitude: f64) -> (u32, Ordering) {
        let bits = magnitude.to_bits();
        let exponent = (bits >> 52) as i32;
        let (significand, place) = match exponent {
            0 => (bits, -1074),
            _ => (bits & ((1 << 52) - 1) | 1 << 52, exponent - 1075),
        };
        // A normal significand loses the low bits that the format cannot store. A subnormal
        // significand loses all bits below the format's least significant bit.
        let shift = (52 - self.fraction as i32).max(self.min_exponent() - place);
        if shift > 63 {
            return (0, Ordering::Less);
        }
        let kept = (significand >> shift) as u32;
        let rest = significand << (64 - shift);
        // `kept` includes the leading bit of a normal significand, so the sum below adds 1 to the exponent field.
        let exponent = (place + shift - self.min_exponent()) as u32;
        if exponent >> self.exponent != 0 {
            return (self.infinity(), Ordering::Less);
        }
        ((exponent << self.fraction) + kept, rest.cmp(&(1 << 63)))
    }
}

/// A number as written in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number<'a> {
    pub negative: bool,
    pub body: Body<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Body<'a> {
    /// Digits after `0x`.
    Hex(&'a str),
    /// Decimal digits with an optional point and an optional exponent, in the syntax that `f64` parses.
    Decimal(&'a str),
    Infinity,
    Nan,
}

/// The reason why a number does not fit its field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberError {
    /// The number has the wrong kind, such as a decimal where an integer is required.
    Sort,
    /// The number is out of range.
    Range,
}

impl<'a> Number<'a> {
    /// Parses a number with an optional sign.
    pub(super) fn parse(text: &'a str) -> Option<Number<'a>> {
        let signless = text.strip_prefix(['-', '+']);
        let negative = text.starts_with('-');
        let body = match (signless, signless.unwrap_or(text)) {
            (Some("INF"), _) => Body::Infinity,
            (Some("QNAN"), _) => Body::Nan,
            (_, rest) => match rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
                Some(hex) if !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()) => Body::Hex(hex),
                Some(_) => return None,
                None if is_decimal(rest) => Body::Decimal(rest),
                None => return None,
            },
        };
        Some(Number { negative, body })
    }

    /// Parses the digits and returns the number as a signed integer.
    pub(super) fn integer(self) -> Result<i128, NumberError> {
        let (digits, radix) = match self.body {
            Body::Hex(digits) => (digits, 16),
            Body::Decimal(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => (digits, 10),
            _ => return Err(NumberError::Sort),
        };
        let digits = digits.trim_start_matches('0');
        let magnitude = if digits.is_empty() { Ok(0) } else { i128::from_str_radix(digits, radix) };
        magnitude.map(|m| if self.negative { -m } else { m }).map_err(|_| NumberError::Range)
    }

    /// Returns the number's bits in a format. A decimal is rounded once, to nearest even, and is
    /// out of range if it rounds to infinity. Hexadecimal digits are the bit pattern itself.
    pub(super) fn float(self, format: FloatFormat) -> Result<u32, NumberError> {
        let magnitude = match self.body {
            Body::Hex(_) if self.negative => return Err(NumberError::Sort),
            Body::Hex(_) => {
                let bits = self.integer()?;
                return if bits >> format.width() == 0 { Ok(bits as u32) } else { Err(NumberError::Range) };
            }
            Body::Decimal(digits) => round(digits, format).ok_or(NumberError::Range)?,
            Body::Infinity => format.infinity(),
            Body::Nan => format.nan(),
        };
        Ok(magnitude | if self.negative { format.sign() } else { 0 })
    }
}

/// Returns `true` for digits with at most one point and an optional exponent.
fn is_decimal(text: &str) -> bool {
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (significand, exponent) = match text.split_once(['e', 'E']) {
        Some((s, e)) => (s, Some(e.strip_prefix(['-', '+']).unwrap_or(e))),
        None => (text, None),
    };
    let (whole, part) = significand.split_once('.').unwrap_or((significand, ""));
    all_digits(whole)
        && all_digits(part)
        && whole.len() + part.len() > 0
        && exponent.is_none_or(|e| !e.is_empty() && all_digits(e))
}

/// Rounds a decimal to nearest even. Returns `None` if it rounds to infinity.
fn round(decimal: &str, format: FloatFormat) -> Option<u32> {
    // Every value and every halfway point of the format is an f64. So the nearest f64 lies on the
    // same side of a halfway point as the decimal, or on the point itself. Only in the latter case
    // is an exact comparison of the digits needed.
    let near: f64 = decimal.parse().ok()?;
    if !near.is_finite() {
        return None;
    }
    let (bits, rest) = format.truncate(near);
    let rest = if rest == Ordering::Equal { compare(decimal, near) } else { rest };
    let up = rest == Ordering::Greater || rest == Ordering::Equal && bits & 1 == 1;
    let rounded = bits + u32::from(up);
    (rounded < format.infinity()).then_some(rounded)
}

/// Compares a decimal with `value`, the positive f64 that is nearest to the decimal.
fn compare(decimal: &str, value: f64) -> Ordering {
    // A halfway point of a format with an 8-bit exponent has fewer than 120 significant digits, so
    // this conversion is exact.
    let exact = format!("{value:.120e}");
    let significant = |s: &str| -> Vec<u8> {
        let digits = s.split(['e', 'E']).next().unwrap_or("").bytes().filter(u8::is_ascii_digit);
        let mut digits: Vec<u8> = digits.skip_while(|&b| b == b'0').collect();
        digits.truncate(digits.iter().rposition(|&b| b != b'0').map_or(0, |last| last + 1));
        digits
    };
    let (a, b) = (significant(decimal), significant(&exact));
    // The decimal exponents differ only if a power of ten lies between the two numbers. In that
    // case the smaller number begins with the digit 9 and the larger one with 1.
    match (a.first(), b.first()) {
        (Some(b'9'), Some(b'1')) => Ordering::Less,
        (Some(b'1'), Some(b'9')) => Ordering::Greater,
        _ => a.cmp(&b),
    }
}

/// Formats the bits of a float: a decimal if a short one is exact, `+INF`, `-INF`, `+QNAN` or
/// `-QNAN`, otherwise the bits in hexadecimal.
pub(super) fn float_text(bits: u32, format: FloatFormat) -> String {
    /// Limits of a short decimal: at most 12 decimal digits after the point, and at most 24 bits before the point.
    const SHORT: (i32, u32) = (12, 24);
    let magnitude = bits & !format.sign();
    let sign = if bits == magnitude { "" } else { "-" };
    let signed = if bits == magnitude { "+" } else { "-" };
    if magnitude == format.infinity() {
        return format!("{signed}INF");
    }
    if magnitude == format.nan() {
        return format!("{signed}QNAN");
    }
    let (significand, place) = format.parts(magnitude);
    let zeros = significand.trailing_zeros().min(31);
    let (odd, place) = if significand == 0 { (0, 0) } else { (significand >> zeros, place + zeros as i32) };
    let whole_bits = 32 - odd.leading_zeros() as i32 + place;
    if magnitude > format.infinity() || place < -SHORT.0 || whole_bits > SHORT.1 as i32 {
        return format!("0x{bits:0width$x}", width = format.width() as usize / 4);
    }
    // A dyadic fraction has as many decimal digits after the point as binary digits.
    let digits = place.min(0).unsigned_abs() as usize;
    let value = f64::from(odd) * 2f64.powi(place);
    format!("{sign}{value:.digits$}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str, format: FloatFormat) -> Option<u32> {
        Number::parse(text).unwrap().float(format).ok()
    }

    #[test]
    fn decimals_round_once_to_nearest_even() {
        let f16 = |t| read(t, FloatFormat::F16);
        assert_eq!(f16("1"), Some(0x3c00));
        assert_eq!(f16("-0"), Some(0x8000));
        assert_eq!(f16("65519"), Some(0x7bff));
        assert_eq!(f16("65520"), None);
        assert_eq!(f16("65519.99999999999999999999999999"), Some(0x7bff));
        assert_eq!(f16("-65536"), None);
        assert_eq!(f16("1e99999999999999999999"), None);
        assert_eq!(f16("1e-99999999999999999999"), Some(0));
        // Halfway points between two f16, and decimals slightly below or above these points.
        assert_eq!(f16("1.00048828125"), Some(0x3c00));
        assert_eq!(f16("1.000488281250000000000000000000000000000000000000000001"), Some(0x3c01));
        assert_eq!(f16("1.00048828124999999999999999999999999999999999999999999"), Some(0x3c00));
        assert_eq!(f16("1.00146484375"), Some(0x3c02));
        assert_eq!(f16("1.00146484374999999999999999999999999999999999999999999"), Some(0x3c01));
        // Half of the smallest subnormal.
        assert_eq!(f16("2.98023223876953125e-8"), Some(0));
        assert_eq!(f16("2.980232238769531250000000000000000000000000000001e-8"), Some(1));
        assert_eq!(read("1e40", FloatFormat::BF16), None);
        assert_eq!(read("9.183549615799121e-41", FloatFormat::BF16), Some(1));
        // The halfway point between the largest finite value and infinity is
        // 3.40282356779733661637...e38. That point is the f64 nearest to both decimals: the first
        // decimal is below the point, and the second one above.
        assert_eq!(read("3.4028235677973366e38", FloatFormat::F32), Some(0x7f7f_ffff));
        assert_eq!(read("3.4028235677973367e38", FloatFormat::F32), None);
        assert_eq!(read("1.401298464324817e-45", FloatFormat::F32), Some(1));
    }

    #[test]
    fn every_value_and_every_halfway_point_reads_exactly() {
        for format in [FloatFormat::F16, FloatFormat::BF16] {
            for bits in 0..format.infinity() {
                let (significand, place) = format.parts(bits);
                let value = f64::from(significand) * 2f64.powi(place);
                assert_eq!(read(&format!("{value:.160e}"), format), Some(bits));
                let half = value + 2f64.powi(place - 1);
                let even = bits + (bits & 1);
                let expected = (even < format.infinity()).then_some(even);
                let digits = format!("{half:.130e}");
                assert_eq!(read(&digits, format), expected, "{digits}");
                let above = digits.replacen('e', "1e", 1);
                assert_eq!(read(&above, format), (bits + 1 < format.infinity()).then_some(bits + 1), "{above}");
            }
        }
    }

    #[test]
    fn printing_reads_back() {
        for format in [FloatFormat::F16, FloatFormat::BF16] {
            for bits in 0..1 << 16 {
                let text = float_text(bits, format);
                assert_eq!(read(&text, format), Some(bits), "{text}");
            }
        }
        let f16 = |bits| float_text(bits, FloatFormat::F16);
        assert_eq!(f16(0x3c00), "1");
        assert_eq!(f16(0x8000), "-0");
        assert_eq!(f16(0xc400), "-4");
        assert_eq!(f16(0x3000), "0.125");
        assert_eq!(f16(0x7e01), "0x7e01");
        assert_eq!(f16(0x7fff), "+QNAN");
        assert_eq!(f16(0xffff), "-QNAN");
        assert_eq!(f16(0xfc00), "-INF");
        assert_eq!(f16(0x0001), "0x0001");
        assert_eq!(float_text(0x3f80_0000, FloatFormat::F32), "1");
        assert_eq!(float_text(0x7149_f2ca, FloatFormat::F32), "0x7149f2ca");
    }

    #[test]
    fn only_numbers_are_numbers() {
        for text in [
            "", "-", "+", "1.2.3", "1e", "1e+", "0x", "0xg", "INF", "QNAN", ".", "e5", "1_0", "--1", "nan", "inf",
            "infinity",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        let integer = |t| Number::parse(t).map(|n| n.integer());
        assert_eq!(integer("-0x10"), Some(Ok(-16)));
        assert_eq!(integer("000000000000000000000000000000000000000000000000000000001"), Some(Ok(1)));
        assert_eq!(integer("0xffffffffffffffffffffffffffffffffff"), Some(Err(NumberError::Range)));
        assert_eq!(integer("1.5"), Some(Err(NumberError::Sort)));
    }
}

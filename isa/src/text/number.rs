//! Numbers in assembly text: integers, and decimals rounded once and exactly to a binary float format.

use std::cmp::Ordering;

/// A binary interchange format of at most 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// Its name in errors.
    pub name: &'static str,
    /// Stored significand bits.
    pub fraction: u32,
    /// Exponent bits.
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

    /// The NaN that arithmetic makes, spelled `+QNAN`.
    const fn nan(self) -> u32 {
        self.sign() - 1
    }

    /// Exponent of the last place of a subnormal.
    const fn min_place(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction as i32
    }

    /// Width of the format in bits.
    pub const fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The value of finite bits without their sign, as a significand and the exponent of its last place.
    const fn parts(self, bits: u32) -> (u32, i32) {
        let fraction = bits & ((1 << self.fraction) - 1);
        match (bits & self.infinity()) >> self.fraction {
            0 => (fraction, self.min_place()),
            e => (fraction | 1 << self.fraction, self.min_place() + e as i32 - 1),
        }
    }

    /// `magnitude`, finite and not negative, rounded toward zero, and the rest: how it compares with half a place.
    fn truncate(self, magnitude: f64) -> (u32, Ordering) {
        let bits = magnitude.to_bits();
        let exponent = (bits >> 52) as i32;
        let (significand, place) = match exponent {
            0 => (bits, -1074),
            _ => (bits & ((1 << 52) - 1) | 1 << 52, exponent - 1075),
        };
        // A normal significand loses what the format has fewer bits for; a subnormal one, what lies below its last place.
        let shift = (52 - self.fraction as i32).max(self.min_place() - place);
        if shift > 63 {
            return (0, Ordering::Less);
        }
        let kept = (significand >> shift) as u32;
        let rest = significand << (64 - shift);
        // The leading bit of a normal significand carries into the exponent.
        let exponent = (place + shift - self.min_place()) as u32;
        if exponent >> self.exponent != 0 {
            return (self.infinity(), Ordering::Less);
        }
        ((exponent << self.fraction) + kept, rest.cmp(&(1 << 63)))
    }
}

/// A number as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number<'a> {
    pub negative: bool,
    pub body: Body<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Body<'a> {
    /// Digits after `0x`.
    Hex(&'a str),
    /// Digits with a point or an exponent or neither, as `f64` parses them.
    Decimal(&'a str),
    Infinity,
    Nan,
}

/// Why a number does not go into its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Misfit {
    /// It is of the wrong sort.
    Sort,
    /// It is too large.
    Range,
}

impl<'a> Number<'a> {
    /// A number with an optional sign, or `None`.
    pub fn parse(text: &'a str) -> Option<Number<'a>> {
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

    /// An integer, of either sign.
    pub fn integer(self) -> Result<i128, Misfit> {
        let (digits, radix) = match self.body {
            Body::Hex(digits) => (digits, 16),
            Body::Decimal(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => (digits, 10),
            _ => return Err(Misfit::Sort),
        };
        let digits = digits.trim_start_matches('0');
        let magnitude = if digits.is_empty() { Ok(0) } else { i128::from_str_radix(digits, radix) };
        magnitude.map(|m| if self.negative { -m } else { m }).map_err(|_| Misfit::Range)
    }

    /// The bits of the number in a format: a decimal is rounded once to nearest even, and is out of range if that makes it
    /// infinite; hexadecimal digits are the bits themselves.
    pub fn float(self, format: FloatFormat) -> Result<u32, Misfit> {
        let magnitude = match self.body {
            Body::Hex(_) if self.negative => return Err(Misfit::Sort),
            Body::Hex(_) => {
                let bits = self.integer()?;
                return if bits >> format.width() == 0 { Ok(bits as u32) } else { Err(Misfit::Range) };
            }
            Body::Decimal(digits) => round(digits, format).ok_or(Misfit::Range)?,
            Body::Infinity => format.infinity(),
            Body::Nan => format.nan(),
        };
        Ok(magnitude | if self.negative { format.sign() } else { 0 })
    }
}

/// Digits with at most one point among them, then perhaps an exponent.
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

/// A decimal rounded to nearest even; `None` where it becomes infinite.
fn round(decimal: &str, format: FloatFormat) -> Option<u32> {
    // Every value and every halfway point of the format is an f64. So the nearest f64 lies on the decimal's side of a halfway
    // point, or on the point itself, and only there the digits themselves decide.
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

/// How a decimal compares with a positive f64 that it is close to.
fn compare(decimal: &str, value: f64) -> Ordering {
    // A halfway point of an 8-bit exponent format has fewer than 120 significant digits, so this is exact.
    let exact = format!("{value:.120e}");
    let significant = |s: &str| -> Vec<u8> {
        let digits = s.split(['e', 'E']).next().unwrap_or("").bytes().filter(u8::is_ascii_digit);
        let mut digits: Vec<u8> = digits.skip_while(|&b| b == b'0').collect();
        digits.truncate(digits.iter().rposition(|&b| b != b'0').map_or(0, |last| last + 1));
        digits
    };
    let (a, b) = (significant(decimal), significant(&exact));
    // Being close, they have one decimal exponent, unless they straddle a power of ten: then their first digits are 9 and 1.
    match (a.first(), b.first()) {
        (Some(b'9'), Some(b'1')) => Ordering::Less,
        (Some(b'1'), Some(b'9')) => Ordering::Greater,
        _ => a.cmp(&b),
    }
}

/// How the bits of a float are printed: a decimal where a short one is exact, `+INF`, `-INF`, `+QNAN`, `-QNAN`, otherwise the
/// bits in hexadecimal.
pub(super) fn float_text(bits: u32, format: FloatFormat) -> String {
    /// Most digits after the point, and most bits before it, of a short decimal.
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
    // A dyadic fraction has as many decimal digits after the point as binary ones.
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
        // Ties, and the nearest decimals to either side of them.
        assert_eq!(f16("1.00048828125"), Some(0x3c00));
        assert_eq!(f16("1.000488281250000000000000000000000000000000000000000001"), Some(0x3c01));
        assert_eq!(f16("1.00048828124999999999999999999999999999999999999999999"), Some(0x3c00));
        assert_eq!(f16("1.00146484375"), Some(0x3c02));
        assert_eq!(f16("1.00146484374999999999999999999999999999999999999999999"), Some(0x3c01));
        // Half of the least subnormal.
        assert_eq!(f16("2.98023223876953125e-8"), Some(0));
        assert_eq!(f16("2.980232238769531250000000000000000000000000000001e-8"), Some(1));
        assert_eq!(read("1e40", FloatFormat::BF16), None);
        assert_eq!(read("9.183549615799121e-41", FloatFormat::BF16), Some(1));
        // The point halfway to infinity is 3.40282356779733661637...e38; the nearest f64 to both of these is that point.
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
        assert_eq!(integer("0xffffffffffffffffffffffffffffffffff"), Some(Err(Misfit::Range)));
        assert_eq!(integer("1.5"), Some(Err(Misfit::Sort)));
    }
}

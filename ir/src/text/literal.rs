//! Numeric literals: parsed exactly, and printed so that they parse back to the same bits.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

use halfbyte_abi::{Elem, Type};

/// Error of an invalid number literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadNumber {
    /// Error message.
    pub message: String,
    /// Description of the valid input.
    pub expected: String,
}

/// Maximum length of a number literal in characters, which bounds the time for exact parsing. The
/// longest exact f32 has 149 digits after the point, and the longest exact f64 has 1,074. The
/// shortest text of any f32 or f64 has at most 17 significant digits.
const MAX_LENGTH: usize = 1200;

fn bad(text: &str, negative: bool, what: &str, expected: &str) -> BadNumber {
    let sign = if negative { "-" } else { "" };
    let shown: String = text.chars().take(40).collect();
    let rest = if shown.len() < text.len() { "..." } else { "" };
    BadNumber { message: format!("`{sign}{shown}{rest}` is not {what}"), expected: expected.into() }
}

/// Parses an unsigned integer of at most 64 bits, decimal or `0x` hexadecimal.
pub fn magnitude(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // `from_str_radix` accepts a plus sign in front of the digits.
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

/// Parses an integer with a sign and a magnitude of at most 64 bits, decimal or `0x` hexadecimal.
pub(super) fn integer(text: &str, negative: bool) -> Result<i128, BadNumber> {
    match magnitude(text) {
        Some(magnitude) => Ok(if negative { -i128::from(magnitude) } else { magnitude.into() }),
        None => {
            Err(bad(text, negative, "an integer of at most 64 bits", "decimal digits, or 0x and hexadecimal digits"))
        }
    }
}

/// Parses the value of a lane and returns its bits. `text` is a number without its sign, `inf` or `nan`.
///
/// # Errors
/// The text is not a number, or the lane cannot hold the number.
pub fn lane(text: &str, negative: bool, elem: Elem) -> Result<u64, BadNumber> {
    match elem {
        Elem::F16 => float::<Half>(text, negative, elem),
        Elem::BF16 => float::<BFloat>(text, negative, elem),
        Elem::F32 => float::<Single>(text, negative, elem),
        Elem::F64 => float::<Double>(text, negative, elem),
        Elem::E4M3 => float::<Float8E4M3FN>(text, negative, elem),
        Elem::E5M2 => float::<Float8E5M2>(text, negative, elem),
        _ => {
            let max = i128::from(elem.mask());
            let min = if elem == Elem::I1 { 0 } else { -(max + 1) / 2 };
            let what = format!("an integer, as {} takes", elem_name(elem));
            let value = integer(text, negative).map_err(|_| bad(text, negative, &what, &format!("{min} to {max}")))?;
            if (min..=max).contains(&value) {
                return Ok(value as u64 & elem.mask());
            }
            Err(BadNumber {
                message: format!("{value} does not fit {}", elem_name(elem)),
                expected: format!("{min} to {max}"),
            })
        }
    }
}

/// Parses the bits of a vector from one `0x` hexadecimal number, lane 0 lowest. Returns `None` if the type is scalar or
/// the number is decimal. A decimal number is the value of every lane ([`lane`]).
///
/// # Errors
/// The number of digits differs from the number of the vector's hexadecimal digits. Such a number is ambiguous, because
/// it could also be meant as the value of every lane. Zero may have any number of digits.
pub fn element(text: &str, negative: bool, ty: Type) -> Option<Result<[u64; 8], BadNumber>> {
    let digits = text.strip_prefix("0x").filter(|_| !ty.is_scalar())?;
    let wanted = ty.bits().div_ceil(4) as usize;
    // A small mask may also have as many digits as its bytes in memory, the format in which results are printed.
    let in_memory = 2 * ty.bytes() as usize;
    let mut words = [0u64; 8];
    for (place, digit) in digits.chars().rev().enumerate().take(in_memory) {
        let bits = digit.to_digit(16).map_or(0, u64::from);
        if let Some(word) = words.get_mut(place / 16) {
            *word |= bits << (place % 16 * 4);
        }
    }
    let hex = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let beyond = ty.bits() < 8 && words.first().is_some_and(|&word| word >> ty.bits() != 0);
    let has_all = [wanted, in_memory].contains(&digits.len()) || digits.bytes().all(|digit| digit == b'0');
    if hex && !negative && !beyond && has_all {
        return Some(Ok(words));
    }
    if !hex || beyond {
        let most = "f".repeat(wanted);
        let most = if ty.bits() < 4 { format!("{:x}", (1 << ty.bits()) - 1) } else { most };
        return Some(Err(bad(text, negative, &format!("the bits of {ty}"), &format!("0x0 to 0x{most}"))));
    }
    let [given, all] = [digits.len(), wanted].map(|n| format!("{n} digit{}", if n == 1 { "" } else { "s" }));
    let whole =
        (digits.len() < wanted && !negative).then(|| format!("`0x{digits:0>wanted$}` for the bits of the element"));
    let each = lane(text, negative, ty.elem()).ok().map(|bits| {
        let spelt = if negative || ty.lanes() > 4 { lane_text(bits, ty.elem()) } else { text.to_owned() };
        let list = vec![spelt.as_str(); ty.lanes()].join(", ");
        let number = if ty.lanes() > 4 { spelt } else { format!("[{list}]") };
        format!("`{number}` for every lane")
    });
    let ways: Vec<String> = [whole, each].into_iter().flatten().collect();
    let expected = if ways.is_empty() { format!("`0x` and {all}, or a list of lanes") } else { ways.join(", or ") };
    let sign = if negative { "-" } else { "" };
    let shown: String = digits.chars().take(40).collect();
    let rest = if shown.len() < digits.len() { "..." } else { "" };
    let message = format!("`{sign}0x{shown}{rest}` has {given}, the bits of {ty} have {wanted}");
    Some(Err(BadNumber { message, expected }))
}

fn elem_name(elem: Elem) -> &'static str {
    halfbyte_abi::Type::new(elem, 1).map_or("", |ty| ty.name())
}

/// Returns the bits of the literal `nan`.
fn canonical_nan(elem: Elem) -> u64 {
    if elem == Elem::F64 { f64::NAN.to_bits() & magnitudes(elem) } else { magnitudes(elem) }
}

fn magnitudes(elem: Elem) -> u64 {
    elem.mask() >> 1
}

fn is_nan(bits: u64, elem: Elem) -> bool {
    bits & magnitudes(elem) > infinity(elem)
}

/// Returns the bits of infinity, or of the largest number if the format has no infinity.
fn infinity(elem: Elem) -> u64 {
    match elem {
        Elem::F16 => 0x7c00,
        Elem::BF16 => 0x7f80,
        Elem::E4M3 => 0x7e,
        Elem::E5M2 => 0x7c,
        Elem::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    }
}

fn sign(elem: Elem) -> u64 {
    magnitudes(elem) + 1
}

fn float<F: Float>(text: &str, negative: bool, elem: Elem) -> Result<u64, BadNumber> {
    let signed = |bits| if negative { bits | sign(elem) } else { bits };
    match text {
        "inf" if elem != Elem::E4M3 => return Ok(signed(infinity(elem))),
        "nan" if !negative => return Ok(canonical_nan(elem)),
        _ => {}
    }
    let no_number =
        || bad(text, negative, "a number", "1.0, -0.5, 6e-8, inf, -inf, nan, or 0x and the bits in hexadecimal");
    if text.starts_with("0x") {
        return match magnitude(text) {
            Some(bits) if bits <= elem.mask() && !negative => Ok(bits),
            _ => Err(bad(
                text,
                negative,
                &format!("the bits of {}", elem_name(elem)),
                &format!("0x0 to {:#x}", elem.mask()),
            )),
        };
    }
    let decimal = |byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let exponent_has_digits = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let signed_again = text.starts_with(['+', '-']);
    if !text.bytes().all(decimal) || !exponent_has_digits || signed_again {
        return Err(no_number());
    }
    if text.len() > MAX_LENGTH {
        return Err(bad(text, negative, &format!("a number of at most {MAX_LENGTH} characters"), "fewer digits"));
    }
    let rounded = F::from_str_r(text, Round::NearestTiesToEven).map_err(|_| no_number())?;
    if rounded.status.contains(Status::OVERFLOW) {
        return Err(BadNumber {
            message: format!("`{text}` rounds to infinity in {}", elem_name(elem)),
            expected: if elem == Elem::E4M3 { "-448 to 448" } else { "a number in range, or inf" }.into(),
        });
    }
    Ok(signed(rounded.value.to_bits() as u64))
}

/// Converts a number to `f64`, which represents every value of every supported format exactly.
fn widened<F: Float + FloatConvert<Double>>(bits: u64) -> f64 {
    let wide: Double = F::from_bits(bits.into()).convert(&mut false).value;
    f64::from_bits(wide.to_bits() as u64)
}

/// Formats the value of a lane. Integers are signed. Whole floats below 2^24 are printed in full,
/// and other floats with the fewest decimal digits that parse back to the same bits. A NaN other
/// than the literal `nan` is printed as hexadecimal bits.
pub fn lane_text(bits: u64, elem: Elem) -> String {
    let value = match elem {
        Elem::F16 => widened::<Half>(bits),
        Elem::BF16 => widened::<BFloat>(bits),
        Elem::F32 => f32::from_bits(bits as u32).into(),
        Elem::F64 => f64::from_bits(bits),
        Elem::E4M3 => widened::<Float8E4M3FN>(bits),
        Elem::E5M2 => widened::<Float8E5M2>(bits),
        Elem::I1 => return (bits & 1).to_string(),
        _ => {
            let unused = 64 - elem.bits();
            return (((bits << unused) as i64) >> unused).to_string();
        }
    };
    if bits == canonical_nan(elem) {
        return "nan".into();
    }
    if is_nan(bits, elem) {
        return format!("{bits:#x}");
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if value.fract() == 0.0 && value.abs() < f64::from(1 << 24) {
        return format!("{value:?}");
    }
    // The standard library prints the shortest text that parses back to the same bits.
    if elem == Elem::F64 {
        return format!("{value:?}");
    }
    // Nine significant digits distinguish any two f32.
    for digits in 0..9 {
        let text = format!("{:.digits$e}", value.abs());
        if lane(&text, value.is_sign_negative(), elem).is_ok_and(|read| read == bits)
            && let Ok(short) = text.parse::<f64>()
        {
            return format!("{:?}", short.copysign(value));
        }
    }
    format!("{bits:#x}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str, elem: Elem) -> Option<u64> {
        let (text, negative) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
        lane(text, negative, elem).ok()
    }

    #[test]
    fn every_half_reads_back() {
        for elem in [Elem::F16, Elem::BF16] {
            for bits in 0..=0xffff {
                let text = lane_text(bits, elem);
                assert_eq!(read(&text, elem), Some(bits), "{text}");
                assert!(is_nan(bits, elem) || !text.contains('x'), "{text}");
            }
        }
    }

    #[test]
    fn doubles_read_back() {
        let mut bits = 1u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            for bits in [bits, bits & 0x800f_ffff_ffff_ffff, bits | 0x7ff0_0000_0000_0000] {
                let text = lane_text(bits, Elem::F64);
                assert_eq!(read(&text, Elem::F64), Some(bits), "{text}");
            }
        }
        for (text, bits) in [
            ("nan", 0x7ff8_0000_0000_0000),
            ("-inf", 0xfff0_0000_0000_0000),
            ("0.1", 0x3fb9_9999_9999_999a),
            ("5e-324", 1),
            ("0xfff8000000000000", 0xfff8_0000_0000_0000),
        ] {
            assert_eq!((read(text, Elem::F64), lane_text(bits, Elem::F64).as_str()), (Some(bits), text));
        }
        assert_eq!(read("1e309", Elem::F64), None);
    }

    #[test]
    fn singles_read_back() {
        let mut bits = 1u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let text = lane_text(bits.into(), Elem::F32);
            assert_eq!(read(&text, Elem::F32), Some(bits.into()), "{text}");
        }
    }

    #[test]
    fn short_and_exact() {
        for (text, bits) in
            [("1.0", 0x3c00), ("-0.5", 0xb800), ("-0.0", 0x8000), ("0.1", 0x2e66), ("65504.0", 0x7bff), ("6e-8", 1)]
        {
            assert_eq!(lane_text(bits, Elem::F16), text);
            assert_eq!(read(text, Elem::F16), Some(bits));
        }
        // Numbers halfway between two halves, with and without one more digit. A conversion through
        // f64 would round them wrongly.
        assert_eq!(read("1.00048828125", Elem::F16), Some(0x3c00));
        assert_eq!(read("1.000488281250000000000000000000000001", Elem::F16), Some(0x3c01));
        assert_eq!(read("65519", Elem::F16), Some(0x7bff));
        assert_eq!(read("65520", Elem::F16), None);
        assert_eq!(read("1e-999999999999", Elem::F16), Some(0));
        assert_eq!(read("1e999999999999", Elem::F32), None);
        assert_eq!(read(&"1".repeat(1000), Elem::F32), None);
        for text in ["", ".", "e5", "1e", "1e+", "1.2.3", "0x", "-0x1", "1_0", "-nan", "NaN", "1e5-", "1e5e5"] {
            assert_eq!(read(text, Elem::F16), None, "{text}");
        }
        for text in ["+1", "--1", "-+1", "0x+1", "-0x-1"] {
            assert_eq!(read(text, Elem::F16), None, "{text}");
            assert_eq!(read(text, Elem::I32), None, "{text}");
        }
    }

    #[test]
    fn all_digits_of_an_element_are_its_bits_and_fewer_are_refused() {
        let read = |text: &str, ty| element(text, false, ty).map(|read| read.map_err(|bad| bad.expected));
        let bits = |low: u64, high: u64| Some(Ok([low, high, 0, 0, 0, 0, 0, 0]));
        assert_eq!(read("0x00003c00", Type::F16X2), bits(0x3c00, 0));
        assert_eq!(read("0x40003c00", Type::F16X2), bits(0x4000_3c00, 0));
        assert_eq!(read("0x0", Type::F16X2), bits(0, 0));
        assert_eq!(read("0x000000000000", Type::F16X2), bits(0, 0));
        assert_eq!(read("0x5", Type::I1X4), bits(5, 0));
        assert_eq!(read("0x3", Type::I1X2), bits(3, 0));
        assert_eq!(read("0x03", Type::I1X2), bits(3, 0));
        assert_eq!(read("0x0a", Type::I1X4), bits(10, 0));
        assert_eq!(
            read("0x0f0e0d0c0b0a09080706050403020100", Type::I8X16),
            bits(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        );
        let refused = |text, ty, expected: &str| assert_eq!(read(text, ty), Some(Err(expected.to_owned())), "{text}");
        refused(
            "0x3c00",
            Type::F16X2,
            "`0x00003c00` for the bits of the element, or `[0x3c00, 0x3c00]` for every lane",
        );
        refused("0x13c00", Type::F16X2, "`0x00013c00` for the bits of the element");
        refused("0x000003c00", Type::F16X2, "`[0x000003c00, 0x000003c00]` for every lane");
        refused("0x123456789", Type::F16X2, "`0x` and 8 digits, or a list of lanes");
        refused(
            "0x30",
            Type::I8X4,
            "`0x00000030` for the bits of the element, or `[0x30, 0x30, 0x30, 0x30]` for every lane",
        );
        refused(
            "0x55",
            Type::I8X16,
            "`0x00000000000000000000000000000055` for the bits of the element, or `85` for every lane",
        );
        refused("0x4", Type::I1X2, "0x0 to 0x3");
        refused("0x1a", Type::I1X4, "0x0 to 0xf");
        refused("0x", Type::I8X4, "0x0 to 0xffffffff");
        refused("0x+1", Type::I8X4, "0x0 to 0xffffffff");
        assert_eq!(element("0x3c00", false, Type::F16), None);
        assert_eq!(element("3", false, Type::I8X4), None);
    }

    #[test]
    fn integers_fit_signed_or_unsigned() {
        assert_eq!(read("-128", Elem::I8), Some(0x80));
        assert_eq!(read("255", Elem::I8), Some(0xff));
        assert_eq!(read("256", Elem::I8), None);
        assert_eq!(read("-129", Elem::I8), None);
        assert_eq!(read("0xffffffffffffffff", Elem::I64), Some(u64::MAX));
        assert_eq!(read("-9223372036854775808", Elem::I64), Some(1 << 63));
        assert_eq!(read("99999999999999999999999999", Elem::I64), None);
        assert_eq!(read("-1", Elem::I1), None);
        assert_eq!(lane_text(0x80, Elem::I8), "-128");
        assert_eq!(lane_text(1, Elem::I1), "1");
    }
}

//! Formatting for `vprintf`: a C format string, and arguments that lie one after another in memory.

use std::fmt;

/// Receiver of the text that kernels print, in the order of the items.
#[derive(Clone, Copy)]
pub struct Print<'a>(pub &'a (dyn Fn(&str) + Sync));

impl fmt::Debug for Print<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Print(..)")
    }
}

/// Upper limit of a field width, of a precision, and of a string's length.
const MOST: usize = 1 << 12;

/// Number of fraction digits of a float, if the format string gives no precision.
const DIGITS: usize = 6;

/// Source of the variadic arguments of `vprintf`.
pub(super) trait Values {
    /// Returns the next argument. Its size is `bytes` (4 or 8), and it is aligned to its size.
    fn next(&mut self, bytes: u32) -> u64;
    /// Returns the string at an address, for `%s`.
    fn text(&mut self, address: u64) -> String;
}

/// The flags, width, precision and argument size of a conversion specification such as `%-8.3f`.
#[derive(Clone, Copy, Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// Size in bytes of an integer argument. The length modifier, such as `ll`, determines it.
    bytes: u32,
}

/// Formats arguments as the template requires. Returns the text and the number of converted arguments.
pub(super) fn format(template: &str, values: &mut impl Values) -> (String, u32) {
    let (mut out, mut shown) = (String::new(), 0);
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match conversion(from, values) {
            Some(('%', _, after)) => {
                out.push('%');
                rest = after;
            }
            Some((kind, how, after)) => {
                match converted(kind, how, values) {
                    Some(text) => {
                        out.push_str(&text);
                        shown += 1;
                    }
                    // An unknown conversion is printed verbatim.
                    None => out.push_str(from.get(..from.len() - after.len()).unwrap_or_default()),
                }
                rest = after;
            }
            None => {
                out.push_str(from);
                return (out, shown);
            }
        }
    }
    out.push_str(rest);
    (out, shown)
}

/// Parses a conversion specification. Returns the conversion character, the options and the
/// remaining text, or `None` if the text ends early.
fn conversion<'t>(text: &'t str, values: &mut impl Values) -> Option<(char, Conversion, &'t str)> {
    let mut how = Conversion { bytes: 4, ..Conversion::default() };
    let mut rest = text.strip_prefix('%')?;
    loop {
        let first = rest.chars().next()?;
        match first {
            '-' => how.left = true,
            '+' => how.plus = true,
            ' ' => how.space = true,
            '#' => how.alternate = true,
            '0' => how.zeros = true,
            _ => break,
        }
        rest = rest.get(1..)?;
    }
    let width = number(&mut rest, values);
    how.left |= width.is_some_and(|width| width < 0);
    how.width = width.map_or(0, limited);
    if let Some(behind) = rest.strip_prefix('.') {
        rest = behind;
        let precision = number(&mut rest, values).unwrap_or(0);
        how.precision = (precision >= 0).then(|| limited(precision));
    }
    loop {
        let first = rest.chars().next()?;
        rest = rest.get(first.len_utf8()..)?;
        match first {
            'l' | 'q' | 'j' | 'z' | 't' | 'L' => how.bytes = 8,
            'h' => how.bytes = if how.bytes == 4 { 2 } else { 1 },
            kind => return Some((kind, how, rest)),
        }
    }
}

/// Parses a number in a conversion specification, a width or a precision. `*` reads the next
/// argument. Returns `None` if there is no number.
fn number(rest: &mut &str, values: &mut impl Values) -> Option<i64> {
    if let Some(behind) = rest.strip_prefix('*') {
        *rest = behind;
        return Some(i64::from(values.next(4) as i32));
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = rest.split_at(digits);
    *rest = behind;
    (digits != 0).then(|| number.parse().unwrap_or(i64::MAX))
}

fn limited(number: i64) -> usize {
    usize::try_from(number.unsigned_abs()).map_or(MOST, |number| number.min(MOST))
}

/// Formats the next argument by a conversion specification. Returns `None` for an unknown conversion character.
fn converted(kind: char, how: Conversion, values: &mut impl Values) -> Option<String> {
    Some(match kind {
        'd' | 'i' => {
            let bits = values.next(how.bytes.max(4));
            let unused = 64 - 8 * how.bytes;
            let value = (bits << unused).cast_signed() >> unused;
            padded(sign(value < 0, how), &digits(value.unsigned_abs().to_string(), how), how, how.precision.is_none())
        }
        'u' | 'x' | 'X' | 'o' => {
            let bits = values.next(how.bytes.max(4));
            let value = bits & (u64::MAX >> (64 - 8 * how.bytes));
            let (prefix, text) = match kind {
                'x' => ("0x", format!("{value:x}")),
                'X' => ("0X", format!("{value:X}")),
                'o' => ("0", format!("{value:o}")),
                _ => ("", value.to_string()),
            };
            let prefix = if how.alternate && value != 0 { prefix } else { "" };
            padded(prefix, &digits(text, how), how, how.precision.is_none())
        }
        'c' => padded("", &char::from(values.next(4) as u8).to_string(), how, false),
        'p' => padded("0x", &format!("{:x}", values.next(8)), how, false),
        's' => {
            let address = values.next(8);
            let text = values.text(address);
            let shown: String = text.chars().take(how.precision.unwrap_or(MOST)).collect();
            padded("", &shown, how, false)
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
            let value = f64::from_bits(values.next(8));
            let magnitude = value.abs();
            let text = match kind.to_ascii_lowercase() {
                _ if !value.is_finite() => if value.is_nan() { "nan" } else { "inf" }.to_owned(),
                'f' => format!("{magnitude:.*}", how.precision.unwrap_or(DIGITS)),
                'e' => scientific(magnitude, how.precision.unwrap_or(DIGITS)),
                'g' => shortest(magnitude, how),
                _ => hexadecimal(magnitude, how.precision),
            };
            let text = if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
            padded(sign(value.is_sign_negative() && !value.is_nan(), how), &text, how, value.is_finite())
        }
        _ => return None,
    })
}

fn sign(negative: bool, how: Conversion) -> &'static str {
    match (negative, how.plus, how.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// Pads an integer with leading zeros to the precision. The number 0 has no digits if the precision is 0.
fn digits(text: String, how: Conversion) -> String {
    match how.precision {
        Some(0) if text == "0" => String::new(),
        Some(least) => format!("{text:0>least$}"),
        None => text,
    }
}

fn padded(prefix: &str, text: &str, how: Conversion, may_be_zeros: bool) -> String {
    let missing = how.width.saturating_sub(prefix.chars().count() + text.chars().count());
    match (how.left, how.zeros && may_be_zeros) {
        (true, _) => format!("{prefix}{text}{}", " ".repeat(missing)),
        (false, true) => format!("{prefix}{}{text}", "0".repeat(missing)),
        (false, false) => format!("{}{prefix}{text}", " ".repeat(missing)),
    }
}

/// Formats a float in scientific notation, as in `1.500000e+00`.
fn scientific(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// Formats a float for `%g`: in fixed or scientific notation, depending on the exponent, and without trailing zeros.
fn shortest(magnitude: f64, how: Conversion) -> String {
    let precision = how.precision.unwrap_or(DIGITS).max(1);
    let rounded = format!("{magnitude:.*e}", precision - 1);
    let exponent: i64 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let fits = (-4..precision as i64).contains(&exponent);
    let text = match fits {
        true => format!("{magnitude:.*}", (precision as i64 - 1 - exponent).max(0) as usize),
        false => scientific(magnitude, precision - 1),
    };
    let (mantissa, exponent) = text.split_once('e').map_or((text.as_str(), None), |(m, e)| (m, Some(e)));
    let mantissa = match mantissa.contains('.') && !how.alternate {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    exponent.map_or_else(|| mantissa.to_owned(), |exponent| format!("{mantissa}e{exponent}"))
}

/// Formats a float in hexadecimal, as in `0x1.8p+1`.
fn hexadecimal(magnitude: f64, precision: Option<usize>) -> String {
    let bits = magnitude.to_bits();
    let (field, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let (mut significand, exponent) = match (field, fraction) {
        (0, 0) => (0, 0),
        (0, fraction) => (fraction, -1022),
        (field, fraction) => (fraction | 1 << 52, field as i64 - 1023),
    };
    // The fraction of an f64 has 13 hexadecimal digits. A lower precision rounds to nearest even.
    if let Some(dropped) = precision.and_then(|digits| 13usize.checked_sub(digits)).filter(|&dropped| dropped != 0) {
        let unit = 1u64 << (4 * dropped);
        let (low, half) = (significand & (unit - 1), unit / 2);
        significand -= low;
        if low > half || low == half && significand & unit != 0 {
            significand += unit;
        }
    }
    let fraction = format!("{:013x}", significand & ((1 << 52) - 1));
    let fraction = match precision {
        Some(digits) => format!("{fraction:0<digits$}").get(..digits).unwrap_or_default().to_owned(),
        None => fraction.trim_end_matches('0').to_owned(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("0x{:x}{point}{fraction}p{exponent:+}", significand >> 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ValueList<'a>(std::slice::Iter<'a, u64>);

    impl Values for ValueList<'_> {
        fn next(&mut self, _: u32) -> u64 {
            self.0.next().copied().unwrap_or(0)
        }

        fn text(&mut self, address: u64) -> String {
            format!("<{address}>")
        }
    }

    #[track_caller]
    fn prints(template: &str, values: &[u64], expected: &str) {
        assert_eq!(format(template, &mut ValueList(values.iter())).0, expected, "{template}");
    }

    fn float(template: &str, value: f64, expected: &str) {
        prints(template, &[value.to_bits()], expected);
    }

    // The expected texts are the output of C's `printf`.
    #[test]
    fn integers() {
        prints("%d|%i|%u", &[-5i64 as u64, 7, u64::MAX], "-5|7|4294967295");
        prints("%ld %lld %lu", &[-5i64 as u64, 1 << 40, u64::MAX], "-5 1099511627776 18446744073709551615");
        prints("%hd %hhd %hu", &[0x1_8000, 0x1FF, 0x1_8000], "-32768 -1 32768");
        prints("[%5d][%-5d][%05d][%+d][% d]", &[42, 42, -42i64 as u64, 42, 42], "[   42][42   ][-0042][+42][ 42]");
        prints("[%.3d][%6.3d][%06.3d][%.0d]", &[5, 5, 5, 0], "[005][   005][   005][]");
        prints("%x %X %#x %#o %#x", &[255, 255, 255, 8, 0], "ff FF 0xff 010 0");
        prints("[%*d][%-*d][%.*d]", &[4, 1, 4, 1, 2, 1], "[   1][1   ][01]");
        prints("[%*d]", &[-4i64 as u64, 1], "[1   ]");
        prints("%c%c %p %s %.2s", &[104, 105, 4096, 9, 8], "hi 0x1000 <9> <8");
    }

    #[test]
    fn floats() {
        float("%f", 1.5, "1.500000");
        float("[%8.2f]", -2.71, "[   -2.71]");
        float("[%08.2f]", -2.71, "[-0002.71]");
        float("%.0f", 2.5, "2");
        float("%e", 12345.678, "1.234568e+04");
        float("%.2E", 0.00012, "1.20E-04");
        float("%g", 100000.0, "100000");
        float("%g", 1000000.0, "1e+06");
        float("%g", 0.0001, "0.0001");
        float("%g", 0.00001, "1e-05");
        float("%g", 3.0, "3");
        float("%.3g", 2.0 / 3.0, "0.667");
        float("%.3g", 999.9, "1e+03");
        float("%#g", 3.0, "3.00000");
        float("%a", 3.0, "0x1.8p+1");
        float("%.1a", 1.5, "0x1.8p+0");
        float("%a", 0.0, "0x0p+0");
        float("[%6f]", f64::INFINITY, "[   inf]");
        float("[%06F]", f64::NEG_INFINITY, "[  -INF]");
        float("%f", f64::NAN, "nan");
        float("%+f", -0.0, "-0.000000");
    }

    #[test]
    fn what_is_no_conversion_stands_as_it_is() {
        prints("100%% %d", &[1], "100% 1");
        prints("%y %d", &[1], "%y 1");
        prints("end %", &[], "end %");
        prints("end %-05", &[], "end %-05");
        prints("%99999999999999999999d", &[1], &format!("{:>4096}", 1));
        assert_eq!(format("%d %s %%", &mut ValueList([1, 2].iter())).1, 2);
    }
}

//! Tests of the standard library. They are exhaustive if the number of possible inputs is small.

mod colour;
mod group;
mod half;
mod memory;

use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_lang::{StdOnly, library, read};

/// Returns the error bound that the source text of the library states above a function, after `Error: `.
fn stated(include: &str, function: &str) -> f64 {
    let file = library().find(|(name, _)| *name == format!("std/{include}")).unwrap().1;
    let above = file.split(&format!("\nfn {function}")).next().unwrap();
    let comment = above.rsplit("\n\n").next().unwrap().lines().last().unwrap();
    let number = comment.split_once("Error: ").unwrap_or_else(|| panic!("{function} states no error: {comment}")).1;
    number.split([' ', ',']).next().unwrap().trim_end_matches('.').parse().unwrap()
}

/// Checks that the error bound in the source text of a function is at least the measured error, and
/// exceeds it by at most 11 percent.
#[track_caller]
fn is_stated(include: &str, function: &str, measured: f64) {
    let stated = stated(include, function);
    assert!(measured <= stated && measured > 0.9 * stated, "{function}: {measured}, and {stated} is stated");
}

/// Evaluates an expression of `a` and `b` for each pair of values. The buffers have the given types.
fn each(include: &str, (from, to): (&str, &str), expr: &str, values: &[(u32, u32)]) -> Vec<u32> {
    let text = format!(
        "include \"std/{include}\"\nkernel k(x: in {from}, w: in {from}, y: out {to}) {{\n  let i = item_id()\n  let (a, b) = (x[i], w[i])\n  y[i] = {expr}\n}}\n"
    );
    let module = read(&text, "k.hb", &StdOnly)
        .unwrap_or_else(|errors| panic!("{}", halfbyte_ir::Diagnostics { file: "k.hb", source: &text, list: &errors }));
    let bytes =
        |part: fn(&(u32, u32)) -> u32| values.iter().flat_map(|pair| part(pair).to_le_bytes()).collect::<Vec<u8>>();
    let (mut x, mut w, mut y) = (bytes(|pair| pair.0), bytes(|pair| pair.1), vec![0; values.len() * 4]);
    let buffer = |number: u64, bytes| Arg::Buffer { base: number << 40, bytes };
    let mut args = [buffer(1, &mut x), buffer(2, &mut w), buffer(3, &mut y)];
    Prepared::new(&module.kernels[0]).run(&Launch::new(values.len() as u32), &mut args).unwrap();
    y.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[track_caller]
fn check(include: &str, types: (&str, &str), expr: &str, values: &[(u32, u32)], expected: impl Fn(u32, u32) -> u32) {
    let found = each(include, types, expr, values);
    for (&(a, b), found) in values.iter().zip(found) {
        assert_eq!(found, expected(a, b), "{expr} of {a:#x} and {b:#x}");
    }
}

/// Returns pairs of pseudo-random 32-bit words, with many edge cases.
fn pairs() -> Vec<(u32, u32)> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (state >> 32) as u32;
        if word & 3 == 0 {
            [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x00ff_00ff, 0xff00_ff00, 0x8000_7fff][word as usize >> 2 & 7]
        } else {
            word
        }
    };
    (0..4000).map(|_| (next(), next())).collect()
}

const WORDS: (&str, &str) = ("i32", "i32");

#[test]
fn divisions_by_255_are_exact() {
    let products: Vec<(u32, u32)> = (0..=65025).map(|a| (a, 0)).collect();
    check("pixel", WORDS, "div255(a)", &products, |a, _| (2 * a + 255) / 510);
    let two: Vec<(u32, u32)> = (0..=65025).map(|a| (a | (65025 - a) << 16, 0)).collect();
    check("pixel", ("i16x2", "i16x2"), "div255_pair(a)", &two, |a, _| {
        let each = |a: u32| (2 * a + 255) / 510;
        each(a & 0xffff) | each(a >> 16) << 16
    });
    let mixed: Vec<(u32, u32)> = (0..=65535).map(|a| (a, (a * 7) & 255)).collect();
    let expr = "pick(a, b)\n}\nfn pick(a: i32, b: i32) -> i32 {\n  bitcast(mix255(i16x2(trunc(a & 255)), i16x2(trunc(a >>_u 8)), i16x2(trunc(b))))";
    check("pixel", WORDS, expr, &mixed, |a, weight| {
        let sum = (a & 255) * (255 - weight) + (a >> 8) * weight;
        (2 * sum + 255) / 510 * 0x1_0001
    });
}

#[test]
fn bytes_are_widened_and_narrowed() {
    let lane = |a: u32, k: u32| a >> (8 * k) & 255;
    check("pixel", ("i8x4", "i16x2"), "low(a)", &pairs(), |a, _| lane(a, 0) | lane(a, 1) << 16);
    check("pixel", ("i8x4", "i16x2"), "high(a)", &pairs(), |a, _| lane(a, 2) | lane(a, 3) << 16);
    check("pixel", ("i8x4", "i8x4"), "bytes(low(a), high(a))", &pairs(), |a, _| a);
    check("pixel", ("i16x2", "i8x4"), "bytes_clamped(a, b)", &pairs(), |a, b| {
        let clamped = |half: u32| (half as i16).clamp(0, 255) as u32;
        clamped(a & 0xffff) | clamped(a >> 16) << 8 | clamped(b & 0xffff) << 16 | clamped(b >> 16) << 24
    });
    let signed = |byte: u32| i32::from(byte as u8 as i8) as u32 & 0xffff;
    check("pixel", ("i8x4", "i16x2"), "low_s(a)", &pairs(), |a, _| signed(lane(a, 0)) | signed(lane(a, 1)) << 16);
    check("pixel", ("i8x4", "i16x2"), "high_s(a)", &pairs(), |a, _| signed(lane(a, 2)) | signed(lane(a, 3)) << 16);
    check("pixel", ("i16x2", "i8x4"), "bytes_clamped_s(a, b)", &pairs(), |a, b| {
        let clamped = |half: u32| (half as i16).clamp(-128, 127) as u32 & 255;
        clamped(a & 0xffff) | clamped(a >> 16) << 8 | clamped(b & 0xffff) << 16 | clamped(b >> 16) << 24
    });
    check("pixel", WORDS, "zext(byte_clamped(a))", &pairs(), |a, _| (a as i32).clamp(0, 255) as u32);
    check("pixel", ("i32", "i16x2"), "pair_clamped(a, b)", &pairs(), |a, b| {
        let clamped = |a: u32| (a as i32).clamp(-32768, 32767) as u32 & 0xffff;
        clamped(a) | clamped(b) << 16
    });
    check("pixel", ("i32", "i16x2"), "pair_clamped_u(a, b)", &pairs(), |a, b| {
        let clamped = |a: u32| (a as i32).clamp(0, 65535) as u32;
        clamped(a) | clamped(b) << 16
    });
    check("pixel", WORDS, "clamp_s(a, -5, 77)", &pairs(), |a, _| (a as i32).clamp(-5, 77) as u32);
    check("pixel", WORDS, "clamp_u(a, 5, 77)", &pairs(), |a, _| a.clamp(5, 77));
}

#[test]
fn divisions_round_as_they_say() {
    let small: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a >> 2, (b >> 9).max(1))).collect();
    check("round", WORDS, "div_up(a, b)", &small, |a, b| a.div_ceil(b));
    check("round", WORDS, "div_near(a, b)", &small, |a, b| (a + b / 2) / b);
    check("round", WORDS, "div_floor(a, b)", &small, |a, b| (a as i32).div_euclid(b as i32) as u32);
    let signed: Vec<(u32, u32)> =
        pairs().into_iter().filter(|(a, b)| *b != 0 && (*a != 1 << 31 || *b != u32::MAX)).collect();
    let floor = |a: u32, b: u32| (i64::from(a as i32) as f64 / f64::from(b as i32)).floor() as i64;
    check("round", WORDS, "div_floor(a, b)", &signed, |a, b| floor(a, b) as u32);
    check("round", WORDS, "rem_floor(a, b)", &signed, |a, b| {
        (i64::from(a as i32) - floor(a, b) * i64::from(b as i32)) as u32
    });
    let powers: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a >> 1, 1 << (b % 31))).collect();
    check("round", WORDS, "align_up(a, b)", &powers, |a, b| a.div_ceil(b).wrapping_mul(b));
    let shifts: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a, b % 31)).collect();
    check("round", WORDS, "shift_down(a, b)", &shifts, |a, b| ((a as i32) >> b) as u32);
    check("round", WORDS, "shift_zero(a, b)", &shifts, |a, b| (a as i32 / (1 << b)) as u32);
    check("round", WORDS, "shift_near(a, b)", &shifts, |a, b| {
        ((i64::from(a as i32) + if b == 0 { 0 } else { 1 << (b - 1) }) >> b) as u32
    });
    check("round", WORDS, "shift_near_u(a, b)", &shifts, |a, b| {
        ((u64::from(a) + if b == 0 { 0 } else { 1 << (b - 1) }) >> b) as u32
    });
    let some: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a, b % 30 + 1)).collect();
    let ties = some.iter().map(|&(a, b)| (a >> b << b | 1 << (b - 1), b));
    let both: Vec<(u32, u32)> = some.iter().copied().chain(ties).collect();
    // Division by a power of two is exact in `f64`.
    check("round", WORDS, "shift_even(a, b)", &both, |a, b| {
        (f64::from(a as i32) / f64::from(1u32 << b)).round_ties_even() as i32 as u32
    });
}

#[test]
fn transforms_are_their_matrices() {
    let half = |a: u32, k: u32| a >> (16 * k) & 0xffff;
    let rows = ["p", "q", "r", "s"];
    for (row, name) in rows.into_iter().enumerate() {
        let expr = format!(
            "pick(a, b)\n}}\nfn pick(a: i32, b: i32) -> i32 {{\n  let (p, q, r, s) = hadamard4(a, b, a * 3, b * 5)\n  {name}"
        );
        let signs = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]][row];
        check("transform", WORDS, &expr, &pairs(), |a, b| {
            let terms = [a, b, a.wrapping_mul(3), b.wrapping_mul(5)];
            terms
                .iter()
                .zip(signs)
                .fold(0u32, |sum, (&term, sign)| if sign > 0 { sum.wrapping_add(term) } else { sum.wrapping_sub(term) })
        });
    }
    // H.264, section 8.5.12.1: the rows of the inverse transform, in which 1/2 is a right shift.
    for (row, name) in rows.into_iter().enumerate() {
        let expr = format!(
            "pick(a, b)\n}}\nfn pick(a: i32, b: i32) -> i32 {{\n  let (p, q, r, s) = idct4(a, b, a * 3, b * 5)\n  {name}"
        );
        check("transform", WORDS, &expr, &pairs(), |a, b| {
            let (c, d) = (a.wrapping_mul(3), b.wrapping_mul(5));
            let half = |a: u32| (a as i32 >> 1) as u32;
            let even = if row == 0 || row == 3 { a.wrapping_add(c) } else { a.wrapping_sub(c) };
            let odd = if row == 0 || row == 3 { b.wrapping_add(half(d)) } else { half(b).wrapping_sub(d) };
            if row < 2 { even.wrapping_add(odd) } else { even.wrapping_sub(odd) }
        });
    }
    let expr = "pick(a, b)\n}\nfn pick(a: i16x2, b: i16x2) -> i16x2 {\n  let (p, q) = transpose2(a, b)\n  p ^ q";
    check("transform", ("i16x2", "i16x2"), expr, &pairs(), |a, b| {
        (half(a, 0) | half(b, 0) << 16) ^ (half(a, 1) | half(b, 1) << 16)
    });
}

#[test]
fn weights_are_unpacked() {
    let bytes: Vec<(u32, u32)> = (0..256).map(|a| (a * 0x0101_0101, (255 - a) * 0x0101_0101)).collect();
    let four = |a: u32, f: &dyn Fn(u8) -> u8| u32::from_le_bytes(a.to_le_bytes().map(f));
    for (expr, f) in [("low", &(|a: u8| a & 15) as &dyn Fn(u8) -> u8), ("high", &|a| a >> 4)] {
        let expr = format!("pick(a)\n}}\nfn pick(v: i8x4) -> i8x4 {{\n  let (low, high) = nibbles(v)\n  {expr}");
        check("quant", ("i8x4", "i8x4"), &expr, &bytes, |a, _| four(a, f));
    }
    for (expr, f) in
        [("low", &(|a: u8| ((a << 4) as i8 >> 4) as u8) as &dyn Fn(u8) -> u8), ("high", &|a| (a as i8 >> 4) as u8)]
    {
        let expr = format!("pick(a)\n}}\nfn pick(v: i8x4) -> i8x4 {{\n  let (low, high) = nibbles_signed(v)\n  {expr}");
        check("quant", ("i8x4", "i8x4"), &expr, &bytes, |a, _| four(a, f));
    }
    check("quant", ("i8x4", "f16x2"), "halves(a, 2)", &bytes, |a, _| {
        let half = |byte: u32| {
            if byte == 0 {
                0
            } else {
                let e = 31 - byte.leading_zeros();
                (e + 15) << 10 | (byte << (10 - e) & 0x3ff)
            }
        };
        half(a >> 16 & 255) | half(a >> 24) << 16
    });
    let pick =
        "pick(a)\n}\nfn pick(v: i8x4) -> i8x4 {\n  let (low, high) = nibbles(v)\n  nibbles_packed(low | 48, high)";
    check("quant", ("i8x4", "i8x4"), pick, &pairs(), |a, _| a);
    let halves = |numbers: [i32; 2]| {
        numbers
            .map(|number| half_of(f64::from(number)))
            .iter()
            .rev()
            .fold(0, |word, &half| word << 16 | u32::from(half))
    };
    check("quant", ("i8x4", "f16x2"), "halves_signed(a, 1)", &bytes, |a, _| {
        halves([1, 2].map(|k| i32::from(a.to_le_bytes()[k] as i8)))
    });
    for k in 0..4 {
        let nibbles = |a: u32, less: i32| halves([k, k + 4].map(|k| (a >> (4 * k) & 15) as i32 - less));
        check("quant", ("i32", "f16x2"), &format!("halves_of_nibbles(a, {k})"), &pairs(), |a, _| nibbles(a, 0));
        check("quant", ("i32", "f16x2"), &format!("halves_of_nibbles_signed(a, {k})"), &pairs(), |a, _| nibbles(a, 8));
    }
    check("quant", ("i8x4", "i32"), "dot_s(a, b, 7)", &pairs(), |a, b| {
        let each =
            a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| i32::from(a as i8) * i32::from(b as i8));
        (7 + each.sum::<i32>()) as u32
    });
}

/// Rounds a number of magnitude at most 65504 to the nearest half, ties to even. Returns its bits.
fn half_of(number: f64) -> u16 {
    let sign = u16::from(number.is_sign_negative()) << 15;
    let size = number.abs();
    let exponent = if size < 2f64.powi(-14) { -14 } else { size.log2().floor() as i32 };
    // A carry out of the significand correctly increments the exponent.
    let steps = (size / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    sign | if exponent == -14 { steps } else { steps + (((exponent + 14) as u16) << 10) }
}

/// Converts the bits of a half to `f64`.
fn of_half(bits: u16) -> f64 {
    let (exponent, part) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match (exponent, part == 0.0) {
        (31, true) => f64::INFINITY,
        (31, false) => f64::NAN,
        (0, _) => part * 2f64.powi(-24),
        _ => (1024.0 + part) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

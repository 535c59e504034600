//! The library of functions, over all values where there are few enough.

use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_lang::{StdOnly, read};

/// What an expression of `a` and `b` is, for each pair, where the kernel's buffers are of these types.
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

/// Pairs of words of which many are at edges.
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
    check("pixel", WORDS, "clamp_s(a, -5, 77)", &pairs(), |a, _| (a as i32).clamp(-5, 77) as u32);
    check("pixel", WORDS, "clamp_u(a, 5, 77)", &pairs(), |a, _| a.clamp(5, 77));
}

#[test]
fn divisions_round_as_they_say() {
    let small: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a >> 2, (b >> 9).max(1))).collect();
    check("round", WORDS, "div_up(a, b)", &small, |a, b| a.div_ceil(b));
    check("round", WORDS, "div_near(a, b)", &small, |a, b| (a + b / 2) / b);
    let shifts: Vec<(u32, u32)> = pairs().into_iter().map(|(a, b)| (a, b % 31)).collect();
    check("round", WORDS, "shift_down(a, b)", &shifts, |a, b| ((a as i32) >> b) as u32);
    check("round", WORDS, "shift_zero(a, b)", &shifts, |a, b| (a as i32 / (1 << b)) as u32);
    check("round", WORDS, "shift_near(a, b)", &shifts, |a, b| {
        ((i64::from(a as i32) + if b == 0 { 0 } else { 1 << (b - 1) }) >> b) as u32
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
    check("quant", ("i8x4", "i32"), "dot_s(a, b, 7)", &pairs(), |a, b| {
        let each =
            a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| i32::from(a as i8) * i32::from(b as i8));
        (7 + each.sum::<i32>()) as u32
    });
}

/// Over all halves, as each is an f32: within so much of the value, or of 1 where that is less.
#[test]
fn activations_are_near() {
    let halves: Vec<u32> = (0..=u16::MAX).filter(|half| half & 0x7c00 != 0x7c00).map(widened).collect();
    let values: Vec<(u32, u32)> = halves.iter().map(|&bits| (bits, 0)).collect();
    type Exact = fn(f64) -> f64;
    let exact: [(&str, Exact); 3] = [
        ("sigmoid(a)", |x| 1.0 / (1.0 + (-x).exp())),
        ("silu(a)", |x| x / (1.0 + (-x).exp())),
        ("gelu(a)", |x| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh())),
    ];
    for (expr, exact) in exact {
        let found = each("activation", ("f32", "f32"), expr, &values);
        let mut worst = 0f64;
        for (&bits, found) in halves.iter().zip(found) {
            let (x, found) = (f64::from(f32::from_bits(bits)), f64::from(f32::from_bits(found)));
            worst = worst.max((found - exact(x)).abs() / exact(x).abs().max(1.0));
        }
        assert!(worst <= 1e-6, "{expr}: {worst:e}");
    }
}

/// The bits of a half as an f32.
fn widened(half: u16) -> u32 {
    let (sign, size) = (u32::from(half & 0x8000) << 16, u32::from(half & 0x7fff));
    sign | (f32::from_bits(size << 13) * 2f32.powi(112)).to_bits()
}

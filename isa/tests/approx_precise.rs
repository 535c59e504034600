//! Tests of the elementary functions, against an independent multiple-precision implementation in Rust.
//! `HALFBYTE_APPROX_SAMPLE` sets the number of operands for each function and format; the default is 400.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use halfbyte_isa::approx::Function;

use crate::ptx_meaning::same;
use crate::random::{FLOATS, Random};

/// Precision of the reference in bits. The f32 operands that are hardest to round need about 60
/// bits. Operands near 1, or results near the operand, need about 120 bits.
const BITS: usize = 192;

/// A binary floating-point format: the number of fraction bits, and the smallest normal exponent.
#[derive(Clone, Copy)]
struct Shape {
    fraction: u32,
    least: i32,
}

const F32: Shape = Shape { fraction: 23, least: -126 };
const F64: Shape = Shape { fraction: 52, least: -1022 };
/// The high word of an f64, as a floating-point format.
const F64_HIGH: Shape = Shape { fraction: 20, least: -1022 };

/// Rounds a number to the nearest number of a format, ties to even, and returns the bits of the result.
fn nearest(of: &BigFloat, Shape { fraction, least }: Shape) -> u64 {
    let exponents = 2 * u64::from(least.unsigned_abs()) + 3;
    let infinity = exponents << fraction;
    let sign = |negative: bool| u64::from(negative) * (infinity + (1 << fraction));
    if of.is_inf() {
        return infinity + sign(of.is_inf_neg());
    }
    let (words, _, mark, exponent, _) = of.as_raw_parts().unwrap();
    let sign = sign(mark == Sign::Neg);
    if of.is_zero() {
        return sign;
    }
    // The value of the number is `0.m * 2^exponent`, and the first bit of `m` is one. Therefore,
    // the leading bit has the value 2^(exponent - 1).
    let top = words[words.len() - 1];
    let beyond = words[..words.len() - 1].iter().any(|word| *word != 0);
    let lost = (least - (exponent - 1)).max(0) as u32;
    let cut = 63 - fraction + lost;
    let (kept, rest, half) = match cut {
        0..64 => (top >> cut, top & ((1 << cut) - 1), 1 << (cut - 1)),
        64 => (0, top, 1 << 63),
        _ => return sign,
    };
    let up = rest > half || rest == half && (beyond || kept & 1 == 1);
    // The leading one of the significand adds one to the exponent field.
    let field = if lost > 0 { 0 } else { (exponent - 1 - least) as u64 };
    sign + ((field << fraction) + kept + u64::from(up)).min(infinity)
}

/// Converts an f64 exactly. `BigFloat::from_f64` is off by a power of two for a subnormal number.
fn number(x: f64) -> BigFloat {
    if !x.is_subnormal() {
        return BigFloat::from_f64(x, BITS);
    }
    let scale = f64::from_bits((1023 + 128) << 52);
    BigFloat::from_f64(x * scale, BITS).div(&BigFloat::from_f64(scale, BITS), BITS, RoundingMode::None)
}

/// Returns the function value, computed with 192 bits, for an operand in the function's domain.
fn of(function: Function, x: f64, consts: &mut Consts) -> BigFloat {
    // With another rounding mode, exact results would never terminate. The error of
    // `RoundingMode::None` is far below the bits that decide the rounding.
    let rm = RoundingMode::None;
    let a = number(x);
    match function {
        // For operands outside of this range, the result of `ex2` is zero or infinite in every
        // format. The clamp prevents slow computations of extreme powers.
        Function::Ex2 => {
            let a = BigFloat::from_f64(x.clamp(-2000.5, 2000.5), BITS);
            BigFloat::from_f64(2.0, BITS).pow(&a, BITS, rm, consts)
        }
        Function::Lg2 => a.log2(BITS, rm, consts),
        Function::Rsqrt => BigFloat::from_f64(1.0, BITS).div(&a.sqrt(BITS + 64, rm), BITS, rm),
        Function::Sin => a.sin(BITS, rm, consts),
        Function::Cos => a.cos(BITS, rm, consts),
        Function::Tanh => a.tanh(BITS, rm, consts),
    }
}

/// Returns `true` if `x` is in the function's domain, the result is not special, and the result
/// cannot be halfway between two numbers of a format.
fn has_value(function: Function, x: f64) -> bool {
    let is_within = match function {
        Function::Ex2 => x != x.trunc(),
        Function::Lg2 | Function::Rsqrt => x > 0.0,
        Function::Sin | Function::Cos | Function::Tanh => true,
    };
    x.is_finite() && x != 0.0 && is_within
}

fn sample() -> usize {
    std::env::var("HALFBYTE_APPROX_SAMPLE").map_or(400, |count| count.parse().unwrap())
}

/// Returns the bits of a random f32 operand: near an edge case, uniformly random, or in the range
/// in which the functions are not constant.
fn operand(random: &mut Random) -> u32 {
    let bits = random.next();
    let near = |least: u32, count: u32| (bits as u32 & 0x807F_FFFF) | (least + (bits >> 40) as u32 % count) << 23;
    match bits >> 62 {
        0 => FLOATS[bits as usize % FLOATS.len()].wrapping_add((bits >> 8) as u32 % 9).wrapping_sub(4),
        1 => bits as u32,
        _ => near(110, 26),
    }
}

#[test]
fn rounds_f32_functions_to_nearest() {
    let (mut consts, mut random) = (Consts::new().unwrap(), Random(1));
    for function in Function::ALL {
        let mut compared = 0;
        while compared < sample() {
            let bits = operand(&mut random);
            let x = f64::from(f32::from_bits(bits));
            if has_value(function, x) {
                let expected = nearest(&of(function, x, &mut consts), F32);
                assert_eq!(u64::from(function.single(bits)), expected, "{} of {bits:#010x}", function.name());
                compared += 1;
            }
        }
    }
}

/// Returns the bits of a random f64: near an edge case, with few fraction bits, or uniformly random.
fn double(random: &mut Random) -> u64 {
    const EDGES: [u64; 16] = [
        0,
        1,
        0x000F_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x3FEF_FFFF_FFFF_FFFF,
        0x3FF0_0000_0000_0000,
        0x3FF0_0000_0000_0001,
        0x3FFF_FFFF_FFFF_FFFF,
        0x4000_0000_0000_0000,
        0x400F_FFFF_FFFF_FFFF,
        0x4010_0000_0000_0000,
        0x7FD0_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFE,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
    ];
    let bits = random.next();
    match bits % 4 {
        0 => EDGES[(bits >> 8) as usize % EDGES.len()] | bits & 1 << 63,
        // The square root of a number with few fraction bits can be exact.
        1 => bits & 0xFFFF_8000_0000_0000,
        _ => bits,
    }
}

#[test]
fn rounds_f64_roots_to_nearest() {
    let (root, mut consts, mut random) = (same("f64", "rsqrt.approx.f64 %d, %a"), Consts::new().unwrap(), Random(3));
    for _ in 0..sample() {
        let a = double(&mut random);
        let x = f64::from_bits(a);
        if has_value(Function::Rsqrt, x) {
            assert_eq!(root.d(&[("%a", a)]), nearest(&of(Function::Rsqrt, x, &mut consts), F64), "rsqrt of {a:#018x}");
        }
    }
    for (a, d) in [
        (0, 0x7FF0_0000_0000_0000),
        (1 << 63, 0xFFF0_0000_0000_0000),
        (0x7FF0_0000_0000_0000, 0),
        (0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0000),
        (0xBFF0_0000_0000_0000, 0x7FF8_0000_0000_0000),
        (0xFFF0_0000_0000_0001, 0x7FF8_0000_0000_0000),
        (0x4010_0000_0000_0000, 0x3FE0_0000_0000_0000),
    ] {
        assert_eq!(root.d(&[("%a", a)]), d, "rsqrt of {a:#018x}");
    }
}

#[test]
fn rounds_f64_high_words_to_nearest() {
    let ops = ["rcp", "rsqrt"].map(|name| (name, same("f64", &format!("{name}.approx.ftz.f64 %d, %a"))));
    let (mut consts, mut random) = (Consts::new().unwrap(), Random(4));
    for (name, op) in &ops {
        let is_root = *name == "rsqrt";
        for _ in 0..sample() {
            let a = double(&mut random);
            let x = f64::from_bits(a & !0xFFFF_FFFF);
            if !x.is_normal() || is_root && x < 0.0 {
                continue;
            }
            let exact = if is_root {
                of(Function::Rsqrt, x, &mut consts)
            } else {
                BigFloat::from_f64(1.0, BITS).div(&BigFloat::from_f64(x, BITS), BITS, RoundingMode::None)
            };
            let is_tiny = exact.exponent().is_some_and(|exponent| exponent - 1 < F64_HIGH.least);
            let expected = nearest(&exact, F64_HIGH);
            let expected = if is_tiny { expected & 0x8000_0000 } else { expected };
            assert_eq!(op.d(&[("%a", a)]), expected << 32, "{name} of {a:#018x}");
        }
    }
    // Operands that are edge cases, each with its reciprocal and its reciprocal square root.
    const NAN: u64 = 0x7FFF_FFFF_0000_0000;
    for (a, d) in [
        (0, [0x7FF0_0000_0000_0000; 2]),
        (1 << 63 | 5, [0xFFF0_0000_0000_0000; 2]),
        (0x000F_FFFF_FFFF_FFFF, [0x7FF0_0000_0000_0000; 2]),
        (0x800F_FFFF_FFFF_FFFF, [0xFFF0_0000_0000_0000; 2]),
        (0x7FF0_0000_0000_0001, [0; 2]),
        (0xFFF0_0000_0000_0000, [1 << 63, NAN]),
        (0x7FF8_0000_0000_0000, [NAN; 2]),
        (0x7FEF_FFFF_FFFF_FFFF, [0, 0x1FF0_0000_0000_0000]),
        (0xBFF0_0000_FFFF_FFFF, [0xBFF0_0000_0000_0000, NAN]),
    ] {
        for ((name, op), d) in ops.iter().zip(d) {
            assert_eq!(op.d(&[("%a", a)]), d, "{name} of {a:#018x}");
        }
    }
}

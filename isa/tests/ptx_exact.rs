//! Tests of the floating-point operations that PTX semantics compute on integers, with every rounding. The expected
//! results are those of rustc_apfloat, and for square roots those of the host.

use crate::ptx_meaning::{Op, ROUNDINGS, same};
use crate::random::{FLOATS, Random};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};

/// Edge cases of f64: zeros, subnormals, the ends of the normal range, neighbours of one, integers
/// at the ends of i32 and i64, infinities, NaNs.
const DOUBLES: [u64; 22] = [
    0,
    1 << 63,
    1,
    0x000F_FFFF_FFFF_FFFF,
    0x8010_0000_0000_0000,
    0x0010_0000_0000_0001,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0001,
    0x3FEF_FFFF_FFFF_FFFF,
    0x3FE0_0000_0000_0000,
    0xC008_0000_0000_0000,
    0x41DF_FFFF_FFC0_0000,
    0x41E0_0000_0000_0000,
    0x43E0_0000_0000_0000,
    0xC3E0_0000_0000_0000,
    0x43F0_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x47EF_FFFF_F000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_1234,
];

fn double(random: &mut Random) -> u64 {
    let bits = random.next();
    match random.next() % 4 {
        0 => DOUBLES[bits as usize % DOUBLES.len()],
        1 => bits,
        // The generated numbers have exponents close to each other, and few fraction bits.
        2 => bits & 0x8000_0000_FFFF_FFFF | (1010 + (bits >> 32) % 30) << 52,
        _ => bits & 0x800F_FFFF_FFFF_FFFF | (1015 + (bits >> 53) % 16) << 52,
    }
}

fn float(random: &mut Random) -> u64 {
    let bits = random.word(&FLOATS);
    let near = bits & 0x807F_FFFF | (120 + (random.next() % 14) as u32) << 23;
    u64::from(if random.next() & 1 == 0 { bits } else { near })
}

fn computed<F: Float>(op: &str, [a, b, c]: [F; 3], round: Round) -> F {
    match op {
        "add" => a.add_r(b, round).value,
        "sub" => a.sub_r(b, round).value,
        "mul" => a.mul_r(b, round).value,
        "div" => a.div_r(b, round).value,
        "rcp" => F::from_u128(1).value.div_r(a, round).value,
        _ => a.mul_add_r(b, c, round).value,
    }
}

const OPS: [(&str, &str); 6] =
    [("add", "%a, %b"), ("sub", "%a, %b"), ("mul", "%a, %b"), ("div", "%a, %b"), ("rcp", "%a"), ("fma", "%a, %b, %c")];

#[test]
fn single_precision_agrees_with_apfloat() {
    let mut random = Random(21);
    for (mark, round) in ROUNDINGS {
        for (name, operands) in OPS {
            let op = same("f32", &format!("{name}.r{mark}.f32 %d, {operands}"));
            for _ in 0..1500 {
                let bits = [0; 3].map(|_| float(&mut random));
                let [a, b, c] = bits;
                let exact = computed(name, bits.map(|bits| Single::from_bits(bits.into())), round);
                let expected = if exact.is_nan() { 0x7FFF_FFFF } else { exact.to_bits() };
                let found = op.d(&[("%a", a), ("%b", b), ("%c", c)]);
                assert_eq!(u128::from(found), expected, "{name}.r{mark} {a:#x} {b:#x} {c:#x}");
            }
        }
    }
}

#[test]
fn double_precision_agrees_with_apfloat() {
    let mut random = Random(22);
    for (mark, round) in ROUNDINGS {
        for (name, operands) in OPS {
            let op = same("f64", &format!("{name}.r{mark}.f64 %d, {operands}"));
            for _ in 0..2500 {
                let bits = [0; 3].map(|_| double(&mut random));
                let [a, b, c] = bits;
                let exact = computed(name, bits.map(|bits| Double::from_bits(bits.into())), round);
                let found = op.d(&[("%a", a), ("%b", b), ("%c", c)]);
                let is_right =
                    if exact.is_nan() { f64::from_bits(found).is_nan() } else { exact.to_bits() == found.into() };
                assert!(is_right, "{name}.r{mark} {a:#x} {b:#x} {c:#x}: {found:#x}, not {exact}");
            }
        }
    }
}

#[test]
fn rounds_square_roots_in_every_direction() {
    let mut random = Random(23);
    let [near, zero, down, up] = ["n", "z", "m", "p"].map(|mark| same("f64", &format!("sqrt.r{mark}.f64 %d, %a")));
    let singles = ["n", "z", "m", "p"].map(|mark| same("f32", &format!("sqrt.r{mark}.f32 %d, %a")));
    for _ in 0..2500 {
        let a = double(&mut random);
        let [near, zero, down, up] = [&near, &zero, &down, &up].map(|op| f64::from_bits(op.d(&[("%a", a)])));
        let host = f64::from_bits(a).sqrt();
        if host.is_nan() {
            assert!([near, zero, down, up].iter().all(|root| root.is_nan()), "{a:#x}");
            continue;
        }
        assert_eq!(near.to_bits(), host.to_bits(), "{a:#x}");
        assert_eq!(zero.to_bits(), down.to_bits(), "{a:#x}");
        // For a normal operand away from the ends of the range, one FMA computes the difference
        // between the rounded root's square and `a` exactly.
        if (0x0400_0000_0000_0000..0x7FF0_0000_0000_0000).contains(&a) {
            let over = host.mul_add(host, -f64::from_bits(a));
            let below = if over > 0.0 { host.next_down() } else { host };
            let above = if over < 0.0 { host.next_up() } else { host };
            assert_eq!([down, up], [below, above], "{a:#x}");
        }
        let a = float(&mut random);
        let found = singles.each_ref().map(|op| f32::from_bits(op.d(&[("%a", a)]) as u32));
        let host = f64::from(f32::from_bits(a as u32)).sqrt();
        if host.is_nan() {
            assert!(found.iter().all(|root| root.to_bits() == 0x7FFF_FFFF), "{a:#x}");
            continue;
        }
        let nearest = host as f32;
        // The f64 result shows in which direction the nearest f32 was rounded. No inexact square
        // root is so close to an f32 that its f64 is equal to this f32.
        let below = if f64::from(nearest) > host { nearest.next_down() } else { nearest };
        let above = if f64::from(nearest) < host { nearest.next_up() } else { nearest };
        assert_eq!(found.map(f32::to_bits), [nearest, below, below, above].map(f32::to_bits), "{a:#x}");
    }
}

#[test]
fn double_precision_converts_as_apfloat_does() {
    let mut random = Random(24);
    for (mark, round) in ROUNDINGS {
        let single = Op::new("f32 %d; f64 %a", &format!("cvt.r{mark}.f32.f64 %d, %a"));
        let half = Op::new("b16 %d; f64 %a", &format!("cvt.r{mark}.f16.f64 %d, %a"));
        let bfloat = Op::new("b16 %d; f64 %a", &format!("cvt.r{mark}.bf16.f64 %d, %a"));
        let whole = same("f64", &format!("cvt.r{mark}i.f64.f64 %d, %a"));
        let of_signed = same("b64", &format!("cvt.r{mark}.f64.s64 %d, %a"));
        let of_unsigned = same("b64", &format!("cvt.r{mark}.f64.u64 %d, %a"));
        for _ in 0..2500 {
            let a = double(&mut random);
            let number = Double::from_bits(a.into());
            let before = [("%a", a)];
            let (s, h, b): (StatusAnd<Single>, StatusAnd<Half>, StatusAnd<BFloat>) = (
                number.convert_r(round, &mut false),
                number.convert_r(round, &mut false),
                number.convert_r(round, &mut false),
            );
            let canonical = |nan: u128, bits: u128| if number.is_nan() { nan } else { bits };
            assert_eq!(u128::from(single.d(&before)), canonical(0x7FFF_FFFF, s.value.to_bits()), "{mark} {a:#x}");
            assert_eq!(u128::from(half.d(&before)), canonical(0x7FFF, h.value.to_bits()), "{mark} {a:#x}");
            assert_eq!(u128::from(bfloat.d(&before)), canonical(0x7FFF, b.value.to_bits()), "{mark} {a:#x}");
            if !number.is_nan() {
                let expected = number.round_to_integral(round).value.to_bits();
                assert_eq!(u128::from(whole.d(&before)), expected, "{mark}i {a:#x}");
            }
            let integer = random.next() >> (random.next() % 64);
            let expected = Double::from_i128_r((integer as i64).into(), round).value.to_bits();
            assert_eq!(u128::from(of_signed.d(&[("%a", integer)])), expected, "{mark} {integer:#x}");
            let expected = Double::from_u128_r(integer.into(), round).value.to_bits();
            assert_eq!(u128::from(of_unsigned.d(&[("%a", integer)])), expected, "{mark} {integer:#x}");
        }
        for (ty, bits, signed) in [
            ("s64", 64, true),
            ("u64", 64, false),
            ("s32", 32, true),
            ("u32", 32, false),
            ("s16", 16, true),
            ("u8", 8, false),
        ] {
            let op = Op::new("b64 %d; f64 %a", &format!("cvt.r{mark}i.{ty}.f64 %d, %a"));
            for _ in 0..1500 {
                let a = double(&mut random);
                let number = Double::from_bits(a.into());
                let mask = u64::MAX >> (64 - bits);
                let expected = match signed {
                    _ if number.is_nan() => 1 << (bits - 1),
                    true => number.to_i128_r(bits, round, &mut false).value as u64,
                    false => number.to_u128_r(bits, round, &mut false).value as u64,
                };
                assert_eq!(op.d(&[("%a", a)]) & mask, expected & mask, "r{mark}i {ty} {a:#x}");
            }
        }
    }
    let widened = Op::new("f64 %d; f32 %a", "cvt.f64.f32 %d, %a");
    for _ in 0..2000 {
        let a = float(&mut random);
        let host = f64::from(f32::from_bits(a as u32));
        let found = f64::from_bits(widened.d(&[("%a", a)]));
        assert!(found.to_bits() == host.to_bits() || found.is_nan() && host.is_nan(), "{a:#x}");
    }
}

#[test]
fn bytes_agree_with_apfloat() {
    let mut random = Random(25);
    let e4m3 = Op::new("b16 %d; f32 %a; f32 %b", "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b");
    let e5m2 = Op::new("b16 %d; f32 %a; f32 %b", "cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b");
    for _ in 0..5000 {
        let [a, b] = [0; 2].map(|_| float(&mut random));
        let numbers = [a, b].map(|bits| Single::from_bits(bits.into()));
        let sign = |number: Single| u64::from(number.is_negative()) << 7;
        let four = numbers.map(|number| {
            let short: StatusAnd<Float8E4M3FN> = number.convert_r(Round::NearestTiesToEven, &mut false);
            match short.value.to_bits() as u64 {
                _ if number.is_nan() => 0x7F,
                bits if bits & 0x7F == 0x7F => 0x7E | sign(number),
                bits => bits,
            }
        });
        let five = numbers.map(|number| {
            let short: StatusAnd<Float8E5M2> = number.convert_r(Round::NearestTiesToEven, &mut false);
            match short.value.to_bits() as u64 {
                _ if number.is_nan() => 0x7F,
                bits if bits & 0x7F == 0x7C => 0x7B | sign(number),
                bits => bits,
            }
        });
        for (op, [high, low]) in [(&e4m3, four), (&e5m2, five)] {
            assert_eq!(op.d(&[("%a", a), ("%b", b)]), high << 8 | low, "{a:#x} {b:#x}");
        }
    }
}

#[test]
fn small_formats() {
    for (declared, inst, before, expected) in [
        ("b8 %d; f32 %a; f32 %b", "cvt.rn.satfinite.e2m1x2.f32 %d, %a, %b", [0xC0A0_0000, 0x7FC0_0000], 0xE7),
        ("b16 %d; f32 %a; f32 %b", "cvt.rn.satfinite.e2m3x2.f32 %d, %a, %b", [0xBE00_0000, 0x7F80_0000], 0x211F),
        ("b16 %d; f32 %a; f32 %b", "cvt.rn.satfinite.relu.e3m2x2.f32 %d, %a, %b", [0xC000_0000, 0x41E0_0000], 0x001F),
        ("b16 %d; f32 %a; f32 %b", "cvt.rp.ue8m0x2.f32 %d, %a, %b", [0x3F80_0001, 0x0040_0000], 0x8000),
        ("b16 %d; f32 %a; f32 %b", "cvt.rz.satfinite.ue8m0x2.f32 %d, %a, %b", [0xFF80_0000, 0x7FC0_0000], 0xFEFF),
        ("b32 %d; b16 %a; b32 %b", "cvt.rn.bf16x2.ue8m0x2 %d, %a", [0xFF00, 0], 0x7FFF_0040),
        ("b32 %d; b8 %a; b32 %b", "cvt.rn.f16x2.e2m1x2 %d, %a", [0xF1, 0], 0xC600_3800),
        ("b32 %d; b16 %a; b32 %b", "cvt.rn.f16x2.e4m3x2 %d, %a", [0x7F81, 0], 0x7FFF_9800),
        ("b32 %d; f32 %a; f32 %b", "cvt.rna.tf32.f32 %d, %a", [0x3F80_1000, 0], 0x3F80_2000),
        ("b32 %d; f32 %a; f32 %b", "cvt.rn.tf32.f32 %d, %a", [0x3F80_1000, 0], 0x3F80_0000),
        ("b32 %d; f32 %a; b32 %b", "cvt.rs.f16x2.f32 %d, %a, %a, %b", [0x3F80_1000, 0x1000_0FFF], 0x3C01_3C00),
        ("b32 %d; b32 %a; b32 %b", "cvt.pack.sat.s4.s32.b32 %d, %a, %b, %a", [0xFFFF_FFF0, 100], 0xFFFF_F087),
        ("pred %d; f32 %a; f32 %b", "testp.subnormal.f32 %d, %a", [0x8000_0001, 0], 1),
        ("f64 %d; f64 %a; f64 %b", "copysign.f64 %d, %a, %b", [1 << 63, 0x7FF0_0000_0000_0001], 0xFFF0_0000_0000_0001),
        ("f32 %d; f32 %a; f32 %b", "max.xorsign.abs.f32 %d, %a, %b", [0xC000_0000, 0x3F80_0000], 0xC000_0000),
        ("b32 %d; f16x2 %a; f16x2 %b", "min.xorsign.abs.f16x2 %d, %a, %b", [0xBC00_7FFF, 0x4000_FFFF], 0xBC00_7FFF),
        ("f32 %d; f32 %a; b16 %b", "sub.rz.f32.f16 %d, %b, %a", [0x3380_0000, 0x3C00], 0x3F7F_FFFF),
    ] {
        let found = Op::new(declared, inst).d(&[("%a", before[0]), ("%b", before[1])]);
        assert_eq!(found, expected, "{inst} {before:x?}: {found:#x}");
    }
}

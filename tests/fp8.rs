//! Tests of FP8 conversions. The expected result is found by a search through a table of all FP8 numbers.

use halfbyte::Module;
use halfbyte::abi::{Target, Type};
use halfbyte::ir::Kernel;
use halfbyte::launch::{Engine, evaluate, execute};

use crate::support::{program, with_passes};

/// Returns the number that a byte of an FP8 type represents, or `None` for NaN.
fn value(ty: Type, byte: u8) -> Option<f64> {
    let (mantissa, bias) = if ty == Type::E4M3 { (3, 7) } else { (2, 15) };
    let (exponent, fraction) = (i32::from(byte & 0x7f) >> mantissa, f64::from(byte & ((1 << mantissa) - 1)));
    let scale = f64::from(1 << mantissa);
    let magnitude = match (ty, byte & 0x7f) {
        (Type::E4M3, 0x7f) | (Type::E5M2, 0x7d..) => return None,
        (Type::E5M2, 0x7c) => f64::INFINITY,
        _ if exponent == 0 => fraction / scale * 2f64.powi(1 - bias),
        _ => (1.0 + fraction / scale) * 2f64.powi(exponent - bias),
    };
    Some(if byte < 0x80 { magnitude } else { -magnitude })
}

/// Returns the byte of the nearest FP8 number. A tie goes to the even byte.
fn nearest(ty: Type, number: f64) -> u8 {
    if number.is_nan() {
        return 0x7f;
    }
    let finite = (0..0x80).filter_map(|byte| Some((byte, value(ty, byte).filter(|value| value.is_finite())?)));
    let largest = finite.clone().map(|(_, value)| value).fold(0.0, f64::max);
    let wanted = number.abs().min(largest);
    let distance = |(byte, value): &(u8, f64)| ((value - wanted).abs(), byte & 1);
    let closer =
        |a: &(u8, f64), b: &(u8, f64)| distance(a).0.total_cmp(&distance(b).0).then(distance(a).1.cmp(&distance(b).1));
    let (magnitude, _) = finite.min_by(closer).unwrap();
    magnitude | if number.is_sign_negative() { 0x80 } else { 0 }
}

/// Returns `f32` numbers near each number of the FP8 type, near each midpoint of two of them, near
/// the overflow limits and near each power of two.
fn singles(ty: Type) -> Vec<f32> {
    let finite: Vec<f64> = (0..0x80).filter_map(|byte| value(ty, byte)).filter(|value| value.is_finite()).collect();
    let middles = finite.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
    let of_format = finite.iter().copied().chain(middles).map(|value| (value as f32).to_bits());
    let powers = (0..=255u32).map(|exponent| exponent << 23);
    let near = of_format
        .chain(powers)
        .chain([0x43e8_0000, 0x4770_0000])
        .flat_map(|bits| (0..5).map(move |n| (bits + n).saturating_sub(2)));
    near.flat_map(|bits| [bits, bits | 0x8000_0000]).map(f32::from_bits).collect()
}

fn targets() -> [Target; 3] {
    [halfbyte::HALU, halfbyte::ptx(halfbyte::abi::Sm::DEFAULT), halfbyte::ptx(halfbyte::abi::Sm::ALL[0])]
}

/// Returns the result of a conversion on the evaluator, and asserts that all engines agree.
fn converted(from: Type, to: Type, items: u32, input: Vec<u8>) -> Vec<u8> {
    let text = format!(
        "kernel @k(%x: in {from}, %y: out {to}) {{\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %r = fcvt.{to} %v\n  store %r, %y[%i]\n  ret\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let kernel: &Kernel = &module.ir().kernels[0];
    let mut args = vec![input, vec![0; items as usize * to.bytes() as usize]];
    let fresh = args.clone();
    evaluate(kernel, items, &mut args).unwrap();
    for target in targets() {
        let engines = if target.name() == "halu" {
            vec![Engine::Interp, Engine::Jit { threads: std::num::NonZero::<u16>::MIN }]
        } else {
            vec![Engine::Interp]
        };
        let program = program(&module, &with_passes(target)).unwrap();
        for engine in engines {
            let mut own = fresh.clone();
            execute(&program.kernels()[0], engine, items, &mut own).unwrap();
            assert!(own[1] == args[1], "{target} {engine}: {from} to {to}");
        }
    }
    args.swap_remove(1)
}

#[test]
fn every_byte_is_its_value() {
    for ty in [Type::E4M3, Type::E5M2] {
        let bytes: Vec<u8> = (0..=255).collect();
        let singles = converted(ty, Type::F32, 256, bytes.clone());
        for (&byte, single) in bytes.iter().zip(singles.as_chunks().0) {
            let single = f32::from_le_bytes(*single);
            match value(ty, byte) {
                Some(value) => assert_eq!(f64::from(single).to_bits(), value.to_bits(), "{ty} {byte:#x}"),
                None => assert_eq!(single.to_bits(), 0x7fff_ffff, "{ty} {byte:#x}"),
            }
        }
        for half in [Type::F16, Type::BF16] {
            let back = converted(half, ty, 256, converted(ty, half, 256, bytes.clone()));
            for (&byte, back) in bytes.iter().zip(back) {
                let expected = value(ty, byte).map_or(0x7f, |value| nearest(ty, value));
                assert_eq!(back, expected, "{ty} {byte:#x} by {half}");
            }
        }
    }
}

#[test]
fn the_nearest_is_taken() {
    for ty in [Type::E4M3, Type::E5M2] {
        let singles = singles(ty);
        let input = singles.iter().flat_map(|single| single.to_le_bytes()).collect();
        for (single, byte) in singles.iter().zip(converted(Type::F32, ty, singles.len() as u32, input)) {
            assert_eq!(byte, nearest(ty, (*single).into()), "{single:e} ({:#x}) to {ty}", single.to_bits());
        }
        let input = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        for (half, byte) in (0..=u16::MAX).zip(converted(Type::F16, ty, 0x1_0000, input)) {
            assert_eq!(byte, nearest(ty, half::f16::from_bits(half).to_f64()), "{half:#x} to {ty}");
        }
    }
}

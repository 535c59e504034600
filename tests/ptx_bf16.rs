//! Tests of the fused multiply-add of bf16 on SM versions that lack the instruction. halfbyte
//! computes it in `f32`; the tests use triples for which double rounding would create ties.

use halfbyte::{Module, Sm};

use crate::support::{agree, program, with_passes};

const KERNEL: &str = "kernel @fused(%a: in bf16x2, %b: in bf16x2, %c: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %z = load %c[%i]
  %r = ffma.bf16x2 %x, %y, %z
  store %r, %out[%i]
  ret
}
";

/// Biased exponents of the first factor. The products are around 1, of the largest size, subnormal,
/// or so small that `f32` loses bits.
const EXPONENTS: [u32; 6] = [127, 254, 253, 2, 1, 0];
/// Differences between the exponents of the product and of the addend.
const BELOW: [u32; 14] = [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 26, 40, 90];

/// Returns the bits of a bf16 number with an eight-bit significand.
const fn bf16(negative: bool, exponent: u32, significand: u32) -> u16 {
    ((negative as u32) << 15 | exponent << 7 | significand & 127) as u16
}

/// Returns operands of a fused multiply-add whose product is a bf16 number or a midpoint of two bf16 numbers.
fn triples() -> Vec<[u16; 3]> {
    let mut triples = Vec::new();
    for (a, b) in (128..256u32).flat_map(|a| (a..256).map(move |b| (a, b))) {
        let product = a * b;
        let dropped = if product < 1 << 15 { 7 } else { 8 };
        if product % (1 << (dropped - 1)) != 0 {
            continue;
        }
        for (exponent, below) in EXPONENTS.into_iter().flat_map(|e| BELOW.map(|below| (e, below))) {
            // The second factor is around 1, so the product has the exponent of the first factor.
            let addend = exponent.saturating_sub(below);
            for (signs, significand) in (0..4).flat_map(|signs| [128, 129, 255].map(|s| (signs, s))) {
                let (minus, less) = (signs & 1 != 0, signs & 2 != 0);
                triples.push([bf16(minus, exponent, a), bf16(false, 127, b), bf16(less, addend, significand)]);
            }
        }
    }
    triples
}

#[test]
fn a_second_rounding_finds_no_ties() {
    let triples = triples();
    assert!(triples.len() > 100_000);
    let words = |operand: usize| -> Vec<u8> {
        let pairs = triples.iter().zip(triples.iter().rev());
        pairs.flat_map(|(low, high)| [low[operand].to_le_bytes(), high[operand].to_le_bytes()].concat()).collect()
    };
    let args = [words(0), words(1), words(2), vec![0; 4 * triples.len()]];
    let module = Module::parse(KERNEL).unwrap();
    for sm in [Sm::SM_75, Sm::SM_80] {
        let program = program(&module, &with_passes(halfbyte::ptx(sm))).unwrap();
        agree(&module, &program, triples.len() as u32, &args).unwrap_or_else(|error| panic!("{sm}: {error}"));
    }
}

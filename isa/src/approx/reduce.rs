//! An f32 in quarters of a turn, exactly enough for the greatest: Payne and Hanek's way.

use super::real::{Pair, power};

/// The bits of 2 / pi after the point, 32 a word.
pub const TWO_BY_PI: [u32; 9] = [
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
    0xB724_6E3A,
];
/// Words that are multiplied.
pub const WORDS: usize = 6;

/// How many quarters of a turn a positive f32, at least 1/2, is from 0, modulo 4 and to nearest; and the part of a quarter from
/// there, between -1/2 and 1/2.
///
/// The bits of 2 / pi that only count whole turns are passed over, and those after 192 more dropped, which is less than 2^-135
/// of a quarter. No f32 is nearer than 2^-40 to a multiple of a quarter.
pub(super) fn quarters(x: f64) -> (u32, Pair) {
    let bits = x.to_bits();
    // An f32 has at most 24 bits: x is `significand * 2^exponent`.
    let significand = (bits & 0xF_FFFF_FFFF_FFFF | 1 << 52) >> 29;
    let exponent = (bits >> 52) as i32 - 1023 - 23;
    let passed = (exponent - 2).max(0) / 32;
    let mut limbs = [0u32; 8];
    let mut carry = 0;
    let words = TWO_BY_PI.iter().skip(passed as usize).take(WORDS).rev().map(Some).chain([None]);
    for (limb, word) in limbs.iter_mut().zip(words) {
        let sum = word.map_or(0, |&word| u64::from(word) * significand) + carry;
        (*limb, carry) = (sum as u32, sum >> 32);
    }
    let [a, b, c, d, e, f, g, h] = limbs.map(u128::from);
    let (low, high) = (d << 96 | c << 64 | b << 32 | a, h << 96 | g << 64 | f << 32 | e);
    // So many bits are after the binary point, 159 to 216; two before it are kept at the top.
    let behind = 32 * (passed + WORDS as i32) - exponent;
    let left = 254 - behind;
    let (high, low) = (high << left | low >> (128 - left), low << left);
    let quarter = (high >> 126) as u32;
    let (high, low) = (high << 2 | low >> 126, low << 2);
    if high >> 127 == 0 {
        return (quarter, part(high, low));
    }
    let (below, carry) = (!low).overflowing_add(1);
    let Pair { high, low } = part((!high).wrapping_add(carry.into()), below);
    (quarter + 1, Pair::new(-high, -low))
}

/// A fraction of 256 bits.
fn part(high: u128, low: u128) -> Pair {
    let zeros = high.leading_zeros().min(127);
    let top = high << zeros | (low >> 1) >> (127 - zeros);
    let scale = power(-f64::from(zeros));
    let unit = |exponent: f64| power(exponent) * scale;
    let first = (top >> 75) as f64 * unit(-53.0);
    let second = (top & ((1 << 75) - 1)) as f64 * unit(-128.0);
    Pair::quick(first, second)
}

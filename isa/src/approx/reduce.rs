//! Payne-Hanek range reduction of an f32 to multiples of pi/2, accurate for every finite operand.

use super::real::{Pair, power};

/// The bits of 2 / pi after the binary point, 32 bits per word, most significant word first.
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
/// Number of 32-bit words of 2 / pi by which an operand is multiplied.
pub const WORDS: usize = 6;

/// Reduces a positive f32 of at least 1/2, in radians. Returns the number of the nearest multiple
/// of pi/2 modulo 4, and the remainder as a fraction of pi/2 between -1/2 and 1/2.
///
/// Leading bits of 2 / pi that contribute only multiples of 2 pi are skipped. The following 192
/// bits are used. The bits after these are dropped, which is an error below 2^-135 of pi/2. The
/// distance of an f32 from a multiple of pi/2 is at least 2^-40.
pub(super) fn reduce_by_half_pi(x: f64) -> (u32, Pair) {
    let bits = x.to_bits();
    // An f32 has at most 24 significant bits: x is `significand * 2^exponent`.
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
    // The product has `behind` bits after the binary point, from 159 to 216. The shift moves the
    // two bits before the point to the top.
    let behind = 32 * (passed + WORDS as i32) - exponent;
    let left = 254 - behind;
    let (high, low) = (high << left | low >> (128 - left), low << left);
    let quarter = (high >> 126) as u32;
    let (high, low) = (high << 2 | low >> 126, low << 2);
    if high >> 127 == 0 {
        return (quarter, fraction_to_pair(high, low));
    }
    let (below, carry) = (!low).overflowing_add(1);
    let Pair { high, low } = fraction_to_pair((!high).wrapping_add(carry.into()), below);
    (quarter + 1, Pair::new(-high, -low))
}

/// Converts a 256-bit binary fraction to a double-double. `high` holds the upper 128 bits.
fn fraction_to_pair(high: u128, low: u128) -> Pair {
    let zeros = high.leading_zeros().min(127);
    let top = high << zeros | (low >> 1) >> (127 - zeros);
    let scale = power(-f64::from(zeros));
    let unit = |exponent: f64| power(exponent) * scale;
    let first = (top >> 75) as f64 * unit(-53.0);
    let second = (top & ((1 << 75) - 1)) as f64 * unit(-128.0);
    Pair::quick(first, second)
}

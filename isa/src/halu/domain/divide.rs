//! Integer division by means of simpler operations of the domain.

use super::{Divide, Domain, wide};

/// Implements [`Domain::divide`] by long division, one bit of the quotient per step.
pub(super) fn words<D: Domain>(d: &mut D, op: Divide, a: D::Word, b: D::Word) -> D::Word {
    let (zero, one) = (d.word(0), d.word(1));
    let signs = op.signed.then(|| (wide::is_negative(d, a), wide::is_negative(d, b)));
    let (mut quotient, divisor) = match signs {
        Some((of_a, of_b)) => (negated_if(d, of_a, a), negated_if(d, of_b, b)),
        None => (a, b),
    };
    let top = d.word(31);
    let mut rest = zero;
    for _ in 0..32 {
        let bit = d.shr(quotient, top);
        // If the shift below drops a set bit of the remainder, the true remainder is greater than any divisor.
        let out = wide::is_negative(d, rest);
        let doubled = d.shl(rest, one);
        rest = d.or(doubled, bit);
        let below = d.less(false, rest, divisor);
        let reaches = d.negate(below);
        let reaches = d.either(out, reaches);
        let less = d.sub(rest, divisor);
        rest = d.select(reaches, less, rest);
        let doubled = d.shl(quotient, one);
        let bit = wide::one_if(d, reaches);
        quotient = d.or(doubled, bit);
    }
    let result = match (signs, op.remainder) {
        (Some((of_a, of_b)), false) => {
            let differ = d.differ(of_a, of_b);
            negated_if(d, differ, quotient)
        }
        (Some((of_a, _)), true) => negated_if(d, of_a, rest),
        (None, false) => quotient,
        (None, true) => rest,
    };
    let (none, all) = (d.equal(b, zero), d.word(u32::MAX));
    d.select(none, all, result)
}

fn negated_if<D: Domain>(d: &mut D, p: D::Pred, a: D::Word) -> D::Word {
    let zero = d.word(0);
    let opposite = d.sub(zero, a);
    d.select(p, opposite, a)
}

/// Implements [`Domain::divide_wide`] by 32-bit divisions, as in Warren, *Hacker's Delight*, 9-5. If the upper word of
/// the divisor is zero, long division with two 32-bit digits is exact. Otherwise half of the dividend is divided by the
/// normalised upper word of the divisor. That quotient is an estimate, which is at most one too great.
pub(super) fn pairs<D: Domain>(d: &mut D, op: Divide, a: [D::Word; 2], b: [D::Word; 2]) -> [D::Word; 2] {
    let zero = d.word(0);
    let signs = op.signed.then(|| (wide::is_negative(d, a[1]), wide::is_negative(d, b[1])));
    let (u, v) = match signs {
        Some((of_a, of_b)) => (pair_negated_if(d, of_a, a), pair_negated_if(d, of_b, b)),
        None => (a, b),
    };
    let by_word = d.equal(v[1], zero);
    // If the divisor has one word, compute the upper digit of the quotient and the remainder.
    let unsigned = Divide { signed: false, remainder: false };
    let upper = d.divide(unsigned, u[1], v[0]);
    let taken = d.mul(upper, v[0]);
    let rest = d.sub(u[1], taken);
    // If the divisor has two words, compute half of the dividend and the upper word of the
    // normalised divisor.
    let (one, top) = (d.word(1), d.word(31));
    let places = d.leading_zeros(v[1]);
    let [_, high] = wide::shl(d, v, places);
    let half = wide::shr(d, u, one);
    let dividend = wide::select(d, by_word, [u[0], rest], half);
    let divisor = d.select(by_word, v[0], high);
    let digit = digit(d, dividend, divisor);
    let estimate = wide::shl(d, [digit, zero], places);
    let [estimate, _] = wide::shr(d, estimate, top);
    let empty = d.equal(estimate, zero);
    let less = d.sub(estimate, one);
    let estimate = d.select(empty, estimate, less);
    let taken = wide::mul_low(d, [estimate, zero], v);
    let rest = wide::sub(d, u, taken);
    let fits = wide::less(d, false, rest, v);
    let more = d.add(estimate, one);
    let quotient = d.select(fits, estimate, more);
    let quotient = wide::select(d, by_word, [digit, upper], [quotient, zero]);
    let result = if op.remainder {
        let taken = wide::mul_low(d, quotient, v);
        wide::sub(d, u, taken)
    } else {
        quotient
    };
    let result = match (signs, op.remainder) {
        (Some((of_a, of_b)), false) => {
            let differ = d.differ(of_a, of_b);
            pair_negated_if(d, differ, result)
        }
        (Some((of_a, _)), true) => pair_negated_if(d, of_a, result),
        (None, _) => result,
    };
    let none = wide::equal(d, b, [zero; 2]);
    let all = wide::constant(d, u64::MAX);
    wide::select(d, none, all, result)
}

fn pair_negated_if<D: Domain>(d: &mut D, p: D::Pred, a: [D::Word; 2]) -> [D::Word; 2] {
    let opposite = wide::neg(d, a);
    wide::select(d, p, opposite, a)
}

/// Divides a 64-bit value by a 32-bit value that is greater than the dividend's upper word. The
/// quotient has two 16-bit digits.
fn digit<D: Domain>(d: &mut D, u: [D::Word; 2], v: D::Word) -> D::Word {
    let (half, low) = (d.word(16), d.word(0xFFFF));
    let places = d.leading_zeros(v);
    let v = wide::shl_word(d, v, places);
    let [lower, upper] = wide::shl(d, u, places);
    let halves = [d.shr(v, half), d.and(v, low)];
    let next = d.shr(lower, half);
    let (first, rest) = half_digit(d, upper, next, v, halves);
    let next = d.and(lower, low);
    let (second, _) = half_digit(d, rest, next, v, halves);
    let first = d.shl(first, half);
    d.add(first, second)
}

/// Divides the value `rest << 16 | next`, where `next` has 16 bits, by `v`. Returns the quotient,
/// which has 16 bits, and the remainder. `high` and `low` are the halves of `v`.
fn half_digit<D: Domain>(
    d: &mut D,
    rest: D::Word,
    next: D::Word,
    v: D::Word,
    [high, low]: [D::Word; 2],
) -> (D::Word, D::Word) {
    let (one, half, limit) = (d.word(1), d.word(16), d.word(1 << 16));
    let mut digit = d.divide(Divide { signed: false, remainder: false }, rest, high);
    let taken = d.mul(digit, high);
    let mut left = d.sub(rest, taken);
    // The estimated digit is at most two too great.
    for _ in 0..2 {
        let fits = d.less(false, digit, limit);
        let over = d.negate(fits);
        let product = d.mul(digit, low);
        let there = d.shl(left, half);
        let there = d.or(there, next);
        let more = d.less(false, there, product);
        let wrong = d.either(over, more);
        let is_short = d.less(false, left, limit);
        let wrong = d.both(wrong, is_short);
        let (fewer, further) = (d.sub(digit, one), d.add(left, high));
        digit = d.select(wrong, fewer, digit);
        left = d.select(wrong, further, left);
    }
    let shifted = d.shl(rest, half);
    let whole = d.add(shifted, next);
    let taken = d.mul(digit, v);
    (digit, d.sub(whole, taken))
}

#[cfg(test)]
mod tests {
    use super::{Divide, pairs, words};
    use crate::halu::concrete::Concrete;
    use crate::halu::domain::Domain;

    /// Returns numbers near powers of two, with few and with many significant bits.
    fn numbers() -> Vec<u64> {
        let powers = (0..64).step_by(3).map(|n| 1u64 << n);
        let near = powers.flat_map(|power| [power, power - 1, power + 1, power.wrapping_neg()]);
        near.chain([
            0,
            7,
            10,
            u64::MAX,
            u64::MAX - 1,
            0x8000_0000_0000_0001,
            0xFFFF_FFFF_0000_0000,
            0xDEAD_BEEF_CAFE_F00D,
        ])
        .collect()
    }

    #[test]
    fn steps_are_the_hosts_division() {
        let numbers = numbers();
        for (signed, remainder) in [(false, false), (false, true), (true, false), (true, true)] {
            let op = Divide { signed, remainder };
            for (&a, &b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))) {
                let [x, y] = [a, b].map(|whole| [whole as u32, (whole >> 32) as u32]);
                let pair = pairs(&mut Concrete, op, x, y);
                assert_eq!(pair, Concrete.divide_wide(op, x, y), "{op:?} {a:#x} {b:#x}");
                let word = words(&mut Concrete, op, x[0], y[0]);
                assert_eq!(word, Concrete.divide(op, x[0], y[0]), "{op:?} {a:#x} {b:#x}");
            }
        }
    }
}

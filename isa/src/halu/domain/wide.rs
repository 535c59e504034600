//! Arithmetic on 64-bit integers that are held in two words, low word first.

use crate::halu::domain::Domain;

/// A 64-bit value, low word first.
pub(crate) type Wide<D> = [<D as Domain>::Word; 2];

/// Returns a constant.
pub(crate) fn constant<D: Domain>(d: &mut D, value: u64) -> Wide<D> {
    [d.word(value as u32), d.word((value >> 32) as u32)]
}

/// Converts a predicate to 1 or 0.
pub(crate) fn one_if<D: Domain>(d: &mut D, p: D::Pred) -> D::Word {
    let (one, zero) = (d.word(1), d.word(0));
    d.select(p, one, zero)
}

/// Returns the sum of two words, and the carry as the word 0 or 1.
fn add_carry<D: Domain>(d: &mut D, a: D::Word, b: D::Word) -> (D::Word, D::Word) {
    let sum = d.add(a, b);
    let carry = d.less(false, sum, a);
    (sum, one_if(d, carry))
}

/// Returns `a + b`.
pub(crate) fn add<D: Domain>(d: &mut D, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    let (low, carry) = add_carry(d, a[0], b[0]);
    let high = d.add(a[1], b[1]);
    [low, d.add(high, carry)]
}

/// Returns `a - b`.
pub(crate) fn sub<D: Domain>(d: &mut D, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    let borrow = d.less(false, a[0], b[0]);
    let borrow = one_if(d, borrow);
    let high = d.sub(a[1], b[1]);
    [d.sub(a[0], b[0]), d.sub(high, borrow)]
}

/// Returns `-a`.
pub(crate) fn neg<D: Domain>(d: &mut D, a: Wide<D>) -> Wide<D> {
    let zero = constant(d, 0);
    sub(d, zero, a)
}

/// Returns `a < b`.
pub(crate) fn less<D: Domain>(d: &mut D, signed: bool, a: Wide<D>, b: Wide<D>) -> D::Pred {
    let (above, same) = (d.less(signed, a[1], b[1]), d.equal(a[1], b[1]));
    let below = d.less(false, a[0], b[0]);
    let below = d.both(same, below);
    d.either(above, below)
}

/// Returns `a == b`.
pub(crate) fn equal<D: Domain>(d: &mut D, a: Wide<D>, b: Wide<D>) -> D::Pred {
    let (low, high) = (d.equal(a[0], b[0]), d.equal(a[1], b[1]));
    d.both(low, high)
}

/// Returns `p ? a : b`.
pub(crate) fn select<D: Domain>(d: &mut D, p: D::Pred, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    [d.select(p, a[0], b[0]), d.select(p, a[1], b[1])]
}

/// Applies a bitwise operation to both words.
pub(crate) fn bitwise<D: Domain>(
    d: &mut D,
    op: fn(&mut D, D::Word, D::Word) -> D::Word,
    a: Wide<D>,
    b: Wide<D>,
) -> Wide<D> {
    [op(d, a[0], b[0]), op(d, a[1], b[1])]
}

/// Returns `!a`.
pub(crate) fn not<D: Domain>(d: &mut D, a: Wide<D>) -> Wide<D> {
    a.map(|word| d.not(word))
}

/// Returns the 64-bit product of two words.
pub(crate) fn product<D: Domain>(d: &mut D, signed: bool, a: D::Word, b: D::Word) -> Wide<D> {
    [d.mul(a, b), d.mul_high(signed, a, b)]
}

/// Returns the low 64 bits of `a * b`.
pub(crate) fn mul_low<D: Domain>(d: &mut D, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    let [low, high] = product(d, false, a[0], b[0]);
    let (cross_a, cross_b) = (d.mul(a[0], b[1]), d.mul(a[1], b[0]));
    let cross = d.add(cross_a, cross_b);
    [low, d.add(high, cross)]
}

/// Returns the high 64 bits of `a * b`.
pub(crate) fn mul_high<D: Domain>(d: &mut D, signed: bool, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    let zero = d.word(0);
    let low = d.mul_high(false, a[0], b[0]);
    let cross_a = product(d, false, a[0], b[1]);
    let cross_b = product(d, false, a[1], b[0]);
    let high = product(d, false, a[1], b[1]);
    let middle = add(d, cross_a, [low, zero]);
    let (_, carry) = add_carry(d, middle[0], cross_b[0]);
    let high = add(d, high, [middle[1], zero]);
    let high = add(d, high, [cross_b[1], zero]);
    let high = add(d, high, [carry, zero]);
    if !signed {
        return high;
    }
    // The unsigned value of a negative factor is too great by 2^64. The product is corrected by a
    // subtraction of the other factor from its high half.
    let mut high = high;
    for (factor, other) in [(a, b), (b, a)] {
        let negative = is_negative(d, factor[1]);
        let none = [zero; 2];
        let excess = select(d, negative, other, none);
        high = sub(d, high, excess);
    }
    high
}

/// Returns `true` if a word is negative.
pub(crate) fn is_negative<D: Domain>(d: &mut D, a: D::Word) -> D::Pred {
    let zero = d.word(0);
    d.less(true, a, zero)
}

/// Returns `a << count`; a count of 32 or more gives 0.
pub(crate) fn shl_word<D: Domain>(d: &mut D, a: D::Word, count: D::Word) -> D::Word {
    let shifted = d.shl(a, count);
    within_word(d, count, shifted)
}

/// Returns the logical shift `a >> count`; a count of 32 or more gives 0.
pub(crate) fn shr_word<D: Domain>(d: &mut D, a: D::Word, count: D::Word) -> D::Word {
    let shifted = d.shr(a, count);
    within_word(d, count, shifted)
}

/// Returns the arithmetic shift `a >> count`; a count of 32 or more gives copies of the sign.
pub(crate) fn sar_word<D: Domain>(d: &mut D, a: D::Word, count: D::Word) -> D::Word {
    let last = d.word(31);
    let count = min_word(d, count, last);
    d.sar(a, count)
}

fn within_word<D: Domain>(d: &mut D, count: D::Word, shifted: D::Word) -> D::Word {
    let (width, zero) = (d.word(32), d.word(0));
    let within = d.less(false, count, width);
    d.select(within, shifted, zero)
}

/// Returns the minimum of two unsigned words.
pub(crate) fn min_word<D: Domain>(d: &mut D, a: D::Word, b: D::Word) -> D::Word {
    let less = d.less(false, a, b);
    d.select(less, a, b)
}

/// Returns `a << count`; a count of 64 or more gives 0.
pub(crate) fn shl<D: Domain>(d: &mut D, a: Wide<D>, count: D::Word) -> Wide<D> {
    let (rest, beyond) = complementary_counts(d, count);
    let kept = shl_word(d, a[1], count);
    // At most one of `over` and `far` is nonzero, except for a count of 32, for which they are equal.
    let (over, far) = (shr_word(d, a[0], rest), shl_word(d, a[0], beyond));
    let carried = d.or(over, far);
    [shl_word(d, a[0], count), d.or(kept, carried)]
}

/// Returns the logical shift `a >> count`; a count of 64 or more gives 0.
pub(crate) fn shr<D: Domain>(d: &mut D, a: Wide<D>, count: D::Word) -> Wide<D> {
    let (rest, beyond) = complementary_counts(d, count);
    let kept = shr_word(d, a[0], count);
    let (over, far) = (shl_word(d, a[1], rest), shr_word(d, a[1], beyond));
    let carried = d.or(over, far);
    [d.or(kept, carried), shr_word(d, a[1], count)]
}

/// Returns the arithmetic shift `a >> count`; a count of 64 or more gives copies of the sign.
pub(crate) fn sar<D: Domain>(d: &mut D, a: Wide<D>, count: D::Word) -> Wide<D> {
    let (rest, beyond) = complementary_counts(d, count);
    let (kept, over) = (shr_word(d, a[0], count), shl_word(d, a[1], rest));
    let near = d.or(kept, over);
    let far = sar_word(d, a[1], beyond);
    let width = d.word(32);
    let within = d.less(false, count, width);
    [d.select(within, near, far), sar_word(d, a[1], count)]
}

/// Returns `32 - count` and `count - 32`, modulo 2^32. A negative difference is a large unsigned
/// shift count, so a shift by it gives 0.
fn complementary_counts<D: Domain>(d: &mut D, count: D::Word) -> (D::Word, D::Word) {
    let width = d.word(32);
    (d.sub(width, count), d.sub(count, width))
}

/// Extends the low `bits` bits (8, 16, 32 or 64) with zeros or with the sign.
pub(crate) fn extend<D: Domain>(d: &mut D, bits: u32, signed: bool, a: Wide<D>) -> Wide<D> {
    let low = extend_word(d, bits, signed, a[0]);
    let high = match (bits, signed) {
        (64, _) => a[1],
        (_, false) => d.word(0),
        (_, true) => {
            let last = d.word(31);
            d.sar(low, last)
        }
    };
    [low, high]
}

/// Extends the low `bits` bits with zeros or with the sign. With 32 bits or more, returns the word unchanged.
pub(crate) fn extend_word<D: Domain>(d: &mut D, bits: u32, signed: bool, a: D::Word) -> D::Word {
    if bits >= 32 {
        return a;
    }
    let unused = d.word(32 - bits);
    let top = d.shl(a, unused);
    if signed { d.sar(top, unused) } else { d.shr(top, unused) }
}

//! Software floating-point arithmetic for any format and rounding mode, over any [`Domain`].
//!
//! Operands are unpacked to [`Number`]s. Operations keep enough bits for a correct rounding, and the result is rounded
//! once. An operation that drops bits sets the last bit of its result if a dropped bit was 1 (rounding to odd). This
//! sticky bit is far below the position at which any format rounds.

use super::wide::{self, Wide};
use crate::half::Rounding;
use crate::halu::domain::Domain;

/// A floating-point format: sign, exponent and fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Float {
    exponent_bits: u32,
    fraction_bits: u32,
    /// The bit pattern of the greatest finite value.
    most: u64,
    /// The bit pattern of infinity, if the format has one.
    infinity: Option<u64>,
    /// The bit pattern of NaN, without a sign.
    nan: u64,
}

impl Float {
    pub(crate) const F16: Float = Float::ieee(5, 10, 0x7FFF);
    pub(crate) const BF16: Float = Float::ieee(8, 7, 0x7FFF);
    /// TF32: the high 19 bits of an f32.
    pub(crate) const TF32: Float = Float::ieee(8, 10, 0x3_FFFF);
    pub(crate) const F32: Float = Float::ieee(8, 23, 0x7FFF_FFFF);
    pub(crate) const F64: Float = Float::ieee(11, 52, 0x7FF8_0000_0000_0000);
    /// The high word of an f64.
    pub(crate) const F64_HIGH: Float = Float::ieee(11, 20, 0x7FFF_FFFF);
    /// The exponent bits of [`Float::F64_HIGH`].
    pub(crate) const F64_HIGH_EXPONENT: u32 = 0x7FF0_0000;
    pub(crate) const E5M2: Float = Float::ieee(5, 2, 0x7F);
    pub(crate) const E4M3: Float = Float { exponent_bits: 4, fraction_bits: 3, most: 0x7E, infinity: None, nan: 0x7F };
    pub(crate) const E2M3: Float = Float::finite(2, 3);
    pub(crate) const E3M2: Float = Float::finite(3, 2);
    pub(crate) const E2M1: Float = Float::finite(2, 1);

    const fn ieee(exponent_bits: u32, fraction_bits: u32, nan: u64) -> Float {
        let infinity = ((1 << exponent_bits) - 1) << fraction_bits;
        Float { exponent_bits, fraction_bits, most: infinity - 1, infinity: Some(infinity), nan }
    }

    /// Defines a format without infinities and NaNs.
    const fn finite(exponent_bits: u32, fraction_bits: u32) -> Float {
        let most = (1 << (exponent_bits + fraction_bits)) - 1;
        Float { exponent_bits, fraction_bits, most, infinity: None, nan: most }
    }

    /// Returns the width of the format in bits, sign included.
    pub(crate) const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.fraction_bits
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction_bits
    }

    const fn magnitudes(self) -> u64 {
        (1 << (self.bits() - 1)) - 1
    }

    /// Returns `true` if every significand fits in the high word of a [`Number`], so that the
    /// product of two high words is exact.
    const fn is_narrow(self) -> bool {
        self.fraction_bits < 30
    }
}

/// An unpacked number: NaN, an infinity, or `significand * 2^(exponent - 62)` with a sign.
///
/// The leading one of the significand is bit 62. A zero has a zero significand and an exponent
/// below those of all other numbers. An infinity has an exponent above those of all finite numbers.
pub(crate) struct Number<D: Domain> {
    pub nan: D::Pred,
    pub infinite: D::Pred,
    pub negative: D::Pred,
    pub exponent: D::Word,
    pub significand: Wide<D>,
}

impl<D: Domain> Clone for Number<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Domain> Copy for Number<D> {}

/// The exponent of infinities. The exponent of zeros is the negation of this constant.
const INFINITY_EXPONENT: i32 = 0x4000;
/// Bit number of a significand's leading one.
const LEADING: u32 = 62;

/// The rounding of a number to a format.
#[derive(Clone, Copy)]
pub(crate) enum RoundingMode<W> {
    /// A standard rounding mode.
    Rounding(Rounding),
    /// To nearest, ties away from zero.
    Away,
    /// Stochastic rounding. The magnitude is rounded up if the sum of these random bits and the
    /// discarded fraction, in units of 2^-32, overflows 32 bits.
    Random(W),
}

/// Optional steps after rounding to a format.
#[derive(Clone, Copy, Default)]
pub(crate) struct Finish {
    /// `true` to replace a result that is subnormal before rounding by a zero of the same sign.
    pub ftz: bool,
    /// `true` to clamp the result to [+0, 1]; NaN becomes +0.
    pub sat: bool,
    /// `true` to replace a negative result by +0.
    pub relu: bool,
    /// `true` to replace a result whose magnitude exceeds the greatest finite value by that value,
    /// with the result's sign.
    pub finite: bool,
}

/// Unpacks the bits of a format. Bits beyond the format's width are ignored.
pub(crate) fn unpack<D: Domain>(d: &mut D, format: Float, bits: Wide<D>) -> Number<D> {
    let negative = bit(d, bits, format.bits() - 1);
    let mask = wide::constant(d, format.magnitudes());
    let magnitude = wide::bitwise(d, D::and, bits, mask);
    let field = shr(d, magnitude, format.fraction_bits)[0];
    let zero = d.word(0);
    let subnormal = d.equal(field, zero);

    let (one, least) = (d.word(1), d.word((1 - format.bias()) as u32));
    let exponent = d.sub(field, one);
    let exponent = d.add(exponent, least);
    let exponent = d.select(subnormal, least, exponent);
    let fractions = wide::constant(d, (1 << format.fraction_bits) - 1);
    let fraction = wide::bitwise(d, D::and, magnitude, fractions);
    let hidden = wide::constant(d, 1 << format.fraction_bits);
    let normal = wide::bitwise(d, D::or, fraction, hidden);
    let significand = wide::select(d, subnormal, fraction, normal);
    let significand = shl(d, significand, LEADING - format.fraction_bits);

    let (infinite, nan) = match format.infinity {
        Some(infinity) => {
            let infinity = wide::constant(d, infinity);
            (wide::equal(d, magnitude, infinity), wide::less(d, false, infinity, magnitude))
        }
        None => {
            let most = wide::constant(d, format.most);
            (d.truth(false), wide::less(d, false, most, magnitude))
        }
    };
    let far = d.word(INFINITY_EXPONENT as u32);
    let exponent = d.select(infinite, far, exponent);
    normalised(d, Number { nan, infinite, negative, exponent, significand })
}

/// Converts an integer to an unpacked number, given its magnitude and its sign.
pub(crate) fn of_magnitude<D: Domain>(d: &mut D, negative: D::Pred, significand: Wide<D>) -> Number<D> {
    let (no, exponent) = (d.truth(false), d.word(LEADING));
    normalised(d, Number { nan: no, infinite: no, negative, exponent, significand })
}

/// Returns the number 1.
pub(crate) fn one<D: Domain>(d: &mut D) -> Number<D> {
    let (no, exponent) = (d.truth(false), d.word(0));
    let significand = wide::constant(d, 1 << LEADING);
    Number { nan: no, infinite: no, negative: no, exponent, significand }
}

/// Negates a number.
pub(crate) fn neg<D: Domain>(d: &mut D, a: Number<D>) -> Number<D> {
    Number { negative: d.negate(a.negative), ..a }
}

/// Returns `a + b`. Alignment drops bits of an operand only if its exponent is much smaller than that of the other
/// operand. A subtraction then cancels at most one leading bit, so the sticky bit stays below the rounding position.
pub(crate) fn add<D: Domain>(d: &mut D, a: Number<D>, b: Number<D>, towards: Rounding) -> Number<D> {
    let (high, low) = ordered(d, a, b);
    let distance = d.sub(high.exponent, low.exponent);
    let low_significand = shr_sticky(d, low.significand, distance);
    let differ = d.differ(high.negative, low.negative);
    let sum = wide::add(d, high.significand, low_significand);
    let difference = wide::sub(d, high.significand, low_significand);
    let below = wide::is_negative(d, difference[1]);
    let opposite = wide::neg(d, difference);
    let difference = wide::select(d, below, opposite, difference);
    let significand = wide::select(d, differ, difference, sum);
    let negative = sign_of_sum(d, high, differ, below, significand, towards);
    let (nan, infinite) = specials_of_sum(d, a, b, differ);
    normalised(d, Number { nan, infinite, negative, exponent: high.exponent, significand })
}

/// Returns both numbers, with the greater exponent first.
fn ordered<D: Domain>(d: &mut D, a: Number<D>, b: Number<D>) -> (Number<D>, Number<D>) {
    let swap = d.less(true, a.exponent, b.exponent);
    (choose(d, swap, b, a), choose(d, swap, a, b))
}

fn choose<D: Domain>(d: &mut D, p: D::Pred, a: Number<D>, b: Number<D>) -> Number<D> {
    let mut either = |a, b| {
        let (with, not) = (d.both(p, a), d.negate(p));
        let without = d.both(not, b);
        d.either(with, without)
    };
    let (nan, infinite, negative) =
        (either(a.nan, b.nan), either(a.infinite, b.infinite), either(a.negative, b.negative));
    let exponent = d.select(p, a.exponent, b.exponent);
    let significand = wide::select(d, p, a.significand, b.significand);
    Number { nan, infinite, negative, exponent, significand }
}

/// Returns the sign of a sum. A zero sum of two operands with the same sign has that sign. A zero
/// sum of operands with different signs is -0 only if the rounding mode is `Down`.
fn sign_of_sum<D: Domain>(
    d: &mut D,
    high: Number<D>,
    differ: D::Pred,
    below: D::Pred,
    significand: Wide<D>,
    towards: Rounding,
) -> D::Pred {
    let turned = d.both(differ, below);
    let negative = d.differ(high.negative, turned);
    let nothing = is_zero(d, significand);
    let cancelled = d.both(differ, nothing);
    match towards {
        Rounding::Down => d.either(cancelled, negative),
        _ => {
            let kept = d.negate(cancelled);
            d.both(kept, negative)
        }
    }
}

fn specials_of_sum<D: Domain>(d: &mut D, a: Number<D>, b: Number<D>, differ: D::Pred) -> (D::Pred, D::Pred) {
    let infinities = d.both(a.infinite, b.infinite);
    let invalid = d.both(infinities, differ);
    let nan = d.either(a.nan, b.nan);
    (d.either(nan, invalid), d.either(a.infinite, b.infinite))
}

/// Returns `a * b`. The product is exact for a narrow format.
pub(crate) fn mul<D: Domain>(d: &mut D, format: Float, a: Number<D>, b: Number<D>) -> Number<D> {
    let high = if format.is_narrow() {
        wide::product(d, false, a.significand[1], b.significand[1])
    } else {
        let [low, high] = product(d, a.significand, b.significand);
        with_sticky_bit(d, high, low)
    };
    // The leading one of `high` is bit 60 or 61, and the last bit of `high` is sticky.
    let of_product = product_sign_and_exponent(d, a, b);
    let two = d.word(2);
    let exponent = d.add(of_product.exponent, two);
    normalised(d, Number { exponent, significand: high, ..of_product })
}

/// Returns a number with the sign, the exponent and the special cases of a product. Its significand has no meaning.
fn product_sign_and_exponent<D: Domain>(d: &mut D, a: Number<D>, b: Number<D>) -> Number<D> {
    let (a_zero, b_zero) = (is_zero(d, a.significand), is_zero(d, b.significand));
    let infinite = d.either(a.infinite, b.infinite);
    let zero = d.either(a_zero, b_zero);
    let invalid = d.both(infinite, zero);
    let nan = d.either(a.nan, b.nan);
    let nan = d.either(nan, invalid);
    let negative = d.differ(a.negative, b.negative);
    let exponent = d.add(a.exponent, b.exponent);
    let far = d.word(INFINITY_EXPONENT as u32);
    let exponent = d.select(infinite, far, exponent);
    Number { nan, infinite, negative, exponent, significand: a.significand }
}

/// Returns `a * b + c`, with an exact product.
pub(crate) fn fma<D: Domain>(d: &mut D, format: Float, [a, b, c]: [Number<D>; 3], towards: Rounding) -> Number<D> {
    if format.is_narrow() {
        let product = mul(d, format, a, b);
        return add(d, product, c, towards);
    }
    // The sum is computed with 128 bits. The product's leading one is bit 125 or 126, and that of `c` is bit 126.
    let of_product = product_sign_and_exponent(d, a, b);
    let one = d.word(1);
    let exponent = d.add(of_product.exponent, one);
    let exponent = {
        let nothing = d.either(a.infinite, b.infinite);
        d.select(nothing, of_product.exponent, exponent)
    };
    let [low, high] = product(d, a.significand, b.significand);
    let carried = shr(d, low, 63);
    let (low, high) = (shl(d, low, 1), shl(d, high, 1));
    let high = wide::bitwise(d, D::or, high, carried);
    let left = Number { exponent, significand: high, ..of_product };
    let none = wide::constant(d, 0);

    let swap = d.less(true, left.exponent, c.exponent);
    let greater = choose(d, swap, c, left);
    let lesser = choose(d, swap, left, c);
    let greater_low = wide::select(d, swap, none, low);
    let lesser_low = wide::select(d, swap, low, none);
    let distance = d.sub(greater.exponent, lesser.exponent);
    let first = [greater_low, greater.significand];
    let second = shr_sticky_quad(d, [lesser_low, lesser.significand], distance);

    let differ = d.differ(greater.negative, lesser.negative);
    let sum = add_quad(d, first, second);
    let difference = sub_quad(d, first, second);
    let below = wide::is_negative(d, difference[1][1]);
    let opposite = sub_quad(d, [none; 2], difference);
    let [low, high] = [0, 1].map(|i| {
        let difference = wide::select(d, below, opposite[i], difference[i]);
        wide::select(d, differ, difference, sum[i])
    });
    let either = wide::bitwise(d, D::or, low, high);
    let negative = sign_of_sum(d, greater, differ, below, either, towards);
    let (nan, infinite) = specials_of_sum(d, left, c, differ);

    // The significand is the normalised high half, with bits of the low half shifted in. If the
    // high half is zero, the significand is the low half.
    let far = is_zero(d, high);
    let by = leading_zeros(d, high);
    let zero = d.word(0);
    let by = d.select(far, zero, by);
    let raised = wide::shl(d, high, by);
    let sixty_four = d.word(64);
    let back = d.sub(sixty_four, by);
    let moved = wide::shr(d, low, back);
    let raised = wide::bitwise(d, D::or, raised, moved);
    let rest = wide::shl(d, low, by);
    let raised = wide::select(d, far, low, raised);
    let rest = wide::select(d, far, none, rest);
    let significand = with_sticky_bit(d, raised, rest);
    // The exponent decreases by the number of bits by which the significand was shifted left.
    let sunk = d.select(far, sixty_four, by);
    let exponent = d.sub(greater.exponent, sunk);
    normalised(d, Number { nan, infinite, negative, exponent, significand })
}

/// Returns `a / b` with enough bits for the format's rounding.
pub(crate) fn div<D: Domain>(d: &mut D, format: Float, a: Number<D>, b: Number<D>) -> Number<D> {
    let digits = format.fraction_bits + 4;
    let (quotient, exact) = if format.is_narrow() {
        let (divisor, mut rest) = (b.significand[1], a.significand[1]);
        let (mut quotient, one) = (d.word(0), d.word(1));
        for _ in 0..digits {
            let less = d.less(false, rest, divisor);
            let fits = d.negate(less);
            let left = d.sub(rest, divisor);
            rest = d.select(fits, left, rest);
            rest = d.shl(rest, one);
            let digit = wide::one_if(d, fits);
            quotient = d.shl(quotient, one);
            quotient = d.or(quotient, digit);
        }
        let zero = d.word(0);
        ([quotient, zero], d.equal(rest, zero))
    } else {
        let (divisor, mut rest) = (b.significand, a.significand);
        let mut quotient = wide::constant(d, 0);
        for _ in 0..digits {
            let less = wide::less(d, false, rest, divisor);
            let fits = d.negate(less);
            let left = wide::sub(d, rest, divisor);
            rest = wide::select(d, fits, left, rest);
            rest = shl(d, rest, 1);
            let digit = wide::one_if(d, fits);
            quotient = shl(d, quotient, 1);
            quotient[0] = d.or(quotient[0], digit);
        }
        (quotient, is_zero(d, rest))
    };
    let significand = shl(d, quotient, LEADING + 1 - digits);
    let significand = sticky(d, significand, exact);

    let (a_zero, b_zero) = (is_zero(d, a.significand), is_zero(d, b.significand));
    let (zeros, infinities) = (d.both(a_zero, b_zero), d.both(a.infinite, b.infinite));
    let invalid = d.either(zeros, infinities);
    let nan = d.either(a.nan, b.nan);
    let nan = d.either(nan, invalid);
    let infinite = d.either(a.infinite, b_zero);
    let negative = d.differ(a.negative, b.negative);
    let exponent = d.sub(a.exponent, b.exponent);
    let none = wide::constant(d, 0);
    let nothing = d.either(a_zero, b.infinite);
    let significand = wide::select(d, nothing, none, significand);
    normalised(d, Number { nan, infinite, negative, exponent, significand })
}

/// Returns the square root with enough bits for the format's rounding.
pub(crate) fn sqrt<D: Domain>(d: &mut D, format: Float, a: Number<D>) -> Number<D> {
    let one = d.word(1);
    let exponent = d.sar(a.exponent, one);
    let odd = d.and(a.exponent, one);
    let odd = d.equal(odd, one);
    // In `rest`, bit 61 has the weight 1. The remainder stays below 8, so it fits in 64 bits.
    let halved = shr(d, a.significand, 1);
    let radicand = wide::select(d, odd, a.significand, halved);
    let digits = format.fraction_bits + 3;
    let (root, exact) = if format.is_narrow() {
        let (mut root, mut rest) = (d.word(0), radicand[1]);
        for digit in 0..digits {
            let bit = d.word(1 << (29 - digit));
            let twice = d.shl(root, one);
            let step = d.or(twice, bit);
            let less = d.less(false, rest, step);
            let fits = d.negate(less);
            let left = d.sub(rest, step);
            rest = d.select(fits, left, rest);
            rest = d.shl(rest, one);
            let longer = d.or(root, bit);
            root = d.select(fits, longer, root);
        }
        let zero = d.word(0);
        ([zero, root], d.equal(rest, zero))
    } else {
        let (mut root, mut rest) = (wide::constant(d, 0), radicand);
        for digit in 0..digits {
            let bit = wide::constant(d, 1 << (61 - digit));
            let twice = shl(d, root, 1);
            let step = wide::bitwise(d, D::or, twice, bit);
            let less = wide::less(d, false, rest, step);
            let fits = d.negate(less);
            let left = wide::sub(d, rest, step);
            rest = wide::select(d, fits, left, rest);
            rest = shl(d, rest, 1);
            let longer = wide::bitwise(d, D::or, root, bit);
            root = wide::select(d, fits, longer, root);
        }
        (root, is_zero(d, rest))
    };
    let significand = shl(d, root, 1);
    let significand = sticky(d, significand, exact);
    let none = wide::constant(d, 0);
    let nothing = is_zero(d, a.significand);
    let significand = wide::select(d, nothing, none, significand);
    let something = d.negate(nothing);
    let invalid = d.both(a.negative, something);
    let nan = d.either(a.nan, invalid);
    normalised(d, Number { nan, exponent, significand, ..a })
}

/// Returns the reciprocal square root, with 53 bits and a sticky bit.
///
/// Each iteration computes one binary digit of the root, from weight 1 down to weight 2^-54. The
/// radicand `m` is at least 1 and below 4. Before digit `j`, `rest` is `2^j * (1 - m * root^2)` and
/// `product` is `m * root`. All values are exact multiples of 2^-106.
pub(crate) fn rsqrt<D: Domain>(d: &mut D, a: Number<D>) -> Number<D> {
    const DIGITS: u32 = 55;
    let one = d.word(1);
    let half = d.sar(a.exponent, one);
    let odd = d.and(a.exponent, one);
    let odd = d.equal(odd, one);
    let even = [shl(d, a.significand, 44), shr(d, a.significand, 20)];
    let twice = [shl(d, a.significand, 45), shr(d, a.significand, 19)];
    let mut step = [0, 1].map(|i| wide::select(d, odd, twice[i], even[i]));
    let none = wide::constant(d, 0);
    let (mut root, mut product) = (none, [none; 2]);
    let mut rest = [none, wide::constant(d, 1 << 42)];
    for digit in 0..DIGITS {
        let twice = shl_quad(d, product);
        let taken = add_quad(d, twice, step);
        let left = sub_quad(d, rest, taken);
        let below = wide::is_negative(d, left[1][1]);
        let kept = [0, 1].map(|i| wide::select(d, below, rest[i], left[i]));
        rest = shl_quad(d, kept);
        let more = add_quad(d, product, step);
        product = [0, 1].map(|i| wide::select(d, below, product[i], more[i]));
        let bit = wide::constant(d, 1 << (LEADING - digit));
        let longer = wide::bitwise(d, D::or, root, bit);
        root = wide::select(d, below, root, longer);
        step = shr_quad(d, step);
    }
    let rest = wide::bitwise(d, D::or, rest[0], rest[1]);
    let exact = is_zero(d, rest);
    let significand = sticky(d, root, exact);

    let zero = d.word(0);
    let exponent = d.sub(zero, half);
    let nothing = is_zero(d, a.significand);
    let something = d.negate(nothing);
    let invalid = d.both(a.negative, something);
    let nan = d.either(a.nan, invalid);
    let significand = wide::select(d, a.infinite, none, significand);
    normalised(d, Number { nan, infinite: nothing, negative: a.negative, exponent, significand })
}

/// Rounds a number to a format and returns the bits of the result. The bits beyond the format's
/// width are zero. A NaN becomes `nan`, or the format's canonical NaN if `nan` is `None`.
pub(crate) fn round<D: Domain>(
    d: &mut D,
    format: Float,
    a: Number<D>,
    towards: RoundingMode<D::Word>,
    finish: Finish,
    nan: Option<Wide<D>>,
) -> Wide<D> {
    let least = d.word((1 - format.bias()) as u32);
    let tiny = d.less(true, a.exponent, least);
    let zero = d.word(0);
    let below = d.sub(least, a.exponent);
    let below = d.select(tiny, below, zero);
    let significand = shr_sticky(d, a.significand, below);
    let cut = LEADING - format.fraction_bits;
    let kept = shr(d, significand, cut);
    let rest = shl(d, significand, 64 - cut);
    let none = d.equal(rest[0], zero);
    let more = d.negate(none);
    let more = wide::one_if(d, more);
    let rest = d.or(rest[1], more);
    let up = match towards {
        RoundingMode::Rounding(rounding) => rounds_up(d, rounding, a.negative, kept[0], rest),
        RoundingMode::Away => {
            let last = d.word(31);
            d.shr(rest, last)
        }
        RoundingMode::Random(bits) => {
            let sum = d.add(rest, bits);
            let carry = d.less(false, sum, rest);
            wide::one_if(d, carry)
        }
    };
    let kept = wide::add(d, kept, [up, zero]);

    // The sum below increments the exponent field by the leading one of the significand, and by a
    // carry out of the significand.
    let field = d.sub(a.exponent, least);
    let field = d.select(tiny, zero, field);
    let field = shl(d, [field, zero], format.fraction_bits);
    let magnitude = wide::add(d, kept, field);
    let flushed = if finish.ftz { tiny } else { d.truth(false) };
    let none = [zero; 2];
    let magnitude = wide::select(d, flushed, none, magnitude);

    let most = wide::constant(d, format.most);
    let greatest = d.word(((format.most >> format.fraction_bits) as i32 - format.bias()) as u32);
    let above = d.less(true, greatest, a.exponent);
    let more = wide::less(d, false, most, magnitude);
    let beyond = d.either(above, more);
    let (past, infinite) = match format.infinity.filter(|_| !finish.finite) {
        Some(infinity) => {
            let infinity = wide::constant(d, infinity);
            let past = match towards {
                RoundingMode::Rounding(Rounding::Zero) => most,
                RoundingMode::Rounding(Rounding::Down) => wide::select(d, a.negative, infinity, most),
                RoundingMode::Rounding(Rounding::Up) => wide::select(d, a.negative, most, infinity),
                RoundingMode::Rounding(Rounding::Nearest) | RoundingMode::Away | RoundingMode::Random(_) => infinity,
            };
            (past, infinity)
        }
        None => (most, most),
    };
    let magnitude = wide::select(d, beyond, past, magnitude);
    let mut magnitude = wide::select(d, a.infinite, infinite, magnitude);
    if finish.sat {
        let one = wide::constant(d, format.one());
        let above = wide::less(d, false, one, magnitude);
        let clamped = wide::select(d, above, one, magnitude);
        let lost = d.either(a.negative, a.nan);
        return wide::select(d, lost, none, clamped);
    }
    if finish.relu {
        magnitude = wide::select(d, a.negative, none, magnitude);
    } else {
        let sign = wide::constant(d, 1 << (format.bits() - 1));
        let signed = wide::bitwise(d, D::or, magnitude, sign);
        magnitude = wide::select(d, a.negative, signed, magnitude);
    }
    let nan = match nan {
        Some(nan) => nan,
        None => wide::constant(d, format.nan),
    };
    wide::select(d, a.nan, nan, magnitude)
}

/// Splits the magnitude of a finite number into its integer part, modulo 2^64, and its fraction in
/// units of 2^-32. The last bit of the fraction is sticky.
pub(crate) fn split<D: Domain>(d: &mut D, a: Number<D>) -> (Wide<D>, D::Word) {
    let (point, zero) = (d.word(LEADING), d.word(0));
    let is_large = d.less(true, point, a.exponent);
    let left = d.sub(a.exponent, point);
    let large = wide::shl(d, a.significand, left);
    let right = d.sub(point, a.exponent);
    let all = d.word(64);
    let right = wide::min_word(d, right, all);
    let kept = wide::shr(d, a.significand, right);
    let above = d.sub(all, right);
    let rest = wide::shl(d, a.significand, above);
    let none = d.equal(rest[0], zero);
    let more = d.negate(none);
    let more = wide::one_if(d, more);
    let rest = d.or(rest[1], more);
    (wide::select(d, is_large, large, kept), d.select(is_large, zero, rest))
}

/// Returns 1 if rounding increases the magnitude of a number, else 0. `rest` is the discarded
/// fraction in units of 2^-32.
pub(crate) fn rounds_up<D: Domain>(
    d: &mut D,
    rounding: Rounding,
    negative: D::Pred,
    kept: D::Word,
    rest: D::Word,
) -> D::Word {
    let zero = d.word(0);
    let exact = d.equal(rest, zero);
    let inexact = d.negate(exact);
    let up = match rounding {
        Rounding::Nearest => {
            let (half, one) = (d.word(1 << 31), d.word(1));
            let above = d.less(false, half, rest);
            let tie = d.equal(half, rest);
            let odd = d.and(kept, one);
            let odd = d.equal(odd, one);
            let tie = d.both(tie, odd);
            d.either(above, tie)
        }
        Rounding::Down => d.both(inexact, negative),
        Rounding::Up => {
            let positive = d.negate(negative);
            d.both(inexact, positive)
        }
        Rounding::Zero => d.truth(false),
    };
    wide::one_if(d, up)
}

/// Normalises a number by moving its leading one to bit 62. A zero significand gives zero.
fn normalised<D: Domain>(d: &mut D, a: Number<D>) -> Number<D> {
    let carry = wide::is_negative(d, a.significand[1]);
    let one = d.word(1);
    let lost = d.and(a.significand[0], one);
    let mut halved = shr(d, a.significand, 1);
    halved[0] = d.or(halved[0], lost);
    let zeros = leading_zeros(d, a.significand);
    let by = d.sub(zeros, one);
    let raised = wide::shl(d, a.significand, by);
    let significand = wide::select(d, carry, halved, raised);
    let nothing = is_zero(d, significand);
    let exponent = d.sub(a.exponent, by);
    let (least, far) = (d.word(-INFINITY_EXPONENT as u32), d.word(INFINITY_EXPONENT as u32));
    let exponent = d.select(nothing, least, exponent);
    let exponent = d.select(a.infinite, far, exponent);
    Number { exponent, significand, ..a }
}

fn leading_zeros<D: Domain>(d: &mut D, a: Wide<D>) -> D::Word {
    let zero = d.word(0);
    let short = d.equal(a[1], zero);
    let (high, low, width) = (d.leading_zeros(a[1]), d.leading_zeros(a[0]), d.word(32));
    let low = d.add(low, width);
    d.select(short, low, high)
}

fn is_zero<D: Domain>(d: &mut D, a: Wide<D>) -> D::Pred {
    let (any, zero) = (d.or(a[0], a[1]), d.word(0));
    d.equal(any, zero)
}

/// Returns `a`, with its last bit set if `rest` is nonzero.
fn with_sticky_bit<D: Domain>(d: &mut D, a: Wide<D>, rest: Wide<D>) -> Wide<D> {
    let exact = is_zero(d, rest);
    sticky(d, a, exact)
}

fn sticky<D: Domain>(d: &mut D, a: Wide<D>, exact: D::Pred) -> Wide<D> {
    let inexact = d.negate(exact);
    let last = wide::one_if(d, inexact);
    [d.or(a[0], last), a[1]]
}

/// Returns `a >> count`, with the last bit set if the shift drops a set bit.
fn shr_sticky<D: Domain>(d: &mut D, a: Wide<D>, count: D::Word) -> Wide<D> {
    let kept = wide::shr(d, a, count);
    let again = wide::shl(d, kept, count);
    let exact = wide::equal(d, again, a);
    sticky(d, kept, exact)
}

type Quad<D> = [Wide<D>; 2];

fn shr_sticky_quad<D: Domain>(d: &mut D, [low, high]: Quad<D>, count: D::Word) -> Quad<D> {
    let width = d.word(64);
    let (rest, beyond) = (d.sub(width, count), d.sub(count, width));
    let kept = wide::shr(d, low, count);
    let (over, far) = (wide::shl(d, high, rest), wide::shr(d, high, beyond));
    let carried = wide::bitwise(d, D::or, over, far);
    let result_low = wide::bitwise(d, D::or, kept, carried);
    let result_high = wide::shr(d, high, count);
    // The shift drops bits of the low half, and also bits of the high half if the count is 64 or more.
    let low_back = wide::shl(d, kept, count);
    let low_exact = wide::equal(d, low_back, low);
    let high_back = wide::shl(d, far, beyond);
    let high_exact = wide::equal(d, high_back, high);
    let is_near = d.less(false, count, width);
    let high_exact = d.either(is_near, high_exact);
    let exact = d.both(low_exact, high_exact);
    [sticky(d, result_low, exact), result_high]
}

fn add_quad<D: Domain>(d: &mut D, a: Quad<D>, b: Quad<D>) -> Quad<D> {
    let low = wide::add(d, a[0], b[0]);
    let carry = wide::less(d, false, low, a[0]);
    let (carry, zero) = (wide::one_if(d, carry), d.word(0));
    let high = wide::add(d, a[1], b[1]);
    [low, wide::add(d, high, [carry, zero])]
}

/// Returns `a << 1` for a 128-bit integer.
fn shl_quad<D: Domain>(d: &mut D, [low, high]: Quad<D>) -> Quad<D> {
    let carried = shr(d, low, 63);
    let high = shl(d, high, 1);
    [shl(d, low, 1), wide::bitwise(d, D::or, high, carried)]
}

/// Returns the logical shift `a >> 1` of a 128-bit integer.
fn shr_quad<D: Domain>(d: &mut D, [low, high]: Quad<D>) -> Quad<D> {
    let carried = shl(d, high, 63);
    let low = shr(d, low, 1);
    [wide::bitwise(d, D::or, low, carried), shr(d, high, 1)]
}

fn sub_quad<D: Domain>(d: &mut D, a: Quad<D>, b: Quad<D>) -> Quad<D> {
    let borrow = wide::less(d, false, a[0], b[0]);
    let (borrow, zero) = (wide::one_if(d, borrow), d.word(0));
    let high = wide::sub(d, a[1], b[1]);
    [wide::sub(d, a[0], b[0]), wide::sub(d, high, [borrow, zero])]
}

/// Returns the 128-bit product, low half first.
fn product<D: Domain>(d: &mut D, a: Wide<D>, b: Wide<D>) -> Quad<D> {
    [wide::mul_low(d, a, b), wide::mul_high(d, false, a, b)]
}

/// Returns `a << count` for a count below 64.
pub(crate) fn shl<D: Domain>(d: &mut D, a: Wide<D>, count: u32) -> Wide<D> {
    let by = d.word(count % 32);
    let zero = d.word(0);
    match count {
        0 => a,
        1..32 => {
            let back = d.word(32 - count);
            let (carried, kept) = (d.shr(a[0], back), d.shl(a[1], by));
            [d.shl(a[0], by), d.or(kept, carried)]
        }
        _ => [zero, d.shl(a[0], by)],
    }
}

/// Returns the logical shift `a >> count` for a count below 64.
pub(crate) fn shr<D: Domain>(d: &mut D, a: Wide<D>, count: u32) -> Wide<D> {
    let by = d.word(count % 32);
    let zero = d.word(0);
    match count {
        0 => a,
        1..32 => {
            let back = d.word(32 - count);
            let (carried, kept) = (d.shl(a[1], back), d.shr(a[0], by));
            [d.or(kept, carried), d.shr(a[1], by)]
        }
        _ => [d.shr(a[1], by), zero],
    }
}

fn bit<D: Domain>(d: &mut D, a: Wide<D>, number: u32) -> D::Pred {
    let word = if number < 32 { a[0] } else { a[1] };
    let (mask, zero) = (d.word(1 << (number % 32)), d.word(0));
    let found = d.and(word, mask);
    let clear = d.equal(found, zero);
    d.negate(clear)
}

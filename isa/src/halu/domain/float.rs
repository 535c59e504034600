//! Software implementations of arithmetic on f32 with any rounding mode, of arithmetic on f64, and of conversions.

use super::exact::{self, Finish, Float, Number, RoundingMode};
use super::wide::{self, Wide};
use super::{Conversion, Domain, FloatKind, FloatOp, NumberFormat};
use crate::half::{Compare, Relation, Rounding};

const SIGN: u32 = 0x8000_0000;
/// The quiet bit of a NaN in the high word of an f64.
const QUIET: u32 = 0x0008_0000;
const INFINITY: u64 = 0x7FF0_0000_0000_0000;
/// The f64 NaN that an invalid operation on numbers returns.
const INVALID: u64 = 0xFFF8_0000_0000_0000;

/// Implements [`Domain::single`]: uses the domain's f32 operations for rounding to nearest, and
/// software arithmetic for other modes.
pub fn single<D: Domain>(d: &mut D, op: &FloatOp, operands: [D::Word; 3]) -> D::Word {
    if op.rounding != Rounding::Nearest {
        return rounded_single(d, op, operands, Finish::default());
    }
    let [a, b, c] = operands;
    match op.kind {
        FloatKind::Add => d.fadd(a, b),
        FloatKind::Sub => {
            let sign = d.word(SIGN);
            let b = d.xor(b, sign);
            d.fadd(a, b)
        }
        FloatKind::Mul => d.fmul(a, b),
        FloatKind::Fma => d.fma(a, b, c),
        FloatKind::Div => d.fdiv(a, b),
        FloatKind::Sqrt => d.fsqrt(a),
    }
}

/// Computes an f32 operation with the rounding mode of `op`. `finish` selects flushing, saturation
/// and clamping of the result.
pub(crate) fn rounded_single<D: Domain>(d: &mut D, op: &FloatOp, operands: [D::Word; 3], finish: Finish) -> D::Word {
    let zero = d.word(0);
    let number = exact(d, op, Float::F32, operands.map(|word| [word, zero]));
    exact::round(d, Float::F32, number, RoundingMode::Rounding(op.rounding), finish, None)[0]
}

/// Implements [`Domain::double`] in software.
pub fn double<D: Domain>(d: &mut D, op: &FloatOp, operands: [Wide<D>; 3]) -> Wide<D> {
    let number = exact(d, op, Float::F64, operands);
    let mut nan = wide::constant(d, INVALID);
    for &operand in operands.iter().take(op.kind.operands()).rev() {
        let is_nan = is_nan(d, operand);
        let quiet = quieted(d, operand);
        nan = wide::select(d, is_nan, quiet, nan);
    }
    exact::round(d, Float::F64, number, RoundingMode::Rounding(op.rounding), Finish::default(), Some(nan))
}

/// Computes an operation on operands of a format. The result has enough bits for a correct rounding.
fn exact<D: Domain>(d: &mut D, op: &FloatOp, format: Float, operands: [Wide<D>; 3]) -> Number<D> {
    let [a, b, c] = operands;
    let a = exact::unpack(d, format, a);
    if op.kind == FloatKind::Sqrt {
        return exact::sqrt(d, format, a);
    }
    let b = exact::unpack(d, format, b);
    match op.kind {
        FloatKind::Add => exact::add(d, a, b, op.rounding),
        FloatKind::Sub => {
            let b = exact::neg(d, b);
            exact::add(d, a, b, op.rounding)
        }
        FloatKind::Mul => exact::mul(d, format, a, b),
        FloatKind::Div => exact::div(d, format, a, b),
        FloatKind::Fma | FloatKind::Sqrt => {
            let c = exact::unpack(d, format, c);
            exact::fma(d, format, [a, b, c], op.rounding)
        }
    }
}

/// Returns `true` if an f64 is NaN.
pub(crate) fn is_nan<D: Domain>(d: &mut D, a: Wide<D>) -> D::Pred {
    let magnitude = magnitude(d, a);
    let infinity = wide::constant(d, INFINITY);
    wide::less(d, false, infinity, magnitude)
}

/// Clears the sign of an f64.
pub(crate) fn magnitude<D: Domain>(d: &mut D, [low, high]: Wide<D>) -> Wide<D> {
    let magnitudes = d.word(!SIGN);
    [low, d.and(high, magnitudes)]
}

/// Sets the quiet bit of an f64 NaN.
pub(crate) fn quieted<D: Domain>(d: &mut D, [low, high]: Wide<D>) -> Wide<D> {
    let quiet = d.word(QUIET);
    [low, d.or(high, quiet)]
}

/// Maps an f64 to a signed integer with the same order, where -0 is less than +0.
fn order_key<D: Domain>(d: &mut D, a: Wide<D>) -> Wide<D> {
    let negative = wide::is_negative(d, a[1]);
    let turned = wide::constant(d, u64::MAX >> 1);
    let turned = wide::bitwise(d, D::xor, a, turned);
    wide::select(d, negative, turned, a)
}

/// Implements [`Domain::double_compare`].
pub(super) fn double_compare<D: Domain>(d: &mut D, compare: Compare, a: Wide<D>, b: Wide<D>) -> D::Pred {
    let (a_nan, b_nan) = (is_nan(d, a), is_nan(d, b));
    let unordered = d.either(a_nan, b_nan);
    let ordered = d.negate(unordered);
    let (a_key, b_key) = (order_key(d, a), order_key(d, b));
    let (a, b) = (magnitude(d, a), magnitude(d, b));
    let either = wide::bitwise(d, D::or, a, b);
    let none = wide::constant(d, 0);
    let zeros = wide::equal(d, either, none);
    let same = wide::equal(d, a_key, b_key);
    let equal = d.either(zeros, same);
    let less = wide::less(d, true, a_key, b_key);
    let mut result = if compare.holds(Relation::Unordered) { unordered } else { d.truth(false) };
    let other = d.negate(equal);
    let lower = d.both(other, less);
    let reached = d.either(equal, less);
    let greater = d.negate(reached);
    for (relation, holds) in [(Relation::Less, lower), (Relation::Equal, equal), (Relation::Greater, greater)] {
        if compare.holds(relation) {
            let holds = d.both(ordered, holds);
            result = d.either(result, holds);
        }
    }
    result
}

/// Implements [`Domain::double_minmax`].
pub(super) fn double_minmax<D: Domain>(d: &mut D, min: D::Pred, a: Wide<D>, b: Wide<D>) -> Wide<D> {
    let (a_nan, b_nan) = (is_nan(d, a), is_nan(d, b));
    let (a_key, b_key) = (order_key(d, a), order_key(d, b));
    let less = wide::less(d, true, a_key, b_key);
    let differ = d.differ(less, min);
    let first = d.negate(differ);
    let chosen = wide::select(d, first, a, b);
    let quiet = quieted(d, a);
    let chosen = wide::select(d, b_nan, a, chosen);
    let of_a_nan = wide::select(d, b_nan, quiet, b);
    wide::select(d, a_nan, of_a_nan, chosen)
}

/// A float rounded to an integer.
pub(crate) struct Integral<W, P> {
    /// The magnitude, valid if there is no overflow.
    pub magnitude: [W; 2],
    /// The magnitude exceeds 64 bits.
    pub overflow: P,
    pub negative: P,
    /// The exponent is above 51, so the operand was already an integer.
    pub was_integer: P,
}

/// Rounds a float that is not NaN to an integer.
pub(crate) fn integral<D: Domain>(
    d: &mut D,
    format: Float,
    rounding: Rounding,
    a: Wide<D>,
) -> Integral<D::Word, D::Pred> {
    let number = exact::unpack(d, format, a);
    let (kept, rest) = exact::split(d, number);
    let up = exact::rounds_up(d, rounding, number.negative, kept[0], rest);
    let zero = d.word(0);
    let magnitude = wide::add(d, kept, [up, zero]);
    let (last, whole) = (d.word(63), d.word(51));
    let overflow = d.less(true, last, number.exponent);
    let already = d.less(true, whole, number.exponent);
    Integral { magnitude, overflow, negative: number.negative, was_integer: already }
}

/// Clamps an integer to the range of a type with the given signedness and width in bits. If `nan`
/// is true, returns `of_nan`.
pub(crate) fn clamped<D: Domain>(
    d: &mut D,
    (signed, bits): (bool, u32),
    integral: &Integral<D::Word, D::Pred>,
    nan: D::Pred,
    of_nan: u64,
) -> Wide<D> {
    let Integral { magnitude, overflow, negative, .. } = *integral;
    let all = wide::constant(d, u64::MAX);
    let magnitude = wide::select(d, overflow, all, magnitude);
    let most = u64::MAX >> (64 - bits);
    let (most, least) = if signed { (most >> 1, 1 << (bits - 1)) } else { (most, 0) };
    let (most, least) = (wide::constant(d, most), wide::constant(d, least));
    let limit = wide::select(d, negative, least, most);
    let above = wide::less(d, false, limit, magnitude);
    let magnitude = wide::select(d, above, limit, magnitude);
    let opposite = wide::neg(d, magnitude);
    let number = wide::select(d, negative, opposite, magnitude);
    let of_nan = wide::constant(d, of_nan);
    wide::select(d, nan, of_nan, number)
}

impl NumberFormat {
    /// Returns the floating-point format, or `None` for an integer.
    const fn float(self) -> Option<Float> {
        Some(match self {
            NumberFormat::F16 => Float::F16,
            NumberFormat::Bf16 => Float::BF16,
            NumberFormat::F32 => Float::F32,
            NumberFormat::F64 => Float::F64,
            NumberFormat::Int { .. } => return None,
        })
    }
}

/// Implements [`Domain::convert`] in software.
pub fn convert<D: Domain>(d: &mut D, op: &Conversion, a: Wide<D>) -> Wide<D> {
    let Conversion { from, to, rounding } = *op;
    match (from, from.float(), to, to.float()) {
        (_, Some(from), _, Some(to)) => {
            let number = exact::unpack(d, from, a);
            let nan = (to == Float::F64).then(|| widened_nan(d, op.from, a));
            exact::round(d, to, number, RoundingMode::Rounding(rounding), Finish::default(), nan)
        }
        (NumberFormat::Int { signed, bits }, _, _, Some(to)) => {
            let a = wide::extend(d, bits, signed, a);
            let number = of_integer(d, signed, a);
            exact::round(d, to, number, RoundingMode::Rounding(rounding), Finish::default(), None)
        }
        (_, Some(format), NumberFormat::Int { signed, bits }, _) => {
            let integral = integral(d, format, rounding, a);
            let nan = exact::unpack(d, format, a).nan;
            let of_nan = if format == Float::F64 || bits == 64 { 1 << (bits - 1) } else { 0 };
            clamped(d, (signed, bits), &integral, nan, of_nan)
        }
        (NumberFormat::Int { signed, bits }, _, _, _) => wide::extend(d, bits, signed, a),
        _ => a,
    }
}

/// Converts a 64-bit integer to an unpacked number.
pub(crate) fn of_integer<D: Domain>(d: &mut D, signed: bool, a: Wide<D>) -> Number<D> {
    let negative = if signed { wide::is_negative(d, a[1]) } else { d.truth(false) };
    let opposite = wide::neg(d, a);
    let magnitude = wide::select(d, negative, opposite, a);
    exact::of_magnitude(d, negative, magnitude)
}

/// Converts a NaN of a narrower format to a quiet f64 NaN with the same payload.
pub(crate) fn widened_nan<D: Domain>(d: &mut D, from: NumberFormat, a: Wide<D>) -> Wide<D> {
    // The payload of a widened half is that of the f32 to which the half is widened.
    let word = match from {
        NumberFormat::F16 => exact::shl(d, a, 13)[0],
        NumberFormat::Bf16 => exact::shl(d, a, 16)[0],
        _ => a[0],
    };
    let zero = d.word(0);
    let payload = exact::shl(d, [word, zero], 29);
    let all = wide::constant(d, INFINITY);
    let payload = wide::bitwise(d, D::or, payload, all);
    let nan = quieted(d, payload);
    magnitude(d, nan)
}

#[cfg(test)]
mod tests {
    use super::{double, double_compare};
    use crate::half::{Compare, Rounding};
    use crate::halu::concrete::Concrete;
    use crate::halu::domain::{Domain, FloatKind, FloatOp};

    /// f64 values on both sides of each boundary between special cases.
    const NUMBERS: [u64; 22] = [
        0,
        1 << 63,
        1,
        0x000F_FFFF_FFFF_FFFF,
        0x8010_0000_0000_0000,
        0x3CA0_0000_0000_0000,
        0x3FE0_0000_0000_0000,
        0x3FEF_FFFF_FFFF_FFFF,
        0x3FF0_0000_0000_0000,
        0xBFF0_0000_0000_0001,
        0x4008_0000_0000_0000,
        0x4340_0000_0000_0001,
        0xC340_0000_0000_0003,
        0x5FF0_1234_5678_9ABC,
        0x1FF0_FEDC_BA98_7654,
        0x7FEF_FFFF_FFFF_FFFF,
        0xFFEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FF0_0000_0000_0001,
        0xFFF8_0000_DEAD_BEEF,
        0x7FFF_FFFF_FFFF_FFFF,
    ];

    fn words(bits: u64) -> [u32; 2] {
        [bits as u32, (bits >> 32) as u32]
    }

    #[test]
    fn steps_are_the_hosts_arithmetic() {
        let d = &mut Concrete;
        for (&a, &b) in NUMBERS.iter().flat_map(|a| NUMBERS.iter().map(move |b| (a, b))) {
            for compare in Compare::ALL {
                let steps = double_compare(d, compare, words(a), words(b));
                assert_eq!(steps, d.double_compare(compare, words(a), words(b)), "{compare:?} {a:#x} {b:#x}");
            }
            for kind in FloatKind::ALL {
                let op = FloatOp { kind, rounding: Rounding::Nearest };
                for &c in &NUMBERS {
                    let operands = [a, b, c].map(words);
                    assert_eq!(double(d, &op, operands), d.double(&op, operands), "{op:?} {a:#x} {b:#x} {c:#x}");
                }
            }
        }
    }
}

//! Correctly rounded scalar arithmetic on the two 16-bit floating-point formats, binary16 and bfloat16.
//!
//! A half is represented by its bit pattern in a `u16`. An operation unpacks its operands to integers, computes the
//! exact result (or a number that rounds to the same value) and rounds once. So all rounding modes and both formats
//! share one code path. The order of the steps is that of HFMA2 in the HALU reference (seed 001): flush the operands,
//! operate, round, clamp, flush the result, canonicalise NaN.

use std::cmp::Ordering;

/// The canonical NaN of half operations, in both formats.
pub const NAN: u16 = 0x7FFF;
/// The canonical NaN of f32 operations.
pub const NAN_F32: u32 = 0x7FFF_FFFF;

const SIGN: u16 = 0x8000;
const MAGNITUDE: u16 = 0x7FFF;

/// A 16-bit floating-point format. The discriminant is the value of field `hfmt_v2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// binary16: 5 exponent bits, 11 bits of significand.
    F16,
    /// bfloat16, the high half of an f32: 8 exponent bits, 8 bits of significand.
    Bf16,
}

/// A rounding mode. The discriminant is the value of field `rnd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even (`.RN`).
    #[default]
    Nearest,
    /// Towards minus infinity (`.RM`).
    Down,
    /// Towards plus infinity (`.RP`).
    Up,
    /// Towards zero (`.RZ`).
    Zero,
}

/// The clamp that is applied to the rounded result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// No clamp.
    #[default]
    None,
    /// `.SAT`: saturates to [+0, 1]; -0 and NaN become +0.
    Sat,
    /// `.RELU`: values less than zero become +0; -0 and NaN are unchanged.
    Relu,
}

/// The order of two floating-point values. The discriminant is the bit of the relation in [`Compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Relation {
    /// The first operand is less.
    Less = 1,
    /// The operands are equal; +0 equals -0.
    Equal = 2,
    /// The first operand is greater.
    Greater = 4,
    /// At least one operand is NaN.
    Unordered = 8,
}

impl From<Option<Ordering>> for Relation {
    fn from(order: Option<Ordering>) -> Self {
        match order {
            Some(Ordering::Less) => Relation::Less,
            Some(Ordering::Equal) => Relation::Equal,
            Some(Ordering::Greater) => Relation::Greater,
            None => Relation::Unordered,
        }
    }
}

/// A comparison: the set of [`Relation`]s for which it is true. The bit mask of the set is also the
/// value of field `cmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare(u8);

#[rustfmt::skip]
#[allow(missing_docs)] // Each name is that of the modifier; the type documents the sets.
impl Compare {
    pub const LT: Self = Self(1);   pub const LTU: Self = Self(9);
    pub const EQ: Self = Self(2);   pub const EQU: Self = Self(10);
    pub const LE: Self = Self(3);   pub const LEU: Self = Self(11);
    pub const GT: Self = Self(4);   pub const GTU: Self = Self(12);
    pub const NE: Self = Self(5);   pub const NEU: Self = Self(13);
    pub const GE: Self = Self(6);   pub const GEU: Self = Self(14);
    pub const NUM: Self = Self(7);  pub const NAN: Self = Self(8);

    /// The fourteen comparisons, in the order of their codes.
    pub const ALL: [Self; 14] = [
        Self::LT, Self::EQ, Self::LE, Self::GT, Self::NE, Self::GE, Self::NUM,
        Self::NAN, Self::LTU, Self::EQU, Self::LEU, Self::GTU, Self::NEU, Self::GEU,
    ];
}

impl Compare {
    /// Returns the comparison with a 4-bit code; higher bits are ignored. Codes 0 (never true) and
    /// 15 (always true) have no name.
    pub const fn from_code(code: u64) -> Self {
        Self(code as u8 & 15)
    }

    /// Returns the code, 1 to 14 for a named comparison.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns `true` if the comparison is true for values in this relation.
    pub const fn holds(self, relation: Relation) -> bool {
        self.0 & relation as u8 != 0
    }
}

impl Rounding {
    /// All four rounding modes, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Nearest, Self::Down, Self::Up, Self::Zero];

    /// Returns the rounding mode with a 2-bit code; higher bits are ignored.
    pub const fn from_code(code: u64) -> Self {
        match code & 3 {
            0 => Self::Nearest,
            1 => Self::Down,
            2 => Self::Up,
            _ => Self::Zero,
        }
    }

    /// Returns `true` if a directed rounding mode rounds an inexact value of this sign away from
    /// zero. Returns `false` for [`Rounding::Nearest`], whose result depends on the discarded bits.
    const fn rounds_away_from_zero(self, negative: bool) -> bool {
        matches!((self, negative), (Self::Down, true) | (Self::Up, false))
    }
}

impl Format {
    /// Both formats, in the order of their codes.
    pub const ALL: [Self; 2] = [Self::F16, Self::Bf16];

    /// Returns the format with a 1-bit code; higher bits are ignored.
    pub const fn from_code(code: u64) -> Self {
        if code & 1 == 0 { Self::F16 } else { Self::Bf16 }
    }

    /// Returns the number of stored fraction bits. The leading one of the significand is not stored and not included.
    pub const fn fraction_bits(self) -> u32 {
        match self {
            Self::F16 => 10,
            Self::Bf16 => 7,
        }
    }

    /// Returns the bits of +infinity. The lower bit patterns are the non-negative finite values in ascending order.
    pub const fn infinity(self) -> u16 {
        match self {
            Self::F16 => 0x7C00,
            Self::Bf16 => 0x7F80,
        }
    }

    /// Returns the bits of 1.0.
    pub const fn one(self) -> u16 {
        match self {
            Self::F16 => 0x3C00,
            Self::Bf16 => 0x3F80,
        }
    }

    /// Returns the exponent of the smallest positive subnormal: -24 for 2^-24 or -133 for 2^-133.
    pub const fn min_exponent(self) -> i32 {
        match self {
            Self::F16 => -24,
            Self::Bf16 => -133,
        }
    }

    /// Returns `true` if `bits` is a NaN.
    pub const fn is_nan(self, bits: u16) -> bool {
        bits & MAGNITUDE > self.infinity()
    }

    /// Flushes a subnormal to a zero of the same sign (`.FTZ`). Returns other values unchanged.
    pub const fn flush(self, bits: u16) -> u16 {
        if (bits & MAGNITUDE) >> self.fraction_bits() == 0 { bits & SIGN } else { bits }
    }

    /// Compares `a` with `b`.
    pub fn compare(self, a: u16, b: u16) -> Relation {
        if self.is_nan(a) || self.is_nan(b) {
            Relation::Unordered
        } else if (a | b) & MAGNITUDE == 0 {
            Relation::Equal
        } else {
            Some(order_key(a).cmp(&order_key(b))).into()
        }
    }

    /// Returns the minimum of two halves, where -0 is less than +0. If one operand is NaN, returns
    /// the other operand, or [`NAN`] if `nan` (`.NAN`) is set. Returns [`NAN`] if both are NaN.
    pub fn min(self, a: u16, b: u16, nan: bool) -> u16 {
        self.number(a, b, nan).unwrap_or(if order_key(a) <= order_key(b) { a } else { b })
    }

    /// Returns the maximum of two halves. Zeros and NaNs are handled as in [`Format::min`].
    pub fn max(self, a: u16, b: u16, nan: bool) -> u16 {
        self.number(a, b, nan).unwrap_or(if order_key(a) >= order_key(b) { a } else { b })
    }

    /// Returns the result of [`Format::min`] and [`Format::max`] if an operand is NaN, else `None`.
    fn number(self, a: u16, b: u16, nan: bool) -> Option<u16> {
        match (self.is_nan(a), self.is_nan(b)) {
            (false, false) => None,
            (true, false) if !nan => Some(b),
            (false, true) if !nan => Some(a),
            _ => Some(NAN),
        }
    }

    /// Converts a half to the bits of the f32 with the same value. Any NaN becomes [`NAN_F32`].
    pub fn widen(self, bits: u16) -> u32 {
        let sign = u32::from(bits & SIGN) << 16;
        match (self, self.unpack(bits)) {
            (_, Value::Nan) => NAN_F32,
            (Self::Bf16, _) => u32::from(bits) << 16,
            (Self::F16, Value::Infinite { .. }) => sign | 0x7F80_0000,
            // Both factors and their product are exact in f32, and the product is not an f32 subnormal.
            (Self::F16, Value::Finite(x)) => {
                let unit = f32::from_bits(((127 + x.exponent) as u32) << 23);
                sign | (x.significand as f32 * unit).to_bits()
            }
        }
    }

    /// Converts the bits of an f32 to a half, with one rounding. Any NaN becomes [`NAN`].
    pub fn narrow(self, bits: u32, rounding: Rounding) -> u16 {
        let negative = bits >> 31 != 0;
        let (exponent, fraction) = ((bits >> 23) & 0xFF, bits & 0x7F_FFFF);
        if exponent == 0xFF {
            return if fraction != 0 { NAN } else { signed(negative, self.infinity()) };
        }
        let significand = if exponent == 0 { fraction } else { fraction | 0x80_0000 };
        let exact = Exact { negative, significand: significand.into(), exponent: exponent.max(1) as i32 - 150 };
        self.round(exact, rounding)
    }

    fn unpack(self, bits: u16) -> Value {
        let negative = bits & SIGN != 0;
        let magnitude = bits & MAGNITUDE;
        match magnitude.cmp(&self.infinity()) {
            Ordering::Greater => Value::Nan,
            Ordering::Equal => Value::Infinite { negative },
            Ordering::Less => {
                let hidden = 1 << self.fraction_bits();
                let (exponent, fraction) = (magnitude >> self.fraction_bits(), magnitude & (hidden - 1));
                let significand = if exponent == 0 { fraction } else { fraction | hidden };
                let exponent = self.min_exponent() + i32::from(exponent.max(1)) - 1;
                Value::Finite(Exact { negative, significand: significand.into(), exponent })
            }
        }
    }

    /// Rounds an exact value to a half. A zero keeps its sign.
    fn round(self, x: Exact, rounding: Rounding) -> u16 {
        if x.significand == 0 {
            return signed(x.negative, 0);
        }
        let leading = x.exponent + x.significand.ilog2() as i32;
        let unit = (leading - self.fraction_bits() as i32).max(self.min_exponent());
        let cut = unit - x.exponent;
        let rounded = if cut <= 0 {
            x.significand << -cut
        } else {
            // A significand that would be shifted by more than 63 bits has at most 24 bits, so a
            // shift by 63 gives the same result.
            let cut = cut.min(63) as u32;
            let kept = x.significand >> cut;
            let (rest, half) = (x.significand & ((1 << cut) - 1), 1 << (cut - 1));
            let up = match rounding {
                Rounding::Nearest => rest > half || (rest == half && kept & 1 == 1),
                _ => rest != 0 && rounding.rounds_away_from_zero(x.negative),
            };
            kept + u64::from(up)
        };
        // `rounded` includes the leading one of a normal significand. The sum below adds that bit,
        // and a carry out of the significand, to the exponent field.
        let magnitude = (((unit - self.min_exponent()) as u64) << self.fraction_bits()) + rounded;
        let infinity = self.infinity();
        let magnitude = if magnitude < infinity.into() {
            magnitude as u16
        } else if rounding == Rounding::Nearest || rounding.rounds_away_from_zero(x.negative) {
            infinity
        } else {
            infinity - 1
        };
        signed(x.negative, magnitude)
    }
}

/// The modifiers of an arithmetic operation on halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfMode {
    /// Format of the operands and the result.
    pub format: Format,
    /// Rounding mode, applied once to the exact result.
    pub rounding: Rounding,
    /// `true` to replace subnormal operands, and a result that is subnormal after rounding, by
    /// zeros of the same sign.
    pub ftz: bool,
    /// Clamp, applied to the rounded result.
    pub clamp: Clamp,
}

impl HalfMode {
    /// Creates a mode without flushing or clamping.
    pub const fn new(format: Format, rounding: Rounding) -> Self {
        Self { format, rounding, ftz: false, clamp: Clamp::None }
    }

    /// Returns `a + b`. If operands with different signs cancel exactly, the sum is +0, or -0 if
    /// the rounding mode is `Down`.
    pub fn add(self, a: u16, b: u16) -> u16 {
        let (a, b) = (self.operand(a), self.operand(b));
        self.finish(a.add(b, self.rounding))
    }

    /// Returns `a * b`. The sign of a zero product is the exclusive or of the operands' signs, in every rounding mode.
    pub fn mul(self, a: u16, b: u16) -> u16 {
        let (a, b) = (self.operand(a), self.operand(b));
        self.finish(a.mul(b))
    }

    /// Returns `a * b + c` with one rounding. The sign of a zero product is that of
    /// [`HalfMode::mul`], and the sign of a zero sum is that of [`HalfMode::add`].
    pub fn fma(self, a: u16, b: u16, c: u16) -> u16 {
        let (a, b, c) = (self.operand(a), self.operand(b), self.operand(c));
        self.finish(a.mul(b).add(c, self.rounding))
    }

    fn operand(self, bits: u16) -> Value {
        self.format.unpack(if self.ftz { self.format.flush(bits) } else { bits })
    }

    fn finish(self, value: Value) -> u16 {
        let rounded = match value {
            Value::Nan => NAN,
            Value::Infinite { negative } => signed(negative, self.format.infinity()),
            Value::Finite(x) => self.format.round(x, self.rounding),
        };
        let negative = rounded & SIGN != 0;
        let clamped = match self.clamp {
            Clamp::None => rounded,
            Clamp::Sat if negative || self.format.is_nan(rounded) => 0,
            Clamp::Sat => rounded.min(self.format.one()),
            Clamp::Relu if negative && rounded != SIGN => 0,
            Clamp::Relu => rounded,
        };
        if self.ftz { self.format.flush(clamped) } else { clamped }
    }
}

/// A finite number with the magnitude `significand * 2^exponent`. A zero also has a sign.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    significand: u64,
    exponent: i32,
}

#[derive(Clone, Copy)]
enum Value {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

impl Value {
    fn mul(self, other: Self) -> Self {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(Exact {
                negative: a.negative ^ b.negative,
                significand: a.significand * b.significand,
                exponent: a.exponent + b.exponent,
            }),
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) => Self::Infinite { negative: a ^ b },
            (Self::Infinite { negative }, Self::Finite(x)) | (Self::Finite(x), Self::Infinite { negative })
                if x.significand != 0 =>
            {
                Self::Infinite { negative: negative ^ x.negative }
            }
            _ => Self::Nan,
        }
    }

    fn add(self, other: Self, rounding: Rounding) -> Self {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(a.add(b, rounding)),
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) if a != b => Self::Nan,
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite { negative }, _) | (_, Self::Infinite { negative }) => Self::Infinite { negative },
        }
    }
}

impl Exact {
    /// Maximum left shift, in bits, of the significand with the larger exponent. Significands have
    /// at most 22 bits, so the sum fits in 63 bits. If bits of the smaller operand are dropped, the
    /// sum still has more than twice as many bits as the rounded result.
    const MAX_ALIGN_SHIFT: u32 = 40;

    /// Returns the sum, or a number that rounds to the same value.
    fn add(self, other: Self, rounding: Rounding) -> Self {
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        if high.significand == 0 && low.significand != 0 {
            return low;
        }
        let distance = (high.exponent - low.exponent) as u32;
        let reach = distance.min(Self::MAX_ALIGN_SHIFT);
        let sum = high.scaled(reach) + low.jammed(distance - reach);
        let negative = match sum {
            // A zero sum is the sum of two zeros with the same sign, or the operands cancel.
            0 if high.negative == low.negative => high.negative,
            0 => rounding == Rounding::Down,
            _ => sum < 0,
        };
        Self { negative, significand: sum.unsigned_abs(), exponent: high.exponent - reach as i32 }
    }

    fn scaled(self, left: u32) -> i64 {
        let magnitude = (self.significand << left) as i64;
        if self.negative { -magnitude } else { magnitude }
    }

    /// Returns the significand shifted right by `right` bits, with the number's sign. The last bit
    /// is set if the shift drops a set bit (rounding to odd).
    fn jammed(self, right: u32) -> i64 {
        let kept = self.significand.checked_shr(right).unwrap_or(0);
        let cut = kept.checked_shl(right).unwrap_or(0) != self.significand;
        Self { significand: kept | u64::from(cut), ..self }.scaled(0)
    }
}

const fn signed(negative: bool, magnitude: u16) -> u16 {
    if negative { magnitude | SIGN } else { magnitude }
}

/// Maps a bit pattern to a key that orders numbers by value, with -0 below +0.
const fn order_key(bits: u16) -> u16 {
    if bits & SIGN != 0 { !bits } else { bits | SIGN }
}

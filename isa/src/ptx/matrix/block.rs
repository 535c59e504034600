//! Sums of products as tensor cores compute them. All terms are aligned to the largest exponent and
//! truncated a fixed number of bits below it. The exact sum of the terms is rounded once.
//!
//! The rule is that of MMA-Sim (arXiv 2511.10909), which was measured on NVIDIA hardware. Another
//! model (arXiv 2512.07004) differs in three cases for which no measurement is known. In this file,
//! a zero times a number with a large exponent counts as a term of that exponent. A zero
//! accumulator counts as a term of exponent -126. Subnormal f16 accumulators are not normalised.

use std::ops::Range;

use crate::half::{Format, Rounding};
use crate::ptx::types::Type;

/// The class of a floating-point number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FloatClass {
    Finite,
    Infinite,
    Nan,
}

/// A matrix element or accumulator: `significand * 2^(exponent - fraction)`, where `fraction` is
/// the number of fraction bits of its format. Subnormal numbers are not normalised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    kind: FloatClass,
    negative: bool,
    significand: u32,
    exponent: i32,
}

/// A floating-point format of matrix elements or accumulators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Float {
    /// Number of fraction bits.
    pub fraction: u32,
    exponent: u32,
    /// `true` if the format has infinities and several NaNs; otherwise only the all-ones magnitude is NaN.
    has_infinities: bool,
    /// Number of low bits of an element that are ignored: 13 for tf32, otherwise 0.
    unused: u32,
}

impl Float {
    pub(super) const F32: Float = Float::new(8, 23);
    pub(super) const F16: Float = Float::new(5, 10);

    const fn new(exponent: u32, fraction: u32) -> Float {
        Float { fraction, exponent, has_infinities: true, unused: 0 }
    }

    /// Returns the format of a floating-point element type, or `None` for another type.
    pub(super) const fn of(ty: Type) -> Option<Float> {
        Some(match ty {
            Type::F32 => Float::F32,
            Type::F16 => Float::F16,
            Type::Bf16 => Float::new(8, 7),
            Type::Tf32 => Float { unused: 13, ..Float::new(8, 10) },
            Type::E4m3 => Float { has_infinities: false, ..Float::new(4, 3) },
            Type::E5m2 => Float::new(5, 2),
            _ => return None,
        })
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn least_exponent(self) -> i32 {
        1 - self.bias()
    }

    const fn infinity(self) -> u32 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// Returns the bits of the NaN that a matrix product in this format returns.
    pub(super) const fn nan(self) -> u32 {
        u32::MAX >> (31 - self.exponent - self.fraction) >> 1
    }

    pub(super) const fn read(self, bits: u32) -> Number {
        let bits = bits >> self.unused;
        let fraction = bits & ((1 << self.fraction) - 1);
        let field = bits >> self.fraction & ((1 << self.exponent) - 1);
        let negative = bits >> (self.fraction + self.exponent) & 1 != 0;
        let is_top = field == (1 << self.exponent) - 1;
        let kind = match (is_top, self.has_infinities, fraction) {
            (true, true, 0) => FloatClass::Infinite,
            (true, true, _) => FloatClass::Nan,
            (true, false, ones) if ones == (1 << self.fraction) - 1 => FloatClass::Nan,
            _ => FloatClass::Finite,
        };
        let (significand, exponent) = match (field, fraction) {
            // The hardware gives a zero the exponent -126 in every format.
            (0, 0) => (0, -126),
            (0, _) => (fraction, self.least_exponent()),
            _ => (fraction | 1 << self.fraction, field as i32 - self.bias()),
        };
        Number { kind, negative, significand, exponent }
    }

    /// Rounds `magnitude * 2^exponent` to `kept` fraction bits and returns the bits of the result. The rounding is to
    /// nearest even if `nearest` is set, otherwise toward zero. Overflow gives infinity.
    fn round(self, negative: bool, magnitude: u64, exponent: i32, kept: u32, nearest: bool) -> u32 {
        if magnitude == 0 {
            return 0;
        }
        let place = magnitude.ilog2() as i32 + exponent;
        let is_normal = place >= self.least_exponent();
        let quantum = place.max(self.least_exponent()) - kept as i32;
        let shift = quantum - exponent;
        let significand = match shift {
            ..=0 => magnitude << -shift,
            64.. => 0,
            _ => {
                let (cut, rest) = (magnitude >> shift, magnitude & ((1 << shift) - 1));
                let half = 1u64 << (shift - 1);
                cut + u64::from(nearest && (rest > half || rest == half && cut & 1 != 0))
            }
        };
        let field = if is_normal { (place + self.bias() - 1) as u64 } else { 0 };
        let infinity = u64::from(self.infinity());
        // The leading one of the significand adds one to the exponent field.
        let bits = (field << self.fraction).saturating_add(significand << (self.fraction - kept)).min(infinity);
        match significand {
            0 => 0,
            _ => bits as u32 | u32::from(negative) << (self.exponent + self.fraction),
        }
    }
}

/// Number of columns of B that one call of [`Adder::add`] multiplies.
pub(super) const COLUMNS: usize = 8;

/// A matrix element, prepared for multiplication as an f64. An f64 represents each element exactly,
/// and also the product of two elements.
#[derive(Clone, Copy)]
struct Factor {
    /// The signed value: `significand * 2^exponent`.
    value: f64,
    /// The scale of the element: `2^exponent`.
    power: f64,
    kind: FloatClass,
}

impl From<Number> for Factor {
    fn from(Number { kind, negative, significand, exponent }: Number) -> Factor {
        let power = power_of_two(exponent);
        let sign = if negative { -1.0 } else { 1.0 };
        Factor { value: sign * f64::from(significand) * power, power, kind }
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((1023 + exponent).cast_unsigned()) << 52)
}

/// A row of the matrix A.
pub(super) struct Row {
    factors: Vec<Factor>,
    is_finite: bool,
}

impl FromIterator<Number> for Row {
    fn from_iter<T: IntoIterator<Item = Number>>(numbers: T) -> Row {
        let factors: Vec<Factor> = numbers.into_iter().map(Factor::from).collect();
        let is_finite = factors.iter().all(|factor| factor.kind == FloatClass::Finite);
        Row { factors, is_finite }
    }
}

/// Adjacent columns of the matrix B, stored row by row.
pub(super) struct Columns {
    values: Vec<[f64; COLUMNS]>,
    powers: Vec<[f64; COLUMNS]>,
    kinds: Vec<[FloatClass; COLUMNS]>,
    is_finite: bool,
}

impl FromIterator<[Number; COLUMNS]> for Columns {
    fn from_iter<T: IntoIterator<Item = [Number; COLUMNS]>>(rows: T) -> Columns {
        let rows: Vec<_> = rows.into_iter().map(|row| row.map(Factor::from)).collect();
        Columns {
            values: rows.iter().map(|row| row.map(|factor| factor.value)).collect(),
            powers: rows.iter().map(|row| row.map(|factor| factor.power)).collect(),
            kinds: rows.iter().map(|row| row.map(|factor| factor.kind)).collect(),
            is_finite: rows.iter().flatten().all(|factor| factor.kind == FloatClass::Finite),
        }
    }
}

/// Parameters of the hardware's multiply-add unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adder {
    /// The formats of A and B.
    pub of: [Float; 2],
    /// The format of the accumulator.
    pub to: Float,
    /// Number of products that are added in one step.
    pub at_once: usize,
    /// Number of bits below the largest exponent to which each term is truncated.
    pub kept: u32,
    /// Number of fraction bits to which the sum is rounded: those of the accumulator's format, or fewer.
    pub rounded: u32,
}

impl Adder {
    /// Returns the accumulators `c` plus the dot products of the row `a` with each column of `b`.
    pub(super) fn add(&self, a: &Row, b: &Columns, mut c: [u32; COLUMNS]) -> [u32; COLUMNS] {
        let count = a.factors.len().min(b.values.len());
        for first in (0..count).step_by(self.at_once) {
            let block = first..count.min(first + self.at_once);
            let of_c = c.map(|c| self.to.read(c));
            c = self.add_finite(a, b, block.clone(), of_c);
            if a.is_finite && b.is_finite && of_c.iter().all(|c| c.kind == FloatClass::Finite) {
                continue;
            }
            for (column, (c, of_c)) in c.iter_mut().zip(of_c).enumerate() {
                *c = self.special(a, b, block.clone(), column, of_c).unwrap_or(*c);
            }
        }
        c
    }

    /// Adds the products of the indices in `block` to `c`, as if all numbers were finite. Each loop
    /// processes all columns, so that the compiler can vectorise it.
    fn add_finite(&self, a: &Row, b: &Columns, block: Range<usize>, c: [Number; COLUMNS]) -> [u32; COLUMNS] {
        let (factors, values, powers) = (&a.factors[block.clone()], &b.values[block.clone()], &b.powers[block]);
        let c = c.map(Factor::from);
        let mut largest = c.map(|c| c.power);
        for (a, of_b) in factors.iter().zip(powers) {
            for column in 0..COLUMNS {
                let power = a.power * of_b[column];
                largest[column] = if power > largest[column] { power } else { largest[column] };
            }
        }
        let fraction = self.of[0].fraction + self.of[1].fraction;
        let [of_product, of_c] =
            [fraction, self.to.fraction].map(|fraction| power_of_two(self.kept as i32 - fraction as i32));
        let scale = largest.map(|largest| of_product / largest);
        let mut sums = [0.0; COLUMNS];
        for column in 0..COLUMNS {
            sums[column] = truncate(c[column].value * (of_c / largest[column]));
        }
        for (a, of_b) in factors.iter().zip(values) {
            for column in 0..COLUMNS {
                sums[column] += truncate(a.value * of_b[column] * scale[column]);
            }
        }
        let mut all = [0; COLUMNS];
        for ((result, sum), largest) in all.iter_mut().zip(sums).zip(largest) {
            let exponent = (largest.to_bits() >> 52) as i32 - 1023 - self.kept as i32;
            let nearest = self.to == Float::F16;
            *result = self.to.round(sum < 0.0, sum.abs() as u64, exponent, self.rounded, nearest);
        }
        all
    }

    /// Returns the result of a column if the accumulator or a product is NaN or infinite, otherwise `None`.
    fn special(&self, a: &Row, b: &Columns, block: Range<usize>, column: usize, c: Number) -> Option<u32> {
        let mut infinite = [false; 2];
        let mut is_nan = c.kind == FloatClass::Nan;
        if c.kind == FloatClass::Infinite {
            infinite[usize::from(c.negative)] = true;
        }
        for k in block {
            let (of_a, of_b) = (a.factors[k].value, b.values[k][column]);
            match (a.factors[k].kind, b.kinds[k][column]) {
                (FloatClass::Finite, FloatClass::Finite) => continue,
                (FloatClass::Nan, _) | (_, FloatClass::Nan) => is_nan = true,
                _ if of_a == 0.0 || of_b == 0.0 => is_nan = true,
                _ => infinite[usize::from((of_a < 0.0) != (of_b < 0.0))] = true,
            }
        }
        match infinite {
            _ if is_nan => Some(self.to.nan()),
            [true, true] => Some(self.to.nan()),
            [false, false] => None,
            [_, negative] => {
                let sign = u32::from(negative) << (self.to.exponent + self.to.fraction);
                Some(self.to.infinity() | sign)
            }
        }
    }
}

/// Truncates a number with a magnitude below 2^28 to an integer, toward zero. An f64 holds the sum
/// of all such integers exactly.
#[inline(always)]
fn truncate(number: f64) -> f64 {
    // An f64 of at least 2^52 has no fraction bits, so adding 2^52 rounds to an integer.
    const INTEGERS: f64 = (1u64 << 52) as f64;
    let exact = number.abs();
    let nearest = exact + INTEGERS - INTEGERS;
    let below = if nearest > exact { nearest - 1.0 } else { nearest };
    below.copysign(number)
}

/// Converts an 8-bit float exactly to f16.
pub(super) fn in_half(of: Float, bits: u32) -> u32 {
    let Number { kind, negative, significand, exponent } = of.read(bits);
    let sign = u32::from(negative) << 15;
    match kind {
        FloatClass::Nan => Float::F16.nan(),
        FloatClass::Infinite => Float::F16.infinity() | sign,
        FloatClass::Finite => Float::F16.round(negative, significand.into(), exponent - of.fraction as i32, 10, true),
    }
}

/// Returns the sum of two accumulators, rounded to nearest even in their format.
pub(super) fn sum(to: Float, a: u32, b: u32) -> u32 {
    if to == Float::F16 {
        let sum = crate::half::HalfMode::new(Format::F16, Rounding::Nearest).add(a as u16, b as u16);
        return if Format::F16.is_nan(sum) { to.nan() } else { sum.into() };
    }
    let sum = f32::from_bits(a) + f32::from_bits(b);
    if sum.is_nan() { to.nan() } else { sum.to_bits() }
}

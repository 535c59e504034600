//! Functions that machines approximate, correctly rounded, by the steps of `halfbyte_isa::approx`.
//! The first evaluation is in f64. If two results remain possible, the second evaluation is in
//! pairs of f64.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64, I128};
use cranelift_codegen::ir::{self, InstBuilder, Value};
use halfbyte_isa::approx::constants::{
    BY_FACTORIAL, BY_ODD, HALF_PI, LN_2, QUARTER_PI, TERMS, TWO_BY_LN_2, TWO_BY_PI, WORDS,
};
use halfbyte_isa::approx::{Function, Pair};

use crate::aot::scalar::Scalar;

/// Returns the function of an f32.
pub(super) fn single(s: &mut Scalar<'_, '_, '_>, function: Function, x: Value) -> Value {
    let x = s.cast(F32, x);
    let x = s.b.ins().fpromote(F64, x);
    rounded(s, function, x)
}

fn round(s: &mut Scalar<'_, '_, '_>, y: Value) -> Value {
    let single = s.b.ins().fdemote(F32, y);
    s.single_result(single)
}

fn rounded(s: &mut Scalar<'_, '_, '_>, function: Function, x: Value) -> Value {
    let done = s.b.create_block();
    let result = s.b.append_block_param(done, I32);
    exact(s, function, x, done);
    let near = compute::<Single>(s, function, x).0;
    let magnitude = s.b.ins().fabs(near);
    // The unit is that of `Function::single`.
    let unit = s.f64(f64::from_bits(0x3D20_0000_0000_0000));
    let error = s.b.ins().fmul(magnitude, unit);
    let (below, above) = (s.b.ins().fsub(near, error), s.b.ins().fadd(near, error));
    let (below, above) = (round(s, below), round(s, above));
    let is_told = s.b.ins().icmp(IntCC::Equal, below, above);
    let open = s.b.create_block();
    s.b.set_cold_block(open);
    s.b.ins().brif(is_told, done, &[below.into()], open, &[]);
    s.b.switch_to_block(open);
    let [high, low] = compute::<Double>(s, function, x).0;
    let odd = beside(s, high, low);
    let told = round(s, odd);
    s.b.ins().jump(done, &[told.into()]);
    s.b.switch_to_block(done);
    result
}

/// Rounds `high + low` to odd, where `high` is the sum rounded to nearest. An inexact sum with an even `high` becomes
/// the f64 on the other side of the exact sum.
fn beside(s: &mut Scalar<'_, '_, '_>, high: Value, low: Value) -> Value {
    let zero = s.f64(0.0);
    let is_exact = s.b.ins().fcmp(FloatCC::Equal, low, zero);
    let (bits, rest) = (s.cast(I64, high), s.cast(I64, low));
    let is_odd = s.b.ins().band_imm_s(bits, 1);
    let is_odd = s.b.ins().icmp_imm_s(IntCC::NotEqual, is_odd, 0);
    let signs = s.b.ins().bxor(bits, rest);
    // The step is 1 if the signs are alike, and -1 otherwise.
    let signs = s.b.ins().sshr_imm_s(signs, 63);
    let step = s.b.ins().bor_imm_s(signs, 1);
    let moved = s.b.ins().iadd(bits, step);
    let is_kept = s.b.ins().bor(is_exact, is_odd);
    let bits = s.b.ins().select(is_kept, bits, moved);
    s.cast(F64, bits)
}

/// Jumps to `done` with the results that are exact, undefined or outside the range of the evaluation:
/// `Function::exact`.
fn exact(s: &mut Scalar<'_, '_, '_>, function: Function, x: Value, done: ir::Block) {
    let magnitude = s.b.ins().fabs(x);
    let is = |s: &mut Scalar<'_, '_, '_>, code: FloatCC, a: Value, b: f64| {
        let b = s.f64(b);
        s.b.ins().fcmp(code, a, b)
    };
    let leave = |s: &mut Scalar<'_, '_, '_>, holds: Value, y: Value| {
        let (gone, on) = (s.b.create_block(), s.b.create_block());
        s.b.ins().brif(holds, gone, &[], on, &[]);
        s.b.switch_to_block(gone);
        let y = round(s, y);
        s.b.ins().jump(done, &[y.into()]);
        s.b.switch_to_block(on);
    };
    let constant = |s: &mut Scalar<'_, '_, '_>, holds: Value, y: f64| {
        let y = s.f64(y);
        leave(s, holds, y);
    };
    let is_nan = s.b.ins().fcmp(FloatCC::Unordered, x, x);
    constant(s, is_nan, f64::NAN);
    let tiny = f64::from_bits((1023 - 50) << 52);
    match function {
        Function::Ex2 => {
            let is_large = is(s, FloatCC::GreaterThanOrEqual, x, 130.0);
            constant(s, is_large, f64::from_bits((1023 + 130) << 52));
            let is_small = is(s, FloatCC::LessThanOrEqual, x, -160.0);
            constant(s, is_small, f64::from_bits((1023 - 160) << 52));
            let whole = s.b.ins().fcvt_to_sint_sat(I64, x);
            let back = s.b.ins().fcvt_from_sint(F64, whole);
            let is_whole = s.b.ins().fcmp(FloatCC::Equal, back, x);
            let y = power(s, whole);
            leave(s, is_whole, y);
        }
        Function::Lg2 => {
            let is_zero = is(s, FloatCC::Equal, x, 0.0);
            constant(s, is_zero, f64::NEG_INFINITY);
            let is_negative = is(s, FloatCC::LessThan, x, 0.0);
            constant(s, is_negative, f64::NAN);
            let is_infinite = is(s, FloatCC::Equal, x, f64::INFINITY);
            constant(s, is_infinite, f64::INFINITY);
            let is_one = is(s, FloatCC::Equal, x, 1.0);
            constant(s, is_one, 0.0);
        }
        Function::Rsqrt => {
            let is_zero = is(s, FloatCC::Equal, x, 0.0);
            let infinity = s.f64(f64::INFINITY);
            let y = s.b.ins().fcopysign(infinity, x);
            leave(s, is_zero, y);
            let is_negative = is(s, FloatCC::LessThan, x, 0.0);
            constant(s, is_negative, f64::NAN);
            let is_infinite = is(s, FloatCC::Equal, x, f64::INFINITY);
            constant(s, is_infinite, 0.0);
        }
        Function::Sin | Function::Cos => {
            let is_infinite = is(s, FloatCC::Equal, magnitude, f64::INFINITY);
            constant(s, is_infinite, f64::NAN);
            let is_tiny = is(s, FloatCC::LessThan, magnitude, tiny);
            if function == Function::Cos { constant(s, is_tiny, 1.0) } else { leave(s, is_tiny, x) }
        }
        Function::Tanh => {
            let is_tiny = is(s, FloatCC::LessThan, magnitude, tiny);
            leave(s, is_tiny, x);
            let is_large = is(s, FloatCC::GreaterThanOrEqual, magnitude, 24.0);
            let one = s.f64(1.0);
            let y = s.b.ins().fcopysign(one, x);
            leave(s, is_large, y);
        }
    }
}

/// Returns 2 to the power of an integer between -1022 and 1023.
fn power(s: &mut Scalar<'_, '_, '_>, exponent: Value) -> Value {
    let biased = s.b.ins().iadd_imm_s(exponent, 1023);
    let bits = s.b.ins().ishl_imm_s(biased, 52);
    s.cast(F64, bits)
}

/// Returns the floor of a small number, as an integer and as an f64.
fn floor(s: &mut Scalar<'_, '_, '_>, x: Value) -> [Value; 2] {
    let toward = s.b.ins().fcvt_to_sint_sat(I64, x);
    let back = s.b.ins().fcvt_from_sint(F64, toward);
    let is_above = s.b.ins().fcmp(FloatCC::GreaterThan, back, x);
    let one = s.b.ins().uextend(I64, is_above);
    let whole = s.b.ins().isub(toward, one);
    [whole, s.b.ins().fcvt_from_sint(F64, whole)]
}

/// Number type of an evaluation: `approx::real`.
trait Real: Copy {
    /// Number of terms of a series.
    const TERMS: usize;

    fn of(s: &mut Scalar<'_, '_, '_>, x: Value) -> Self;
    fn constant(s: &mut Scalar<'_, '_, '_>, x: Pair) -> Self;
    /// Returns `a` if `by` is true, else `b`.
    fn select(s: &mut Scalar<'_, '_, '_>, by: Value, a: Self, b: Self) -> Self;
    fn plus(self, s: &mut Scalar<'_, '_, '_>, other: Self) -> Self;
    fn times(self, s: &mut Scalar<'_, '_, '_>, other: Self) -> Self;
    fn by(self, s: &mut Scalar<'_, '_, '_>, other: Self) -> Self;
    fn neg(self, s: &mut Scalar<'_, '_, '_>) -> Self;
    fn root(self, s: &mut Scalar<'_, '_, '_>) -> Self;

    fn number(s: &mut Scalar<'_, '_, '_>, x: f64) -> Self {
        Self::constant(s, Pair::new(x, 0.0))
    }
}

#[derive(Clone, Copy)]
struct Single(Value);

/// The sum of two f64s.
#[derive(Clone, Copy)]
struct Double([Value; 2]);

/// Selects one of two floats by their integer bits, because a select of floats may become a branch.
fn choose(s: &mut Scalar<'_, '_, '_>, by: Value, a: Value, b: Value) -> Value {
    let (a, b) = (s.cast(I64, a), s.cast(I64, b));
    let bits = s.b.ins().select(by, a, b);
    s.cast(F64, bits)
}

impl Real for Single {
    const TERMS: usize = TERMS[0];

    fn of(_: &mut Scalar<'_, '_, '_>, x: Value) -> Single {
        Single(x)
    }

    fn constant(s: &mut Scalar<'_, '_, '_>, x: Pair) -> Single {
        Single(s.f64(x.high))
    }

    fn select(s: &mut Scalar<'_, '_, '_>, by: Value, a: Single, b: Single) -> Single {
        Single(choose(s, by, a.0, b.0))
    }

    fn plus(self, s: &mut Scalar<'_, '_, '_>, other: Single) -> Single {
        Single(s.b.ins().fadd(self.0, other.0))
    }

    fn times(self, s: &mut Scalar<'_, '_, '_>, other: Single) -> Single {
        Single(s.b.ins().fmul(self.0, other.0))
    }

    fn by(self, s: &mut Scalar<'_, '_, '_>, other: Single) -> Single {
        Single(s.b.ins().fdiv(self.0, other.0))
    }

    fn neg(self, s: &mut Scalar<'_, '_, '_>) -> Single {
        Single(s.b.ins().fneg(self.0))
    }

    fn root(self, s: &mut Scalar<'_, '_, '_>) -> Single {
        Single(s.b.ins().sqrt(self.0))
    }
}

impl Double {
    /// Returns the exact sum of any two f64s.
    fn two_sum(s: &mut Scalar<'_, '_, '_>, a: Value, b: Value) -> Double {
        let high = s.b.ins().fadd(a, b);
        let of_b = s.b.ins().fsub(high, a);
        let of_a = s.b.ins().fsub(high, of_b);
        let (less_a, less_b) = (s.b.ins().fsub(a, of_a), s.b.ins().fsub(b, of_b));
        Double([high, s.b.ins().fadd(less_a, less_b)])
    }

    /// Returns the exact sum of two f64s, of which the first is the greater.
    fn quick(s: &mut Scalar<'_, '_, '_>, a: Value, b: Value) -> Double {
        let high = s.b.ins().fadd(a, b);
        let of_b = s.b.ins().fsub(high, a);
        Double([high, s.b.ins().fsub(b, of_b)])
    }

    /// Splits an f64 into two parts of 26 bits.
    fn parts(s: &mut Scalar<'_, '_, '_>, a: Value) -> [Value; 2] {
        let by = s.f64(134_217_729.0);
        let scaled = s.b.ins().fmul(a, by);
        let rest = s.b.ins().fsub(scaled, a);
        let high = s.b.ins().fsub(scaled, rest);
        [high, s.b.ins().fsub(a, high)]
    }

    /// Returns the exact product of two f64s.
    fn product(s: &mut Scalar<'_, '_, '_>, a: Value, b: Value) -> Double {
        let high = s.b.ins().fmul(a, b);
        let ([x, u], [y, v]) = (Double::parts(s, a), Double::parts(s, b));
        let [xy, xv, uy, uv] = [(x, y), (x, v), (u, y), (u, v)].map(|(a, b)| s.b.ins().fmul(a, b));
        let mut low = s.b.ins().fsub(xy, high);
        for part in [xv, uy, uv] {
            low = s.b.ins().fadd(low, part);
        }
        Double([high, low])
    }
}

impl Real for Double {
    const TERMS: usize = TERMS[1];

    fn of(s: &mut Scalar<'_, '_, '_>, x: Value) -> Double {
        Double([x, s.f64(0.0)])
    }

    fn constant(s: &mut Scalar<'_, '_, '_>, x: Pair) -> Double {
        Double([s.f64(x.high), s.f64(x.low)])
    }

    fn select(s: &mut Scalar<'_, '_, '_>, by: Value, a: Double, b: Double) -> Double {
        Double([choose(s, by, a.0[0], b.0[0]), choose(s, by, a.0[1], b.0[1])])
    }

    fn plus(self, s: &mut Scalar<'_, '_, '_>, other: Double) -> Double {
        let Double([a, a_low]) = self;
        let Double([b, b_low]) = other;
        let Double([high, rest]) = Double::two_sum(s, a, b);
        let Double([low, last]) = Double::two_sum(s, a_low, b_low);
        let low = s.b.ins().fadd(rest, low);
        let Double([high, low]) = Double::quick(s, high, low);
        let low = s.b.ins().fadd(low, last);
        Double::quick(s, high, low)
    }

    fn times(self, s: &mut Scalar<'_, '_, '_>, other: Double) -> Double {
        let Double([high, low]) = Double::product(s, self.0[0], other.0[0]);
        let cross = s.b.ins().fmul(self.0[0], other.0[1]);
        let other_cross = s.b.ins().fmul(self.0[1], other.0[0]);
        let both = s.b.ins().fadd(cross, other_cross);
        let low = s.b.ins().fadd(low, both);
        Double::quick(s, high, low)
    }

    fn by(self, s: &mut Scalar<'_, '_, '_>, other: Double) -> Double {
        // Long division with three digits.
        let digit = |s: &mut Scalar<'_, '_, '_>, rest: Double| {
            let digit = s.b.ins().fdiv(rest.0[0], other.0[0]);
            let opposite = s.b.ins().fneg(digit);
            let opposite = Double::of(s, opposite);
            let taken = other.times(s, opposite);
            (digit, rest.plus(s, taken))
        };
        let (first, rest) = digit(s, self);
        let (second, rest) = digit(s, rest);
        let sum = Double::quick(s, first, second);
        let third = s.b.ins().fdiv(rest.0[0], other.0[0]);
        let third = Double::of(s, third);
        sum.plus(s, third)
    }

    fn neg(self, s: &mut Scalar<'_, '_, '_>) -> Double {
        Double(self.0.map(|x| s.b.ins().fneg(x)))
    }

    fn root(self, s: &mut Scalar<'_, '_, '_>) -> Double {
        // One Newton step from a root of 53 bits gives 104 bits.
        let near = s.b.ins().sqrt(self.0[0]);
        let square = Double::product(s, near, near).neg(s);
        let rest = self.plus(s, square);
        let twice = s.b.ins().fadd(near, near);
        let twice = Double::of(s, twice);
        let step = rest.by(s, twice);
        Double::of(s, near).plus(s, step)
    }
}

fn compute<R: Real>(s: &mut Scalar<'_, '_, '_>, function: Function, x: Value) -> R {
    match function {
        Function::Ex2 => ex2(s, x),
        Function::Lg2 => lg2(s, x),
        Function::Rsqrt => {
            let root = R::of(s, x).root(s);
            R::number(s, 1.0).by(s, root)
        }
        Function::Sin => sin_cos(s, x, false),
        Function::Cos => sin_cos(s, x, true),
        Function::Tanh => tanh(s, x),
    }
}

/// Returns the sum of coefficients times the powers of `t`, by Horner's rule.
fn sum<R: Real>(s: &mut Scalar<'_, '_, '_>, t: R, coefficients: impl DoubleEndedIterator<Item = Pair>) -> R {
    let mut coefficients = coefficients.rev();
    let mut sum = match coefficients.next() {
        Some(last) => R::constant(s, last),
        None => R::number(s, 0.0),
    };
    for coefficient in coefficients {
        let product = sum.times(s, t);
        let coefficient = R::constant(s, coefficient);
        sum = product.plus(s, coefficient);
    }
    sum
}

/// Returns e^t for a `t` between -0.35 and 0.35.
fn exponential<R: Real>(s: &mut Scalar<'_, '_, '_>, t: R) -> R {
    sum(s, t, BY_FACTORIAL.iter().take(R::TERMS * 4 / 5).copied())
}

fn ex2<R: Real>(s: &mut Scalar<'_, '_, '_>, x: Value) -> R {
    let half = s.f64(0.5);
    let more = s.b.ins().fadd(x, half);
    let [number, whole] = floor(s, more);
    let rest = s.b.ins().fsub(x, whole);
    let (rest, by) = (R::of(s, rest), R::constant(s, LN_2));
    let t = rest.times(s, by);
    let scale = power(s, number);
    let scale = R::of(s, scale);
    exponential(s, t).times(s, scale)
}

fn lg2<R: Real>(s: &mut Scalar<'_, '_, '_>, x: Value) -> R {
    let bits = s.cast(I64, x);
    let exponent = s.b.ins().ushr_imm_s(bits, 52);
    let fraction = s.b.ins().band_imm_s(bits, 0xF_FFFF_FFFF_FFFF);
    let m = s.b.ins().bor_imm_s(fraction, 0x3FF << 52);
    let m = s.cast(F64, m);
    let (limit, half) = (s.f64(1.414), s.f64(0.5));
    let is_large = s.b.ins().fcmp(FloatCC::GreaterThan, m, limit);
    let halved = s.b.ins().fmul(m, half);
    let m = choose(s, is_large, halved, m);
    let more = s.b.ins().uextend(I64, is_large);
    let exponent = s.b.ins().iadd(exponent, more);
    let exponent = s.b.ins().iadd_imm_s(exponent, -1023);
    let exponent = s.b.ins().fcvt_from_sint(F64, exponent);
    let one = s.f64(1.0);
    let (below, above) = (s.b.ins().fsub(m, one), s.b.ins().fadd(m, one));
    let (below, above) = (R::of(s, below), R::of(s, above));
    let ratio = below.by(s, above);
    let square = ratio.times(s, ratio);
    let series = sum(s, square, BY_ODD.iter().take(R::TERMS * 2 / 3).copied());
    let by = R::constant(s, TWO_BY_LN_2);
    let logarithm = ratio.times(s, series).times(s, by);
    R::of(s, exponent).plus(s, logarithm)
}

fn sin_cos<R: Real>(s: &mut Scalar<'_, '_, '_>, x: Value, cosine: bool) -> R {
    let magnitude = s.b.ins().fabs(x);
    let limit = s.f64(QUARTER_PI);
    let is_small = s.b.ins().fcmp(FloatCC::LessThan, magnitude, limit);
    let (quarter, part) = quarters(s, magnitude);
    let none = s.constant(I64, 0);
    let quarter = s.b.ins().select(is_small, none, quarter);
    let (high, low) = (R::of(s, part[0]), R::of(s, part[1]));
    let by = R::constant(s, HALF_PI);
    let reduced = high.plus(s, low).times(s, by);
    let whole = R::of(s, magnitude);
    let r = R::select(s, is_small, whole, reduced);
    let quarter = s.b.ins().iadd_imm_s(quarter, i64::from(cosine));
    let square = r.times(s, r).neg(s);
    let terms = || BY_FACTORIAL.iter().take(R::TERMS).copied();
    let odd = sum(s, square, terms().skip(1).step_by(2).collect::<Vec<_>>().into_iter());
    let odd = r.times(s, odd);
    let even = sum(s, square, terms().step_by(2).collect::<Vec<_>>().into_iter());
    let is_even = s.b.ins().band_imm_s(quarter, 1);
    let value = R::select(s, is_even, even, odd);
    let opposite = value.neg(s);
    let turned = s.b.ins().band_imm_s(quarter, 2);
    let mut is_negative = s.b.ins().icmp_imm_s(IntCC::NotEqual, turned, 0);
    if !cosine {
        let zero = s.f64(0.0);
        let is_below = s.b.ins().fcmp(FloatCC::LessThan, x, zero);
        is_negative = s.b.ins().bxor(is_negative, is_below);
    }
    R::select(s, is_negative, opposite, value)
}

fn tanh<R: Real>(s: &mut Scalar<'_, '_, '_>, x: Value) -> R {
    let magnitude = s.b.ins().fabs(x);
    let twice = s.b.ins().fadd(magnitude, magnitude);
    let limit = s.f64(0.35);
    let is_small = s.b.ins().fcmp(FloatCC::LessThan, twice, limit);
    // (e^t - 1) / (e^t + 1), without the cancelling difference. The value does not matter if `twice` is not small.
    let bounded = choose(s, is_small, twice, limit);
    let t = R::of(s, bounded);
    let series = sum(s, t, BY_FACTORIAL.iter().take(R::TERMS * 4 / 5).skip(1).copied());
    let less_one = t.times(s, series);
    let two = R::number(s, 2.0);
    let of_small = [less_one, less_one.plus(s, two)];
    let (by, half) = (s.f64(std::f64::consts::LOG2_E), s.f64(0.5));
    let scaled = s.b.ins().fmul(twice, by);
    let more = s.b.ins().fadd(scaled, half);
    let [number, whole] = floor(s, more);
    let opposite = s.b.ins().fneg(whole);
    let (opposite, by) = (R::of(s, opposite), R::constant(s, LN_2));
    let taken = opposite.times(s, by);
    let rest = R::of(s, twice).plus(s, taken);
    let scale = power(s, number);
    let scale = R::of(s, scale);
    let grown = exponential(s, rest).times(s, scale);
    let (one, minus) = (R::number(s, 1.0), R::number(s, -1.0));
    let of_large = [grown.plus(s, minus), grown.plus(s, one)];
    let [above, below] = [0, 1].map(|k: usize| R::select(s, is_small, of_small[k], of_large[k]));
    let value = above.by(s, below);
    let opposite = value.neg(s);
    let zero = s.f64(0.0);
    let is_negative = s.b.ins().fcmp(FloatCC::LessThan, x, zero);
    R::select(s, is_negative, opposite, value)
}

/// Returns the nearest number of quarter turns, modulo 4, and the remainder in quarters as a sum of two f64s:
/// `approx::reduce`. The result does not matter for a number below 1/2.
fn quarters(s: &mut Scalar<'_, '_, '_>, x: Value) -> (Value, [Value; 2]) {
    let bits = s.cast(I64, x);
    let fraction = s.b.ins().band_imm_s(bits, 0xF_FFFF_FFFF_FFFF);
    let whole = s.b.ins().bor_imm_s(fraction, 1 << 52);
    let significand = s.b.ins().ushr_imm_s(whole, 29);
    let exponent = s.b.ins().ushr_imm_s(bits, 52);
    let exponent = s.b.ins().iadd_imm_s(exponent, -(1023 + 23));
    let zero = s.constant(I64, 0);
    let less = s.b.ins().iadd_imm_s(exponent, -2);
    let less = s.b.ins().smax(less, zero);
    let passed = s.b.ins().ushr_imm_s(less, 5);
    let is_passed = [1, 2, 3].map(|most: i64| s.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, passed, most));
    let mut limbs = Vec::new();
    let mut carry = zero;
    for k in (0..WORDS).rev() {
        let word = |by: usize| u64::from(TWO_BY_PI.get(k + by).copied().unwrap_or(0));
        let mut digits = s.constant(I64, word(0));
        for (by, &holds) in (1..).zip(&is_passed) {
            let other = s.constant(I64, word(by));
            digits = s.b.ins().select(holds, other, digits);
        }
        let product = s.b.ins().imul(digits, significand);
        let total = s.b.ins().iadd(product, carry);
        limbs.push(s.b.ins().band_imm_s(total, i64::from(u32::MAX)));
        carry = s.b.ins().ushr_imm_s(total, 32);
    }
    limbs.push(carry);
    limbs.resize(8, zero);
    let pair = |s: &mut Scalar<'_, '_, '_>, k: usize| {
        let (low, high) = (limbs.get(k).copied().unwrap_or(zero), limbs.get(k + 1).copied().unwrap_or(zero));
        let high = s.b.ins().ishl_imm_s(high, 32);
        s.b.ins().bor(low, high)
    };
    let quads = [0, 2, 4, 6].map(|k| pair(s, k));
    let (low, high) = (s.b.ins().iconcat(quads[0], quads[1]), s.b.ins().iconcat(quads[2], quads[3]));
    let words = s.b.ins().ishl_imm_s(passed, 5);
    let behind = s.b.ins().iadd_imm_s(words, 32 * WORDS as i64);
    let behind = s.b.ins().isub(behind, exponent);
    let most = s.constant(I64, 254);
    let left = s.b.ins().isub(most, behind);
    let all = s.constant(I64, 128);
    let right = s.b.ins().isub(all, left);
    let (high, carried) = (s.b.ins().ishl(high, left), s.b.ins().ushr(low, right));
    let (high, low) = (s.b.ins().bor(high, carried), s.b.ins().ishl(low, left));
    let (_, top) = s.b.ins().isplit(high);
    let quarter = s.b.ins().ushr_imm_s(top, 62);
    let two = s.constant(I64, 2);
    let (shifted, from) = (s.b.ins().ishl(high, two), s.constant(I64, 126));
    let carried = s.b.ins().ushr(low, from);
    let (high, low) = (s.b.ins().bor(shifted, carried), s.b.ins().ishl(low, two));
    // Beyond the middle of a quarter, the remainder is measured back from the next quarter.
    let (_, top) = s.b.ins().isplit(high);
    let is_beyond = s.b.ins().icmp_imm_s(IntCC::SignedLessThan, top, 0);
    let quads = {
        let (a, b) = s.b.ins().isplit(low);
        let (c, d) = s.b.ins().isplit(high);
        [a, b, c, d]
    };
    let signs = s.b.ins().sshr_imm_s(top, 63);
    let mut carry = s.b.ins().band_imm_s(signs, 1);
    let opposite = quads.map(|quad| {
        let turned = s.b.ins().bxor(quad, signs);
        let total = s.b.ins().iadd(turned, carry);
        let is_over = s.b.ins().icmp(IntCC::UnsignedLessThan, total, carry);
        carry = s.b.ins().uextend(I64, is_over);
        total
    });
    let low = s.b.ins().iconcat(opposite[0], opposite[1]);
    let high = s.b.ins().iconcat(opposite[2], opposite[3]);
    let part = part(s, high, low);
    let negative = part.map(|x| s.b.ins().fneg(x));
    let part = [choose(s, is_beyond, negative[0], part[0]), choose(s, is_beyond, negative[1], part[1])];
    let one = s.b.ins().uextend(I64, is_beyond);
    (s.b.ins().iadd(quarter, one), part)
}

/// Returns a fraction of 256 bits as a sum of two f64s.
fn part(s: &mut Scalar<'_, '_, '_>, high: Value, low: Value) -> [Value; 2] {
    let (below, top) = s.b.ins().isplit(high);
    let (of_top, of_below) = (s.b.ins().clz(top), s.b.ins().clz(below));
    let more = s.b.ins().iadd_imm_s(of_below, 64);
    let zeros = s.b.ins().select(top, of_top, more);
    let most = s.constant(I64, 127);
    let zeros = s.b.ins().umin(zeros, most);
    let right = s.b.ins().isub(most, zeros);
    let one = s.constant(I64, 1);
    let rest = s.b.ins().ushr(low, one);
    let (shifted, carried) = (s.b.ins().ishl(high, zeros), s.b.ins().ushr(rest, right));
    let top = s.b.ins().bor(shifted, carried);
    debug_assert_eq!(s.b.func.dfg.value_type(top), I128);
    let opposite = s.b.ins().ineg(zeros);
    let scale = power(s, opposite);
    let (low, high) = s.b.ins().isplit(top);
    // The first 53 bits, and the 75 bits after them, rounded.
    let first = s.b.ins().ushr_imm_s(high, 11);
    let middle = s.b.ins().band_imm_s(high, (1 << 11) - 1);
    let middle = s.b.ins().ishl_imm_s(middle, 42);
    let lower = s.b.ins().ushr_imm_s(low, 22);
    let middle = s.b.ins().bor(middle, lower);
    let last = s.b.ins().band_imm_s(low, (1 << 22) - 1);
    let [first, middle, last] = [first, middle, last].map(|bits| s.b.ins().fcvt_from_uint(F64, bits));
    let by = s.f64(f64::from(1 << 22));
    let middle = s.b.ins().fmul(middle, by);
    let second = s.b.ins().fadd(middle, last);
    let [first, second] = [(first, -53), (second, -128)].map(|(x, exponent): (Value, i64)| {
        let unit = s.f64(f64::from_bits(((1023 + exponent) as u64) << 52));
        let unit = s.b.ins().fmul(unit, scale);
        s.b.ins().fmul(x, unit)
    });
    Double::quick(s, first, second).0
}

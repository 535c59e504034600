//! Packed arithmetic on halves. Two halves share a word.
//!
//! Sums and products are computed in `f32`, where a product of two halves is exact. A sum with a
//! single rounding is first rounded to odd: the last bit of an inexact result is set.

use halfbyte_isa::half::{Clamp, Compare, Format, NAN, Rounding};
use halfbyte_isa::halu::domain::{HalfCompare, HalfKind, HalfMinMax, HalfOp};

use super::lower::Lower;
use super::{Binary, Float, Half, Node, Shift, Value, Width};
use crate::jit::{Id, Op};

/// Returns a word of two equal halves.
const fn twice(half: u16) -> u32 {
    half as u32 * 0x0001_0001
}

impl Lower<'_> {
    fn halves(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.b.binary(op, Width::B16, a, b)
    }

    /// Replaces subnormal halves by a zero of their sign.
    fn flush(&mut self, format: Format, x: Value) -> Value {
        let exponent = self.b.and_constant(x, twice(format.infinity()));
        let zero = self.b.constant(0);
        let is_small = self.halves(Binary::Equal, exponent, zero);
        let signs = self.b.and_constant(x, twice(0x8000));
        self.b.select(is_small, signs, x)
    }

    fn is_nan_half(&mut self, format: Format, x: Value) -> Value {
        let magnitude = self.b.and_constant(x, twice(0x7FFF));
        let infinity = self.b.constant(twice(format.infinity()));
        self.halves(Binary::Greater, magnitude, infinity)
    }

    /// Returns the floats of the halves. The results for binary16 are the low and the high half of the vector. The
    /// results for bfloat16 are the low and the high halves of words.
    fn widened(&mut self, format: Format, x: Value) -> [Value; 2] {
        match format {
            Format::F16 => Half::BOTH.map(|half| self.b.push(Node::WidenHalves(half, x))),
            Format::Bf16 => [self.b.shift_words(Shift::Left, x, 16), self.b.and_constant(x, 0xFFFF_0000)],
        }
    }

    /// Returns packed halves whose NaNs have any payload.
    pub(super) fn any_half(&mut self, id: Id) -> Option<Value> {
        match self.dataflow().op(id) {
            _ if !self.is_setup && self.is_fixed(id) => self.value(id),
            Op::Half(op) if op.mode.clamp == Clamp::None && !op.mode.ftz => self.rounded_half(id, &op),
            _ => self.value(id),
        }
    }

    /// Returns the rounded results of an operation before they are clamped and flushed. NaNs have any payload.
    pub(super) fn rounded_half(&mut self, id: Id, op: &HalfOp) -> Option<Value> {
        if let Some(&Some(value)) = self.lowered.halves.get(id.index()) {
            return Some(value);
        }
        let value = self.rounded(id, op)?;
        *self.lowered.halves.get_mut(id.index())? = Some(value);
        Some(value)
    }

    /// Returns an operand as packed halves, flushed if the operation flushes subnormals.
    fn half_operand(&mut self, id: Id, op: &HalfOp) -> Option<Value> {
        let x = self.any_half(id)?;
        Some(if op.mode.ftz { self.flush(op.mode.format, x) } else { x })
    }

    /// Returns the floats of an operand.
    fn half_floats(&mut self, id: Id, op: &HalfOp) -> Option<[Value; 2]> {
        let format = op.mode.format;
        if let (Op::Half(other), Format::Bf16) = (self.dataflow().op(id), format)
            && (other.mode.format, other.mode.clamp, other.mode.ftz) == (format, Clamp::None, false)
            && !op.mode.ftz
        {
            self.any_half(id)?;
            if let Some(&Some(floats)) = self.lowered.half_floats.get(id.index()) {
                return Some(floats);
            }
        }
        let x = self.half_operand(id, op)?;
        Some(self.widened(format, x))
    }

    /// Returns the rounded results of an operation.
    fn rounded(&mut self, id: Id, op: &HalfOp) -> Option<Value> {
        let (format, rounding) = (op.mode.format, op.mode.rounding);
        let args = self.dataflow().args(id);
        if self.facts.has_fp16 && format == Format::F16 && rounding == Rounding::Nearest {
            let operands = args.iter().map(|&arg| self.half_operand(arg, op)).collect::<Option<Vec<Value>>>()?;
            return Some(match (op.kind, operands.as_slice()) {
                (HalfKind::Add, &[a, b]) => self.b.push(Node::HalfFloat(Float::Add, [a, b])),
                (HalfKind::Mul, &[a, b]) => self.b.push(Node::HalfFloat(Float::Mul, [a, b])),
                (HalfKind::Fma, &[a, b, c]) => self.b.push(Node::HalfFma([a, b, c])),
                _ => return None,
            });
        }
        // In other rounding modes, the infinity of an f32 overflow is not the bfloat16 result.
        if format == Format::Bf16 && rounding != Rounding::Nearest {
            return None;
        }
        let floats = args.iter().map(|&arg| self.half_floats(arg, op)).collect::<Option<Vec<[Value; 2]>>>()?;
        let mut results = [None; 2];
        for (k, result) in results.iter_mut().enumerate() {
            let of = |operand: usize| floats.get(operand).map(|floats| floats[k]);
            *result = Some(match (op.kind, format) {
                (HalfKind::Mul, _) => self.b.float(Float::Mul, of(0)?, of(1)?),
                (HalfKind::Add, _) if rounding == Rounding::Nearest => self.b.float(Float::Add, of(0)?, of(1)?),
                (HalfKind::Add, Format::F16) => self.odd_sum(rounding, of(0)?, of(1)?),
                (HalfKind::Fma, Format::F16) => {
                    let product = self.b.float(Float::Mul, of(0)?, of(1)?);
                    self.odd_sum(rounding, product, of(2)?)
                }
                (HalfKind::Fma, Format::Bf16) if rounding == Rounding::Nearest => self.odd_fma(of(0)?, of(1)?, of(2)?),
                _ => return None,
            });
        }
        let [Some(low), Some(high)] = results else { return None };
        if format == Format::F16 {
            return Some(self.b.push(Node::NarrowHalves(rounding, [low, high])));
        }
        // The low bits of a NaN are 0, so that a rounded NaN is still NaN.
        let (low, high) = (self.round_bf16(rounding, low), self.round_bf16(rounding, high));
        let rounded = [low, high].map(|word| self.b.and_constant(word, 0xFFFF_0000));
        *self.lowered.half_floats.get_mut(id.index())? = Some(rounded);
        let [low, high] = rounded;
        let low = self.b.shift_words(Shift::Right, low, 16);
        Some(self.b.or(low, high))
    }

    /// Returns the sum of two floats, rounded to odd.
    fn odd_sum(&mut self, rounding: Rounding, a: Value, b: Value) -> Value {
        let sum = self.b.float(Float::Add, a, b);
        // A float holds the error of the sum exactly.
        let near = self.b.float(Float::Sub, sum, a);
        let rest = self.b.float(Float::Sub, sum, near);
        let of_a = self.b.float(Float::Sub, a, rest);
        let of_b = self.b.float(Float::Sub, b, near);
        let error = self.b.float(Float::Add, of_a, of_b);
        let zero = self.b.constant(0);
        let is_inexact = self.b.compare(Compare::NE, error, zero);
        let odd = self.round_to_odd(sum, error, is_inexact);
        if rounding != Rounding::Down {
            return odd;
        }
        // An exact zero of unlike signs is -0.
        let is_zero = self.b.compare(Compare::EQ, sum, zero);
        let either = self.b.or(a, b);
        let sign = self.b.and_constant(either, 1 << 31);
        let of_zero = self.b.and(is_zero, sign);
        self.b.or(odd, of_zero)
    }

    /// Moves an inexact float with an even last bit by one ulp toward its error. Returns other floats unchanged.
    fn round_to_odd(&mut self, float: Value, error: Value, is_inexact: Value) -> Value {
        let unlike = self.b.xor(float, error);
        let down = self.b.shift_words(Shift::Arithmetic, unlike, 31);
        let one = self.b.constant(1);
        let step = self.b.or(down, one);
        let last = self.b.and(float, one);
        let ones = self.b.constant(u32::MAX);
        let is_even = self.b.words(Binary::Add, last, ones);
        let step = self.b.and(step, is_even);
        let step = self.b.and(step, is_inexact);
        self.b.words(Binary::Add, float, step)
    }

    /// Returns `a * b + c` of floats that hold bfloat16 numbers, rounded to odd. The product is exact in `f64`.
    fn odd_fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let (mut sums, mut errors) = (Vec::new(), Vec::new());
        for half in Half::BOTH {
            let [a, b, c] = [a, b, c].map(|x| self.b.push(Node::WidenFloats(half, x)));
            let mut double = |op, x, y| self.b.push(Node::Double(op, [x, y]));
            let product = double(Float::Mul, a, b);
            let sum = double(Float::Add, product, c);
            let near = double(Float::Sub, sum, product);
            let rest = double(Float::Sub, sum, near);
            let of_product = double(Float::Sub, product, rest);
            let of_c = double(Float::Sub, c, near);
            errors.push(double(Float::Add, of_product, of_c));
            sums.push(sum);
        }
        let (Some(&[s0, s1]), Some(&[e0, e1])) = (sums.first_chunk(), errors.first_chunk()) else { return a };
        let float = self.b.push(Node::NarrowDoubles([s0, s1]));
        // The error of rounding to f32, plus the error of the sum.
        let zero = self.b.constant(0);
        let mut rests = [zero; 2];
        for ((half, rest), [sum, error]) in Half::BOTH.into_iter().zip(&mut rests).zip([[s0, e0], [s1, e1]]) {
            let back = self.b.push(Node::WidenFloats(half, float));
            let left = self.b.push(Node::Double(Float::Sub, [sum, back]));
            *rest = self.b.push(Node::Double(Float::Add, [left, error]));
        }
        let is_inexact = rests.map(|rest| self.b.push(Node::DoubleCompare(Compare::NE, [rest, zero])));
        let is_inexact = self.b.push(Node::Every2nd { odd: true, split: false, of: is_inexact });
        let signs = self.b.push(Node::Every2nd { odd: true, split: false, of: rests });
        self.round_to_odd(float, signs, is_inexact)
    }

    /// Makes NaNs canonical, and clamps and flushes rounded halves.
    pub(super) fn finished(&mut self, op: &HalfOp, rounded: Value) -> Value {
        let format = op.mode.format;
        let is_nan = self.is_nan_half(format, rounded);
        let nan = self.b.constant(twice(NAN));
        let rounded = self.b.select(is_nan, nan, rounded);
        let zero = self.b.constant(0);
        let clamped = match op.mode.clamp {
            Clamp::None => rounded,
            Clamp::Sat => {
                // Negative halves and NaN are above infinity as unsigned numbers.
                let infinity = self.b.constant(twice(format.infinity()));
                let most = self.halves(Binary::Max { signed: false }, rounded, infinity);
                let is_number = self.halves(Binary::Equal, most, infinity);
                let one = self.b.constant(twice(format.one()));
                let limited = self.halves(Binary::Min { signed: false }, rounded, one);
                self.b.and(limited, is_number)
            }
            Clamp::Relu => {
                let is_negative = self.halves(Binary::Greater, zero, rounded);
                let negative_zero = self.b.constant(twice(0x8000));
                let is_zero = self.halves(Binary::Equal, rounded, negative_zero);
                let is_less = self.b.and_not(is_negative, is_zero);
                self.b.and_not(rounded, is_less)
            }
        };
        if op.mode.ftz { self.flush(format, clamped) } else { clamped }
    }

    /// Converts halves to signed numbers of the same order, with -0 below +0, and such numbers back to halves.
    fn order_key(&mut self, x: Value) -> Value {
        let signs = self.b.shift(Shift::Arithmetic, Width::B16, x, 15);
        let turned = self.b.shift(Shift::Right, Width::B16, signs, 1);
        self.b.xor(x, turned)
    }

    pub(super) fn half_minmax(&mut self, op: &HalfMinMax, min: Value, operands: [Value; 2]) -> Option<Value> {
        let [a, b] = if op.ftz { operands.map(|x| self.flush(op.format, x)) } else { operands };
        let [x, y] = [a, b].map(|half| self.order_key(half));
        let of = |lower: &mut Self, binary| {
            let key = lower.halves(binary, x, y);
            lower.order_key(key)
        };
        let (min_op, max_op) = (Binary::Min { signed: true }, Binary::Max { signed: true });
        let chosen = match self.b.known(min) {
            Some(0) => of(self, max_op),
            Some(_) => of(self, min_op),
            None => {
                let (least, most) = (of(self, min_op), of(self, max_op));
                self.b.select(min, least, most)
            }
        };
        let [a_nan, b_nan] = [a, b].map(|half| self.is_nan_half(op.format, half));
        let nan = self.b.constant(twice(NAN));
        if op.nan {
            let either = self.b.or(a_nan, b_nan);
            return Some(self.b.select(either, nan, chosen));
        }
        let of_b_nan = self.b.select(b_nan, a, chosen);
        let of_a_nan = self.b.select(b_nan, nan, b);
        Some(self.b.select(a_nan, of_a_nan, of_b_nan))
    }

    pub(super) fn half_compare(&mut self, op: &HalfCompare, lane: u8, operands: [Value; 2]) -> Option<Value> {
        let operands = if op.ftz { operands.map(|x| self.flush(op.format, x)) } else { operands };
        let floats = operands.map(|x| {
            let of = self.widened(op.format, x);
            match op.format {
                Format::F16 => self.b.push(Node::Every2nd { odd: lane != 0, split: false, of }),
                Format::Bf16 => of[usize::from(lane != 0)],
            }
        });
        Some(self.b.compare(op.compare, floats[0], floats[1]))
    }
}

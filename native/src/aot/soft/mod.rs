//! Arithmetic that Cranelift has no instruction for, as code of the object. Long code is a function
//! of its own.

mod elementary;
mod half;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use halfbyte_isa::approx::Function;
use halfbyte_isa::half::Rounding;
use halfbyte_isa::halu::domain::{
    Conversion, FloatKind, FloatOp, HalfKind, HalfOp, convert_in_steps, double_in_steps, single_in_steps,
};

use super::memory::here;
use super::scalar::{Scalar, Values};
pub(super) use half::{half_compare, half_minmax, narrow_single, widen_to_single};

/// A function that code of the object calls, named by its computation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Soft {
    /// Operation on both lanes.
    Half(HalfOp),
    /// Operation on f32s, not rounded to nearest.
    Single(FloatOp),
    /// Operation on f64s.
    Double(FloatOp),
    Convert(Conversion),
    Elementary(Function),
    /// Zeroes a number of bytes from an address on.
    Zero,
}

impl Soft {
    /// Returns the number of operands. All are words, except those of [`Soft::Zero`].
    pub fn operands(self) -> usize {
        match self {
            Soft::Half(HalfOp { kind: HalfKind::Fma, .. }) | Soft::Single(_) => 3,
            Soft::Half(_) | Soft::Convert(_) | Soft::Zero => 2,
            Soft::Double(op) => 2 * op.kind.operands(),
            Soft::Elementary(_) => 1,
        }
    }

    /// Returns the number of result words.
    pub fn results(self) -> usize {
        match self {
            Soft::Double(_) | Soft::Convert(_) => 2,
            Soft::Half(_) | Soft::Single(_) | Soft::Elementary(_) => 1,
            Soft::Zero => 0,
        }
    }
}

/// Emits the computation of a function on its parameters.
pub(super) fn body(s: &mut Scalar<'_, '_, '_>, soft: Soft, args: &[Value]) -> Values {
    let zero = || args.first().copied().unwrap_or(Value::from_u32(0));
    let arg = |k: usize| args.get(k).copied().unwrap_or_else(zero);
    let pair = |k: usize| [arg(2 * k), arg(2 * k + 1)];
    match soft {
        Soft::Half(op) => Values::from_slice(&[half::half(s, &op, [arg(0), arg(1), arg(2)])]),
        Soft::Single(op) => Values::from_slice(&[single_in_steps(s, &op, [arg(0), arg(1), arg(2)])]),
        Soft::Double(op) => Values::from(double_in_steps(s, &op, [pair(0), pair(1), pair(2)]).as_slice()),
        Soft::Convert(op) => Values::from(convert_in_steps(s, &op, pair(0)).as_slice()),
        Soft::Elementary(function) => Values::from_slice(&[elementary::single(s, function, arg(0))]),
        Soft::Zero => {
            zero_bytes(s, [arg(0), arg(1)]);
            Values::new()
        }
    }
}

/// Zeroes whole words first, then the remaining bytes.
fn zero_bytes(s: &mut Scalar<'_, '_, '_>, [start, bytes]: [Value; 2]) {
    let ends = [-32, -8, -1].map(|mask| s.b.ins().band_imm_s(bytes, mask));
    let [lines, words, after] = ends.map(|end| s.b.ins().iadd(start, end));
    for (from, to, ty, count) in [(start, lines, I64, 4), (lines, words, I64, 1), (words, after, I8, 1)] {
        let (head, body, done) = (s.b.create_block(), s.b.create_block(), s.b.create_block());
        let at = s.b.append_block_param(head, I64);
        s.b.ins().jump(head, &[from.into()]);
        s.b.switch_to_block(head);
        let more = s.b.ins().icmp(IntCC::NotEqual, at, to);
        s.b.ins().brif(more, body, &[], done, &[]);
        s.b.switch_to_block(body);
        let none = s.b.ins().iconst(ty, 0);
        let step = i32::try_from(ty.bytes()).unwrap_or(8);
        for k in 0..count {
            s.b.ins().store(here(), none, at, k * step);
        }
        let next = s.b.ins().iadd_imm_s(at, i64::from(count * step));
        s.b.ins().jump(head, &[next.into()]);
        s.b.switch_to_block(done);
    }
}

/// Returns the bits of the sum of two f64s, rounded to odd: the last bit of an inexact sum is one. A later rounding to
/// fewer than 52 bits then rounds as the exact sum does. The sum to nearest is that number or its neighbour. The error
/// of the sum, which is exact (Knuth), tells the side.
fn odd_sum(s: &mut Scalar<'_, '_, '_>, a: Value, b: Value) -> Value {
    let near = s.b.ins().fadd(a, b);
    let of_b = s.b.ins().fsub(near, a);
    let of_a = s.b.ins().fsub(near, of_b);
    let (less_a, less_b) = (s.b.ins().fsub(a, of_a), s.b.ins().fsub(b, of_b));
    let rest = s.b.ins().fadd(less_a, less_b);
    let zero = s.f64(0.0);
    // For infinities and NaN, both comparisons are false.
    let (below, above) =
        (s.b.ins().fcmp(FloatCC::LessThan, rest, zero), s.b.ins().fcmp(FloatCC::GreaterThan, rest, zero));
    let is_cut = s.b.ins().bor(below, above);
    let (bits, rest) = (s.cast(I64, near), s.cast(I64, rest));
    // The magnitude decreases if the error has the other sign.
    let signs = s.b.ins().bxor(bits, rest);
    let down = s.b.ins().ushr_imm_s(signs, 63);
    let toward = s.b.ins().isub(bits, down);
    let odd = s.b.ins().bor_imm_s(toward, 1);
    s.b.ins().select(is_cut, odd, bits)
}

/// Returns `a * b + c` of f32s with one rounding. The product is exact in f64, and the sum rounded to odd has 29 bits
/// more than the result.
pub(super) fn single_fma(s: &mut Scalar<'_, '_, '_>, operands: [Value; 3]) -> Value {
    let [a, b, c] = operands.map(|x| {
        let x = s.cast(F32, x);
        s.b.ins().fpromote(F64, x)
    });
    let product = s.b.ins().fmul(a, b);
    let sum = odd_sum(s, product, c);
    let sum = s.cast(F64, sum);
    let result = s.b.ins().fdemote(F32, sum);
    s.single_result(result)
}

/// Emits an operation on f64s. The machine rounds to nearest, but this function determines which NaN results.
pub(super) fn double(s: &mut Scalar<'_, '_, '_>, op: &FloatOp, operands: [[Value; 2]; 3]) -> [Value; 2] {
    if op.rounding != Rounding::Nearest || (op.kind == FloatKind::Fma && !s.library.features.fma) {
        let words: Values = operands.as_flattened().iter().copied().take(2 * op.kind.operands()).collect();
        let results = s.call(Soft::Double(*op), &words);
        return results.first_chunk().copied().unwrap_or(operands[0]);
    }
    let bits = operands.map(|words| s.join(words));
    let [a, b, c] = bits.map(|bits| s.cast(F64, bits));
    let result = match op.kind {
        FloatKind::Add => s.b.ins().fadd(a, b),
        FloatKind::Sub => s.b.ins().fsub(a, b),
        FloatKind::Mul => s.b.ins().fmul(a, b),
        FloatKind::Div => s.b.ins().fdiv(a, b),
        FloatKind::Sqrt => s.b.ins().sqrt(a),
        FloatKind::Fma => s.b.ins().fma(a, b, c),
    };
    let mut nan = s.constant(I64, 0xFFF8 << 48);
    for (x, bits) in [a, b, c].into_iter().zip(bits).take(op.kind.operands()).rev() {
        let is_nan = s.b.ins().fcmp(FloatCC::Unordered, x, x);
        let quiet = s.constant(I64, 1 << 51);
        let quiet = s.b.ins().bor(bits, quiet);
        nan = s.b.ins().select(is_nan, quiet, nan);
    }
    let is_nan = s.b.ins().fcmp(FloatCC::Unordered, result, result);
    let result = s.cast(I64, result);
    let result = s.b.ins().select(is_nan, nan, result);
    s.split(result)
}

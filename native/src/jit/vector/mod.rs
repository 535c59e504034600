//! Operations on four work items at a time, as vector instructions.

pub(crate) mod elements;
pub(crate) mod video;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I32X4};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::half::{Compare, NAN_F32};

use super::dataflow::Op;

/// Reinterprets a vector as lanes of another width.
pub(crate) fn cast(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    let mut flags = MemFlagsData::new();
    flags.set_endianness(Endianness::Little);
    if b.func.dfg.value_type(x) == ty { x } else { b.ins().bitcast(ty, flags, x) }
}

/// Returns a vector that repeats a word.
pub(crate) fn constant(b: &mut FunctionBuilder<'_>, ty: Type, word: u32) -> Value {
    let bytes: Vec<u8> = word.to_le_bytes().repeat(4);
    let constant = b.func.dfg.constants.insert(bytes.into());
    b.ins().vconst(ty, constant)
}

/// Emits an operation that Cranelift supports on integers and on vectors of integers. Returns `None` for other
/// operations.
pub(crate) fn integer(b: &mut FunctionBuilder<'_>, op: &Op, x: Value, y: Value) -> Option<Value> {
    Some(match op {
        Op::And | Op::Both => b.ins().band(x, y),
        Op::Or | Op::Either => b.ins().bor(x, y),
        Op::Xor | Op::Differ => b.ins().bxor(x, y),
        Op::Add => b.ins().iadd(x, y),
        Op::Sub => b.ins().isub(x, y),
        Op::Mul => b.ins().imul(x, y),
        Op::Equal => b.ins().icmp(IntCC::Equal, x, y),
        Op::Less(true) => b.ins().icmp(IntCC::SignedLessThan, x, y),
        Op::Less(false) => b.ins().icmp(IntCC::UnsignedLessThan, x, y),
        _ => return None,
    })
}

/// Emits a comparison of floats or of vectors of floats. Returns `None` for comparisons that have no name.
pub(crate) fn compare(b: &mut FunctionBuilder<'_>, compare: Compare, x: Value, y: Value) -> Option<Value> {
    let simple = match compare {
        Compare::LT => FloatCC::LessThan,
        Compare::EQ => FloatCC::Equal,
        Compare::LE => FloatCC::LessThanOrEqual,
        Compare::GT => FloatCC::GreaterThan,
        Compare::GE => FloatCC::GreaterThanOrEqual,
        Compare::NUM => FloatCC::Ordered,
        Compare::NAN => FloatCC::Unordered,
        Compare::LTU => FloatCC::UnorderedOrLessThan,
        Compare::LEU => FloatCC::UnorderedOrLessThanOrEqual,
        Compare::GTU => FloatCC::UnorderedOrGreaterThan,
        Compare::GEU => FloatCC::UnorderedOrGreaterThanOrEqual,
        Compare::NEU => FloatCC::NotEqual,
        other => {
            let pair = match other {
                Compare::NE => [FloatCC::LessThan, FloatCC::GreaterThan],
                Compare::EQU => [FloatCC::Equal, FloatCC::Unordered],
                _ => return None,
            };
            let [one, other] = pair.map(|code| b.ins().fcmp(code, x, y));
            return Some(b.ins().bor(one, other));
        }
    };
    Some(b.ins().fcmp(simple, x, y))
}

/// Returns the comparison of floats in vectors: all ones or zero in each lane.
pub(crate) fn compare_lanes(b: &mut FunctionBuilder<'_>, compare: Compare, [x, y]: [Value; 2]) -> Value {
    // Cranelift lacks the vector comparisons on AArch64 that hold for NaN.
    let opposite = match compare {
        Compare::LTU => Some(Compare::GE),
        Compare::LEU => Some(Compare::GT),
        Compare::GTU => Some(Compare::LE),
        Compare::GEU => Some(Compare::LT),
        _ => None,
    };
    if let Some(holds) = opposite.and_then(|opposite| self::compare(b, opposite, x, y)) {
        return b.ins().bnot(holds);
    }
    // The comparisons that never and that always hold have no name.
    let other = if compare.code() == 0 { 0 } else { u32::MAX };
    self::compare(b, compare, x, y).unwrap_or_else(|| constant(b, I32X4, other))
}

/// Emits an operation on vectors. Truth values are all ones or zero.
pub(crate) fn compute(b: &mut FunctionBuilder<'_>, op: Op, [x, y, z]: [Value; 3]) -> Value {
    let float = |b: &mut FunctionBuilder<'_>, x: Value| cast(b, F32X4, x);
    if let Some(result) = integer(b, &op, x, y) {
        return result;
    }
    match op {
        Op::Not | Op::Negate => b.ins().bnot(x),
        Op::Select | Op::Choose => b.ins().bitselect(x, y, z),
        Op::Video(op) => video::video(b, &op, x, y, z),
        Op::Bytes(select) => {
            let bytes = video::bytes(b, x, y, select);
            cast(b, I32X4, bytes)
        }
        Op::FCompare(compare) => {
            let (x, y) = (float(b, x), float(b, y));
            compare_lanes(b, compare, [x, y])
        }
        Op::IntToFloat(signed) => {
            let result = if signed { b.ins().fcvt_from_sint(F32X4, x) } else { b.ins().fcvt_from_uint(F32X4, x) };
            cast(b, I32X4, result)
        }
        op if has_any_nan(op) => {
            let result = compute_float(b, op, [x, y, z]);
            one_nan(b, result)
        }
        Op::FloatToInt(signed) => {
            let x = float(b, x);
            if signed { b.ins().fcvt_to_sint_sat(I32X4, x) } else { b.ins().fcvt_to_uint_sat(I32X4, x) }
        }
        // Other operations are calls or leaves.
        _ => cast(b, I32X4, x),
    }
}

/// Returns `true` if the operation is on floats and makes a NaN result canonical.
pub(crate) fn has_any_nan(op: Op) -> bool {
    matches!(op, Op::FAdd | Op::FMul | Op::Fma | Op::FDiv | Op::FSqrt)
}

/// Returns `true` if an operation treats all NaNs alike, so that its operands need not be canonical.
pub(crate) fn takes_any_nan(op: Op) -> bool {
    has_any_nan(op) || matches!(op, Op::FCompare(_) | Op::FloatToInt(_))
}

/// Emits a float operation without making NaNs canonical.
pub(crate) fn compute_float(b: &mut FunctionBuilder<'_>, op: Op, values: [Value; 3]) -> Value {
    let [x, y, z] = values.map(|value| cast(b, F32X4, value));
    match op {
        Op::FAdd => b.ins().fadd(x, y),
        Op::FMul => b.ins().fmul(x, y),
        Op::FDiv => b.ins().fdiv(x, y),
        Op::FSqrt => b.ins().sqrt(x),
        _ => b.ins().fma(x, y, z),
    }
}

/// Makes NaNs canonical.
pub(crate) fn one_nan(b: &mut FunctionBuilder<'_>, value: Value) -> Value {
    let value = cast(b, F32X4, value);
    let nan = b.ins().fcmp(FloatCC::Unordered, value, value);
    let (value, canonical) = (cast(b, I32X4, value), constant(b, I32X4, NAN_F32));
    b.ins().bitselect(nan, canonical, value)
}

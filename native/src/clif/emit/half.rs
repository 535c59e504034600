//! Conversions of binary16 numbers, which Cranelift lacks, and fused multiply-add.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, F64X2, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::half::Rounding;

use crate::jit::{cast, constant};

/// Returns `words & mask`.
fn bits_of(b: &mut FunctionBuilder<'_>, words: Value, mask: u32) -> Value {
    let mask = constant(b, I32X4, mask);
    b.ins().band(words, mask)
}

/// Returns the floats of binary16 numbers in the low 16 bits of words.
pub(super) fn widen(b: &mut FunctionBuilder<'_>, halves: Value) -> Value {
    let magnitude = bits_of(b, halves, 0x7FFF);
    let bits = b.ins().ishl_imm_s(magnitude, 13);
    // The exponent biases differ by 112, so that the scale is 2^112.
    let (float, scale) = (cast(b, F32X4, bits), constant(b, F32X4, 0x7780_0000));
    let scaled = b.ins().fmul(float, scale);
    let scaled = cast(b, I32X4, scaled);
    let infinity = constant(b, I32X4, 0x7F80_0000);
    let large = b.ins().bor(bits, infinity);
    let limit = constant(b, I32X4, 0x7BFF);
    let is_large = b.ins().icmp(IntCC::SignedGreaterThan, magnitude, limit);
    let result = b.ins().bitselect(is_large, large, scaled);
    let sign = bits_of(b, halves, 0x8000);
    let sign = b.ins().ishl_imm_s(sign, 16);
    b.ins().bor(result, sign)
}

/// Returns the binary16 numbers of floats, in the low 16 bits of words.
pub(super) fn narrow(b: &mut FunctionBuilder<'_>, rounding: Rounding, float: Value) -> Value {
    let word = |b: &mut FunctionBuilder<'_>, word| constant(b, I32X4, word);
    let high = b.ins().ushr_imm_s(float, 16);
    let sign = bits_of(b, high, 0x8000);
    let magnitude = bits_of(b, float, 0x7FFF_FFFF);
    let infinity = word(b, 0x7F80_0000);
    let is_nan = b.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinity);
    // 2^16 and above become infinity.
    let most = word(b, 0x4780_0000);
    let limited = b.ins().umin(magnitude, most);
    let last = b.ins().ushr_imm_s(limited, 13);
    let odd = bits_of(b, last, 1);
    let bias = word(b, 0xFFF_u32.wrapping_sub(0x3800_0000));
    let normal = b.ins().iadd(limited, bias);
    let normal = b.ins().iadd(normal, odd);
    let normal = b.ins().ushr_imm_s(normal, 13);
    // The last bit of the sum with 0.5 has the weight of the last bit of a subnormal binary16 number.
    let (small, half) = (cast(b, F32X4, limited), constant(b, F32X4, 0x3F00_0000));
    let sum = b.ins().fadd(small, half);
    let (sum, half) = (cast(b, I32X4, sum), word(b, 0x3F00_0000));
    let subnormal = b.ins().isub(sum, half);
    let least = word(b, 0x3880_0000);
    let is_small = b.ins().icmp(IntCC::SignedLessThan, limited, least);
    let mut result = b.ins().bitselect(is_small, subnormal, normal);
    if rounding != Rounding::Nearest {
        let back = widen(b, result);
        let is_over = b.ins().icmp(IntCC::SignedGreaterThan, back, magnitude);
        let is_under = b.ins().icmp(IntCC::SignedLessThan, back, magnitude);
        let [down, up] = [b.ins().iadd(result, is_over), b.ins().isub(result, is_under)];
        let is_negative = b.ins().sshr_imm_s(float, 31);
        result = match rounding {
            Rounding::Up => b.ins().bitselect(is_negative, down, up),
            Rounding::Down => b.ins().bitselect(is_negative, up, down),
            Rounding::Zero | Rounding::Nearest => down,
        };
    }
    let result = b.ins().bor(result, sign);
    let nan = word(b, 0x7E00);
    b.ins().bitselect(is_nan, nan, result)
}

/// Returns `x * y + z` of the floats in two vectors of two `f64`, each rounded once to `f32`.
pub(super) fn multiply_add(b: &mut FunctionBuilder<'_>, [x, y, z]: [Value; 3]) -> Value {
    // The product is exact. The sum is rounded to odd, so that the second rounding has the result of a single rounding.
    let product = b.ins().fmul(x, y);
    let sum = b.ins().fadd(product, z);
    let near = b.ins().fsub(sum, product);
    let rest = b.ins().fsub(sum, near);
    let of_product = b.ins().fsub(product, rest);
    let of_z = b.ins().fsub(z, near);
    let error = b.ins().fadd(of_product, of_z);
    let zero = constant(b, F64X2, 0);
    let is_less = b.ins().fcmp(FloatCC::LessThan, error, zero);
    let is_more = b.ins().fcmp(FloatCC::GreaterThan, error, zero);
    let is_inexact = b.ins().bor(is_less, is_more);
    let (bits, error) = (cast(b, I64X2, sum), cast(b, I64X2, error));
    let one = b.ins().iconst(cranelift_codegen::ir::types::I64, 1);
    let one = b.ins().splat(I64X2, one);
    let unlike = b.ins().bxor(bits, error);
    let down = b.ins().sshr_imm_s(unlike, 63);
    let step = b.ins().bor(down, one);
    let last = b.ins().band(bits, one);
    let is_even = b.ins().isub(last, one);
    let step = b.ins().band(step, is_even);
    let step = b.ins().band(step, is_inexact);
    let odd = b.ins().iadd(bits, step);
    let odd = cast(b, F64X2, odd);
    b.ins().fvdemote(odd)
}

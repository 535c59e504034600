//! Semantics of instructions as scalar Cranelift instructions. The values of one item are in
//! registers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I8, I32, I64};
use cranelift_codegen::ir::{Endianness, FuncRef, InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use halfbyte_isa::approx::Function;
use halfbyte_isa::half::{Compare, Format, NAN_F32, Rounding};
use halfbyte_isa::halu::domain::{
    Conversion, Divide, Domain, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, single_in_steps,
};
use smallvec::SmallVec;

use super::library::Library;
use super::soft::{self, Soft};
use crate::jit::{Op, compare, integer};

/// Builder of a function, with the library of functions that it may call.
pub(super) struct Scalar<'a, 'f, 'm> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub library: &'a mut Library<'m>,
    /// The called functions, and their references in this function.
    called: Vec<(FuncId, FuncRef)>,
}

/// Operands or results of a soft function.
pub(super) type Values = SmallVec<[Value; 6]>;

impl<'a, 'f, 'm> Scalar<'a, 'f, 'm> {
    pub fn new(b: &'a mut FunctionBuilder<'f>, library: &'a mut Library<'m>) -> Scalar<'a, 'f, 'm> {
        Scalar { b, library, called: Vec::new() }
    }

    /// Returns the same bits as another type.
    pub fn cast(&mut self, ty: Type, x: Value) -> Value {
        cast(self.b, ty, x)
    }

    pub fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.b.ins().iconst(ty, value.cast_signed())
    }

    pub fn f64(&mut self, value: f64) -> Value {
        self.b.ins().f64const(value)
    }

    /// Calls a soft function, which is added to the object at its first call.
    pub fn call(&mut self, soft: Soft, args: &[Value]) -> Values {
        let id = self.library.function(soft);
        let Some(id) = id else { return args.iter().copied().cycle().take(soft.results()).collect() };
        let callee = match self.called.iter().find(|(called, _)| *called == id) {
            Some(&(_, callee)) => callee,
            None => {
                let callee = self.library.import(id, self.b.func);
                self.called.push((id, callee));
                callee
            }
        };
        let call = self.b.ins().call(callee, args);
        self.b.inst_results(call).iter().copied().collect()
    }

    fn call_one(&mut self, soft: Soft, args: &[Value]) -> Value {
        let results = self.call(soft, args);
        results.first().or(args.first()).copied().unwrap_or_else(|| self.word(0))
    }

    /// Returns the result of an operation on f32s as bits, with the canonical NaN for any NaN.
    pub fn single_result(&mut self, x: Value) -> Value {
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        let bits = self.cast(I32, x);
        let nan = self.word(NAN_F32);
        self.b.ins().select(is_nan, nan, bits)
    }

    /// Returns the low half and the high half of a word, each in a word of its own.
    pub fn halves(&mut self, x: Value) -> [Value; 2] {
        [self.b.ins().band_imm_s(x, 0xFFFF), self.b.ins().ushr_imm_s(x, 16)]
    }

    /// Applies a function to both halves of words.
    pub fn lanes<const N: usize>(
        &mut self,
        words: [Value; N],
        mut each: impl FnMut(&mut Self, [Value; N]) -> Value,
    ) -> Value {
        let halves = words.map(|word| self.halves(word));
        let low = each(self, halves.map(|[low, _]| low));
        let high = each(self, halves.map(|[_, high]| high));
        let high = self.b.ins().ishl_imm_s(high, 16);
        self.b.ins().bor(low, high)
    }

    /// Returns a permutation of the eight bytes of two words. Byte i of the result is selected by `select[i]`.
    pub fn bytes(&mut self, x: Value, y: Value, select: [u8; 4]) -> Value {
        // Bytes that move by the same distance are moved together.
        let mut moves: SmallVec<[(bool, i32, u32); 4]> = SmallVec::new();
        for (to, from) in (0i32..).zip(select) {
            let (second, by, mask) = (from & 4 != 0, to - i32::from(from & 3), 0xFF << (8 * to));
            match moves.iter_mut().find(|(word, moved, _)| (*word, *moved) == (second, by)) {
                Some((.., bytes)) => *bytes |= mask,
                None => moves.push((second, by, mask)),
            }
        }
        let mut all = None;
        for (second, by, mask) in moves {
            let word = if second { y } else { x };
            let count = i64::from(8 * by.abs());
            let (moved, left) = match by.signum() {
                0 => (word, u32::MAX),
                1 => (self.b.ins().ishl_imm_s(word, count), u32::MAX << count),
                _ => (self.b.ins().ushr_imm_s(word, count), u32::MAX >> count),
            };
            let part = if mask == left { moved } else { self.b.ins().band_imm_s(moved, i64::from(mask.cast_signed())) };
            all = Some(all.map_or(part, |all| self.b.ins().bor(all, part)));
        }
        all.unwrap_or(x)
    }

    /// Returns a pair of words as a 64-bit value.
    pub fn join(&mut self, [low, high]: [Value; 2]) -> Value {
        let (low, high) = (self.b.ins().uextend(I64, low), self.b.ins().uextend(I64, high));
        let high = self.b.ins().ishl_imm_s(high, 32);
        self.b.ins().bor(low, high)
    }

    /// Returns a 64-bit value as a pair of words.
    pub fn split(&mut self, x: Value) -> [Value; 2] {
        let high = self.b.ins().ushr_imm_s(x, 32);
        [self.b.ins().ireduce(I32, x), self.b.ins().ireduce(I32, high)]
    }

    fn integer(&mut self, op: Op, x: Value, y: Value) -> Value {
        integer(self.b, &op, x, y).unwrap_or(x)
    }
}

/// Returns the same bits as another type.
fn cast(b: &mut FunctionBuilder<'_>, ty: Type, x: Value) -> Value {
    let mut flags = MemFlagsData::new();
    flags.set_endianness(Endianness::Little);
    if b.func.dfg.value_type(x) == ty { x } else { b.ins().bitcast(ty, flags, x) }
}

impl Domain for Scalar<'_, '_, '_> {
    type Word = Value;
    type Pred = Value;

    fn word(&mut self, value: u32) -> Value {
        self.b.ins().iconst(I32, i64::from(value))
    }

    fn truth(&mut self, value: bool) -> Value {
        self.b.ins().iconst(I8, i64::from(value))
    }

    fn and(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::And, a, b)
    }

    fn or(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Or, a, b)
    }

    fn xor(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Xor, a, b)
    }

    fn not(&mut self, a: Value) -> Value {
        self.b.ins().bnot(a)
    }

    // Cranelift shift counts are modulo the width, too.
    fn shl(&mut self, a: Value, count: Value) -> Value {
        self.b.ins().ishl(a, count)
    }

    fn shr(&mut self, a: Value, count: Value) -> Value {
        self.b.ins().ushr(a, count)
    }

    fn sar(&mut self, a: Value, count: Value) -> Value {
        self.b.ins().sshr(a, count)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Add, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Sub, a, b)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Mul, a, b)
    }

    fn mul_high(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| if signed { self.b.ins().sextend(I64, x) } else { self.b.ins().uextend(I64, x) });
        let product = self.b.ins().imul(a, b);
        self.split(product)[1]
    }

    fn divide(&mut self, op: Divide, a: Value, b: Value) -> Value {
        let mut is_odd = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let is_zero = is_odd;
        if op.signed {
            // The least integer divided by -1 is itself, with remainder 0, as if divided by 1.
            let least = self.b.ins().icmp_imm_s(IntCC::Equal, a, i64::from(i32::MIN));
            let minus = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let overflows = self.b.ins().band(least, minus);
            is_odd = self.b.ins().bor(is_odd, overflows);
        }
        let one = self.word(1);
        let by = self.b.ins().select(is_odd, one, b);
        let result = match (op.signed, op.remainder) {
            (false, false) => self.b.ins().udiv(a, by),
            (false, true) => self.b.ins().urem(a, by),
            (true, false) => self.b.ins().sdiv(a, by),
            (true, true) => self.b.ins().srem(a, by),
        };
        let all = self.word(u32::MAX);
        self.b.ins().select(is_zero, all, result)
    }

    fn equal(&mut self, a: Value, b: Value) -> Value {
        self.integer(Op::Equal, a, b)
    }

    fn less(&mut self, signed: bool, a: Value, b: Value) -> Value {
        self.integer(Op::Less(signed), a, b)
    }

    fn both(&mut self, p: Value, q: Value) -> Value {
        self.integer(Op::Both, p, q)
    }

    fn either(&mut self, p: Value, q: Value) -> Value {
        self.integer(Op::Either, p, q)
    }

    fn differ(&mut self, p: Value, q: Value) -> Value {
        self.integer(Op::Differ, p, q)
    }

    fn negate(&mut self, p: Value) -> Value {
        self.b.ins().bxor_imm_s(p, 1)
    }

    fn select(&mut self, p: Value, a: Value, b: Value) -> Value {
        self.b.ins().select(p, a, b)
    }

    fn fadd(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| self.cast(F32, x));
        let result = self.b.ins().fadd(a, b);
        self.single_result(result)
    }

    fn fmul(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| self.cast(F32, x));
        let result = self.b.ins().fmul(a, b);
        self.single_result(result)
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        if !self.library.features.fma {
            return soft::single_fma(self, [a, b, c]);
        }
        let [a, b, c] = [a, b, c].map(|x| self.cast(F32, x));
        let result = self.b.ins().fma(a, b, c);
        self.single_result(result)
    }

    fn fdiv(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| self.cast(F32, x));
        let result = self.b.ins().fdiv(a, b);
        self.single_result(result)
    }

    fn fsqrt(&mut self, a: Value) -> Value {
        let a = self.cast(F32, a);
        let result = self.b.ins().sqrt(a);
        self.single_result(result)
    }

    fn elementary(&mut self, function: Function, a: Value) -> Value {
        self.call_one(Soft::Elementary(function), &[a])
    }

    fn fcompare(&mut self, with: Compare, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| self.cast(F32, x));
        self.relation(with, a, b)
    }

    fn int_to_float(&mut self, signed: bool, a: Value) -> Value {
        let result = if signed { self.b.ins().fcvt_from_sint(F32, a) } else { self.b.ins().fcvt_from_uint(F32, a) };
        self.cast(I32, result)
    }

    fn float_to_int(&mut self, signed: bool, a: Value) -> Value {
        let a = self.cast(F32, a);
        if signed { self.b.ins().fcvt_to_sint_sat(I32, a) } else { self.b.ins().fcvt_to_uint_sat(I32, a) }
    }

    fn narrow(&mut self, format: Format, rounding: Rounding, a: Value) -> Value {
        soft::narrow_single(self, format, rounding, a)
    }

    fn widen(&mut self, format: Format, a: Value) -> Value {
        soft::widen_to_single(self, format, a)
    }

    fn single(&mut self, op: &FloatOp, [a, b, c]: [Value; 3]) -> Value {
        if op.rounding != Rounding::Nearest {
            return self.call_one(Soft::Single(*op), &[a, b, c]);
        }
        single_in_steps(self, op, [a, b, c])
    }

    fn double(&mut self, op: &FloatOp, [a, b, c]: [[Value; 2]; 3]) -> [Value; 2] {
        soft::double(self, op, [a, b, c])
    }

    fn convert(&mut self, op: &Conversion, a: [Value; 2]) -> [Value; 2] {
        let results = self.call(Soft::Convert(*op), &a);
        results.first_chunk().copied().unwrap_or(a)
    }

    fn half(&mut self, op: &HalfOp, a: Value, b: Value, c: Value) -> Value {
        match op.kind {
            HalfKind::Fma => self.call_one(Soft::Half(*op), &[a, b, c]),
            HalfKind::Add | HalfKind::Mul => self.call_one(Soft::Half(*op), &[a, b]),
        }
    }

    fn half_minmax(&mut self, op: &HalfMinMax, min: Value, a: Value, b: Value) -> Value {
        soft::half_minmax(self, op, min, [a, b])
    }

    fn half_compare(&mut self, op: &HalfCompare, a: Value, b: Value) -> [Value; 2] {
        soft::half_compare(self, op, [a, b])
    }
}

impl Scalar<'_, '_, '_> {
    /// Compares two floats of the same type.
    pub fn relation(&mut self, with: Compare, a: Value, b: Value) -> Value {
        match compare(self.b, with, a, b) {
            Some(holds) => holds,
            // The comparisons that are never or always true have no float condition.
            None => self.truth(with.code() != 0),
        }
    }
}

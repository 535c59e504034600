//! Import of floating-point instructions.

use halfbyte_ir::{Clamp, FloatCC, FloatFlags, Op, Rounding, Type, Value};
use halfbyte_isa::approx::Function;
use halfbyte_isa::ptx::types::{Token, Type as PtxType};
use halfbyte_isa::ptx::{Inst, Opcode, Operand};

use crate::builder::Import;
use crate::domain::elementary;
use crate::types::{integer, of_ptx};

impl Import<'_> {
    /// Imports a floating-point instruction that has a corresponding op. Returns `false` for other instructions.
    pub(crate) fn float(&mut self, inst: &Inst) -> bool {
        use Opcode::*;
        let value = match inst.opcode {
            ADD_F16 | ADD_BF16 | ADD_F32 | ADD_F64 => self.arithmetic(inst, Op::Fadd),
            SUB_F16 | SUB_BF16 | SUB_F32 | SUB_F64 => self.arithmetic(inst, Op::Fsub),
            MUL_F16 | MUL_BF16 | MUL_F32 | MUL_F64 => self.arithmetic(inst, Op::Fmul),
            FMA_F16 | FMA_BF16 | FMA_F32 | MAD_F32 | FMA_F64 | MAD_F64 => self.arithmetic(inst, Op::Ffma),
            MIN_F16 | MIN_BF16 | MIN_F32 | MIN_F64 => self.arithmetic(inst, Op::Fmin),
            MAX_F16 | MAX_BF16 | MAX_F32 | MAX_F64 => self.arithmetic(inst, Op::Fmax),
            NEG_F16 | NEG_BF16 | NEG_F32 | NEG_F64 => self.plain(inst, Op::Fneg),
            ABS_F16 | ABS_BF16 | ABS_F32 | ABS_F64 => self.plain(inst, Op::Fabs),
            DIV_F32 | DIV_F64 => self.arithmetic(inst, Op::Fdiv),
            SQRT_F32 | SQRT_F64 => self.arithmetic(inst, Op::Fsqrt),
            SQRT_APPROX_F32 if !self.keeps_intrinsics => self.plain(inst, Op::Fsqrt),
            RSQRT_F32 => self.plain(inst, elementary(Function::Rsqrt)),
            SIN_F32 => self.plain(inst, elementary(Function::Sin)),
            COS_F32 => self.plain(inst, elementary(Function::Cos)),
            LG2_F32 => self.plain(inst, elementary(Function::Lg2)),
            EX2_F32 | EX2_F16 => self.plain(inst, elementary(Function::Ex2)),
            TANH_F32 | TANH_F16 | TANH_BF16 => self.plain(inst, elementary(Function::Tanh)),
            SETP_F32 | SETP_F16 | SETP_BF16 | SETP_F64 => {
                let Some(p) = self.float_compare(inst, inst.ty(0)) else { return false };
                self.define_predicates(inst, p);
                return true;
            }
            SETP_F16X2 | SETP_BF16X2 => {
                let Some(mask) = self.float_compare(inst, inst.ty(0)) else { return false };
                self.define_lanes(inst, mask);
                return true;
            }
            SET_F32 | SET_F16 | SET_BF16 | SET_F64 => self.float_compare(inst, inst.ty(1)).map(|p| {
                let p = self.combined(inst, p);
                self.truth(inst, p)
            }),
            SET_F16X2 | SET_BF16X2 => self.set_lanes(inst),
            CVT_F16_F32 | CVT_F16_F32_RELU | CVT_BF16_F32 | CVT_F32_F16 | CVT_F32_BF16 | CVT_F32_F64 | CVT_F16_F64
            | CVT_F64_F32 | CVT_F64_F16 => self.float_to_float(inst),
            CVT_F32_INT | CVT_F16_INT | CVT_BF16_INT | CVT_F64_INT => self.int_to_float(inst),
            CVT_INT_F32 | CVT_INT_F16 | CVT_INT_BF16 | CVT_INT_F64 => self.float_to_int(inst),
            CVT_F16X2_F32 => self.two_halves(inst),
            _ => return false,
        };
        let Some(value) = value else { return false };
        self.result(inst, value);
        true
    }

    /// Returns the float flags of the IR for the modifiers of `inst`. Returns `None` for an f32 instruction with `.ftz`
    /// or `.sat`, which the ops do not support. `.relu` is handled separately.
    fn flags(&self, inst: &Inst, ty: Type) -> Option<FloatFlags> {
        let clamp = if inst.has(Token::Sat) { Clamp::Sat } else { Clamp::None };
        let (rounding, ftz, nan) = (Self::rounding(inst), inst.has(Token::Ftz), inst.has(Token::Nan));
        let flags = FloatFlags { rounding, ftz, clamp, nan, contract: false };
        (ty != Type::F32 || !flags.ftz && clamp == Clamp::None).then_some(flags)
    }

    fn arithmetic(&mut self, inst: &Inst, op: Op) -> Option<Value> {
        let ty = of_ptx(inst.ty(0))?;
        let mut flags = self.flags(inst, ty)?;
        // Flushing the product to zero prevents its fusion with a sum.
        let flushes_apart = flags.ftz && matches!(op, Op::Fmul | Op::Ffma);
        if self.fusable.contains(&self.number) {
            flags.contract = self.contract && !flushes_apart;
            if self.keeps_intrinsics && !self.contract {
                return None;
            }
        }
        let args: Vec<Value> = (1..inst.operands.len()).map(|i| self.operand(inst, i, ty)).collect();
        let mut value = self.code.builder.float(op, ty, flags, &args);
        if flushes_apart {
            value = self.zero_if_tiny(op, ty, &args, value);
        }
        Some(self.rectified(inst, ty, value))
    }

    /// Returns `rounded`, with zeros of the same sign in the lanes whose exact result is below the least normal number.
    /// Unlike this test, `ftz` of the IR tests the rounded result. A lane's exact result is below the least normal
    /// number if and only if the result with truncation and `ftz` is zero.
    fn zero_if_tiny(&mut self, op: Op, ty: Type, args: &[Value], rounded: Value) -> Value {
        let flags = FloatFlags { rounding: Rounding::Rz, ftz: true, ..FloatFlags::default() };
        let truncated = self.code.builder.float(op, ty, flags, args);
        let zero = self.code.constant(ty, 0);
        let kept = self.code.builder.fcmp(Op::Fset, FloatCC::Neu, false, ty, truncated, zero);
        self.code.builder.float(Op::Fmul, ty, FloatFlags::default(), &[rounded, kept])
    }

    /// Applies `.relu` to a value by a maximum with +0. `relu` of the IR would keep -0.
    fn rectified(&mut self, inst: &Inst, ty: Type, value: Value) -> Value {
        if !inst.has(Token::Relu) {
            return value;
        }
        let (flags, zero) = (FloatFlags { nan: true, ..FloatFlags::default() }, self.code.constant(ty, 0));
        self.code.builder.float(Op::Fmax, ty, flags, &[value, zero])
    }

    /// Emits an op without flags. Returns `None` if the instruction has `.ftz`, which the op does not support.
    fn plain(&mut self, inst: &Inst, op: Op) -> Option<Value> {
        let ty = of_ptx(inst.ty(0))?;
        (!inst.has(Token::Ftz)).then(|| self.lanewise(inst, op, ty))
    }

    /// Emits a comparison, whose result is a truth value, or one truth value per lane. Returns
    /// `None` if the IR has no such comparison.
    fn float_compare(&mut self, inst: &Inst, of: PtxType) -> Option<Value> {
        let ty = of_ptx(of)?;
        let ftz = inst.has(Token::Ftz);
        if ty == Type::F32 && ftz {
            return None;
        }
        // The comparison operator is the first modifier. A later modifier may have the name of
        // another comparison operator.
        let cc = inst.modifiers.first().and_then(|token| FloatCC::from_name(token.text()))?;
        let (a, b) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty));
        Some(self.code.builder.fcmp(Op::Fcmp, cc, ftz, ty, a, b))
    }

    /// Writes the two lanes of a comparison result to two predicates. Each lane is combined with
    /// the boolean operand, if there is one.
    fn define_lanes(&mut self, inst: &Inst, mask: Value) {
        let regs = match inst.operands.first() {
            Some(&Operand::Pair(regs)) => regs,
            Some(&Operand::Register(reg)) => [Some(reg), None],
            _ => return,
        };
        for (lane, reg) in (0..).zip(regs) {
            let Some(reg) = reg else { continue };
            let p = self.code.builder.lane(Op::Extract, Type::I1X2, &[mask], lane);
            let p = self.combined(inst, p);
            self.define(reg, p);
        }
    }

    /// Emits a `set` of two lanes, whose result is a packed value. Returns `None` if the
    /// instruction has a boolean operand.
    fn set_lanes(&mut self, inst: &Inst) -> Option<Value> {
        if [Token::And, Token::Or, Token::Xor].into_iter().any(|token| inst.has(token)) {
            return None;
        }
        let (to, from) = (of_ptx(inst.ty(0))?, of_ptx(inst.ty(1))?);
        if to == from {
            let cc = inst.modifiers.first().and_then(|token| FloatCC::from_name(token.text()))?;
            let (a, b) = (self.operand(inst, 1, from), self.operand(inst, 2, from));
            return Some(self.code.builder.fcmp(Op::Fset, cc, inst.has(Token::Ftz), from, a, b));
        }
        let mask = self.float_compare(inst, inst.ty(1))?;
        Some(self.code.op(Op::MaskExpand, Type::I16X2, &[mask]))
    }

    fn rounding(inst: &Inst) -> Rounding {
        match () {
            () if inst.has(Token::Rz) => Rounding::Rz,
            () if inst.has(Token::Rm) => Rounding::Rm,
            () if inst.has(Token::Rp) => Rounding::Rp,
            () => Rounding::Rn,
        }
    }

    fn converted(&mut self, inst: &Inst, op: Op, from: Type) -> Option<Value> {
        if [Token::Ftz, Token::Sat, Token::Satfinite].into_iter().any(|token| inst.has(token)) {
            return None;
        }
        let to = of_ptx(inst.ty(0))?;
        let value = self.operand(inst, 1, from);
        let value = self.round(inst, op, to, value);
        Some(self.rectified(inst, to, value))
    }

    fn round(&mut self, inst: &Inst, op: Op, to: Type, value: Value) -> Value {
        let flags = FloatFlags { rounding: Self::rounding(inst), ..FloatFlags::default() };
        self.code.builder.float(op, to, flags, &[value])
    }

    fn float_to_float(&mut self, inst: &Inst) -> Option<Value> {
        self.converted(inst, Op::Fcvt, of_ptx(inst.ty(1))?)
    }

    /// Emits a conversion of an integer to a float with one rounding. The integer has at most 32
    /// bits, or 64 bits if the result is an f64.
    fn int_to_float(&mut self, inst: &Inst) -> Option<Value> {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let width = if from.bits() <= 32 { 32 } else { 64 };
        if width > 32 && to != PtxType::F64 || inst.has(Token::Sat) || inst.has(Token::Ftz) {
            return None;
        }
        let value = self.operand(inst, 1, integer(from.bits()));
        let value = self.extended(value, from, width);
        let op = if from.is_signed() { Op::FcvtFromS } else { Op::FcvtFromU };
        Some(self.round(inst, op, of_ptx(to)?, value))
    }

    /// Emits a conversion of a float to an integer with truncation. The integer has 32 bits, or 64
    /// bits if the float is an f64.
    fn float_to_int(&mut self, inst: &Inst) -> Option<Value> {
        let to = inst.ty(0);
        let fits = to.bits() == 32 || to.bits() == 64 && inst.ty(1) == PtxType::F64;
        if !fits || !inst.has(Token::Rzi) || inst.has(Token::Ftz) {
            return None;
        }
        let register = match inst.operands.first() {
            Some(&Operand::Register(reg)) => self.function.entry.body.registers.held(reg).map_or(32, PtxType::bits),
            _ => 32,
        };
        let value = self.operand(inst, 1, of_ptx(inst.ty(1))?);
        let op = if to.is_signed() { Op::FcvtToS } else { Op::FcvtToU };
        let value = self.code.op(op, integer(to.bits()), &[value]);
        Some(self.extended(value, to, register))
    }

    /// Emits a conversion of two floats to packed halves. The first float becomes the high half.
    /// Returns `None` for `.satfinite`.
    fn two_halves(&mut self, inst: &Inst) -> Option<Value> {
        if inst.has(Token::Satfinite) {
            return None;
        }
        let ty = of_ptx(inst.ty(0))?;
        let [high, low] = [1, 2].map(|i| {
            let value = self.operand(inst, i, Type::F32);
            self.round(inst, Op::Fcvt, ty.lane_type(), value)
        });
        let both = self.code.op(Op::Concat, ty, &[low, high]);
        Some(self.rectified(inst, ty, both))
    }
}

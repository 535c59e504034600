//! The IR builder as a [`Domain`], in which the semantics of an instruction emits ops.
//!
//! An instruction without a corresponding op is imported by evaluating its semantics, which is generic over a
//! [`Domain`]. In this domain, words are values of type `i32` and truth values are of type `i1`. Constants are folded,
//! so that only those ops are emitted that the operands of the instruction need.

use std::collections::HashMap;

use halfbyte_ir::builder::Builder;
use halfbyte_ir::{Attr, Clamp, FloatCC, FloatFlags, IntCC, Op, Rounding, Type, Value};
use halfbyte_isa::approx::Function;
use halfbyte_isa::half::{self, Compare, Format};
use halfbyte_isa::halu::domain::{
    Conversion, Divide, Domain, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, NumberFormat,
    convert_in_steps,
};

/// IR builder with a cache of the constants and casts that the current block contains.
pub(crate) struct IrBuilder {
    pub builder: Builder,
    constants: HashMap<(Type, u64), Value>,
    casts: HashMap<(Value, Type), Value>,
}

impl IrBuilder {
    pub(crate) fn new(builder: Builder) -> IrBuilder {
        IrBuilder { builder, constants: HashMap::new(), casts: HashMap::new() }
    }

    /// Continues in another block and clears the cache of constants and casts.
    pub(crate) fn go_to(&mut self, block: halfbyte_ir::Block) {
        self.builder.go_to(block);
        self.constants.clear();
        self.casts.clear();
    }

    /// Returns the type of a value.
    pub(crate) fn ty(&self, value: Value) -> Type {
        self.builder.kernel().ty(value)
    }

    /// Returns a constant with the given bits, lane 0 lowest.
    pub(crate) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let width = ty.elem().bits() as usize;
        let lanes: Vec<u64> = (0..ty.lanes()).map(|lane| bits >> (lane * width) & ty.elem().mask()).collect();
        let value = self.builder.constant(ty, &lanes);
        self.constants.insert((ty, bits), value);
        value
    }

    /// Returns the bits of a value if it is a constant.
    pub(crate) fn known(&self, value: Value) -> Option<u64> {
        let kernel = self.builder.kernel();
        let inst = kernel.def_inst(value)?;
        let data = kernel.insts.get(inst)?;
        match (data.op, data.attr) {
            (Op::Const, Attr::Bits(bits)) => Some(bits),
            _ => None,
        }
    }

    /// Emits an op.
    pub(crate) fn op(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        self.builder.op(op, ty, args)
    }

    /// Casts a value to a type of the same width.
    pub(crate) fn cast(&mut self, value: Value, ty: Type) -> Value {
        if self.ty(value) == ty {
            return value;
        }
        if let (Some(bits), false) = (self.known(value), ty == Type::PTR) {
            return self.constant(ty, bits);
        }
        if let Some(&cast) = self.casts.get(&(value, ty)) {
            return cast;
        }
        let cast = self.op(Op::Bitcast, ty, &[value]);
        self.casts.insert((value, ty), cast);
        self.casts.insert((cast, self.ty(value)), value);
        cast
    }

    /// Zero-extends a value of at most 32 bits to an `i32`.
    pub(crate) fn word_of(&mut self, value: Value) -> Value {
        match self.ty(value).bits() {
            32 => self.cast(value, Type::I32),
            bits => {
                let narrow = self.cast(value, crate::types::integer(bits));
                match self.known(narrow) {
                    Some(bits) => self.constant(Type::I32, bits),
                    None => self.op(Op::Zext, Type::I32, &[narrow]),
                }
            }
        }
    }

    /// Truncates an `i32` to a type of at most 32 bits.
    pub(crate) fn of_word(&mut self, word: Value, ty: Type) -> Value {
        match ty.bits() {
            32 => self.cast(word, ty),
            bits => {
                let narrow = crate::types::integer(bits);
                let value = match self.known(word) {
                    Some(known) => self.constant(narrow, known & narrow.elem().mask()),
                    None => self.op(Op::Trunc, narrow, &[word]),
                };
                self.cast(value, ty)
            }
        }
    }

    /// Emits an operation on two words, or folds it if both are constants.
    fn binary(&mut self, op: Op, a: Value, b: Value, known: impl Fn(u32, u32) -> u32) -> Value {
        match (self.known(a), self.known(b)) {
            (Some(a), Some(b)) => self.word(known(a as u32, b as u32)),
            _ => self.op(op, Type::I32, &[a, b]),
        }
    }

    /// Emits an operation on a word, or folds it if the word is a constant.
    fn unary(&mut self, op: Op, a: Value, known: impl Fn(u32) -> u32) -> Value {
        match self.known(a) {
            Some(a) => self.word(known(a as u32)),
            None => self.op(op, Type::I32, &[a]),
        }
    }

    /// Returns the bits of a constant operand, and the second operand. Returns `None` if no operand
    /// is a constant.
    fn one_known(&self, a: Value, b: Value) -> Option<(u32, Value)> {
        let known = |value: Value| self.known(value).map(|bits| bits as u32);
        known(a).map(|bits| (bits, b)).or_else(|| known(b).map(|bits| (bits, a)))
    }

    fn shift(&mut self, op: Op, a: Value, count: Value, known: impl Fn(u32, u32) -> u32) -> Value {
        match (self.known(a), self.known(count)) {
            (_, Some(count)) if count % 32 == 0 => a,
            (Some(0), _) => a,
            _ => self.binary(op, a, count, known),
        }
    }

    /// Concatenates two words, low word first, to a type of 64 bits.
    pub(crate) fn whole(&mut self, words: [Value; 2], ty: Type) -> Value {
        if let [Some(low), Some(high)] = words.map(|word| self.known(word)) {
            return self.constant(ty, high << 32 | low);
        }
        // If both words are the halves of one split value, their concatenation is that value.
        let whole = |word: Value, part: u8| {
            let kernel = self.builder.kernel();
            let inst = kernel.def_inst(word)?;
            let data = kernel.insts.get(inst)?;
            let is_part = data.op == Op::Split && data.attr == Attr::Lane(part);
            kernel.args(inst).first().copied().filter(|&whole| is_part && kernel.ty(whole).bits() == 64)
        };
        let of_parts = whole(words[0], 0).filter(|&of_low| whole(words[1], 1) == Some(of_low));
        let whole = of_parts.unwrap_or_else(|| self.op(Op::Concat, Type::I64, &words));
        self.cast(whole, ty)
    }

    /// Splits a value of 64 bits into two words, low word first.
    fn words(&mut self, value: Value) -> [Value; 2] {
        let whole = self.cast(value, Type::I64);
        [0, 1].map(|part| self.builder.lane(Op::Split, Type::I32, &[whole], part))
    }

    /// Emits a floating-point operation in type `ty`.
    fn arithmetic(&mut self, op: &FloatOp, ty: Type, operands: &[Value]) -> Value {
        let flags = FloatFlags { rounding: rounding(op.rounding), ..FloatFlags::default() };
        let operands = operands.get(..op.kind.operands()).unwrap_or(operands);
        self.builder.float(arithmetic(op.kind), ty, flags, operands)
    }

    fn float(&mut self, op: Op, args: &[Value]) -> Value {
        let args: Vec<Value> = args.iter().map(|&arg| self.cast(arg, Type::F32)).collect();
        let result = self.op(op, Type::F32, &args);
        self.cast(result, Type::I32)
    }
}

/// Returns the type of two packed halves.
pub(crate) fn halves(format: Format) -> Type {
    match format {
        Format::F16 => Type::F16X2,
        Format::Bf16 => Type::BF16X2,
    }
}

/// Returns the op of a division.
pub(crate) const fn division(op: Divide) -> Op {
    match (op.remainder, op.signed) {
        (false, false) => Op::DivU,
        (false, true) => Op::DivS,
        (true, false) => Op::RemU,
        (true, true) => Op::RemS,
    }
}

/// Converts a rounding mode of PTX to that of the IR.
pub(crate) fn rounding(rounding: half::Rounding) -> Rounding {
    match rounding {
        half::Rounding::Nearest => Rounding::Rn,
        half::Rounding::Down => Rounding::Rm,
        half::Rounding::Up => Rounding::Rp,
        half::Rounding::Zero => Rounding::Rz,
    }
}

/// Converts a comparison to a condition of the IR. Returns `None` for the comparisons that are
/// always true or always false.
fn condition(compare: Compare) -> Option<FloatCC> {
    let pairs = [
        (Compare::LT, FloatCC::Lt),
        (Compare::EQ, FloatCC::Eq),
        (Compare::LE, FloatCC::Le),
        (Compare::GT, FloatCC::Gt),
        (Compare::NE, FloatCC::Ne),
        (Compare::GE, FloatCC::Ge),
        (Compare::NUM, FloatCC::Num),
        (Compare::NAN, FloatCC::Nan),
        (Compare::LTU, FloatCC::Ltu),
        (Compare::EQU, FloatCC::Equ),
        (Compare::LEU, FloatCC::Leu),
        (Compare::GTU, FloatCC::Gtu),
        (Compare::NEU, FloatCC::Neu),
        (Compare::GEU, FloatCC::Geu),
    ];
    pairs.into_iter().find(|(of, _)| *of == compare).map(|(_, cc)| cc)
}

/// Returns the op of an elementary function.
pub(crate) fn elementary(function: Function) -> Op {
    match function {
        Function::Ex2 => Op::Fexp2,
        Function::Lg2 => Op::Flog2,
        Function::Rsqrt => Op::Frsqrt,
        Function::Sin => Op::Fsin,
        Function::Cos => Op::Fcos,
        Function::Tanh => Op::Ftanh,
    }
}

/// Returns the op of a conversion with its operand type and result type. Returns `None` if no op does this conversion.
fn conversion(op: &Conversion) -> Option<(Op, Type, Type)> {
    let float = |form: NumberFormat| match form {
        NumberFormat::F16 => Some(Type::F16),
        NumberFormat::F32 => Some(Type::F32),
        NumberFormat::F64 => Some(Type::F64),
        NumberFormat::Bf16 | NumberFormat::Int { .. } => None,
    };
    let integer = |form: NumberFormat| match form {
        NumberFormat::Int { signed, bits: 32 } => Some((signed, Type::I32)),
        NumberFormat::Int { signed, bits: 64 } => Some((signed, Type::I64)),
        _ => None,
    };
    let found = match (float(op.from), float(op.to), integer(op.from), integer(op.to)) {
        (Some(from), Some(to), ..) => (Op::Fcvt, from, to),
        (_, Some(to), Some((true, from)), _) => (Op::FcvtFromS, from, to),
        (_, Some(to), Some((false, from)), _) => (Op::FcvtFromU, from, to),
        (Some(from), _, _, Some((signed, to))) if op.rounding == half::Rounding::Zero => {
            (if signed { Op::FcvtToS } else { Op::FcvtToU }, from, to)
        }
        _ => return None,
    };
    found.0.row().converts(found.1, found.2).then_some(found)
}

/// Returns the op of an arithmetic operation.
fn arithmetic(kind: FloatKind) -> Op {
    match kind {
        FloatKind::Add => Op::Fadd,
        FloatKind::Sub => Op::Fsub,
        FloatKind::Mul => Op::Fmul,
        FloatKind::Fma => Op::Ffma,
        FloatKind::Div => Op::Fdiv,
        FloatKind::Sqrt => Op::Fsqrt,
    }
}

impl Domain for IrBuilder {
    type Word = Value;
    type Pred = Value;

    fn word(&mut self, value: u32) -> Value {
        self.constant(Type::I32, value.into())
    }

    fn truth(&mut self, value: bool) -> Value {
        self.constant(Type::I1, value.into())
    }

    fn and(&mut self, a: Value, b: Value) -> Value {
        match self.one_known(a, b) {
            Some((0, _)) => self.word(0),
            Some((u32::MAX, other)) => other,
            _ => self.binary(Op::And, a, b, |a, b| a & b),
        }
    }

    fn or(&mut self, a: Value, b: Value) -> Value {
        match self.one_known(a, b) {
            Some((0, other)) => other,
            Some((u32::MAX, _)) => self.word(u32::MAX),
            _ => self.binary(Op::Or, a, b, |a, b| a | b),
        }
    }

    fn xor(&mut self, a: Value, b: Value) -> Value {
        match self.one_known(a, b) {
            Some((0, other)) => other,
            Some((u32::MAX, other)) => self.not(other),
            _ => self.binary(Op::Xor, a, b, |a, b| a ^ b),
        }
    }

    fn not(&mut self, a: Value) -> Value {
        match self.known(a) {
            Some(bits) => self.word(!(bits as u32)),
            None => self.op(Op::Not, Type::I32, &[a]),
        }
    }

    fn shl(&mut self, a: Value, count: Value) -> Value {
        self.shift(Op::Shl, a, count, u32::wrapping_shl)
    }

    fn shr(&mut self, a: Value, count: Value) -> Value {
        self.shift(Op::ShrU, a, count, u32::wrapping_shr)
    }

    fn sar(&mut self, a: Value, count: Value) -> Value {
        self.shift(Op::ShrS, a, count, |a, count| (a as i32).wrapping_shr(count) as u32)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        match self.one_known(a, b) {
            Some((0, other)) => other,
            _ => self.binary(Op::Add, a, b, u32::wrapping_add),
        }
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        match self.known(b) {
            Some(0) => a,
            _ => self.binary(Op::Sub, a, b, u32::wrapping_sub),
        }
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(Op::Mul, a, b, u32::wrapping_mul)
    }

    fn mul_high(&mut self, signed: bool, a: Value, b: Value) -> Value {
        self.op(if signed { Op::MulHiS } else { Op::MulHiU }, Type::I32, &[a, b])
    }

    fn divide(&mut self, op: Divide, a: Value, b: Value) -> Value {
        self.op(division(op), Type::I32, &[a, b])
    }

    fn divide_wide(&mut self, op: Divide, a: [Value; 2], b: [Value; 2]) -> [Value; 2] {
        let [a, b] = [a, b].map(|words| self.op(Op::Concat, Type::I64, &words));
        let result = self.op(division(op), Type::I64, &[a, b]);
        [0, 1].map(|part| self.builder.lane(Op::Split, Type::I32, &[result], part))
    }

    fn count_ones(&mut self, a: Value) -> Value {
        self.unary(Op::Popcount, a, u32::count_ones)
    }

    fn leading_zeros(&mut self, a: Value) -> Value {
        self.unary(Op::Clz, a, u32::leading_zeros)
    }

    fn reverse_bits(&mut self, a: Value) -> Value {
        self.unary(Op::BitReverse, a, u32::reverse_bits)
    }

    fn equal(&mut self, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (Some(a), Some(b)) => self.truth(a == b),
            _ if a == b => self.truth(true),
            _ => self.builder.icmp(IntCC::Eq, Type::I32, a, b),
        }
    }

    fn less(&mut self, signed: bool, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (Some(a), Some(b)) if signed => self.truth((a as i32) < b as i32),
            (Some(a), Some(b)) => self.truth(a < b),
            (_, Some(0)) if !signed => self.truth(false),
            _ => self.builder.icmp(if signed { IntCC::LtS } else { IntCC::LtU }, Type::I32, a, b),
        }
    }

    fn both(&mut self, p: Value, q: Value) -> Value {
        match (self.known(p), self.known(q)) {
            (Some(0), _) | (_, Some(1)) => p,
            (_, Some(0)) | (Some(1), _) => q,
            _ => self.op(Op::And, Type::I1, &[p, q]),
        }
    }

    fn either(&mut self, p: Value, q: Value) -> Value {
        match (self.known(p), self.known(q)) {
            (Some(1), _) | (_, Some(0)) => p,
            (_, Some(1)) | (Some(0), _) => q,
            _ => self.op(Op::Or, Type::I1, &[p, q]),
        }
    }

    fn differ(&mut self, p: Value, q: Value) -> Value {
        match (self.known(p), self.known(q)) {
            (Some(0), _) => q,
            (_, Some(0)) => p,
            (Some(1), _) => self.negate(q),
            (_, Some(1)) => self.negate(p),
            _ => self.op(Op::Xor, Type::I1, &[p, q]),
        }
    }

    fn negate(&mut self, p: Value) -> Value {
        match self.known(p) {
            Some(bits) => self.truth(bits == 0),
            None => self.op(Op::Not, Type::I1, &[p]),
        }
    }

    fn select(&mut self, p: Value, a: Value, b: Value) -> Value {
        match self.known(p) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.op(Op::Select, self.ty(a), &[p, a, b]),
        }
    }

    fn fadd(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::Fadd, &[a, b])
    }

    fn fmul(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::Fmul, &[a, b])
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.float(Op::Ffma, &[a, b, c])
    }

    fn fdiv(&mut self, a: Value, b: Value) -> Value {
        self.float(Op::Fdiv, &[a, b])
    }

    fn fsqrt(&mut self, a: Value) -> Value {
        self.float(Op::Fsqrt, &[a])
    }

    fn single(&mut self, op: &FloatOp, operands: [Value; 3]) -> Value {
        let operands = operands.map(|operand| self.cast(operand, Type::F32));
        let result = self.arithmetic(op, Type::F32, &operands);
        self.cast(result, Type::I32)
    }

    fn double(&mut self, op: &FloatOp, operands: [[Value; 2]; 3]) -> [Value; 2] {
        let count = op.kind.operands();
        let operands: Vec<Value> = operands.into_iter().take(count).map(|words| self.whole(words, Type::F64)).collect();
        let result = self.arithmetic(op, Type::F64, &operands);
        self.words(result)
    }

    fn double_compare(&mut self, compare: Compare, a: [Value; 2], b: [Value; 2]) -> Value {
        let Some(cc) = condition(compare) else { return self.truth(compare.code() != 0) };
        let [a, b] = [a, b].map(|words| self.whole(words, Type::F64));
        self.builder.fcmp(Op::Fcmp, cc, false, Type::F64, a, b)
    }

    fn convert(&mut self, op: &Conversion, a: [Value; 2]) -> [Value; 2] {
        let Some((convert, from, to)) = conversion(op) else { return convert_in_steps(self, op, a) };
        let a = if from.bits() == 64 { self.whole(a, from) } else { self.of_word(a[0], from) };
        let flags = FloatFlags { rounding: rounding(op.rounding), ..FloatFlags::default() };
        let result = match convert {
            Op::FcvtToS | Op::FcvtToU => self.op(convert, to, &[a]),
            _ => self.builder.float(convert, to, flags, &[a]),
        };
        if to.bits() == 64 { self.words(result) } else { [self.word_of(result), self.word(0)] }
    }

    fn elementary(&mut self, function: Function, a: Value) -> Value {
        self.float(elementary(function), &[a])
    }

    fn fcompare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        let Some(cc) = condition(compare) else { return self.truth(compare.code() != 0) };
        let (a, b) = (self.cast(a, Type::F32), self.cast(b, Type::F32));
        self.builder.fcmp(Op::Fcmp, cc, false, Type::F32, a, b)
    }

    fn int_to_float(&mut self, signed: bool, a: Value) -> Value {
        let op = if signed { Op::FcvtFromS } else { Op::FcvtFromU };
        let result = self.op(op, Type::F32, &[a]);
        self.cast(result, Type::I32)
    }

    fn float_to_int(&mut self, signed: bool, a: Value) -> Value {
        let a = self.cast(a, Type::F32);
        self.op(if signed { Op::FcvtToS } else { Op::FcvtToU }, Type::I32, &[a])
    }

    fn narrow(&mut self, format: Format, mode: half::Rounding, a: Value) -> Value {
        let a = self.cast(a, Type::F32);
        let flags = FloatFlags { rounding: rounding(mode), ..FloatFlags::default() };
        let half = self.builder.float(Op::Fcvt, halves(format).lane_type(), flags, &[a]);
        self.word_of(half)
    }

    fn widen(&mut self, format: Format, a: Value) -> Value {
        let half = self.of_word(a, halves(format).lane_type());
        let result = self.op(Op::Fcvt, Type::F32, &[half]);
        self.cast(result, Type::I32)
    }

    fn half(&mut self, op: &HalfOp, a: Value, b: Value, c: Value) -> Value {
        let ty = halves(op.mode.format);
        let flags = FloatFlags {
            rounding: rounding(op.mode.rounding),
            ftz: op.mode.ftz,
            clamp: match op.mode.clamp {
                half::Clamp::None => Clamp::None,
                half::Clamp::Sat => Clamp::Sat,
                half::Clamp::Relu => Clamp::Relu,
            },
            ..FloatFlags::default()
        };
        let [a, b, c] = [a, b, c].map(|word| self.cast(word, ty));
        let result = match op.kind {
            HalfKind::Add => self.builder.float(Op::Fadd, ty, flags, &[a, b]),
            HalfKind::Mul => self.builder.float(Op::Fmul, ty, flags, &[a, b]),
            HalfKind::Fma => self.builder.float(Op::Ffma, ty, flags, &[a, b, c]),
        };
        self.cast(result, Type::I32)
    }

    fn half_elementary(&mut self, function: Function, format: Format, a: Value) -> Value {
        let ty = halves(format);
        let a = self.cast(a, ty);
        let result = self.op(elementary(function), ty, &[a]);
        self.cast(result, Type::I32)
    }

    fn half_minmax(&mut self, op: &HalfMinMax, min: Value, a: Value, b: Value) -> Value {
        let ty = halves(op.format);
        let flags = FloatFlags { ftz: op.ftz, nan: op.nan, ..FloatFlags::default() };
        let [a, b] = [a, b].map(|word| self.cast(word, ty));
        let [least, greatest] = [Op::Fmin, Op::Fmax].map(|op| self.builder.float(op, ty, flags, &[a, b]));
        let result = self.select(min, least, greatest);
        self.cast(result, Type::I32)
    }

    fn half_compare(&mut self, op: &HalfCompare, a: Value, b: Value) -> [Value; 2] {
        let ty = halves(op.format);
        let Some(cc) = condition(op.compare) else { return [self.truth(op.compare.code() != 0); 2] };
        let [a, b] = [a, b].map(|word| self.cast(word, ty));
        let mask = self.builder.fcmp(Op::Fcmp, cc, op.ftz, ty, a, b);
        [0, 1].map(|lane| self.builder.lane(Op::Extract, Type::I1X2, &[mask], lane))
    }
}

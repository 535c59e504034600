//! Import of integer, bit, comparison and move instructions.

use halfbyte_ir::{IntCC, Op, Type, Value};
use halfbyte_isa::halu::domain::Domain;
use halfbyte_isa::ptx::types::{Token, Type as PtxType};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};

use crate::builder::Import;
use crate::domain::IrBuilder;
use crate::types::{integer, of_ptx};

impl Import<'_> {
    /// Imports an instruction on integers, predicates or moved values that has a corresponding op.
    /// Returns `false` for other instructions.
    pub(crate) fn integer(&mut self, inst: &Inst) -> bool {
        use Opcode::*;
        let ty = inst.ty(0);
        let signed = ty.is_signed();
        let whole = integer(ty.bits());
        let (by_sign, plain) = (|s, u| if signed { s } else { u }, |op| Some(op));
        let op = match inst.opcode {
            ADD | SUB if ty.bits() == 64 => {
                let value = self.address_sum(inst);
                self.result(inst, value);
                return true;
            }
            ADD => plain(Op::Add),
            SUB => plain(Op::Sub),
            ADD_SAT => plain(Op::AddSatS),
            SUB_SAT => plain(Op::SubSatS),
            MIN => plain(by_sign(Op::MinS, Op::MinU)),
            MAX => plain(by_sign(Op::MaxS, Op::MaxU)),
            ABS => plain(Op::Abs),
            DIV => plain(by_sign(Op::DivS, Op::DivU)),
            REM => plain(by_sign(Op::RemS, Op::RemU)),
            NEG => plain(Op::Neg),
            AND => plain(Op::And),
            OR => plain(Op::Or),
            XOR => plain(Op::Xor),
            NOT => plain(Op::Not),
            _ => None,
        };
        let value = match (inst.opcode, op) {
            (_, Some(op)) => self.lanewise(inst, op, whole),
            (ADD_X2 | MIN_X2 | MAX_X2 | ADD_X4 | SUB_X4 | MIN_X4 | MAX_X4, None) => {
                let sat = inst.has(Token::Sat);
                let op = match (inst.opcode, signed) {
                    (ADD_X4, true) if sat => Op::AddSatS,
                    (ADD_X4, false) if sat => Op::AddSatU,
                    (SUB_X4, true) if sat => Op::SubSatS,
                    (SUB_X4, false) if sat => Op::SubSatU,
                    (ADD_X2 | ADD_X4, _) => Op::Add,
                    (SUB_X4, _) => Op::Sub,
                    (MIN_X2 | MIN_X4, true) => Op::MinS,
                    (MIN_X2 | MIN_X4, false) => Op::MinU,
                    (_, true) => Op::MaxS,
                    (_, false) => Op::MaxU,
                };
                let Some(lanes) = of_ptx(ty) else { return false };
                self.lanewise(inst, op, lanes)
            }
            (MUL, None) => self.product(inst, whole),
            (MAD, None) => {
                let (product, c) = (self.product(inst, whole), self.operand(inst, 3, whole));
                self.code.op(Op::Add, whole, &[product, c])
            }
            (MAD_SAT, None) => {
                let (product, c) = (self.product(inst, whole), self.operand(inst, 3, whole));
                self.code.op(Op::AddSatS, whole, &[product, c])
            }
            (MIN_RELU | MAX_RELU, None) => {
                let op = if inst.opcode == MIN_RELU { Op::MinS } else { Op::MaxS };
                let (extremum, zero) = (self.lanewise(inst, op, whole), self.code.constant(whole, 0));
                self.code.op(Op::MaxS, whole, &[extremum, zero])
            }
            (SAD, None) => {
                let [a, b, c] = [1, 2, 3].map(|i| self.operand(inst, i, whole));
                let distance = self.distance(signed, whole, a, b);
                self.code.op(Op::Add, whole, &[distance, c])
            }
            (ADD_CC | ADDC | SUB_CC | SUBC | MAD_CC | MADC, None) => self.carry_sum(inst, whole),
            (MUL_WIDE, None) => self.wide_product(inst),
            (MAD_WIDE, None) => {
                let product = self.wide_product(inst);
                let ty = self.code.ty(product);
                if self.operand_val(inst, 3).is_some_and(|val| self.types.get(val) == Type::PTR) {
                    let base = self.operand(inst, 3, Type::PTR);
                    self.code.op(Op::PtrAdd, Type::PTR, &[base, product])
                } else {
                    let c = self.operand(inst, 3, ty);
                    self.code.op(Op::Add, ty, &[product, c])
                }
            }
            (POPC | CLZ, None) => {
                let op = if inst.opcode == POPC { Op::Popcount } else { Op::Clz };
                let count = self.lanewise(inst, op, whole);
                self.convert(count, Type::I32)
            }
            (BREV, None) => self.lanewise(inst, Op::BitReverse, whole),
            (DP4A, None) => {
                let [a, b] = [1, 2].map(|i| self.operand(inst, i, Type::I8X4));
                let c = self.operand(inst, 3, Type::I32);
                let (op, a, b) = match (signed, inst.ty(1).is_signed()) {
                    (true, true) => (Op::Dot4S, a, b),
                    (false, false) => (Op::Dot4U, a, b),
                    (true, false) => (Op::Dot4SU, a, b),
                    (false, true) => (Op::Dot4SU, b, a),
                };
                self.code.op(op, Type::I8X4, &[a, b, c])
            }
            (SHF, None) => return self.rotate(inst),
            (SHL | SHR, None) => return self.shift(inst, whole),
            (PRMT, None) => return self.permute(inst),
            (SETP_BITS | SETP_INT | SETP_UNSIGNED, None) => {
                let p = self.compare(inst, ty);
                self.define_predicates(inst, p);
                return true;
            }
            (SET_BITS | SET_INT | SET_UNSIGNED, None) => {
                let p = self.compare(inst, inst.ty(1));
                let p = self.combined(inst, p);
                self.truth(inst, p)
            }
            (SELP, None) => {
                let ty = self.result_type(inst, whole);
                let (a, b, p) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty), self.operand(inst, 3, Type::I1));
                self.code.select(p, a, b)
            }
            (SLCT_INT, None) => {
                let ty = self.result_type(inst, whole);
                let (a, b, c) =
                    (self.operand(inst, 1, ty), self.operand(inst, 2, ty), self.operand(inst, 3, Type::I32));
                let zero = self.code.constant(Type::I32, 0);
                let p = self.code.builder.icmp(IntCC::GeS, Type::I32, c, zero);
                self.code.select(p, a, b)
            }
            (CVT_INT, None) => self.cast_int(inst),
            (MOV | CVTA, None) => {
                let ty = self.result_type(inst, whole);
                self.operand(inst, 1, ty)
            }
            (MOV_PACK, None) => self.pack(inst),
            (MOV_UNPACK, None) => {
                self.unpack(inst);
                return true;
            }
            (MOV_VECTOR, None) => {
                self.move_elements(inst);
                return true;
            }
            _ => return false,
        };
        self.result(inst, value);
        true
    }

    /// Returns the type of the instruction's result, or `otherwise` if the result's type has
    /// another width. A value that is only moved needs no casts if it has the type of the result.
    fn result_type(&self, inst: &Inst, otherwise: Type) -> Type {
        let written = self.function.writes(self.number).next();
        written
            .map(|(_, val)| self.types.get(val))
            .filter(|ty| ty.bits() == otherwise.bits() || inst.opcode == Opcode::CVTA)
            .unwrap_or(otherwise)
    }

    /// Emits an op of type `ty` on all source operands of the instruction.
    pub(crate) fn lanewise(&mut self, inst: &Inst, op: Op, ty: Type) -> Value {
        let args: Vec<Value> = (1..inst.operands.len()).map(|i| self.operand(inst, i, ty)).collect();
        self.code.op(op, ty, &args)
    }

    /// Emits the sum or difference of two 64-bit integers, or of an address and an integer.
    fn address_sum(&mut self, inst: &Inst) -> Value {
        let is_address =
            |import: &Self, i: usize| import.operand_val(inst, i).is_some_and(|val| import.types.get(val) == Type::PTR);
        let is_sum = inst.opcode == Opcode::ADD;
        match (is_address(self, 1), is_address(self, 2)) {
            (true, false) => {
                let base = self.operand(inst, 1, Type::PTR);
                let bytes = match (is_sum, inst.operands.get(2)) {
                    (false, Some(&Operand::Number(bits))) => self.code.constant(Type::I64, bits.wrapping_neg()),
                    (true, _) => self.operand(inst, 2, Type::I64),
                    (false, _) => {
                        let bytes = self.operand(inst, 2, Type::I64);
                        self.code.op(Op::Neg, Type::I64, &[bytes])
                    }
                };
                self.code.op(Op::PtrAdd, Type::PTR, &[base, bytes])
            }
            (false, true) if is_sum => {
                let (bytes, base) = (self.operand(inst, 1, Type::I64), self.operand(inst, 2, Type::PTR));
                self.code.op(Op::PtrAdd, Type::PTR, &[base, bytes])
            }
            _ => self.lanewise(inst, if is_sum { Op::Add } else { Op::Sub }, Type::I64),
        }
    }

    fn product(&mut self, inst: &Inst, ty: Type) -> Value {
        let op = match (inst.has(Token::Hi), inst.ty(0).is_signed()) {
            (false, _) => Op::Mul,
            (true, true) => Op::MulHiS,
            (true, false) => Op::MulHiU,
        };
        let (a, b) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty));
        self.code.op(op, ty, &[a, b])
    }

    fn wide_product(&mut self, inst: &Inst) -> Value {
        let ty = integer(inst.ty(0).bits());
        let op = if inst.ty(0).is_signed() { Op::MulWideS } else { Op::MulWideU };
        let (a, b) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty));
        self.code.op(op, ty, &[a, b])
    }

    /// Emits the absolute difference of two integers of type `ty`.
    fn distance(&mut self, signed: bool, ty: Type, a: Value, b: Value) -> Value {
        if ty.bits() < 64 {
            return self.code.op(if signed { Op::AbsDiffS } else { Op::AbsDiffU }, ty, &[a, b]);
        }
        let [least, greatest] = match signed {
            true => [Op::MinS, Op::MaxS],
            false => [Op::MinU, Op::MaxU],
        }
        .map(|op| self.code.op(op, ty, &[a, b]));
        self.code.op(Op::Sub, ty, &[greatest, least])
    }

    /// Emits a sum or difference that reads the carry flag, writes the flag, or does both. The flag
    /// after a difference is the carry of `a + ~b + 1`, which is set if there is no borrow.
    fn carry_sum(&mut self, inst: &Inst, ty: Type) -> Value {
        use Opcode::*;
        let first = match inst.opcode {
            MAD_CC | MADC => self.product(inst, ty),
            _ => self.operand(inst, 1, ty),
        };
        let second = self.operand(inst, inst.operands.len() - 1, ty);
        let is_sum = !matches!(inst.opcode, SUB_CC | SUBC);
        let op = if is_sum { Op::Add } else { Op::Sub };
        let mut value = self.code.op(op, ty, &[first, second]);
        let compare = |import: &mut Self, cc, a, b| import.code.builder.icmp(cc, ty, a, b);
        let mut carry = inst.writes_carry().then(|| match is_sum {
            true => compare(self, IntCC::LtU, value, first),
            false => compare(self, IntCC::GeU, first, second),
        });
        if inst.reads_carry() {
            let carried = self.register(Reg::CARRY);
            let [one, zero] = [1, 0].map(|number| self.code.constant(ty, number));
            let [if_set, if_clear] = if is_sum { [one, zero] } else { [zero, one] };
            let one = self.code.select(carried, if_set, if_clear);
            let before = value;
            value = self.code.op(op, ty, &[before, one]);
            carry = carry.map(|carry| match is_sum {
                true => {
                    let more = compare(self, IntCC::LtU, value, one);
                    self.code.either(carry, more)
                }
                false => {
                    let still = compare(self, IntCC::GeU, before, one);
                    self.code.both(carry, still)
                }
            });
        }
        if let Some(carry) = carry {
            self.define(Reg::CARRY, carry);
        }
        value
    }

    /// Emits a shift by a constant. Returns `false` for a variable count, which PTX clamps at the
    /// width of the operand. The ops of the IR take the count modulo the width.
    fn shift(&mut self, inst: &Inst, ty: Type) -> bool {
        let Some(count) = self.known(inst, 2) else { return false };
        let (bits, signed) = (u64::from(ty.bits()), inst.opcode == Opcode::SHR && inst.ty(0).is_signed());
        let a = self.operand(inst, 1, ty);
        let value = if count < bits || signed {
            let op = match (inst.opcode, signed) {
                (Opcode::SHL, _) => Op::Shl,
                (_, true) => Op::ShrS,
                (_, false) => Op::ShrU,
            };
            let count = self.code.constant(ty, (count & 0xFFFF_FFFF).min(bits - 1));
            self.code.op(op, ty, &[a, count])
        } else {
            self.code.constant(ty, 0)
        };
        self.result(inst, value);
        true
    }

    /// Emits a rotation for a funnel shift whose two words are equal and whose count is taken
    /// modulo the width. Returns `false` for other funnel shifts.
    fn rotate(&mut self, inst: &Inst) -> bool {
        let same = matches!((inst.operands.get(1), inst.operands.get(2)), (Some(a), Some(b)) if a == b);
        let wraps = inst.has(Token::Wrap) || self.known(inst, 3).is_some_and(|count| count < 32);
        if !same || !wraps {
            return false;
        }
        let op = if inst.has(Token::Left) { Op::Rotl } else { Op::Rotr };
        let (a, count) = (self.operand(inst, 1, Type::I32), self.operand(inst, 3, Type::I32));
        let value = self.code.op(op, Type::I32, &[a, count]);
        self.result(inst, value);
        true
    }

    /// Emits a shuffle for a byte permutation whose selector is a constant and replicates no sign.
    /// Returns `false` for other permutations.
    fn permute(&mut self, inst: &Inst) -> bool {
        let Some(selector) = self.known(inst, 3) else { return false };
        // Each byte of the result is the sign of a lane of the first source.
        if let Some(ty) = [(0xba98, Type::I8X4), (0xbb99, Type::I16X2)]
            .into_iter()
            .find_map(|(signs, ty)| (selector == signs).then_some(ty))
        {
            let (of, zero) = (self.operand(inst, 1, ty), self.code.constant(ty, 0));
            let negative = self.code.builder.icmp(IntCC::LtS, ty, of, zero);
            let value = self.code.op(Op::MaskExpand, ty, &[negative]);
            self.result(inst, value);
            return true;
        }
        if selector & 0x8888 != 0 {
            return false;
        }
        let lanes = [0, 4, 8, 12].map(|position| (selector >> position & 7) as u8);
        let halves = lanes.as_chunks::<2>().0;
        // If the bytes move in pairs, the shuffle is one of half-words, for which some targets have an instruction.
        let value = if halves.iter().all(|half| half[0] % 2 == 0 && half[1] == half[0] + 1) {
            let (a, b) = (self.operand(inst, 1, Type::I16X2), self.operand(inst, 2, Type::I16X2));
            let lanes: Vec<u8> = halves.iter().map(|half| half[0] / 2).collect();
            self.code.builder.shuffle(Type::I16X2, a, b, &lanes)
        } else {
            let (a, b) = (self.operand(inst, 1, Type::I8X4), self.operand(inst, 2, Type::I8X4));
            self.code.builder.shuffle(Type::I8X4, a, b, &lanes)
        };
        self.result(inst, value);
        true
    }

    fn compare(&mut self, inst: &Inst, ty: PtxType) -> Value {
        let cc = condition(inst, ty.is_signed());
        let ty = integer(ty.bits());
        let (a, b) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty));
        self.code.builder.icmp(cc, ty, a, b)
    }

    /// Returns predicate `p` combined with the boolean operand of the instruction, if there is one.
    pub(crate) fn combined(&mut self, inst: &Inst, p: Value) -> Value {
        let gate = match () {
            () if inst.has(Token::And) => IrBuilder::both,
            () if inst.has(Token::Or) => IrBuilder::either,
            () if inst.has(Token::Xor) => IrBuilder::differ,
            () => return p,
        };
        let c = self.operand(inst, 3, Type::I1);
        gate(&mut self.code, p, c)
    }

    /// Writes a predicate to the first destination, and its complement to the second, if there is
    /// one. Each is combined with the boolean operand.
    pub(crate) fn define_predicates(&mut self, inst: &Inst, p: Value) {
        match inst.operands.first() {
            Some(&Operand::Pair([first, second])) => {
                if let Some(reg) = first {
                    let p = self.combined(inst, p);
                    self.define(reg, p);
                }
                if let Some(reg) = second {
                    let q = self.code.negate(p);
                    let q = self.combined(inst, q);
                    self.define(reg, q);
                }
            }
            _ => {
                let p = self.combined(inst, p);
                self.result(inst, p);
            }
        }
    }

    /// Returns the value of `set` for a predicate: all ones or zero, or 1.0 or 0.0 if the destination is a float.
    pub(crate) fn truth(&mut self, inst: &Inst, p: Value) -> Value {
        let ty = of_ptx(inst.ty(0)).unwrap_or(Type::I32);
        let one = match inst.ty(0) {
            PtxType::F32 => 0x3F80_0000,
            PtxType::F16 => 0x3C00,
            PtxType::Bf16 => 0x3F80,
            _ => u64::MAX >> (64 - ty.bits()),
        };
        let (one, zero) = (self.code.constant(ty, one), self.code.constant(ty, 0));
        self.code.select(p, one, zero)
    }

    /// Emits an integer conversion. The value is truncated to the destination type, and then
    /// extended to the width of the register according to the type's signedness.
    fn cast_int(&mut self, inst: &Inst) -> Value {
        let (to, from) = (inst.ty(0), inst.ty(1));
        let value = self.operand(inst, 1, integer(from.bits()));
        let value = self.extended(value, from, to.bits());
        let bits = match inst.operands.first() {
            Some(&Operand::Register(reg)) => self.function.entry.body.registers.held(reg).map_or(32, PtxType::bits),
            _ => to.bits(),
        };
        self.extended(value, to, bits)
    }

    /// Extends or truncates an integer of type `ty` to `bits` bits.
    pub(crate) fn extended(&mut self, value: Value, ty: PtxType, bits: u32) -> Value {
        if bits > ty.bits() && ty.is_signed() {
            return self.code.op(Op::Sext, integer(bits), &[value]);
        }
        self.convert(value, integer(bits))
    }

    fn pack(&mut self, inst: &Inst) -> Value {
        let Some(Operand::Vector(parts)) = inst.operands.get(1) else { return self.code.constant(Type::I32, 0) };
        let whole = self.result_type(inst, integer(inst.ty(0).bits()));
        let bits = inst.ty(0).bits() / parts.len().max(1) as u32;
        let lane = whole.lane_type();
        let part = if lane.bits() == bits { lane } else { integer(bits) };
        let values: Vec<Value> = parts
            .iter()
            .map(|reg| match reg {
                Some(reg) => {
                    let value = self.register(reg);
                    self.convert(value, part)
                }
                None => self.code.constant(part, 0),
            })
            .collect();
        let whole = if whole == Type::PTR { Type::I64 } else { whole };
        self.code.op(Op::Concat, whole, &values)
    }

    fn move_elements(&mut self, inst: &Inst) {
        let [Operand::Vector(to), Operand::Vector(from)] = inst.operands.as_slice() else { return };
        let moves: Vec<_> = to.iter().zip(from.iter()).filter_map(|(to, from)| Some((to?, from?))).collect();
        let values: Vec<Value> = moves.iter().map(|&(_, from)| self.register(from)).collect();
        for ((to, _), value) in moves.into_iter().zip(values) {
            self.define(to, value);
        }
    }

    fn unpack(&mut self, inst: &Inst) {
        let Some(Operand::Vector(parts)) = inst.operands.first() else { return };
        let bits = inst.ty(0).bits() / parts.len().max(1) as u32;
        let whole = match self.operand_val(inst, 1).map(|val| self.types.get(val)) {
            Some(ty) if ty.bits() == inst.ty(0).bits() && ty != Type::PTR => ty,
            _ => integer(inst.ty(0).bits()),
        };
        let value = self.operand(inst, 1, whole);
        for (number, reg) in (0..).zip(parts.iter()) {
            let Some(reg) = reg else { continue };
            let part = match whole.lane_type() {
                lane if lane.bits() == bits => self.code.builder.lane(Op::Extract, whole, &[value], number),
                _ => self.code.builder.lane(Op::Split, integer(bits), &[value], number),
            };
            self.define(reg, part);
        }
    }
}

/// Returns the condition of a comparison of integers.
pub(crate) fn condition(inst: &Inst, signed: bool) -> IntCC {
    let by_sign = |s, u| if signed { s } else { u };
    let condition = |token: &Token| {
        Some(match token {
            Token::Eq => IntCC::Eq,
            Token::Ne => IntCC::Ne,
            Token::Lt => by_sign(IntCC::LtS, IntCC::LtU),
            Token::Le => by_sign(IntCC::LeS, IntCC::LeU),
            Token::Gt => by_sign(IntCC::GtS, IntCC::GtU),
            Token::Ge => by_sign(IntCC::GeS, IntCC::GeU),
            Token::Lo => IntCC::LtU,
            Token::Ls => IntCC::LeU,
            Token::Hi => IntCC::GtU,
            Token::Hs => IntCC::GeU,
            _ => return None,
        })
    };
    inst.modifiers.iter().find_map(condition).unwrap_or(IntCC::Eq)
}

//! Instructions of each node.

use halfbyte_isa::half::Rounding;

use super::registers::Registers;
use super::{Emitter, ITEM};
use crate::vir::{Binary, Float, Half, Node, Shift, Value, Width};
use crate::x86::vector::*;
use crate::x86::{Operand, Predicate, Row, VectorWidth};

use VectorWidth::{B128, B256};

/// Returns the instruction of an operation.
fn row_of(op: Binary, width: Width) -> Option<&'static Row> {
    use Width::{B8, B16, B32, B64};
    Some(match (op, width) {
        (Binary::Add, B8) => &VPADDB,
        (Binary::Add, B16) => &VPADDW,
        (Binary::Add, B32) => &VPADDD,
        (Binary::Add, B64) => &VPADDQ,
        (Binary::Sub, B8) => &VPSUBB,
        (Binary::Sub, B16) => &VPSUBW,
        (Binary::Sub, B32) => &VPSUBD,
        (Binary::Sub, B64) => &VPSUBQ,
        (Binary::Mul, B16) => &VPMULLW,
        (Binary::Mul, B32) => &VPMULLD,
        (Binary::MulEven { signed: false }, B32) => &VPMULUDQ,
        (Binary::MulEven { signed: true }, B32) => &VPMULDQ,
        (Binary::AddSat { signed: true }, B8) => &VPADDSB,
        (Binary::AddSat { signed: true }, B16) => &VPADDSW,
        (Binary::AddSat { signed: false }, B8) => &VPADDUSB,
        (Binary::AddSat { signed: false }, B16) => &VPADDUSW,
        (Binary::SubSat { signed: true }, B8) => &VPSUBSB,
        (Binary::SubSat { signed: true }, B16) => &VPSUBSW,
        (Binary::SubSat { signed: false }, B8) => &VPSUBUSB,
        (Binary::SubSat { signed: false }, B16) => &VPSUBUSW,
        (Binary::Min { signed: true }, B8) => &VPMINSB,
        (Binary::Min { signed: true }, B16) => &VPMINSW,
        (Binary::Min { signed: true }, B32) => &VPMINSD,
        (Binary::Min { signed: false }, B8) => &VPMINUB,
        (Binary::Min { signed: false }, B16) => &VPMINUW,
        (Binary::Min { signed: false }, B32) => &VPMINUD,
        (Binary::Max { signed: true }, B8) => &VPMAXSB,
        (Binary::Max { signed: true }, B16) => &VPMAXSW,
        (Binary::Max { signed: true }, B32) => &VPMAXSD,
        (Binary::Max { signed: false }, B8) => &VPMAXUB,
        (Binary::Max { signed: false }, B16) => &VPMAXUW,
        (Binary::Max { signed: false }, B32) => &VPMAXUD,
        (Binary::Average, B8) => &VPAVGB,
        (Binary::Average, B16) => &VPAVGW,
        (Binary::Equal, B8) => &VPCMPEQB,
        (Binary::Equal, B16) => &VPCMPEQW,
        (Binary::Equal, B32) => &VPCMPEQD,
        (Binary::Greater, B8) => &VPCMPGTB,
        (Binary::Greater, B16) => &VPCMPGTW,
        (Binary::Greater, B32) => &VPCMPGTD,
        (Binary::And, _) => &VPAND,
        (Binary::Or, _) => &VPOR,
        (Binary::Xor, _) => &VPXOR,
        (Binary::AndNot, _) => &VPANDN,
        _ => return None,
    })
}

/// Returns `true` if the operands may be swapped.
fn is_commutative(op: Binary) -> bool {
    !matches!(op, Binary::Sub | Binary::SubSat { .. } | Binary::Greater | Binary::AndNot)
}

/// Returns the instruction of an operation on floats.
fn float_row(op: Float) -> &'static Row {
    match op {
        Float::Add => &VADDPS,
        Float::Sub => &VSUBPS,
        Float::Mul => &VMULPS,
        Float::Div => &VDIVPS,
        Float::Max => &VMAXPS,
    }
}

fn double_row(op: Float) -> &'static Row {
    match op {
        Float::Add => &VADDPD,
        Float::Sub => &VSUBPD,
        Float::Mul => &VMULPD,
        Float::Div => &VDIVPD,
        Float::Max => &VMAXPD,
    }
}

fn shift_row(shift: Shift, width: Width) -> Option<&'static Row> {
    Some(match (shift, width) {
        (Shift::Left, Width::B16) => &VPSLLW_IMM,
        (Shift::Left, Width::B32) => &VPSLLD_IMM,
        (Shift::Left, Width::B64) => &VPSLLQ_IMM,
        (Shift::Right, Width::B16) => &VPSRLW_IMM,
        (Shift::Right, Width::B32) => &VPSRLD_IMM,
        (Shift::Right, Width::B64) => &VPSRLQ_IMM,
        (Shift::Arithmetic, Width::B16) => &VPSRAW_IMM,
        (Shift::Arithmetic, Width::B32) => &VPSRAD_IMM,
        _ => return None,
    })
}

fn unpack_row(half: Half, width: Width) -> &'static Row {
    match (half, width) {
        (Half::Low, Width::B8) => &VPUNPCKLBW,
        (Half::Low, Width::B16) => &VPUNPCKLWD,
        (Half::Low, Width::B32) => &VPUNPCKLDQ,
        (Half::Low, Width::B64) => &VPUNPCKLQDQ,
        (Half::High, Width::B8) => &VPUNPCKHBW,
        (Half::High, Width::B16) => &VPUNPCKHWD,
        (Half::High, Width::B32) => &VPUNPCKHDQ,
        (Half::High, Width::B64) => &VPUNPCKHQDQ,
    }
}

fn pack_row(signed: bool, width: Width) -> Option<&'static Row> {
    Some(match (signed, width) {
        (true, Width::B16) => &VPACKSSWB,
        (false, Width::B16) => &VPACKUSWB,
        (true, Width::B32) => &VPACKSSDW,
        (false, Width::B32) => &VPACKUSDW,
        _ => return None,
    })
}

/// Returns the rounding mode of `vcvtps2ph`.
fn mode_of(rounding: Rounding) -> u8 {
    match rounding {
        Rounding::Nearest => 0,
        Rounding::Down => 1,
        Rounding::Up => 2,
        Rounding::Zero => 3,
    }
}

impl Emitter<'_> {
    pub(super) fn immediate(
        &mut self,
        row: &'static Row,
        width: VectorWidth,
        registers: [u8; 2],
        last: Operand,
        immediate: u8,
    ) {
        self.assembler.vector(VectorInst::new(row, width, registers, last).with_immediate(immediate));
    }

    /// Emits an instruction on two operands, the last of which may be in memory.
    fn on_two(
        &mut self,
        registers: &mut Registers<'_>,
        value: Value,
        row: &'static Row,
        [a, b]: [Value; 2],
        immediate: Option<u8>,
    ) -> Option<()> {
        let at = value.index();
        let first = registers.fetch(self, a, at, &[a, b])?;
        let last = registers.operand(self, b, at, &[a, b])?;
        registers.release(&[a, b], at);
        let result = registers.result(self, value, &[])?;
        match immediate {
            Some(immediate) => self.immediate(row, B256, [result, first], last, immediate),
            None => self.binary(row, result, first, last),
        }
        Some(())
    }

    /// Emits an instruction on one operand, which may be in memory.
    fn on_one(&mut self, registers: &mut Registers<'_>, value: Value, row: &'static Row, a: Value) -> Option<()> {
        let at = value.index();
        let from = registers.operand(self, a, at, &[a])?;
        registers.release(&[a], at);
        let result = registers.result(self, value, &[])?;
        self.unary(row, result, from);
        Some(())
    }

    /// Emits an instruction that extends a half of a vector.
    fn on_half(
        &mut self,
        registers: &mut Registers<'_>,
        value: Value,
        row: &'static Row,
        half: Half,
        a: Value,
    ) -> Option<()> {
        let at = value.index();
        let [from] = registers.fetch_all(self, [a], at)?;
        registers.release(&[a], at);
        let result = registers.result(self, value, &[])?;
        let from = match half {
            Half::Low => from,
            Half::High => {
                self.immediate(&VEXTRACTI128, B256, [from, 0], Operand::Register(result), 1);
                result
            }
        };
        self.unary(row, result, Operand::Register(from));
        Some(())
    }

    /// Emits a fused multiply-add. The result register of `adds` is the addend. The result register of `multiplies` is
    /// a factor.
    fn multiply_add(
        &mut self,
        registers: &mut Registers<'_>,
        value: Value,
        [adds, multiplies]: [&'static Row; 2],
        args: [Value; 3],
    ) -> Option<()> {
        let at = value.index();
        let [x, y, z] = args;
        let is_single = |value: Value| args.iter().filter(|&&other| other == value).count() == 1;
        // One operand may be in memory if another operand may be overwritten.
        let may_overwrite = |registers: &Registers<'_>, value| {
            registers.get(value).is_some() && registers.may_overwrite(value, at) && is_single(value)
        };
        let [over_x, over_y, over_z] = args.map(|value| may_overwrite(registers, value));
        let order = if registers.is_in_memory(z, at) && is_single(z) {
            match (over_x, over_y) {
                (true, _) => Some((multiplies, x, y, z)),
                (_, true) => Some((multiplies, y, x, z)),
                _ => None,
            }
        } else if over_z && registers.is_in_memory(y, at) && is_single(y) {
            Some((adds, z, x, y))
        } else if over_z {
            Some((adds, z, y, x))
        } else {
            None
        };
        if let Some((row, overwritten, second, last)) = order {
            let result = registers.fetch(self, overwritten, at, &args)?;
            let second = registers.fetch(self, second, at, &args)?;
            let last = registers.operand(self, last, at, &args)?;
            registers.release(&args, at);
            registers.hold(value, result);
            self.binary(row, result, second, last);
            return Some(());
        }
        let [x, y, z] = registers.fetch_all(self, args, at)?;
        let (row, result, second, last) = match args.map(|arg| may_overwrite(registers, arg)) {
            [.., true] => (adds, z, x, y),
            [true, ..] => (multiplies, x, y, z),
            [_, true, _] => (multiplies, y, x, z),
            _ => {
                let result = registers.take(self, at, &args)?;
                self.unary(&VMOVAPS, result, Operand::Register(z));
                (adds, result, x, y)
            }
        };
        registers.release(&args, at);
        registers.hold(value, result);
        self.binary(row, result, second, Operand::Register(last));
        Some(())
    }

    /// Emits a node.
    pub(super) fn node(&mut self, registers: &mut Registers<'_>, value: Value, node: &Node) -> Option<()> {
        let at = value.index();
        registers.begin();
        if registers.is_leaf(value) || registers.is_dead(value) {
            return Some(());
        }
        match *node {
            // The block writes the cell before the last read of this value.
            Node::Cell(cell) => {
                let result = registers.result(self, value, &[])?;
                let from = self.in_table(self.cell(cell));
                self.unary(&VMOVDQU_LOAD, result, from);
            }
            Node::Constant(_) | Node::Word(_) | Node::Number(_) => {}
            Node::First => {
                let result = registers.result(self, value, &[])?;
                self.assembler.vector(VectorInst::new(&VMOVD_FROM_GENERAL, B128, [result, 0], Operand::Register(ITEM)));
                self.unary(&VPBROADCASTD, result, Operand::Register(result));
            }
            Node::Binary(op, width, [a, b]) => {
                let swaps = is_commutative(op) && registers.is_in_memory(a, at) && !registers.is_in_memory(b, at);
                let args = if swaps { [b, a] } else { [a, b] };
                self.on_two(registers, value, row_of(op, width)?, args, None)?;
            }
            Node::Shift(shift, width, a, count) => {
                let [from] = registers.fetch_all(self, [a], at)?;
                registers.release(&[a], at);
                let result = registers.result(self, value, &[])?;
                let row = shift_row(shift, width)?;
                self.assembler.vector(VectorInst::shift(row, B256, result, Operand::Register(from), count));
            }
            Node::ShiftBy(shift, args) => {
                let row = match shift {
                    Shift::Left => &VPSLLVD,
                    Shift::Right => &VPSRLVD,
                    Shift::Arithmetic => &VPSRAVD,
                };
                self.on_two(registers, value, row, args, None)?;
            }
            Node::Select(args) => {
                let [mask, yes, no] = args;
                let mask = registers.fetch(self, mask, at, &args)?;
                let no = registers.fetch(self, no, at, &args)?;
                let yes = registers.operand(self, yes, at, &args)?;
                registers.release(&args, at);
                let result = registers.result(self, value, &[])?;
                self.immediate(&VPBLENDVB, B256, [result, no], yes, mask << 4);
            }
            Node::Blend(words, args) => self.on_two(registers, value, &VPBLENDD, args, Some(words))?,
            Node::Bytes(select, a) => {
                let [from] = registers.fetch_all(self, [a], at)?;
                registers.release(&[a], at);
                let result = registers.result(self, value, &[])?;
                let words: [u32; 8] = std::array::from_fn(|word| {
                    let bytes = select.map(|byte| if byte < 4 { byte + 4 * (word as u8 % 4) } else { 0x80 });
                    u32::from_le_bytes(bytes)
                });
                let order = Operand::Constant(self.assembler.constant(&words));
                self.binary(&VPSHUFB, result, from, order);
            }
            Node::Float(op, [a, b]) => {
                let may_swap = matches!(op, Float::Add | Float::Mul);
                let swaps = may_swap && registers.is_in_memory(a, at) && !registers.is_in_memory(b, at);
                let args = if swaps { [b, a] } else { [a, b] };
                self.on_two(registers, value, float_row(op), args, None)?;
            }
            Node::Double(op, args) => self.on_two(registers, value, double_row(op), args, None)?,
            Node::Fma(args) => self.multiply_add(registers, value, [&VFMADD231PS, &VFMADD213PS], args)?,
            Node::HalfFma(args) => self.multiply_add(registers, value, [&VFMADD231PH, &VFMADD213PH], args)?,
            Node::HalfFloat(op, args) => {
                let row = match op {
                    Float::Add => &VADDPH,
                    Float::Mul => &VMULPH,
                    Float::Sub | Float::Div | Float::Max => return None,
                };
                self.on_two(registers, value, row, args, None)?;
            }
            Node::Sqrt(a) => self.on_one(registers, value, &VSQRTPS, a)?,
            Node::FloatCompare(compare, args) => {
                self.on_two(registers, value, &VCMPPS, args, Some(Predicate::of(compare).number()))?;
            }
            Node::DoubleCompare(compare, args) => {
                self.on_two(registers, value, &VCMPPD, args, Some(Predicate::of(compare).number()))?;
            }
            Node::FloatOfInt(a) => self.on_one(registers, value, &VCVTDQ2PS, a)?,
            Node::IntOfFloat(a) => self.on_one(registers, value, &VCVTTPS2DQ, a)?,
            Node::WidenHalves(half, a) => self.on_half(registers, value, &VCVTPH2PS, half, a)?,
            Node::WidenFloats(half, a) => self.on_half(registers, value, &VCVTPS2PD, half, a)?,
            Node::Extend16(half, a) => self.on_half(registers, value, &VPMOVZXWD, half, a)?,
            Node::Extend { signed, half, of } => {
                let row = if signed { &VPMOVSXDQ } else { &VPMOVZXDQ };
                self.on_half(registers, value, row, half, of)?;
            }
            Node::NarrowHalves(rounding, args) => {
                let mode = mode_of(rounding);
                let [low, high] = registers.fetch_all(self, args, at)?;
                let result = registers.result(self, value, &args)?;
                let upper = registers.take(self, at, &[args[0], args[1], value])?;
                self.immediate(&VCVTPS2PH, B256, [low, 0], Operand::Register(result), mode);
                self.immediate(&VCVTPS2PH, B256, [high, 0], Operand::Register(upper), mode);
                self.immediate(&VINSERTI128, B256, [result, result], Operand::Register(upper), 1);
                registers.give_back(upper);
                registers.release(&args, at);
            }
            Node::NarrowDoubles(args) => {
                let [low, high] = registers.fetch_all(self, args, at)?;
                let result = registers.result(self, value, &args)?;
                let upper = registers.take(self, at, &[args[0], args[1], value])?;
                self.unary(&VCVTPD2PS, result, Operand::Register(low));
                self.unary(&VCVTPD2PS, upper, Operand::Register(high));
                self.immediate(&VINSERTI128, B256, [result, result], Operand::Register(upper), 1);
                registers.give_back(upper);
                registers.release(&args, at);
            }
            Node::Every2nd { odd, split, of } => {
                self.on_two(registers, value, &VSHUFPS, of, Some(if odd { 0xDD } else { 0x88 }))?;
                if !split {
                    let result = registers.get(value)?;
                    self.immediate(&VPERMQ, B256, [result, 0], Operand::Register(result), 0b11_01_10_00);
                }
            }
            Node::Interleave(half, args) => {
                let [a, b] = registers.fetch_all(self, args, at)?;
                let result = registers.result(self, value, &args)?;
                let upper = registers.take(self, at, &[args[0], args[1], value])?;
                self.binary(&VPUNPCKLDQ, result, a, Operand::Register(b));
                self.binary(&VPUNPCKHDQ, upper, a, Operand::Register(b));
                let halves = if half == Half::Low { 0x20 } else { 0x31 };
                self.immediate(&VPERM2I128, B256, [result, result], Operand::Register(upper), halves);
                registers.give_back(upper);
                registers.release(&args, at);
            }
            Node::Pair(half, args) => {
                let halves = if half == Half::Low { 0x20 } else { 0x31 };
                self.on_two(registers, value, &VPERM2I128, args, Some(halves))?;
            }
            Node::Unpack(half, width, args) => self.on_two(registers, value, unpack_row(half, width), args, None)?,
            Node::Pack { signed, width, of } => self.on_two(registers, value, pack_row(signed, width)?, of, None)?,
            Node::MulAddPairs(args) => self.on_two(registers, value, &VPMADDWD, args, None)?,
            Node::MulAddBytes(args) => self.on_two(registers, value, &VPMADDUBSW, args, None)?,
            ref node => self.access(registers, value, node)?,
        }
        if node.has_value() && registers.ends(value, at) {
            registers.release(&[value], at);
        }
        Some(())
    }
}

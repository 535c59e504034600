//! Constructors of VP1 instructions, which choose the opcode that fits the operands.

use halfbyte_ir::MemAttr;
use halfbyte_isa::stream::WINDOW_MARGIN;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use super::builder::second;
use super::lowering::Lowering;
use super::operands::{Alu, Bytes, Factor, Flag, Half, Readout, Reg, Round, Sign, Src, VFlag};
use super::{Class, Group, GroupRegisterPosition};
use crate::vcode::VReg;

/// Bit number in `$c` of the flag that tells if a result is negative.
const SLCT_SIGN: u8 = 0;
/// Bit number in `$c` of the flag that tells if a result is 0.
const SLCT_ZERO: u8 = 1;
/// Factor bytes that choose the first element of a pair if a flag is set, and the second if it is clear.
const CHOOSE_BY_FLAG: u32 = FIRST_IF_SET | 0x0001_0000;
/// Factor bytes that choose the first element of a pair if a flag is set, and zero otherwise.
const FIRST_IF_SET: u32 = 0x0000_0100;
/// Factor bytes that choose the first element of a pair if a flag is clear, and zero otherwise.
const FIRST_IF_CLEAR: u32 = 0x0000_0001;

/// Opcodes of an operation with register operands and, if there is one, with an immediate.
type Forms = (Opcode, Option<Opcode>);

fn vector_forms(op: Bytes, sign: Sign) -> Forms {
    use Opcode::*;
    match (op, sign) {
        (Bytes::Add, Sign::S) => (VADD_S_RR, Some(VADD_S_RI)),
        (Bytes::Add, Sign::U) => (VADD_U_RR, Some(VADD_U_RI)),
        (Bytes::Sub, Sign::S) => (VSUB_S_RR, None),
        (Bytes::Sub, Sign::U) => (VSUB_U_RR, Some(VSUB_U_RI)),
        (Bytes::Min, Sign::S) => (VMIN_S_RR, Some(VMIN_S_RI)),
        (Bytes::Min, Sign::U) => (VMIN_U_RR, Some(VMIN_U_RI)),
        (Bytes::Max, Sign::S) => (VMAX_S_RR, Some(VMAX_S_RI)),
        (Bytes::Max, Sign::U) => (VMAX_U_RR, Some(VMAX_U_RI)),
        (Bytes::Shr, Sign::S) => (VSHR_S_RR, Some(VSHR_S_RI)),
        (Bytes::Shr, Sign::U) => (VSHR_U_RR, Some(VSHR_U_RI)),
    }
}

fn scalar_forms(op: Bytes, sign: Sign) -> Forms {
    use Opcode::*;
    match (op, sign) {
        (Bytes::Add, Sign::S) => (BADD_S_RR, Some(BADD_S_RI)),
        (Bytes::Add, Sign::U) => (BADD_U_RR, Some(BADD_U_RI)),
        (Bytes::Sub, Sign::S) => (BSUB_S_RR, Some(BSUB_S_RI)),
        (Bytes::Sub, Sign::U) => (BSUB_U_RR, Some(BSUB_U_RI)),
        (Bytes::Min, Sign::S) => (BMIN_S_RR, Some(BMIN_S_RI)),
        (Bytes::Min, Sign::U) => (BMIN_U_RR, Some(BMIN_U_RI)),
        (Bytes::Max, Sign::S) => (BMAX_S_RR, Some(BMAX_S_RI)),
        (Bytes::Max, Sign::U) => (BMAX_U_RR, Some(BMAX_U_RI)),
        (Bytes::Shr, Sign::S) => (BSHR_S_RR, Some(BSHR_S_RI)),
        (Bytes::Shr, Sign::U) => (BSHR_U_RR, Some(BSHR_U_RI)),
    }
}

fn alu_forms(op: Alu) -> (Opcode, Opcode) {
    use Opcode::*;
    match op {
        Alu::Add => (ADD_RR, ADD_RI),
        Alu::Sub => (SUB_RR, SUB_RI),
        Alu::Mul => (MUL_RR, MUL_RI),
        Alu::Min => (MIN_RR, MIN_RI),
        Alu::Max => (MAX_RR, MAX_RI),
        Alu::Sar => (SAR_RR, SAR_RI),
        Alu::Shr => (SHR_RR, SHR_RI),
    }
}

/// Returns the opcodes of a multiplication with a vector result: with register operands, and with an immediate.
fn product_forms(accumulate: bool, sign: Sign) -> (Opcode, Opcode) {
    use Opcode::*;
    match (accumulate, sign) {
        (false, Sign::S) => (VMUL_S_RR, VMUL_S_RI),
        (false, Sign::U) => (VMUL_U_RR, VMUL_U_RI),
        (true, Sign::S) => (VMAC_S_RR, VMAC_S_RI),
        (true, Sign::U) => (VMAC_U_RR, VMAC_U_RI),
    }
}

/// Returns the truth table of the function with its two operands swapped.
pub(super) const fn exchanged(table: u8) -> u8 {
    table & 0b1001 | (table & 0b0010) << 1 | (table & 0b0100) >> 1
}

/// Returns the operation with an immediate that computes a truth table, and whether the immediate must be complemented.
fn immediate_table(table: u8) -> Option<(Immediate, bool)> {
    Some(match table {
        0x8 => (Immediate::And, false),
        0x4 => (Immediate::And, true),
        0xe => (Immediate::Or, false),
        0xd => (Immediate::Or, true),
        0x6 => (Immediate::Xor, false),
        0x9 => (Immediate::Xor, true),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Immediate {
    And,
    Or,
    Xor,
}

impl Lowering<'_> {
    /// Returns the register of an operand. A constant is loaded into a register.
    pub(super) fn reg_of(&mut self, src: Src) -> Reg {
        match src {
            Src::Reg(reg) => reg,
            Src::Word(0) => Reg::ZERO,
            Src::Word(word) => self.constants.word(&mut self.out, word),
            Src::Bytes(bytes) => self.constants.bytes(&mut self.out, bytes),
        }
    }

    /// Returns the register of an operand, but not `$r31`, which tuples do not accept.
    fn reg_for_tuple(&mut self, src: Src) -> Reg {
        let reg = self.reg_of(src);
        match reg.vreg {
            Some(_) => reg,
            None => self.constants.word(&mut self.out, 0),
        }
    }

    fn read_src(&mut self, place: impl Into<GroupRegisterPosition>, src: Src) {
        let reg = self.reg_of(src);
        self.out.read(place, reg);
    }

    /// Starts an instruction with two source operands. If the second one is a splat constant, it
    /// becomes a byte immediate.
    fn two_bytes(&mut self, (rr, ri): Forms, a: Src, b: Src) -> Inst {
        let inst = match (ri, b.splat_byte()) {
            (Some(ri), Some(byte)) => Inst::new(ri).with(BIMM, byte.into()),
            _ => {
                self.read_src(SRC2, b);
                Inst::new(rr)
            }
        };
        self.read_src(SRC1, a);
        inst
    }

    /// Returns an equivalent byte operation that may have an immediate form: a constant comes
    /// second, and the subtraction of a constant becomes an addition.
    fn arranged(op: Bytes, sign: Sign, a: Src, b: Src) -> (Bytes, Src, Src) {
        let commutes = matches!(op, Bytes::Add | Bytes::Min | Bytes::Max);
        let (a, b) = if commutes && !a.is_reg() { (b, a) } else { (a, b) };
        match (op, sign, b) {
            // The signed byte -0x80 has no negation.
            (Bytes::Sub, Sign::S, Src::Bytes(bytes)) if !bytes.contains(&0x80) => {
                (Bytes::Add, a, Src::Bytes(bytes.map(u8::wrapping_neg)))
            }
            _ => (op, a, b),
        }
    }

    pub(super) fn vector_bytes(&mut self, op: Bytes, sign: Sign, a: Src, b: Src) -> Inst {
        let (op, a, b) = Self::arranged(op, sign, a, b);
        self.two_bytes(vector_forms(op, sign), a, b)
    }

    pub(super) fn scalar_bytes(&mut self, op: Bytes, sign: Sign, a: Src, b: Src) -> Inst {
        let (op, a, b) = Self::arranged(op, sign, a, b);
        self.two_bytes(scalar_forms(op, sign), a, b)
    }

    pub(super) fn vector_table(&mut self, table: u8, a: Src, b: Src) -> Inst {
        let (table, a, b) = if a.is_reg() { (table, a, b) } else { (exchanged(table), b, a) };
        if let (Some((op, not)), Some(byte)) = (immediate_table(table), b.splat_byte()) {
            let opcode = match op {
                Immediate::And => Opcode::VAND_RI,
                Immediate::Or => Opcode::VOR_RI,
                Immediate::Xor => Opcode::VXOR_RI,
            };
            self.read_src(SRC1, a);
            return Inst::new(opcode).with(BIMM, if not { !byte } else { byte }.into());
        }
        self.read_src(SRC1, a);
        self.read_src(SRC2, b);
        Inst::new(Opcode::VBITOP_RR).with(BITOP, table.into())
    }

    pub(super) fn scalar_table(&mut self, table: u8, a: Src, b: Src) -> Inst {
        let (table, a, b) = if a.is_reg() { (table, a, b) } else { (exchanged(table), b, a) };
        if let (Some((op, not)), Src::Word(word)) = (immediate_table(table), b) {
            let b = Src::Word(if not { !word } else { word });
            if let Some(imm) = b.imm11() {
                let opcode = match op {
                    Immediate::And => Opcode::AND_RI,
                    Immediate::Or => Opcode::OR_RI,
                    Immediate::Xor => Opcode::XOR_RI,
                };
                self.read_src(SRC1, a);
                return Inst::new(opcode).with(IMM, imm as u64);
            }
        }
        self.read_src(SRC1, a);
        self.read_src(SRC2, b);
        Inst::new(Opcode::BITOP_RR).with(BITOP, table.into())
    }

    /// Starts a bitwise operation on words whose flags are unused. The operation may have a byte
    /// immediate, which leaves the flags undefined.
    pub(super) fn scalar_table_value(&mut self, table: u8, a: Src, b: Src) -> Inst {
        let (first, second, turned) = if a.is_reg() { (a, b, table) } else { (b, a, exchanged(table)) };
        if let (Some((op, not)), Src::Word(_), Some(byte)) = (immediate_table(turned), second, second.splat_byte())
            && !matches!(byte, 0 | 0xff)
        {
            let opcode = match op {
                Immediate::And => Opcode::BAND_RI,
                Immediate::Or => Opcode::BOR_RI,
                Immediate::Xor => Opcode::BXOR_RI,
            };
            self.read_src(SRC1, first);
            return Inst::new(opcode).with(BIMM, if not { !byte } else { byte }.into());
        }
        self.scalar_table(table, a, b)
    }

    pub(super) fn scalar_alu(&mut self, op: Alu, a: Src, b: Src) -> Inst {
        let commutes = matches!(op, Alu::Add | Alu::Mul | Alu::Min | Alu::Max);
        let (a, b) = if commutes && !a.is_reg() { (b, a) } else { (a, b) };
        let (rr, ri) = alu_forms(op);
        let inst = match b.imm11() {
            Some(imm) => Inst::new(ri).with(IMM, imm as u64),
            None => {
                self.read_src(SRC2, b);
                Inst::new(rr)
            }
        };
        self.read_src(SRC1, a);
        inst
    }

    // Products ----------------------------------------------------------------------------------------------------------

    /// Starts a multiplication. If the second factor is an immediate, the opcode has an immediate.
    fn factors(&mut self, (rr, ri): (Opcode, Opcode), a: Factor, b: Factor) -> Inst {
        let (a, b) = if a.src.is_reg() { (a, b) } else { (b, a) };
        let inst = match b.src.splat_byte() {
            Some(byte) if byte % 4 == 0 => {
                let units = u64::from(byte / 4);
                Inst::new(ri).with(BIMMMUL_LOW, units & 31).with(BIMMMUL_HIGH, units >> 5)
            }
            _ => {
                self.read_src(SRC2, b.src);
                Inst::new(rr)
            }
        };
        self.read_src(SRC1, a.src);
        let signed = |factor: Factor| u64::from(factor.sign == Sign::S);
        inst.with(SIGN1, signed(a)).with(SIGN2, signed(b)).with(FRACTINT, 1)
    }

    fn read_as(inst: Inst, readout: Readout) -> Inst {
        inst.with(RND, u64::from(readout.round == Round::Nearest))
            .with(HILO, u64::from(readout.half == Half::Low))
            .with(SHIFT, readout.shift as u64)
    }

    /// Emits a product that replaces the contents of the accumulator or, if `accumulate`, is added to them.
    pub(super) fn product(&mut self, accumulate: bool, a: Factor, b: Factor) {
        let forms = match accumulate {
            false => (Opcode::VMUL_S_RR_VA, Opcode::VMUL_S_RI_VA),
            true => (Opcode::VMAC_S_RR_VA, Opcode::VMAC_S_RI_VA),
        };
        let inst = self.factors(forms, a, b);
        self.out.push(inst);
    }

    /// Emits a product into the accumulator, and returns the register with the readout.
    pub(super) fn product_read(&mut self, accumulate: bool, readout: Readout, a: Factor, b: Factor) -> Reg {
        let inst = self.factors(product_forms(accumulate, readout.sign), a, b);
        self.out.vector(Self::read_as(inst, readout))
    }

    // Conditions --------------------------------------------------------------------------------------------------------

    pub(super) fn sign_flag(c: VReg) -> Flag {
        Flag::Bit { c, bit: SLCT_SIGN, not: false }
    }

    pub(super) fn zero_flag(c: VReg) -> Flag {
        Flag::Bit { c, bit: SLCT_ZERO, not: false }
    }

    /// Returns a register with the first word if a condition holds, else with the second word.
    pub(super) fn chosen(&mut self, flag: Flag, a: Src, b: Src) -> Reg {
        match flag {
            Flag::Known(true) => self.reg_of(a),
            Flag::Known(false) => self.reg_of(b),
            Flag::Bit { c, bit, not } => {
                let (set, clear) = if not { (b, a) } else { (a, b) };
                let pair = [self.reg_for_tuple(clear), self.reg_for_tuple(set)];
                self.out.read_tuple(SRC2, &pair);
                self.out.read(COND, Reg::new(c));
                self.out.word(Inst::new(Opcode::ADD_RR).with(SLCT, bit.into()))
            }
        }
    }

    /// Returns a register with bytes of `a` where a condition holds, and bytes of `b` elsewhere.
    pub(super) fn chosen_bytes(&mut self, flag: VFlag, a: Src, b: Src) -> Reg {
        let (set, clear) = if flag.not { (b, a) } else { (a, b) };
        // If one vector is zero, the other one is both parts of the pair, because such a pair can
        // be in any register and needs no move.
        let (factors, pair) = match (set.splat_byte(), clear.splat_byte()) {
            (_, Some(0)) => (FIRST_IF_SET, [set; 2]),
            (Some(0), _) => (FIRST_IF_CLEAR, [clear; 2]),
            _ => (CHOOSE_BY_FLAG, [set, clear]),
        };
        let factors = self.constants.word(&mut self.out, factors);
        let pair = pair.map(|src| self.reg_of(src));
        self.out.read(SRC1, factors);
        self.out.read(VCIDX, Reg::new(flag.vc));
        let scalar = Inst::new(Opcode::BVEC).with(VCFLAG, flag.zero.into());
        self.out.read_tuple(second(SRC1), &pair);
        // The base operand only affects bits of the sum above the byte that is read.
        let [base, _] = pair;
        self.out.read(second(SRC2), base);
        let vector = Inst::new(Opcode::VMAD2_U).with(FRACTINT, 1).with(HILO, 1).with(SHIFT, -1i64 as u64);
        let result = self.out.define(second(DST), Class::V);
        self.out.push(Group::from([scalar, vector]));
        Reg::new(result)
    }

    // Words of vectors --------------------------------------------------------------------------------------------------

    /// Extracts word number `word` of a vector into a `$r`.
    pub(super) fn word_from(&mut self, vector: Reg, word: u8) -> Reg {
        self.out.read(SRC1, vector);
        self.out.word(Inst::new(Opcode::MOV_R_V).with(VWORD, (word & 3).into()))
    }

    /// Inserts words into the vector `so_far`, or into a new vector if it is `None`.
    pub(super) fn words_into(&mut self, mut so_far: Option<VReg>, words: &[(u8, Src)]) -> Reg {
        for &(word, src) in words {
            self.read_src(SRC1, src);
            let next = match so_far {
                None => self.out.define(DST, Class::V),
                Some(old) => self.out.replace(DST, old),
            };
            self.out.push(Inst::new(Opcode::MOV_V_R).with(VWORD, (word & 3).into()));
            so_far = Some(next);
        }
        so_far.map_or(Reg::ZERO, Reg::new)
    }

    // Streams -----------------------------------------------------------------------------------------------------------

    /// Loads the word at the cursor of a stream, and advances the cursor by `step`.
    pub(super) fn load_word(&mut self, stream: u32, step: u32) -> Reg {
        let inst = Inst::new(Opcode::LDAS_I).with(SRC1, self.streams.region(stream).into()).with(IMM, step.into());
        self.out.word(Group::from(inst).with_stream(stream))
    }

    pub(super) fn load_vector(&mut self, stream: u32, step: u32) -> Reg {
        let inst = Inst::new(Opcode::LDAVH_I).with(SRC1, self.streams.region(stream).into()).with(IMM, step.into());
        self.out.vector(Group::from(inst).with_stream(stream))
    }

    /// Stores a register at the cursor of a stream, and advances the cursor by `step`.
    pub(super) fn store_at(&mut self, opcode: Opcode, data: Reg, stream: u32, step: u32) {
        self.out.read(SRC1, data);
        let inst = Inst::new(opcode).with(DST, self.streams.region(stream).into()).with(IMM, step.into());
        self.out.push(Group::from(inst).with_stream(stream));
    }

    /// Sets the `$a` of a window to the address of an element. If `kept`, the offset is clamped, so
    /// that an out-of-bounds store stays in the margin around the buffer.
    pub(super) fn go_to_window(&mut self, window: u32, mem: MemAttr, index: Src, kept: bool) -> Reg {
        let mut offset = index;
        if mem.scale > 1 {
            let shift = mem.scale.trailing_zeros();
            let inst = self.scalar_alu(Alu::Shr, offset, Src::Word(shift.wrapping_neg()));
            offset = Src::Reg(self.out.word(inst));
        }
        if mem.offset != 0 {
            let inst = self.scalar_alu(Alu::Add, offset, Src::Word(mem.offset as u32));
            offset = Src::Reg(self.out.word(inst));
        }
        if kept {
            let bound = self.window_bound(window);
            let inst = self.scalar_alu(Alu::Min, Src::Reg(bound), offset);
            let inst = self.out.word(inst);
            let inst = self.scalar_alu(Alu::Max, Src::Reg(inst), Src::Word(WINDOW_MARGIN.wrapping_neg()));
            offset = Src::Reg(self.out.word(inst));
        }
        let start = self.window_start(window);
        let address = self.scalar_alu(Alu::Add, Src::Reg(start), offset);
        let address = self.out.word(address);
        self.out.read(SRC1, address);
        self.out.push(Inst::new(Opcode::MOV_A_R).with(DST, self.streams.region(window).into()));
        address
    }

    /// Loads the word or the vector at the address in the `$a` of a window.
    pub(super) fn load_there(&mut self, opcode: Opcode, window: u32) -> Reg {
        let group = Group::from(Inst::new(opcode).with(SRC1, self.streams.region(window).into())).with_stream(window);
        if opcode == Opcode::LDVH { self.out.vector(group) } else { self.out.word(group) }
    }

    pub(super) fn store_there(&mut self, opcode: Opcode, data: Reg, window: u32) {
        self.out.read(SRC1, data);
        self.out.push(Group::from(Inst::new(opcode).with(DST, self.streams.region(window).into())).with_stream(window));
    }

    /// Returns the bit offset of an address within its word.
    pub(super) fn bits_in_word(&mut self, address: Reg) -> Src {
        let byte = self.scalar_table(0x8, Src::Reg(address), Src::Word(3));
        let byte = self.out.word(byte);
        let bits = self.scalar_alu(Alu::Shr, Src::Reg(byte), Src::Word(-3i32 as u32));
        Src::Reg(self.out.word(bits))
    }

    /// Returns the bit offset, within its word, of the element at the cursor of a stream.
    pub(super) fn place_in_word(&mut self, stream: u32) -> Src {
        let cursor = self.out.word(Inst::new(Opcode::MOV_R_A).with(SRC1, self.streams.region(stream).into()));
        self.bits_in_word(cursor)
    }

    /// Emits an instruction with three vector operands and a vector result.
    pub(super) fn three_vectors(&mut self, opcode: Opcode, a: Src, b: Src, c: Src) -> Reg {
        for (field, src) in [(SRC1, a), (SRC2, b), (SRC3, c)] {
            self.read_src(field, src);
        }
        self.out.vector(Inst::new(opcode))
    }

    /// Starts a scalar instruction with one source operand.
    pub(super) fn scalar_unary(&mut self, opcode: Opcode, place: Field, src: Src) -> Inst {
        self.read_src(place, src);
        Inst::new(opcode)
    }
}

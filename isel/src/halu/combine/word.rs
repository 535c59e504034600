//! Decoding of instructions into operations, and encoding of operations into instructions.

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use halfbyte_isa::word::Field;

use super::Combiner;
use crate::halu::builder::choice;
use crate::halu::lowering::opcode_of_type::{IADD3, IMAD, LOP3};
use crate::halu::operands::{Number, Reg, SourceLocation, Src};
use crate::vcode::Access;

/// Operation of a HALU instruction with three source operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ThreeSourceOp {
    /// LOP3 with its truth table.
    Logic(u8),
    /// IADD3.
    Sum,
    /// IMAD.
    Product,
}

/// Kind of a shift by a constant below 32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    Right,
    /// Arithmetic right shift.
    Signed,
}

/// Decoded operation of an instruction that can be combined with other instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Three(ThreeSourceOp, [Src; 3]),
    /// Shift of one 32-bit register: kind of shift, constant count, register.
    Shift(Shift, u32, Reg),
    /// PRMT: the selector, and the source registers of bytes 0 to 3 and of bytes 4 to 7.
    Permutation(u16, [Reg; 2]),
    Number(u32),
    /// Zero-extending load of `bytes` bytes, fewer than four.
    Load {
        bytes: usize,
        /// The same load with sign extension, if there is one.
        signed: Option<Word>,
    },
}

/// Returns `true` for an opcode of LOP3.
pub(super) const fn is_logic(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::LOP3_RRR | Opcode::LOP3_RIR | Opcode::LOP3_RCR)
}

impl Combiner<'_> {
    /// Decodes an instruction into an operation, or returns `None` if it cannot be combined.
    pub(super) fn meaning(&self, at: u32) -> Option<Operation> {
        match self.inst(at)?.inst.opcode() {
            Opcode::PRMT_RIR => self.permutation(at).map(|(selector, words)| Operation::Permutation(selector, words)),
            Opcode::SHF_RIR => self.shift_of(at).map(|(shift, count, reg)| Operation::Shift(shift, count, reg)),
            Opcode::MOV_I => self.constant(at).map(Operation::Number),
            _ => self
                .three(at)
                .map(|(kind, sources)| Operation::Three(kind, sources))
                .or_else(|| self.narrow_load(at).map(|(bytes, signed)| Operation::Load { bytes, signed })),
        }
    }

    /// Returns the register that an instruction reads in the given field.
    pub(super) fn read(&self, at: u32, field: Field) -> Reg {
        let operands = self.inst(at).map_or(&[][..], |inst| self.code.operands(inst));
        let operand = operands.iter().find(|operand| operand.access == Access::Use && operand.place == field);
        operand.map_or(Reg::ZERO, |operand| Reg { vreg: Some(self.now(operand.reg)), part: operand.part })
    }

    /// Returns `true` if an instruction equals `word` and reads only the three source operands,
    /// without a guard, a carry or other operands.
    fn is_plain(&self, at: u32, word: Word) -> bool {
        let Some(inst) = self.inst(at) else { return false };
        let is_source = |field: Field| field == RA || field == R32 || field == R64;
        inst.inst.word() == word.word()
            && self.result(at).is_some()
            && self.code.operands(inst).iter().all(|operand| operand.access != Access::Use || is_source(operand.place))
    }

    /// Decodes an instruction with three source operands: LOP3, IADD3 or IMAD.
    pub(super) fn three(&self, at: u32) -> Option<(ThreeSourceOp, [Src; 3])> {
        let word = self.inst(at)?.inst;
        let opcode = word.opcode();
        let kind = match opcode {
            _ if is_logic(opcode) => ThreeSourceOp::Logic(word.get(LUT) as u8),
            Opcode::IADD3_RRR | Opcode::IADD3_RIR | Opcode::IADD3_RCR => ThreeSourceOp::Sum,
            Opcode::IMAD_RRR | Opcode::IMAD_RIR | Opcode::IMAD_RCR | Opcode::IMAD_RRI => ThreeSourceOp::Product,
            _ => return None,
        };
        let reg = |field| Src::plain(SourceLocation::Reg(self.read(at, field)));
        let number = || Src::imm(word.get(IMM32) as u32);
        let mut plain = Word::new(opcode);
        let mut sources = match opcode {
            Opcode::IMAD_RRI => [reg(RA), reg(R64), number()],
            Opcode::LOP3_RIR | Opcode::IADD3_RIR | Opcode::IMAD_RIR => [reg(RA), number(), reg(R64)],
            Opcode::LOP3_RCR | Opcode::IADD3_RCR | Opcode::IMAD_RCR => {
                plain.set(CMEM_OFFSET, word.get(CMEM_OFFSET));
                [reg(RA), Src::plain(SourceLocation::Const(word.get(CMEM_OFFSET) as u16)), reg(R64)]
            }
            _ => [reg(RA), reg(R32), reg(R64)],
        };
        if sources.iter().any(|source| matches!(source.place, SourceLocation::Imm(_))) {
            plain.set(IMM32, word.get(IMM32));
        }
        match kind {
            ThreeSourceOp::Logic(table) => plain.set(LUT, table.into()),
            ThreeSourceOp::Sum => {
                let has_number = matches!(opcode, Opcode::IADD3_RIR);
                for (source, field) in sources.iter_mut().zip([RA_NEG, SLOT_NEG, R64_NEG]) {
                    if field == SLOT_NEG && has_number {
                        continue;
                    }
                    plain.set(field, word.get(field));
                    source.neg = word.get(field) == 1;
                }
            }
            ThreeSourceOp::Product => {}
        }
        self.is_plain(at, plain).then_some((kind, sources))
    }

    /// Replaces an instruction by an operation with three source operands. Returns `false` if the
    /// instruction cannot encode the operands. The operands of LOP3 keep their order.
    pub(super) fn write_three(&mut self, at: u32, kind: ThreeSourceOp, sources: [Src; 3]) -> bool {
        let [a, b, c] = sources.map(|source| source.folded(Number::Int));
        let (forms, [a, b, c]) = match kind {
            ThreeSourceOp::Logic(_) => (LOP3, [a, b, c]),
            // All operands of a sum commute, and the first two operands of a product commute.
            ThreeSourceOp::Sum if !a.is_reg() => (IADD3, [b, a, c]),
            ThreeSourceOp::Sum if !c.is_reg() => (IADD3, [a, c, b]),
            ThreeSourceOp::Sum => (IADD3, [a, b, c]),
            ThreeSourceOp::Product if !a.is_reg() => (IMAD, [b, a, c]),
            ThreeSourceOp::Product => (IMAD, [a, b, c]),
        };
        let has_room =
            c.is_reg() || kind == ThreeSourceOp::Product && b.is_reg() && matches!(c.place, SourceLocation::Imm(_));
        if !a.is_reg() || !has_room {
            return false;
        }
        self.builder.operands.clear();
        let mut word = self.builder.three_in_order(forms, Number::Int, a, b, c);
        if let ThreeSourceOp::Logic(table) = kind {
            word.set(LUT, table.into());
        }
        self.replace(at, word);
        true
    }

    /// Decodes PRMT with a constant selector. Returns the selector, and the source registers of
    /// bytes 0 to 3 and of bytes 4 to 7.
    pub(super) fn permutation(&self, at: u32) -> Option<(u16, [Reg; 2])> {
        let word = self.inst(at)?.inst;
        let plain = || Word::new(Opcode::PRMT_RIR).with(IMM16, word.get(IMM16));
        (word.opcode() == Opcode::PRMT_RIR && self.is_plain(at, plain()))
            .then(|| (word.get(IMM16) as u16, [self.read(at, RA), self.read(at, R64)]))
    }

    pub(super) fn write_permutation(&mut self, at: u32, selector: u16, sources: [Reg; 2]) {
        self.builder.operands.clear();
        self.builder.read(RA, sources[0]);
        self.builder.read(R64, sources[1]);
        self.replace(at, Word::new(Opcode::PRMT_RIR).with(IMM16, selector.into()));
    }

    /// Decodes a shift of one 32-bit register by a constant.
    pub(super) fn shift_of(&self, at: u32) -> Option<(Shift, u32, Reg)> {
        let word = self.inst(at)?.inst;
        if word.opcode() != Opcode::SHF_RIR {
            return None;
        }
        let (low, high) = (self.read(at, RA), self.read(at, R64));
        let plain = Word::new(Opcode::SHF_RIR).with(IMM32, word.get(IMM32));
        let left = plain.with(DIR, choice!(M_DIR, "L")).with(SIGN, choice!(M_SIGN, "U32"));
        let right = plain.with(DIR, choice!(M_DIR, "R")).with(HI, 1);
        let count = word.get(IMM32) as u32 % 32;
        if self.is_plain(at, left) && high == Reg::ZERO {
            Some((Shift::Left, count, low))
        } else if low != Reg::ZERO {
            None
        } else if self.is_plain(at, right.with(SIGN, choice!(M_SIGN, "U32"))) {
            Some((Shift::Right, count, high))
        } else if self.is_plain(at, right.with(SIGN, choice!(M_SIGN, "S32"))) {
            Some((Shift::Signed, count, high))
        } else {
            None
        }
    }

    /// Replaces an instruction by LEA, which computes `rd = (scaled << count) + to`.
    pub(super) fn write_scaled(&mut self, at: u32, scaled: Reg, count: u32, to: Reg) {
        self.builder.operands.clear();
        self.builder.read(RA, scaled);
        self.builder.read(R32, to);
        self.replace(at, Word::new(Opcode::LEA).with(SHIFT, count.into()));
    }

    /// Returns the constant that an instruction moves into its result register, or `None` for any
    /// other instruction.
    pub(super) fn constant(&self, at: u32) -> Option<u32> {
        let word = self.inst(at)?.inst;
        let plain = || Word::new(Opcode::MOV_I).with(IMM32, word.get(IMM32));
        (word.opcode() == Opcode::MOV_I && self.is_plain(at, plain())).then(|| word.get(IMM32) as u32)
    }

    pub(super) fn write_constant(&mut self, at: u32, number: u32) {
        self.builder.operands.clear();
        let word = match number {
            0 => Word::new(Opcode::MOV_R),
            _ => Word::new(Opcode::MOV_I).with(IMM32, number.into()),
        };
        self.replace(at, word);
    }

    /// Decodes a zero-extending load of less than a word. Returns its size in bytes, and the same
    /// load with sign extension if there is one.
    fn narrow_load(&self, at: u32) -> Option<(usize, Option<Word>)> {
        let word = self.inst(at)?.inst;
        let (bytes, signed) = match word.opcode() {
            Opcode::LDG_U_U8 => (1, Some(Opcode::LDG_U_S8)),
            Opcode::LDG_W_U8 => (1, Some(Opcode::LDG_W_S8)),
            Opcode::LDC_U8 => (1, Some(Opcode::LDC_S8)),
            Opcode::LDS_U8 => (1, None),
            Opcode::LDG_U_U16 => (2, Some(Opcode::LDG_U_S16)),
            Opcode::LDG_W_U16 => (2, Some(Opcode::LDG_W_S16)),
            Opcode::LDC_U16 => (2, Some(Opcode::LDC_S16)),
            Opcode::LDS_U16 => (2, None),
            _ => return None,
        };
        self.result(at)?;
        let fields: &[Field] = match word.opcode() {
            Opcode::LDC_U8 | Opcode::LDC_U16 => &[CMEM_OFFSET, CMEM_BANK],
            Opcode::LDG_U_U8 | Opcode::LDG_U_U16 => &[UR32, IMM24],
            _ => &[IMM24],
        };
        let copy = |opcode| fields.iter().fold(Word::new(opcode), |copy, &field| copy.with(field, word.get(field)));
        // The comparison fails if the load has a guard, because the copy has none.
        (copy(word.opcode()).word() == word.word()).then(|| (bytes, signed.map(copy)))
    }

    /// Returns `true` if an instruction without used results can be removed.
    pub(super) fn is_removable(&self, at: u32) -> bool {
        let is_move = || {
            let moves = [Opcode::MOV_R, Opcode::MOV_I, Opcode::MOV_C, Opcode::LEA];
            self.inst(at).is_some_and(|inst| moves.contains(&inst.inst.opcode()) && inst.inst.is_unconditional())
        };
        is_move()
            || matches!(
                self.meaning(at),
                Some(Operation::Three(..) | Operation::Permutation(..) | Operation::Shift(..))
            )
    }
}

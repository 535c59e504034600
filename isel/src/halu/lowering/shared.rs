//! Constructors of HALU instructions that are used for several ops.

use halfbyte_ir::{Axis, FloatFlags};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};

use super::super::builder::{TwoForms, choice, rounding};
use super::super::machine::RegClass;
use super::super::operands::{Number, Pred, Reg, SourceLocation, Src};
use super::Lowering;
use super::context::rules::Context;
use super::opcode_of_type::*;
use crate::simt::Sign;

impl Lowering<'_> {
    pub(super) fn division(&mut self, opcode: Opcode, sign: Sign, a: Src, b: Src) -> Reg {
        let b = self.out.in_reg(b.folded(Number::Int));
        let forms = TwoForms { rr: opcode, ri: opcode, rc: opcode };
        let inst = self.out.two(forms, Number::Int, a, b).with(SIGN, sign_choice!(M_SIGN, sign));
        self.out.word(inst)
    }

    pub(super) fn pair_division(&mut self, opcode: Opcode, sign: Sign, a: Reg, b: Reg) -> Reg {
        let inst = Word::new(opcode).with(SIGN, sign_choice!(M_SIGN, sign));
        self.out.read(RA, a);
        self.out.read(R32, b);
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    /// Emits an instruction on 64-bit register pairs, and returns the pair with its result.
    /// `sources` are the first to third operand.
    pub(super) fn of_pairs(&mut self, inst: Word, sources: &[Reg]) -> Reg {
        for (&source, field) in sources.iter().zip([RA, R32, R64]) {
            self.out.read(field, source);
        }
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    /// Emits an f64 arithmetic instruction.
    pub(super) fn double(&mut self, opcode: Opcode, flags: FloatFlags, sources: &[Reg]) -> Reg {
        self.of_pairs(Word::new(opcode).with(RND, rounding(flags.rounding)), sources)
    }

    /// Emits an instruction with a 64-bit result, whose only source is in the second operand field.
    pub(super) fn pair_of_one(&mut self, inst: Word, source: Reg) -> Reg {
        self.out.read(R32, source);
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    pub(super) fn plop3(&mut self, table: u8, a: Pred, b: Pred, c: Pred) -> Pred {
        let mut inst = Word::new(Opcode::PLOP3).with(LUT, table.into());
        self.out.read_pred(&mut inst, PP, PP_NOT, a);
        self.out.read_pred(&mut inst, PX, PX_NOT, b);
        self.out.read_pred(&mut inst, PY, PY_NOT, c);
        self.out.pred(inst, PU)
    }

    /// Reads a special register for an axis. Without an axis, reads the total over all axes.
    pub(super) fn special(&mut self, register: u64, axis: Option<Axis>) -> Reg {
        let axis = match axis {
            None => 0,
            Some(Axis::X) => choice!(M_AXIS, "X"),
            Some(Axis::Y) => choice!(M_AXIS, "Y"),
            Some(Axis::Z) => choice!(M_AXIS, "Z"),
        };
        self.out.word(Word::new(Opcode::S2R).with(SREG, register).with(AXIS, axis))
    }

    /// Reads a count of items or groups from constant bank 0: along an axis, or in total.
    pub(super) fn count(&mut self, offset: u16, axis: Option<Axis>) -> Reg {
        let all = 4 * Axis::ALL.len() as u16;
        let within = axis.map_or(all, |axis| axis.of([0, 4, 8]));
        self.out.reg(Src::plain(SourceLocation::Const(offset + within)))
    }

    pub(super) fn down(&mut self, bits: u32, lane: u8, reg: Reg) -> Reg {
        let offset = bits * u32::from(lane);
        let word = reg.part((offset / 32) as u8);
        match offset % 32 {
            0 => word,
            n => Context::shift_right(self, &Sign::U, Src::plain(SourceLocation::Reg(word)), Src::imm(n)),
        }
    }
}

//! Special registers of PTX with the indices and counts of items and groups.

use halfbyte_ir::Axis;
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token, Type as RegType};
use halfbyte_isa::ptx::{self, Opcode, Operand};

use super::super::Lowering;

impl Lowering<'_> {
    /// Returns the special register of an axis as an operand. A group size that is fixed at compile
    /// time becomes a constant.
    pub(super) fn special(&mut self, group: SpecialGroup, axis: Option<Axis>) -> Operand {
        match self.block {
            Some(block) if group == SpecialGroup::BlockSize => {
                self.along_x |= axis.is_none();
                Operand::Number(axis.unwrap_or(Axis::X).of(block).into())
            }
            _ => Operand::Register(self.special_reg(group, axis)),
        }
    }

    /// Reads the special register of an axis. Without an axis, reads the register of x, and so
    /// requires that launches are one-dimensional.
    pub(super) fn special_reg(&mut self, group: SpecialGroup, axis: Option<Axis>) -> ptx::Reg {
        self.along_x |= axis.is_none();
        self.read_special(Special { group, axis: axis.unwrap_or(Axis::X) })
    }

    /// Returns the register of the item's lane index in its warp.
    pub(super) fn lane_reg(&mut self) -> ptx::Reg {
        self.read_special(Special { group: SpecialGroup::Lane, axis: Axis::X })
    }

    fn read_special(&mut self, special: Special) -> ptx::Reg {
        self.out.word(Opcode::MOV_SPECIAL, &[Token::Type(RegType::U32)], &[Operand::Special(special)])
    }
}

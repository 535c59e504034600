//! Lanes of packed integers: their extension to words, their shifts, and masks that are computed from comparisons.

use halfbyte_ir::{Op, Type, Value};
use halfbyte_isa::ptx::{Opcode, Operand};

use super::opcode_of_type::word_type;
use super::{Lowering, rules};
use crate::ptx::operands::{Reg, Src};
use crate::simt::{Sign, in_lanes, lane_bits};

/// Maximum number of nested bitwise operations on masks that are joined.
const MAX_JOINED: u32 = 4;

impl Lowering<'_> {
    /// Extends a lane of a vector to 32 bits.
    pub(super) fn extended_lane(&mut self, sign: Sign, ty: Type, lane: u8, src: Src) -> Reg {
        let bits = lane_bits(ty);
        let first = bits * u32::from(lane);
        if first == 0 {
            let extended = rules::Context::extend(self, &sign, ty.lane_type(), src);
            return rules::Context::in_register(self, extended);
        }
        // NVIDIA's assembler emits one instruction for each of these forms, but two for a signed `bfe`.
        if first + bits == 32 {
            return rules::Context::shift_right(self, &sign, src, Src::Number(first));
        }
        if sign == Sign::S {
            let byte = u16::from(lane);
            return rules::Context::prmt(self, byte | ((byte | 8) * 0x1110), src, Src::Number(0));
        }
        let field = [src.into(), Operand::Number(first.into()), Operand::Number(bits.into())];
        Reg::new(self.out.word(Opcode::BFE, &[word_type(sign)], &field))
    }

    /// Shifts each lane left.
    pub(super) fn lanes_shifted_left(&mut self, ty: Type, count: u32, src: Src) -> Reg {
        if count == 0 {
            return rules::Context::in_register(self, src);
        }
        let shifted = rules::Context::shift_left(self, src, Src::Number(count));
        let kept = in_lanes(lane_bits(ty), (ty.elem().mask() as u32) << count);
        rules::Context::lop3(self, 0xc0, Src::Reg(shifted.word(0)), Src::Number(kept), Src::Number(0))
    }

    /// Shifts each lane right.
    pub(super) fn lanes_shifted_right(&mut self, sign: Sign, ty: Type, count: u32, src: Src) -> Reg {
        if count == 0 {
            return rules::Context::in_register(self, src);
        }
        let shifted = rules::Context::shift_right(self, &Sign::U, src, Src::Number(count));
        let shifted = Src::Reg(shifted.word(0));
        let kept = Src::Number(in_lanes(lane_bits(ty), ty.elem().mask() as u32 >> count));
        match sign {
            Sign::U => rules::Context::lop3(self, 0xc0, shifted, kept, Src::Number(0)),
            // Bits that the shift moves in become copies of the sign. The table 0xe2 is `b ? a : c`.
            Sign::S => {
                let word = rules::Context::in_register(self, src);
                let signs = rules::Context::sign_mask(self, ty, word);
                rules::Context::lop3(self, 0xe2, shifted, kept, Src::Reg(signs.word(0)))
            }
        }
    }

    /// Returns the type of compared lanes if both masks are computed from comparisons in the current block.
    pub(super) fn lanes_of_joined(&self, a: Value, b: Value) -> Option<Type> {
        let (a, b) = (self.compared_lanes(a, MAX_JOINED)?, self.compared_lanes(b, MAX_JOINED)?);
        a.and(b)
    }

    /// Returns the type of the lanes that are compared to compute a mask with at most `depth` nested
    /// bitwise operations, if any lanes are compared. Returns `None` if the operations are nested
    /// deeper or are in another block, because they must not be computed again there.
    fn compared_lanes(&self, mask: Value, depth: u32) -> Option<Option<Type>> {
        let Some(inst) = self.kernel.def_inst(mask) else { return Some(None) };
        let is_compared = match self.kernel.insts[inst].op {
            Op::Icmp => true,
            Op::And | Op::Or | Op::Xor | Op::Not => false,
            _ => return Some(None),
        };
        if !self.block_of_kernel.is_some_and(|block| self.kernel.blocks[block].insts.contains(&inst)) {
            return None;
        }
        if is_compared {
            return Some(Some(self.kernel.insts[inst].ty));
        }
        let depth = depth.checked_sub(1)?;
        let mut found = None;
        for &arg in self.kernel.args(inst) {
            found = self.compared_lanes(arg, depth)?.or(found);
        }
        Some(found)
    }
}

//! Lanes of packed integers: their extension to words, and masks that are computed from comparisons.

use halfbyte_ir::{Op, Type, Value};
use halfbyte_isa::ptx::{Opcode, Operand};

use super::opcode_of_type::word_type;
use super::{Lowering, rules};
use crate::ptx::operands::{Reg, Src};
use crate::simt::{Sign, lane_bits};

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
        // NVIDIA's assembler makes one instruction of each of these forms, but two of a signed `bfe`.
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

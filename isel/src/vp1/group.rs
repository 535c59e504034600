//! VP1 instructions in selected code, and their register classes.

use std::fmt;

use arrayvec::ArrayVec;
use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::fields::OP;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use crate::vcode::BlockIndex;

/// Register class of a virtual register of VP1. The other register files have no virtual registers: address registers
/// and loop counters are named by number, and there is only one `$va` and one `$vx`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// 32 bits in a `$r`.
    R,
    /// Sixteen bytes in a `$v`.
    V,
    /// Flags of a scalar instruction in a `$c`. Flags cannot be moved or spilled. So at most four
    /// are live at once, and flags that are a block argument must not be used after the edge.
    C,
    /// Flags of a vector instruction in a `$vc`, with the same limits as `C`.
    Vc,
}

/// One instruction, or two that must share a bundle because the scalar unit passes a value to the vector unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Instructions in bundle order.
    pub insts: ArrayVec<Inst, 2>,
    /// Stream whose element the instruction loads or stores, if any.
    pub stream: Option<u32>,
}

/// Position of a register number in a group of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupRegisterPosition {
    /// Index of the instruction in the group.
    pub inst: u8,
    /// Bit field of the instruction word.
    pub field: Field,
}

/// Data of a kernel, other than its instructions, that the emission of VP1 objects needs.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// Streams and data image of the kernel. Emission fills in the addresses of instruction words.
    pub tiles: Tiles,
    /// Block whose back edge is taken once per group of work items.
    pub group_latch: Option<BlockIndex>,
}

impl From<Inst> for Group {
    fn from(inst: Inst) -> Group {
        Group { insts: [inst].into_iter().collect(), stream: None }
    }
}

impl From<[Inst; 2]> for Group {
    fn from(insts: [Inst; 2]) -> Group {
        Group { insts: insts.into(), stream: None }
    }
}

impl From<Field> for GroupRegisterPosition {
    /// Returns the position of a bit field in a group of one instruction.
    fn from(field: Field) -> GroupRegisterPosition {
        GroupRegisterPosition { inst: 0, field }
    }
}

impl From<GroupRegisterPosition> for Field {
    fn from(place: GroupRegisterPosition) -> Field {
        place.field
    }
}

/// Prints the instructions as assembly. The instructions of a bundle are on one line.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, inst) in self.insts.iter().enumerate() {
            write!(f, "{}{inst}", if i == 0 { "" } else { " & " })?;
        }
        Ok(())
    }
}

/// Bit of the field OP in which a conditional branch and its inverse differ.
const NOT: u64 = 2;

impl Group {
    /// Marks the group as an access to a stream.
    #[must_use]
    pub fn with_stream(mut self, stream: u32) -> Group {
        self.stream = Some(stream);
        self
    }

    /// Writes a value to a bit field of one of the instructions.
    pub(crate) fn set(&mut self, place: GroupRegisterPosition, value: u64) {
        if let Some(inst) = self.insts.get_mut(usize::from(place.inst)) {
            inst.set(place.field, value);
        }
    }

    /// Inverts the condition of the group's conditional branch.
    pub(crate) fn invert(&mut self) {
        for inst in &mut self.insts {
            if is_branch(inst.opcode())
                && let Some(inverse) = Inst::decode(inst.word() ^ (NOT << OP.lo) as u32)
            {
                *inst = inverse;
            }
        }
    }
}

/// Returns `true` if the opcode is a conditional branch.
pub(crate) fn is_branch(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::BRA | Opcode::BRA_NOT | Opcode::BRA_LOOP | Opcode::BRA_LOOP_NOT)
}

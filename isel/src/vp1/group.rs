//! Instructions of VP1 as selected code has them.

use std::fmt;

use arrayvec::ArrayVec;
use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::fields::OP;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use crate::vcode::BlockIndex;

/// What a virtual register of VP1 holds. Address registers and loop counters are named by number, and `$va` and `$vx` are one
/// each: none of them is virtual.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// 32 bits, in a `$r`.
    R,
    /// Sixteen bytes, in a `$v`.
    V,
    /// Flags, in a `$c`. Nothing else can hold them: at most four are live at once, and none passes a block parameter whose
    /// argument lives on.
    C,
    /// Flags of vectors, in a `$vc`, as few.
    Vc,
}

/// One instruction, or two that must share a bundle: what the scalar unit hands to the vector unit lives no longer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// In the order of a bundle.
    pub insts: ArrayVec<Inst, 2>,
    /// The stream whose element it loads or stores.
    pub stream: Option<u32>,
}

/// Where the number of a register stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// In which instruction of the group.
    pub inst: u8,
    /// In which of its fields.
    pub field: Field,
}

/// What emission must know of a function beside its instructions.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// The streams and the image. Word addresses in it are filled in by emission.
    pub tiles: Tiles,
    /// The block whose backward branch is taken once a group of work items.
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

impl From<Field> for Place {
    /// In the only instruction.
    fn from(field: Field) -> Place {
        Place { inst: 0, field }
    }
}

impl From<Place> for Field {
    fn from(place: Place) -> Field {
        place.field
    }
}

/// The instructions as assembly, with what shares a bundle on one line.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, inst) in self.insts.iter().enumerate() {
            write!(f, "{}{inst}", if i == 0 { "" } else { " & " })?;
        }
        Ok(())
    }
}

/// The bit of OP that a branch and its inverse differ in.
const NOT: u64 = 2;

impl Group {
    /// The group as an access to a stream.
    #[must_use]
    pub fn with_stream(mut self, stream: u32) -> Group {
        self.stream = Some(stream);
        self
    }

    /// Sets a field of one of its instructions.
    pub(crate) fn set(&mut self, place: Place, value: u64) {
        if let Some(inst) = self.insts.get_mut(usize::from(place.inst)) {
            inst.set(place.field, value);
        }
    }

    /// Lets its conditional branch be taken where it was not, and the other way round.
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

/// Whether it goes to a target if a condition holds.
pub(crate) fn is_branch(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::BRA | Opcode::BRA_NOT | Opcode::BRA_LOOP | Opcode::BRA_LOOP_NOT)
}

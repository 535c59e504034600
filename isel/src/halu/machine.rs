//! HALU as a machine that code is selected for.

use halfbyte_isa::halu;
use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::word::Field;

use crate::vcode::Machine;

/// HALU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Halu;

/// What emission must know of a kernel for HALU beside its instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HaluExtra {
    /// Bytes of shared memory besides those of which a launch says how many; none where the kernel declares none.
    pub shared_bytes: Option<u32>,
    /// Bytes of local memory that the kernel declares. Spilled registers lie behind them.
    pub scratch_bytes: u32,
}

/// What a virtual register of HALU holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegClass {
    /// A predicate.
    Pred,
    /// One 32-bit register.
    Word,
    /// Two, the first even.
    Pair,
    /// Four, the first a multiple of four.
    Quad,
}

impl RegClass {
    /// How many 32-bit registers it takes; a predicate takes none.
    pub const fn words(self) -> u32 {
        match self {
            RegClass::Pred => 0,
            RegClass::Word => 1,
            RegClass::Pair => 2,
            RegClass::Quad => 4,
        }
    }
}

impl Machine for Halu {
    type Inst = halu::Inst;
    type Place = Field;
    type Class = RegClass;
    type Extra = HaluExtra;

    fn jump() -> halu::Inst {
        halu::Inst::new(halu::Opcode::BRA)
    }

    fn exit() -> halu::Inst {
        halu::Inst::new(halu::Opcode::EXIT)
    }

    fn invert(branch: &mut halu::Inst) {
        branch.set(GUARD_NOT, 1 - branch.get(GUARD_NOT));
    }

    fn set(inst: &mut halu::Inst, place: Field, number: u64) {
        inst.set(place, number);
    }
}

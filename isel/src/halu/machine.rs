//! HALU as a target machine of selection.

use halfbyte_isa::halu;
use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::word::Field;

use crate::vcode::Machine;

/// HALU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Halu;

/// Kernel data for the emission of HALU code, beside the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HaluExtra {
    /// Static shared memory in bytes, without the dynamic size given by a launch; `None` if the
    /// kernel declares no shared memory.
    pub shared_bytes: Option<u32>,
    /// Bytes of local memory that the kernel declares. Spill slots follow it.
    pub scratch_bytes: u32,
}

/// Register class of a virtual register of HALU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegClass {
    /// Predicate.
    Pred,
    /// One 32-bit register.
    Word,
    /// Two 32-bit registers, the first one even.
    Pair,
    /// Four 32-bit registers, the first one a multiple of four.
    Quad,
}

impl RegClass {
    /// Returns the number of 32-bit registers of the class; 0 for a predicate.
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
    type RegisterPosition = Field;
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

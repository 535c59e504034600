//! HALU as a target machine of selection.

use halfbyte_isa::halu;
use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::word::Field;

use crate::vcode::Machine;

/// Type that names HALU as the target machine of selected code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Halu;

/// Data of a kernel, other than its instructions, that the emission of HALU objects needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HaluExtra {
    /// Size of static shared memory in bytes. Dynamic shared memory, whose size a launch gives, is
    /// not included. `None` if the kernel declares no shared memory.
    pub shared_bytes: Option<u32>,
    /// Bytes of local memory for the scratch arrays of the kernel. Spill slots follow them.
    pub scratch_bytes: u32,
}

/// Register class of a virtual register of HALU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegClass {
    /// One predicate register.
    Pred,
    /// One 32-bit register.
    Word,
    /// Two adjacent 32-bit registers, of which the first number is even.
    Pair,
    /// Four adjacent 32-bit registers, of which the first number is a multiple of four.
    Quad,
}

impl RegClass {
    /// Returns the number of 32-bit registers that the class takes. A predicate takes 0.
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

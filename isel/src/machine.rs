//! The machines that code is selected for, and what selected code must know of each.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::word::Field;
use halfbyte_isa::{halu, vp1 as isa_vp1};

use crate::vp1;

/// A machine that code is selected for.
pub trait Machine: Copy + Eq + Debug + Default + 'static {
    /// An instruction, or several that must stay together.
    type Inst: Clone + Debug + Display;
    /// Where in it the number of a register stands.
    type Place: Copy + Eq + Debug + Into<Field>;
    /// What a virtual register holds.
    type Class: Copy + Eq + Hash + Debug;
    /// What emission must know of a function beside its instructions.
    type Extra: Clone + Debug + Default;

    /// A branch that is always taken.
    fn jump() -> Self::Inst;
    /// The end of the program, or of the work item.
    fn exit() -> Self::Inst;
    /// Lets a conditional branch be taken where it was not, and the other way round.
    fn invert(branch: &mut Self::Inst);
    /// Writes a register's number to its place.
    fn set(inst: &mut Self::Inst, place: Self::Place, number: u64);
}

/// HALU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Halu;

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
    type Extra = ();

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

/// PTX, whose registers are those that its text names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ptx;

/// VP1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vp1;

impl Machine for Vp1 {
    type Inst = vp1::Group;
    type Place = vp1::Place;
    type Class = vp1::Class;
    type Extra = vp1::Extra;

    fn jump() -> vp1::Group {
        isa_vp1::Inst::new(isa_vp1::Opcode::BRA).into()
    }

    fn exit() -> vp1::Group {
        isa_vp1::Inst::new(isa_vp1::Opcode::EXIT).into()
    }

    fn invert(branch: &mut vp1::Group) {
        branch.invert();
    }

    fn set(group: &mut vp1::Group, place: vp1::Place, number: u64) {
        group.set(place, number);
    }
}

//! The machines that code is selected for, and what selected code must know of each.

use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;

use halfbyte_abi::Sm;
use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::row::Role;
use halfbyte_isa::word::Field;
use halfbyte_isa::{halu, ptx, vp1 as isa_vp1};

use crate::mach::BlockIndex;
use crate::ptx::expand::expand;
use crate::vcode::{Access, Operand, VCode, VReg};
use crate::vp1;

/// A machine that code is selected for.
pub trait Machine: Copy + Eq + Debug + Default + 'static {
    /// An instruction, or several that must stay together.
    type Inst: Clone + Debug;
    /// Where in it the number of a register stands.
    type Place: Copy + Eq + Debug;
    /// What a virtual register holds.
    type Class: Copy + Eq + Hash + Debug;
    /// What emission must know of a function beside its instructions.
    type Extra: Clone + Debug;

    /// A branch that is always taken.
    fn jump() -> Self::Inst;
    /// The end of the program, or of the work item.
    fn exit() -> Self::Inst;
    /// Lets a conditional branch be taken where it was not, and the other way round.
    fn invert(branch: &mut Self::Inst);
    /// Writes a register's number to its place.
    fn set(inst: &mut Self::Inst, place: Self::Place, number: u64);

    /// Shows each register that an instruction with these operands touches, and how.
    fn visit(inst: &Self::Inst, operands: &[Operand<Self>], mut each: impl FnMut(Access, VReg)) {
        let _ = inst;
        operands.iter().for_each(|operand| each(operand.access, operand.reg));
    }

    /// Puts sequences in the place of instructions that stand for them, on machines that have such.
    ///
    /// # Errors
    /// What is wrong with the table of sequences.
    fn expand(code: &mut VCode<Self>) -> Result<(), String> {
        let _ = code;
        Ok(())
    }

    /// Whether a register of one class can hold what one of the other does, as an edge hands it on.
    fn holds(param: Self::Class, arg: Self::Class) -> bool {
        param == arg
    }
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

/// PTX, whose registers are those that its text names: its instructions have them in them from the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ptx;

/// What emission must know of a function of PTX beside its instructions.
#[derive(Clone, Debug)]
pub struct PtxExtra {
    /// The SM version.
    pub sm: Sm,
    /// The most work items of a launch: with more, an address would wrap that is computed without wrapping.
    pub max_items: u64,
    /// The types of the registers, by number. Before allocation they are the classes of the virtual ones.
    pub types: Vec<ptx::types::Type>,
}

impl Ptx {
    /// Writes the block that a branch goes to into it.
    pub fn set_target(branch: &mut ptx::Inst, target: BlockIndex) {
        if let Some(ptx::Operand::Label(label)) = branch.operands.first_mut() {
            *label = ptx::Label(target);
        }
    }
}

impl Machine for Ptx {
    type Inst = ptx::Inst;
    type Place = Infallible;
    type Class = ptx::types::Type;
    type Extra = PtxExtra;

    fn jump() -> ptx::Inst {
        let operands = [ptx::Operand::Label(ptx::Label(0))].into_iter().collect();
        ptx::Inst { opcode: ptx::Opcode::BRA, words: Default::default(), guard: None, operands }
    }

    fn exit() -> ptx::Inst {
        ptx::Inst { opcode: ptx::Opcode::RET, words: Default::default(), guard: None, operands: Default::default() }
    }

    fn invert(branch: &mut ptx::Inst) {
        branch.guard.iter_mut().for_each(|guard| guard.not = !guard.not);
    }

    fn set(_: &mut ptx::Inst, place: Infallible, _: u64) {
        match place {}
    }

    fn visit(inst: &ptx::Inst, _: &[Operand<Ptx>], mut each: impl FnMut(Access, VReg)) {
        inst.visit_registers(|role, reg| match role {
            Role::Def => each(Access::Def, reg.into()),
            Role::Use | Role::Update => each(Access::Use, reg.into()),
        });
    }

    fn expand(code: &mut VCode<Ptx>) -> Result<(), String> {
        expand(code).map_err(|error| error.to_string())
    }

    fn holds(param: ptx::types::Type, arg: ptx::types::Type) -> bool {
        param.bits() == arg.bits()
    }
}

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

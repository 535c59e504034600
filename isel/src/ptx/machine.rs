//! PTX as a machine that code is selected for.

use std::convert::Infallible;

use halfbyte_abi::Sm;
use halfbyte_isa::ptx;
use halfbyte_isa::row::Role;

use super::expand::expand;
use crate::vcode::{Access, BlockIndex, Machine, Operand, VCode, VReg};

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

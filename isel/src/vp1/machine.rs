//! VP1 as a target machine of selection.

use halfbyte_isa::vp1 as isa_vp1;

use super::{Class, Extra, Group, GroupRegisterPosition};
use crate::vcode::Machine;

/// Type that names VP1 as the target machine of selected code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Vp1;

impl Machine for Vp1 {
    type Inst = Group;
    type RegisterPosition = GroupRegisterPosition;
    type Class = Class;
    type Extra = Extra;

    fn jump() -> Group {
        isa_vp1::Inst::new(isa_vp1::Opcode::BRA).into()
    }

    fn exit() -> Group {
        isa_vp1::Inst::new(isa_vp1::Opcode::EXIT).into()
    }

    fn invert(branch: &mut Group) {
        branch.invert();
    }

    fn set(group: &mut Group, place: GroupRegisterPosition, number: u64) {
        group.set(place, number);
    }
}

//! Builder of VP1 instructions on virtual registers.

use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use super::machine::Vp1;
use super::operands::Reg;
use super::{Class, Group, GroupRegisterPosition};
use crate::driver::InstDraft;
use crate::vcode::{Access, Operand, VInst, VReg};

/// Builder of VP1 instructions on virtual registers.
pub(crate) struct Builder {
    pub vregs: Vec<Class>,
    pub operands: Vec<Operand<Vp1>>,
    pub insts: Vec<InstDraft<Vp1>>,
    pub loc: Loc,
    start: u32,
}

impl Builder {
    pub(super) fn new() -> Builder {
        Builder { vregs: Vec::new(), operands: Vec::new(), insts: Vec::new(), loc: Loc::default(), start: 0 }
    }

    pub(super) fn vreg(&mut self, class: Class) -> VReg {
        let vreg = VReg(self.vregs.len() as u32);
        self.vregs.push(class);
        vreg
    }

    /// Adds a register operand to the current instruction. `$r31` is not an operand, because its field is already set.
    fn operand(&mut self, place: GroupRegisterPosition, reg: Reg, part: u8, access: Access) {
        if let Some(reg) = reg.vreg {
            self.operands.push(Operand { place, reg, part, access });
        }
    }

    pub(super) fn read(&mut self, place: impl Into<GroupRegisterPosition>, reg: Reg) {
        self.operand(place.into(), reg, 0, Access::Use);
    }

    /// Adds operands that read a tuple of registers.
    pub(super) fn read_tuple(&mut self, place: impl Into<GroupRegisterPosition>, regs: &[Reg]) {
        let place = place.into();
        for (part, &reg) in (0..).zip(regs) {
            self.operand(place, reg, part, Access::Use);
        }
    }

    /// Adds the definition of a new register as an operand.
    pub(super) fn define(&mut self, place: impl Into<GroupRegisterPosition>, class: Class) -> VReg {
        let vreg = self.vreg(class);
        self.operand(place.into(), Reg::new(vreg), 0, Access::Def);
        vreg
    }

    /// Adds the definition of a part of a register as an operand. The other parts keep the contents of `old`.
    pub(super) fn replace(&mut self, place: impl Into<GroupRegisterPosition>, old: VReg) -> VReg {
        let class = self.vregs.get(old.0 as usize).copied().unwrap_or(Class::R);
        let vreg = self.vreg(class);
        self.operand(place.into(), Reg::new(vreg), 0, Access::UpdateInPlace(old));
        vreg
    }

    /// Finishes an instruction or a group of two, and appends it to the code. Its operands are
    /// those added since the previous instruction.
    pub(super) fn push(&mut self, group: impl Into<Group>) {
        let end = self.operands.len() as u32;
        self.insts.push(VInst { inst: group.into(), operands: self.start..end, loc: self.loc }.into());
        self.start = end;
    }

    /// Finishes an instruction whose result is a new `$r`.
    pub(super) fn word(&mut self, group: impl Into<Group>) -> Reg {
        let vreg = self.define(DST, Class::R);
        self.push(group);
        Reg::new(vreg)
    }

    /// Finishes an instruction whose result is a new `$v`.
    pub(super) fn vector(&mut self, group: impl Into<Group>) -> Reg {
        let vreg = self.define(DST, Class::V);
        self.push(group);
        Reg::new(vreg)
    }

    /// Finishes an instruction whose result is unused, and returns its flags in a new `$c`.
    pub(super) fn flags(&mut self, group: impl Into<Group>) -> VReg {
        let c = self.define(CDST, Class::C);
        self.push(group);
        c
    }

    /// Finishes an instruction whose result is unused, and returns its flags in a new `$vc`.
    pub(super) fn vector_flags(&mut self, group: impl Into<Group>) -> VReg {
        let vc = self.define(CDST, Class::Vc);
        self.define(DST, Class::V);
        self.push(group);
        vc
    }

    /// Finishes a branch instruction, which becomes part of a block's terminator.
    pub(super) fn branch(&mut self, inst: Inst) -> VInst<Vp1> {
        let end = self.operands.len() as u32;
        let branch = VInst { inst: inst.into(), operands: self.start..end, loc: self.loc };
        self.start = end;
        branch
    }

    /// Reads the word of a `$m` into a new register.
    pub(super) fn method_register(&mut self, number: u8) -> Reg {
        self.word(method_register(number))
    }
}

fn method_register(number: u8) -> Inst {
    let (low, high) = (u64::from(number & 31), u64::from(number >> 5));
    Inst::new(Opcode::MOV_R_M).with(SRC1, low).with(MHIGH, high)
}

/// Returns the position of a bit field in the second instruction of a group.
pub(crate) const fn second(field: Field) -> GroupRegisterPosition {
    GroupRegisterPosition { inst: 1, field }
}

//! Loads, stores and branches.

use arrayvec::ArrayVec;

use super::{Access, Context, Next, Place, Reader};
use crate::halu::domain::Domain;
use crate::ptx::inst::{Base, Operand};
use crate::ptx::types::Token;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn load(&mut self) {
        let Some(place) = self.place(1) else { return };
        let into = match self.operand(0) {
            Some(&Operand::Register(reg)) => ArrayVec::from_iter([Some(reg)]),
            Some(Operand::Vector(regs)) => regs.clone(),
            _ => return,
        };
        self.effects.access = Some(Access::Load { place, element: self.ty(0), into });
    }

    pub(super) fn store(&mut self) {
        let Some(place) = self.place(0) else { return };
        let inst = self.inst;
        let data = match inst.operands.get(1) {
            Some(Operand::Vector(regs)) => regs.iter().flatten().map(|&reg| self.read.register(self.d, reg)).collect(),
            _ => ArrayVec::from_iter([self.value(1)]),
        };
        self.effects.access = Some(Access::Store { place, element: self.ty(0), data });
    }

    fn place(&mut self, i: usize) -> Option<Place<D::Word>> {
        let Some(&Operand::Memory(address)) = self.operand(i) else { return None };
        let offset = address.offset;
        Some(match address.base {
            Base::Parameter(number) => Place::Parameter { number, offset },
            Base::Register(reg) => {
                let base = self.read.register(self.d, reg);
                if self.has(Token::Const) { Place::Constant { base, offset } } else { Place::Global { base, offset } }
            }
        })
    }

    pub(super) fn branch(&mut self) {
        if let Some(&Operand::Label(label)) = self.operand(0) {
            self.effects.next = Next::Branch(label);
        }
    }
}

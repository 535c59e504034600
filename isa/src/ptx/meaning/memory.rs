//! Loads, stores and branches.

use arrayvec::ArrayVec;

use super::{Access, CONST_SPACE, Context, Location, Next, Reader, wide};
use crate::halu::domain::Domain;
use crate::ptx::Vector;
use crate::ptx::operand::{Base, Operand};
use crate::ptx::types::Space;
use crate::ptx::types::Token;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn load(&mut self) {
        let Some(place) = self.place(1) else { return };
        let into = match self.operand(0) {
            Some(&Operand::Register(reg)) => Vector::from_iter([Some(reg)]),
            Some(&Operand::Vector(regs)) => regs,
            _ => return,
        };
        self.effects.access = Some(Access::Load { place, element: self.ty(0), into });
    }

    pub(super) fn store(&mut self) {
        let Some(place) = self.place(0) else { return };
        let inst = self.inst;
        let data = match inst.operands.get(1) {
            Some(Operand::Vector(regs)) => regs.iter().flatten().map(|reg| self.read.register(self.d, reg)).collect(),
            _ => ArrayVec::from_iter([self.value(1)]),
        };
        self.effects.access = Some(Access::Store { place, element: self.ty(0), data });
    }

    fn place(&mut self, i: usize) -> Option<Location<D::Word>> {
        let Some(&Operand::Memory(address)) = self.operand(i) else { return None };
        let offset = address.offset;
        let base = match address.base {
            Base::Parameter(number) => return Some(Location::Parameter { number, offset }),
            Base::Register(reg) => self.read.register(self.d, reg),
            Base::Variable(var) => {
                let base = self.read.variable(self.d, var);
                self.in_space(var.space, base)
            }
        };
        Some(if self.has(Token::Const) {
            Location::Constant { base, offset }
        } else {
            Location::Global { base, offset }
        })
    }

    /// The address in a space of one without, or the other way round.
    fn in_space(&mut self, space: Space, [low, high]: [D::Word; 2]) -> [D::Word; 2] {
        match space {
            Space::Global => [low, high],
            Space::Const => {
                let differs = self.d.word((CONST_SPACE >> 32) as u32);
                [low, self.d.xor(high, differs)]
            }
        }
    }

    /// The address of a variable, in its space or without one.
    pub(super) fn address_of(&mut self, in_space: bool) {
        let Some(&Operand::Variable { var, offset }) = self.operand(1) else { return };
        let base = self.read.variable(self.d, var);
        let base = if in_space { self.in_space(var.space, base) } else { base };
        let offset = wide::constant(self.d, i64::from(offset).cast_unsigned());
        let address = wide::add(self.d, base, offset);
        self.define(address);
    }

    /// An address of a space without, or the other way round.
    pub(super) fn convert_address(&mut self) {
        let address = self.value(1);
        let space = if self.has(Token::Const) { Space::Const } else { Space::Global };
        let address = self.in_space(space, address);
        self.define(address);
    }

    /// A policy of the caches, of which none changes a value.
    pub(super) fn no_policy(&mut self) {
        let none = wide::constant(self.d, 0);
        self.define(none);
    }

    pub(super) fn branch(&mut self) {
        if let Some(&Operand::Label(label)) = self.operand(0) {
            self.effects.next = Next::Branch(label);
        }
    }
}

//! Instructions as values.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::Opcode;
use super::operand::{Operand, Reg};
use super::row::{self, Carry, MAX_WORDS, Role, Row};
use super::types::{Since, Token, Type};

/// An instruction: the opcode says which row it is of, the rest what stands in the row's places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The form.
    pub opcode: Opcode,
    /// The words after the mnemonic, as written.
    pub words: ArrayVec<Token, MAX_WORDS>,
    /// The guard, if there is one.
    pub guard: Option<Guard>,
    /// The operands.
    pub operands: SmallVec<[Operand; 4]>,
}

/// The instruction acts where a predicate is true, or where it is false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Guard {
    /// The predicate.
    pub reg: Reg,
    /// It acts where the predicate is false.
    pub not: bool,
}

impl Inst {
    /// The row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// Whether a word stands after the mnemonic.
    pub fn has(&self, token: Token) -> bool {
        self.words.contains(&token)
    }

    /// The type that the mnemonic names `n`th, from 0.
    pub fn ty(&self, n: u8) -> Type {
        row::Ty::Named(n).resolve(&self.words).0
    }

    /// Whether it reads the carry flag.
    pub fn reads_carry(&self) -> bool {
        self.row().carry == Carry::In
    }

    /// Whether it writes the carry flag.
    pub fn writes_carry(&self) -> bool {
        match self.row().carry {
            Carry::None => false,
            Carry::Out => true,
            Carry::In => self.has(Token::Cc),
        }
    }

    /// Shows each register that the instruction reads or writes, its guard first and the carry flag last.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Role, Reg)) {
        if let Some(guard) = self.guard {
            each(Role::Use, guard.reg);
        }
        for (o, operand) in self.row().operands_with(&self.words).zip(&self.operands) {
            operand.visit_registers(|reg| each(o.role, reg));
        }
        if self.reads_carry() {
            each(Role::Use, Reg::CARRY);
        }
        if self.writes_carry() {
            each(Role::Def, Reg::CARRY);
        }
    }

    /// The same as a list.
    pub fn registers(&self) -> impl Iterator<Item = (Role, Reg)> {
        let mut all: SmallVec<[(Role, Reg); 8]> = SmallVec::new();
        self.visit_registers(|role, reg| all.push((role, reg)));
        all.into_iter()
    }

    /// Replaces each register that the instruction reads or writes.
    pub fn rename(&mut self, mut to: impl FnMut(Role, Reg) -> Reg) {
        if let Some(guard) = &mut self.guard {
            guard.reg = to(Role::Use, guard.reg);
        }
        for (o, operand) in self.opcode.row().operands_with(&self.words).zip(&mut self.operands) {
            operand.registers_mut(|reg| *reg = to(o.role, *reg));
        }
    }

    /// What the instruction needs of assembler and machine.
    pub fn since(&self) -> Since {
        self.row().since(&self.words)
    }

    /// Whether words, guard and operands are what the row has places for; `types` gives the type of a register.
    pub fn is_valid(&self, types: impl Fn(Reg) -> Option<Type>) -> bool {
        let row = self.row();
        let guard = self.guard.is_none_or(|g| types(g.reg) == Some(Type::Pred));
        let mut places = row.operands_with(&self.words);
        let mut is_admitted =
            |operand: &Operand| places.next().is_some_and(|o| o.shape.admits(o.role, &self.words, operand, &types));
        guard && row.fit(&self.words).is_ok() && self.operands.iter().all(&mut is_admitted) && places.next().is_none()
    }
}

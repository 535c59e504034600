//! Instructions as values.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::Opcode;
use super::Vector;
use super::module::Space;
use super::row::{self, Role, Row};
use super::types::{MissingAxis, Since, Special, Token, Type};

/// A virtual register of an entry, by its number among the registers declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

/// A label of an entry, by its number in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// Words that a mnemonic has after it at most.
pub const MAX_WORDS: usize = 8;

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

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register.
    Register(Reg),
    /// `!p`
    Not(Reg),
    /// `p|q`; `None` is `_`.
    Pair([Option<Reg>; 2]),
    /// A constant, by its bits; those beyond its type are zero.
    Number(u64),
    /// A special register.
    Special(Special),
    /// `{a, b}`
    Vector(Vector),
    /// A register with a mask (a bit a lane) or a selector (an element's number a lane), lane 0 lowest. All lanes, and the
    /// default selector, are the register alone.
    Lanes {
        /// The register.
        reg: Reg,
        /// The mask or the selector.
        digits: u16,
    },
    /// `[base+offset]`
    Memory(Address),
    /// `variable+offset`: an address in the space of the variable.
    Variable {
        /// The variable.
        var: Var,
        /// Bytes from its start.
        offset: i32,
    },
    /// A label.
    Label(Label),
}

/// A variable of the module, by its number in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var {
    /// The number.
    pub number: u32,
    /// The space that it lies in.
    pub space: Space,
}

/// An address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// What it starts from.
    pub base: Base,
    /// Bytes from there.
    pub offset: i32,
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// What a register of 64 bits holds.
    Register(Reg),
    /// The parameter of this number.
    Parameter(u32),
    /// A variable.
    Variable(Var),
}

impl Address {
    /// The register that it starts from.
    pub fn register(&self) -> Option<Reg> {
        match self.base {
            Base::Register(reg) => Some(reg),
            Base::Parameter(_) | Base::Variable(_) => None,
        }
    }
}

impl Operand {
    /// Shows each register that the operand names.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Reg)) {
        match self {
            &(Operand::Register(reg) | Operand::Not(reg) | Operand::Lanes { reg, .. }) => each(reg),
            Operand::Pair(both) => both.iter().copied().flatten().for_each(each),
            Operand::Vector(regs) => regs.iter().flatten().for_each(each),
            Operand::Memory(address) => address.register().into_iter().for_each(each),
            Operand::Number(_) | Operand::Special(_) | Operand::Label(_) | Operand::Variable { .. } => {}
        }
    }

    /// The same as a list.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let mut all: ArrayVec<Reg, { Vector::MOST }> = ArrayVec::new();
        self.visit_registers(|reg| all.push(reg));
        all.into_iter()
    }

    /// The variable that the operand names.
    pub fn variable(&self) -> Option<Var> {
        match *self {
            Operand::Variable { var, .. } | Operand::Memory(Address { base: Base::Variable(var), .. }) => Some(var),
            _ => None,
        }
    }

    /// The variable that the operand names, to be changed.
    pub fn variable_mut(&mut self) -> Option<&mut Var> {
        match self {
            Operand::Variable { var, .. } | Operand::Memory(Address { base: Base::Variable(var), .. }) => Some(var),
            _ => None,
        }
    }

    /// The special register that the operand is.
    pub fn special(&self) -> Option<Special> {
        match *self {
            Operand::Special(special) => Some(special),
            _ => None,
        }
    }

    /// Each register that the operand names, to be changed.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        match self {
            Operand::Register(reg) | Operand::Not(reg) | Operand::Lanes { reg, .. } => each(reg),
            Operand::Pair(both) => both.iter_mut().flatten().for_each(each),
            Operand::Vector(regs) => regs.registers_mut(each),
            Operand::Memory(Address { base: Base::Register(reg), .. }) => each(reg),
            Operand::Memory(_)
            | Operand::Number(_)
            | Operand::Special(_)
            | Operand::Label(_)
            | Operand::Variable { .. } => {}
        }
    }
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

    /// Shows each register that the instruction reads or writes, its guard first.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Role, Reg)) {
        if let Some(guard) = self.guard {
            each(Role::Use, guard.reg);
        }
        for (o, operand) in self.row().operands_with(&self.words).zip(&self.operands) {
            operand.visit_registers(|reg| each(o.role, reg));
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

    /// Whether launches have the axes of the special registers that it reads.
    ///
    /// # Errors
    /// The first register of another axis.
    pub fn check_axes(&self) -> Result<(), MissingAxis> {
        self.operands.iter().filter_map(Operand::special).try_for_each(Special::check_axis)
    }

    /// What the instruction needs of assembler and machine.
    pub fn since(&self) -> Since {
        self.row().since(&self.words)
    }

    /// Whether words, guard and operands are what the row has places for; `types` gives the type of a register.
    pub fn is_valid(&self, types: impl Fn(Reg) -> Option<Type>) -> bool {
        row::check(self, &types)
    }
}

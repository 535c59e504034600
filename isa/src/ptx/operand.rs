//! What an instruction stands on: registers, constants, addresses, labels.

use std::fmt;

use smallvec::SmallVec;

use super::module::MAX_REGISTERS;
use super::types::{Space, Special};

/// A virtual register of an entry, by its number among the registers declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

impl Reg {
    /// The carry flag: a predicate that no declaration and no operand names, for no register has this number.
    pub const CARRY: Reg = Reg(u32::MAX - 1);
}

/// A label of an entry, by its number in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
    /// `variable+offset` of a frame: an address in the space of the variable; or the variable that a call passes.
    Frame {
        /// The variable.
        var: FrameVar,
        /// Bytes from its start.
        offset: i32,
    },
    /// `parameter+offset`: an address in the space of parameters.
    Parameter {
        /// The parameter, by its number.
        number: u32,
        /// Bytes from its start.
        offset: i32,
    },
    /// A function, by its number: its address.
    Function(u32),
    /// What is called.
    Call {
        /// The function.
        callee: Callee,
        /// How many of the operands that follow are results.
        results: u8,
    },
    /// What an indirect branch or call may lead to, by the number of its table.
    Table(u32),
}

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// The function of that number.
    Function(u32),
    /// The function whose address is in a register.
    Register(Reg),
}

/// A variable of a frame, by its number in the order of the body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameVar {
    /// The number.
    pub number: u32,
    /// The space that it lies in.
    pub space: Space,
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
    /// A variable of a frame.
    Frame(FrameVar),
}

impl Address {
    /// The register that it starts from.
    pub fn register(&self) -> Option<Reg> {
        match self.base {
            Base::Register(reg) => Some(reg),
            Base::Parameter(_) | Base::Variable(_) | Base::Frame(_) => None,
        }
    }
}

impl Operand {
    /// Shows each register that the operand names.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Reg)) {
        match self {
            &(Operand::Register(reg)
            | Operand::Not(reg)
            | Operand::Lanes { reg, .. }
            | Operand::Call { callee: Callee::Register(reg), .. }) => each(reg),
            Operand::Pair(both) => both.iter().copied().flatten().for_each(each),
            Operand::Vector(regs) => regs.iter().flatten().for_each(each),
            Operand::Memory(address) => address.register().into_iter().for_each(each),
            Operand::Number(_)
            | Operand::Special(_)
            | Operand::Label(_)
            | Operand::Variable { .. }
            | Operand::Frame { .. }
            | Operand::Parameter { .. }
            | Operand::Function(_)
            | Operand::Call { .. }
            | Operand::Table(_) => {}
        }
    }

    /// The same as a list.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let mut all: SmallVec<[Reg; 4]> = SmallVec::new();
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

    /// The function that the operand names.
    pub fn function(&self) -> Option<u32> {
        match *self {
            Operand::Function(number) | Operand::Call { callee: Callee::Function(number), .. } => Some(number),
            _ => None,
        }
    }

    /// Each register that the operand names, to be changed.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        match self {
            Operand::Register(reg)
            | Operand::Not(reg)
            | Operand::Lanes { reg, .. }
            | Operand::Call { callee: Callee::Register(reg), .. } => each(reg),
            Operand::Pair(both) => both.iter_mut().flatten().for_each(each),
            Operand::Vector(regs) => regs.registers_mut(each),
            Operand::Memory(Address { base: Base::Register(reg), .. }) => each(reg),
            Operand::Memory(_)
            | Operand::Number(_)
            | Operand::Special(_)
            | Operand::Label(_)
            | Operand::Variable { .. }
            | Operand::Frame { .. }
            | Operand::Parameter { .. }
            | Operand::Function(_)
            | Operand::Call { .. }
            | Operand::Table(_) => {}
        }
    }
}

/// `{a, b}`: registers, of which `None` is `_`. Up to eight are in place, and take three bytes each, for most operands are none of it and
/// have its room all the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Vector(Held);

/// The numbers of registers, low byte first.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Held {
    /// So many of these; the others are blank.
    Few([[u8; 3]; FEW], u8),
    /// More than that.
    Many(Box<[[u8; 3]]>),
}

const FEW: usize = 8;

/// `_`: no register has this number, for there are no more than [`MAX_REGISTERS`].
const BLANK: [u8; 3] = [u8::MAX; 3];

const _: () = assert!(MAX_REGISTERS < (1 << 24) - 1, "three bytes hold the number of every register, and one more");

fn packed(reg: Reg) -> [u8; 3] {
    let [low, middle, high, _] = reg.0.to_le_bytes();
    [low, middle, high]
}

fn unpacked([low, middle, high]: [u8; 3]) -> Reg {
    Reg(u32::from_le_bytes([low, middle, high, 0]))
}

impl Vector {
    /// How many registers there are at most: those of 64 rows and 256 columns that a warpgroup multiplies.
    pub const MOST: usize = 128;

    /// A register of 128 bits, by its first number.
    pub fn of_pair(low: Reg) -> Vector {
        Vector::from_iter([Some(low), Some(Reg(low.0.wrapping_add(1)))])
    }

    /// The numbers of a register of 128 bits, where it is one: the second follows the first.
    pub fn pair(&self) -> Option<[Reg; 2]> {
        let mut regs = self.iter();
        let (low, high) = (regs.next()??, regs.next()??);
        (regs.next().is_none() && high.0 == low.0 + 1).then_some([low, high])
    }

    fn held(&self) -> &[[u8; 3]] {
        match &self.0 {
            Held::Few(regs, len) => regs.get(..usize::from(*len)).unwrap_or_default(),
            Held::Many(regs) => regs,
        }
    }

    /// How many registers there are.
    pub fn len(&self) -> usize {
        self.held().len()
    }

    /// Whether there are none, as in no instruction.
    pub fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    /// The registers in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Option<Reg>> + ExactSizeIterator + Clone {
        self.held().iter().map(|&reg| (reg != BLANK).then(|| unpacked(reg)))
    }

    /// Each register, to be changed.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        let held = match &mut self.0 {
            Held::Few(regs, _) => &mut regs[..],
            Held::Many(regs) => regs,
        };
        for held in held.iter_mut().filter(|reg| **reg != BLANK) {
            let mut reg = unpacked(*held);
            each(&mut reg);
            *held = packed(reg);
        }
    }
}

impl FromIterator<Option<Reg>> for Vector {
    fn from_iter<T: IntoIterator<Item = Option<Reg>>>(regs: T) -> Vector {
        let held: SmallVec<[[u8; 3]; FEW]> = regs.into_iter().map(|reg| reg.map_or(BLANK, packed)).collect();
        let mut few = [BLANK; FEW];
        Vector(match few.get_mut(..held.len()) {
            Some(place) => {
                place.copy_from_slice(&held);
                Held::Few(few, held.len() as u8)
            }
            None => Held::Many(held.into_vec().into_boxed_slice()),
        })
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

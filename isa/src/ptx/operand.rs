//! Operands of PTX instructions: registers, immediates, addresses, labels.

use std::fmt;

use smallvec::SmallVec;

use super::module::MAX_REGISTERS;
use super::types::{Space, Special};

/// A virtual register of a kernel or function, identified by its index among the declared registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

impl Reg {
    /// The carry flag, as an implicit predicate register. No declared register has this index.
    pub const CARRY: Reg = Reg(u32::MAX - 1);
}

/// A label, identified by its index in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register.
    Register(Reg),
    /// A negated predicate register: `!p`.
    Not(Reg),
    /// A register and a predicate, or two predicates: `p|q`. `None` is `_`.
    Pair([Option<Reg>; 2]),
    /// An immediate, as its bits. Bits beyond the width of the operand's type are zero.
    Number(u64),
    /// A special register.
    Special(Special),
    /// A vector of registers: `{a, b}`.
    Vector(Vector),
    /// A register with a lane mask (one bit for each lane) or a selector (one element index for
    /// each lane), lane 0 in the lowest bits. A mask of all lanes and the default selector are
    /// represented as [`Register`](Operand::Register).
    Lanes {
        /// The register that holds the lanes.
        reg: Reg,
        /// The bits of the lane mask or of the selector.
        digits: u16,
    },
    /// A part of a register, which may be negated: `r.b0`, `-r.h1`, `-r`. A whole register that is
    /// not negated is represented as [`Register`](Operand::Register).
    Part {
        /// The register that holds the part.
        reg: Reg,
        /// The part of the register.
        part: Part,
        /// `true` if the part is negated.
        negated: bool,
    },
    /// A memory address: `[base+offset]`.
    Memory(Address),
    /// `variable+offset`: an address in the state space of the variable.
    Variable {
        /// The module variable.
        var: Var,
        /// Offset from the variable's start in bytes.
        offset: i32,
    },
    /// A label, the target of a branch.
    Label(Label),
    /// `variable+offset` with a frame variable: an address in the state space of the variable. In a
    /// call, the variable itself, as an argument or result.
    Frame {
        /// The frame variable.
        var: FrameVar,
        /// Offset from the variable's start in bytes.
        offset: i32,
    },
    /// `parameter+offset`: an address in the `.param` state space.
    Parameter {
        /// The index of the kernel parameter.
        number: u32,
        /// Offset from the parameter's start in bytes.
        offset: i32,
    },
    /// The generic address of the function with this index.
    Function(u32),
    /// The callee of a call, with the number of results.
    Call {
        /// The called function, or the register that holds its address.
        callee: Callee,
        /// The number of operands after the callee that are results. The operands after these are arguments.
        results: u8,
    },
    /// The index of the target list or prototype of an indirect branch or call.
    Table(u32),
}

/// A byte or half-word of a 32-bit register, or the whole register. Part 0 is the lowest one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The variant names are the selectors.
pub enum Part {
    /// The whole register, which has no selector.
    Whole,
    B0,
    B1,
    B2,
    B3,
    H0,
    H1,
}

impl Part {
    /// Every part of a register.
    pub const ALL: [Part; 7] = [Part::Whole, Part::B0, Part::B1, Part::B2, Part::B3, Part::H0, Part::H1];

    /// Returns the selector of the part, with its dot. The selector of the whole register is empty.
    pub const fn selector(self) -> &'static str {
        match self {
            Part::Whole => "",
            Part::B0 => ".b0",
            Part::B1 => ".b1",
            Part::B2 => ".b2",
            Part::B3 => ".b3",
            Part::H0 => ".h0",
            Part::H1 => ".h1",
        }
    }

    /// Returns the position of the lowest bit of the part.
    pub const fn start(self) -> u32 {
        match self {
            Part::Whole | Part::B0 | Part::H0 => 0,
            Part::B1 => 8,
            Part::B2 | Part::H1 => 16,
            Part::B3 => 24,
        }
    }

    /// Returns the width of the part in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Part::Whole => 32,
            Part::B0 | Part::B1 | Part::B2 | Part::B3 => 8,
            Part::H0 | Part::H1 => 16,
        }
    }

    /// Returns the part whose selector is a dot and `word`, such as `b0` or `h1`.
    pub fn from_word(word: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.selector().strip_prefix('.') == Some(word))
    }
}

/// The callee of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// The function with this index.
    Function(u32),
    /// The function whose address is in a register.
    Register(Reg),
}

/// A variable of a stack frame, identified by its index in the order of the body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameVar {
    /// The index of the variable.
    pub number: u32,
    /// The variable's state space.
    pub space: Space,
}

/// A variable of the module, identified by its index in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var {
    /// The index of the variable.
    pub number: u32,
    /// The variable's state space.
    pub space: Space,
}

/// A memory address: a base and an offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// The base: a register, parameter or variable.
    pub base: Base,
    /// Offset from the base in bytes.
    pub offset: i32,
}

/// The base of a memory address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// The value of this 64-bit register.
    Register(Reg),
    /// The kernel parameter with this index.
    Parameter(u32),
    /// A variable of the module.
    Variable(Var),
    /// A variable of a stack frame.
    Frame(FrameVar),
}

impl Address {
    /// Returns the base register of the address, or `None` if the base is a symbol.
    pub fn register(&self) -> Option<Reg> {
        match self.base {
            Base::Register(reg) => Some(reg),
            Base::Parameter(_) | Base::Variable(_) | Base::Frame(_) => None,
        }
    }
}

impl Operand {
    /// Creates the operand for a part of a register, which may be negated.
    pub fn part(reg: Reg, part: Part, negated: bool) -> Operand {
        match part {
            Part::Whole if !negated => Operand::Register(reg),
            _ => Operand::Part { reg, part, negated },
        }
    }

    /// Returns the register of an operand that is a register, with or without a selector.
    pub fn register(&self) -> Option<Reg> {
        match *self {
            Operand::Register(reg) | Operand::Lanes { reg, .. } | Operand::Part { reg, .. } => Some(reg),
            _ => None,
        }
    }

    /// Calls `each` with every register that the operand names.
    #[inline]
    pub fn visit_registers(&self, mut each: impl FnMut(Reg)) {
        match self {
            &(Operand::Register(reg)
            | Operand::Not(reg)
            | Operand::Lanes { reg, .. }
            | Operand::Part { reg, .. }
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

    /// Returns the registers that the operand names.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let mut all: SmallVec<[Reg; 4]> = SmallVec::new();
        self.visit_registers(|reg| all.push(reg));
        all.into_iter()
    }

    /// Returns the module variable that the operand names, if any.
    pub fn variable(&self) -> Option<Var> {
        match *self {
            Operand::Variable { var, .. } | Operand::Memory(Address { base: Base::Variable(var), .. }) => Some(var),
            _ => None,
        }
    }

    /// Returns a mutable reference to the module variable that the operand names, if any.
    pub fn variable_mut(&mut self) -> Option<&mut Var> {
        match self {
            Operand::Variable { var, .. } | Operand::Memory(Address { base: Base::Variable(var), .. }) => Some(var),
            _ => None,
        }
    }

    /// Returns the index of the function that the operand names, if any.
    pub fn function(&self) -> Option<u32> {
        match *self {
            Operand::Function(number) | Operand::Call { callee: Callee::Function(number), .. } => Some(number),
            _ => None,
        }
    }

    /// Calls `each` with a mutable reference to every register that the operand names.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        match self {
            Operand::Register(reg)
            | Operand::Not(reg)
            | Operand::Lanes { reg, .. }
            | Operand::Part { reg, .. }
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

/// A list of registers: `{a, b}`, in which `None` is `_`. Up to eight registers are stored inline
/// in three bytes each. This keeps [`Operand`] small, because most operands are not vectors.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Vector(VectorStorage);

/// The register indices of a vector, in three bytes each, low byte first.
#[derive(Clone, PartialEq, Eq, Hash)]
enum VectorStorage {
    /// Up to eight registers: an array and the number of entries in use. The unused entries are `BLANK`.
    Few([[u8; 3]; FEW], u8),
    /// More than eight registers.
    Many(Box<[[u8; 3]]>),
}

const FEW: usize = 8;

/// The stored bytes of `_`. No register has this index, because [`MAX_REGISTERS`] is smaller.
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
    /// Maximum number of registers of a vector. The 64 × 256 accumulator of `wgmma` takes 128 registers in each thread.
    pub const MAX_LEN: usize = 128;

    /// Creates the two-element vector that represents a 128-bit register. `low` is the index of the
    /// register's low half.
    pub fn of_pair(low: Reg) -> Vector {
        Vector::from_iter([Some(low), Some(Reg(low.0.wrapping_add(1)))])
    }

    /// Returns the two halves if the vector can be a 128-bit register: two consecutive indices.
    pub fn pair(&self) -> Option<[Reg; 2]> {
        let mut regs = self.iter();
        let (low, high) = (regs.next()??, regs.next()??);
        (regs.next().is_none() && high.0 == low.0 + 1).then_some([low, high])
    }

    fn held(&self) -> &[[u8; 3]] {
        match &self.0 {
            VectorStorage::Few(regs, len) => regs.get(..usize::from(*len)).unwrap_or_default(),
            VectorStorage::Many(regs) => regs,
        }
    }

    /// Returns the number of registers of the vector.
    pub fn len(&self) -> usize {
        self.held().len()
    }

    /// Returns `true` if the vector is empty. No instruction has an empty vector.
    pub fn is_empty(&self) -> bool {
        self.held().is_empty()
    }

    /// Returns the registers of the vector, in order; `None` is `_`.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Option<Reg>> + ExactSizeIterator + Clone {
        self.held().iter().map(|&reg| (reg != BLANK).then(|| unpacked(reg)))
    }

    /// Calls `each` with a mutable reference to every register of the vector.
    pub fn registers_mut(&mut self, mut each: impl FnMut(&mut Reg)) {
        let held = match &mut self.0 {
            VectorStorage::Few(regs, _) => &mut regs[..],
            VectorStorage::Many(regs) => regs,
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
                VectorStorage::Few(few, held.len() as u8)
            }
            None => VectorStorage::Many(held.into_vec().into_boxed_slice()),
        })
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

//! What an instruction reads, and the effects that it returns.

use arrayvec::ArrayVec;

use crate::halu::domain::Domain;
use crate::ptx::Vector;
use crate::ptx::operand::{Label, Reg, Var};
use crate::ptx::types::{Special, Type};

/// The state before the instruction.
pub trait Reader<D: Domain> {
    /// A register that is no predicate: 64 bits, low word first, those that the register does not have being zero.
    fn register(&mut self, domain: &mut D, reg: Reg) -> [D::Word; 2];
    /// A predicate.
    fn predicate(&mut self, domain: &mut D, reg: Reg) -> D::Pred;
    /// A special register.
    fn special(&mut self, domain: &mut D, special: Special) -> D::Word;
    /// The address of a variable as `cvta` gives it, low word first.
    fn variable(&mut self, domain: &mut D, var: Var) -> [D::Word; 2];
}

/// The bit by which an address in constant memory differs from what `cvta` makes of it. Which bits do on a machine is its own
/// affair; that some do shows who takes the one for the other.
pub const CONST_SPACE: u64 = 1 << 63;

/// What an instruction does, given what it read.
#[derive(Clone, Debug)]
pub struct Effects<W: Copy, P: Copy> {
    /// The registers written.
    pub writes: ArrayVec<Write<W, P>, 4>,
    /// The memory access. The registers of a load are not among the writes.
    pub access: Option<Access<W>>,
    /// Where control goes.
    pub next: Next,
}

/// A register and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Write<W: Copy, P: Copy> {
    /// A register becomes the low bits of a value, as many as it has.
    Register(Reg, [W; 2]),
    /// A predicate.
    Predicate(Reg, P),
}

/// An access to memory, which the driver makes. All elements together are aligned to their size.
#[derive(Clone, Debug, PartialEq)]
pub enum Access<W: Copy> {
    /// Registers become memory's contents, extended as the type says.
    Load {
        /// Where.
        place: Location<W>,
        /// The type of an element.
        element: Type,
        /// A register an element; `None` keeps it nowhere.
        into: Vector,
    },
    /// Memory becomes the low bits of values.
    Store {
        /// Where.
        place: Location<W>,
        /// The type of an element.
        element: Type,
        /// A value an element.
        data: ArrayVec<[W; 2], { Vector::MOST }>,
    },
}

/// A place in a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Location<W: Copy> {
    /// Global memory at `base + offset`, modulo 2^64.
    Global {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// Constant memory, likewise: at what differs from an address without a space by [`CONST_SPACE`].
    Constant {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// A parameter.
    Parameter {
        /// Its number.
        number: u32,
        /// In bytes from its start.
        offset: i32,
    },
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To the following instruction.
    Fall,
    /// To a label.
    Branch(Label),
    /// The item is done.
    Exit,
    /// The item says that something is wrong.
    Trap,
}

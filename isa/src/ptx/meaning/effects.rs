//! What an instruction reads, and the effects that it returns.

use arrayvec::ArrayVec;

use crate::halu::domain::Domain;
pub use crate::halu::domain::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use crate::ptx::Vector;
use crate::ptx::operand::{FrameVar, Label, Reg, Var};
use crate::ptx::row::MAX_ELEMENTS;
use crate::ptx::types::{Special, Type};

/// The state before the instruction.
pub trait Reader<D: Domain> {
    /// A register that is no predicate: 64 bits, low word first, those that the register does not have being zero.
    fn register(&mut self, domain: &mut D, reg: Reg) -> [D::Word; 2];
    /// A predicate.
    fn predicate(&mut self, domain: &mut D, reg: Reg) -> D::Pred;
    /// A special register, low word first.
    fn special(&mut self, domain: &mut D, special: Special) -> [D::Word; 2];
    /// The address of a variable as `cvta` gives it, low word first.
    fn variable(&mut self, domain: &mut D, var: Var) -> [D::Word; 2];

    // Where nothing but computing is done there is none of these.

    /// Whether an address without a space is that of a constant variable.
    fn is_constant(&mut self, domain: &mut D, _: [D::Word; 2]) -> D::Pred {
        domain.truth(false)
    }

    /// The address of a variable of the frame in local memory, low word first.
    fn frame(&mut self, domain: &mut D, _: FrameVar) -> [D::Word; 2] {
        [domain.word(0); 2]
    }

    /// The address of a parameter in their memory, low word first.
    fn parameter(&mut self, domain: &mut D, _: u32) -> [D::Word; 2] {
        [domain.word(0); 2]
    }
}

/// The bit by which an address in constant memory differs from what `cvta` makes of it. Which bits do on a machine is its own
/// affair; that some do shows who takes the one for the other.
pub const CONST_SPACE: u64 = 1 << 63;

/// Where parameters lie among addresses without a space.
pub const PARAM_WINDOW: u64 = 2 << 36;
/// Where functions lie there.
pub const CODE_WINDOW: u64 = 3 << 36;
/// How far functions lie from each other.
const FUNCTION_BYTES: u64 = 16;

/// The address of a function, which is not zero.
pub const fn function_address(number: u32) -> u64 {
    CODE_WINDOW + FUNCTION_BYTES * (number as u64 + 1)
}

/// The function of an address.
pub const fn function_at(address: u64) -> Option<u32> {
    let offset = address.wrapping_sub(CODE_WINDOW);
    let is_one = offset < WINDOW_BYTES && offset.is_multiple_of(FUNCTION_BYTES) && offset != 0;
    if is_one { Some((offset / FUNCTION_BYTES) as u32 - 1) } else { None }
}

/// What an instruction does, given what it read.
#[derive(Clone, Debug)]
pub struct Effects<W: Copy, P: Copy> {
    /// The registers written.
    pub writes: ArrayVec<Write<W, P>, 4>,
    /// The memory access. The registers of a load are not among the writes.
    pub access: Option<Access<W>>,
    /// Where control goes.
    pub next: Next<W>,
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
        data: ArrayVec<[W; 2], MAX_ELEMENTS>,
    },
    /// Memory becomes what [`atomically`](super::atomically) says.
    Atomic {
        /// Where.
        place: Location<W>,
        /// The type of an element.
        element: Type,
        /// For each element the operands, low word first.
        operands: ArrayVec<[[W; 2]; 2], MAX_ELEMENTS>,
        /// The registers that take what was there, one an element; none where it is not wanted.
        into: Vector,
    },
    /// Bytes of one memory become those of another, or zeros: where fewer are taken, each is read and written by itself over zeros.
    /// Nobody may touch either place before the copy is waited for; it is done at once.
    Copy {
        /// Where they are.
        from: Location<W>,
        /// Where they go.
        to: Location<W>,
        /// How many there are: 4, 8 or 16, of which both places are a multiple.
        bytes: u32,
        /// How many of them are taken, at most all; those behind become zeros.
        taken: W,
    },
    /// The copies that the item has begun since the last time are a group.
    CommitCopies,
    /// Only so many of the item's newest groups of copies need not be done, and what is in none yet.
    AwaitCopies {
        /// How many; `None` where all that it has begun must be done.
        but: Option<u32>,
    },
    /// A register becomes the address of so many more bytes of the stack.
    Allocate {
        /// The register.
        into: Reg,
        /// How many bytes, low word first.
        bytes: [W; 2],
        /// What the address is a multiple of.
        align: u32,
    },
    /// A register becomes how far the stack reaches.
    SaveStack {
        /// The register.
        into: Reg,
    },
    /// The stack reaches as far again as before.
    RestoreStack {
        /// How far, low word first.
        to: [W; 2],
    },
}

/// A place in a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Location<W: Copy> {
    /// Memory at an address without a space, `base + offset` modulo 2^64.
    Flat {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// Global memory, likewise.
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
    /// Local memory, likewise: at what differs from an address without a space by [`LOCAL_WINDOW`].
    Local {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// The memory of parameters, likewise, by [`PARAM_WINDOW`].
    Param {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// Shared memory, likewise, by [`SHARED_WINDOW`].
    Shared {
        /// An address of 64 bits, low word first, or of 32.
        base: [W; 2],
        /// In bytes.
        offset: i32,
    },
    /// A variable of the frame.
    Frame {
        /// Its number.
        number: u32,
        /// In bytes from its start.
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

impl<W: Copy> Location<W> {
    /// The place so many bytes behind.
    #[must_use]
    pub fn plus(mut self, bytes: i32) -> Location<W> {
        let (Location::Flat { offset, .. }
        | Location::Global { offset, .. }
        | Location::Constant { offset, .. }
        | Location::Local { offset, .. }
        | Location::Param { offset, .. }
        | Location::Shared { offset, .. }
        | Location::Frame { offset, .. }
        | Location::Parameter { offset, .. }) = &mut self;
        *offset = offset.wrapping_add(bytes);
        self
    }
}

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called<W: Copy> {
    /// The function of that number.
    Function(u32),
    /// The one at an address, low word first, where the table admits it.
    At {
        /// The address.
        address: [W; 2],
        /// The table.
        table: u32,
    },
}

/// A value that a call passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<W: Copy> {
    /// Bits, low word first.
    Bits([W; 2]),
    /// What is in the variable of that number in the frame.
    Frame(u32),
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<W: Copy> {
    /// To the following instruction.
    Fall,
    /// To a label.
    Branch(Label),
    /// To the label of that number, from 0, in a table.
    Indexed {
        /// The table.
        table: u32,
        /// The number.
        index: W,
    },
    /// To a function, with what [`arguments`](super::arguments) says.
    Call(Called<W>),
    /// To the instruction that follows the call; of a kernel, the item is done.
    Return,
    /// The item is done.
    Exit,
    /// The item says that something is wrong.
    Trap,
    /// It meets other items of its block, as [`meeting`](super::meeting) says, and then to the following instruction.
    Meet,
}

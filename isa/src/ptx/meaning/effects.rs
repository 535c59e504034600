//! Inputs and effects of an instruction.

use arrayvec::ArrayVec;

use crate::halu::domain::Domain;
pub use crate::halu::domain::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use crate::ptx::Vector;
use crate::ptx::operand::{FrameVar, Label, Reg, Var};
use crate::ptx::row::MAX_ELEMENTS;
use crate::ptx::types::{Special, Type};

/// Access to the state of a work item before an instruction.
pub trait Reader<D: Domain> {
    /// Returns the 64-bit value of a register that is not a predicate, low word first. Bits beyond
    /// the register's width are zero.
    fn register(&mut self, domain: &mut D, reg: Reg) -> [D::Word; 2];
    /// Returns the value of a predicate register.
    fn predicate(&mut self, domain: &mut D, reg: Reg) -> D::Pred;
    /// Returns the 64-bit value of a special register, low word first.
    fn special(&mut self, domain: &mut D, special: Special) -> [D::Word; 2];
    /// Returns the generic address of a variable, as `cvta` returns it, low word first.
    fn variable(&mut self, domain: &mut D, var: Var) -> [D::Word; 2];

    // The methods from here on have defaults for readers that execute only instructions without memory accesses.

    /// Returns `true` if a generic address is that of a constant variable.
    fn is_constant(&mut self, domain: &mut D, _: [D::Word; 2]) -> D::Pred {
        domain.truth(false)
    }

    /// Returns the address of a frame variable in local memory, low word first.
    fn frame(&mut self, domain: &mut D, _: FrameVar) -> [D::Word; 2] {
        [domain.word(0); 2]
    }

    /// Returns the address of a parameter in the `.param` state space, low word first.
    fn parameter(&mut self, domain: &mut D, _: u32) -> [D::Word; 2] {
        [domain.word(0); 2]
    }
}

/// The bit in which an address in constant memory differs from its generic address. Hardware uses
/// other bits. The difference exposes programs that confuse the two kinds of address.
pub const CONST_SPACE: u64 = 1 << 63;

/// First generic address of kernel parameters.
pub const PARAM_WINDOW: u64 = 2 << 36;
/// First generic address of functions.
pub(super) const CODE_WINDOW: u64 = 3 << 36;
/// Distance between the addresses of consecutive functions in bytes.
const FUNCTION_BYTES: u64 = 16;

/// Returns the address of a function, which is never zero.
pub const fn function_address(number: u32) -> u64 {
    CODE_WINDOW + FUNCTION_BYTES * (number as u64 + 1)
}

/// Returns the index of the function with this generic address, if there is one.
pub const fn function_at(address: u64) -> Option<u32> {
    let offset = address.wrapping_sub(CODE_WINDOW);
    let is_one = offset < WINDOW_BYTES && offset.is_multiple_of(FUNCTION_BYTES) && offset != 0;
    if is_one { Some((offset / FUNCTION_BYTES) as u32 - 1) } else { None }
}

/// The effects of an instruction on given inputs.
#[derive(Clone, Debug)]
pub struct Effects<W: Copy, P: Copy> {
    /// The register writes, without those of a load.
    pub writes: ArrayVec<Write<W, P>, 4>,
    /// The memory access, if any. The registers that a load writes are not in `writes`.
    pub access: Option<Access<W>>,
    /// The control flow after the instruction.
    pub next: Next<W>,
}

/// A register write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Write<W: Copy, P: Copy> {
    /// Writes the low bits of a 64-bit value to a register. The value is given as two words, low word first.
    Register(Reg, [W; 2]),
    /// Writes a predicate register.
    Predicate(Reg, P),
}

/// A memory access, which the engine performs. The address must be aligned to the total size of the elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Access<W: Copy> {
    /// Loads from memory to registers, and extends each element as its type requires.
    Load {
        /// The location of the first element.
        place: Location<W>,
        /// The element type.
        element: Type,
        /// The register that receives each element; `None` discards the element.
        into: Vector,
    },
    /// Stores the low bits of 64-bit values to memory.
    Store {
        /// The location of the first element.
        place: Location<W>,
        /// The element type.
        element: Type,
        /// The 64-bit value for each element, low word first.
        data: ArrayVec<[W; 2], MAX_ELEMENTS>,
    },
    /// Updates memory atomically, as [`atomically`](super::atomically) defines.
    Atomic {
        /// The location of the first element.
        place: Location<W>,
        /// The element type.
        element: Type,
        /// The two operands for each element, each a 64-bit value, low word first.
        operands: ArrayVec<[[W; 2]; 2], MAX_ELEMENTS>,
        /// The registers that receive the old values, one for each element. The vector is empty if
        /// the old values are discarded.
        into: Vector,
    },
    /// Copies bytes asynchronously. If `taken` is less than `bytes`, the engine accesses the bytes
    /// one by one and writes zeros for the bytes that are not read. The engine performs the copy
    /// immediately. A program must not access either location before it has waited for the copy.
    Copy {
        /// The location from which the bytes are read.
        from: Location<W>,
        /// The location to which the bytes are written.
        to: Location<W>,
        /// The number of bytes that are written: 4, 8 or 16. Both addresses must be multiples of this number.
        bytes: u32,
        /// The number of bytes that are read, at most `bytes`. Zeros are written for the other bytes.
        taken: W,
    },
    /// Groups the copies that the work item has started since the last commit.
    CommitCopies,
    /// Waits for the asynchronous copies of the work item, except for the newest `but` groups and
    /// the copies that are in no group yet.
    AwaitCopies {
        /// The number of copy groups that may be pending; `None` waits for all copies.
        but: Option<u32>,
    },
    /// Allocates bytes on the stack and writes their address to a register.
    Allocate {
        /// The register that receives the address.
        into: Reg,
        /// The number of bytes to allocate, low word first.
        bytes: [W; 2],
        /// The alignment of the address in bytes.
        align: u32,
    },
    /// Writes the stack pointer to a register.
    SaveStack {
        /// The register that receives the stack pointer.
        into: Reg,
    },
    /// Restores the stack pointer to a saved value.
    RestoreStack {
        /// The saved stack pointer, low word first.
        to: [W; 2],
    },
}

/// A location in memory, in a state space or as a generic address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Location<W: Copy> {
    /// A generic address: `base + offset` modulo 2^64.
    Flat {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in global memory: `base + offset` modulo 2^64.
    Global {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in constant memory: `base + offset` modulo 2^64. The generic address differs by [`CONST_SPACE`].
    Constant {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in local memory: `base + offset` modulo 2^64. The generic address is higher by [`LOCAL_WINDOW`].
    Local {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in parameter memory: `base + offset` modulo 2^64. The generic address is higher by [`PARAM_WINDOW`].
    Param {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in shared memory: `base + offset` modulo 2^64. The generic address is higher by [`SHARED_WINDOW`].
    Shared {
        /// A 64-bit address, low word first, or a 32-bit address.
        base: [W; 2],
        /// Offset from the base in bytes.
        offset: i32,
    },
    /// An address in a variable of the stack frame.
    Frame {
        /// The index of the frame variable.
        number: u32,
        /// Offset from the variable's start in bytes.
        offset: i32,
    },
    /// An address in a kernel parameter.
    Parameter {
        /// The index of the kernel parameter.
        number: u32,
        /// Offset from the parameter's start in bytes.
        offset: i32,
    },
}

impl<W: Copy> Location<W> {
    /// Returns the location that is `bytes` bytes after this location.
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

/// The callee of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Called<W: Copy> {
    /// The function with this index.
    Function(u32),
    /// The function at a generic address. The address must be that of one of the declared targets.
    At {
        /// The generic address, low word first.
        address: [W; 2],
        /// The index of the target list or prototype that declares the possible callees.
        table: u32,
    },
}

/// An argument or result of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<W: Copy> {
    /// A 64-bit value, low word first.
    Bits([W; 2]),
    /// The contents of the frame variable with this index, which is passed in memory.
    Frame(u32),
}

/// Control flow after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<W: Copy> {
    /// Continues with the next instruction.
    Fall,
    /// Branches to a label.
    Branch(Label),
    /// Branches to one of the labels in a target list.
    Indexed {
        /// The index of the target list.
        table: u32,
        /// The index of the label in the target list, counted from 0.
        index: W,
    },
    /// Calls a function with the arguments that [`arguments`](super::arguments) returns.
    Call(Called<W>),
    /// Returns to the instruction after the call. In a kernel body, ends the work item.
    Return,
    /// Ends the work item.
    Exit,
    /// Ends the launch with a trap.
    Trap,
    /// Performs the collective operation that [`collective`](super::collective) returns, then
    /// continues with the next instruction.
    Collective,
}

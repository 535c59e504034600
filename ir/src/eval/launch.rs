//! Parameters and errors of a launch in the evaluator.

use std::fmt;

use halfbyte_abi::cooperative::{RaceCheck, Schedule, SharedLocation, SyncError, WaitingItems};
use halfbyte_abi::{Exceeded, Shape, ShapeError, Type, Watchdog};
use thiserror::Error;

use crate::eval::Operand;
use crate::kernel::{Inst, IntrinsicData};
use crate::span::Span;

/// Default limit of backward branches per item in a launch.
pub const DEFAULT_BUDGET: u32 = halfbyte_abi::DEFAULT_BUDGET as u32;

/// Parameters of a launch in the evaluator.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// Shape of the launch, in work items even for a packed kernel. Items run in the order of their
    /// numbers ([`Shape::place`]).
    pub shape: Shape,
    /// Limit of backward branches per item, or per group of a packed kernel. A branch is backward
    /// if its target does not follow its block in the kernel's layout.
    pub budget: u32,
    /// Implementation of the target instructions. Without an implementation, an intrinsic traps.
    pub intrinsics: Option<&'a dyn Intrinsics>,
    /// Watchdog that stops the launch if a limit is exceeded or the launch is cancelled.
    pub watchdog: Option<&'a Watchdog>,
    /// Execution order of groups, and of cooperating items within a group.
    pub schedule: Schedule,
    /// Detection of data races and of reads from uninitialised shared memory. If detection is off,
    /// shared memory starts as zeros; other engines may still give different results. Races of
    /// kernels that are not cooperative are always detected.
    pub races: RaceCheck,
}

impl Launch<'_> {
    /// Creates a launch of a number of items or of a shape, with the default budget and without intrinsics.
    pub fn new(shape: impl Into<Shape>) -> Self {
        Launch {
            shape: shape.into(),
            budget: DEFAULT_BUDGET,
            intrinsics: None,
            watchdog: None,
            schedule: Schedule::Ascending,
            races: RaceCheck::On,
        }
    }
}

/// Argument of a kernel's parameter.
#[derive(Debug)]
pub enum Arg<'a> {
    /// Scalar, as bits in 64-bit words; lane 0 has the lowest bits. Bits above the type's width are ignored.
    Scalar([u64; 8]),
    /// Buffer: its bytes, and the address of the first byte.
    Buffer {
        /// Address of the first byte. Buffers must not overlap; use [`Arg::Alias`] for overlapping arguments.
        base: u64,
        /// Bytes before and after the launch. The launch first fills an `out` buffer with zeros.
        /// After a fault, the bytes are unspecified.
        bytes: &'a mut [u8],
    },
    /// Address in the buffer of another parameter.
    Alias {
        /// Number of the parameter whose argument is the buffer.
        of: usize,
        /// Offset of the address in bytes from the start of the buffer.
        offset: u64,
    },
}

impl Arg<'_> {
    /// Creates a scalar argument of at most 64 bits.
    pub fn scalar(bits: u64) -> Self {
        Arg::Scalar([bits, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Returns the address that is passed for parameter `number`. Returns `None` for a scalar and for an invalid alias.
    pub(super) fn address(args: &[Arg<'_>], number: usize) -> Option<u64> {
        match args.get(number)? {
            Arg::Scalar(_) => None,
            Arg::Buffer { base, .. } => Some(*base),
            Arg::Alias { of, offset } => match args.get(*of)? {
                Arg::Buffer { base, bytes } if *offset <= bytes.len() as u64 => base.checked_add(*offset),
                _ => None,
            },
        }
    }
}

/// Implementation of a target instruction. It takes the operands and writes the result lanes.
pub type IntrinsicFn<'a> = Box<dyn Fn(&[Operand<'_>], &mut [u64]) + 'a>;

/// Implementation of target instructions, which the IR does not define.
pub trait Intrinsics {
    /// Returns the implementation of a target instruction for the given operand types, or the
    /// reason why there is none. The evaluator calls this function once per launch for each
    /// `intrinsic` of the kernel. Without an implementation, the instruction traps with the reason.
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String>;
}

/// Reason why the arguments of a launch do not match the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ArgError {
    /// The number of arguments is wrong.
    #[error("the kernel has {expected} parameters, but {found} arguments are given")]
    Count {
        /// Number of parameters that take an argument.
        expected: usize,
        /// Number of arguments.
        found: usize,
    },
    /// A scalar is passed for a buffer parameter, or a buffer for a scalar parameter.
    #[error("parameter {param} is a {expected}")]
    Kind {
        /// Number of the parameter.
        param: usize,
        /// Kind of the parameter: `scalar` or `buffer`.
        expected: &'static str,
    },
    /// The address of a buffer is not a multiple of the parameter's alignment.
    #[error("buffer {param} is at {base:#x}, which is not a multiple of {align}")]
    Align {
        /// Number of the parameter.
        param: usize,
        /// Address of the buffer.
        base: u64,
        /// Alignment of the parameter in bytes.
        align: u32,
    },
    /// The size of a buffer is not a multiple of the element size.
    #[error("buffer {param} has {len} bytes, which is not a multiple of the element size {elem}")]
    Size {
        /// Number of the parameter.
        param: usize,
        /// Size of the buffer in bytes.
        len: usize,
        /// Size of an element in bytes.
        elem: u32,
    },
    /// An alias refers to a parameter that is not a buffer or is itself an alias, or to an address
    /// beyond the end of the buffer.
    #[error("parameter {param} is an alias of parameter {of} at byte {offset}, which is not in a buffer")]
    Alias {
        /// Number of the parameter that receives the alias.
        param: usize,
        /// Number of the parameter that the alias refers to.
        of: usize,
        /// Offset of the address in bytes from the start of the buffer.
        offset: u64,
    },
    /// Two arguments are in the same buffer, and one of their parameters is written without `may_alias`.
    #[error("buffers {first} and {second} overlap, but {unique} is written without `may_alias`")]
    MayNotAlias {
        /// Number of the first parameter.
        first: usize,
        /// Number of the second parameter.
        second: usize,
        /// Number of the parameter that must not overlap other buffers.
        unique: usize,
    },
    /// Two buffers overlap, or a buffer extends beyond the end of the address space.
    #[error("buffers {first} and {second} overlap")]
    Overlap {
        /// Number of the first parameter.
        first: usize,
        /// Number of the second parameter. Equal to the first for a buffer beyond the end of the address space.
        second: usize,
    },
    /// The shape is not valid for the kernel.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// Error of a launch.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// The arguments are invalid, so the launch did not start.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// An item trapped.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// Two items accessed the same byte, at least one of them wrote it, and the accesses are not ordered.
    #[error(transparent)]
    Race(#[from] Race),
    /// A limit was exceeded, or the launch was cancelled.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Trap of the lowest-numbered trapping item, at the item's first trapping instruction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("item {item}: {kind}")]
pub struct Trap {
    /// Number of the item in the launch.
    pub item: u32,
    /// Instruction that traps. In a packed kernel, the first access of the stream.
    pub inst: Inst,
    /// Source span of the instruction.
    pub span: Span,
    /// Cause of the trap.
    pub kind: TrapKind,
}

/// Cause of a trap. A memory access checks alignment first, then bounds, then direction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access is not within one buffer.
    #[error("{bytes} bytes at {address:#x} are not within a buffer")]
    OutOfBounds {
        /// Address of the access.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
    },
    /// The address is not a multiple of the alignment that the access requires.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// Address of the access.
        address: u64,
        /// Alignment in bytes that the instruction requires.
        align: u32,
    },
    /// A store goes to an `in` buffer.
    #[error("store at {address:#x} into the `in` buffer of parameter {param}")]
    ReadOnly {
        /// Address of the access.
        address: u64,
        /// Number of the buffer parameter.
        param: usize,
    },
    /// A packed kernel accesses a stream out of order, or does not access all bytes of a group.
    /// Uniform streams outside loops can be accessed in any order.
    #[error("stream {stream} is not accessed in order: reached byte {at} of the group, but byte {next} is next")]
    OutOfOrder {
        /// Number of the stream.
        stream: usize,
        /// Byte offset of the access in the group's part of the stream. If the group ends early, the size of that part.
        at: u64,
        /// Byte offset of the expected access in the group's part of the stream.
        next: u64,
    },
    /// An item reads shared memory that no item of its group has written.
    #[error("read of {bytes} bytes of uninitialised shared memory at offset {address}")]
    Uninitialised {
        /// Offset of the first byte in shared memory.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
    },
    /// A barrier or collective operation of the item is invalid. The list describes the items
    /// involved, if there are several.
    #[error("{}{}", .0, others(.1))]
    Collective(SyncError, Vec<WaitingItems>),
    /// The item polls memory that no item will write, because all other items have ended or also wait.
    #[error("waits for memory that no item will write{}", others(.0))]
    Deadlock(Vec<WaitingItems>),
    /// An item takes more backward branches than the launch allows.
    #[error("takes more than {budget} backward branches")]
    Budget {
        /// Limit of backward branches per item.
        budget: u32,
    },
    /// An item executes a target instruction that has no implementation.
    #[error("{reason}")]
    NoIntrinsic {
        /// Reason why there is no implementation.
        reason: String,
    },
}

/// Data race: one item writes a byte, another item reads or writes it, and the two accesses are not ordered.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("race: {second} byte {offset} of {}, which item {} {}{}", memory(*.place), first.item, .first.verb_after(.second), self.value_clause())]
pub struct Race {
    /// Memory of the byte: the shared memory of a group, or the buffer of a parameter.
    pub place: SharedLocation,
    /// Offset of the byte in this memory.
    pub offset: u64,
    /// The access that was executed first.
    pub first: Access,
    /// The access that was executed second.
    pub second: Access,
    /// `true` if both accesses are weak stores of the same value by the same instruction. Such a
    /// race is an error only under [`RaceCheck::Strict`].
    pub is_same_value: bool,
}

impl Race {
    /// Returns the last words of an error message about the race: ` with the same value` for a
    /// same-value race, otherwise an empty text.
    pub const fn value_clause(&self) -> &'static str {
        if self.is_same_value { " with the same value" } else { "" }
    }
}

/// Formats the states of all waiting items except those of the first entry.
fn others(parties: &[WaitingItems]) -> String {
    parties.iter().skip(1).take(4).map(|party| format!("; {party}")).collect()
}

impl TrapKind {
    /// Returns the items involved in a deadlock. Their instruction numbers are those of the kernel.
    pub fn parties(&self) -> &[WaitingItems] {
        match self {
            TrapKind::Collective(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &[],
        }
    }
}

fn memory(place: SharedLocation) -> String {
    match place {
        SharedLocation::Shared => "shared memory".into(),
        SharedLocation::Buffer(param) => format!("the buffer of parameter {param}"),
        SharedLocation::Process => "memory of the process".into(),
    }
}

/// One of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Number of the item in the launch.
    pub item: u32,
    /// The load or store. In a packed kernel, the first access of the stream.
    pub inst: Inst,
    /// Source span of the instruction.
    pub span: Span,
    /// `true` for a store.
    pub write: bool,
}

impl Access {
    /// Returns the verb for this access in a message: `reads` or `writes`.
    pub const fn verb(&self) -> &'static str {
        if self.write { "writes" } else { "reads" }
    }

    /// Returns the verb for this access in a message that has described the access `other`, such as `also writes`.
    pub const fn verb_after(&self, other: &Access) -> &'static str {
        match (self.write, other.write) {
            (true, true) => "also writes",
            (false, false) => "also reads",
            _ => self.verb(),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} {}", self.item, self.verb())
    }
}

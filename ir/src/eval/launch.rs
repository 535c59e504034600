//! Parameters of a launch, and its errors.

use std::fmt;

use halfbyte_abi::cooperative::{Schedule, SharedLocation, SyncError, WaitingItems};
use halfbyte_abi::{Exceeded, Shape, ShapeError, Type, Watchdog};
use thiserror::Error;

use crate::eval::Operand;
use crate::kernel::{Inst, IntrinsicData};
use crate::span::Span;

/// Default limit of backward branches per item.
pub const DEFAULT_BUDGET: u32 = halfbyte_abi::DEFAULT_BUDGET as u32;

/// Parameters of a launch.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// Shape of the launch, in work items even for a packed kernel. Items run in the order of their
    /// numbers ([`Shape::place`]).
    pub shape: Shape,
    /// Limit of backward branches per item, or per group of a packed kernel. A branch is backward
    /// if its target is not later in the kernel's layout.
    pub budget: u32,
    /// Implementation of target instructions. If it is absent, an intrinsic traps.
    pub intrinsics: Option<&'a dyn Intrinsics>,
    /// Watchdog that stops the launch if a limit is exceeded or the launch is cancelled.
    pub watchdog: Option<&'a Watchdog>,
    /// Execution order of groups, and of cooperating items within a group.
    pub schedule: Schedule,
    /// Enables detection of races and of reads from uninitialised shared memory. If it is disabled,
    /// shared memory starts as zeros; other engines may still give different results.
    pub watch: bool,
}

impl Launch<'_> {
    /// Creates a launch of a number of items or of a shape, with the default budget and without
    /// intrinsics.
    pub fn new(shape: impl Into<Shape>) -> Self {
        Launch {
            shape: shape.into(),
            budget: DEFAULT_BUDGET,
            intrinsics: None,
            watchdog: None,
            schedule: Schedule::Ascending,
            watch: true,
        }
    }
}

/// Argument of a kernel's parameter.
#[derive(Debug)]
pub enum Arg<'a> {
    /// Scalar, as bits in 64-bit words, lane 0 in the lowest bits. Bits above the type's width are
    /// ignored.
    Scalar([u64; 8]),
    /// Buffer, as memory and the address of its first byte.
    Buffer {
        /// Address. Buffers must not overlap; use [`Arg::Alias`] for overlapping arguments.
        base: u64,
        /// Contents before and after the launch. An `out` buffer is cleared first. After a fault,
        /// the contents are unspecified.
        bytes: &'a mut [u8],
    },
    /// Address in the buffer of another parameter.
    Alias {
        /// Number of the other parameter.
        of: usize,
        /// Byte offset from the buffer's start.
        offset: u64,
    },
}

impl Arg<'_> {
    /// Creates a scalar argument of at most 64 bits.
    pub fn scalar(bits: u64) -> Self {
        Arg::Scalar([bits, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Returns the address that the arguments give for a parameter. Returns `None` for a scalar,
    /// and for an invalid alias.
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
    /// Returns the implementation of an instruction for the given operand types, or the reason why
    /// there is none. The evaluator calls it once per launch for each `intrinsic` of the kernel. If
    /// there is no implementation, executing the instruction traps with the reason.
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String>;
}

/// Reason why arguments do not match a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ArgError {
    /// The number of arguments is wrong.
    #[error("the kernel has {expected} parameters, but {found} arguments are given")]
    Count {
        /// Number of parameters.
        expected: usize,
        /// Number of arguments.
        found: usize,
    },
    /// A scalar for a buffer, or a buffer for a scalar.
    #[error("parameter {param} is a {expected}")]
    Kind {
        /// Number of the parameter.
        param: usize,
        /// `scalar` or `buffer`.
        expected: &'static str,
    },
    /// A buffer's address is not a multiple of its alignment.
    #[error("buffer {param} is at {base:#x}, which is not a multiple of {align}")]
    Align {
        /// Number of the parameter.
        param: usize,
        /// The address.
        base: u64,
        /// Alignment in the signature.
        align: u32,
    },
    /// A buffer's size is not a whole number of elements.
    #[error("buffer {param} has {len} bytes, which is not a multiple of its element's {elem}")]
    Size {
        /// Number of the parameter.
        param: usize,
        /// Size of the buffer in bytes.
        len: usize,
        /// Size of an element in bytes.
        elem: u32,
    },
    /// An alias that refers to a parameter without its own buffer, or beyond the end of a buffer.
    #[error("the alias of parameter {param} at byte {offset} of parameter {of} is in no buffer")]
    Alias {
        /// Number of the parameter that receives the alias.
        param: usize,
        /// Number of the parameter that the alias refers to.
        of: usize,
        /// Byte offset from the buffer's start.
        offset: u64,
    },
    /// Two arguments are in the same buffer, and one of them is written without `may_alias`.
    #[error("buffers {first} and {second} overlap, but {unique} is written without `may_alias`")]
    MayNotAlias {
        /// Number of the first parameter.
        first: usize,
        /// Number of the second parameter.
        second: usize,
        /// Number of the parameter that must not overlap others.
        unique: usize,
    },
    /// Two buffers overlap, or a buffer wraps around the end of the address space.
    #[error("buffers {first} and {second} overlap")]
    Overlap {
        /// Number of the first parameter.
        first: usize,
        /// Number of the second parameter; equal to the first for a buffer that wraps around.
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
    /// Two items accessed memory without an order.
    #[error(transparent)]
    Race(#[from] Race),
    /// A limit was exceeded, or the launch was cancelled.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Trap of the lowest-numbered trapping item, at its first trapping instruction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("item {item}: {kind}")]
pub struct Trap {
    /// Number of the item.
    pub item: u32,
    /// Instruction; in a packed kernel, the first access of the stream.
    pub inst: Inst,
    /// Source span.
    pub span: Span,
    /// Cause of the trap.
    pub kind: TrapKind,
}

/// Cause of a trap. A memory access checks alignment first, then bounds, then direction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access that is not within one buffer.
    #[error("{bytes} bytes at {address:#x} are not within a buffer")]
    OutOfBounds {
        /// Address of the access.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
    },
    /// An address that is not a multiple of the access's alignment.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// Address of the access.
        address: u64,
        /// Alignment that the instruction requires.
        align: u32,
    },
    /// A store to an `in` buffer.
    #[error("store at {address:#x} into the `in` buffer of parameter {param}")]
    ReadOnly {
        /// Address of the access.
        address: u64,
        /// Number of the parameter.
        param: usize,
    },
    /// In a packed kernel: an access to a stream out of order, or the end of a group that has not
    /// accessed all its bytes. Uniform streams outside loops can be accessed in any order.
    #[error("access to byte {at} of a group in stream {stream}, but byte {next} is next")]
    OutOfOrder {
        /// Number of the stream.
        stream: usize,
        /// Byte offset of the access within the group; at the end of a group, its size.
        at: u64,
        /// Byte offset of the expected access.
        next: u64,
    },
    /// A read from shared memory that no item of the group has written.
    #[error("read of {bytes} bytes of uninitialised shared memory at offset {address}")]
    Uninitialised {
        /// Offset in shared memory of the first byte.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
    },
    /// A barrier or collective operation of the item is invalid. The parties are the items
    /// involved, if there are several.
    #[error("{}{}", .0, others(.1))]
    Meets(SyncError, Vec<WaitingItems>),
    /// The item polls memory that no item will write, because all others have ended or also wait.
    #[error("waits for memory that no item will write{}", others(.0))]
    Deadlock(Vec<WaitingItems>),
    /// More backward branches than the launch allows.
    #[error("more than {budget} backward branches")]
    Budget {
        /// The limit.
        budget: u32,
    },
    /// An intrinsic without an implementation.
    #[error("{reason}")]
    NoIntrinsic {
        /// Reason why there is no implementation.
        reason: String,
    },
}

/// Data race: one item writes a byte and another reads or writes it, without an order between the
/// two.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("race: {second} byte {offset} of {}, which {first} too", memory(*.place))]
pub struct Race {
    /// Memory: shared memory of a group, or the buffer of a parameter, by number.
    pub place: SharedLocation,
    /// Offset of the byte.
    pub offset: u64,
    /// Access that was executed first.
    pub first: Access,
    /// Access that was executed second.
    pub second: Access,
}

/// Formats the states of all parties except the first.
fn others(parties: &[WaitingItems]) -> String {
    parties.iter().skip(1).take(4).map(|party| format!("; {party}")).collect()
}

impl TrapKind {
    /// Returns the parties of a deadlock. Their instruction numbers are those of the kernel.
    pub fn parties(&self) -> &[WaitingItems] {
        match self {
            TrapKind::Meets(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &[],
        }
    }
}

fn memory(place: SharedLocation) -> String {
    match place {
        SharedLocation::Shared => "shared memory".into(),
        SharedLocation::Buffer(param) => format!("the buffer of parameter {param}"),
    }
}

/// One of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Number of the item.
    pub item: u32,
    /// Load or store; in a packed kernel, the first access of the stream.
    pub inst: Inst,
    /// Source span.
    pub span: Span,
    /// `true` for a store.
    pub write: bool,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.write { "writes" } else { "reads" };
        write!(f, "item {} {verb}", self.item)
    }
}

//! What a launch is given, and how it can end badly.

use std::fmt;

use halfbyte_abi::meet::{Meets, Party, Place, Schedule};
use halfbyte_abi::{Exceeded, Shape, ShapeError, Type, Watchdog};
use thiserror::Error;

use crate::eval::Operand;
use crate::kernel::{Inst, IntrinsicData};
use crate::span::Span;

/// Backward branches that an item may take unless the launch says otherwise.
pub const DEFAULT_BUDGET: u32 = halfbyte_abi::DEFAULT_BUDGET as u32;

/// How a kernel is launched.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The work items, of a packed kernel too. They run in the order of their numbers ([`Shape::place`]).
    pub shape: Shape,
    /// Backward branches that each item, or group of a packed kernel, may take: branches to a block that comes no later in the kernel's layout.
    pub budget: u32,
    /// The meaning of targets' instructions. Without one, an intrinsic traps.
    pub intrinsics: Option<&'a dyn Intrinsics>,
    /// What ends the launch early: limits that are met, or someone who cancels it.
    pub watchdog: Option<&'a Watchdog>,
    /// In which order items that meet have their turns, and their groups run.
    pub schedule: Schedule,
    /// Whether races of items that meet are looked for, and reads of shared memory that nothing has written. Where not, shared memory starts as
    /// zeros; nothing else is known to be the same on every machine.
    pub watch: bool,
}

impl Launch<'_> {
    /// So many items, or a shape, with the default budget and without intrinsics.
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

/// What a kernel's parameter stands for in a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A value's bits in 64-bit words, lane 0 lowest. Bits above the type are passed over.
    Scalar([u64; 8]),
    /// Memory, and the address of its first byte.
    Buffer {
        /// The address. Buffers do not overlap; what does is an alias.
        base: u64,
        /// The contents, before and after. An `out` buffer is cleared first. After a fault they are unspecified.
        bytes: &'a mut [u8],
    },
    /// An address in the buffer of another parameter.
    Alias {
        /// The parameter's number.
        of: usize,
        /// Bytes from the buffer's start.
        offset: u64,
    },
}

impl Arg<'_> {
    /// A scalar of at most 64 bits.
    pub fn scalar(bits: u64) -> Self {
        Arg::Scalar([bits, 0, 0, 0, 0, 0, 0, 0])
    }

    /// The address that the parameter of this number has by these arguments; none for a scalar, and for what points nowhere.
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

/// A target's instruction at work: operands in, result lanes out.
pub type IntrinsicFn<'a> = Box<dyn Fn(&[Operand<'_>], &mut [u64]) + 'a>;

/// The meaning of targets' instructions, which the IR does not know.
pub trait Intrinsics {
    /// The meaning of one instruction on operands of these types, or why it has none. Asked once a launch for each
    /// `intrinsic` of the kernel; a reason becomes a trap where the instruction is executed.
    fn resolve<'a>(
        &'a self,
        intrinsic: &'a IntrinsicData,
        args: &[Type],
        result: Type,
    ) -> Result<IntrinsicFn<'a>, String>;
}

/// Why arguments do not fit a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ArgError {
    /// Too few or too many.
    #[error("the kernel has {expected} parameters, but {found} arguments are given")]
    Count {
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments of the launch.
        found: usize,
    },
    /// A scalar for a buffer or a buffer for a scalar.
    #[error("parameter {param} is a {expected}")]
    Kind {
        /// The parameter's number.
        param: usize,
        /// `scalar` or `buffer`.
        expected: &'static str,
    },
    /// A buffer's address is not a multiple of its alignment.
    #[error("buffer {param} is at {base:#x}, which is not a multiple of {align}")]
    Align {
        /// The parameter's number.
        param: usize,
        /// The address.
        base: u64,
        /// The alignment that the signature states.
        align: u32,
    },
    /// A buffer's size is not a whole number of elements.
    #[error("buffer {param} has {len} bytes, which is not a multiple of its element's {elem}")]
    Size {
        /// The parameter's number.
        param: usize,
        /// Bytes given.
        len: usize,
        /// Bytes of an element.
        elem: u32,
    },
    /// An alias of what is no buffer of its own, or beyond its end.
    #[error("parameter {param} is given an address in parameter {of}, {offset} bytes on, where no buffer is")]
    Alias {
        /// The number of the parameter that it is given for.
        param: usize,
        /// The parameter into whose buffer it should point.
        of: usize,
        /// Bytes from the buffer's start.
        offset: u64,
    },
    /// Two arguments are in one buffer, and one of them is written and does not say `may_alias`.
    #[error("buffers {first} and {second} overlap, and {unique} is written and does not say `may_alias`")]
    MayNotAlias {
        /// A parameter's number.
        first: usize,
        /// A parameter's number.
        second: usize,
        /// Which of the two.
        unique: usize,
    },
    /// Two buffers share addresses, or one runs over the end of the address space.
    #[error("buffers {first} and {second} overlap")]
    Overlap {
        /// A parameter's number.
        first: usize,
        /// A parameter's number; the same for a buffer that wraps around.
        second: usize,
    },
    /// A shape that no launch of the kernel has.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// How a launch ends badly.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// It did not begin.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// An item did what is not allowed.
    #[error(transparent)]
    Trap(#[from] Trap),
    /// Two items met in memory.
    #[error(transparent)]
    Race(#[from] Race),
    /// It was ended early.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// What the lowest-numbered trapping item did at its first trapping instruction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("item {item}: {kind}")]
pub struct Trap {
    /// The item.
    pub item: u32,
    /// The instruction; for an access of a packed kernel's item, the first of the stream.
    pub inst: Inst,
    /// Its place in the text.
    pub span: Span,
    /// What it did.
    pub kind: TrapKind,
}

/// What an instruction may not do. Of a memory access alignment is asked first, then bounds, then direction.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access that does not lie within one buffer.
    #[error("{bytes} bytes at {address:#x} lie in no buffer")]
    OutOfBounds {
        /// The address.
        address: u64,
        /// The size.
        bytes: u32,
    },
    /// An address that is not a multiple of the access's alignment.
    #[error("address {address:#x} is not a multiple of {align}")]
    Misaligned {
        /// The address.
        address: u64,
        /// The alignment that the instruction states.
        align: u32,
    },
    /// A store into an `in` buffer.
    #[error("store at {address:#x} into the `in` buffer of parameter {param}")]
    ReadOnly {
        /// The address.
        address: u64,
        /// The parameter's number.
        param: usize,
    },
    /// An access of a packed kernel to other bytes of a stream than those that come next, or the end of a group that has not
    /// accessed all. A uniform stream outside loops is accessed at will.
    #[error("byte {at} of a group in stream {stream} where byte {next} comes next")]
    OutOfOrder {
        /// The stream's number.
        stream: usize,
        /// The byte among those of the group: of the access, or after the group's last.
        at: u64,
        /// The byte that comes after those accessed.
        next: u64,
    },
    /// A read of shared memory that no item of the group has written.
    #[error("{bytes} bytes at {address} of shared memory are read, and the group has not written them all")]
    Uninitialised {
        /// The first byte of shared memory that is read.
        address: u64,
        /// The size.
        bytes: u32,
    },
    /// The collective operation of the item is invalid. The items concerned come with it, if there are several.
    #[error("{}{}", .0, others(.1))]
    Meets(Meets, Vec<Party>),
    /// It asks again and again for memory that nobody will write: all others have ended, or wait too.
    #[error("waits for memory that nobody writes any more{}", others(.0))]
    Deadlock(Vec<Party>),
    /// More backward branches than the launch allows an item.
    #[error("more than {budget} backward branches")]
    Budget {
        /// What is allowed.
        budget: u32,
    },
    /// An intrinsic without a meaning.
    #[error("{reason}")]
    NoIntrinsic {
        /// Why it has none.
        reason: String,
    },
}

/// A byte that one item writes and another reads or writes, where nothing orders the two.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("race: {second} byte {offset} of {}, which {first} too", memory(*.place))]
pub struct Race {
    /// The memory: that of a group, or the buffer of a parameter, by number.
    pub place: Place,
    /// The byte in it.
    pub offset: u64,
    /// The access that was made first.
    pub first: Access,
    /// The access of the other.
    pub second: Access,
}

/// Returns what all parties but the first do, as text.
fn others(parties: &[Party]) -> String {
    parties.iter().skip(1).take(4).map(|party| format!("; {party}")).collect()
}

impl TrapKind {
    /// Returns the parties of a circular wait. Their places are the kernel's instructions.
    pub fn parties(&self) -> &[Party] {
        match self {
            TrapKind::Meets(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &[],
        }
    }
}

fn memory(place: Place) -> String {
    match place {
        Place::Shared => "shared memory".into(),
        Place::Buffer(param) => format!("the buffer of parameter {param}"),
    }
}

/// One of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The item.
    pub item: u32,
    /// The load or store; of a packed kernel, the first of the stream.
    pub inst: Inst,
    /// Its place in the text.
    pub span: Span,
    /// Whether it is a store.
    pub write: bool,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.write { "writes" } else { "reads" };
        write!(f, "item {} {verb}", self.item)
    }
}

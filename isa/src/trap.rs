//! Traps of work items.

use std::fmt;

use crate::isa::digits;
use crate::object::Loc;
pub use crate::ptx::definedness::Use;
use crate::vp1::domain::Unknown;
use halfbyte_abi::cooperative::{SyncError, WaitingItems};
use halfbyte_abi::{Exceeded, ItemName, Shape};

/// A trap: the work item that cannot continue, the instruction, and the reason. After a trap the
/// launch's buffers hold no valid result.
///
/// If several items trap, the trap of the item with the lowest number is reported. A cooperative
/// launch reports the first trap in the order of execution instead.
///
/// On VP1, one program executes a group of items. An error of that program is attributed to the
/// group's first item. Invalid accesses of items up to that item take precedence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// Name of the kernel.
    pub kernel: String,
    /// Number of the work item in the launch.
    pub item: u32,
    /// Shape of the launch.
    pub shape: Shape,
    /// Address of the instruction, in instruction words from the kernel's start.
    pub address: u32,
    /// The instruction in assembly.
    pub instruction: String,
    /// Name of the source file.
    pub source: String,
    /// Source location of the instruction.
    pub loc: Loc,
    /// The reason.
    pub kind: TrapKind,
    /// A change of the launch that is likely to avoid the trap, if known.
    pub remedy: Option<Remedy>,
}

impl Trap {
    /// Returns the work item's name for messages.
    pub fn item_name(&self) -> ItemName {
        self.shape.name(self.item)
    }
}

/// A change of the launch that is likely to avoid a trap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Remedy {
    /// A cooperative launch, because the kernel uses the grid workspace.
    GridWorkspace,
    /// A cooperative launch, because an item may wait for a write of another block.
    ResidentBlocks,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::GridWorkspace => {
                "the kernel uses the barrier of the grid, which needs a cooperative launch; launch with `--cooperative`"
            }
            Remedy::ResidentBlocks => {
                "blocks run one after another; if items wait for another block, launch with `--cooperative`"
            }
        })
    }
}

/// The direction of a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// A read.
    Load,
    /// A write.
    Store,
}

/// A memory space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// The launch's buffers.
    Global,
    /// The private memory of the work item.
    Local,
    /// The shared memory of the group.
    Shared,
    /// A constant bank.
    Constant(u8),
}

/// The instruction at which a work item trapped, and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Address of the instruction word.
    pub address: usize,
    /// The reason.
    pub kind: TrapKind,
}

/// Reason why the execution of a launch ended early.
pub enum Halt {
    /// A work item trapped.
    Fault(Fault),
    /// A limit on time or memory was exceeded, or the launch was cancelled.
    Exceeded(Exceeded),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

impl From<Exceeded> for Halt {
    fn from(exceeded: Exceeded) -> Halt {
        Halt::Exceeded(exceeded)
    }
}

/// Reason of a trap.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access is not completely within the memory space. In global memory it must be within one buffer.
    OutOfBounds {
        /// The direction.
        access: Access,
        /// The memory space.
        space: Space,
        /// The address in the space.
        address: u64,
        /// Access size in bytes.
        bytes: u32,
        /// The buffer that a global address belongs to, and the offset from it.
        near: Option<Near>,
    },
    /// An access at an address that is not a multiple of the access size.
    Misaligned {
        /// The direction.
        access: Access,
        /// The memory space.
        space: Space,
        /// The address in the space.
        address: u64,
        /// Access size in bytes.
        bytes: u32,
    },
    /// A store to an `in` buffer.
    ReadOnly {
        /// The address.
        address: u64,
        /// Access size in bytes.
        bytes: u32,
        /// Name of the buffer's parameter.
        buffer: String,
    },
    /// A data race: two items access the same byte without synchronisation, and at least one of the
    /// two accesses is a write. Reported only by launches that detect races.
    Race {
        /// The direction of the second access.
        access: Access,
        /// The memory space.
        space: Space,
        /// Address of the first byte that both accesses contain.
        address: u64,
        /// The first access.
        other: ConflictingAccess,
    },
    /// A load of shared memory that no item of the group has written. Reported only by launches that detect races.
    Uninitialised {
        /// The address in shared memory.
        address: u64,
        /// Access size in bytes.
        bytes: u32,
    },
    /// A store, an address or a branch depends on a register or the carry flag that the item has
    /// not written. Reported only by launches that detect races.
    Unwritten {
        /// The register or the flag.
        of: Unwritten,
        /// Index of the instruction that reads the unwritten register or flag.
        read: usize,
        /// The store, address or branch that depends on the value.
        reaches: Use,
        /// Source location of the store, address or branch, if known.
        loc: Option<Loc>,
    },
    /// The instruction word is not a valid instruction.
    Undefined {
        /// The undefined word.
        word: u128,
        /// Size of the word in bytes.
        bytes: u32,
    },
    /// The effect of the instruction is undocumented.
    Unknown(Unknown),
    /// The item took more backward branches than its budget: the loop is endless or too long.
    Budget {
        /// Maximum number of backward branches per item.
        limit: u64,
    },
    /// Execution continued past the last instruction.
    RanPastEnd,
    /// A branch to an address outside the kernel's machine code.
    BranchOutside {
        /// Target address, in instruction words from the kernel's start.
        target: i64,
        /// Number of instruction words in the kernel.
        words: u32,
    },
    /// The calls are nested more deeply than the machine's return stack permits.
    CallDepth {
        /// Maximum depth.
        limit: u32,
    },
    /// A return without a preceding call.
    ReturnWithoutCall,
    /// The kernel executed a trap instruction.
    Trap,
    /// An invalid collective operation. The list holds the items involved if there are several.
    Collective(SyncError, Vec<WaitingItems>),
    /// A deadlock: the item polls memory that no item will write, because all other items have
    /// ended or are waiting. The list holds the waiting items.
    Deadlock(Vec<WaitingItems>),
    /// A failed assertion of the kernel.
    AssertFailed {
        /// The asserted condition.
        what: String,
        /// Source file of the assertion.
        file: String,
        /// Line of the assertion.
        line: u32,
        /// Function that contains the assertion.
        function: String,
    },
    /// A call of `free` with an address that is not the start of an allocated block of the heap.
    InvalidFree {
        /// The address.
        address: u64,
        /// `true` if the address is the start of a block that was freed earlier.
        is_freed: bool,
    },
    /// The item needs more local memory than available.
    StackOverflow {
        /// Size of an item's local memory in bytes.
        limit: u32,
    },
    /// The kernel set the stack pointer to a position outside of the current stack frame.
    StackRestored {
        /// The requested position, as an address in local memory.
        to: u64,
    },
    /// The index of an indirect branch exceeds the size of its target table.
    NoTarget {
        /// The index.
        index: u32,
        /// Number of targets in the table.
        targets: u32,
    },
    /// The target address of an indirect call is not the address of a function with the expected prototype.
    NoFunction,
}

/// The storage location that an undefined value was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unwritten {
    /// A register, by name.
    Register(String),
    /// The carry flag, which calls and barriers do not preserve.
    Carry,
}

impl TrapKind {
    /// Returns the items that wait for each other, or an empty slice for a trap of another kind.
    pub fn parties(&self) -> &[WaitingItems] {
        match self {
            TrapKind::Collective(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &[],
        }
    }

    /// Returns a mutable slice of the items that wait for each other. The slice is empty for a trap
    /// of another kind.
    pub fn parties_mut(&mut self) -> &mut [WaitingItems] {
        match self {
            TrapKind::Collective(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &mut [],
        }
    }

    /// Sets the source locations of the waiting items. `loc` maps the index of an instruction to its source location.
    pub fn locate_parties(&mut self, loc: impl Fn(usize) -> Loc) {
        self.parties_mut().iter_mut().for_each(|party| party.loc = loc(party.place as usize));
    }
}

/// The first of two accesses that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictingAccess {
    /// The accessing item.
    pub item: ItemName,
    /// Address of the instruction in the kernel.
    pub address: usize,
    /// Source location of the instruction, if known.
    pub loc: Option<Loc>,
    /// `true` if the access is a write.
    pub is_written: bool,
    /// `true` if the access belongs to a pending asynchronous copy, for which its item has not yet
    /// waited.
    pub is_under_way: bool,
    /// `true` if both accesses are stores of the same value by the same instruction.
    pub is_same_value: bool,
}

/// The position of an address relative to a buffer, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Near {
    /// Name of the buffer's parameter.
    pub buffer: String,
    /// Offset from the buffer's start in bytes; negative before the buffer.
    pub offset: i64,
    /// Size of the buffer in bytes.
    pub size: u64,
    /// `true` for a block of the heap that was freed earlier.
    pub is_freed: bool,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trap { kernel, address, instruction, source, loc, kind, remedy, .. } = self;
        write!(f, "kernel `{kernel}`, {}, word {address:#x} `{instruction}`", self.item_name())?;
        if loc.is_known() {
            write!(f, " ({source}:{}:{})", loc.line, loc.column)?;
        }
        write!(f, ": {kind}")?;
        remedy.map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
    }
}

impl std::error::Error for Trap {}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrapKind::OutOfBounds { access, space, address, bytes, near } => {
                write!(f, "{access} of {bytes} bytes at {space} address {address:#x} is out of bounds")?;
                match near {
                    Some(Near { buffer, offset, .. }) if *offset < 0 => {
                        write!(f, ": {} bytes before buffer `{buffer}`", offset.unsigned_abs())
                    }
                    Some(Near { buffer, offset, is_freed: true, .. }) => {
                        write!(f, ": byte {offset} of buffer `{buffer}`, which was freed")
                    }
                    Some(Near { buffer, offset, size, .. }) => {
                        write!(f, ": byte {offset} of buffer `{buffer}`, which has {size} bytes")
                    }
                    None => Ok(()),
                }
            }
            TrapKind::Misaligned { access, space, address, bytes } => {
                write!(f, "{access} of {bytes} bytes at {space} address {address:#x} is misaligned")
            }
            TrapKind::ReadOnly { address, bytes, buffer } => {
                write!(f, "store of {bytes} bytes at global address {address:#x} into `in` buffer `{buffer}`")
            }
            TrapKind::Race {
                access,
                space,
                address,
                other: ConflictingAccess { item, loc, is_written, is_under_way, is_same_value, .. },
            } => {
                let verb = if *is_written { "written" } else { "read" };
                let (also, by) = match is_under_way {
                    true => ("", format!("a copy that {item} has not waited for")),
                    false if *is_written == (*access == Access::Store) => ("also ", item.to_string()),
                    false => ("", item.to_string()),
                };
                write!(
                    f,
                    "data race: {access} of the byte at {space} address {address:#x}, which is {also}{verb} by {by}"
                )?;
                if *is_same_value {
                    f.write_str(" with the same value")?;
                }
                loc.filter(|loc| loc.is_known()).map_or(Ok(()), |loc| write!(f, ", at line {}", loc.line))
            }
            TrapKind::Uninitialised { address, bytes } => {
                write!(f, "load of {bytes} bytes at shared address {address:#x}, which is uninitialised")
            }
            TrapKind::Unwritten { of, reaches, loc, .. } => {
                match of {
                    Unwritten::Register(name) => write!(f, "`{name}` is read before it is written")?,
                    Unwritten::Carry => f.write_str(
                        "the carry flag is read, but has not been set since the start, the last call or the last barrier",
                    )?,
                }
                write!(f, ", and {reaches} depends on it")?;
                loc.filter(|loc| loc.is_known()).map_or(Ok(()), |loc| write!(f, ", at line {}", loc.line))
            }
            TrapKind::Undefined { word, bytes } => write!(f, "{} is not a valid instruction", digits(*word, *bytes)),
            TrapKind::Unknown(unknown) => unknown.fmt(f),
            TrapKind::Budget { limit } => write!(f, "more than {limit} backward branches taken"),
            TrapKind::RanPastEnd => f.write_str("execution continues past the end of the kernel"),
            TrapKind::BranchOutside { target, words } => {
                write!(f, "branch to word {target}, outside of the kernel, which has {words} words")
            }
            TrapKind::CallDepth { limit } => write!(f, "call depth exceeds {limit}"),
            TrapKind::ReturnWithoutCall => f.write_str("return without a call"),
            TrapKind::Trap => f.write_str("the kernel executed a trap instruction"),
            TrapKind::Collective(why, parties) => {
                why.fmt(f)?;
                write_parties(f, parties)
            }
            TrapKind::Deadlock(parties) => {
                f.write_str("deadlock: the item polls memory that no other item will write")?;
                write_parties(f, parties)
            }
            TrapKind::AssertFailed { what, file, line, function } => {
                write!(f, "{file}:{line}: {function}: assertion `{what}` failed")
            }
            TrapKind::InvalidFree { address, is_freed: true } => {
                write!(f, "`free` of the block at {address:#x}, which was freed earlier")
            }
            TrapKind::InvalidFree { address, .. } => {
                write!(f, "`free` of {address:#x}, which is not the address of a block from `malloc`")
            }
            TrapKind::StackOverflow { limit } => write!(f, "the item needs more than {limit} bytes of local memory"),
            TrapKind::StackRestored { to } => {
                write!(f, "invalid stack restore: {to:#x} is outside of the current stack frame")
            }
            TrapKind::NoTarget { index, targets } => {
                write!(f, "branch index {index} is out of range: the table has {targets} targets")
            }
            TrapKind::NoFunction => {
                f.write_str("indirect call to an address that is not a function of the expected prototype")
            }
        }
    }
}

/// Maximum number of waiting items that a message lists in addition to the first.
const PARTIES: usize = 4;

/// Writes the operation for which each listed item except the first waits.
fn write_parties(f: &mut fmt::Formatter<'_>, parties: &[WaitingItems]) -> fmt::Result {
    let others = parties.get(1..).unwrap_or_default();
    others.iter().take(PARTIES).try_for_each(|party| write!(f, "; {party}"))
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Load => "load",
            Access::Store => "store",
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Global => f.write_str("global"),
            Space::Local => f.write_str("local"),
            Space::Shared => f.write_str("shared"),
            Space::Constant(bank) => write!(f, "c[{bank:#x}]"),
        }
    }
}

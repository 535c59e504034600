//! What stops a work item.

use std::fmt;

use crate::isa::digits;
use crate::object::Loc;
pub use crate::ptx::definedness::Use;
use crate::vp1::domain::Unknown;
use halfbyte_abi::meet::{Meets, Party};
use halfbyte_abi::{Exceeded, ItemName, Shape};

/// A work item that could not go on: where it was and why. After it the launch's buffers hold no result.
///
/// Of several items that trap, the one reported is the lowest. Where a group of items runs as one, what is wrong with the program
/// is its first item's; accesses of items up to that one come before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The kernel.
    pub kernel: String,
    /// The work item by its number ([`Shape::place`]).
    pub item: u32,
    /// The launch that it is of.
    pub shape: Shape,
    /// The instruction's address, in words from the kernel's start.
    pub address: u32,
    /// The instruction in assembly.
    pub instruction: String,
    /// The name of the source text.
    pub source: String,
    /// The instruction's place in it.
    pub loc: Loc,
    /// What is wrong.
    pub kind: TrapKind,
}

impl Trap {
    /// The work item, as messages name it.
    pub fn item_name(&self) -> ItemName {
        self.shape.name(self.item)
    }
}

/// Whether memory is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Read.
    Load,
    /// Written.
    Store,
}

/// A memory of its own addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// The launch's buffers.
    Global,
    /// The work item's own memory.
    Local,
    /// The memory of its block.
    Shared,
    /// A constant bank.
    Constant(u8),
}

/// Where and why a work item stopped short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The address of a word.
    pub address: usize,
    /// Why.
    pub kind: TrapKind,
}

/// Why a run ended before its end.
pub enum Halt {
    /// A work item stopped short.
    Fault(Fault),
    /// The launch was ended early.
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

/// Why a work item cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TrapKind {
    /// An access that is not wholly within what the space holds; in global memory, within one buffer.
    OutOfBounds {
        /// Load or store.
        access: Access,
        /// The memory.
        space: Space,
        /// The address in it.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Of a global address that belongs to a buffer: that buffer and where in it.
        near: Option<Near>,
    },
    /// An access at an address that is not a multiple of its size.
    Misaligned {
        /// Load or store.
        access: Access,
        /// The memory.
        space: Space,
        /// The address in it.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// A store into an `in` buffer.
    ReadOnly {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// The buffer's name.
        buffer: String,
    },
    /// An access to a byte that another item accesses too, where one of the two writes it. It is looked for where a launch asks.
    Race {
        /// Load or store.
        access: Access,
        /// The memory.
        space: Space,
        /// The first such byte.
        address: u64,
        /// The other access.
        other: Other,
    },
    /// A read of shared memory that no item of the group has written. It is looked for where a launch asks.
    Uninitialised {
        /// The address in it.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// A read of a register, or of the carry flag, that the item has not written, on which a store, an address or a branch depends. It is
    /// looked for where a launch asks.
    Unwritten {
        /// The register or the flag.
        of: Unwritten,
        /// The instruction that reads it, by its number in the program.
        read: usize,
        /// The use that depends on it.
        reaches: Use,
        /// The place of that use in the text, as far as it is known.
        loc: Option<Loc>,
    },
    /// A word that is no instruction.
    Undefined {
        /// The word.
        word: u128,
        /// Its bytes.
        bytes: u32,
    },
    /// An instruction whose effect is not known.
    Unknown(Unknown),
    /// More taken backward branches than the launch allows: an endless loop, or a long one.
    Budget {
        /// Backward branches allowed an item.
        limit: u64,
    },
    /// The last word, and it does not leave the kernel.
    RanPastEnd,
    /// A branch to where the kernel has no word.
    BranchOutside {
        /// The address branched to, in words from the kernel's start.
        target: i64,
        /// The kernel's words.
        words: u32,
    },
    /// More calls within calls than the machine keeps return addresses for.
    CallDepth {
        /// How many are possible.
        limit: u32,
    },
    /// A return that no call comes before.
    ReturnWithoutCall,
    /// The kernel says that something is wrong.
    Asked,
    /// The collective operation of the item is invalid. The items concerned come with it, if there are several.
    Meets(Meets, Vec<Party>),
    /// The item waits for memory that nobody will write: all others have ended or wait too, as these do.
    Deadlock(Vec<Party>),
    /// What a kernel says of an assertion that does not hold.
    AssertFailed {
        /// What does not hold.
        what: String,
        /// The file that says so.
        file: String,
        /// The line.
        line: u32,
        /// The function.
        function: String,
    },
    /// More local memory than a work item has.
    StackOverflow {
        /// Bytes that it has.
        limit: u32,
    },
    /// The stack was to reach as far as it never did.
    StackRestored {
        /// How far, as an address in local memory.
        to: u64,
    },
    /// An indirect branch past the last of its targets.
    NoTarget {
        /// The number of the target.
        index: u32,
        /// How many there are.
        targets: u32,
    },
    /// An indirect call of what is no function that may be called so.
    NoFunction,
}

/// The source of an undefined value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unwritten {
    /// A register, by name.
    Register(String),
    /// The carry flag, which is not kept over calls and barriers.
    Carry,
}

impl TrapKind {
    /// Returns the parties of a circular wait.
    pub fn parties(&self) -> &[Party] {
        match self {
            TrapKind::Meets(_, parties) | TrapKind::Deadlock(parties) => parties,
            _ => &[],
        }
    }

    /// Fills in the parties' places in the source text.
    pub fn locate_parties(&mut self, loc: impl Fn(usize) -> Loc) {
        if let TrapKind::Meets(_, parties) | TrapKind::Deadlock(parties) = self {
            parties.iter_mut().for_each(|party| party.loc = loc(party.place as usize));
        }
    }
}

/// The first of two accesses that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Other {
    /// The item that makes it.
    pub item: ItemName,
    /// Where its instruction is in the kernel.
    pub address: usize,
    /// Where that comes from in the text, as far as that is known.
    pub loc: Option<Loc>,
    /// Whether it writes.
    pub is_written: bool,
    /// Whether it is of a copy that the item has not waited for.
    pub is_under_way: bool,
}

/// A place relative to a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Near {
    /// The buffer's name.
    pub buffer: String,
    /// Bytes from its start, negative before it.
    pub offset: i64,
    /// Its size in bytes.
    pub size: u64,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trap { kernel, address, instruction, source, loc, kind, .. } = self;
        write!(f, "kernel `{kernel}`, {}, word {address:#x} `{instruction}`", self.item_name())?;
        if loc.is_known() {
            write!(f, " ({source}:{}:{})", loc.line, loc.column)?;
        }
        write!(f, ": {kind}")
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
                    Some(Near { buffer, offset, size }) => {
                        write!(f, ": byte {offset} of buffer `{buffer}`, which has {size}")
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
            TrapKind::Race { access, space, address, other: Other { item, loc, is_written, is_under_way, .. } } => {
                let verb = if *is_written { "written" } else { "read" };
                let by = match is_under_way {
                    true => format!("by a copy that {item} has not waited for"),
                    false => format!("by {item} too"),
                };
                write!(f, "race: {access} of the byte at {space} address {address:#x}, which is {verb} {by}")?;
                loc.filter(|loc| loc.is_known()).map_or(Ok(()), |loc| write!(f, ", at line {}", loc.line))
            }
            TrapKind::Uninitialised { address, bytes } => {
                write!(f, "load of {bytes} bytes at shared address {address:#x}, which nothing has written")
            }
            TrapKind::Unwritten { of, reaches, loc, .. } => {
                match of {
                    Unwritten::Register(name) => write!(f, "`{name}` is read before it is written")?,
                    Unwritten::Carry => f.write_str(
                        "the carry flag is read and nothing has set it since the start, the last call or the last barrier",
                    )?,
                }
                write!(f, ", and {reaches} depends on it")?;
                loc.filter(|loc| loc.is_known()).map_or(Ok(()), |loc| write!(f, ", at line {}", loc.line))
            }
            TrapKind::Undefined { word, bytes } => write!(f, "{} is no instruction", digits(*word, *bytes)),
            TrapKind::Unknown(unknown) => unknown.fmt(f),
            TrapKind::Budget { limit } => write!(f, "more than {limit} backward branches taken"),
            TrapKind::RanPastEnd => f.write_str("runs past the end of the kernel"),
            TrapKind::BranchOutside { target, words } => {
                write!(f, "branch to word {target}; the kernel has {words}")
            }
            TrapKind::CallDepth { limit } => write!(f, "more than {limit} calls within each other"),
            TrapKind::ReturnWithoutCall => f.write_str("return without a call"),
            TrapKind::Asked => f.write_str("the kernel asks for a trap"),
            TrapKind::Meets(why, parties) => {
                why.fmt(f)?;
                write_parties(f, parties)
            }
            TrapKind::Deadlock(parties) => {
                f.write_str("deadlock: waits for memory that no item will write")?;
                write_parties(f, parties)
            }
            TrapKind::AssertFailed { what, file, line, function } => {
                write!(f, "{file}:{line}: {function}: assertion `{what}` failed")
            }
            TrapKind::StackOverflow { limit } => write!(f, "more than {limit} bytes of local memory"),
            TrapKind::StackRestored { to } => write!(f, "the stack never reached to {to:#x} in this call"),
            TrapKind::NoTarget { index, targets } => write!(f, "target {index} of {targets}, counted from 0"),
            TrapKind::NoFunction => f.write_str("no function that may be called so is at this address"),
        }
    }
}

/// Most parties that a message names beside the first.
const PARTIES: usize = 4;

/// Writes what all parties but the first do.
fn write_parties(f: &mut fmt::Formatter<'_>, parties: &[Party]) -> fmt::Result {
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

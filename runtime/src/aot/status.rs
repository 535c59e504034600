//! What a function of an object returns.

use crate::trap::TrapKind;

/// What a function returns, and what `kind` of its trap record is. Traps are those of an item; the others are of arguments, which are
/// looked at before anything runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Status {
    /// All items have run to their end.
    Ok,
    /// An access outside every buffer, or outside the memory that an item has.
    OutOfBounds,
    /// An access at an address that is no multiple of its size.
    Misaligned,
    /// A store into an `in` buffer.
    ReadOnly,
    /// More backward branches than the object allows an item.
    Budget,
    /// A word that is no instruction.
    Undefined,
    /// The end of the kernel, without an exit before it.
    RanPastEnd,
    /// A branch to where the kernel has no word.
    BranchOutside,
    /// The kernel asks for a trap.
    Asked,
    /// What the kernel does cannot be done by an item alone.
    Other,
    /// A buffer without an address that has elements.
    NullBuffer,
    /// A buffer whose address is no multiple of its parameter's alignment.
    MisalignedBuffer,
    /// A buffer of more bytes than a kernel can address.
    LargeBuffer,
    /// Buffers that share bytes, of which one is written and may overlap no other.
    Overlap,
    /// More work items than the kernel can have, or along other axes.
    Items,
}

impl Status {
    /// Every one, in the order of their codes.
    pub const ALL: [Status; 15] = [
        Status::Ok,
        Status::OutOfBounds,
        Status::Misaligned,
        Status::ReadOnly,
        Status::Budget,
        Status::Undefined,
        Status::RanPastEnd,
        Status::BranchOutside,
        Status::Asked,
        Status::Other,
        Status::NullBuffer,
        Status::MisalignedBuffer,
        Status::LargeBuffer,
        Status::Overlap,
        Status::Items,
    ];

    /// The number that it is returned as. Those of arguments are 16 and more.
    pub const fn code(self) -> i32 {
        match self {
            Status::Ok => 0,
            Status::OutOfBounds => 1,
            Status::Misaligned => 2,
            Status::ReadOnly => 3,
            Status::Budget => 4,
            Status::Undefined => 5,
            Status::RanPastEnd => 6,
            Status::BranchOutside => 7,
            Status::Asked => 8,
            Status::Other => 9,
            Status::NullBuffer => 16,
            Status::MisalignedBuffer => 17,
            Status::LargeBuffer => 18,
            Status::Overlap => 19,
            Status::Items => 20,
        }
    }

    /// The status of a code.
    pub fn from_code(code: i32) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.code() == code)
    }

    /// The name in text: `out_of_bounds`.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::OutOfBounds => "out_of_bounds",
            Status::Misaligned => "misaligned",
            Status::ReadOnly => "read_only",
            Status::Budget => "budget",
            Status::Undefined => "undefined",
            Status::RanPastEnd => "ran_past_end",
            Status::BranchOutside => "branch_outside",
            Status::Asked => "asked",
            Status::Other => "other",
            Status::NullBuffer => "null_buffer",
            Status::MisalignedBuffer => "misaligned_buffer",
            Status::LargeBuffer => "large_buffer",
            Status::Overlap => "overlap",
            Status::Items => "items",
        }
    }

    /// What it says, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Status::Ok => "all items have run to their end",
            Status::OutOfBounds => "an access outside every buffer, or outside the memory that an item has",
            Status::Misaligned => "an access at an address that is no multiple of its size",
            Status::ReadOnly => "a store into an `in` buffer",
            Status::Budget => "more backward branches than the object allows an item",
            Status::Undefined => "a word that is no instruction",
            Status::RanPastEnd => "the end of the kernel, without an exit before it",
            Status::BranchOutside => "a branch to where the kernel has no word",
            Status::Asked => "the kernel asks for a trap",
            Status::Other => "what the kernel does cannot be done by an item alone",
            Status::NullBuffer => "a buffer without an address that has elements",
            Status::MisalignedBuffer => "a buffer whose address is no multiple of its parameter's alignment",
            Status::LargeBuffer => "a buffer of more bytes than a kernel can address",
            Status::Overlap => "buffers that share bytes, of which one is written and may overlap no other",
            Status::Items => "more work items than the kernel can have, or items along axes that it does not know",
        }
    }

    /// Whether it is of the arguments, before any item has run.
    pub const fn is_of_arguments(self) -> bool {
        self.code() >= Status::NullBuffer.code()
    }

    /// That of a trap, as launches in memory report it.
    pub const fn of(kind: &TrapKind) -> Status {
        match kind {
            TrapKind::OutOfBounds { .. } => Status::OutOfBounds,
            TrapKind::Misaligned { .. } => Status::Misaligned,
            TrapKind::ReadOnly { .. } => Status::ReadOnly,
            TrapKind::Budget { .. } => Status::Budget,
            TrapKind::Undefined { .. } => Status::Undefined,
            TrapKind::RanPastEnd => Status::RanPastEnd,
            TrapKind::BranchOutside { .. } => Status::BranchOutside,
            TrapKind::Asked => Status::Asked,
            _ => Status::Other,
        }
    }
}

/// The address that a trap names, if any; of an access.
pub(super) const fn address_of(kind: &TrapKind) -> u64 {
    match *kind {
        TrapKind::OutOfBounds { address, .. }
        | TrapKind::Misaligned { address, .. }
        | TrapKind::ReadOnly { address, .. } => address,
        TrapKind::BranchOutside { target, .. } => target.cast_unsigned(),
        _ => 0,
    }
}

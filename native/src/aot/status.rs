//! What a function of an object returns.

use halfbyte_isa::trap::TrapKind;

macro_rules! statuses {
    ($($variant:ident = $code:literal, $name:literal, $summary:literal;)*) => {
        /// What a function returns, and what `kind` of its trap record is. Traps are those of an item; the others, from 16 on, are of
        /// arguments, which are checked before anything runs.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Status {
            $(#[doc = $summary] $variant = $code,)*
        }

        impl Status {
            /// Every one, in the order of their codes.
            pub const ALL: [Status; [$($code),*].len()] = [$(Status::$variant),*];

            /// The name in text: `out_of_bounds`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Status::$variant => $name,)*
                }
            }

            /// What it says, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Status::$variant => $summary,)*
                }
            }
        }
    };
}

statuses! {
    Ok = 0, "ok", "all items have run to their end";
    OutOfBounds = 1, "out_of_bounds", "an access outside every buffer, or outside the memory that an item has";
    Misaligned = 2, "misaligned", "an access at an address that is no multiple of its size";
    ReadOnly = 3, "read_only", "a store into an `in` buffer";
    Budget = 4, "budget", "more backward branches than the object allows an item";
    Undefined = 5, "undefined", "a word that is no instruction";
    RanPastEnd = 6, "ran_past_end", "the end of the kernel, without an exit before it";
    BranchOutside = 7, "branch_outside", "a branch to where the kernel has no word";
    Asked = 8, "asked", "the kernel asks for a trap";
    Other = 9, "other", "what the kernel does cannot be done by an item alone";
    NullBuffer = 16, "null_buffer", "a buffer without an address that has elements";
    MisalignedBuffer = 17, "misaligned_buffer", "a buffer whose address is no multiple of its parameter's alignment";
    LargeBuffer = 18, "large_buffer", "a buffer of more bytes than a kernel can address";
    Overlap = 19, "overlap", "buffers that share bytes, of which one is written and may overlap no other";
    Items = 20, "items", "more work items than the kernel can have, or items along axes that it does not know";
}

impl Status {
    /// The number that it is returned as.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The status of a code.
    pub fn from_code(code: i32) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.code() == code)
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
            TrapKind::Trap => Status::Asked,
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

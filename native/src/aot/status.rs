//! Status that a function of an object returns.

use halfbyte_isa::trap::TrapKind;

macro_rules! statuses {
    ($($variant:ident = $code:literal, $name:literal, $summary:literal;)*) => {
        /// Return value of a function, and the field `kind` of its trap record. Codes from 16 on report invalid
        /// arguments, which are checked before any item runs. Other codes except 0 are traps of an item.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Status {
            $(#[doc = $summary] $variant = $code,)*
        }

        impl Status {
            /// All statuses, in the order of their codes.
            pub const ALL: [Status; [$($code),*].len()] = [$(Status::$variant),*];

            /// Returns the name in text: `out_of_bounds`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Status::$variant => $name,)*
                }
            }

            /// Returns a description in one line.
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
    OutOfBounds = 1, "out_of_bounds", "an access outside all buffers and outside the item's local memory";
    Misaligned = 2, "misaligned", "an access at an address that is no multiple of its size";
    ReadOnly = 3, "read_only", "a store into an `in` buffer";
    Budget = 4, "budget", "more backward branches than the object allows an item";
    Undefined = 5, "undefined", "an instruction word that is not a valid instruction";
    RanPastEnd = 6, "ran_past_end", "execution past the end of the kernel";
    BranchOutside = 7, "branch_outside", "a branch to an address outside of the kernel";
    Asked = 8, "asked", "the kernel executed a trap instruction";
    Other = 9, "other", "an operation that a work item cannot execute alone";
    NullBuffer = 16, "null_buffer", "a null pointer for a buffer that has elements";
    MisalignedBuffer = 17, "misaligned_buffer", "a buffer whose address is no multiple of its parameter's alignment";
    LargeBuffer = 18, "large_buffer", "a buffer of more bytes than a kernel can address";
    Overlap = 19, "overlap", "a written buffer without `may_alias` that overlaps another buffer";
    Items = 20, "items", "more work items or axes than the kernel supports";
}

impl Status {
    /// Returns the code that functions return.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the status of a code, if any.
    pub fn from_code(code: i32) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.code() == code)
    }

    /// Returns `true` if the status reports an invalid argument, before any item has run.
    pub const fn is_of_arguments(self) -> bool {
        self.code() >= Status::NullBuffer.code()
    }

    /// Returns the status of a trap, as launches in memory report it.
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

/// Returns the address of a trap, or 0 if the trap has no address.
pub(super) const fn address_of(kind: &TrapKind) -> u64 {
    match *kind {
        TrapKind::OutOfBounds { address, .. }
        | TrapKind::Misaligned { address, .. }
        | TrapKind::ReadOnly { address, .. } => address,
        TrapKind::BranchOutside { target, .. } => target.cast_unsigned(),
        _ => 0,
    }
}

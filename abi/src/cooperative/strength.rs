//! Memory order and scope of accesses and fences.

words! {
    /// Memory order of an atomic access or a fence.
    #[derive(PartialOrd, Ord, Default)]
    MemOrder {
        #[default]
        Relaxed "relaxed" "None.",
        Acquire "acquire" "Those that come after it.",
        Release "release" "Those that come before it.",
        AcqRel "acq_rel" "Those before it and those after it.",
        SeqCst "seq_cst" "Likewise, and all that say so have one order.",
    }
}

words! {
    /// Scope of an access or fence: the set of items for which it is atomic and orders other
    /// accesses.
    #[derive(PartialOrd, Ord, Default)]
    Scope {
        Group "group" "The items of the group.",
        #[default]
        Device "device" "All items that the device runs.",
        System "system" "Those of other devices, and the host, too.",
    }
}

/// Strength of a strong access: an atomic, volatile or ordered one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    /// Memory order.
    pub order: MemOrder,
    /// Scope.
    pub scope: Scope,
    /// Size of each element in bytes. Two strong accesses do not race if their elements overlap
    /// completely; they race if the elements overlap in part.
    pub bytes: u32,
}

impl MemOrder {
    /// Returns `true` if the order includes acquire.
    pub const fn acquires(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Returns `true` if the order includes release.
    pub const fn releases(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }
}

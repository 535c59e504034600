//! What an access or a fence orders, and for whom.

words! {
    /// Which other accesses an atomic one, or a fence, orders.
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
    /// Among which items an access is atomic and orders others.
    #[derive(PartialOrd, Ord, Default)]
    Scope {
        Group "group" "The items of the group.",
        #[default]
        Device "device" "All items that the device runs.",
        System "system" "Those of other devices, and the host, too.",
    }
}

/// Strength of an access that is not weak: an atomic, a volatile or an ordered one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    /// Accesses that it orders.
    pub order: MemOrder,
    /// Items for which it is atomic.
    pub scope: Scope,
    /// Bytes of each element. Two strong accesses never race if their elements overlap completely, and race if they overlap in part.
    pub bytes: u32,
}

impl MemOrder {
    /// Whether what others have released is known after it.
    pub const fn acquires(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Whether what came before it is made known.
    pub const fn releases(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }
}

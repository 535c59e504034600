//! Memory order and scope of memory accesses and fences.

words! {
    /// Memory order of an atomic access or a fence.
    #[derive(PartialOrd, Ord, Default)]
    MemOrder {
        #[default]
        Relaxed "relaxed" "None.",
        Acquire "acquire" "Later accesses.",
        Release "release" "Earlier accesses.",
        AcqRel "acq_rel" "Earlier and later accesses.",
        SeqCst "seq_cst" "Earlier and later accesses; all such operations have one total order.",
    }
}

words! {
    /// Scope of an access or fence: the set of items for which the access is atomic and orders other accesses.
    #[derive(PartialOrd, Ord, Default)]
    Scope {
        Group "group" "The items of the group.",
        #[default]
        Device "device" "All items that the device runs.",
        System "system" "All items of all devices, and the host.",
    }
}

/// Strength of a strong access, which is an atomic, volatile, relaxed or ordered access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    /// Memory order.
    pub order: MemOrder,
    /// Scope.
    pub scope: Scope,
    /// Size of each element in bytes. Two strong accesses do not race if their elements overlap
    /// completely. They race if the elements overlap only in part.
    pub bytes: u32,
}

impl MemOrder {
    /// Returns `true` if the memory order includes acquire.
    pub const fn acquires(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Returns `true` if the memory order includes release.
    pub const fn releases(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }
}

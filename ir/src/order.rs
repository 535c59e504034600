//! What ops by which items meet in memory carry: how accesses of others are ordered by them, and for whom.

pub use halfbyte_abi::meet::{MemOrder, Scope};

use crate::attr::MemAttr;

/// What an atomic access carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AtomicAttr {
    /// Where it goes; the address has the alignment of what is there.
    pub mem: MemAttr,
    /// What it orders.
    pub order: MemOrder,
    /// For whom.
    pub scope: Scope,
}

/// What a fence carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FenceAttr {
    /// What it orders: not [`MemOrder::Relaxed`], which is nothing.
    pub order: MemOrder,
    /// For whom.
    pub scope: Scope,
}

//! Attributes of atomic accesses and fences: memory order and scope.

pub use halfbyte_abi::cooperative::{MemOrder, Scope};

use crate::attr::MemAttr;

/// Attribute of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AtomicAttr {
    /// Address of the access, which must be aligned to the size of the accessed value.
    pub mem: MemAttr,
    /// Memory order of the access.
    pub order: MemOrder,
    /// Scope of the access.
    pub scope: Scope,
}

/// Attribute of a fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FenceAttr {
    /// Memory order of the fence. [`MemOrder::Relaxed`] is invalid, because it orders nothing.
    pub order: MemOrder,
    /// Scope of the fence.
    pub scope: Scope,
}

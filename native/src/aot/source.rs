//! Description of a kernel for ahead-of-time compilation, by the module of its instruction set.

use halfbyte_abi::Axis;
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use crate::jit::Front;
use crate::launch::Pointer;

/// A kernel in the form of its instruction set.
pub(crate) struct Source<'a> {
    pub front: &'a dyn Front,
    /// Addresses of buffers in constant bank 0, with their uniqueness if it is known.
    pub pointers: &'a [Pointer],
    /// Special registers that instructions read.
    pub specials: &'a [SpecialReg],
    pub bank: Bank,
    /// Number of bytes of local memory of each item, and the address of the first byte.
    pub scratch_bytes: u32,
    pub scratch_start: u64,
    /// `true` if the items of a group share memory.
    pub has_shared: bool,
}

/// Layout of constant bank 0.
pub(crate) struct Bank {
    pub bytes: u32,
    /// Offset of each parameter.
    pub params: Vec<u32>,
    /// Offsets of the words that depend on the launch, with their values.
    pub launch: Vec<(u32, Count)>,
    /// Start and end of the parts. An access must lie within one part.
    pub parts: Vec<[u32; 2]>,
}

/// A value that is uniform across a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// Number of items.
    Items,
    /// Number of items of a group, along an axis or in total.
    Block(Option<Axis>),
    /// Number of groups, along an axis or in total.
    Grid(Option<Axis>),
    /// Number of subgroups of a group.
    Warps,
    /// A constant.
    Always(u32),
}

impl Count {
    /// Returns `true` if the value depends on the grouping of the items.
    pub fn is_of_groups(self) -> bool {
        !matches!(self, Count::Items | Count::Always(_))
    }
}

/// Returns `true` if a special register depends on the grouping of the items.
pub(super) fn is_of_groups(register: SpecialReg) -> bool {
    register != SpecialReg { of: IndexKind::Item, axis: None }
}

//! What a machine's folder says of a kernel that becomes a function.

use halfbyte_abi::Axis;
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use crate::jit::Front;
use crate::launch::Pointer;

/// A kernel, as its machine sees it.
pub(crate) struct Source<'a> {
    pub front: &'a dyn Front,
    /// The addresses of buffers in constant bank 0, where it is known which are unique.
    pub pointers: &'a [Pointer],
    /// The special registers that instructions read.
    pub specials: &'a [SpecialReg],
    pub bank: Bank,
    /// Bytes of local memory that each item declares, and the address of the first.
    pub scratch_bytes: u32,
    pub scratch_start: u64,
    /// Items of a group have memory together.
    pub has_shared: bool,
}

/// Constant bank 0.
pub(crate) struct Bank {
    pub bytes: u32,
    /// Where each parameter lies.
    pub params: Vec<u32>,
    /// Where words lie that a launch says.
    pub launch: Vec<(u32, Count)>,
    /// From where to where parts lie of which an access stays within one.
    pub parts: Vec<[u32; 2]>,
}

/// What is the same for all items of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// The number of items.
    Items,
    /// Items of a group, along an axis or in all.
    Block(Option<Axis>),
    /// Groups, likewise.
    Grid(Option<Axis>),
    /// Subgroups of a group.
    Warps,
    /// What no launch changes.
    Always(u32),
}

impl Count {
    /// Whether it depends on how items are put into groups.
    pub fn is_of_groups(self) -> bool {
        !matches!(self, Count::Items | Count::Always(_))
    }
}

/// Whether a register depends on how items are put into groups.
pub(super) fn is_of_groups(register: SpecialReg) -> bool {
    register != SpecialReg { of: IndexKind::Item, axis: None }
}

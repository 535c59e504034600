//! Values of the special registers of PTX.

use crate::halu::domain::Domain;
use crate::ptx::types::{Special, SpecialGroup};
use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::SUBGROUP;

/// Granularity in bytes with which a block's shared memory is allocated.
const SHARED_UNIT: u64 = 128;

/// Size in bytes of the grid workspace of a cooperative launch. The first word is reserved for the size of the
/// workspace, and the second word is the barrier of the grid.
pub const GRID_WORKSPACE_BYTES: usize = 8;

/// Returns the value of an environment register in a cooperative launch. `workspace` is the address of the grid
/// workspace.
pub fn of_environment(number: u8, workspace: u64) -> u32 {
    match number {
        1 => (workspace >> 32) as u32,
        2 => workspace as u32,
        _ => 0,
    }
}

/// Returns `true` if the value of the special register depends on the address of the grid workspace.
pub fn holds_workspace(special: Special) -> bool {
    matches!(special.group, SpecialGroup::Environment(1 | 2))
}

/// Size in bytes of the shared memory that the system reserves in each block.
const RESERVED_BYTES: u64 = 1 << 10;

/// Offset in bytes of the part of the reserved shared memory that cooperative groups use.
const GROUPS_OFFSET: u64 = 64;

/// The shared memory of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SharedMemory {
    /// Size in bytes of the variables and of the dynamic memory.
    pub used: u64,
    /// `true` if the reserved memory follows the variables and the dynamic memory. On a GPU, the
    /// reserved memory comes first. The kernel addresses the reserved memory by special registers.
    pub has_reserved: bool,
}

impl SharedMemory {
    /// Returns the byte offset of the reserved memory in the shared memory.
    pub fn reserved_start(self) -> u64 {
        self.used.next_multiple_of(SHARED_UNIT)
    }

    /// Returns the size in bytes of the memory that a block can address.
    pub fn bytes(self) -> u64 {
        if self.has_reserved { self.reserved_start() + RESERVED_BYTES } else { self.used }
    }
}

/// Returns the value of a special register that is constant throughout a launch, or `None` for any
/// other register. `shared` is a block's shared memory. In a cooperative launch, [`of_environment`]
/// returns the values of the environment registers instead.
pub fn of_launch(special: Special, shape: &Shape, shared: SharedMemory) -> Option<u64> {
    let axis = |of: [u32; 3]| special.axis.of(of).into();
    Some(match special.group {
        SpecialGroup::BlockSize => axis(shape.block),
        SpecialGroup::GridSize => axis(shape.grid),
        SpecialGroup::Warps => shape.block.into_iter().product::<u32>().div_ceil(SUBGROUP).into(),
        SpecialGroup::Multiprocessors => 1,
        SpecialGroup::SharedSize | SpecialGroup::ReservedSharedStart | SpecialGroup::ReservedShared(0) => {
            shared.reserved_start()
        }
        SpecialGroup::ReservedShared(_) => shared.reserved_start() + GROUPS_OFFSET,
        SpecialGroup::ReservedSharedEnd => shared.reserved_start() + RESERVED_BYTES,
        SpecialGroup::ReservedSharedSize => RESERVED_BYTES,
        SpecialGroup::DynamicSharedSize => shape.shared.into(),
        SpecialGroup::Multiprocessor
        | SpecialGroup::Grid
        | SpecialGroup::Environment(_)
        | SpecialGroup::Monitor(_)
        | SpecialGroup::WideMonitor(_) => 0,
        _ => return None,
    })
}

/// Returns the value of a special register that depends only on the thread's linear index in its
/// block, `number`. Returns `None` for any other register.
pub fn of_thread<D: Domain>(d: &mut D, group: SpecialGroup, number: D::Word) -> Option<D::Word> {
    let [last, by, one] = [SUBGROUP - 1, SUBGROUP.ilog2(), 1].map(|word| d.word(word));
    if group == SpecialGroup::Warp {
        return Some(d.shr(number, by));
    }
    let lane = d.and(number, last);
    if group == SpecialGroup::Lane {
        return Some(lane);
    }
    let equal = d.shl(one, lane);
    let below = d.sub(equal, one);
    Some(match group {
        SpecialGroup::LanesEqual => equal,
        SpecialGroup::LanesBelow => below,
        SpecialGroup::LanesUpTo => d.or(equal, below),
        SpecialGroup::LanesFrom => d.not(below),
        SpecialGroup::LanesAbove => {
            let up_to = d.or(equal, below);
            d.not(up_to)
        }
        _ => return None,
    })
}

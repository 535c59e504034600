//! Values of the special registers of PTX.

use crate::halu::domain::Domain;
use crate::ptx::types::{Special, SpecialGroup};
use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::SUBGROUP;

/// Granularity in bytes with which a block's shared memory is allocated.
const SHARED_UNIT: u64 = 128;

/// Returns the value of a special register that is constant throughout a launch, or `None` for any
/// other register. `shared_bytes` is the size of a block's shared memory.
pub fn of_launch(special: Special, shape: &Shape, shared_bytes: u64) -> Option<u64> {
    let axis = |of: [u32; 3]| special.axis.of(of).into();
    Some(match special.group {
        SpecialGroup::BlockSize => axis(shape.block),
        SpecialGroup::GridSize => axis(shape.grid),
        SpecialGroup::Warps => shape.block.into_iter().product::<u32>().div_ceil(SUBGROUP).into(),
        SpecialGroup::Multiprocessors => 1,
        SpecialGroup::SharedSize => shared_bytes.next_multiple_of(SHARED_UNIT),
        SpecialGroup::DynamicSharedSize => shape.shared.into(),
        SpecialGroup::Multiprocessor | SpecialGroup::Grid => 0,
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

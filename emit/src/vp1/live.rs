//! Liveness analysis of registers and flags.

use halfbyte_isa::vp1::footprint::Locations;

use super::op::Op;

/// Returns the registers and flags that are live at the start of each block.
pub(crate) fn live_in(blocks: &[Vec<Op>]) -> Vec<Locations> {
    let mut live = vec![Locations::EMPTY; blocks.len()];
    loop {
        let mut changed = false;
        for (index, block) in blocks.iter().enumerate().rev() {
            let start = before(block, index, &live);
            if let Some(known) = live.get_mut(index).filter(|known| **known != start) {
                *known = start;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// Returns the registers and flags that are live at the start of a block, from those that are live
/// at the start of its successors.
fn before(block: &[Op], index: usize, live: &[Locations]) -> Locations {
    let at = |block: usize| live.get(block).copied().unwrap_or_default();
    let falls = block.last().is_none_or(|last| !last.is_final());
    let mut now = if falls { at(index + 1) } else { Locations::EMPTY };
    for op in block.iter().rev() {
        if op.is_final() {
            now = Locations::EMPTY;
        }
        if let Some(target) = op.target {
            now = now.union(at(target as usize));
        }
        now = now.minus(op.footprint.writes).union(op.footprint.reads);
    }
    now
}

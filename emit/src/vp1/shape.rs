//! Changes to blocks before scheduling: merges blocks that are always executed together, and
//! reduces each loop to a single back branch.

use halfbyte_isa::vp1::footprint::Locations;

use super::live;
use super::op::{Label, Op};
use crate::straighten::ControlInst;

/// Returns, for each block, `true` if the block is a branch target.
fn entered(blocks: &[Vec<Op>]) -> Vec<bool> {
    let mut entered = vec![false; blocks.len()];
    for target in blocks.iter().flatten().filter_map(|op| op.target) {
        entered.get_mut(target as usize).into_iter().for_each(|entered| *entered = true);
    }
    entered
}

/// Merges each block that is no branch target with the block before it, if control falls through into it.
pub(super) fn merge(blocks: &mut [Vec<Op>]) {
    let entered = entered(blocks);
    let mut before: Option<usize> = None;
    for index in 0..blocks.len() {
        let into = before.filter(|_| entered.get(index) == Some(&false));
        let block = blocks.get_mut(index).map(|block| if into.is_some() { std::mem::take(block) } else { Vec::new() });
        let at = into.unwrap_or(index);
        let Some(merged) = blocks.get_mut(at) else { continue };
        merged.extend(block.unwrap_or_default());
        before = Some(at).filter(|_| !merged.last().is_some_and(Op::is_control));
    }
}

/// Moves the operations of a loop's latch in front of the exit branch, if they have no effect after the loop.
pub(super) fn fold_latches(blocks: &mut [Vec<Op>]) {
    let live = live::live_in(blocks);
    let entered = entered(blocks);
    for label in 0..blocks.len() {
        let is_full = |&next: &usize| blocks.get(next).is_some_and(|block| !block.is_empty());
        let Some(next) = (label + 1..blocks.len()).find(is_full) else { break };
        // A branch to an empty block continues in the next block, so the empty blocks before `next`
        // must not be branch targets either.
        if entered.get(label + 1..=next).is_none_or(|entered| entered.contains(&true)) {
            continue;
        }
        let Some(looped) = fold_latch(blocks, label as Label, next, &live) else { continue };
        blocks.get_mut(next).into_iter().for_each(Vec::clear);
        blocks.get_mut(label).into_iter().for_each(|block| *block = looped.clone());
    }
}

/// Returns one block in place of a block that ends in the exit branch and its latch `next`, if both can be merged.
fn fold_latch(blocks: &[Vec<Op>], label: Label, next: usize, live: &[Locations]) -> Option<Vec<Op>> {
    let [body @ .., branch] = blocks.get(label as usize)?.as_slice() else { return None };
    let [latch @ .., jump] = blocks.get(next)?.as_slice() else { return None };
    let (mut back, exit) = branch.inverted().zip(branch.target)?;
    if !branch.has_no_effect() || !jump.is_jump() || jump.target != Some(label) || body.iter().any(Op::is_control) {
        return None;
    }
    let wanted = live.get(exit as usize)?.union(branch.footprint.reads);
    let is_harmless = |op: &Op| {
        let unread = || op.is_in_frame() && !is_read_from(blocks, exit, op);
        !op.is_control() && !op.footprint.writes.intersects(wanted) && (!op.stores() || unread())
    };
    if !latch.iter().all(is_harmless) {
        return None;
    }
    back.pass(jump);
    let between = blocks.get(next + 1..exit as usize);
    let falls = between.is_some_and(|between| between.iter().all(Vec::is_empty));
    let away = (!falls).then(|| jump.jump_to(exit));
    let ends = [Some(back), away.flatten()];
    Some(body.iter().chain(latch).cloned().chain(ends.into_iter().flatten()).collect())
}

/// Returns `true` if code in `block` or after it may load the bytes that an operation stores.
fn is_read_from(blocks: &[Vec<Op>], block: Label, store: &Op) -> bool {
    let mut reached = vec![false; blocks.len()];
    let mut next = vec![block as usize];
    while let Some(at) = next.pop() {
        let Some(block) = blocks.get(at).filter(|_| reached.get(at) == Some(&false)) else { continue };
        reached.get_mut(at).into_iter().for_each(|reached| *reached = true);
        if block.iter().any(|op| !op.stores() && op.conflicts(store)) {
            return true;
        }
        next.extend(block.iter().filter_map(|op| op.target).map(|target| target as usize));
        next.extend(block.last().is_none_or(|last| !last.is_final()).then_some(at + 1));
    }
    false
}

/// If a block ends in an exit branch and a jump to the block itself, swaps their targets and
/// inverts the condition, so that an iteration takes one branch.
pub(super) fn branch_back_first(block: &mut [Op], label: Label) {
    let [.., first, second] = block else { return };
    if second.is_jump()
        && second.target == Some(label)
        && first.target != Some(label)
        && let Some(mut back) = first.inverted()
    {
        let away = first.target;
        back.pass(second);
        *first = back;
        *second = second.clone().with_group(false);
        second.target = away;
    }
}

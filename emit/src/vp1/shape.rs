//! Gives blocks the shape in which most can be packed: what always runs together is one block, and a loop has one branch back.

use halfbyte_isa::vp1::footprint::Locations;

use super::live;
use super::op::{Label, Op};
use crate::straighten::ControlInst;

/// For each block whether a branch goes to it.
fn entered(blocks: &[Vec<Op>]) -> Vec<bool> {
    let mut entered = vec![false; blocks.len()];
    for target in blocks.iter().flatten().filter_map(|op| op.target) {
        entered.get_mut(target as usize).into_iter().for_each(|entered| *entered = true);
    }
    entered
}

/// Blocks that are only fallen into become part of the one before.
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

/// What is left to do on the way back from the end of a loop is done before its branch, where that does not matter to what comes
/// after the loop.
pub(super) fn fold_latches(blocks: &mut [Vec<Op>]) {
    let live = live::live_in(blocks);
    let entered = entered(blocks);
    for label in 0..blocks.len() {
        let is_full = |&next: &usize| blocks.get(next).is_some_and(|block| !block.is_empty());
        let Some(next) = (label + 1..blocks.len()).find(is_full) else { break };
        // What goes to an empty block goes to the next one.
        if entered.get(label + 1..=next).is_none_or(|entered| entered.contains(&true)) {
            continue;
        }
        let Some(looped) = fold_latch(blocks, label as Label, next, &live) else { continue };
        blocks.get_mut(next).into_iter().for_each(Vec::clear);
        blocks.get_mut(label).into_iter().for_each(|block| *block = looped.clone());
    }
}

/// A block that branches away or falls into the one numbered `next`, which goes back to it, as one block; if they can be.
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

/// Whether what an operation stores may be loaded once control has come to a block.
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

/// Where a block has a branch away and then one to itself: the one to itself becomes the first, so that an iteration takes but one.
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

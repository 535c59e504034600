//! Rows that run as two rows. A branch that depends only on the position of the items may divide a
//! row into its first items and the rest. A bounds check is an example. Each part then runs from
//! the start as a row of its own. The row has no visible effects before the branch, and no code for
//! divergent items is required.

use super::dataflow::{Action, Dataflow, Id, Op, Shape};
use super::graph::{Block, BlockId};
use super::unit::Unit;

/// Method to find the position at which a row is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Split {
    /// From the words that the condition compares. Compiled code writes the position to the header.
    ByEnds,
    /// From the condition of each item.
    ByEach,
}

/// Returns the method for each block at whose end a divergent row is split, and `None` for other blocks.
pub(super) fn splits(blocks: &[Block], units: &[Option<Unit>]) -> Vec<Option<Split>> {
    let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); blocks.len()];
    for (id, block) in
        (0..).map(BlockId).zip(blocks).filter(|(id, _)| units.get(id.index()).is_some_and(Option::is_some))
    {
        for next in block.successors() {
            if let Some(before) = before.get_mut(next.index()) {
                before.push(id);
            }
        }
    }
    // `true` for blocks at whose end nothing visible has happened, and that no loop contains.
    let mut is_new: Vec<bool> = Vec::with_capacity(blocks.len());
    for (id, before) in (0..).map(BlockId).zip(&before) {
        let unit = units.get(id.index()).and_then(Option::as_ref);
        let is_first = before.iter().all(|&from| from < id && is_new.get(from.index()).is_some_and(|&new| new));
        is_new.push(
            is_first && unit.is_some_and(|unit| unit.dataflow.accesses.iter().all(|access| is_unseen(&access.action))),
        );
    }
    let is_split = |(is_new, unit): (&bool, &Option<Unit>)| {
        let unit = unit.as_ref().filter(|_| *is_new)?;
        let condition = unit.condition?;
        match is_told_by_ends(&unit.dataflow, condition) {
            true => Some(Split::ByEnds),
            false => is_of_place(&unit.dataflow, condition).then_some(Split::ByEach),
        }
    };
    is_new.iter().zip(units).map(is_split).collect()
}

/// Returns `true` if an access may be repeated.
fn is_unseen(action: &Action) -> bool {
    matches!(action, Action::Load { .. })
}

/// Returns `true` if a truth value depends only on uniform and affine values.
fn is_of_place(dataflow: &Dataflow, condition: Id) -> bool {
    let mut open = vec![condition];
    let mut looked_at = 0;
    while let Some(id) = open.pop() {
        looked_at += 1;
        if looked_at > MOST {
            return false;
        }
        match (dataflow.shape(id), dataflow.op(id)) {
            (Shape::Uniform | Shape::Affine(_), _) => {}
            (Shape::Grid(..), _) | (_, Op::Input(_) | Op::Loaded(..) | Op::Mask | Op::Access(_)) => return false,
            _ => open.extend(dataflow.args(id)),
        }
    }
    true
}

/// Returns `true` if a truth value consists of compares of uniform words with affine words. The values of the first and
/// the last item usually determine if such a truth value is uniform.
pub(super) fn is_told_by_ends(dataflow: &Dataflow, condition: Id) -> bool {
    fn is_told(dataflow: &Dataflow, condition: Id, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if dataflow.shape(condition) == Shape::Uniform {
            return true;
        }
        let args = dataflow.args(condition);
        match (dataflow.op(condition), args.as_slice()) {
            (Op::Negate | Op::Both | Op::Either, args) => args.iter().all(|&arg| is_told(dataflow, arg, depth)),
            (Op::Less(_) | Op::Equal, &[a, b]) => match (dataflow.shape(a), dataflow.shape(b)) {
                (Shape::Affine(by), Shape::Uniform) | (Shape::Uniform, Shape::Affine(by)) => by.cast_signed() > 0,
                _ => false,
            },
            _ => false,
        }
    }
    is_told(dataflow, condition, DEPTH)
}

/// Returns `true` if a value depends only on the state before the block, and not on a load.
pub(super) fn is_known_before(dataflow: &Dataflow, id: Id) -> bool {
    let mut open = vec![id];
    let mut looked_at = 0;
    while let Some(id) = open.pop() {
        looked_at += 1;
        if looked_at > MOST || matches!(dataflow.op(id), Op::Loaded(..) | Op::Access(_)) {
            return false;
        }
        open.extend(dataflow.args(id));
    }
    true
}

/// Maximum nesting depth of truth values that are analysed.
const DEPTH: u32 = 6;

/// Maximum number of operations of a condition that are analysed.
const MOST: usize = 32;

/// Returns the number of first items with the same condition. Returns `None` if a later item has this condition again,
/// or if all items have it.
pub(super) fn first_part(condition: &[u32]) -> Option<u32> {
    let first = *condition.first()?;
    let count = condition.iter().position(|&other| other != first)?;
    let is_rest = condition.iter().skip(count).all(|&other| other != first);
    is_rest.then_some(count as u32)
}

/// Combines the conditions of the items of a row. Bit 0 is set if the condition holds for any item. Bit 1 is set if the
/// condition fails for any item.
///
/// # Safety
/// The row has `items` words.
pub(super) unsafe extern "C" fn held(condition: *const u32, items: u32) -> u32 {
    // SAFETY: the caller's promise; the row is aligned.
    let condition = unsafe { std::slice::from_raw_parts(condition, items as usize) };
    let [any, all] = condition.iter().fold([0, u32::MAX], |[any, all], word| [any | word, all & word]);
    any & 1 | (!all & 1) << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_first_items_and_the_others() {
        assert_eq!(first_part(&[0, 0, u32::MAX]), Some(2));
        assert_eq!(first_part(&[u32::MAX, 0, 0, 0]), Some(1));
        assert_eq!(first_part(&[u32::MAX, 0, u32::MAX]), None);
        assert_eq!(first_part(&[0, 0]), None);
        assert_eq!(first_part(&[]), None);
    }

    #[test]
    fn conditions_hold_for_some_or_for_none() {
        for (row, expected) in [([0, 0], 2), ([u32::MAX; 2], 1), ([0, u32::MAX], 3)] {
            // SAFETY: the row has two words.
            assert_eq!(unsafe { held(row.as_ptr(), 2) }, expected);
        }
    }
}

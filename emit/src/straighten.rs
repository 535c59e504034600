//! Branches take the shortest way: past blocks that only branch on, and inverted where that lets control fall through.
//!
//! A launch limits the backward branches that an item takes, so a way stays as it is where the shorter one has fewer.

use halfbyte_isel::vcode::BlockIndex;

/// An instruction, as far as control goes by it. Branches are the last ones of a block.
pub(crate) trait ControlInst: Clone {
    /// Of a branch: the block that it goes to.
    fn target(&self) -> Option<BlockIndex>;

    /// The branch to another block.
    fn set_target(&mut self, target: BlockIndex);

    /// Whether it does nothing but branch, and always.
    fn is_jump(&self) -> bool;

    /// Whether control never goes past it.
    fn is_end(&self) -> bool;

    /// Of a branch under a condition: the branch under the opposite one.
    fn inverted(&self) -> Option<Self>;

    /// The branch to where a jump goes, which is the only one of the branch's target.
    fn pass(&mut self, jump: &Self) {
        if let Some(target) = jump.target() {
            self.set_target(target);
        }
    }
}

/// Shortens ways. Blocks keep their numbers; one that nothing reaches any more is empty.
pub(crate) fn straighten<S: ControlInst>(blocks: &mut [Vec<S>]) {
    // From the last block on, so that most ways on have been shortened when a branch asks for them.
    for index in (0..blocks.len()).rev() {
        for at in 0..blocks.get(index).map_or(0, Vec::len) {
            let step = blocks.get(index).and_then(|block| block.get(at)).filter(|step| step.target().is_some());
            let Some(mut branch) = step.cloned() else { continue };
            shorten(blocks, index as BlockIndex, &mut branch);
            if let Some(old) = blocks.get_mut(index).and_then(|block| block.get_mut(at)) {
                *old = branch;
            }
        }
    }
    empty_unreached(blocks);
    // The next block of which there is anything.
    let mut next = blocks.len();
    for (index, block) in blocks.iter_mut().enumerate().rev() {
        invert(block, index, next);
        if !block.is_empty() {
            next = index;
        }
    }
}

/// The instructions of each block that stay: branches at its end that go to what follows anyway are left out.
pub(crate) fn lengths<S: ControlInst>(blocks: &[Vec<S>]) -> Vec<usize> {
    let mut lengths = vec![0; blocks.len()];
    // The first later block of which anything stays: to branch to it or to an empty block before it is to fall through.
    let mut next = blocks.len();
    for (index, block) in blocks.iter().enumerate().rev() {
        let falls_to = |target: BlockIndex| {
            let target = target as usize;
            (index + 1..=next).contains(&target) && target < blocks.len()
        };
        let is_branch = |step: &S| step.is_jump() || step.inverted().is_some();
        let dropped = |step: &&S| step.target().is_some_and(falls_to) && is_branch(step);
        let length = block.len() - block.iter().rev().take_while(dropped).count();
        if length != 0 {
            next = index;
        }
        if let Some(slot) = lengths.get_mut(index) {
            *slot = length;
        }
    }
    lengths
}

/// So many blocks that merely branch on are passed by one branch. More only make the code longer to look at.
const MAX_PASSED: usize = 16;

/// Lets a branch of a block go where it goes at once: past blocks that merely branch on, as long as it is backward when and only
/// when one of the branches on the longer way is.
fn shorten<S: ControlInst>(blocks: &[Vec<S>], from: BlockIndex, branch: &mut S) {
    let backward = |from: BlockIndex, to: BlockIndex| u32::from(to <= from);
    for _ in 0..MAX_PASSED {
        let Some(at) = branch.target() else { return };
        match blocks.get(at as usize).map(Vec::as_slice) {
            Some([jump]) if jump.is_jump() => match jump.target() {
                Some(to) if backward(from, at) + backward(at, to) == backward(from, to) => branch.pass(jump),
                _ => return,
            },
            _ => return,
        }
    }
}

/// Empties blocks of one branch that are neither branched to nor fallen into.
fn empty_unreached<S: ControlInst>(blocks: &mut [Vec<S>]) {
    let mut reached = vec![false; blocks.len()];
    for target in blocks.iter().flatten().filter_map(S::target) {
        if let Some(reached) = reached.get_mut(target as usize) {
            *reached = true;
        }
    }
    let mut falls = true;
    for (block, reached) in blocks.iter().zip(&mut reached) {
        *reached |= falls;
        falls = block.last().map_or(*reached, |last| !last.is_end());
    }
    for (block, reached) in blocks.iter_mut().zip(reached) {
        if !reached && matches!(block.as_slice(), [only] if only.is_jump()) {
            block.clear();
        }
    }
}

/// A branch to the next block if something holds, then one to another block, becomes a branch to that if it does not hold.
fn invert<S: ControlInst>(block: &mut Vec<S>, index: usize, next: usize) {
    let [.., first, second] = block.as_mut_slice() else { return };
    let falls = |target: Option<BlockIndex>| target.is_some_and(|to| (index + 1..=next).contains(&(to as usize)));
    if second.is_jump()
        && falls(first.target())
        && !falls(second.target())
        && let Some(mut inverted) = first.inverted()
    {
        inverted.pass(second);
        *first = inverted;
        block.pop();
    }
}

/// A branch onward if something holds, then a backward one, becomes the backward one if it does not hold, then the one onward:
/// a round of a loop takes one branch.
pub(crate) fn turn_latches<S: ControlInst>(blocks: &mut [Vec<S>]) {
    for (index, block) in blocks.iter_mut().enumerate() {
        let [.., first, second] = block.as_mut_slice() else { continue };
        let (Some(on), Some(back)) = (first.target(), second.target()) else { continue };
        if second.is_jump()
            && on as usize > index
            && back as usize <= index
            && let Some(mut inverted) = first.inverted()
        {
            inverted.pass(second);
            *first = inverted;
            second.set_target(on);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A step of a block, in short.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Toy {
        Plain,
        Jump(BlockIndex),
        If(BlockIndex),
        Unless(BlockIndex),
        Exit,
    }

    use Toy::*;

    impl ControlInst for Toy {
        fn target(&self) -> Option<BlockIndex> {
            match *self {
                Jump(to) | If(to) | Unless(to) => Some(to),
                Plain | Exit => None,
            }
        }

        fn set_target(&mut self, target: BlockIndex) {
            match self {
                Jump(to) | If(to) | Unless(to) => *to = target,
                Plain | Exit => unreachable!(),
            }
        }

        fn is_jump(&self) -> bool {
            matches!(self, Jump(_))
        }

        fn is_end(&self) -> bool {
            matches!(self, Jump(_) | Exit)
        }

        fn inverted(&self) -> Option<Toy> {
            match *self {
                If(to) => Some(Unless(to)),
                Unless(to) => Some(If(to)),
                _ => None,
            }
        }
    }

    fn straightened(blocks: &[&[Toy]]) -> Vec<Vec<Toy>> {
        let mut blocks: Vec<Vec<Toy>> = blocks.iter().map(|block| block.to_vec()).collect();
        straighten(&mut blocks);
        blocks
    }

    #[test]
    fn a_back_edge_needs_one_branch() {
        // The loop, the edge back, the exit.
        let blocks = straightened(&[&[Unless(2), Jump(1)], &[Jump(0)], &[Exit]]);
        assert_eq!(blocks, [vec![If(0)], vec![], vec![Exit]]);
    }

    #[test]
    fn a_round_of_a_loop_takes_one_branch() {
        // The loop, whose exit stands after another one's.
        let mut blocks = vec![vec![Plain, Unless(2), Jump(0)], vec![Exit], vec![Exit]];
        turn_latches(&mut blocks);
        assert_eq!(blocks[0], [Plain, If(0), Jump(2)]);
        // One that goes on either way stays.
        let mut blocks = vec![vec![Unless(2), Jump(3)], vec![Exit], vec![Exit], vec![Exit]];
        turn_latches(&mut blocks);
        assert_eq!(blocks[0], [Unless(2), Jump(3)]);
    }

    #[test]
    fn backward_branches_keep_their_number() {
        // A round of the loop 0, 2, 1 takes two of them.
        let blocks = straightened(&[&[Unless(3), Jump(2)], &[Jump(0)], &[Jump(1)], &[Exit]]);
        assert_eq!(blocks[0].last(), Some(&Jump(2)));
        assert_eq!(blocks[1][0], Jump(0));
        assert_eq!(blocks[2][0], Jump(1));
    }

    #[test]
    fn long_chains_of_branches_take_no_long_time() {
        let count = 100_000;
        let mut chain: Vec<Vec<Toy>> = (1..=count).map(|next| vec![Jump(next % count)]).collect();
        straighten(&mut chain);
        assert_eq!(chain[0].len(), 1);
    }

    #[test]
    fn rings_of_branches_stay_rings() {
        let blocks = straightened(&[&[Jump(1)], &[Jump(0)]]);
        assert!(blocks.iter().flatten().all(Toy::is_jump));
        assert_eq!(straightened(&[&[Jump(0)]]), [vec![Jump(0)]]);
    }

    #[test]
    fn a_block_that_is_fallen_into_stays() {
        let blocks = straightened(&[&[If(1), Plain], &[Jump(3)], &[Plain], &[Exit]]);
        assert_eq!(blocks[0][0], If(3));
        assert_eq!(blocks[1].len(), 1);
    }

    #[test]
    fn what_an_empty_block_falls_into_stays() {
        let blocks = straightened(&[&[Jump(1)], &[], &[Jump(4)], &[Plain], &[Exit]]);
        assert_eq!(blocks[2], [Jump(4)]);
    }

    #[test]
    fn branches_to_what_follows_are_left_out() {
        let blocks = [vec![Plain, Unless(1), Jump(2)], vec![Jump(2)], vec![Exit]];
        assert_eq!(lengths(&blocks), [1, 0, 1]);
        // Not one that has something after it.
        assert_eq!(lengths(&[vec![Jump(1), Plain], vec![Exit]]), [2, 1]);
    }
}

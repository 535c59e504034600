//! Branch straightening. A branch to a block that only jumps is retargeted to the jump's target. A
//! branch is inverted if the inverted branch lets control fall through.
//!
//! A launch limits the number of backward branches that a work item takes. A branch therefore stays
//! unchanged if the shorter path would take fewer backward branches.

use halfbyte_isel::vcode::BlockIndex;

/// Control flow of an instruction. Branches must be the last instructions of a block.
pub(crate) trait ControlInst: Clone {
    /// Returns the target block of a branch, or `None` for an instruction that is not a branch.
    fn target(&self) -> Option<BlockIndex>;

    /// Sets the target block of a branch.
    fn set_target(&mut self, target: BlockIndex);

    /// Returns `true` for an unconditional branch without other effects.
    fn is_jump(&self) -> bool;

    /// Returns `true` if control never falls through the instruction.
    fn is_end(&self) -> bool;

    /// Returns the branch with the opposite condition, or `None` for an instruction that is not a
    /// conditional branch.
    fn inverted(&self) -> Option<Self>;

    /// Changes the target of a branch to the target of `jump`, the only instruction of the branch's
    /// present target block.
    fn pass(&mut self, jump: &Self) {
        if let Some(target) = jump.target() {
            self.set_target(target);
        }
    }
}

/// Straightens all branches. The blocks keep their numbers. A block that becomes unreachable is emptied.
pub(crate) fn straighten<S: ControlInst>(blocks: &mut [Vec<S>]) {
    // Reverse order, so that the branches in the target of a branch have usually been shortened before.
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
    // Index of the next block with instructions.
    let mut next = blocks.len();
    for (index, block) in blocks.iter_mut().enumerate().rev() {
        invert(block, index, next);
        if !block.is_empty() {
            next = index;
        }
    }
}

/// Returns, for each block, the number of instructions without the branches to the next block at its end.
pub(crate) fn lengths<S: ControlInst>(blocks: &[Vec<S>]) -> Vec<usize> {
    let mut lengths = vec![0; blocks.len()];
    // Index of the next block of which instructions remain. A branch to this block, or to an empty
    // block in front of it, can be omitted.
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

/// Maximum number of jumps that the retargeting of one branch skips. The limit bounds the compile time.
const MAX_PASSED: usize = 16;

/// Changes the target of a branch in block `from` while the target block only jumps. Stops if a
/// step would change the number of backward branches.
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

/// Empties each block that only jumps, if no branch targets the block and control does not fall through into it.
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

/// If a block ends in a conditional branch to the next block and a jump, replaces both by one
/// inverted branch to the jump's target.
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

/// If a conditional forward branch precedes a backward jump, inverts the branch and swaps the
/// targets. An iteration of the loop then takes one branch.
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

    /// Instruction set for the tests, with branches and one instruction without control flow.
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
        // The blocks are the loop header, the latch and the exit block.
        let blocks = straightened(&[&[Unless(2), Jump(1)], &[Jump(0)], &[Exit]]);
        assert_eq!(blocks, [vec![If(0)], vec![], vec![Exit]]);
    }

    #[test]
    fn a_round_of_a_loop_takes_one_branch() {
        // Another block is between the loop and its exit block.
        let mut blocks = vec![vec![Plain, Unless(2), Jump(0)], vec![Exit], vec![Exit]];
        turn_latches(&mut blocks);
        assert_eq!(blocks[0], [Plain, If(0), Jump(2)]);
        // The pass does not change two forward branches.
        let mut blocks = vec![vec![Unless(2), Jump(3)], vec![Exit], vec![Exit], vec![Exit]];
        turn_latches(&mut blocks);
        assert_eq!(blocks[0], [Unless(2), Jump(3)]);
    }

    #[test]
    fn backward_branches_keep_their_number() {
        // One iteration of the loop through blocks 0, 2 and 1 takes two backward branches.
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
        // A branch counts as an instruction if it is not the last one of its block.
        assert_eq!(lengths(&[vec![Jump(1), Plain], vec![Exit]]), [2, 1]);
    }
}

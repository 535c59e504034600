//! Branches take the shortest way: past blocks that only branch on, and inverted where that lets control fall through.
//!
//! A launch limits the backward branches that an item takes, so a way stays as it is where the shorter one has fewer.

use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isel::mach::{BlockIndex, MachBlock, MachInst};

/// The blocks with shorter ways. Blocks keep their numbers; one that nothing reaches any more is empty.
pub(crate) fn straighten(blocks: &[MachBlock]) -> Vec<MachBlock> {
    let mut blocks = blocks.to_vec();
    // From the last block on, so that most ways on have been shortened when a branch asks for them.
    for index in (0..blocks.len()).rev() {
        for at in 0..blocks.get(index).map_or(0, |block| block.insts.len()) {
            let branch = |blocks: &[MachBlock]| blocks.get(index)?.insts.get(at)?.target;
            let Some(target) = branch(&blocks) else { continue };
            let to = destination(&blocks, index as BlockIndex, target);
            if let Some(inst) = blocks.get_mut(index).and_then(|block| block.insts.get_mut(at)) {
                inst.target = Some(to);
            }
        }
    }
    empty_unreached(&mut blocks);
    // The next block of which there is anything.
    let mut next = blocks.len();
    for (index, block) in blocks.iter_mut().enumerate().rev() {
        invert(&mut block.insts, index, next);
        if !block.insts.is_empty() {
            next = index;
        }
    }
    blocks
}

/// So many blocks that merely branch on are passed by one branch. More only make the code longer to look at.
const MAX_PASSED: usize = 16;

fn is_jump(inst: &MachInst) -> bool {
    inst.inst.opcode() == Opcode::BRA && inst.inst.is_unconditional()
}

/// Control never goes past it.
fn is_end(inst: &MachInst) -> bool {
    matches!(inst.inst.opcode(), Opcode::BRA | Opcode::EXIT) && inst.inst.is_unconditional()
}

/// Where a branch from one block to another may go at once: past blocks that merely branch on, as long as it is backward
/// when and only when one of the branches on the longer way is.
fn destination(blocks: &[MachBlock], from: BlockIndex, target: BlockIndex) -> BlockIndex {
    let backward = |from: BlockIndex, to: BlockIndex| u32::from(to <= from);
    let mut at = target;
    for _ in 0..MAX_PASSED {
        let only = blocks.get(at as usize).map(|block| block.insts.as_slice());
        match only {
            Some(&[jump]) if is_jump(&jump) => match jump.target {
                Some(to) if backward(from, at) + backward(at, to) == backward(from, to) => at = to,
                _ => break,
            },
            _ => break,
        }
    }
    at
}

/// Empties blocks of one branch that are neither branched to nor fallen into.
fn empty_unreached(blocks: &mut [MachBlock]) {
    let mut reached = vec![false; blocks.len()];
    let mut falls = true;
    for (index, block) in blocks.iter().enumerate() {
        for target in block.insts.iter().filter_map(|inst| inst.target) {
            if let Some(reached) = reached.get_mut(target as usize) {
                *reached = true;
            }
        }
        if falls && let Some(reached) = reached.get_mut(index) {
            *reached = true;
        }
        falls = match block.insts.last() {
            Some(last) => !is_end(last),
            None => falls,
        };
    }
    for (block, reached) in blocks.iter_mut().zip(reached) {
        if !reached && matches!(block.insts.as_slice(), [only] if is_jump(only)) {
            block.insts.clear();
        }
    }
}

/// `@P BRA next; BRA other` becomes `@!P BRA other`.
fn invert(insts: &mut Vec<MachInst>, index: usize, next: usize) {
    let [.., first, second] = insts.as_mut_slice() else { return };
    let falls = |target: Option<BlockIndex>| target.is_some_and(|to| (index + 1..=next).contains(&(to as usize)));
    let conditional = first.inst.opcode() == Opcode::BRA && !first.inst.is_unconditional();
    if conditional && is_jump(second) && falls(first.target) && !falls(second.target) {
        first.inst = inverted(first.inst);
        first.target = second.target;
        insts.pop();
    }
}

fn inverted(inst: Inst) -> Inst {
    inst.with(GUARD_NOT, 1 - inst.get(GUARD_NOT))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_isa::object::Loc;

    use super::*;

    fn inst(text: &str, target: Option<BlockIndex>) -> MachInst {
        MachInst { inst: text.parse().unwrap(), target, loc: Loc::default() }
    }

    fn straightened(blocks: &[&[(&str, Option<BlockIndex>)]]) -> Vec<Vec<(String, Option<BlockIndex>)>> {
        let blocks: Vec<MachBlock> = blocks
            .iter()
            .map(|block| MachBlock { insts: block.iter().map(|&(text, target)| inst(text, target)).collect() })
            .collect();
        let text =
            |inst: &MachInst| (inst.inst.to_string().split(' ').take(2).collect::<Vec<_>>().join(" "), inst.target);
        straightened_text(&straighten(&blocks), &text)
    }

    fn straightened_text<T>(blocks: &[MachBlock], text: &dyn Fn(&MachInst) -> T) -> Vec<Vec<T>> {
        blocks.iter().map(|block| block.insts.iter().map(text).collect()).collect()
    }

    #[test]
    fn a_back_edge_needs_one_branch() {
        // The loop, the edge back, the exit.
        let blocks = straightened(&[
            &[("@!P0 BRA .+0", Some(2)), ("BRA .+0", Some(1))],
            &[("BRA .+0", Some(0))],
            &[("EXIT", None)],
        ]);
        assert_eq!(blocks[0].len(), 1);
        assert_eq!(blocks[0][0], ("@P0 BRA".to_string(), Some(0)));
        assert!(blocks[1].is_empty());
    }

    #[test]
    fn backward_branches_keep_their_number() {
        // A round of the loop 0, 2, 1 takes two of them.
        let blocks = straightened(&[
            &[("@!P0 BRA .+0", Some(3)), ("BRA .+0", Some(2))],
            &[("BRA .+0", Some(0))],
            &[("BRA .+0", Some(1))],
            &[("EXIT", None)],
        ]);
        assert_eq!(blocks[0].last().map(|(_, target)| *target), Some(Some(2)));
        assert_eq!(blocks[1][0].1, Some(0));
        assert_eq!(blocks[2][0].1, Some(1));
    }

    #[test]
    fn long_chains_of_branches_take_no_long_time() {
        let count = 100_000;
        let chain: Vec<MachBlock> =
            (1..=count).map(|next| MachBlock { insts: vec![inst("BRA .+0", Some(next % count))] }).collect();
        let blocks = straighten(&chain);
        assert_eq!(blocks[0].insts.len(), 1);
    }

    #[test]
    fn rings_of_branches_stay_rings() {
        let blocks = straightened(&[&[("BRA .+0", Some(1))], &[("BRA .+0", Some(0))]]);
        assert!(blocks.iter().flatten().all(|(_, target)| target.is_some()));
        let blocks = straightened(&[&[("BRA .+0", Some(0))]]);
        assert_eq!(blocks[0].len(), 1);
    }

    #[test]
    fn a_block_that_is_fallen_into_stays() {
        let blocks = straightened(&[
            &[("@P0 BRA .+0", Some(1)), ("NOP", None)],
            &[("BRA .+0", Some(3))],
            &[("NOP", None)],
            &[("EXIT", None)],
        ]);
        assert_eq!(blocks[0][0].1, Some(3));
        assert_eq!(blocks[1].len(), 1);
    }
}

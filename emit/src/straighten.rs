//! Branches take the shortest way: past blocks that only branch on, and inverted where that lets control fall through.

use halfbyte_isa::halu::fields::GUARD_NOT;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isel::mach::{BlockIndex, MachBlock, MachInst};

/// The blocks with shorter ways. Blocks keep their numbers; one that nothing reaches any more is empty.
pub(crate) fn straighten(blocks: &[MachBlock]) -> Vec<MachBlock> {
    let mut blocks = blocks.to_vec();
    let destinations: Vec<BlockIndex> = (0..blocks.len()).map(|index| destination(&blocks, index)).collect();
    for inst in blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let Some(target) = &mut inst.target
            && let Some(&to) = destinations.get(*target as usize)
        {
            *target = to;
        }
    }
    empty_unreached(&mut blocks);
    for index in 0..blocks.len() {
        let next = next_filled(&blocks, index);
        if let Some(block) = blocks.get_mut(index) {
            invert(&mut block.insts, index, next);
        }
    }
    blocks
}

fn is_jump(inst: &MachInst) -> bool {
    inst.inst.opcode() == Opcode::BRA && inst.inst.is_unconditional()
}

/// Where control is after a block and those that it merely branches on to.
fn destination(blocks: &[MachBlock], start: usize) -> BlockIndex {
    let mut at = start as BlockIndex;
    // A ring of such blocks has no end: any of them will do.
    for _ in 0..blocks.len() {
        let only = blocks.get(at as usize).map(|block| block.insts.as_slice());
        match only {
            Some([jump]) if is_jump(jump) => at = jump.target.unwrap_or(at),
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
            Some(last) => !is_jump(last) && !(last.inst.opcode() == Opcode::EXIT && last.inst.is_unconditional()),
            None => falls,
        };
    }
    for (block, reached) in blocks.iter_mut().zip(reached) {
        if !reached && matches!(block.insts.as_slice(), [only] if is_jump(only)) {
            block.insts.clear();
        }
    }
}

/// The next block of which there is anything.
fn next_filled(blocks: &[MachBlock], index: usize) -> usize {
    let later = blocks.iter().enumerate().skip(index + 1);
    later.filter(|(_, block)| !block.insts.is_empty()).map(|(index, _)| index).next().unwrap_or(blocks.len())
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

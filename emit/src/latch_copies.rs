//! Hoisting of register copies out of loop latches.
//!
//! If an iteration assigns loop variables at its end, the copies are in a block of their own between
//! the exit branch and the loop header. An iteration then takes two branches. The pass moves the
//! copies before the exit branch if the exit path does not read their destinations. Branch
//! straightening then removes one of the branches.

use halfbyte_isa::row::OperandRole;
use halfbyte_isel::vcode::BlockIndex;

use crate::straighten::ControlInst;

/// Register accesses of an instruction.
pub(crate) trait RegisterInst: ControlInst {
    /// Number of a register, unique among all register files.
    type Register: Copy + PartialEq;

    /// Returns `true` for an instruction that only writes registers, and always writes them.
    fn is_copy(&self) -> bool;

    /// Returns `true` for an instruction that is not predicated.
    fn is_unguarded(&self) -> bool;

    /// Calls `each` for every register that the instruction accesses.
    fn visit_registers(&self, each: impl FnMut(OperandRole, Self::Register));
}

/// Maximum number of blocks that are searched for reads of a register. The limit bounds the compile time.
const MAX_SEARCHED: usize = 32;

/// Moves the copies of each latch before the branch that leaves the loop.
pub(crate) fn hoist_latch_copies<S: RegisterInst>(blocks: &mut [Vec<S>]) {
    let mut predecessors = vec![0_u32; blocks.len()];
    for index in 0..blocks.len() {
        for successor in successors(blocks, index) {
            predecessors.get_mut(successor as usize).into_iter().for_each(|count| *count += 1);
        }
    }
    for index in 0..blocks.len() {
        let Some(latch) = latch(blocks, &predecessors, index) else { continue };
        let Some((jump, copies)) = blocks.get(latch).and_then(|block| block.split_last()) else { continue };
        let (jump, copies) = (jump.clone(), copies.to_vec());
        if let Some(block) = blocks.get_mut(latch) {
            *block = vec![jump];
        }
        if let Some(block) = blocks.get_mut(index) {
            let branches = block.len() - 2;
            block.splice(branches..branches, copies);
        }
    }
}

/// Returns the successors of a block. A block that does not exist has none.
fn successors<S: ControlInst>(blocks: &[Vec<S>], index: usize) -> Vec<BlockIndex> {
    let Some(block) = blocks.get(index) else { return Vec::new() };
    let falls = block.last().is_none_or(|last| !last.is_end()) && index + 1 < blocks.len();
    let targets = block.iter().filter_map(S::target);
    targets.chain(falls.then_some(index as BlockIndex + 1)).collect()
}

/// Returns the latch whose copies can be moved to the end of block `index`, if any.
fn latch<S: RegisterInst>(blocks: &[Vec<S>], predecessors: &[u32], index: usize) -> Option<usize> {
    let block = blocks.get(index)?;
    let [.., branch, jump] = block.as_slice() else { return None };
    let (first, second) = (branch.target()?, jump.target()?);
    // Both instructions are branches, and no other instruction of the block is one.
    branch.inverted().filter(|_| jump.is_jump() && block.iter().filter(|inst| inst.target().is_some()).count() == 2)?;
    let (latch, exit) = [(first, second), (second, first)].into_iter().find(|&(latch, _)| {
        let block = blocks.get(latch as usize).and_then(|block| block.split_last());
        block.is_some_and(|(last, copies)| {
            let goes_back = last.is_jump() && last.target().is_some_and(|header| header as usize <= index);
            goes_back && !copies.is_empty() && copies.iter().all(S::is_copy)
        })
    })?;
    let has_one_predecessor = predecessors.get(latch as usize) == Some(&1);
    let (_, copies) = blocks.get(latch as usize)?.split_last()?;
    let mut written = Vec::new();
    for copy in copies {
        copy.visit_registers(|role, register| {
            if role != OperandRole::Use {
                written.push(register);
            }
        });
    }
    let mut is_read = false;
    branch.visit_registers(|_, register| is_read |= written.contains(&register));
    let is_free = |&register: &S::Register| !may_read(blocks, exit, register);
    (has_one_predecessor && !is_read && written.iter().all(is_free)).then_some(latch as usize)
}

/// Returns `true` if a path from the start of a block may read the value of a register.
fn may_read<S: RegisterInst>(blocks: &[Vec<S>], from: BlockIndex, register: S::Register) -> bool {
    let mut found = vec![from];
    let mut next = 0;
    while let Some(&index) = found.get(next) {
        next += 1;
        if next > MAX_SEARCHED {
            return true;
        }
        let mut is_overwritten = false;
        for inst in blocks.get(index as usize).into_iter().flatten() {
            let (mut is_read, mut is_written) = (false, false);
            inst.visit_registers(|role, accessed| {
                if accessed == register {
                    is_read |= role != OperandRole::Def;
                    is_written |= role == OperandRole::Def;
                }
            });
            if is_read {
                return true;
            }
            is_overwritten |= is_written && inst.is_unguarded();
            // A branch in the middle of a block may leave the block before a later write.
            if is_overwritten || inst.target().is_some() {
                break;
            }
        }
        if !is_overwritten {
            for successor in successors(blocks, index as usize) {
                if !found.contains(&successor) {
                    found.push(successor);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Instruction set for the tests. Registers are numbers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Toy {
        Copy(u8, u8),
        Load(u8),
        Use(u8),
        /// Branch if the register is not zero.
        If(u8, BlockIndex),
        Jump(BlockIndex),
        Exit,
    }

    use Toy::*;

    impl ControlInst for Toy {
        fn target(&self) -> Option<BlockIndex> {
            match *self {
                If(_, to) | Jump(to) => Some(to),
                _ => None,
            }
        }

        fn set_target(&mut self, target: BlockIndex) {
            match self {
                If(_, to) | Jump(to) => *to = target,
                _ => unreachable!(),
            }
        }

        fn is_jump(&self) -> bool {
            matches!(self, Jump(_))
        }

        fn is_end(&self) -> bool {
            matches!(self, Jump(_) | Exit)
        }

        fn inverted(&self) -> Option<Toy> {
            matches!(self, If(..)).then_some(*self)
        }
    }

    impl RegisterInst for Toy {
        type Register = u8;

        fn is_copy(&self) -> bool {
            matches!(self, Copy(..))
        }

        fn is_unguarded(&self) -> bool {
            true
        }

        fn visit_registers(&self, mut each: impl FnMut(OperandRole, u8)) {
            match *self {
                Copy(to, from) => {
                    each(OperandRole::Def, to);
                    each(OperandRole::Use, from);
                }
                Load(to) => each(OperandRole::Def, to),
                Use(from) | If(from, _) => each(OperandRole::Use, from),
                Jump(_) | Exit => {}
            }
        }
    }

    /// Returns a loop in block 0 with latch 1 and exit 2, after the pass.
    fn hoisted(header: &[Toy], latch: &[Toy], exit: &[Toy]) -> Vec<Vec<Toy>> {
        let mut blocks = vec![header.to_vec(), latch.to_vec(), exit.to_vec()];
        hoist_latch_copies(&mut blocks);
        blocks
    }

    #[test]
    fn copies_move_before_the_exit_branch() {
        let blocks = hoisted(&[Load(1), If(9, 2), Jump(1)], &[Copy(0, 1), Copy(2, 3), Jump(0)], &[Use(1), Exit]);
        assert_eq!(blocks[0], [Load(1), Copy(0, 1), Copy(2, 3), If(9, 2), Jump(1)]);
        assert_eq!(blocks[1], [Jump(0)]);
    }

    #[test]
    fn the_taken_branch_may_lead_to_the_latch() {
        let blocks = hoisted(&[If(9, 1), Jump(2)], &[Copy(0, 1), Jump(0)], &[Exit]);
        assert_eq!(blocks[0], [Copy(0, 1), If(9, 1), Jump(2)]);
    }

    #[test]
    fn registers_that_the_exit_reads_are_kept() {
        let latch = [Copy(0, 1), Jump(0)];
        assert_eq!(hoisted(&[If(9, 2), Jump(1)], &latch, &[Use(0), Exit])[1], latch);
        // A write before the read ends the search.
        assert_eq!(hoisted(&[If(9, 2), Jump(1)], &latch, &[Load(0), Use(0), Exit])[1], [Jump(0)]);
    }

    #[test]
    fn registers_that_a_later_block_reads_are_kept() {
        let header = vec![If(9, 2), Jump(1)];
        let latch = vec![Copy(0, 1), Jump(0)];
        let mut blocks = vec![header, latch.clone(), vec![If(8, 3), Jump(4)], vec![Use(0), Exit], vec![Exit]];
        hoist_latch_copies(&mut blocks);
        assert_eq!(blocks[1], latch);
    }

    #[test]
    fn the_condition_is_kept() {
        let latch = [Copy(9, 1), Jump(0)];
        assert_eq!(hoisted(&[If(9, 2), Jump(1)], &latch, &[Exit])[1], latch);
    }

    #[test]
    fn other_instructions_stay() {
        for latch in [[Load(0), Jump(0)], [Copy(0, 1), Jump(2)]] {
            assert_eq!(hoisted(&[If(9, 2), Jump(1)], &latch, &[Exit])[1], latch);
        }
        // Another block jumps to the latch.
        let latch = [Copy(0, 1), Jump(0)];
        assert_eq!(hoisted(&[If(9, 2), Jump(1)], &latch, &[Jump(1)])[1], latch);
    }
}

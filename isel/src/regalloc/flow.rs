//! Control-flow graph in the form that regalloc2 needs: reachable blocks in reverse postorder, with
//! instructions numbered in this order.
//!
//! regalloc2 finds loops by the order of blocks. Its checker assumes that a block comes after at
//! least one of its predecessors.

use halfbyte_ir::flow::reverse_postorder;
use regalloc2::{Block, Inst, InstRange};

use super::AllocError;
use super::list_of_lists::ListOfLists;
use crate::vcode::{BlockIndex, Machine, Operand, Terminator, VBlock, VCode};

/// Control-flow graph of the reachable blocks. Unless noted otherwise, a block is identified by its
/// rank, which is its position in reverse postorder.
#[derive(Default)]
pub(super) struct Flow {
    /// Index in [`VCode::blocks`] of the block with each rank.
    order: Vec<BlockIndex>,
    /// Rank of each block, by its index in [`VCode::blocks`].
    ranks: Vec<u32>,
    succs: ListOfLists<Block>,
    preds: ListOfLists<Block>,
    /// Number of the first instruction of each block, followed by the number of all instructions.
    /// Terminators count as instructions.
    firsts: Vec<u32>,
}

/// Marker of an unreachable block, in place of its rank.
const UNREACHED: u32 = u32::MAX;

impl Flow {
    /// Builds the graph of some code, and checks that all blocks and instructions it names exist.
    pub(super) fn read<M: Machine>(&mut self, code: &VCode<M>) -> Result<(), AllocError> {
        // regalloc2 packs flags into its program points and register indices, which limits their range.
        const LIMIT: usize = 1 << 28;
        let sizes = [&code.vregs.len(), &code.blocks.len(), &code.insts.len(), &code.operands.len(), &code.pool.len()];
        if sizes.into_iter().any(|&size| size > LIMIT) {
            return Err(AllocError::TooLarge);
        }
        self.rank(code)?;
        self.succs.clear();
        self.firsts.clear();
        let mut first = 0;
        for &index in &self.order {
            let block = &code.blocks[index as usize];
            let insts = block.insts.start as usize..block.insts.end as usize;
            let len = code.insts.get(insts).ok_or(AllocError::Block(index))?.len();
            self.firsts.push(first);
            first += len as u32 + 1;
            if first as usize > LIMIT {
                return Err(AllocError::TooLarge);
            }
            block.terminator.edges().for_each(|edge| self.succs.push(Block(self.ranks[edge.block as usize])));
            self.succs.close();
        }
        self.firsts.push(first);
        let Flow { succs, preds, order, .. } = self;
        let blocks = 0..order.len();
        preds.group(blocks.len(), blocks.flat_map(|b| succs.get(b).iter().map(move |to| (to.0, Block(b as u32)))));
        Ok(())
    }

    fn rank<M: Machine>(&mut self, code: &VCode<M>) -> Result<(), AllocError> {
        self.order.clear();
        self.order.extend(reverse_postorder(code).into_iter().map(|node| node.as_u32()));
        if self.order.is_empty() {
            return Err(AllocError::Block(0));
        }
        self.ranks.clear();
        self.ranks.resize(code.blocks.len(), UNREACHED);
        for (rank, &index) in self.order.iter().enumerate() {
            self.ranks[index as usize] = rank as u32;
            let targets = code.blocks[index as usize].terminator.edges().map(|edge| edge.block);
            if let Some(target) = targets.into_iter().find(|&target| target as usize >= code.blocks.len()) {
                return Err(AllocError::Block(target));
            }
        }
        Ok(())
    }

    /// Returns the number of reachable blocks.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the reachable blocks in the order of their ranks, each with its rank.
    pub(super) fn blocks<'a, M: Machine>(
        &'a self,
        code: &'a VCode<M>,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a VBlock<M>)> {
        self.order.iter().map(|&index| &code.blocks[index as usize]).enumerate()
    }

    /// Returns the index in [`VCode::blocks`] of the block with the given rank.
    pub(super) fn index(&self, rank: usize) -> BlockIndex {
        self.order[rank]
    }

    pub(super) fn succs(&self, block: usize) -> &[Block] {
        self.succs.get(block)
    }

    pub(super) fn preds(&self, block: usize) -> &[Block] {
        self.preds.get(block)
    }

    /// Returns the index, among the edges of all blocks, of a block's first outgoing edge.
    pub(super) fn first_edge(&self, block: usize) -> usize {
        self.succs.start(block)
    }

    /// Returns the number of instructions, including terminators.
    pub(super) fn insts(&self) -> usize {
        self.firsts[self.len()] as usize
    }

    /// Returns the instructions of a block, including its terminator.
    pub(super) fn range(&self, block: usize) -> InstRange {
        InstRange::new(Inst(self.firsts[block]), Inst(self.firsts[block + 1]))
    }

    /// If `inst` is the terminator of a block, returns the block.
    pub(super) fn ends(&self, inst: Inst) -> Option<usize> {
        self.firsts.binary_search(&(inst.0 + 1)).ok().map(|next| next - 1)
    }
}

/// Returns the operands of a block's branch, or none if the block does not end in a branch.
pub(super) fn branch_operands<'a, M: Machine>(code: &'a VCode<M>, terminator: &Terminator<M>) -> &'a [Operand<M>] {
    match terminator {
        Terminator::Branch { inst, .. } => code.operands(inst),
        Terminator::Exit | Terminator::Jump(_) => &[],
    }
}

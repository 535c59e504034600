//! The flow graph as regalloc2 gets it: reachable blocks in reverse postorder, and instructions numbered in that order.
//!
//! regalloc2 tells loops by the order of blocks, and its checker trusts that a block comes after one that leads to it.

use halfbyte_ir::flow::reverse_postorder;
use regalloc2::{Block, Inst, InstRange};

use super::AllocError;
use super::ragged::Ragged;
use crate::vcode::{BlockIndex, Machine, Operand, Terminator, VBlock, VCode};

/// The graph. Blocks go by rank, their place in the order, unless called otherwise.
#[derive(Default)]
pub(super) struct Flow {
    /// By rank, the block in [`VCode::blocks`].
    order: Vec<BlockIndex>,
    /// By block in [`VCode::blocks`], the rank.
    ranks: Vec<u32>,
    succs: Ragged<Block>,
    preds: Ragged<Block>,
    /// Each block's first instruction, terminators counted; then the number of instructions.
    firsts: Vec<u32>,
}

/// The rank of a block that is not reached.
const UNREACHED: u32 = u32::MAX;

impl Flow {
    /// Reads the graph; checks that blocks and their instructions exist.
    pub(super) fn read<M: Machine>(&mut self, code: &VCode<M>) -> Result<(), AllocError> {
        // The allocator's program points and registers have few bits to spare.
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

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The blocks with their ranks.
    pub(super) fn blocks<'a, M: Machine>(
        &'a self,
        code: &'a VCode<M>,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a VBlock<M>)> {
        self.order.iter().map(|&index| &code.blocks[index as usize]).enumerate()
    }

    /// A block's place in [`VCode::blocks`].
    pub(super) fn index(&self, rank: usize) -> BlockIndex {
        self.order[rank]
    }

    pub(super) fn succs(&self, block: usize) -> &[Block] {
        self.succs.get(block)
    }

    pub(super) fn preds(&self, block: usize) -> &[Block] {
        self.preds.get(block)
    }

    /// Index of a block's first way out among all edges.
    pub(super) fn first_edge(&self, block: usize) -> usize {
        self.succs.start(block)
    }

    /// Number of instructions, terminators included.
    pub(super) fn insts(&self) -> usize {
        self.firsts[self.len()] as usize
    }

    /// A block's instructions; the last is its terminator.
    pub(super) fn range(&self, block: usize) -> InstRange {
        InstRange::new(Inst(self.firsts[block]), Inst(self.firsts[block + 1]))
    }

    /// The block whose terminator an instruction is.
    pub(super) fn ends(&self, inst: Inst) -> Option<usize> {
        self.firsts.binary_search(&(inst.0 + 1)).ok().map(|next| next - 1)
    }
}

/// The operands of the branch that ends a block, if it ends in one.
pub(super) fn branch_operands<'a, M: Machine>(code: &'a VCode<M>, terminator: &Terminator<M>) -> &'a [Operand<M>] {
    match terminator {
        Terminator::Branch { inst, .. } => code.operands(inst),
        Terminator::Exit | Terminator::Jump(_) => &[],
    }
}

//! Generation of machine instructions from the result of register allocation, block by block.

use halfbyte_isa::object::{Loc, PartialAccess};
use regalloc2::ProgPoint;

use super::AllocError;
use super::flow::Flow;
use crate::mach::{MachBlock, MachInst};
use crate::vcode::{BlockIndex, Machine, Terminator, VCode, VInst};

/// Machine-specific rewriting of instructions and moves. The caller calls the methods in code order.
pub(super) trait Rewriter<M: Machine> {
    /// Returns an instruction with the numbers of its hardware registers.
    fn inst(&mut self, code: &VCode<M>, inst: &VInst<M>) -> Result<M::Inst, AllocError>;

    /// Pushes the moves that the allocator inserted at or before a program point.
    fn moves(&mut self, point: ProgPoint, push: &mut dyn FnMut(M::Inst)) -> Result<(), AllocError>;
}

/// Returns the blocks with hardware registers. Blocks keep their indices, and unreachable blocks are empty.
pub(super) fn rewrite<M: Machine>(
    code: &VCode<M>,
    flow: &Flow,
    rewriter: &mut impl Rewriter<M>,
) -> Result<Vec<MachBlock<M>>, AllocError> {
    let mut blocks: Vec<MachBlock<M>> = code.blocks.iter().map(|_| MachBlock::default()).collect();
    for (rank, block) in flow.blocks(code) {
        let (index, range) = (flow.index(rank), flow.range(rank));
        let mut writer = Writer { insts: Vec::with_capacity(range.len() + 1), parts: Vec::new() };
        let mut parts = code.parts(&block.insts);
        for ((vinst, at), index) in code.insts_of(block).iter().zip(range.iter()).zip(block.insts.clone()) {
            writer.moves(rewriter, ProgPoint::before(at), vinst.loc)?;
            let inst = rewriter.inst(code, vinst)?;
            while let Some((&part, rest)) = parts.split_first()
                && part.word == index
            {
                writer.parts.push(PartialAccess { word: writer.insts.len() as u32, ..part });
                parts = rest;
            }
            writer.push(inst, None, vinst.loc);
            writer.moves(rewriter, ProgPoint::after(at), vinst.loc)?;
        }
        writer.moves(rewriter, ProgPoint::before(range.last()), block.loc)?;
        match &block.terminator {
            Terminator::Exit => writer.push(M::exit(), None, block.loc),
            Terminator::Jump(edge) => writer.push(M::jump(), Some(edge.block), block.loc),
            Terminator::Branch { inst: vinst, then, otherwise } => {
                let mut inst = rewriter.inst(code, vinst)?;
                // If the taken edge leads to the next block, the condition is inverted. Then the
                // unconditional jump leads to the next block and is not needed.
                let (first, second) = if then.block == index + 1 {
                    M::invert(&mut inst);
                    (otherwise, then)
                } else {
                    (then, otherwise)
                };
                writer.push(inst, Some(first.block), vinst.loc);
                writer.push(M::jump(), Some(second.block), block.loc);
            }
        }
        blocks[index as usize] = MachBlock { insts: writer.insts, parts: writer.parts };
    }
    Ok(blocks)
}

/// Machine instructions of the block that is being rewritten.
struct Writer<M: Machine> {
    insts: Vec<MachInst<M>>,
    parts: Vec<PartialAccess>,
}

impl<M: Machine> Writer<M> {
    fn push(&mut self, inst: M::Inst, target: Option<BlockIndex>, loc: Loc) {
        self.insts.push(MachInst { inst, target, loc });
    }

    fn moves(&mut self, rewriter: &mut impl Rewriter<M>, point: ProgPoint, loc: Loc) -> Result<(), AllocError> {
        rewriter.moves(point, &mut |inst| self.push(inst, None, loc))
    }
}

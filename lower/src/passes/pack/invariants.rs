//! Hoisting of loop-invariant values that are used outside their loop. The value is then the same
//! for items that have left the loop or never enter it, so a masked loop need not preserve it.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Block, Effect, Flow, Inst, Kernel, Value};

use crate::passes::loops::{LoopId, Loops};

/// Hoists each loop-invariant value out of the loops outside of which it is used.
pub(super) fn hoist(kernel: &mut Kernel, flow: &Flow, loops: &Loops) {
    if loops.ids().next().is_none() {
        return;
    }
    let earliest = earliest(kernel, flow);
    let mut users = Users { last: SecondaryMap::new(), links: Vec::new() };
    let mut moved: Vec<(Block, Inst)> = Vec::new();
    for block in flow.reverse_postorder().rev() {
        for number in (0..kernel.blocks[block].insts.len()).rev() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            for call in kernel.targets(inst) {
                let leaves = loops.nest(block).any(|id| !loops.get(id).contains(call.block));
                for &arg in kernel.call_args(call) {
                    users.note(arg, Use::At(block));
                    if leaves {
                        users.note(arg, Use::WayTo(call.block));
                    }
                }
            }
            let mut place = block;
            if let Some(result) = kernel.result(inst)
                && let Some(top) = earliest[result].filter(|&top| top != block)
                && kernel.insts[inst].op.row().effect == Effect::Pure
            {
                place = users.place(flow, loops, result, block, top);
            }
            if place != block {
                moved.push((place, inst));
                kernel.blocks[block].insts.remove(number);
            }
            kernel.args(inst).iter().for_each(|&arg| users.note(arg, Use::At(place)));
        }
    }
    // `moved` lists the instructions in reverse order.
    for &(block, inst) in moved.iter().rev() {
        let insts = &mut kernel.blocks[block].insts;
        insts.insert(insts.len().saturating_sub(1), inst);
    }
}

/// Returns the earliest block in which each value can be computed. For a kernel parameter, this is the entry block.
fn earliest(kernel: &Kernel, flow: &Flow) -> SecondaryMap<Value, Option<Block>> {
    let mut earliest: SecondaryMap<Value, Option<Block>> = SecondaryMap::with_default(kernel.entry());
    for block in flow.reverse_postorder() {
        for &param in kernel.block_params(block) {
            earliest[param] = Some(block);
        }
        for &inst in &kernel.blocks[block].insts {
            let Some(result) = kernel.result(inst) else { continue };
            let pure = kernel.insts[inst].op.row().effect == Effect::Pure;
            // The blocks of all operands dominate this block, so they are on one path in the
            // dominator tree. The last block on this path is the earliest one in which the result
            // can be computed.
            let args = kernel.args(inst).iter().map(|&arg| earliest[arg]);
            let last = args.reduce(|a, b| match (a, b) {
                (Some(a), Some(b)) if flow.dominates(b, a) => Some(a),
                (_, b) => b,
            });
            earliest[result] = if pure { last.unwrap_or(kernel.entry()) } else { Some(block) };
        }
    }
    earliest
}

/// A use of a value in a block or on a loop exit.
#[derive(Clone, Copy)]
enum Use {
    /// Use by an instruction of this block.
    At(Block),
    /// Use as an argument of the edge that leaves a loop and enters this block.
    WayTo(Block),
}

/// Uses of each value, as linked lists.
struct Users {
    last: SecondaryMap<Value, u32>,
    /// A use, and the index of the next use of the value in this vector plus one; 0 ends the list.
    links: Vec<(Use, u32)>,
}

impl Users {
    fn note(&mut self, value: Value, by: Use) {
        self.links.push((by, self.last[value]));
        self.last[value] = self.links.len() as u32;
    }

    fn of(&self, value: Value) -> impl Iterator<Item = Use> + '_ {
        let link = |number: u32| self.links.get(number.checked_sub(1)? as usize);
        std::iter::successors(link(self.last[value]), move |&&(_, next)| link(next)).map(|&(by, _)| by)
    }

    /// Returns the block to which the instruction that defines a value moves. The block dominates
    /// all uses and is dominated by `top`, the earliest possible block. If possible, the block is
    /// in no loop outside of which the value is used.
    fn place(&self, flow: &Flow, loops: &Loops, value: Value, home: Block, top: Block) -> Block {
        let is_above = |place: Block| !self.of(value).any(|by| matches!(by, Use::At(at) if !flow.dominates(place, at)));
        let above =
            std::iter::successors(Some(home), |&place| flow.immediate_dominator(place)).find(|&at| is_above(at));
        let mut place = above.unwrap_or(home);
        loop {
            let left = |&id: &LoopId| {
                self.of(value).any(|by| match by {
                    Use::At(block) | Use::WayTo(block) => !loops.get(id).contains(block),
                })
            };
            let Some(id) = loops.nest(place).filter(left).last() else { return place };
            match flow.immediate_dominator(loops.get(id).header) {
                Some(before) if flow.dominates(top, before) => place = before,
                _ => return place,
            }
        }
    }
}

//! Merging of straight-line code: appends a block to its only predecessor, if the predecessor
//! precedes the block in the layout and has no other successor.
//!
//! Folded branches leave blocks that can be merged. Passes that work on single blocks then find
//! more to do in the longer block. Only blocks with nothing but unreachable blocks between them are
//! merged. The number of backward branches, which a launch limits, therefore stays the same.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Block, Flow, Kernel, Op, Value};

use crate::pass::{BuiltIn, Context, Order};

/// The `merge` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "merge",
    description: "merges a block into its only predecessor",
    order: &[
        (Order::After("if_convert"), "a converted branch leaves blocks with one predecessor"),
        (Order::Before("slp"), "accesses are combined within a block"),
    ],
    run,
};

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    if kernel.layout.len() < 2 {
        return false;
    }
    let flow = context.flow(kernel);
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let before = std::mem::take(&mut kernel.layout);
    let blocks = before.len();
    let mut layout: Vec<Block> = Vec::with_capacity(blocks);
    for block in before.into_iter().filter(|&block| flow.is_reachable(block)) {
        match layout.last() {
            Some(&last) if is_straight(kernel, &flow, last, block) => append(kernel, last, block, &mut replaced),
            _ => layout.push(block),
        }
    }
    let changed = layout.len() != blocks;
    kernel.layout = layout;
    if changed {
        kernel.replace_uses(&replaced);
    } else {
        context.keep_flow(flow);
    }
    changed
}

/// Returns `true` if `from` ends in an unconditional branch to `to`, and `to` has no other reachable predecessor.
fn is_straight(kernel: &Kernel, flow: &Flow, from: Block, to: Block) -> bool {
    let goes = kernel.terminator(from).is_some_and(|inst| {
        kernel.insts[inst].op == Op::Br && kernel.targets(inst).first().is_some_and(|call| call.block == to)
    });
    goes && flow.predecessors(to).iter().filter(|&&pred| flow.is_reachable(pred)).count() == 1
}

/// Appends block `from` to its only predecessor `to`, and records the arguments that replace its parameters.
fn append(kernel: &mut Kernel, to: Block, from: Block, replaced: &mut SecondaryMap<Value, PackedOption<Value>>) {
    let Some(branch) = kernel.blocks[to].insts.pop() else { return };
    let args = kernel.targets(branch).first().map_or(&[][..], |call| kernel.call_args(call));
    for (&param, &arg) in kernel.block_params(from).iter().zip(args) {
        // If the argument is a replaced parameter, its own replacement is recorded, so that chains
        // of replacements stay short.
        replaced[param] = replaced[arg].expand().unwrap_or(arg).into();
    }
    let insts = std::mem::take(&mut kernel.blocks[from].insts);
    kernel.blocks[to].insts.extend(insts);
}

//! Expansion of `switch` to a chain of comparisons, for targets that have no `switch`.

use halfbyte_ir::{Attr, Block, BlockCall, IntCC, Kernel, Legality, Op, Type, ValueList};

pub(super) fn run(kernel: &mut Kernel, legality: &Legality) -> bool {
    let native = |op| legality.is_native(op, Type::I32);
    !native(Op::Switch) && native(Op::Icmp) && native(Op::Const) && expand(kernel)
}

/// Replaces all `switch` terminators. Returns `true` if it replaced any.
pub(super) fn expand(kernel: &mut Kernel) -> bool {
    let mut layout = Vec::with_capacity(kernel.layout.len());
    let mut changed = false;
    for block in std::mem::take(&mut kernel.layout) {
        layout.push(block);
        let is_switch = kernel.terminator(block).is_some_and(|inst| kernel.insts[inst].op == Op::Switch);
        if is_switch {
            // The new blocks directly follow the block of the `switch`, so that no branch becomes a backward branch.
            layout.extend(chain(kernel, block));
            changed = true;
        }
    }
    kernel.layout = layout;
    changed
}

/// Replaces the `switch` of a block by its first comparison. Returns the new blocks, which contain
/// the other comparisons.
fn chain(kernel: &mut Kernel, first: Block) -> Vec<Block> {
    let Some(switch) = kernel.blocks[first].insts.pop() else { return Vec::new() };
    let data = kernel.insts[switch];
    let calls = kernel.targets(switch).to_vec();
    let (Some((&default, cases)), &[on]) = (calls.split_first(), kernel.args(switch)) else { return Vec::new() };
    let mut blocks = Vec::new();
    let mut block = first;
    for (number, &case) in cases.iter().enumerate() {
        let otherwise = if number + 1 < cases.len() {
            let next = kernel.add_block();
            kernel.layout.pop();
            blocks.push(next);
            BlockCall { block: next, args: ValueList::new(), case: 0 }
        } else {
            default
        };
        let value = Attr::Bits(u64::from(case.case));
        let constant = kernel.push_inst(block, Op::Const, Type::I32, value, &[], Some(Type::I32), data.span);
        let Some(constant) = kernel.result(constant) else { continue };
        let args = [on, constant];
        let compare =
            kernel.push_inst(block, Op::Icmp, Type::I32, Attr::IntCC(IntCC::Eq), &args, Some(Type::I1), data.span);
        let Some(equal) = kernel.result(compare) else { continue };
        let targets = Attr::Targets(kernel.add_calls(&[case, otherwise]));
        kernel.push_inst(block, Op::BrIf, Type::I32, targets, &[equal], None, data.span);
        block = otherwise.block;
    }
    if cases.is_empty() {
        let targets = Attr::Targets(kernel.add_calls(&[default]));
        kernel.push_inst(block, Op::Br, Type::I32, targets, &[], None, data.span);
    }
    blocks
}

//! Cleanup of kernels: unreachable blocks, unused values, and redundant branches.

use cranelift_entity::SecondaryMap;
use halfbyte_ir::{Attr, Block, BlockCall, Flow, Inst, Kernel, Op, Value};

use super::draft::Replaced;

/// Removes dead code and simplifies branches. Unused loads are not removed, because a load may trap.
pub(super) fn tidy(kernel: &mut Kernel) {
    loop {
        let mut is_changed = plain_branches(kernel);
        is_changed |= unreachable(kernel);
        is_changed |= merge_blocks(kernel);
        is_changed |= block_params(kernel);
        is_changed |= unused(kernel);
        if !is_changed {
            return;
        }
    }
}

/// Replaces each branch whose targets are all the same by a jump.
fn plain_branches(kernel: &mut Kernel) -> bool {
    let is_plain = |kernel: &Kernel, inst: Inst| {
        let mut calls = kernel.targets(inst).iter();
        let Some(first) = calls.next() else { return false };
        let is_first =
            |call: &BlockCall| call.block == first.block && kernel.call_args(call) == kernel.call_args(first);
        kernel.insts[inst].op != Op::Br && calls.all(is_first)
    };
    let mut is_changed = false;
    for number in 0..kernel.layout.len() {
        let last = kernel.layout.get(number).and_then(|&block| kernel.terminator(block));
        if let Some(inst) = last.filter(|&inst| is_plain(kernel, inst)) {
            go_to(kernel, inst, 0);
            is_changed = true;
        }
    }
    is_changed
}

/// Replaces a branch by a jump to one of its targets.
pub(super) fn go_to(kernel: &mut Kernel, inst: Inst, target: usize) -> Option<()> {
    let call = *kernel.targets(inst).get(target)?;
    let data = &mut kernel.insts[inst];
    data.op = Op::Br;
    data.args.clear(&mut kernel.pool);
    let attr = Attr::Targets(kernel.add_calls(&[BlockCall { case: 0, ..call }]));
    kernel.insts[inst].attr = attr;
    Some(())
}

fn unreachable(kernel: &mut Kernel) -> bool {
    let flow = Flow::new(kernel);
    let before = kernel.layout.len();
    kernel.layout.retain(|&block| flow.is_reachable(block));
    kernel.layout.len() != before
}

/// Merges each block with its only successor, if the block is the successor's only predecessor.
fn merge_blocks(kernel: &mut Kernel) -> bool {
    let flow = Flow::new(kernel);
    let joins = |kernel: &Kernel, block: Block| {
        let inst = kernel.terminator(block).filter(|&inst| kernel.insts[inst].op == Op::Br)?;
        let call = *kernel.targets(inst).first()?;
        let is_only = call.block != block && flow.predecessors(call.block).len() == 1;
        is_only.then_some(call)
    };
    let Some((block, call)) = kernel.layout.iter().find_map(|&block| Some((block, joins(kernel, block)?))) else {
        return false;
    };
    let mut with = Replaced::new();
    for (&param, &arg) in kernel.block_params(call.block).iter().zip(kernel.call_args(&call)) {
        with[param] = arg.into();
    }
    let rest = std::mem::take(&mut kernel.blocks[call.block].insts);
    kernel.blocks[block].insts.pop();
    kernel.blocks[block].insts.extend(rest);
    kernel.layout.retain(|&other| other != call.block);
    kernel.replace_uses(&with);
    true
}

/// Removes a block parameter that has no uses, or for which all branches pass the same value.
fn block_params(kernel: &mut Kernel) -> bool {
    let uses = uses(kernel);
    let found = kernel.layout.iter().skip(1).find_map(|&block| {
        let params = kernel.block_params(block).iter().enumerate();
        let mut gone = params.filter_map(|(number, &param)| {
            let mut values = incoming(kernel, block, number).filter(|&value| value != param);
            let first = values.next()?;
            (uses[param] == 0 || values.all(|value| value == first)).then_some((number, param, first))
        });
        Some((block, gone.next()?))
    });
    let Some((block, (number, param, value))) = found else { return false };
    replace_block_param(kernel, block, number, param, value);
    true
}

/// Returns the values that branches pass for a block parameter.
pub(super) fn incoming(kernel: &Kernel, block: Block, number: usize) -> impl Iterator<Item = Value> + '_ {
    let ends = kernel.layout.iter().filter_map(|&from| kernel.terminator(from));
    let calls = ends.flat_map(|inst| kernel.targets(inst)).filter(move |call| call.block == block);
    calls.filter_map(move |call| kernel.call_args(call).get(number).copied())
}

/// Replaces a block parameter by a value, and removes the parameter.
pub(super) fn replace_block_param(kernel: &mut Kernel, block: Block, number: usize, param: Value, value: Value) {
    let mut with = Replaced::new();
    with[param] = value.into();
    kernel.replace_uses(&with);
    let mut params = kernel.blocks[block].params;
    params.remove(number, &mut kernel.pool);
    kernel.blocks[block].params = params;
    let ends: Vec<Inst> = kernel.layout.iter().filter_map(|&from| kernel.terminator(from)).collect();
    for inst in ends {
        let Attr::Targets(range) = kernel.insts[inst].attr else { continue };
        let mut calls = kernel.calls(range).to_vec();
        for call in calls.iter_mut().filter(|call| call.block == block) {
            call.args.remove(number, &mut kernel.pool);
        }
        kernel.calls_mut(range).copy_from_slice(&calls);
    }
}

/// Removes instructions whose results have no uses, except those with side effects.
fn unused(kernel: &mut Kernel) -> bool {
    let uses = uses(kernel);
    let mut is_changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { break };
        let mut insts = std::mem::take(&mut kernel.blocks[block].insts);
        let before = insts.len();
        insts.retain(|&inst| {
            let is_used = kernel.result(inst).is_none_or(|value| uses[value] > 0);
            is_used || !kernel.insts[inst].op.is_pure()
        });
        is_changed |= insts.len() != before;
        kernel.blocks[block].insts = insts;
    }
    is_changed
}

/// Returns the number of uses of each value.
pub(super) fn uses(kernel: &Kernel) -> SecondaryMap<Value, u32> {
    let mut uses = SecondaryMap::new();
    for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
        let args = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
        for &value in kernel.args(inst).iter().chain(args) {
            uses[value] += 1;
        }
    }
    uses
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn tidied(text: &str) -> String {
        let mut module = halfbyte_ir::text::read(text).unwrap();
        tidy(&mut module.kernels[0]);
        let text = module.kernels[0].to_string();
        assert!(halfbyte_ir::text::read(&text).is_ok(), "{text}");
        text
    }

    #[test]
    fn removes_dead_code() {
        let text = tidied(
            "kernel @k(%a: i32, %y: inout i32) {\n^entry:\n  %c = const.i1 1\n  %v = load %y\n  br_if %c, ^on(%a), ^on(%a)\n\
             ^on(%p: i32):\n  %w = add.i32 %v, %p\n  store %p, %y\n  br ^end(%p, %p)\n^end(%q: i32, %r: i32):\n  store %r, %y[1]\n  ret\n\
             ^never:\n  ret\n}\n",
        );
        let expected = "kernel @k(%a: i32, %y: inout i32) {\n^entry:\n  %v = load %y\n  store %a, %y\n  store %a, %y[1]\n  ret\n}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_loop_stays() {
        let text = "kernel @k(%n: i32, %y: out i32) {\n^entry:\n  %zero = const.i32 0\n  br ^head(%zero)\n^head(%i: i32):\n  \
                    %one = const.i32 1\n  %next = add.i32 %i, %one\n  %c = icmp.lt_s.i32 %next, %n\n  \
                    br_if %c, ^head(%next), ^end\n^end:\n  store %i, %y\n  ret\n}\n";
        assert_eq!(tidied(text), text);
    }
}

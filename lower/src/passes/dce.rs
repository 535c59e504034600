//! Dead code elimination: removes pure instructions with unused results, unused block parameters,
//! and unreachable blocks.
//!
//! A loop parameter is also unused if only its own value in the next iteration depends on it. The
//! pass does not remove unused loads, because they may trap.

use cranelift_entity::EntityRef;
use halfbyte_ir::{Attr, Block, Flow, Kernel, Op, Type, Value, ValueDef, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report};

/// The `dce` pass.
pub(crate) const PASS: BuiltIn = BuiltIn {
    name: "dce",
    description: "removes unused instructions, unused block parameters and unreachable blocks",
    order: &[(Order::Last, "other passes leave unused values behind")],
    run: run_alone,
};

fn run_alone(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let blocks = kernel.layout.len();
    let changed = run(kernel, context);
    context.only_removes = kernel.layout.len() == blocks;
    changed
}

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let flow = context.flow(kernel);
    let blocks = kernel.layout.len();
    kernel.layout.retain(|&block| flow.is_reachable(block));
    let mut changed = kernel.layout.len() != blocks;
    let used = Used::find(kernel, &flow);
    let orders_nothing = !context.legality.is_native(Op::Fence, Type::I32) && is_alone(kernel);
    if !changed {
        context.keep_flow(flow);
    }
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        let mut insts = std::mem::take(&mut kernel.blocks[block].insts);
        let before = insts.len();
        insts.retain(|&inst| {
            let is_used =
                !kernel.insts[inst].op.is_pure() || kernel.result(inst).is_some_and(|result| used.contains(result));
            if kernel.insts[inst].op == Op::Fence && orders_nothing {
                let before = context.trace.before(kernel, inst);
                let how = ChangeKind::Told("removed: the kernel does not communicate with other items");
                context.trace.replaced(before, how, kernel, &[], None);
                return false;
            }
            if !is_used {
                let before = context.trace.before(kernel, inst);
                context.trace.replaced(before, ChangeKind::Told("removed: its result is unused"), kernel, &[], None);
            }
            is_used
        });
        changed |= insts.len() != before;
        kernel.blocks[block].insts = insts;
    }
    changed | keep_parameters(kernel, &|param| used.contains(param))
}

/// Returns `true` if no op of the kernel communicates with other work items. Fences are ignored.
fn is_alone(kernel: &Kernel) -> bool {
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    !insts.any(|&inst| kernel.insts[inst].op.orders_memory() && kernel.insts[inst].op != Op::Fence)
}

/// Removes the block parameters for which `is_kept` returns `false`, and the arguments that
/// branches pass for them. Returns `true` if it removed any.
pub(super) fn keep_parameters(kernel: &mut Kernel, is_kept: &dyn Fn(Value) -> bool) -> bool {
    let mut changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        changed |= drop_arguments(kernel, block, is_kept);
    }
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        changed |= drop_parameters(kernel, block, is_kept);
    }
    changed
}

/// Values on which an instruction with a side effect depends, indexed by value number.
struct Used(Vec<bool>);

impl Used {
    /// Computes the used values. Blocks are visited in postorder and instructions in reverse order, so a use is visited
    /// before its definition. The argument for a block parameter may be defined in a block that was visited before. The
    /// operands of this definition are therefore marked at once.
    fn find(kernel: &Kernel, flow: &Flow) -> Used {
        let mut used = Used(vec![false; kernel.values.len()]);
        let mut work = Vec::new();
        for block in flow.reverse_postorder().rev() {
            for &inst in kernel.blocks[block].insts.iter().rev() {
                let is_needed =
                    !kernel.insts[inst].op.is_pure() || kernel.result(inst).is_some_and(|result| used.contains(result));
                if is_needed {
                    kernel.args(inst).iter().for_each(|&arg| used.0[arg.index()] = true);
                }
            }
            for (number, _) in kernel.block_params(block).iter().enumerate().filter(|&(_, &param)| used.contains(param))
            {
                work.extend(passed(kernel, flow, block, number));
            }
            while let Some(value) = work.pop() {
                if std::mem::replace(&mut used.0[value.index()], true) {
                    continue;
                }
                match kernel.values[value].def {
                    ValueDef::Param(_) | ValueDef::Array(_) => {}
                    ValueDef::Result(inst) => work.extend(kernel.args(inst)),
                    ValueDef::BlockParam(block, number) => work.extend(passed(kernel, flow, block, number as usize)),
                }
            }
        }
        used
    }

    fn contains(&self, value: Value) -> bool {
        self.0.get(value.index()) == Some(&true)
    }
}

/// Returns the arguments that the branches of reachable predecessors pass for parameter `number` of a block.
fn passed<'k>(kernel: &'k Kernel, flow: &'k Flow, block: Block, number: usize) -> impl Iterator<Item = Value> + 'k {
    let from = flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from));
    let calls = from.filter_map(|&from| kernel.terminator(from)).flat_map(|inst| kernel.targets(inst));
    calls.filter(move |call| call.block == block).filter_map(move |call| kernel.call_args(call).get(number).copied())
}

/// Removes the arguments that a block's branch passes for parameters that are not kept. Returns
/// `true` if it removed any.
fn drop_arguments(kernel: &mut Kernel, block: Block, is_kept: &dyn Fn(Value) -> bool) -> bool {
    let Some(inst) = kernel.terminator(block) else { return false };
    let Attr::Targets(range) = kernel.insts[inst].attr else { return false };
    let mut changed = false;
    for number in 0..kernel.calls(range).len() {
        let Some(&call) = kernel.calls(range).get(number) else { continue };
        let params = kernel.block_params(call.block);
        if params.iter().all(|&param| is_kept(param)) {
            continue;
        }
        let args = kernel.call_args(&call).iter().zip(params);
        let args: Vec<Value> = args.filter(|&(_, &param)| is_kept(param)).map(|(&arg, _)| arg).collect();
        let args = ValueList::from_slice(&args, &mut kernel.pool);
        if let Some(call) = kernel.calls_mut(range).get_mut(number) {
            call.args = args;
        }
        changed = true;
    }
    changed
}

fn drop_parameters(kernel: &mut Kernel, block: Block, is_kept: &dyn Fn(Value) -> bool) -> bool {
    let params = kernel.block_params(block);
    if params.iter().all(|&param| is_kept(param)) {
        return false;
    }
    let params: Vec<Value> = params.iter().copied().filter(|&param| is_kept(param)).collect();
    for (number, &param) in params.iter().enumerate() {
        kernel.values[param].def = ValueDef::BlockParam(block, number as u32);
    }
    kernel.blocks[block].params = ValueList::from_slice(&params, &mut kernel.pool);
    true
}

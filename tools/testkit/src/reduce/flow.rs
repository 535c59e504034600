//! Reduction of control flow: simplified branches, and values that replace block parameters.

use halfbyte_ir::{Attr, Block, BlockCall, Inst, Kernel, Op, Value};

use super::draft::Draft;
use super::tidy::{go_to, incoming, replace_block_param};
use super::{Case, Reducer};

/// Tries to replace each branch by a return or by a jump to one of its targets, and to remove the cases of switches.
pub(super) fn branches(reducer: &mut Reducer<'_>) {
    let mut number = 0;
    while let Some(inst) = end(&reducer.best, number) {
        let targets = reducer.best.kernel().targets(inst).len();
        // After a successful change, the same block is tried again.
        let is_changed = reducer.accepts(|draft| stop(draft, inst))
            || targets > 1
                && (0..targets).any(|target| reducer.accepts(|draft| go_to(&mut draft.kernel, inst, target)))
            || (1..targets).any(|target| reducer.accepts(|draft| without_case(&mut draft.kernel, inst, target)));
        if reducer.is_over() {
            return;
        }
        number += usize::from(!is_changed);
    }
}

/// Returns the terminator of the block at a position in the block order.
fn end(case: &Case, number: usize) -> Option<Inst> {
    let kernel = case.kernel();
    kernel.terminator(*kernel.layout.get(number)?)
}

/// Replaces a branch by a return.
fn stop(draft: &mut Draft, inst: Inst) -> Option<()> {
    let kernel = &mut draft.kernel;
    let data = &mut kernel.insts[inst];
    if data.op == Op::Ret {
        return None;
    }
    data.args.clear(&mut kernel.pool);
    (data.op, data.attr) = (Op::Ret, Attr::None);
    Some(())
}

fn without_case(kernel: &mut Kernel, inst: Inst, case: usize) -> Option<()> {
    if kernel.insts[inst].op != Op::Switch {
        return None;
    }
    let mut calls: Vec<BlockCall> = kernel.targets(inst).to_vec();
    calls.remove(case);
    let attr = Attr::Targets(kernel.add_calls(&calls));
    kernel.insts[inst].attr = attr;
    Some(())
}

/// Tries to replace each block parameter by one of the values that branches pass for it, or by zero.
pub(super) fn block_params(reducer: &mut Reducer<'_>) {
    let mut number = 0;
    while let Some((block, param, value)) = block_param(&reducer.best, number) {
        let mut given: Vec<Value> = incoming(reducer.best.kernel(), block, param).collect();
        given.dedup();
        given.retain(|&other| other != value);
        let is_changed = given.into_iter().any(|with| {
            reducer.accepts(|draft| {
                replace_block_param(&mut draft.kernel, block, param, value, with);
                Some(())
            })
        }) || reducer.accepts(|draft| {
            let zero = draft.zero(draft.kernel.ty(value))?;
            replace_block_param(&mut draft.kernel, block, param, value, zero);
            Some(())
        });
        if reducer.is_over() {
            return;
        }
        number += usize::from(!is_changed);
    }
}

/// Returns the block parameter at an index among the parameters of all blocks: its block, its
/// position among the block's parameters, and its value.
fn block_param(case: &Case, number: usize) -> Option<(Block, usize, Value)> {
    let kernel = case.kernel();
    let of = |&block: &Block| {
        let params = kernel.block_params(block).iter().enumerate();
        params.map(move |(param, &value)| (block, param, value))
    };
    kernel.layout.iter().flat_map(of).nth(number)
}

//! Constant folding: replaces an op on constants by the constant that the evaluator computes, and a
//! branch on a constant by an unconditional branch.
//!
//! The pass calls the functions of the evaluator, so folding and evaluation always agree. A load from a buffer whose
//! contents the kernel declares is a constant, too, if its address is known.

use halfbyte_ir::{Attr, Inst, Kernel, Op, ParamKind, Type, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::rewrite::{constant_lanes, constant_result, has_constants_alone};
use crate::trace::{ChangeKind, Report};

/// The `fold` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "fold",
    description: "folds constant expressions and constant branches",
    order: &[(Order::Before("legalise"), "it would fold an expansion back into the op that the target lacks")],
    run,
};

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    // A kernel without constants has nothing to fold.
    let has_contents = kernel.params.iter().any(|param| param.contents.is_some());
    if !has_contents && !kernel.insts.values().any(|data| data.op == Op::Const) {
        return false;
    }
    let mut changed = false;
    let flow = context.flow(kernel);
    let mut poll = context.poll();
    for block in flow.reverse_postorder() {
        for at in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(at) else { continue };
            if poll.is_stopped() {
                return true;
            }
            let mut before = context.trace.before(kernel, inst);
            if fold(kernel, inst) {
                changed = true;
                context.trace.changed(
                    &mut before,
                    ChangeKind::Told("folded: its operands are constants"),
                    kernel,
                    inst,
                );
            }
        }
    }
    if !changed {
        context.keep_flow(flow);
    }
    changed
}

/// Replaces an instruction by its result if all its operands are constants. Most instructions have
/// other operands, so the operands are tested first.
#[inline]
pub(super) fn fold(kernel: &mut Kernel, inst: Inst) -> bool {
    (has_constants_alone(kernel, inst) && fold_constants(kernel, inst)) || fold_load(kernel, inst)
}

/// Replaces an instruction by a constant.
fn become_constant(kernel: &mut Kernel, inst: Inst, (ty, bits): (Type, [u64; 8])) -> bool {
    let attr = kernel.const_attr(ty, bits);
    let data = &mut kernel.insts[inst];
    (data.op, data.ty, data.attr, data.args) = (Op::Const, ty, attr, ValueList::new());
    true
}

/// Replaces a load at a constant offset of a buffer with declared contents by a constant.
fn fold_load(kernel: &mut Kernel, inst: Inst) -> bool {
    kernel.insts[inst].op == Op::Load
        && loaded(kernel, inst).is_some_and(|constant| become_constant(kernel, inst, constant))
}

/// Returns the type and the bits that a load reads from declared contents. Returns `None` for an
/// access that traps or that has an index.
fn loaded(kernel: &Kernel, inst: Inst) -> Option<(Type, [u64; 8])> {
    let (Attr::Mem(mem), &[base]) = (kernel.insts[inst].attr, kernel.args(inst)) else { return None };
    let ty = kernel.ty(kernel.result(inst)?);
    let param = kernel.param(base)?;
    let ParamKind::Buffer { align, .. } = param.kind else { return None };
    let contents = param.contents.as_ref().filter(|_| mem.align <= align)?;
    let start = usize::try_from(mem.offset).ok().filter(|start| start % mem.align.max(1) as usize == 0)?;
    let bytes = contents.get(start..start.checked_add(ty.bits() as usize / 8)?)?;
    let mut words = [0; 8];
    for (at, &byte) in bytes.iter().enumerate() {
        *words.get_mut(at / 8)? |= u64::from(byte) << (8 * (at % 8));
    }
    (!bytes.is_empty()).then_some((ty, words))
}

/// Folds an instruction whose operands are all constants.
fn fold_constants(kernel: &mut Kernel, inst: Inst) -> bool {
    if let Some(constant) = constant_result(kernel, inst) {
        return become_constant(kernel, inst, constant);
    }
    match taken(kernel, inst) {
        Some(target) => {
            make_unconditional(kernel, inst, target);
            true
        }
        None => false,
    }
}

/// Returns the index of the target that a branch on a constant condition takes.
fn taken(kernel: &Kernel, inst: Inst) -> Option<usize> {
    let op = kernel.insts[inst].op;
    if !matches!(op, Op::BrIf | Op::Switch) {
        return None;
    }
    let &[on] = kernel.args(inst) else { return None };
    let (_, lanes) = constant_lanes(kernel, on)?;
    let value = lanes.first().copied()?;
    match op {
        Op::BrIf => Some(usize::from(value == 0)),
        _ => {
            let cases = kernel.targets(inst).iter().skip(1);
            Some(cases.clone().position(|case| u64::from(case.case) == value).map_or(0, |case| case + 1))
        }
    }
}

/// Replaces a branch by an unconditional branch to one of its targets.
pub(super) fn make_unconditional(kernel: &mut Kernel, inst: Inst, target: usize) {
    let Some(&call) = kernel.targets(inst).get(target) else { return };
    let calls = kernel.add_calls(&[call]);
    let data = &mut kernel.insts[inst];
    (data.op, data.ty, data.attr, data.args) = (Op::Br, Type::I32, Attr::Targets(calls), ValueList::new());
}

//! Contraction: fuses a product and a sum or difference into one op that rounds once.
//!
//! Contraction is part of the semantics (docs/ir.md, `contract`): it depends on the ops that define the operands in the
//! source. Other passes may change these ops, so this pass runs first. It leaves no op with the modifier `contract`.

use halfbyte_ir::{Attr, Clamp, FloatFlags, Inst, Kernel, Op, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report};

/// The `contract` pass.
pub(crate) const PASS: BuiltIn = BuiltIn {
    name: "contract",
    description: "fuses a sum and a product operand into one op, if both have `contract`",
    order: &[(Order::First, "the source defines which sum and product fuse, and other passes change operands")],
    run,
};

/// Returns `true` if an op of the kernel has the modifier `contract`.
pub(crate) fn is_needed(kernel: &Kernel) -> bool {
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    insts.any(|&inst| contracting(kernel, inst).is_some())
}

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    if !is_needed(kernel) {
        return false;
    }
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            fuse(kernel, inst, &mut kept, context);
            kept.push(inst);
        }
        kernel.blocks[block].insts = kept;
    }
    // The modifiers are removed last, because a sum in a later block may still fuse a product of this block.
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        for number in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            let Some(flags) = contracting(kernel, inst) else { continue };
            let mut before = context.trace.before(kernel, inst);
            kernel.insts[inst].attr = Attr::Float(FloatFlags { contract: false, ..flags });
            context.trace.changed(
                &mut before,
                ChangeKind::Told("`contract` removed: the op was not fused"),
                kernel,
                inst,
            );
        }
    }
    true
}

/// Returns the modifiers of an op that has `contract`; `None` for all other ops.
fn contracting(kernel: &Kernel, inst: Inst) -> Option<FloatFlags> {
    let data = &kernel.insts[inst];
    match (data.op, data.attr) {
        (Op::Fadd | Op::Fsub | Op::Fmul, Attr::Float(flags)) if flags.contract => Some(flags),
        _ => None,
    }
}

/// Returns the factors of a product, if a sum with the modifiers `flags` may fuse the product.
fn factors(kernel: &Kernel, ty: Type, flags: FloatFlags, value: Value) -> Option<(Value, Value)> {
    let product = kernel.def_inst(value)?;
    let its = contracting(kernel, product)?;
    let data = &kernel.insts[product];
    let wanted = FloatFlags { clamp: Clamp::None, ..flags };
    match *kernel.args(product) {
        [x, y] if data.op == Op::Fmul && data.ty == ty && its == wanted => Some((x, y)),
        _ => None,
    }
}

/// Replaces a sum or difference of a product by `ffma`. If a sign must change, adds an `fneg`.
fn fuse(kernel: &mut Kernel, inst: Inst, before: &mut Vec<Inst>, context: &mut Context<'_>) {
    let data = kernel.insts[inst];
    let Some(flags) = contracting(kernel, inst).filter(|_| data.op != Op::Fmul) else { return };
    let &[a, b] = kernel.args(inst) else { return };
    let mut negated = |kernel: &mut Kernel, value: Value| {
        if data.op != Op::Fsub {
            return value;
        }
        let fneg = kernel.make_inst(Op::Fneg, data.ty, Attr::None, &[value], Some(data.ty), data.span);
        before.push(fneg);
        kernel.result(fneg).unwrap_or(value)
    };
    let mut text = context.trace.before(kernel, inst);
    let args = if let Some((x, y)) = factors(kernel, data.ty, flags, a) {
        [x, y, negated(kernel, b)]
    } else if let Some((x, y)) = factors(kernel, data.ty, flags, b) {
        [negated(kernel, x), y, a]
    } else {
        return;
    };
    let args = ValueList::from_slice(&args, &mut kernel.pool);
    let data = &mut kernel.insts[inst];
    (data.op, data.args) = (Op::Ffma, args);
    data.attr = Attr::Float(FloatFlags { contract: false, ..flags });
    context.trace.changed(&mut text, ChangeKind::Told("fused with a product, as `contract` allows"), kernel, inst);
}

//! Contraction: a sum or difference and a product that is its operand become one op, which rounds once.
//!
//! Which ones do is a matter of meaning, not of taste (docs/ir.md, `contract`), and depends on what defines an operand in the
//! text. Other passes change that. So this one comes before them, and leaves no op that says `contract`.

use halfbyte_ir::{Attr, Clamp, FloatFlags, Inst, Kernel, Op, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{How, Tell};

/// The pass.
pub const PASS: BuiltIn = BuiltIn {
    name: "contract",
    description: "makes sums and the products in them one op, where both say `contract`",
    order: &[(
        Order::First,
        "which sum takes which product is said by the text, and other passes change what defines an operand",
    )],
    run,
};

/// Whether some op says `contract`.
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
    // Only now: a product's modifier counts for the sums of all blocks.
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        for number in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            let Some(flags) = contracting(kernel, inst) else { continue };
            let mut before = context.trace.before(kernel, inst);
            kernel.insts[inst].attr = Attr::Float(FloatFlags { contract: false, ..flags });
            context.trace.changed(
                &mut before,
                How::Told("as it is without `contract`, which has no more to say"),
                kernel,
                inst,
            );
        }
    }
    true
}

/// The modifiers of an op that says `contract`.
fn contracting(kernel: &Kernel, inst: Inst) -> Option<FloatFlags> {
    let data = &kernel.insts[inst];
    match (data.op, data.attr) {
        (Op::Fadd | Op::Fsub | Op::Fmul, Attr::Float(flags)) if flags.contract => Some(flags),
        _ => None,
    }
}

/// The factors of a product that a sum with these modifiers is computed with.
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

/// Makes a sum or difference the `ffma` that it stands for. A sign that this takes is changed by an instruction of its own.
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
    context.trace.changed(
        &mut text,
        How::Told("computed with a product in one rounding, as `contract` allows"),
        kernel,
        inst,
    );
}

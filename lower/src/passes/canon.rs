//! Canonicalisation and algebraic simplification.
//!
//! Canonical forms reduce the number of patterns that later passes and instruction selection have to match:
//!
//! * a constant is the right operand of a commutative op or a comparison;
//! * a constant index of an access is added to the offset of the access;
//! * a branch condition is no complement;
//! * a branch with equal targets is unconditional.
//!
//! The pass also applies the rules of `simplify.isle`, `idioms.isle`, `ranges.isle` and `word_lanes.isle`. It applies
//! them to the results of earlier rules, too.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Attr, Block, Inst, Kernel, KnownValues, MemAttr, Op, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::{fold, resolve};
use crate::rewrite::Rewriter;
use crate::trace::{ChangeKind, Report};

/// The `canon` pass.
pub(crate) const PASS: BuiltIn = BuiltIn {
    name: "canon",
    description: "canonicalises instructions and branches and applies the rules of `simplify.isle`, `idioms.isle`, `ranges.isle` and `word_lanes.isle`",
    order: &[(Order::Before("legalise"), "its rules would restore the op that the target lacks")],
    run,
};

/// Maximum number of rules applied to one instruction and its replacements. The rules contain no
/// cycle; this limit is a safeguard.
const FUEL: u32 = 64;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let mut changed = false;
    let mut is_replaced = false;
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let flow = context.flow(kernel);
    let mut keeps_flow = true;
    let mut rewriter =
        Rewriter::new(kernel, &context.books).with_known(KnownValues::new(&flow, context.legality.block()));
    let mut work = Vec::new();
    let mut kept = Vec::new();
    let mut poll = context.poll();
    for block in flow.reverse_postorder() {
        let end = terminator_targets(rewriter.kernel(), block);
        let mut insts = std::mem::take(&mut rewriter.kernel_mut().blocks[block].insts);
        kept.reserve(insts.len());
        for inst in insts.drain(..) {
            if poll.is_stopped() {
                return true;
            }
            let mut fuel = FUEL;
            work.push(inst);
            while let Some(inst) = work.pop() {
                if is_replaced {
                    resolve(rewriter.kernel_mut(), inst, &replaced);
                }
                let mut before = context.trace.before(rewriter.kernel(), inst);
                if order(rewriter.kernel_mut(), inst) {
                    changed = true;
                    context.trace.changed(
                        &mut before,
                        ChangeKind::Told("operands swapped to move the constant to the right"),
                        rewriter.kernel(),
                        inst,
                    );
                }
                if offset(rewriter.kernel_mut(), inst) {
                    changed = true;
                    context.trace.changed(
                        &mut before,
                        ChangeKind::Told("constant index folded into the offset"),
                        rewriter.kernel(),
                        inst,
                    );
                }
                if fold::fold(rewriter.kernel_mut(), inst) {
                    changed = true;
                    context.trace.changed(
                        &mut before,
                        ChangeKind::Told("folded: its operands are constants"),
                        rewriter.kernel(),
                        inst,
                    );
                }
                let result = rewriter.kernel().result(inst);
                let simpler = result.filter(|_| fuel > 0).and_then(|_| rewriter.simplify(inst));
                match (result, simpler) {
                    (Some(result), Some(simpler)) => {
                        fuel -= 1;
                        changed = true;
                        context.record(rewriter.fired());
                        if !std::mem::replace(&mut is_replaced, true) {
                            replaced.resize(rewriter.kernel().values.len());
                        }
                        replaced[result] = simpler.into();
                        rewriter.kernel_mut().inherit_value_name(simpler, result);
                        let made = rewriter.take_made();
                        let rule = rewriter.fired().first().copied().unwrap_or(0);
                        context.trace.replaced(before, ChangeKind::Rule(rule), rewriter.kernel(), &made, Some(simpler));
                        work.extend(made.into_iter().rev());
                    }
                    _ => {
                        context.trace.kept(&mut rewriter, inst);
                        kept.push(inst);
                    }
                }
            }
        }
        if let Some(&last) = kept.last() {
            changed |= branch(rewriter.kernel_mut(), last);
        }
        // The next block reuses the allocation of this block's old instruction list.
        rewriter.kernel_mut().blocks[block].insts = std::mem::replace(&mut kept, insts);
        keeps_flow &= terminator_targets(rewriter.kernel(), block) == end;
    }
    if is_replaced {
        kernel.replace_uses(&replaced);
    }
    if keeps_flow {
        context.keep_flow(flow);
    }
    changed
}

/// Returns the attribute with the targets of a block's terminator.
fn terminator_targets(kernel: &Kernel, block: Block) -> Option<Attr> {
    kernel.terminator(block).map(|inst| kernel.insts[inst].attr)
}

/// Makes a constant the right operand of a commutative op or a comparison.
fn order(kernel: &mut Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let swapped = match data.attr {
        attr if data.op.row().commutes(data.ty) => attr,
        Attr::IntCC(cc) => Attr::IntCC(cc.swapped()),
        Attr::FloatCC { cc, ftz } => Attr::FloatCC { cc: cc.swapped(), ftz },
        _ => return false,
    };
    let is_const = |value: Value| kernel.def_inst(value).is_some_and(|def| kernel.insts[def].op == Op::Const);
    let &[a, b, ..] = kernel.args(inst) else { return false };
    if !is_const(a) || is_const(b) {
        return false;
    }
    let mut args = data.args;
    if let [x, y, ..] = args.as_mut_slice(&mut kernel.pool) {
        std::mem::swap(x, y);
    }
    kernel.insts[inst].attr = swapped;
    true
}

/// Adds a constant index to the offset of the access, if the offset field can hold the sum.
fn offset(kernel: &mut Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    let Attr::Mem(mem) = data.attr else { return false };
    let Some((&index, others)) = kernel.args(inst).split_last() else { return false };
    // Apart from the optional index, a load has one operand, the base. A store has two, the value and the base.
    if others.len() < data.op.row().args.len() {
        return false;
    }
    let Some([index, ..]) = kernel.def_inst(index).and_then(|def| kernel.const_bits(def)) else { return false };
    let Ok(bytes) = u32::try_from(mem.scaled(index as u32)) else { return false };
    let Some(offset) = mem.offset.checked_add_unsigned(bytes) else { return false };
    let others: Vec<Value> = others.to_vec();
    let args = ValueList::from_slice(&others, &mut kernel.pool);
    let data = &mut kernel.insts[inst];
    (data.attr, data.args) = (Attr::Mem(MemAttr { offset, wide: false, ..mem }), args);
    true
}

/// Removes a complement from a branch condition, and makes a branch with equal targets unconditional.
fn branch(kernel: &mut Kernel, inst: Inst) -> bool {
    let targets = kernel.targets(inst);
    if targets.len() > 1 {
        let arrives = |i: usize| targets.get(i).map(|call| (call.block, kernel.call_args(call)));
        if (1..targets.len()).all(|i| arrives(i) == arrives(0)) {
            fold::make_unconditional(kernel, inst, 0);
            return true;
        }
    } else if kernel.insts[inst].op == Op::Switch {
        fold::make_unconditional(kernel, inst, 0);
        return true;
    }
    let mut changed = false;
    while let Some(condition) = complemented(kernel, inst) {
        let &[then, otherwise] = kernel.targets(inst) else { break };
        let calls = kernel.add_calls(&[otherwise, then]);
        let args = ValueList::from_slice(&[condition], &mut kernel.pool);
        let data = &mut kernel.insts[inst];
        (data.attr, data.args) = (Attr::Targets(calls), args);
        changed = true;
    }
    changed
}

/// Returns `x` if the condition of a branch is the complement of `x`.
fn complemented(kernel: &Kernel, inst: Inst) -> Option<Value> {
    let &[condition] = kernel.args(inst) else { return None };
    let def = kernel.def_inst(condition)?;
    let is = |inst: Inst, op| kernel.insts[inst].op == op && kernel.ty(condition) == Type::I1;
    if !is(inst, Op::BrIf) || !is(def, Op::Not) {
        return None;
    }
    kernel.args(def).first().copied()
}

//! Removal of ops: first in large groups, then one by one, with a replacement for each result.

use std::collections::HashSet;
use std::ops::Range;

use halfbyte_abi::Watchdog;
use halfbyte_ir::{Attr, Direction, Inst, Kernel, Op, ParamKind, Span, Type, Value, ValueDef, ValueList};

use super::Reducer;
use super::draft::{Draft, Replaced, straight};
use crate::trial::Launch;
use halfbyte::launch::{Evaluation, evaluate};

/// Maximum number of other values of the kernel that are tried as the replacement of a result.
const OTHERS: usize = 8;

/// Tries to remove half of the ops at once, then a quarter, and so on. The result of a removed op
/// is replaced by an operand of the same type, or by zero.
pub(super) fn in_chunks(reducer: &mut Reducer<'_>) {
    reducer.in_parts(2, |case| straight(case.kernel()).len(), leave_out);
}

fn leave_out(draft: &mut Draft, range: Range<usize>) -> Option<()> {
    let mut with = Replaced::new();
    let mut gone = HashSet::new();
    for (_, inst) in straight(&draft.kernel).get(range)?.iter().copied() {
        // Constants are skipped here, because `tidy` removes the unused ones.
        if draft.kernel.insts[inst].op == Op::Const {
            continue;
        }
        if let Some(value) = draft.kernel.result(inst) {
            let operand = operands(&draft.kernel, inst).next();
            let ty = draft.kernel.ty(value);
            let Some(other) = operand.or_else(|| draft.zero(ty)) else { continue };
            with[value] = other.into();
        }
        gone.insert(inst);
    }
    draft.kernel.replace_uses(&with);
    draft.remove(|inst| gone.contains(&inst));
    (!gone.is_empty()).then_some(())
}

/// Returns the operands of an instruction that have the type of its result.
fn operands(kernel: &Kernel, inst: Inst) -> impl Iterator<Item = Value> + '_ {
    let ty = kernel.result(inst).map(|value| kernel.ty(value));
    kernel.args(inst).iter().copied().filter(move |&arg| Some(kernel.ty(arg)) == ty)
}

/// Tries to remove each op alone, from the last to the first.
pub(super) fn one_by_one(reducer: &mut Reducer<'_>) {
    let mut left = usize::MAX;
    while left > 0 && !reducer.is_over() {
        let ops = straight(reducer.best.kernel());
        left = left.min(ops.len()).saturating_sub(1);
        let Some(&(_, inst)) = ops.get(left) else { return };
        one(reducer, inst);
    }
}

/// Tries to remove an instruction, with several replacements for its result.
fn one(reducer: &mut Reducer<'_>, inst: Inst) {
    let kernel = reducer.best.kernel();
    let Some(value) = kernel.result(inst) else {
        reducer.accepts(|draft| {
            draft.remove(|other| other == inst);
            Some(())
        });
        return;
    };
    let mut others: Vec<Value> = operands(kernel, inst).collect();
    others.dedup();
    others.extend(alike(kernel, inst).filter(|other| !others.contains(other)).take(OTHERS).collect::<Vec<_>>());
    let is_constant = kernel.insts[inst].op == Op::Const;
    let ty = kernel.ty(value);
    let watchdog = reducer.watchdog();
    let _ = !is_constant && reducer.accepts(|draft| with_zero(draft, inst, ty))
        || others.into_iter().any(|other| reducer.accepts(|draft| replace(draft, inst, other)))
        || !is_constant && reducer.accepts(|draft| read(draft, inst, &watchdog));
}

fn with_zero(draft: &mut Draft, inst: Inst, ty: Type) -> Option<()> {
    let zero = draft.zero(ty)?;
    replace(draft, inst, zero)
}

fn replace(draft: &mut Draft, inst: Inst, other: Value) -> Option<()> {
    let mut with = Replaced::new();
    with[draft.kernel.result(inst)?] = other.into();
    draft.kernel.replace_uses(&with);
    draft.remove(|gone| gone == inst);
    Some(())
}

/// Returns the values that are defined before an instruction and have the type of its result.
/// Parameters come first, then loads and constants.
fn alike(kernel: &Kernel, inst: Inst) -> impl Iterator<Item = Value> + '_ {
    let ty = kernel.result(inst).map(|value| kernel.ty(value));
    let before = straight(kernel).into_iter().map(|(_, other)| other).take_while(move |&other| other != inst);
    let (loaded, computed): (Vec<Inst>, Vec<Inst>) =
        before.partition(|&other| matches!(kernel.insts[other].op, Op::Load | Op::Const));
    let results = loaded.into_iter().chain(computed).filter_map(|other| kernel.result(other));
    kernel.params.iter().map(|param| param.value).chain(results).filter(move |&other| Some(kernel.ty(other)) == ty)
}

/// Replaces an op by a load from a new buffer, which holds the results that the op has on the evaluator.
fn read(draft: &mut Draft, inst: Inst, watchdog: &Watchdog) -> Option<()> {
    let ty = draft.kernel.insts[inst].result.expand().map(|value| draft.kernel.ty(value))?;
    if ty == Type::PTR || draft.kernel.packing.is_some() {
        return None;
    }
    let observed = observed(draft, inst, ty, watchdog)?;
    let item = draft.item_id()?;
    let kernel = &mut draft.kernel;
    let elem = ParamKind::Buffer { direction: Direction::In, elem: ty, align: ty.bytes(), may_alias: false };
    let buffer = add_buffer(kernel, fresh(kernel), elem);
    let attr = Attr::Mem(kernel.default_mem(buffer, ty));
    let mut args = ValueList::from_slice(&[buffer, item], &mut kernel.pool);
    std::mem::swap(&mut kernel.insts[inst].args, &mut args);
    let data = &mut kernel.insts[inst];
    (data.op, data.ty, data.attr) = (Op::Load, ty, attr);
    draft.launch.args.push(observed);
    Some(())
}

/// Returns the results of an instruction on the evaluator: for each work item, the last result that the item computes.
fn observed(draft: &Draft, inst: Inst, ty: Type, watchdog: &Watchdog) -> Option<Vec<u8>> {
    let size = u64::from(ty.bytes()) * u64::from(draft.launch.shape.items().ok()?);
    if size > watchdog.limits().buffer_bytes {
        return None;
    }
    let mut watched = Draft { kernel: draft.kernel.clone(), launch: draft.launch.clone() };
    let item = watched.item_id()?;
    let kernel = &mut watched.kernel;
    let elem = ParamKind::Buffer { direction: Direction::Out, elem: ty, align: ty.bytes(), may_alias: false };
    let buffer = add_buffer(kernel, "observed".to_owned(), elem);
    let attr = Attr::Mem(kernel.default_mem(buffer, ty));
    let value = kernel.result(inst)?;
    let store = kernel.make_inst(Op::Store, ty, attr, &[value, buffer, item], None, Span::default());
    let block = kernel.layout.iter().copied().find(|&block| kernel.blocks[block].insts.contains(&inst))?;
    let insts = &mut kernel.blocks[block].insts;
    let place = insts.iter().position(|&other| other == inst)?;
    insts.insert(place + 1, store);
    watched.launch.args.push(vec![0; size as usize]);
    let Launch { shape, args, aliases } = &mut watched.launch;
    let how = Evaluation { watchdog: Some(watchdog), aliases, ..Evaluation::from(*shape) };
    evaluate(kernel, how, args).ok()?;
    args.pop()
}

/// Adds a buffer parameter to a kernel, and returns its value. The caller appends the argument to the launch.
fn add_buffer(kernel: &mut Kernel, name: String, kind: ParamKind) -> Value {
    let value = kernel.add_param(name, kind, Span::default());
    let given = kernel.given_params().len();
    if let Some(param) = kernel.params.pop() {
        kernel.params.insert(given.min(kernel.params.len()), param);
    }
    for (number, param) in kernel.params.iter().enumerate() {
        kernel.values[param.value].def = ValueDef::Param(number as u32);
    }
    value
}

/// Returns a value name that the kernel does not use.
fn fresh(kernel: &Kernel) -> String {
    let taken: HashSet<&str> = kernel.values.keys().filter_map(|value| kernel.value_name(value)).collect();
    let names = std::iter::once("x".to_owned()).chain((1..).map(|number| format!("x{number}")));
    names.filter(|name| !taken.contains(name.as_str())).take(1).collect()
}

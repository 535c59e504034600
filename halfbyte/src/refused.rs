//! Conversion of errors about unsupported ops, so that they name the ops of the source text. Passes replace the ops of
//! the source, and may expand one op into several ops. Errors about the resulting ops are mapped back to the source op
//! and deduplicated.

use std::collections::{HashMap, HashSet};

use halfbyte_abi::Target;
use halfbyte_ir::{Kernel, Op, Reason, Span, Type};

use crate::error::{CompileError, Refused};
use crate::targets::TargetSet;

/// The ops of a source kernel, keyed by span.
type OpsBySpan = HashMap<Span, Vec<(Op, Type)>>;

/// Rewrites errors about unsupported ops so that each names the source op at its span, once for each op. An error
/// without help gets help that names the targets that support the op. All other errors are returned unchanged.
pub(crate) fn as_written(error: CompileError, kernels: &[Kernel], targets: &TargetSet, target: Target) -> CompileError {
    let CompileError::Refused(mut refused) = error else { return error };
    let mut written: HashMap<&str, OpsBySpan> = HashMap::new();
    for Refused { at, refusal } in &mut refused {
        let Some(found) = refusal.op else { continue };
        if refusal.span != Span::default()
            && let Some(kernel) = kernels.iter().find(|kernel| kernel.name == at.kernel)
        {
            let ops = written.entry(&kernel.name).or_insert_with(|| ops(kernel)).get(&refusal.span);
            // If several ops of the source have the same span, the unsupported one is not known.
            if let Some(&[op]) = ops.map(Vec::as_slice)
                && op != found
            {
                refusal.op = Some(op);
                refusal.reason = refusal.reason.take().or_else(|| targets.legality(target).reason(op.0, op.1));
                refusal.reason.get_or_insert_with(|| {
                    Reason::from(format!("lowering needs {}, which {} does not support", name(found), refusal.target))
                });
            }
        }
        if refusal.reason.as_ref().is_none_or(|reason| reason.help.is_none())
            && let Some(op) = refusal.op
        {
            let reason = refusal.reason.take().unwrap_or_else(|| Reason::new("the target has no such instruction"));
            refusal.reason = Some(reason.help(supporting_targets_help(targets, target, op)));
        }
    }
    let mut seen = HashSet::with_capacity(refused.len());
    refused.retain(|Refused { at, refusal }| {
        let reason = (refusal.span == Span::default()).then(|| refusal.reason.clone());
        seen.insert((at.kernel.clone(), refusal.span, refusal.op, reason))
    });
    CompileError::Refused(refused)
}

fn ops(kernel: &Kernel) -> OpsBySpan {
    let mut written = OpsBySpan::new();
    for &inst in kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts) {
        if let Some(data) = kernel.insts.get(inst) {
            let here = written.entry(data.span).or_default();
            if !here.contains(&(data.op, data.ty)) {
                here.push((data.op, data.ty));
            }
        }
    }
    written
}

/// Returns help that names the targets, except `target`, that support an op natively.
fn supporting_targets_help(targets: &TargetSet, target: Target, (op, ty): (Op, Type)) -> String {
    let others = targets.defaults().filter(|other| other.name() != target.name());
    let having = others.filter(|&other| targets.legality(other).is_native(op, ty));
    let names: Vec<String> = having.map(|other| format!("`--target {}`", other.name())).collect();
    match names.is_empty() {
        true => format!("replace {} by other ops: see `docs/ir.md` for the list", name((op, ty))),
        false => format!("{} supports it", names.join(" or ")),
    }
}

fn name((op, ty): (Op, Type)) -> String {
    match op.row().types {
        Some(_) => format!("`{}.{ty}`", op.name()),
        None => format!("`{}`", op.name()),
    }
}

//! Intrinsics: what is the same for all targets whose instructions a kernel may name.

use std::fmt::Display;

use halfbyte_ir::{Attr, Inst, IntrinsicData, Kernel, Reason};

use crate::{Refusal, reasons};

const TEXTS: &str =
    "`halfbyte isa NAME` shows how an instruction is written; `$d` is the result, `$0`, `$1`, .. the operands";

/// The text of an intrinsic, where it is one of this target.
pub(crate) fn text_for<'d>(data: &'d IntrinsicData, target: &str) -> Result<&'d str, Reason> {
    if data.target == target { Ok(&data.text) } else { Err(reasons::of_another(&data.target)) }
}

/// What is wrong with a text.
pub(crate) fn wrong(error: impl Display) -> Reason {
    Reason::from(error.to_string()).help(TEXTS)
}

/// The intrinsics that are no instructions of a target, used or not, by what makes a template of one.
pub(crate) fn refused<T>(
    kernel: &Kernel,
    target: &'static str,
    template: impl Fn(&Kernel, Inst, &IntrinsicData) -> Result<T, Reason>,
) -> Vec<Refusal> {
    if kernel.intrinsics.is_empty() {
        return Vec::new();
    }
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let refused = insts.filter_map(|&inst| {
        let data = &kernel.insts[inst];
        let Attr::Intrinsic(text) = data.attr else { return None };
        let reason = template(kernel, inst, &kernel.intrinsics[text]).err()?;
        Some(Refusal { op: Some((data.op, data.ty)), span: data.span, target, reason: Some(reason) })
    });
    refused.collect()
}

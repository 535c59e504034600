//! Functions for intrinsics that all targets share. An intrinsic is an op that names instructions
//! of a target by their assembly text.

use std::fmt::Display;

use halfbyte_ir::{Attr, Inst, IntrinsicData, Kernel, Reason};

use crate::{Refusal, reasons};

const TEXTS: &str =
    "`halfbyte isa NAME` shows how an instruction is written; `$d` is the result, `$0`, `$1`, .. the operands";

/// Returns the assembly text of an intrinsic, or an error if the intrinsic is for another target.
pub(crate) fn text_for<'d>(data: &'d IntrinsicData, target: &str) -> Result<&'d str, Reason> {
    if data.target == target { Ok(&data.text) } else { Err(reasons::wrong_target(&data.target)) }
}

/// Returns the reason to refuse an intrinsic whose assembly text is malformed.
pub(crate) fn malformed_text(error: impl Display) -> Reason {
    Reason::from(error.to_string()).help(TEXTS)
}

/// Returns a refusal for each intrinsic of the kernel, used or unused, that is not an instruction
/// of the target. `template` parses the assembly text of an intrinsic.
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

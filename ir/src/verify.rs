//! Verifier for kernels, both parsed and built.

use crate::diag::Diagnostic;
use crate::kernel::Kernel;
use crate::span::Span;
use crate::text;
use crate::wellformed::{Finding, Partial, Subject, check};
pub use crate::wellformed::{MAX_ALIGN, MAX_CONTENTS, MAX_DIAGNOSTICS};

/// Checks that a kernel is well formed.
///
/// # Errors
/// All violations, at most [`MAX_DIAGNOSTICS`], each with the source span of its instruction. If
/// the kernel was not parsed from text, a note shows the instruction instead.
pub fn verify(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    let findings = check(kernel, &Partial::default());
    if findings.is_empty() {
        return Ok(());
    }
    let diagnose = |finding: Finding| {
        let span = match finding.place {
            Subject::Kernel => kernel.span,
            Subject::Groups => kernel.span,
            Subject::Param(number) => kernel.params.get(number).map_or(kernel.span, |param| param.span),
            Subject::Stream(number, _) => kernel.stream_span(number).unwrap_or(kernel.span),
            Subject::Array(number) => kernel.arrays.get(number).map_or(kernel.span, |array| array.span),
            Subject::Block(block) => kernel.blocks.get(block).map_or(kernel.span, |data| data.span),
            Subject::Inst(inst, _) => kernel.insts.get(inst).map_or(kernel.span, |data| data.span),
        };
        let diagnostic = finding.diagnostic(kernel, span);
        match finding.place {
            Subject::Inst(inst, _) if span == Span::default() => {
                let shown = text::print_inst(kernel, inst);
                diagnostic.note(None, format!("in `{shown}` of @{}", kernel.name))
            }
            Subject::Block(_) | Subject::Array(_) | Subject::Kernel | Subject::Groups | Subject::Stream(..)
                if span == Span::default() =>
            {
                diagnostic.note(None, format!("in @{}", kernel.name))
            }
            _ => diagnostic,
        }
    };
    Err(findings.into_iter().map(diagnose).collect())
}

//! Explanations of the code that the compiler generates for an op. An explanation contains the
//! changes of the op by the passes, the rules that selected its instructions, and the machine code.
//! An explanation also lists the rules that nearly matched, each with the first pattern or guard
//! that failed.
//!
//! The compiler's own rule methods evaluate the patterns, so an explanation cannot differ from the
//! compiled code.

pub(crate) mod choices;
mod explanation;
pub(crate) mod passes;
mod place;
pub(crate) mod render;
mod selection;
mod uses;

use std::collections::HashSet;

pub use explanation::{Change, Explanation, Merged, Missed, NearMiss, Outcome, ReplacementInst, RuleAt, Word};
use halfbyte::pipeline::Options;
use halfbyte::{Module, TARGETS};
use halfbyte_ir::diag::Lines;
use halfbyte_ir::rule::Found;
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Kernel, Span};
use halfbyte_isel::Refusal;
use halfbyte_lower::trace::Trace;
use halfbyte_lower::{Context, LowerError};
use place::Subject;
pub use render::Text;
use selection::{Failed, Selected};

/// A request for an explanation.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The subject: a value, `%r`, or the position of an op, `LINE` or `LINE:COLUMN`.
    pub at: &'a str,
    /// The kernel's name; required if several kernels have a value of the same name.
    pub kernel: Option<&'a str>,
    /// The compiler options.
    pub options: &'a Options,
}

/// The reason why there is no explanation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The named kernel does not exist.
    #[error("{file} has no kernel `@{name}`; it has {there}")]
    Kernel {
        /// The file.
        file: String,
        /// The requested name.
        name: String,
        /// The names of the kernels in the file.
        there: String,
    },
    /// The named value does not exist.
    #[error("there is no value `%{name}`{}; there are {there}", near.as_ref().map_or(String::new(), |near| format!(", did you mean `%{near}`?")))]
    Value {
        /// The requested name.
        name: String,
        /// The most similar name, if any.
        near: Option<String>,
        /// The names of the values in the kernel.
        there: String,
    },
    /// Several kernels have a value of this name.
    #[error("several kernels have a value `%{name}`: {there}; select one with --kernel")]
    Ambiguous {
        /// The value's name.
        name: String,
        /// The names of the kernels that have the value.
        there: String,
    },
    /// The requested position is not `LINE` or `LINE:COLUMN`.
    #[error("`{at}` is not a valid position; expected a value `%NAME`, `LINE` or `LINE:COLUMN`")]
    Place {
        /// The requested position.
        at: String,
    },
    /// There is no op at the requested position.
    #[error("there is no op at {at}{}", if text.is_empty() { String::new() } else { format!(": `{text}`") })]
    Nothing {
        /// The requested position.
        at: String,
        /// The text of the line.
        text: String,
    },
    /// There are several ops on the requested line.
    #[error("there are several ops on line {line}: {there}")]
    Several {
        /// The line number.
        line: usize,
        /// The ops on the line, with their positions.
        there: String,
    },
    /// The compiler has a defect.
    #[error("cannot compile @{kernel}: {reason}")]
    Defect {
        /// The kernel's name.
        kernel: String,
        /// The error that the compiler reported.
        reason: String,
    },
}

/// Explains an op of a module.
///
/// ```
/// use halfbyte::pipeline::Options;
/// use halfbyte::{HALU, Module};
/// use halfbyte_inspect::explain::{Question, Text, explain};
///
/// let module = Module::parse("kernel @k(%y: out i32) {
/// ^entry:
///   %i = item_id
///   %t = add.i32 %i, %i
///   store %t, %y[%i]
///   ret
/// }")?;
/// let options = Options::new(HALU);
/// let explanation = explain(&module, Question { at: "%t", kernel: None, options: &options })?;
/// let text = Text { explanation: &explanation, all: false }.to_string();
/// assert!(text.contains("IADD3"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the kernel, the value or the op does not exist, or if the compiler has a defect. If the
/// target refuses the kernel, the result is an explanation with the reasons.
pub fn explain(module: &Module, question: Question<'_>) -> Result<Explanation, ExplainError> {
    let (kernel, subject) = place::find(module, question.at, question.kernel)?;
    let target = question.options.target;
    let mut explanation = Explanation {
        op: String::new(),
        place: module.file().to_owned(),
        kernel: kernel.name.clone(),
        target,
        collective: None,
        history: Vec::new(),
        parts: Vec::new(),
        near: Vec::new(),
        refused: Vec::new(),
    };
    match subject {
        Subject::Op(inst) => {
            explanation.op = print_inst(kernel, inst);
            explanation.collective = kernel.insts[inst].op.party();
            let start = Lines::new(module.text()).position(kernel.insts[inst].span.start);
            explanation.place += &format!(":{}:{}", start.line, start.column);
        }
        Subject::Parameter(value) => explanation.op = Found::Value(value).text(kernel),
    }
    let refused = TARGETS.check_intrinsics(kernel, target);
    if !refused.is_empty() {
        explanation.refused = refused.iter().map(ToString::to_string).collect();
        return Ok(explanation);
    }
    let place = match subject {
        Subject::Op(inst) => kernel.insts[inst].span,
        // A parameter has no op, so the span is one that no op has.
        Subject::Parameter(_) => Span { start: u32::MAX, end: u32::MAX },
    };
    let legality = TARGETS.legality(target);
    let mut context = Context::new(&legality);
    context.verify = question.options.verify;
    context.trace = Some(Trace::new(place));
    let mut lowered = kernel.clone();
    let mut parameter = passes::Parameter::new(match subject {
        Subject::Op(_) => None,
        Subject::Parameter(value) => kernel.value_name(value),
    });
    let done = question.options.pipeline.run(&mut lowered, &mut context, &mut parameter);
    let trace = context.trace.unwrap_or_else(|| Trace::new(place));
    explanation.history =
        trace.events().iter().map(|event| passes::change(&question.options.pipeline, event)).collect();
    explanation.history.extend(parameter.removal(&explanation.op));
    match done {
        Ok(()) => {}
        Err(LowerError::Refused(refused)) => {
            explanation.refused = texts(module, kernel, &refused);
            return Ok(explanation);
        }
        Err(error) => return Err(defect(kernel, error)),
    }
    let followed = trace.followed(&lowered);
    let selected = Selected::new(&lowered, target, followed.clone());
    match &selected.result {
        Ok(_) => {}
        Err(Failed::Refused(refused)) => explanation.refused = texts(module, kernel, refused),
        Err(Failed::Defect(reason)) => return Err(defect(kernel, reason)),
    }
    explanation.parts = followed.iter().map(|&inst| selected.part(inst)).collect();
    if let Subject::Parameter(value) = subject {
        explanation.parts.extend(selected.parameter(kernel.value_name(value).unwrap_or_default()));
    }
    // If the passes have removed the op, selection tried no rules for it.
    if !explanation.parts.is_empty() {
        explanation.near = selected.near(&followed);
        explanation.near.extend(passes::near(&question.options.pipeline, trace.near()));
        drop_repeated(&mut explanation.near);
    }
    Ok(explanation)
}

/// Removes repeated rules. If several instructions replace the op, a rule may nearly match each of them.
fn drop_repeated(near: &mut Vec<NearMiss>) {
    let mut seen: HashSet<_> = HashSet::new();
    near.retain(|near| {
        let rule = (near.rule.name, near.rule.file, near.rule.line);
        seen.insert((rule, near.of.clone(), near.miss.as_ref().map(|miss| miss.wanted)))
    });
}

fn defect(kernel: &Kernel, reason: impl ToString) -> ExplainError {
    ExplainError::Defect { kernel: kernel.name.clone(), reason: reason.to_string() }
}

/// Formats the reasons of refusals, each with its line.
fn texts(module: &Module, kernel: &Kernel, refused: &[Refusal]) -> Vec<String> {
    let lines = Lines::new(module.text());
    let text = |refusal: &Refusal| match refusal.span == kernel.span {
        true => refusal.to_string(),
        false => format!("line {}: {refusal}", lines.position(refusal.span.start).line),
    };
    refused.iter().map(text).collect()
}

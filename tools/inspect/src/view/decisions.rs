//! The reasons for a kernel's code: the results of `explain` for all ops of the kernel, computed together.

use std::collections::HashMap;

use halfbyte::TARGETS;
use halfbyte::pipeline::Options;
use halfbyte_ir::diag::Lines;
use halfbyte_ir::{Inst, Kernel};
use halfbyte_lower::Context;
use halfbyte_lower::trace::Trace;

use super::model::{Line, Origin, Shape};
use super::selected;
use crate::explain::render::SHOWN;
use crate::explain::{Change, NearMiss, Outcome, choices, passes};

/// The reasons for the code that a target executes for a kernel.
#[derive(Default)]
pub(super) struct CodeReasons {
    /// The IR instructions after the passes, in order.
    pub steps: Vec<Step>,
    /// The changes by the passes, each with the source position of the changed op.
    pub changes: Vec<(Origin, Change)>,
    /// `true` if the changes by the passes were recorded.
    pub told: bool,
}

/// An IR instruction after the passes.
pub(super) struct Step {
    /// The source position, if known.
    pub place: Option<Origin>,
    /// The text of the instruction.
    pub text: String,
    /// The outcome of selection for the instruction.
    pub outcome: Outcome,
    /// The selection rules that nearly match the instruction, the most likely rule first.
    pub selection: Near,
    /// The rules of the pass `canon` that nearly match the instruction.
    pub canon: Near,
}

/// The rules that nearly match an instruction.
pub(super) struct Near {
    /// The rules that the page shows.
    pub shown: Vec<NearMiss>,
    /// The number of rules that the page does not show.
    pub more: usize,
}

impl Near {
    fn new(all: Vec<NearMiss>) -> Near {
        let mut shown: Vec<NearMiss> = all.into_iter().filter(NearMiss::is_relevant).collect();
        let more = shown.len().saturating_sub(SHOWN);
        shown.truncate(SHOWN);
        Near { shown, more }
    }
}

/// Maximum number of lines of a lowered kernel for which the changes by the passes are recorded.
/// Recording is slow: each instruction that a pass changes or tries to change is printed, and the
/// printer first names every value of the kernel.
const MAX_TRACED_LINES: usize = 2000;

/// Compiles a kernel again and records the reasons for its code. Sets the step and the rule of each
/// line in `lowered` and `selected`. Returns an empty result if the kernel does not compile.
pub(super) fn of_kernel(
    kernel: &Kernel,
    options: &Options,
    lines: &Lines<'_>,
    lowered: &mut [Line],
    selected: &mut [Line],
) -> CodeReasons {
    let legality = TARGETS.legality(options.target);
    let mut context = Context::new(&legality);
    context.trace = (lowered.len() <= MAX_TRACED_LINES).then(Trace::all);
    let mut after = kernel.clone();
    if options.pipeline.run(&mut after, &mut context, &mut ()).is_err() {
        return CodeReasons::default();
    }
    let trace = context.trace;
    let told = trace.is_some();
    let insts: Vec<Inst> = after.layout.iter().flat_map(|&block| &after.blocks[block].insts).copied().collect();
    let (choices, code) = choices::select(&after, options.target, insts.iter().copied());
    let of_insts = lowered.iter_mut().filter(|line| line.shape == Shape::Inst);
    let texts = of_insts.zip(&insts).zip(0..).map(|((line, &inst), step)| {
        line.step = Some(step);
        (inst, line.text().trim().to_owned())
    });
    let choices = choices.with_texts(texts.collect());

    let step = |&inst: &Inst| Step {
        place: Origin::of_span(lines, after.insts[inst].span),
        text: choices.text(inst),
        outcome: choices.outcome(inst),
        selection: Near::new(choices.near_of(inst)),
        canon: Near::new(passes::near(&options.pipeline, trace.iter().flat_map(|trace| trace.near_of(inst)))),
    };
    let steps = insts.iter().map(step).collect();
    let changes = trace.iter().flat_map(Trace::events).filter(|event| event.before != event.after);
    let changes = changes
        .filter_map(|event| Some((Origin::of_span(lines, event.place)?, passes::change(&options.pipeline, event))));
    let changes = changes.collect();

    let by_number: HashMap<u32, (u32, Inst)> =
        (0..).zip(&insts).map(|(step, &inst)| (inst.as_u32() + 1, (step, inst))).collect();
    // The line numbers in this code are step numbers. Each instruction of the code corresponds to
    // one line that the page shows.
    let numbered = code.ok().and_then(|mut code| code.expand().ok().map(|()| selected::of_code(&*code)));
    let numbered = numbered.filter(|numbered| numbered.len() == selected.len()).unwrap_or_default();
    let mut before = None;
    for (line, numbered) in selected.iter_mut().zip(&numbered) {
        let step = numbered.place.and_then(|place| by_number.get(&place.line)).copied();
        line.step = step.map(|(step, _)| step);
        if let Some((step, inst)) = step.filter(|&(step, _)| before != Some(step)) {
            before = Some(step);
            line.rule = match choices.outcome(inst) {
                Outcome::Selected { rule, .. } => Some(rule.name),
                _ => None,
            };
        }
    }
    CodeReasons { steps, changes, told }
}

//! Why a kernel became its instructions, op by op: what `explain` says of each, gathered in one run.

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

/// What is known of a kernel for a target.
#[derive(Default)]
pub(super) struct Why {
    /// The instructions after the passes, in order.
    pub steps: Vec<Step>,
    /// What passes did, each with the place of what they did it to.
    pub changes: Vec<(Origin, Change)>,
    /// Whether it was asked what passes did.
    pub told: bool,
}

/// An instruction after the passes.
pub(super) struct Step {
    /// Where it comes from, if that is known.
    pub place: Option<Origin>,
    /// It, as text.
    pub text: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The rules of selection that match in part, the likeliest first.
    pub selection: Near,
    /// And those of `canon`.
    pub canon: Near,
}

/// Rules that match in part.
pub(super) struct Near {
    /// The first of them.
    pub shown: Vec<NearMiss>,
    /// How many more there are.
    pub more: usize,
}

impl Near {
    fn new(all: Vec<NearMiss>) -> Near {
        let mut shown: Vec<NearMiss> = all.into_iter().filter(NearMiss::is_telling).collect();
        let more = shown.len().saturating_sub(SHOWN);
        shown.truncate(SHOWN);
        Near { shown, more }
    }
}

/// Of kernels with at most so many instructions after the passes the page says what passes did, and nearly did, for which each
/// instruction that they touch is written as text, and so every value of the kernel named.
const MOST_TOLD: usize = 2000;

/// Compiles a kernel once more, and asks. `lowered` and `selected` are the lines of what became of it, which learn of their steps.
/// Nothing is known of a kernel that does not compile.
pub(super) fn of_kernel(
    kernel: &Kernel,
    options: &Options,
    lines: &Lines<'_>,
    lowered: &mut [Line],
    selected: &mut [Line],
) -> Why {
    let legality = TARGETS.legality(options.target);
    let mut context = Context::new(&legality);
    context.trace = (lowered.len() <= MOST_TOLD).then(Trace::all);
    let mut after = kernel.clone();
    if options.pipeline.run(&mut after, &mut context, &mut ()).is_err() {
        return Why::default();
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
    // An instruction of this code has the number of its step for a line; the code itself is that which the page shows.
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
    Why { steps, changes, told }
}

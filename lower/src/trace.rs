//! What the passes do to one op of the source, or to each, recorded as they do it.
//!
//! One op is followed by its place in the text: what is made of it stands for the same place. Where another value takes its
//! part, that one's place is followed as well.

use halfbyte_ir::rule::{Depth, Miss};
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Inst, Kernel, Op, Span, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::Rewriter;

/// An op followed through the passes, or all of them.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The places that are followed; none where all are.
    places: Option<FxHashSet<Span>>,
    events: Vec<Event>,
    /// As instructions were last asked about; what was said of them before is taken out.
    near: Vec<Vec<Near>>,
    /// By instruction, its place there.
    asked: FxHashMap<Inst, usize>,
    pass: String,
}

/// Something that a pass did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The pass.
    pub pass: String,
    /// The place in the text of what it was done to.
    pub place: Span,
    /// How.
    pub how: How,
    /// The instructions as they were.
    pub before: Vec<String>,
    /// What they are now; nothing where they are gone.
    pub after: Vec<String>,
}

/// How a pass changed an op. Rules are numbers for [`Pipeline::rule`](crate::Pipeline::rule).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// In the pass's own words.
    Told(&'static str),
    /// By a rule of `simplify`.
    Rule(u32),
    /// The target lacks it, and has what these rules make of it; or there are no such rules.
    Expanded {
        /// The rule that expanded it, and those for what that made.
        rules: Vec<u32>,
        /// The rules that could have expanded it, with the number of instructions that come of each where the target has them.
        candidates: Vec<(u32, Option<usize>)>,
    },
}

/// What is said of an op that no pass has said anything of, and that is gone.
const UNREACHABLE: How = How::Told("removed, for its block is unreachable");

/// A rule of `simplify` that matches in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Near {
    /// Its number for [`Pipeline::rule`](crate::Pipeline::rule).
    pub rule: u32,
    /// The instruction that it was asked of.
    pub at: String,
    /// Whether that is the op that is followed, and not one that uses it.
    pub is_followed: bool,
    /// The first pattern or guard that failed, as it is written.
    pub wanted: &'static str,
    /// Its line in the rule's file.
    pub line: u32,
    /// What was there.
    pub found: String,
    /// How much of the rule matches.
    pub depth: Depth,
}

impl Trace {
    /// Follows the op at a place in the text.
    pub fn new(place: Span) -> Trace {
        Trace::of(Some(std::iter::once(place).collect()))
    }

    /// Follows every op, each to what takes its part. What is done to a kernel as a whole is not recorded.
    pub fn all() -> Trace {
        Trace::of(None)
    }

    fn of(places: Option<FxHashSet<Span>>) -> Trace {
        Trace { places, events: Vec::new(), near: Vec::new(), asked: FxHashMap::default(), pass: String::new() }
    }

    /// What happened, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The rules of `simplify` that match in part, as they were last asked.
    pub fn near(&self) -> impl Iterator<Item = &Near> {
        self.near.iter().flatten()
    }

    /// The same of one instruction.
    pub fn near_of(&self, inst: Inst) -> &[Near] {
        self.asked.get(&inst).and_then(|&number| self.near.get(number)).map_or(&[], Vec::as_slice)
    }

    /// Whether the instruction stands for the op.
    pub fn follows(&self, kernel: &Kernel, inst: Inst) -> bool {
        let follows = |place| self.places.as_ref().is_none_or(|places| places.contains(place));
        kernel.insts.get(inst).is_some_and(|data| follows(&data.span))
    }

    /// The instructions of a kernel that stand for the op, in the order of the layout.
    pub fn followed(&self, kernel: &Kernel) -> Vec<Inst> {
        let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
        insts.copied().filter(|&inst| self.follows(kernel, inst)).collect()
    }

    fn follow(&mut self, kernel: &Kernel, value: Value) {
        let Some(def) = kernel.def_inst(value) else { return };
        self.follow_place(kernel.insts[def].span);
    }

    fn follow_place(&mut self, place: Span) {
        self.places.as_mut().map(|places| places.insert(place));
    }

    pub(crate) fn begin(&mut self, pass: &str) -> usize {
        self.pass = pass.to_owned();
        self.events.len()
    }

    fn tell(&mut self, place: Span, how: How, before: Vec<String>, after: Vec<String>) {
        self.events.push(Event { pass: self.pass.clone(), place, how, before, after });
    }

    /// After a pass: what was there and is gone without a word stood where nothing goes.
    pub(crate) fn end(&mut self, events: usize, before: Vec<Before>, kernel: &Kernel) {
        let Some(place) = before.first().map(|before| before.place) else { return };
        if self.events.len() == events && self.followed(kernel).is_empty() {
            self.tell(place, UNREACHABLE, texts(before), Vec::new());
        }
    }
}

/// An instruction as it was.
pub(crate) struct Before {
    text: String,
    place: Span,
}

impl Before {
    fn new(kernel: &Kernel, inst: Inst) -> Before {
        Before { text: print_inst(kernel, inst), place: kernel.insts[inst].span }
    }
}

fn texts(before: Vec<Before>) -> Vec<String> {
    before.into_iter().map(|before| before.text).collect()
}

/// The instructions that stand for the op that is followed. Where all are, none is recorded by way of all others.
#[inline]
pub(crate) fn standing(trace: Option<&Trace>, kernel: &Kernel) -> Vec<Before> {
    if trace.is_none() {
        return Vec::new();
    }
    let followed = trace.filter(|trace| trace.places.is_some()).map(|trace| trace.followed(kernel)).unwrap_or_default();
    followed.into_iter().map(|inst| Before::new(kernel, inst)).collect()
}

/// What passes tell. Without a trace, or of an instruction that it does not follow, nothing happens.
pub(crate) trait Tell {
    /// The text of an instruction that is followed.
    fn before(&self, kernel: &Kernel, inst: Inst) -> Option<Before>;

    /// The instruction is another one now, at the same place.
    fn changed(&mut self, before: &mut Option<Before>, how: How, kernel: &Kernel, inst: Inst);

    /// These instructions do what the instruction did, and the value stands for its result.
    fn replaced(&mut self, before: Option<Before>, how: How, kernel: &Kernel, made: &[Inst], value: Option<Value>);

    /// These instructions do what the instruction and others did, at the place of one of them.
    fn joined(&mut self, before: Option<Before>, how: How, kernel: &Kernel, made: &[Inst]);

    /// The whole kernel is another one.
    fn packed(&mut self, before: Vec<Before>, kernel: &Kernel);

    /// No rule applies to an instruction now.
    fn kept(&mut self, rewriter: &mut Rewriter<'_>, inst: Inst);
}

impl Tell for Option<Trace> {
    fn before(&self, kernel: &Kernel, inst: Inst) -> Option<Before> {
        self.as_ref().filter(|trace| trace.follows(kernel, inst)).map(|_| Before::new(kernel, inst))
    }

    fn changed(&mut self, before: &mut Option<Before>, how: How, kernel: &Kernel, inst: Inst) {
        let (Some(trace), Some(Before { text, place })) = (self, before) else { return };
        let after = print_inst(kernel, inst);
        trace.tell(*place, how, vec![std::mem::replace(text, after.clone())], vec![after]);
    }

    fn replaced(&mut self, before: Option<Before>, how: How, kernel: &Kernel, made: &[Inst], value: Option<Value>) {
        let (Some(trace), Some(before)) = (self, before) else { return };
        let mut after: Vec<String> = made.iter().map(|&inst| print_inst(kernel, inst)).collect();
        let def = value.and_then(|value| kernel.def_inst(value));
        match (value, def) {
            (_, Some(def)) if made.contains(&def) => {}
            (_, Some(def)) => after.push(print_inst(kernel, def)),
            (Some(value), None) => after.push(format!("%{}", kernel.value_name(value).unwrap_or("?"))),
            (None, None) => {}
        }
        if let Some(value) = value {
            trace.follow(kernel, value);
        }
        trace.tell(before.place, how, vec![before.text], after);
    }

    fn joined(&mut self, before: Option<Before>, how: How, kernel: &Kernel, made: &[Inst]) {
        let (Some(trace), Some(before)) = (self, before) else { return };
        made.iter().for_each(|&inst| trace.follow_place(kernel.insts[inst].span));
        let after = made.iter().map(|&inst| print_inst(kernel, inst)).collect();
        trace.tell(before.place, how, vec![before.text], after);
    }

    fn packed(&mut self, before: Vec<Before>, kernel: &Kernel) {
        let Some(trace) = self else { return };
        if let Some(place) = before.first().map(|before| before.place) {
            let after = trace.followed(kernel).into_iter().map(|inst| print_inst(kernel, inst)).collect();
            trace.tell(place, How::Told("done for a group of neighbouring work items"), texts(before), after);
        }
        trace.near.clear();
        trace.asked.clear();
    }

    #[inline]
    fn kept(&mut self, rewriter: &mut Rewriter<'_>, inst: Inst) {
        if let Some(trace) = self {
            trace.kept(rewriter, inst);
        }
    }
}

impl Trace {
    /// As [`Tell::kept`].
    fn kept(&mut self, rewriter: &mut Rewriter<'_>, inst: Inst) {
        let kernel = rewriter.kernel();
        let is_followed = self.follows(kernel, inst);
        let defs = kernel.args(inst).iter().filter_map(|&arg| kernel.def_inst(arg));
        let used: Vec<Op> = defs.filter(|&def| self.follows(kernel, def)).map(|def| kernel.insts[def].op).collect();
        if !is_followed && used.is_empty() {
            return;
        }
        let at = print_inst(rewriter.kernel(), inst);
        let walks = rewriter.walk_simplify(inst);
        let mut near = Vec::new();
        for (rule, row, walk) in walks {
            let is_near = |miss: &Miss| matches!(miss.depth, Depth::Part | Depth::Pattern);
            let Some(miss) = walk.miss.filter(is_near) else { continue };
            let kernel = rewriter.kernel();
            if is_followed || used.iter().any(|&op| row.looks_for(op)) {
                let found = miss.found_text(kernel);
                let Miss { wanted, line, depth, .. } = miss;
                near.push(Near { rule, at: at.clone(), is_followed, wanted, line, found, depth });
            }
        }
        let before = self.asked.insert(inst, self.near.len());
        if let Some(before) = before.and_then(|before| self.near.get_mut(before)) {
            before.clear();
        }
        self.near.push(near);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_ir::text::read;
    use halfbyte_ir::witness::witnesses;

    use super::*;
    use crate::{Pipeline, trial};

    /// The rules that the walk finds are those that the compiled rules take, on the witness kernels of every rule.
    #[test]
    fn walks_agree_with_rewriting() {
        let mut compared = 0;
        for (_, rule) in trial::rules().filter(|(_, rule)| rule.term == "simplify") {
            for witness in rule.checks.iter().filter_map(|check| witnesses(check).unwrap().into_iter().next()) {
                let mut kernel = read(&witness.text).unwrap().kernels.remove(0);
                let insts: Vec<Inst> =
                    kernel.layout.iter().flat_map(|&block| kernel.blocks[block].insts.clone()).collect();
                let mut rewriter = Rewriter::new(&mut kernel, &[]);
                for inst in insts {
                    let walks = rewriter.walk_simplify(inst);
                    let whole = walks.iter().filter(|(_, _, walk)| walk.miss.is_none());
                    let first = whole.max_by_key(|(_, rule, _)| rule.priority).map(|(number, ..)| *number);
                    let taken = rewriter.simplify(inst).and_then(|_| rewriter.fired().first().copied());
                    assert_eq!(first, taken, "{} in\n{}", rule.name, witness.text);
                    compared += usize::from(taken.is_some());
                }
            }
        }
        assert!(compared > 150, "{compared}");
    }

    fn told(text: &str, passes: &[&str], name: &str) -> Trace {
        let mut kernel = read(text).unwrap().kernels.remove(0);
        let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some(name)).unwrap();
        let place = kernel.insts[kernel.def_inst(value).unwrap()].span;
        let legality = trial::target(|_, _| false);
        let mut context = crate::Context::new(&legality);
        context.trace = Some(Trace::new(place));
        let pipeline = Pipeline::named(passes.iter().copied()).unwrap();
        pipeline.run(&mut kernel, &mut context, &mut ()).unwrap();
        context.trace.unwrap()
    }

    #[test]
    fn an_op_is_followed_to_what_takes_its_part() {
        let text = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %n = neg.i32 %a\n  \
                    %m = neg.i32 %n\n  %s = add.i32 %m, %i\n  %t = add.i32 %a, %i\n  %u = xor.i32 %s, %t\n  store %u, %y[%i]\n  ret\n}\n";
        let trace = told(text, &["canon", "gvn", "dce"], "t");
        assert!(
            matches!(trace.events(), [Event { pass, how: How::Told(_), .. }] if pass == "gvn"),
            "{:?}",
            trace.events()
        );
        assert_eq!(trace.events()[0].after, ["%s = add.i32 %a, %i"]);
        let trace = told(text, &["canon", "dce"], "n");
        assert!(matches!(trace.events(), [Event { pass, .. }] if pass == "dce"), "{:?}", trace.events());
        let trace = told(text, &["canon"], "m");
        assert!(matches!(trace.events(), [Event { how: How::Rule(_), .. }]), "{:?}", trace.events());
    }

    #[test]
    fn an_op_that_nothing_reaches_is_missed() {
        let text = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  %c = const.i1 1\n  br_if %c, ^a, ^b\n^a:\n  store %i, %y[%i]\n  \
                    ret\n^b:\n  %n = neg.i32 %i\n  store %n, %y[%i]\n  ret\n}\n";
        let trace = told(text, &["fold", "merge"], "n");
        assert_eq!(trace.events().len(), 1, "{:?}", trace.events());
        assert_eq!(trace.events()[0].how, UNREACHABLE);
    }
}

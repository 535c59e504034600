//! Trace of the changes that passes make to one op of the source, or to all ops.
//!
//! The trace identifies an op by its source span, which all instructions made from the op share. If
//! a value replaces the result of the op, the trace also follows the source span of that value.

use halfbyte_ir::rule::{MatchExtent, MatchFailure};
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Inst, Kernel, Op, Span, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::Rewriter;

/// Trace of one op, or of all ops, through the passes.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Source spans of the traced ops; `None` for all ops.
    places: Option<FxHashSet<Span>>,
    events: Vec<Event>,
    /// Near misses of each instruction, in the order in which the rules were applied to the
    /// instructions. If the rules are applied to an instruction again, its older entry is cleared.
    near: Vec<Vec<NearRule>>,
    /// Index of each instruction's latest entry in `near`.
    asked: FxHashMap<Inst, usize>,
    pass: String,
}

/// A change that a pass made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Name of the pass.
    pub pass: String,
    /// Source span of the changed instruction.
    pub place: Span,
    /// Kind of the change.
    pub how: ChangeKind,
    /// Instructions before the change.
    pub before: Vec<String>,
    /// Instructions after the change; empty if they were removed.
    pub after: Vec<String>,
}

/// Kind of a change that a pass made to an instruction. Rules are numbered as in
/// [`Pipeline::rule`](crate::Pipeline::rule).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// A change that the pass describes by a fixed text.
    Told(&'static str),
    /// Application of a rule of `simplify`.
    Rule(u32),
    /// Expansion of an op that the target lacks. `rules` is empty if no expansion exists.
    Expanded {
        /// The applied rule, followed by the rules that expanded its result.
        rules: Vec<u32>,
        /// All rules that match, each with the number of instructions of its result. The number is
        /// `None` if the target lacks an op of the result.
        candidates: Vec<(u32, Option<usize>)>,
    },
}

/// Change that is recorded if an op disappeared and no pass reported a change.
const UNREACHABLE: ChangeKind = ChangeKind::Told("removed: its block is unreachable");

/// Near miss: a rule of `simplify` that matches an instruction only in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearRule {
    /// Number of the rule in [`Pipeline::rule`](crate::Pipeline::rule).
    pub rule: u32,
    /// Text of the instruction to which the rule was applied.
    pub at: String,
    /// `true` if the instruction to which the rule was applied belongs to the traced op, `false` if
    /// it only uses the op's result.
    pub is_followed: bool,
    /// Source text of the first pattern or guard of the rule that does not match.
    pub wanted: &'static str,
    /// Line of the first pattern or guard that does not match, in the rule's file.
    pub line: u32,
    /// Text of the instruction or value of the kernel that the pattern or guard does not match.
    pub found: String,
    /// Extent to which the rule matches the instruction.
    pub depth: MatchExtent,
}

impl Trace {
    /// Creates a trace of the op with a source span.
    pub fn new(place: Span) -> Trace {
        Trace::of(Some(std::iter::once(place).collect()))
    }

    /// Creates a trace of every op. The trace does not record changes of the kernel as a whole, such as packing.
    pub fn all() -> Trace {
        Trace::of(None)
    }

    fn of(places: Option<FxHashSet<Span>>) -> Trace {
        Trace { places, events: Vec::new(), near: Vec::new(), asked: FxHashMap::default(), pass: String::new() }
    }

    /// Returns the recorded changes in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the near misses of all instructions, from the last time that the rules were applied to each of them.
    pub fn near(&self) -> impl Iterator<Item = &NearRule> {
        self.near.iter().flatten()
    }

    /// Returns the near misses of an instruction, from the last time that the rules were applied to it.
    pub fn near_of(&self, inst: Inst) -> &[NearRule] {
        self.asked.get(&inst).and_then(|&number| self.near.get(number)).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if an instruction belongs to a traced op.
    pub fn follows(&self, kernel: &Kernel, inst: Inst) -> bool {
        let follows = |place| self.places.as_ref().is_none_or(|places| places.contains(place));
        kernel.insts.get(inst).is_some_and(|data| follows(&data.span))
    }

    /// Returns the instructions of the traced ops, in layout order.
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

    fn tell(&mut self, place: Span, how: ChangeKind, before: Vec<String>, after: Vec<String>) {
        self.events.push(Event { pass: self.pass.clone(), place, how, before, after });
    }

    /// Ends the trace of a pass. If the traced op has disappeared and the pass reported no change,
    /// records that its block was unreachable.
    pub(crate) fn end(&mut self, events: usize, before: Vec<Before>, kernel: &Kernel) {
        let Some(place) = before.first().map(|before| before.place) else { return };
        if self.events.len() == events && self.followed(kernel).is_empty() {
            self.tell(place, UNREACHABLE, texts(before), Vec::new());
        }
    }
}

/// Text and source span of an instruction before a change.
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

/// Returns the instructions of the traced op before a pass. The result is empty for a trace of all ops.
#[inline]
pub(crate) fn traced_insts(trace: Option<&Trace>, kernel: &Kernel) -> Vec<Before> {
    if trace.is_none() {
        return Vec::new();
    }
    let followed = trace.filter(|trace| trace.places.is_some()).map(|trace| trace.followed(kernel)).unwrap_or_default();
    followed.into_iter().map(|inst| Before::new(kernel, inst)).collect()
}

/// Interface by which passes report changes. The methods do nothing if there is no trace, or if the
/// trace does not follow the instruction.
pub(crate) trait Report {
    /// Returns the text and the source span of a traced instruction before a change.
    fn before(&self, kernel: &Kernel, inst: Inst) -> Option<Before>;

    /// Records that an instruction was changed in place.
    fn changed(&mut self, before: &mut Option<Before>, how: ChangeKind, kernel: &Kernel, inst: Inst);

    /// Records that the instructions `made` replace an instruction, and that `value` replaces its result.
    fn replaced(
        &mut self,
        before: Option<Before>,
        how: ChangeKind,
        kernel: &Kernel,
        made: &[Inst],
        value: Option<Value>,
    );

    /// Records that the instructions `made` replace several instructions. `before` is one of them
    /// and provides the source span.
    fn joined(&mut self, before: Option<Before>, how: ChangeKind, kernel: &Kernel, made: &[Inst]);

    /// Records that the whole kernel was vectorised over its work items.
    fn packed(&mut self, before: Vec<Before>, kernel: &Kernel);

    /// Records the near misses of an instruction to which no rule was applied.
    fn kept(&mut self, rewriter: &mut Rewriter<'_>, inst: Inst);
}

impl Report for Option<Trace> {
    fn before(&self, kernel: &Kernel, inst: Inst) -> Option<Before> {
        self.as_ref().filter(|trace| trace.follows(kernel, inst)).map(|_| Before::new(kernel, inst))
    }

    fn changed(&mut self, before: &mut Option<Before>, how: ChangeKind, kernel: &Kernel, inst: Inst) {
        let (Some(trace), Some(Before { text, place })) = (self, before) else { return };
        let after = print_inst(kernel, inst);
        trace.tell(*place, how, vec![std::mem::replace(text, after.clone())], vec![after]);
    }

    fn replaced(
        &mut self,
        before: Option<Before>,
        how: ChangeKind,
        kernel: &Kernel,
        made: &[Inst],
        value: Option<Value>,
    ) {
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

    fn joined(&mut self, before: Option<Before>, how: ChangeKind, kernel: &Kernel, made: &[Inst]) {
        let (Some(trace), Some(before)) = (self, before) else { return };
        made.iter().for_each(|&inst| trace.follow_place(kernel.insts[inst].span));
        let after = made.iter().map(|&inst| print_inst(kernel, inst)).collect();
        trace.tell(before.place, how, vec![before.text], after);
    }

    fn packed(&mut self, before: Vec<Before>, kernel: &Kernel) {
        let Some(trace) = self else { return };
        if let Some(place) = before.first().map(|before| before.place) {
            let after = trace.followed(kernel).into_iter().map(|inst| print_inst(kernel, inst)).collect();
            trace.tell(place, ChangeKind::Told("vectorised over neighbouring work items"), texts(before), after);
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
    /// Implementation of [`Report::kept`].
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
            let is_near = |miss: &MatchFailure| matches!(miss.depth, MatchExtent::Part | MatchExtent::Pattern);
            let Some(miss) = walk.miss.filter(is_near) else { continue };
            let kernel = rewriter.kernel();
            if is_followed || used.iter().any(|&op| row.looks_for(op)) {
                let found = miss.found_text(kernel);
                let MatchFailure { wanted, line, depth, .. } = miss;
                near.push(NearRule { rule, at: at.clone(), is_followed, wanted, line, found, depth });
            }
        }
        let before = self.asked.insert(inst, self.near.len());
        if let Some(before) = before.and_then(|before| self.near.get_mut(before)) {
            before.clear();
        }
        self.near.push(near);
    }
}

//! The rules that instruction selection applied to a kernel, and the rules that nearly matched.

use std::collections::{HashMap, HashSet};

use halfbyte::TARGETS;
use halfbyte_abi::Target;
use halfbyte_ir::rule::{Found, MatchFailure};
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Inst, Kernel, Rule, Span, Value};
use halfbyte_isa::object::Loc;
use halfbyte_isel::trace::{PartialMatch, Selection, Trace};
use halfbyte_isel::{Refusal, Request, SelectedCode};

use super::uses::Users;
use super::{Merged, Missed, NearMiss, Outcome, RuleAt};

/// The rules that selection tried and applied for a lowered kernel.
pub(crate) struct Choices<'k> {
    pub kernel: &'k Kernel,
    target: Target,
    pub trace: Trace,
    /// For each IR instruction, the index of its selection in `trace.selections`.
    selections: HashMap<Inst, usize>,
    users: Users<'k>,
    /// The texts of IR instructions that are already printed. Printing a single instruction is
    /// slow, because the printer first names all values of the kernel.
    texts: HashMap<Inst, String>,
}

/// Selects instructions for a kernel, and traces the selection for the IR instructions in `asked`.
/// The line number of each selected instruction is the number of its IR instruction plus one.
pub(crate) fn select(
    kernel: &Kernel,
    target: Target,
    asked: impl IntoIterator<Item = Inst>,
) -> (Choices<'_>, Result<Box<dyn SelectedCode>, Vec<Refusal>>) {
    let mut numbered = kernel.clone();
    numbered.span = Span::default();
    for (inst, data) in numbered.insts.iter_mut() {
        data.span = Span { start: inst.as_u32() + 1, end: inst.as_u32() + 2 };
    }
    let locate = |span: Span| Loc { line: span.start, column: 1 };
    let mut trace = Trace::new(asked);
    let request = Request { trace: Some(&mut trace), ..Request::new(&numbered, target, &locate) };
    let selected = TARGETS.select(request).map(|selected| selected.code).map_err(|mut refused| {
        for refusal in &mut refused {
            let inst = refusal.span.start.checked_sub(1).map(Inst::from_u32);
            let data = inst.and_then(|inst| kernel.insts.get(inst));
            refusal.span = data.map_or(kernel.span, |data| data.span);
        }
        refused
    });
    let mut selections = HashMap::new();
    for (number, selection) in trace.selections.iter().enumerate() {
        if let Some(inst) = selection.inst {
            selections.entry(inst).or_insert(number);
        }
    }
    (Choices { kernel, target, trace, selections, users: Users::new(kernel), texts: HashMap::new() }, selected)
}

impl Choices<'_> {
    /// Sets the texts of the IR instructions.
    pub(crate) fn with_texts(self, texts: HashMap<Inst, String>) -> Self {
        Choices { texts, ..self }
    }

    /// Returns the text of an IR instruction.
    pub(crate) fn text(&self, inst: Inst) -> String {
        self.texts.get(&inst).cloned().unwrap_or_else(|| print_inst(self.kernel, inst))
    }

    /// Returns the text of the instruction or value at which a pattern failed to match.
    fn found(&self, miss: &MatchFailure) -> String {
        let text = |found: &Found| {
            let inst = match *found {
                Found::Inst(inst) => Some(inst),
                Found::Value(value) => self.kernel.def_inst(value),
                Found::Text(_) => None,
            };
            inst.map_or_else(|| found.clone(), |inst| Found::Text(format!("`{}`", self.text(inst))))
        };
        let found = miss.found.iter().map(|(name, found)| (*name, text(found))).collect();
        MatchFailure { found, ..miss.clone() }.found_text(self.kernel)
    }

    fn rule(&self, number: u32) -> Option<&'static Rule> {
        TARGETS.rules(self.target).get(number as usize)
    }

    fn selection(&self, inst: Inst) -> Option<&Selection> {
        self.selections.get(&inst).and_then(|&number| self.trace.selections.get(number))
    }

    /// Returns the rule that selected the instruction itself, as opposed to its operands.
    fn root(&self, selection: &Selection) -> Option<&'static Rule> {
        let at = selection.inst.map(Found::Inst);
        let taken = selection.taken.iter().filter(|taken| taken.at == at);
        taken.filter_map(|taken| self.rule(taken.rule)).find(|rule| rule.term == "lower")
    }

    /// Returns the distinct rules that were applied to the operands of an instruction, each with the operand's name.
    fn operands(&self, selection: &Selection) -> Vec<(RuleAt, String)> {
        let mut operands = Vec::new();
        let mut known = HashSet::new();
        for taken in &selection.taken {
            let (Some(Found::Value(value)), Some(rule)) = (&taken.at, self.rule(taken.rule)) else { continue };
            if known.insert((taken.rule, *value)) {
                operands.push((RuleAt::new(rule), self.name(*value)));
            }
        }
        operands
    }

    /// Returns the name of a value in the text of the lowered kernel.
    fn name(&self, value: Value) -> String {
        match self.kernel.def_inst(value) {
            Some(inst) => self.text(inst).split(" = ").next().unwrap_or_default().to_owned(),
            None => format!("%{}", self.kernel.value_name(value).unwrap_or("?")),
        }
    }

    /// Returns the outcome of selection for an instruction that the target accepts.
    pub(crate) fn outcome(&self, inst: Inst) -> Outcome {
        match self.selection(inst) {
            Some(selection) => {
                let operands = self.operands(selection);
                match self.root(selection) {
                    Some(rule) => Outcome::Selected { rule: RuleAt::new(rule), operands },
                    None => Outcome::Native { operands },
                }
            }
            None => match self.kernel.result(inst).map(|value| self.merged(value)) {
                Some(merged) if !merged.is_empty() => Outcome::Merged(merged),
                _ => Outcome::Unneeded,
            },
        }
    }

    /// Returns the users into which a value without machine instructions of its own is merged.
    pub(crate) fn merged(&self, value: Value) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        for user in self.users.emitted(value, &|inst| self.selection(inst).is_some()) {
            let Some(selection) = self.selection(user) else { continue };
            let looked = |value| {
                selection
                    .taken
                    .iter()
                    .rfind(|taken| taken.through.contains(&value) || taken.at.as_ref() == Some(&Found::Value(value)))
            };
            let rule = looked(value).and_then(|taken| self.rule(taken.rule));
            let rule = rule.or_else(|| self.root(selection)).map(RuleAt::new);
            merged.push(Merged { into: self.text(user), rule });
        }
        merged
    }

    /// Returns the rules that nearly match an instruction, by descending priority.
    pub(crate) fn near_of(&self, inst: Inst) -> Vec<NearMiss> {
        let Some(selection) = self.selection(inst) else { return Vec::new() };
        let own = selection.near.iter().filter(|near| near.at == Found::Inst(inst));
        let mut own: Vec<NearMiss> = own.filter_map(|near| Some(self.near(selection, near)?.1)).collect();
        own.sort_by_key(|near| std::cmp::Reverse(near.rule.priority));
        own
    }

    /// Returns a rule that nearly matched with the reason why it failed, or `None` if the rule was applied.
    pub(crate) fn near(&self, selection: &Selection, near: &PartialMatch) -> Option<(&'static Rule, NearMiss)> {
        let rule = self.rule(near.rule)?;
        let is_taken =
            |at| selection.taken.iter().any(|taken| taken.rule == near.rule && taken.at.as_ref() == Some(at));
        if is_taken(&near.at) {
            return None;
        }
        let missed = |miss: &MatchFailure| Missed {
            wanted: miss.wanted,
            line: miss.line,
            found: self.found(miss),
            depth: miss.depth,
        };
        let miss = near.walk.miss.as_ref().map(missed);
        Some((rule, NearMiss { rule: RuleAt::new(rule), by: "selection", of: None, miss }))
    }
}

//! Explanations of the changes that passes make to an op.

use std::cmp::Reverse;
use std::time::Duration;

use halfbyte_ir::Kernel;
use halfbyte_ir::rule::MatchExtent;
use halfbyte_lower::trace::{ChangeKind, Event, NearRule};
use halfbyte_lower::{Observer, Pass, Pipeline};

use super::place::named;
use super::{Change, Missed, NearMiss, RuleAt};

/// A parameter of a kernel or a block. Because a parameter has no instruction, the explanation
/// tracks it through the passes by its name.
pub(super) struct Parameter<'n> {
    /// The parameter's name, or `None` if the explanation is about an op.
    name: Option<&'n str>,
    gone_by: Option<String>,
}

impl<'n> Parameter<'n> {
    pub(super) fn new(name: Option<&'n str>) -> Parameter<'n> {
        Parameter { name, gone_by: None }
    }

    /// Returns the change that removed the parameter, if any.
    pub(super) fn removal(&self, text: &str) -> Option<Change> {
        let how = "removed: unused, or replaced by other values".to_owned();
        let (before, after) = (vec![text.to_owned()], Vec::new());
        Some(Change { pass: self.gone_by.clone()?, how, rule: None, notes: Vec::new(), before, after })
    }
}

impl Observer for Parameter<'_> {
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, _: bool, _: Duration) {
        let is_gone = self.name.is_some_and(|name| named(kernel, name).is_none());
        if is_gone && self.gone_by.is_none() {
            self.gone_by = Some(pass.name().to_owned());
        }
    }
}

fn lower_rule(pipeline: &Pipeline, number: u32) -> Option<RuleAt> {
    pipeline.rule(number).map(RuleAt::new)
}

pub(crate) fn change(pipeline: &Pipeline, event: &Event) -> Change {
    let (how, rule) = match &event.how {
        ChangeKind::Told(words) => (*words, None),
        ChangeKind::Rule(rule) => ("rewritten by", lower_rule(pipeline, *rule)),
        ChangeKind::Expanded { rules, .. } => match rules.first() {
            Some(&rule) => ("the target lacks the op; expanded by", lower_rule(pipeline, rule)),
            None => ("the target lacks the op, and no rule replaces it by ops that the target has", None),
        },
    };
    let mut notes = Vec::new();
    if let ChangeKind::Expanded { rules, candidates } = &event.how {
        let name = |rule: &u32| lower_rule(pipeline, *rule).map_or("", |rule| rule.name);
        let inner: Vec<&str> = rules.iter().skip(1).map(name).collect();
        if !inner.is_empty() {
            notes.push(format!("the expansion is expanded by {}", inner.join(", ")));
        }
        let taken = candidates.iter().find(|(rule, _)| Some(rule) == rules.first());
        if let Some((_, Some(cost))) = taken {
            notes.push(format!("cost: {}", instructions(*cost)));
        }
        for (rule, cost) in candidates.iter().filter(|(rule, _)| Some(rule) != rules.first()) {
            notes.push(match cost {
                Some(cost) => format!("{} would cost {}", name(rule), instructions(*cost)),
                None => format!("{} yields ops that the target lacks", name(rule)),
            });
        }
    }
    let (before, after) = (event.before.clone(), event.after.clone());
    Change { pass: event.pass.clone(), how: how.to_owned(), rule, notes, before, after }
}

fn instructions(count: usize) -> String {
    if count == 1 { "1 instruction".to_owned() } else { format!("{count} instructions") }
}

/// Returns the rules of passes that nearly match, grouped by instruction. Rules whose pattern or
/// guard failed come first.
pub(crate) fn near<'t>(pipeline: &Pipeline, told: impl IntoIterator<Item = &'t NearRule>) -> Vec<NearMiss> {
    let near = told.into_iter().filter_map(|near| {
        let (found, depth) = (near.found.clone(), near.depth);
        Some(NearMiss {
            rule: lower_rule(pipeline, near.rule)?,
            by: "canon",
            of: (!near.is_followed).then(|| near.at.clone()),
            miss: Some(Missed { wanted: near.wanted, line: near.line, found, depth }),
        })
    });
    let mut near: Vec<NearMiss> = near.collect();
    let is_guard = |near: &NearMiss| near.miss.as_ref().is_some_and(|miss| miss.depth == MatchExtent::Pattern);
    near.sort_by_cached_key(|near| (near.of.clone(), Reverse((is_guard(near), near.rule.priority))));
    near
}

//! The JSON data for the page's script: the reasons for each instruction, and the kernel after each pass except the
//! last. Repeated texts and rules are stored once in a table, and other data refer to them by index.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde_json::{Value as Json, json};

use super::decisions::{Near, Step};
use super::markup::visible;
use super::whole::View;
use crate::explain::{Change, NearMiss, Outcome, RuleAt};

/// A table that assigns an index to each distinct entry.
struct Table<T>(HashMap<T, usize>, Vec<T>);

impl<T: Clone + Eq + Hash> Table<T> {
    fn number(&mut self, of: T) -> usize {
        let Table(numbers, all) = self;
        *numbers.entry(of).or_insert_with_key(|of| {
            all.push(of.clone());
            all.len() - 1
        })
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table(HashMap::new(), Vec::new())
    }
}

/// A rule's name, file, line, priority and pattern.
type Rule = (&'static str, &'static str, u32, i64, &'static str);

/// Maximum number of users that are listed for a merged instruction.
const NAMED: usize = 3;

#[derive(Default)]
struct Tables {
    rules: Table<Rule>,
    texts: Table<String>,
}

/// Returns the JSON data, escaped for a `script` element. For each view, `passes` contains the
/// lines of the kernel after each pass except the last.
pub(super) fn json(views: &[View], passes: &[Vec<Vec<String>>]) -> String {
    let mut tables = Tables::default();
    let views: Vec<Json> = views.iter().zip(passes).map(|(view, passes)| tables.view(view, passes)).collect();
    let rules: Vec<Json> = tables.rules.1.iter().map(|rule| json!(rule)).collect();
    let all = json!({ "rules": rules, "texts": tables.texts.1, "views": views });
    // Without a `<`, the JSON data cannot end the `script` element.
    all.to_string().replace('<', "\\u003c")
}

impl Tables {
    fn view(&mut self, view: &View, passes: &[Vec<String>]) -> Json {
        let steps: Vec<Json> = view.why.steps.iter().map(|step| self.step(step)).collect();
        let mut changes: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for (place, change) in &view.why.changes {
            changes.entry(place.to_string()).or_default().push(self.change(change));
        }
        let mut passed = |lines: &Vec<String>| lines.iter().map(|line| self.text(line)).collect::<Vec<usize>>();
        let passes: Vec<Vec<usize>> = passes.iter().map(&mut passed).collect();
        json!({ "steps": steps, "changes": changes, "told": view.why.told, "passes": passes })
    }

    fn text(&mut self, text: &str) -> usize {
        self.texts.number(visible(text))
    }

    fn all(&mut self, texts: &[String]) -> Vec<usize> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn rule(&mut self, rule: &RuleAt) -> usize {
        let RuleAt { name, file, line, priority, pattern } = *rule;
        self.rules.number((name, file, line, priority, pattern))
    }

    /// Converts an IR instruction with its reasons to JSON. Empty members are left out.
    fn step(&mut self, step: &Step) -> Json {
        let mut said = json!({ "at": step.place.map(|place| place.to_string()), "op": self.text(&step.text) });
        let mut say = |name: &str, value: Json| said.as_object_mut().map(|said| said.insert(name.to_owned(), value));
        match &step.outcome {
            Outcome::Selected { rule, operands } => {
                say("by", json!(self.rule(rule)));
                let operands = self.operands(operands);
                (!operands.is_empty()).then(|| say("operands", json!(operands)));
            }
            Outcome::Native { operands } => {
                let operands = self.operands(operands);
                (!operands.is_empty()).then(|| say("operands", json!(operands)));
            }
            Outcome::Merged(merged) => {
                let into = |merged: &crate::explain::Merged| {
                    json!([self.text(&merged.into), merged.rule.as_ref().map(|rule| self.rule(rule))])
                };
                let named: Vec<Json> = merged.iter().take(NAMED).map(into).collect();
                say("into", json!([merged.len().saturating_sub(NAMED), named]));
            }
            Outcome::Unneeded | Outcome::Refused => {
                say("unneeded", json!(true));
            }
        }
        for (name, Near { shown, more }) in [("selection", &step.selection), ("canon", &step.canon)] {
            if !shown.is_empty() {
                let near: Vec<Json> = shown.iter().map(|near| self.near(near)).collect();
                say(name, json!([more, near]));
            }
        }
        said
    }

    /// Returns the indices of the rules and operands, except for rules that match any value.
    fn operands(&mut self, operands: &[(RuleAt, String)]) -> Vec<(usize, usize)> {
        let special = operands.iter().filter(|(rule, _)| !rule.takes_anything());
        special.map(|(rule, operand)| (self.text(operand), self.rule(rule))).collect()
    }

    /// Converts a near miss to JSON: the rule and, if a pattern or guard failed, its text, its
    /// line, and the text that was found.
    fn near(&mut self, near: &NearMiss) -> Json {
        let rule = self.rule(&near.rule);
        match &near.miss {
            Some(miss) => json!([rule, self.text(miss.wanted), miss.line, self.text(&miss.found)]),
            None => json!([rule]),
        }
    }

    fn change(&mut self, change: &Change) -> Json {
        let Change { pass, how, rule, notes, before, after } = change;
        json!({
            "pass": self.text(pass),
            "how": self.text(how),
            "by": rule.as_ref().map(|rule| self.rule(rule)),
            "notes": self.all(notes),
            "before": self.all(before),
            "after": self.all(after),
        })
    }
}

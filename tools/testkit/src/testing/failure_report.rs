//! Explanations of why rules were not applied, based on [`explain`](halfbyte_inspect::explain).

use std::fmt::Write;

use halfbyte_ir::Rule;
use halfbyte_ir::diag::Lines;
use halfbyte_ir::rule::MatchExtent;

use super::coverage::RuleId;
use halfbyte::Module;
use halfbyte::pipeline::Options;
use halfbyte_inspect::explain::{Explanation, Missed, NearMiss, Outcome, Question, RuleAt, explain};

/// Maximum number of near misses that a failure shows. A near miss is a rule that matches an op only in part.
const NEAREST: usize = 3;

/// Returns an explanation of every op of a module, in the order of the text.
pub(super) fn explanations(module: &Module, options: &Options) -> Vec<Explanation> {
    let lines = Lines::new(module.text());
    let mut all = Vec::new();
    for kernel in &module.ir().kernels {
        for &inst in kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts) {
            let start = lines.position(kernel.insts[inst].span.start);
            let at = format!("{}:{}", start.line, start.column);
            // The error of `explain` is ignored, because the compilation of the kernel reports the same error.
            all.extend(explain(module, Question { at: &at, kernel: Some(&kernel.name), options }));
        }
    }
    all
}

/// Returns texts that describe where the given rules nearly matched, the closest match first. Each names the first part
/// of the pattern or the guard that failed, or says that a rule of a higher priority was applied.
pub(super) fn not_taken(module: &Module, options: &Options, rules: &[RuleId]) -> Vec<String> {
    let explanations = explanations(module, options);
    let mut found: Vec<(u8, String)> = Vec::new();
    for rule in rules.iter().filter_map(|id| id.rule()) {
        for explanation in &explanations {
            for near in explanation.near.iter().filter(|near| is(&near.rule, rule)) {
                let reason = reason(explanation, near);
                if !found.iter().any(|(_, known)| *known == reason.1) {
                    found.push(reason);
                }
            }
        }
    }
    if found.is_empty() {
        let nothing = |rule: &Rule| format!("no op matches {}:{}: {}", rule.file, rule.line, rule.pattern);
        return rules.iter().filter_map(|id| id.rule()).map(nothing).collect();
    }
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(NEAREST);
    found.into_iter().map(|(_, reason)| reason).collect()
}

fn is(at: &RuleAt, rule: &Rule) -> bool {
    (at.name, at.file, at.line) == (rule.name, rule.file, rule.line)
}

/// Returns the distance of a near miss from a match (0 is the closest), and the reason why the rule was not applied.
fn reason(explanation: &Explanation, near: &NearMiss) -> (u8, String) {
    let op = near.of.as_ref().unwrap_or(&explanation.op);
    let file = near.rule.file;
    match &near.miss {
        None => (0, format!("for `{op}` the rule matches, but a rule of a higher priority is applied")),
        Some(Missed { wanted, line, found, depth }) => {
            let distance = match depth {
                MatchExtent::Pattern => 1,
                MatchExtent::Part => 2,
                MatchExtent::Op => 3,
                MatchExtent::Nothing => 4,
            };
            let found = if found.is_empty() { String::new() } else { format!(", found {found}") };
            (distance, format!("for `{op}` {file}:{line} wanted {wanted}{found}"))
        }
    }
}

/// Returns the selected instructions of each op, with the rules that selected them.
pub(super) fn selected(explanations: &[Explanation]) -> String {
    let mut out = String::new();
    for explanation in explanations {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", explanation.op);
        for part in &explanation.parts {
            let how = match &part.outcome {
                Outcome::Selected { rule, .. } => format!("by {} ({}:{})", rule.name, rule.file, rule.line),
                Outcome::Native { .. } => "as it is".to_owned(),
                Outcome::Merged(_) => "within what uses it".to_owned(),
                Outcome::Unneeded => "unneeded".to_owned(),
                Outcome::Refused => "refused".to_owned(),
            };
            let words: Vec<&str> = part.words.iter().map(|word| word.text.trim_end_matches([' ', ';'])).collect();
            let _ = writeln!(out, "      {how}{}{}", if words.is_empty() { "" } else { ": " }, words.join("; "));
        }
        if explanation.parts.is_empty() {
            let how = explanation.history.last().map_or("gone", |change| change.how.as_str());
            let _ = writeln!(out, "      {how}");
        }
    }
    out
}

//! Explanations as text and as JSON.

use std::fmt::{self, Display, Formatter};

use halfbyte_ir::ConvergenceScope;
use halfbyte_ir::rule::MatchExtent;
use serde_json::{Value as Json, json};

use super::{Change, Explanation, Merged, NearMiss, Outcome, ReplacementInst, RuleAt, Word};

/// Maximum number of near misses that are shown for an instruction, unless all are requested.
pub(crate) const SHOWN: usize = 4;

/// Formatter that prints an explanation as text.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The explanation.
    pub explanation: &'a Explanation,
    /// `true` to show every rule that was tried and failed, including rules for other types.
    pub all: bool,
}

impl Display for RuleAt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.name, self.file, self.line)
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Explanation { op, place, kernel, target, collective: meets, history, parts, refused, .. } =
            self.explanation;
        writeln!(f, "{op}\n  {place}, @{kernel}, for {target}")?;
        if let Some(party) = meets {
            let party = party.name();
            writeln!(f, "  collective operation of a {party}: it stays one op, and no memory access moves across it")?;
        }
        writeln!(f, "\npasses")?;
        history.iter().try_for_each(|change| self.change(f, change))?;
        if history.is_empty() {
            writeln!(f, "  no pass changes it")?;
        }
        if !parts.is_empty() || refused.is_empty() {
            writeln!(f, "\nselection")?;
        }
        parts.iter().try_for_each(|part| self.part(f, part))?;
        if parts.is_empty() && refused.is_empty() {
            writeln!(f, "  nothing remains of it")?;
        }
        self.near(f)?;
        if !refused.is_empty() {
            writeln!(f, "\nrefused")?;
        }
        refused.iter().try_for_each(|reason| writeln!(f, "  {reason}"))
    }
}

impl Text<'_> {
    fn change(&self, f: &mut Formatter<'_>, change: &Change) -> fmt::Result {
        let Change { pass, how, rule, notes, before, after } = change;
        write!(f, "  {pass}: {how}")?;
        if let Some(rule) = rule {
            write!(f, " {rule}")?;
        }
        f.write_str("\n")?;
        if before != after {
            before.iter().try_for_each(|text| writeln!(f, "       {text}"))?;
            after.iter().try_for_each(|text| writeln!(f, "    -> {text}"))?;
        }
        notes.iter().try_for_each(|note| writeln!(f, "    {note}"))
    }

    fn part(&self, f: &mut Formatter<'_>, part: &ReplacementInst) -> fmt::Result {
        writeln!(f, "  {}", part.text)?;
        match &part.outcome {
            Outcome::Selected { rule, operands } => {
                writeln!(f, "    by {rule}, priority {}: {}", rule.priority, rule.pattern)?;
                self.operands(f, operands)?;
            }
            Outcome::Native { operands } => {
                writeln!(f, "    selected without a rule")?;
                self.operands(f, operands)?;
            }
            Outcome::Merged(merged) => {
                for Merged { into, rule } in merged {
                    writeln!(f, "    no instruction of its own; merged into {into}")?;
                    if let Some(rule) = rule {
                        writeln!(f, "      by {rule}, priority {}: {}", rule.priority, rule.pattern)?;
                    }
                }
            }
            Outcome::Unneeded => writeln!(f, "    no instruction: its result is unused")?,
            Outcome::Refused => writeln!(f, "    no rule matches")?,
        }
        for Word { address, digits, text } in &part.words {
            writeln!(f, "    {address:04x}  {digits}  {text}")?;
        }
        Ok(())
    }

    /// Writes the rules that were applied to operands, except rules that match any value.
    fn operands(&self, f: &mut Formatter<'_>, operands: &[(RuleAt, String)]) -> fmt::Result {
        let mut special = operands.iter().filter(|(rule, _)| !rule.takes_anything());
        special.try_for_each(|(rule, operand)| writeln!(f, "      {operand} by {rule}"))
    }

    fn is_shown(&self, near: &NearMiss) -> bool {
        let is_refused = || self.explanation.parts.iter().any(|part| part.outcome == Outcome::Refused);
        // If no rule matches the op, the rules for other types are shown too, because they tell the supported types.
        let is_for_another = near.miss.as_ref().is_some_and(|miss| miss.depth == MatchExtent::Op);
        self.all || near.is_relevant() || is_for_another && is_refused()
    }

    fn near(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shown: Vec<&NearMiss> = self.explanation.near.iter().filter(|near| self.is_shown(near)).collect();
        if !shown.is_empty() {
            writeln!(f, "\nnot taken")?;
        }
        for group in shown.chunk_by(|a, b| (a.by, &a.of) == (b.by, &b.of)) {
            let Some(first) = group.first() else { continue };
            match &first.of {
                None => writeln!(f, "  by {}", first.by)?,
                Some(user) => writeln!(f, "  by {}, for {user}", first.by)?,
            }
            let count = if self.all { group.len() } else { SHOWN };
            for NearMiss { rule, miss, .. } in group.iter().take(count) {
                writeln!(f, "    {rule}, priority {}", rule.priority)?;
                match miss {
                    Some(miss) => {
                        write!(f, "      line {}: expected {}", miss.line, miss.wanted)?;
                        let found = if miss.found.is_empty() { "" } else { ", found " };
                        writeln!(f, "{found}{}", miss.found)?;
                    }
                    None => writeln!(f, "      matches, but the rule with the highest priority is selected")?,
                }
            }
            match group.len().saturating_sub(count) {
                0 => {}
                more => writeln!(f, "    and {more} more; --all shows them")?,
            }
        }
        Ok(())
    }
}

impl Explanation {
    /// Returns the whole explanation as a JSON object.
    pub fn json(&self) -> Json {
        json!({
            "op": self.op,
            "place": self.place,
            "kernel": self.kernel,
            "target": self.target.name(),
            "meets": self.collective.map(ConvergenceScope::name),
            "passes": self.history.iter().map(change).collect::<Vec<_>>(),
            "selection": self.parts.iter().map(part).collect::<Vec<_>>(),
            "not_taken": self.near.iter().map(near).collect::<Vec<_>>(),
            "refused": self.refused,
        })
    }
}

fn rule(rule: &RuleAt) -> Json {
    let RuleAt { name, file, line, priority, pattern } = rule;
    json!({ "name": name, "file": file, "line": line, "priority": priority, "pattern": pattern })
}

fn change(change: &Change) -> Json {
    let Change { pass, how, rule: by, notes, before, after } = change;
    json!({ "pass": pass, "how": how, "rule": by.as_ref().map(rule), "notes": notes, "before": before, "after": after })
}

fn part(part: &ReplacementInst) -> Json {
    let operand = |(by, operand): &(RuleAt, String)| json!({ "operand": operand, "rule": rule(by) });
    let operands = |operands: &[(RuleAt, String)]| operands.iter().map(operand).collect::<Vec<_>>();
    let merged = |merged: &Merged| json!({ "into": merged.into, "rule": merged.rule.as_ref().map(rule) });
    let outcome = match &part.outcome {
        Outcome::Selected { rule: by, operands: of } => {
            json!({ "is": "selected", "rule": rule(by), "operands": operands(of) })
        }
        Outcome::Native { operands: of } => json!({ "is": "as it is", "operands": operands(of) }),
        Outcome::Merged(into) => json!({ "is": "merged", "into": into.iter().map(merged).collect::<Vec<_>>() }),
        Outcome::Unneeded => json!({ "is": "unneeded" }),
        Outcome::Refused => json!({ "is": "refused" }),
    };
    let word = |word: &Word| json!({ "address": word.address, "word": word.digits, "asm": word.text });
    let words: Vec<Json> = part.words.iter().map(word).collect();
    json!({ "op": part.text, "outcome": outcome, "words": words })
}

fn near(near: &NearMiss) -> Json {
    let NearMiss { rule: of_rule, by, of, miss } = near;
    let miss = miss.as_ref();
    json!({
        "rule": rule(of_rule),
        "by": by,
        "of": of,
        "wanted": miss.map(|miss| miss.wanted),
        "line": miss.map(|miss| miss.line),
        "found": miss.map(|miss| miss.found.as_str()),
        "for_another_type": miss.is_some_and(|miss| matches!(miss.depth, MatchExtent::Nothing | MatchExtent::Op)),
    })
}

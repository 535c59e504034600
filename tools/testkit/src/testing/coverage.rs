//! Coverage of the compiler's rules by tests.

use std::fmt;

use halfbyte::TARGETS;
use halfbyte::pipeline::Fired;
use halfbyte_abi::Target;
use halfbyte_ir::Rule;
use halfbyte_ir::text::closest;

/// A set of compiler rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleSet {
    /// The rules of the passes over the IR.
    Lower,
    /// The selection rules of a target.
    Isel(Target),
}

impl RuleSet {
    /// Returns the selection rules of a target. All SM versions of PTX share one rule set.
    pub fn of(target: Target) -> RuleSet {
        RuleSet::Isel(TARGETS.named(target.name()).unwrap_or(target))
    }

    /// Returns every rule set: `lower` first, then each target.
    pub fn all() -> impl Iterator<Item = RuleSet> {
        std::iter::once(RuleSet::Lower).chain(TARGETS.defaults().map(RuleSet::Isel))
    }

    /// Returns the name of the rule set: `lower` or the target's name.
    pub const fn name(self) -> &'static str {
        match self {
            RuleSet::Lower => "lower",
            RuleSet::Isel(target) => target.name(),
        }
    }

    fn rules(self) -> &'static [Rule] {
        match self {
            RuleSet::Lower => halfbyte_lower::RULES,
            RuleSet::Isel(target) => TARGETS.rules(target),
        }
    }
}

/// A rule, identified by its rule set and its index there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RuleId {
    pub part: RuleSet,
    number: usize,
}

impl RuleId {
    pub(super) fn rule(self) -> Option<&'static Rule> {
        self.part.rules().get(self.number)
    }
}

/// Returns the rules with the name `NAME`, or `SET::NAME` for one rule set. Only the rules of
/// `lower` and of the given target are searched.
///
/// # Errors
/// Fails if there is no such rule. The error is the most similar name, if any.
pub(super) fn find(name: &str, target: Option<Target>) -> Result<Vec<RuleId>, Option<&'static str>> {
    let (of, bare) = name.split_once("::").map_or((None, name), |(part, bare)| (Some(part), bare));
    let parts = || {
        std::iter::once(RuleSet::Lower)
            .chain(target.map(RuleSet::of))
            .filter(|part| of.is_none_or(|of| of == part.name()))
    };
    let of_name = |part: RuleSet| {
        let rules = part.rules().iter().enumerate();
        rules.filter(|(_, rule)| rule.name == bare).map(move |(number, _)| RuleId { part, number })
    };
    let found: Vec<RuleId> = parts().flat_map(of_name).collect();
    if found.is_empty() {
        return Err(closest(bare, parts().flat_map(|part| part.rules()).map(|rule| rule.name)));
    }
    Ok(found)
}

/// The number of times that each rule of `lower` and of every target was applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    counts: Vec<(RuleSet, Vec<usize>)>,
}

/// A rule and the number of times that it was applied.
#[derive(Clone, Copy, Debug)]
pub struct RuleCount {
    /// The rule set.
    pub part: RuleSet,
    /// The rule.
    pub rule: &'static Rule,
    /// The number of times that the rule was applied.
    pub count: usize,
}

impl fmt::Display for RuleCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { name, file, line, .. } = self.rule;
        write!(f, "{}::{name} ({file}:{line})", self.part.name())
    }
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage { counts: RuleSet::all().map(|part| (part, vec![0; part.rules().len()])).collect() }
    }
}

impl Coverage {
    /// Adds the counts of another `Coverage` to these.
    pub fn add(&mut self, other: &Coverage) {
        for (part, counts) in &other.counts {
            self.add_counts(*part, counts);
        }
    }

    /// Adds the counts of one compilation. Without a target, only the rules of the passes are counted.
    pub(super) fn add_fired(&mut self, target: Option<Target>, fired: &Fired) {
        self.add_counts(RuleSet::Lower, &fired.lower);
        if let Some(target) = target {
            self.add_counts(RuleSet::of(target), &fired.isel);
        }
    }

    fn add_counts(&mut self, part: RuleSet, counts: &[usize]) {
        for (_, all) in self.counts.iter_mut().filter(|(of, _)| *of == part) {
            for (all, count) in all.iter_mut().zip(counts) {
                *all += count;
            }
        }
    }

    /// Returns the number of times that a rule was applied.
    pub(super) fn count(&self, id: RuleId) -> usize {
        let of_part = self.counts.iter().find(|(part, _)| *part == id.part);
        of_part.and_then(|(_, counts)| counts.get(id.number)).copied().unwrap_or(0)
    }

    /// Returns all rules with their counts, the rules of `lower` first. Helper terms of `lower` are
    /// not included, because several rules share them.
    pub fn rules(&self) -> impl Iterator<Item = RuleCount> {
        self.counts.iter().flat_map(|(part, counts)| {
            let rows = part.rules().iter().zip(counts).map(|(rule, &count)| RuleCount { part: *part, rule, count });
            rows.filter(|row| row.part != RuleSet::Lower || matches!(row.rule.term, "simplify" | "expand"))
        })
    }

    /// Returns the rules that were never applied.
    pub fn never(&self) -> impl Iterator<Item = RuleCount> {
        self.rules().filter(|row| row.count == 0)
    }
}

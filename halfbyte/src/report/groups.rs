//! Findings that are the same at several places, reported once.

use std::collections::HashMap;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Diagnostic;

/// So many findings are shown; of the rest it is said how many there are.
pub(super) const MAX_SHOWN: usize = 20;

/// So many other places are listed.
const MAX_PLACES: usize = 10;

/// A finding with all places that it is true of.
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The first of them.
    pub first: &'r Diagnostic,
    /// The places of the others, in order.
    pub also: Vec<Span>,
}

/// Puts together what differs in its place alone, each where its first stands.
pub(super) fn grouped(list: &[Diagnostic]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known = HashMap::new();
    for diagnostic in list {
        let Diagnostic { message, expected, help, notes, .. } = diagnostic;
        let group = *known.entry((message, expected, help, notes)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.also.push(diagnostic.span),
            None => groups.push(Group { first: diagnostic, also: Vec::new() }),
        }
    }
    groups
}

/// `also at 12:3, 14:3 (3 places)`; where places have no line, how many there are.
pub(super) fn also(group: &Group<'_>, place: impl Fn(Span) -> Option<(u32, u32)>) -> Option<String> {
    if group.also.is_empty() {
        return None;
    }
    let count = group.also.len() + 1;
    let mut places: Vec<String> = group
        .also
        .iter()
        .take(MAX_PLACES)
        .filter_map(|&span| place(span))
        .map(|(line, column)| format!("{line}:{column}"))
        .collect();
    if places.is_empty() {
        return Some(format!("{count} times"));
    }
    if group.also.len() > MAX_PLACES {
        places.push("...".into());
    }
    Some(format!("also at {} ({count} places)", places.join(", ")))
}

/// `and 17 more errors`, where not all groups are shown.
pub(super) fn more(groups: &[Group<'_>], severity: &str) -> Option<String> {
    let rest = groups.get(MAX_SHOWN..).filter(|rest| !rest.is_empty())?;
    let count: usize = rest.iter().map(|group| 1 + group.also.len()).sum();
    Some(format!("and {count} more {severity}{}", if count == 1 { "" } else { "s" }))
}

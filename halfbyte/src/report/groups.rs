//! Grouping of equal diagnostics at several places.

use std::collections::HashMap;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Diagnostic;

/// Maximum number of groups that a report shows. Further groups are only counted.
pub(super) const MAX_SHOWN: usize = 20;

/// Maximum number of further places that a group lists.
const MAX_PLACES: usize = 10;

/// Equal diagnostics at one or more places.
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The first of the diagnostics.
    pub first: &'r Diagnostic,
    /// Spans of all other diagnostics, in order.
    pub also: Vec<Span>,
}

/// Groups diagnostics that differ only in their span. The groups are in the order of their first diagnostics.
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

/// Formats the further places of a group, as in `also at 12:3, 14:3 (3 places)`. If lines are
/// unknown, the text gives only the number of places. Returns `None` if there are no further
/// places.
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

/// Formats the number of diagnostics that are not shown, as in `and 17 more errors`. Returns `None` if all are shown.
pub(super) fn more(groups: &[Group<'_>], severity: &str) -> Option<String> {
    let rest = groups.get(MAX_SHOWN..).filter(|rest| !rest.is_empty())?;
    let count: usize = rest.iter().map(|group| 1 + group.also.len()).sum();
    Some(format!("and {count} more {severity}{}", if count == 1 { "" } else { "s" }))
}

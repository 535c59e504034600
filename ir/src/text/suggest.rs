//! Suggestions for misspelt names.

/// Returns the candidate with the smallest edit distance to `written`, if the distance is small.
/// Among equally close candidates, returns the first in alphabetical order.
pub fn closest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const LONGEST: usize = 32;
    if written.len() > LONGEST {
        return None;
    }
    let most = (1 + written.len() / 4).min(written.len().saturating_sub(1));
    let distances = candidates.into_iter().map(|candidate| (distance(written, candidate), candidate));
    let near = distances.filter(|&(distance, _)| distance <= most);
    near.min().map(|(_, candidate)| candidate)
}

/// Returns the Levenshtein distance of two texts in bytes. An exchange of two letters counts as two edits.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (slot, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let changed = diagonal + usize::from(x != y);
            diagonal = *slot;
            left = changed.min(*slot + 1).min(left + 1);
            *slot = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_only() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(closest("fmla", ["ffma", "add", "fmul"]), Some("ffma"));
        assert_eq!(closest("add_sat", ["add", "add_sat_s", "add_sat_u"]), Some("add_sat_s"));
        assert_eq!(closest("zzz", ["add", "sub"]), None);
    }
}

//! Suggestions for unknown names in messages.

use halfbyte::ir::text::closest;

/// Maximum number of names that a message lists.
const LISTED: usize = 24;

/// Returns the end of a message about an unknown name: the most similar name, and the list of valid
/// names if there are few.
pub(super) fn suggestion_and_names<'n>(name: &str, sigil: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let meant = did_you_mean(name, sigil, names.iter().copied());
    let has = if meant.is_empty() { "; it has" } else { " It has" };
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("{sigil}{name}")).collect();
    match names.len() {
        0 => "; it has none".to_owned(),
        count if count > LISTED => format!("{meant}{has} {}, and {} more", listed.join(", "), count - LISTED),
        _ => format!("{meant}{has} {}", listed.join(", ")),
    }
}

/// Returns `; did you mean ..?` with the most similar name, or an empty string if no name is similar.
pub(super) fn did_you_mean<'n>(name: &str, sigil: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let found = closest(name, names);
    found.map_or(String::new(), |found| format!("; did you mean `{sigil}{found}`?"))
}

/// Returns the shortest of the names that begin with `name`. If there are none, returns the name
/// with the smallest edit distance. Upper and lower case are equal.
pub(super) fn closest_name<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<(String, &str)> = names.into_iter().map(|name| (name.to_lowercase(), name)).collect();
    let written = name.to_lowercase();
    let begins = |lower: &&str| written.len() > 1 && lower.starts_with(&written) && lower.len() <= written.len() + 2;
    let lower = || names.iter().map(|(lower, _)| lower.as_str());
    let found = lower().filter(begins).min_by_key(|name| name.len()).or_else(|| closest(&written, lower()))?;
    names.iter().find(|(lower, _)| lower == found).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_closest_name_and_lists_names() {
        assert_eq!(suggestion_and_names("axpi", "@", ["axpy", "dot"]), "; did you mean `@axpy`? It has @axpy, @dot");
        assert_eq!(suggestion_and_names("zzz", "", ["axpy"]), "; it has axpy");
        assert_eq!(suggestion_and_names("zzz", "", []), "; it has none");
        let many: Vec<String> = (100..130).map(|number| number.to_string()).collect();
        let said = suggestion_and_names("zzz", "", many.iter().map(String::as_str));
        assert!(said.ends_with("122, 123, and 6 more"), "{said}");
        assert_eq!(closest_name("hadd2", ["HADD2", "HMUL2"]), Some("HADD2"));
        assert_eq!(closest_name("HFMAA", ["HFMA2", "HADD2"]), Some("HFMA2"));
        assert_eq!(closest_name("hadd", ["FADD", "HADD2_32I", "HADD2"]), Some("HADD2"));
        assert_eq!(closest_name("", ["HFMA2"]), None);
    }
}

//! Detection of misspelt directives in the comments of text tests.

use super::checks::CheckKind;

/// A comment whose first word is a misspelt directive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Misspelt {
    /// The byte range of the first word in the comment, up to the colon, if any.
    pub word: std::ops::Range<usize>,
    /// The error message for the misspelt directive.
    pub message: String,
    /// The correct directive.
    pub expected: String,
}

/// The tool that a directive belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// `halfbyte test` or `halfbyte check`, whose directives are in lower case.
    Halfbyte,
    /// LLVM's FileCheck and lit.
    FileCheck,
    /// No tool: a name that a user may guess from `next` and `same`, such as `dag`.
    Nobody,
}

/// Known directives of all tools, each with the correct directive of halfbyte. `-` also matches `_`
/// and blanks, `N` matches digits, and `X` matches any letters and digits.
const DIRECTIVES: &[(Owner, &str, &str)] = &[
    (Owner::Halfbyte, "test", TEST),
    (Owner::Halfbyte, "check", CHECK),
    (Owner::Halfbyte, "next", NEXT),
    (Owner::Halfbyte, "same", SAME),
    (Owner::Halfbyte, "not", NOT),
    (Owner::Halfbyte, "never", "`; never: TEXT`"),
    (Owner::Halfbyte, "check-dag", DAG),
    (Owner::Halfbyte, "check-count-X", COUNT),
    (Owner::Halfbyte, "rule", "`; rule: NAME`"),
    (Owner::Halfbyte, "no-rule", "`; no rule: NAME`"),
    (Owner::Halfbyte, "run", RUN),
    (Owner::Halfbyte, "then", "`; then: @KERNEL items=N`"),
    (Owner::Halfbyte, "refuse", "`; refuse: TARGET: TEXT`"),
    (Owner::FileCheck, "check", CHECK),
    (Owner::FileCheck, "check-next", NEXT),
    (Owner::FileCheck, "check-same", SAME),
    (Owner::FileCheck, "check-not", NOT),
    (Owner::FileCheck, "check-dag", DAG),
    (Owner::FileCheck, "check-count-X", COUNT),
    (Owner::FileCheck, "check-count", COUNT),
    (Owner::FileCheck, "check-label", "`; check: TEXT`; every kernel is a test of its own"),
    (Owner::FileCheck, "check-empty", "`; next: {{^$}}`"),
    (Owner::FileCheck, "run", "`; test: STAGE TARGET`"),
    (Owner::Nobody, "dag", DAG),
    (Owner::Nobody, "count-N", COUNT),
];

const TEST: &str = "`; test: STAGE TARGET`";
const RUN: &str = "`; run: TARGETS: @KERNEL items=N`";
const CHECK: &str = "`; check: TEXT`";
const NEXT: &str = "`; next: TEXT`";
const SAME: &str = "`; same: TEXT`";
const NOT: &str = "`; not: TEXT`";
const DAG: &str = "`; check-dag: TEXT`";
const COUNT: &str = "`; check-count-N: TEXT` with N at least 1";

/// Returns `true` if `word` is a correctly spelt directive of text tests or run lines.
fn is_directive(word: &str) -> bool {
    matches!(word, "test" | "rule" | "no rule" | "run" | "then" | "refuse") || CheckKind::named(word).is_some()
}

/// Finds the directive that a comment was probably meant to be, by its first word. If a colon
/// follows, upper and lower case are equal, and `_` or a blank counts as `-`. Without a colon, only
/// the exact spelling counts. Returns `None` for a correct directive and for ordinary prose.
pub(super) fn misspelt(comment: &str) -> Option<Misspelt> {
    let text = comment.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '/' | '#'));
    let start = comment.len() - text.len();
    let marks = comment.get(..start).unwrap_or_default();
    let is_first = marks.trim().is_empty();
    let shown = |word: &str| if is_first { word.to_owned() } else { format!(";{marks}{word}") };
    let mut without_colon = None;
    for &(owner, name, meant) in DIRECTIVES {
        let Some((word, rest)) = prefix(text, name).and_then(|length| text.split_at_checked(length)) else { continue };
        // FileCheck allows a modifier, as in `CHECK{LITERAL}:`.
        let modifier = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let after = modifier.map_or(rest, |(_, after)| after).trim_start();
        if !after.starts_with(':') {
            let is_exact = match owner {
                Owner::Halfbyte => is_directive(word),
                Owner::FileCheck => is_plain(word),
                Owner::Nobody => false,
            };
            if is_exact && without_colon.is_none() {
                let message = format!("`{}` without a colon is taken for an ordinary comment", shown(word));
                without_colon = Some(Misspelt { word: start..start + word.len(), message, expected: meant.to_owned() });
            }
            continue;
        }
        if is_first && after.len() == rest.len() && is_directive(word) {
            return None;
        }
        let end = text.len() - after.len();
        let message = format!("`{}:` is not a directive; it is read as an ordinary comment", shown(text.get(..end)?));
        // `RUN:` in lit is a shell command, not a launch.
        let is_lit = meant == RUN && !(after.contains('@') && after.contains('='));
        let expected = if is_lit { format!("{TEST}, or {RUN} for `halfbyte check`") } else { meant.to_owned() };
        return Some(Misspelt { word: start..start + end, message, expected });
    }
    without_colon
}

/// Returns `true` if a word is all upper case or all lower case and contains only letters, digits and `-`.
fn is_plain(word: &str) -> bool {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    !word.contains(is_other) && (word == word.to_ascii_uppercase() || word == word.to_ascii_lowercase())
}

/// Returns the length of a directive's name at the start of a text, or `None` if the text does not start with it. Upper
/// and lower case are equal, and `-`, `_` or blanks separate the parts. The name must end at a word boundary.
fn prefix(text: &str, name: &str) -> Option<usize> {
    let mut rest = text;
    for (number, part) in name.split('-').enumerate() {
        if number > 0 {
            let blanks = rest.trim_start_matches([' ', '\t']);
            rest = if blanks.len() < rest.len() { blanks } else { rest.strip_prefix(['-', '_'])? };
        }
        rest = match part {
            "N" => rest.strip_prefix(|c: char| c.is_ascii_digit())?.trim_start_matches(|c: char| c.is_ascii_digit()),
            "X" => rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
            part => rest.split_at_checked(part.len()).filter(|(found, _)| found.eq_ignore_ascii_case(part))?.1,
        };
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    (!rest.starts_with(is_word)).then_some(text.len() - rest.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the first word of a comment with a misspelt directive, and the correct directive.
    fn found(comment: &str) -> Option<(&str, String)> {
        misspelt(comment).map(|wrong| (comment.get(wrong.word).unwrap(), wrong.expected))
    }

    #[test]
    fn directives_in_another_spelling_are_found() {
        for (comment, word, expected) in [
            (" CHECK: IMAD", "CHECK", CHECK),
            (" Check: IMAD", "Check", CHECK),
            (" check : IMAD", "check ", CHECK),
            ("CHECK-NEXT: IMAD", "CHECK-NEXT", NEXT),
            (" check-next: IMAD", "check-next", NEXT),
            (" Next: IMAD", "Next", NEXT),
            (" CHECK_SAME: IMAD", "CHECK_SAME", SAME),
            (" SAME: IMAD", "SAME", SAME),
            (" CHECK-NOT: IMAD", "CHECK-NOT", NOT),
            (" check-not: IMAD", "check-not", NOT),
            (" check not: IMAD", "check not", NOT),
            (" check  not : IMAD", "check  not ", NOT),
            (" Check_Not: IMAD", "Check_Not", NOT),
            (" CHECK-NOT{LITERAL}: [[", "CHECK-NOT{LITERAL}", NOT),
            (" Not: IMAD", "Not", NOT),
            (" Never: IMAD", "Never", "`; never: TEXT`"),
            (" NEVER: IMAD", "NEVER", "`; never: TEXT`"),
            (" CHECK-DAG: IMAD", "CHECK-DAG", DAG),
            (" check_dag: IMAD", "check_dag", DAG),
            (" check dag: IMAD", "check dag", DAG),
            (" dag: IMAD", "dag", DAG),
            (" CHECK-COUNT-3: IMAD", "CHECK-COUNT-3", COUNT),
            (" check-count 3: IMAD", "check-count 3", COUNT),
            (" check-count-0: IMAD", "check-count-0", COUNT),
            (" check-count-99999999999: IMAD", "check-count-99999999999", COUNT),
            (" check-count-two: IMAD", "check-count-two", COUNT),
            (" check-count-: IMAD", "check-count-", COUNT),
            (" check-count: IMAD", "check-count", COUNT),
            (" count-2: IMAD", "count-2", COUNT),
            (" CHECK-LABEL: k", "CHECK-LABEL", "`; check: TEXT`; every kernel is a test of its own"),
            (" CHECK-EMPTY:", "CHECK-EMPTY", "`; next: {{^$}}`"),
            (" Rule: int_mad", "Rule", "`; rule: NAME`"),
            (" no-rule: int_mad", "no-rule", "`; no rule: NAME`"),
            (" NO_RULE: int_mad", "NO_RULE", "`; no rule: NAME`"),
            (" Test: isel halu", "Test", TEST),
            (
                " RUN: llc %s",
                "RUN",
                "`; test: STAGE TARGET`, or `; run: TARGETS: @KERNEL items=N` for `halfbyte check`",
            ),
            (" RUN: halu: @k items=2", "RUN", RUN),
            (" Then: @k items=2", "Then", "`; then: @KERNEL items=N`"),
            (" Refuse: vp1: mul", "Refuse", "`; refuse: TARGET: TEXT`"),
            ("; check: IMAD", "check", CHECK),
            (" // CHECK: IMAD", "CHECK", CHECK),
            // Misspelt directives without a colon.
            (" check IMAD", "check", CHECK),
            (" check", "check", CHECK),
            (" not IMAD", "not", NOT),
            (" no rule int_mad", "no rule", "`; no rule: NAME`"),
            (" check-dag IMAD", "check-dag", DAG),
            (" check-count-2 IMAD", "check-count-2", COUNT),
            (" test isel halu", "test", TEST),
            (" CHECK IMAD", "CHECK", CHECK),
            (" CHECK-NOT IMAD", "CHECK-NOT", NOT),
            (" check-not IMAD", "check-not", NOT),
            (" RUN llc %s", "RUN", TEST),
        ] {
            assert_eq!(found(comment), Some((word, expected.to_owned())), "{comment}");
        }
    }

    #[test]
    fn directives_and_ordinary_comments_are_left_alone() {
        for comment in [
            " check: IMAD",
            "check: IMAD",
            " next: IMAD",
            " same: IMAD",
            " not: IMAD",
            " never: IMAD",
            " check-dag: IMAD",
            " check-count-12: IMAD",
            " rule: int_mad",
            " no rule: int_mad",
            " test: isel halu",
            " run: halu: @k items=2",
            " then: @k items=2",
            " refuse: vp1: mul",
            " check: CHECK-NOT: IMAD",
            // Ordinary prose, which is not a directive.
            "",
            " Note: the product is exact.",
            " Checks: none.",
            " checked: yes",
            " nothing: no",
            " Nexus: x",
            " Not where a bound is crossed.",
            " Next comes the sum",
            " Test of the tail.",
            " Check the sum: it wraps.",
            " No rule is taken: the bound is crossed.",
            " no rules: none",
            " Count: 3",
            " count of rows: 3",
            " DAG of the uses",
            " Label: the exit",
            " the rule: int_mad",
            " COM: CHECK-NOT: IMAD",
            " recheck: x",
            " check_sum: x",
            " notable",
            " re-run: yes",
            " tests: 3",
            " run-time: 3",
            " \u{fc}ber: x",
            " che\u{e7}k: x",
        ] {
            assert_eq!(found(comment), None, "{comment}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |comment: &str| misspelt(comment).unwrap().message;
        assert_eq!(message(" CHECK-NOT: x"), "`CHECK-NOT:` is not a directive; it is read as an ordinary comment");
        assert_eq!(message("; check: x"), "`;; check:` is not a directive; it is read as an ordinary comment");
        assert_eq!(message(" check x"), "`check` without a colon is taken for an ordinary comment");
    }
}

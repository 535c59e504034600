//! Check lines: patterns that a stage's output must or must not contain, in order.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZero;
use std::ops::Range;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Diagnostic;
use regex::{Captures, Regex};

/// Number of output lines that a failure shows.
const SHOWN: usize = 12;

/// Regular expression for a word boundary.
const BOUNDARY: &str = r"\b";

/// The kind of a check line. The kind determines in which part of the output the pattern is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CheckKind {
    /// `check`: the pattern matches on a line after the last match.
    Check,
    /// `check-count-N`: the pattern matches on N different lines after the last match.
    Count(NonZero<u32>),
    /// `check-dag`: the pattern matches on a line after the last match. Consecutive `check-dag`
    /// lines may match in any order.
    Dag,
    /// `next`: the pattern matches on the line after the last match.
    Next,
    /// `same`: the pattern matches on the line of the last match, after that match.
    Same,
    /// `not`: the pattern does not match between the last match and the next one.
    Not,
    /// `never`: the pattern does not match anywhere in the output.
    Never,
}

/// The prefix of `check-count-N`.
const COUNT: &str = "check-count-";

impl CheckKind {
    /// The kinds of check lines whose names contain no number.
    const PLAIN: [CheckKind; 6] =
        [CheckKind::Check, CheckKind::Dag, CheckKind::Next, CheckKind::Same, CheckKind::Not, CheckKind::Never];

    /// Returns the kind of check line for the word before the colon, such as `check-dag`.
    pub(super) fn named(word: &str) -> Option<CheckKind> {
        if let Some(number) = word.strip_prefix(COUNT) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            return number.parse().ok().filter(|_| is_number).map(CheckKind::Count);
        }
        CheckKind::PLAIN.into_iter().find(|kind| kind.name() == word)
    }

    /// Returns `true` if the pattern must match, `false` if it must not.
    const fn is_match(self) -> bool {
        !matches!(self, CheckKind::Not | CheckKind::Never)
    }

    /// Returns the name of the kind; the number in `check-count-N` is shown as `N`.
    const fn name(self) -> &'static str {
        match self {
            CheckKind::Check => "check",
            CheckKind::Count(_) => "check-count-N",
            CheckKind::Dag => "check-dag",
            CheckKind::Next => "next",
            CheckKind::Same => "same",
            CheckKind::Not => "not",
            CheckKind::Never => "never",
        }
    }
}

/// A check line.
#[derive(Clone, Debug)]
pub(super) struct Check {
    kind: CheckKind,
    /// The span of the pattern in the file.
    span: Span,
    /// The pattern's text in the file.
    text: String,
    parts: Vec<PatternPart>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PatternPart {
    /// A regular expression.
    Regex(String),
    /// A name, and a regular expression. The name is bound to the text that the expression matches.
    Bind(String, String),
    /// The text to which this name is bound.
    Use(String),
}

/// A parser for the check lines of one kernel. Names must be bound before they are used.
#[derive(Default)]
pub(super) struct Reader {
    bound: Vec<String>,
    has_match: bool,
}

impl Reader {
    /// Parses the pattern of a check line at `span`.
    pub(super) fn read(&mut self, kind: CheckKind, text: &str, span: Span) -> Result<Check, Diagnostic> {
        let wrong = |message: String| Diagnostic::new(span, message);
        if text.is_empty() {
            return Err(wrong(format!("`{}:` has no pattern", kind.name())).expected("a text, or `{{regex}}`"));
        }
        if kind == CheckKind::Same && !self.has_match {
            return Err(wrong("`same:` has no match before it".into()).expected("`check:` first"));
        }
        let parts = parts(text).map_err(&wrong)?;
        let mut here = Vec::new();
        for part in &parts {
            match part {
                PatternPart::Use(name) if here.contains(name) => {
                    return Err(
                        wrong(format!("`[[{name}]]` is used on the line that binds it")).expected("a later line")
                    );
                }
                PatternPart::Use(name) if !self.bound.contains(name) => {
                    return Err(
                        wrong(format!("`[[{name}]]` is not bound")).expected(format!("`[[{name}:regex]]` before"))
                    );
                }
                PatternPart::Bind(name, _) if !kind.is_match() => {
                    return Err(wrong(format!("`{}:` cannot bind `{name}`", kind.name())).expected("`{{regex}}`"));
                }
                PatternPart::Bind(name, _) if here.contains(name) => {
                    return Err(wrong(format!("`{name}` is given twice")));
                }
                PatternPart::Bind(name, _) => here.push(name.clone()),
                PatternPart::Regex(_) | PatternPart::Use(_) => {}
            }
        }
        regex(&parts, &BTreeMap::new()).map_err(|error| wrong(reason(&error)))?;
        self.bound.extend(here);
        self.has_match |= kind.is_match();
        Ok(Check { kind, span, text: text.to_owned(), parts })
    }
}

/// Returns the message of an invalid regular expression as one line.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("invalid regular expression: {}", last.trim_start_matches("error: "))
}

/// Splits a pattern into its parts: `{{regex}}`, `[[NAME:regex]]`, `[[NAME]]` and literal text.
fn parts(text: &str) -> Result<Vec<PatternPart>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find("{{").into_iter().chain(rest.find("[[")).min();
        let (before, special) = rest.split_at(start.unwrap_or(rest.len()));
        if !before.is_empty() {
            parts.push(PatternPart::Regex(literal(before)));
        }
        rest = special;
        if let Some(inner) = special.strip_prefix("{{") {
            let (inner, after) = closed(inner, "}}").ok_or("`{{` without `}}`")?;
            parts.push(PatternPart::Regex(format!("(?:{inner})")));
            rest = after;
        } else if let Some(inner) = special.strip_prefix("[[") {
            let (inner, after) = closed(inner, "]]").ok_or("`[[` without `]]`")?;
            let (name, regex) = inner.split_once(':').map_or((inner, None), |(name, regex)| (name, Some(regex)));
            let is_name = |name: &str| {
                name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            if !is_name(name) {
                return Err(format!("`{name}` is not a valid name"));
            }
            parts.push(match regex {
                Some(regex) => PatternPart::Bind(name.to_owned(), regex.to_owned()),
                None => PatternPart::Use(name.to_owned()),
            });
            rest = after;
        }
    }
    // A pattern matches whole words at both ends: `R1` does not match in `R10`.
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with(is_word) {
        parts.insert(0, PatternPart::Regex(BOUNDARY.to_owned()));
    }
    if text.ends_with(is_word) {
        parts.push(PatternPart::Regex(BOUNDARY.to_owned()));
    }
    Ok(parts)
}

/// Splits a text at a closing delimiter such as `}}`. If more than two delimiter characters follow
/// each other, the last two are the delimiter.
fn closed<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let mut end = text.find(mark)?;
    while text.get(end + 1..).is_some_and(|rest| rest.starts_with(mark)) {
        end += 1;
    }
    Some((text.get(..end)?, text.get(end + mark.len()..)?))
}

/// Converts literal text to a regular expression. A run of blanks matches any positive number of blanks.
fn literal(text: &str) -> String {
    const BLANKS: &str = "[ \t]+";
    let mut out = String::new();
    let mut words = text.split([' ', '\t']).peekable();
    let mut in_blanks = false;
    while let Some(word) = words.next() {
        out += &regex::escape(word);
        let blank = words.peek().is_some();
        if blank && !(in_blanks && word.is_empty()) {
            out += BLANKS;
        }
        in_blanks = blank;
    }
    out
}

/// Returns the regular expression for a whole pattern, with the bound names replaced by their text.
fn regex(parts: &[PatternPart], names: &BTreeMap<String, String>) -> Result<Regex, regex::Error> {
    let mut text = String::new();
    for part in parts {
        match part {
            PatternPart::Regex(regex) => text += regex,
            PatternPart::Bind(name, regex) => {
                // Writing to a string cannot fail.
                let _ = write!(text, "(?P<{name}>{regex})");
            }
            PatternPart::Use(name) => text += &names.get(name).map_or(String::new(), |value| regex::escape(value)),
        }
    }
    Regex::new(&text)
}

/// Checks an output against check lines. Returns the first failure, or `None` if the output passes.
pub(super) fn check(checks: &[Check], output: &str) -> Option<Diagnostic> {
    let mut search = Search { lines: output.lines().collect(), line: 0, column: 0, names: BTreeMap::new() };
    let mut forbidden: Vec<&Check> = Vec::new();
    let mut rest = checks;
    while let Some(check) = rest.first() {
        let from = search.line;
        let (block, after) = rest.split_at_checked(block_length(rest)).unwrap_or((rest, &[]));
        rest = after;
        let at = match check.kind {
            CheckKind::Not => {
                forbidden.push(check);
                continue;
            }
            CheckKind::Never => match search.forbid(check, 0..search.lines.len()) {
                None => continue,
                failure => return failure,
            },
            CheckKind::Check | CheckKind::Next | CheckKind::Same => search.take(check),
            CheckKind::Count(count) => search.take_each(check, count),
            CheckKind::Dag => search.take_unordered(block),
        };
        let at = match at {
            Ok(at) => at,
            Err(failure) => return Some(*failure),
        };
        for unwanted in forbidden.drain(..) {
            if let Some(failure) = search.forbid(unwanted, from..at) {
                return Some(failure);
            }
        }
    }
    let rest = search.line..search.lines.len();
    forbidden.into_iter().find_map(|unwanted| search.forbid(unwanted, rest.clone()))
}

/// Returns the number of check lines at the start of `checks` that are matched together: consecutive `check-dag` lines,
/// or a single line. A `never` line between them does not end the group.
fn block_length(checks: &[Check]) -> usize {
    match checks.split_first() {
        Some((first, after)) if first.kind == CheckKind::Dag => {
            let is_other = |check: &Check| !matches!(check.kind, CheckKind::Dag | CheckKind::Never);
            1 + after.iter().position(is_other).unwrap_or(after.len())
        }
        _ => 1,
    }
}

struct Search<'o> {
    lines: Vec<&'o str>,
    /// The index of the output line after the last match.
    line: usize,
    /// The byte offset in its line at which the last match ends.
    column: usize,
    names: BTreeMap<String, String>,
}

/// A match in the output: the index of its line, and its byte range there.
type Match = (usize, Range<usize>);

impl<'o> Search<'o> {
    /// Finds the match of a check line, and continues the search after the match. Returns the index
    /// of the matching output line.
    fn take(&mut self, check: &Check) -> Result<usize, Box<Diagnostic>> {
        let regex = self.regex(check)?;
        let find = |line: usize, column: usize| {
            let found = regex.captures(self.lines.get(line)?.get(column..)?)?;
            let end = found.get(0).map_or(0, |whole| whole.end());
            Some((found, line, column + end))
        };
        let last = self.line.saturating_sub(1);
        let (found, begin, what) = match check.kind {
            CheckKind::Next => (find(self.line, 0), self.line, "is not on the next line"),
            CheckKind::Same => (find(last, self.column), last, "is not on the rest of the line"),
            CheckKind::Check | CheckKind::Count(_) | CheckKind::Dag | CheckKind::Not | CheckKind::Never => {
                let found = (self.line..self.lines.len()).find_map(|line| find(line, 0));
                (found, self.line, "is not in the output from here on")
            }
        };
        let Some((found, line, column)) = found else { return Err(self.missing(check, begin, what)) };
        self.bind(&regex, &found);
        (self.line, self.column) = (line + 1, column);
        Ok(line)
    }

    /// Finds `count` consecutive matches of a check line. Returns the index of the first matching output line.
    fn take_each(&mut self, check: &Check, count: NonZero<u32>) -> Result<usize, Box<Diagnostic>> {
        let begin = self.line;
        let mut first = None;
        for number in 0..count.get() {
            match self.take(check) {
                Ok(line) => first = first.or(Some(line)),
                Err(failure) if number == 0 => return Err(failure),
                Err(_) => {
                    let lines = if number == 1 { "line" } else { "lines" };
                    let what = format!("is in {number} {lines} of the output from here on, not in {count}");
                    return Err(self.missing(check, begin, &what));
                }
            }
        }
        Ok(first.unwrap_or(begin))
    }

    /// Finds the matches of several check lines in any order and without overlap. The search continues after the last
    /// match in the output. Returns the index of the first matching output line.
    fn take_unordered(&mut self, block: &[Check]) -> Result<usize, Box<Diagnostic>> {
        let begin = self.line;
        let mut taken: Vec<Match> = Vec::new();
        for check in block {
            if check.kind == CheckKind::Never {
                match self.forbid(check, 0..self.lines.len()) {
                    None => continue,
                    Some(failure) => return Err(Box::new(failure)),
                }
            }
            let regex = self.regex(check)?;
            let found = (begin..self.lines.len()).find_map(|line| self.find_free(&regex, line, &taken));
            let Some((found, place)) = found else {
                let what = match taken.len() {
                    0 => "is not in the output from here on",
                    _ => "is not in the rest of the output, apart from the matches of earlier lines",
                };
                return Err(self.missing(check, begin, what));
            };
            self.bind(&regex, &found);
            taken.push(place);
        }
        let first = taken.iter().map(|(line, _)| *line).min().unwrap_or(begin);
        if let Some((line, columns)) = taken.iter().max_by_key(|(line, columns)| (*line, columns.end)) {
            (self.line, self.column) = (line + 1, columns.end);
        }
        Ok(first)
    }

    /// Returns the first match on an output line that does not overlap a match in `taken`.
    fn find_free(&self, regex: &Regex, line: usize, taken: &[Match]) -> Option<(Captures<'o>, Match)> {
        let text: &'o str = self.lines.get(line)?;
        let mut start = 0;
        loop {
            let found = regex.captures_at(text, start)?;
            let columns = found.get(0)?.range();
            let overlaps = |(of, with): &&Match| *of == line && columns.start < with.end && with.start < columns.end;
            match taken.iter().find(overlaps) {
                Some((_, with)) => start = with.end,
                None => return Some((found, (line, columns))),
            }
        }
    }

    /// Returns the regular expression of a check line, with the bound names replaced by their text.
    fn regex(&self, check: &Check) -> Result<Regex, Box<Diagnostic>> {
        regex(&check.parts, &self.names).map_err(|error| Box::new(Diagnostic::new(check.span, reason(&error))))
    }

    /// Binds each name in a pattern to the text that it matched.
    fn bind(&mut self, regex: &Regex, found: &Captures<'_>) {
        for name in regex.capture_names().flatten() {
            if let Some(value) = found.name(name) {
                self.names.insert(name.to_owned(), value.as_str().to_owned());
            }
        }
    }

    /// Creates the failure for a check line without a match. The failure shows the output from line `begin` on.
    fn missing(&self, check: &Check, begin: usize, what: &str) -> Box<Diagnostic> {
        let mut notes = format!("the search began {}", self.excerpt(begin));
        for part in &check.parts {
            if let PatternPart::Use(name) = part
                && let Some(value) = self.names.get(name)
            {
                // Writing to a string cannot fail.
                let _ = write!(notes, "\nwith [[{name}]] = `{value}`");
            }
        }
        Box::new(Diagnostic::new(check.span, format!("`{}` {what}", check.text)).note(None, notes))
    }

    /// Returns a failure if a pattern matches on one of the given output lines.
    fn forbid(&self, check: &Check, lines: Range<usize>) -> Option<Diagnostic> {
        let regex = regex(&check.parts, &self.names).ok()?;
        let found = lines.into_iter().find(|&line| self.lines.get(line).is_some_and(|text| regex.is_match(text)))?;
        let text = self.lines.get(found).map_or("", |line| line.trim());
        let wrong = Diagnostic::new(check.span, format!("`{}` is in the output", check.text));
        Some(wrong.note(None, format!("line {} of the output: {text}", found + 1)))
    }

    /// Returns at most `SHOWN` lines of the output from line `from` on, with their numbers.
    fn excerpt(&self, from: usize) -> String {
        let count = self.lines.len();
        if from >= count {
            let last = self.lines.last().copied().unwrap_or_default().trim();
            return format!("at the end of the output, after line {count}: {last}");
        }
        let mut out = format!("at line {} of {count} of the output:", from + 1);
        for (number, line) in self.lines.iter().enumerate().skip(from).take(SHOWN) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\n{:>4} | {line}", number + 1);
        }
        if count > from + SHOWN {
            let _ = write!(out, "\n     | and {} more", count - from - SHOWN);
        }
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const OUTPUT: &str = "start\n  add r1, r2, r3\n  mul   r4, r1, r1   // 3\n  add r5, r4, r4\n  exit\n";

    fn read(lines: &[(CheckKind, &str)]) -> Result<Vec<Check>, String> {
        let mut reader = Reader::default();
        let read = |&(kind, text): &(CheckKind, &str)| reader.read(kind, text, Span::default());
        lines.iter().map(read).collect::<Result<_, _>>().map_err(|wrong| wrong.to_string())
    }

    /// Returns the message and the notes of the failure of check lines, or `None` if they pass.
    fn wrong(lines: &[(CheckKind, &str)]) -> Option<(String, String)> {
        let failure = check(&read(lines).unwrap(), OUTPUT)?;
        Some((failure.message.clone(), failure.notes.iter().map(|note| note.message.clone()).collect()))
    }

    #[test]
    fn checks_match_in_order_and_blanks_are_alike() {
        assert_eq!(
            wrong(&[(CheckKind::Check, "add r1"), (CheckKind::Next, "mul r4, r1"), (CheckKind::Check, "exit")]),
            None
        );
        assert_eq!(
            wrong(&[(CheckKind::Check, "mul r4,"), (CheckKind::Same, "r1, r1"), (CheckKind::Same, "// {{[0-9]+}}")]),
            None
        );
        let (message, notes) = wrong(&[(CheckKind::Check, "mul"), (CheckKind::Check, "add r1")]).unwrap();
        assert_eq!(message, "`add r1` is not in the output from here on");
        assert_eq!(notes, "the search began at line 4 of 5 of the output:\n   4 |   add r5, r4, r4\n   5 |   exit");
        let (message, notes) = wrong(&[(CheckKind::Check, "exit"), (CheckKind::Check, "add")]).unwrap();
        assert_eq!(message, "`add` is not in the output from here on");
        assert_eq!(notes, "the search began at the end of the output, after line 5: exit");
    }

    #[test]
    fn next_and_same_are_about_their_lines_only() {
        assert_eq!(wrong(&[(CheckKind::Next, "start")]), None);
        let (message, notes) = wrong(&[(CheckKind::Check, "add r1"), (CheckKind::Next, "add r5")]).unwrap();
        assert_eq!(message, "`add r5` is not on the next line");
        assert!(notes.starts_with("the search began at line 3 of 5"), "{notes}");
        assert!(wrong(&[(CheckKind::Check, "mul r4, r1"), (CheckKind::Same, "r4")]).is_some());
        assert!(wrong(&[(CheckKind::Check, "add r1"), (CheckKind::Same, "mul")]).is_some());
    }

    #[test]
    fn names_stand_for_what_they_matched() {
        let use_of = |text| wrong(&[(CheckKind::Check, "mul [[R:r[0-9]]],"), (CheckKind::Check, text)]);
        assert_eq!(use_of("add r5, [[R]], [[R]]"), None);
        let (_, notes) = use_of("add r5, [[R]], r1").unwrap();
        assert!(notes.ends_with("\nwith [[R]] = `r4`"), "{notes}");
        // A name may be bound again.
        assert_eq!(
            wrong(&[
                (CheckKind::Check, "add [[R:r.]]"),
                (CheckKind::Check, "add [[R:r.]]"),
                (CheckKind::Same, "[[R:r4]]")
            ]),
            None
        );
    }

    #[test]
    fn not_lines_search_between_matches() {
        assert_eq!(wrong(&[(CheckKind::Not, "mul"), (CheckKind::Check, "add r1")]), None);
        assert_eq!(wrong(&[(CheckKind::Check, "mul"), (CheckKind::Not, "mul"), (CheckKind::Not, "sub")]), None);
        let (message, notes) =
            wrong(&[(CheckKind::Check, "add r1"), (CheckKind::Not, "mul"), (CheckKind::Check, "exit")]).unwrap();
        assert_eq!(message, "`mul` is in the output");
        assert_eq!(notes, "line 3 of the output: mul   r4, r1, r1   // 3");
        assert!(wrong(&[(CheckKind::Check, "mul"), (CheckKind::Not, "add")]).is_some());
        assert!(wrong(&[(CheckKind::Not, "exit")]).is_some());
        // `never` searches the whole output, but `not` searches only the lines after the last match.
        assert!(wrong(&[(CheckKind::Check, "exit"), (CheckKind::Not, "add")]).is_none());
        assert!(wrong(&[(CheckKind::Check, "exit"), (CheckKind::Never, "add")]).is_some());
        assert!(wrong(&[(CheckKind::Never, "sub"), (CheckKind::Check, "exit")]).is_none());
    }

    fn count(number: u32) -> CheckKind {
        CheckKind::Count(NonZero::new(number).unwrap())
    }

    #[test]
    fn lines_without_order_match_in_any_order() {
        let dag = |texts: &[&'static str]| texts.iter().map(|text| (CheckKind::Dag, *text)).collect::<Vec<_>>();
        let and = |mut lines: Vec<(CheckKind, &'static str)>, more: &[(CheckKind, &'static str)]| {
            lines.extend(more);
            wrong(&lines)
        };
        assert_eq!(and(dag(&["mul", "add r1"]), &[]), None);
        assert_eq!(and(dag(&["add r5", "add r1", "mul"]), &[(CheckKind::Next, "exit")]), None);
        // `next` continues after the last match in the output, not after the match of the last check line.
        assert_eq!(and(dag(&["mul", "add r1"]), &[(CheckKind::Next, "add r5")]), None);
        assert!(and(dag(&["mul", "add r1"]), &[(CheckKind::Next, "mul")]).is_some());
        assert!(and(dag(&["mul", "add r1"]), &[(CheckKind::Check, "add r1")]).is_some());
        assert_eq!(
            and(dag(&["mul", "add r1"]), &[(CheckKind::Same, "r2, r3")]).unwrap().0,
            "`r2, r3` is not on the rest of the line"
        );
        assert_eq!(and(dag(&["mul", "add r1"]), &[(CheckKind::Same, "// 3")]), None);
        let (message, notes) = and(dag(&["mul", "sub"]), &[]).unwrap();
        assert_eq!(message, "`sub` is not in the rest of the output, apart from the matches of earlier lines");
        assert!(notes.starts_with("the search began at line 1 of 5"), "{notes}");
        assert_eq!(and(dag(&["sub", "mul"]), &[]).unwrap().0, "`sub` is not in the output from here on");
    }

    #[test]
    fn lines_without_order_stay_between_the_ordered_ones() {
        assert_eq!(wrong(&[(CheckKind::Check, "mul"), (CheckKind::Dag, "exit"), (CheckKind::Dag, "add")]), None);
        assert!(wrong(&[(CheckKind::Check, "mul"), (CheckKind::Dag, "exit"), (CheckKind::Dag, "add r1")]).is_some());
        // A `check` or `not` line ends a group of `check-dag` lines.
        assert!(wrong(&[(CheckKind::Dag, "mul"), (CheckKind::Check, "add"), (CheckKind::Dag, "add r1")]).is_some());
        assert!(wrong(&[(CheckKind::Dag, "mul"), (CheckKind::Not, "sub"), (CheckKind::Dag, "add r1")]).is_some());
        assert_eq!(wrong(&[(CheckKind::Dag, "mul"), (CheckKind::Not, "sub"), (CheckKind::Dag, "add r5")]), None);
        assert_eq!(wrong(&[(CheckKind::Dag, "mul"), (CheckKind::Never, "sub"), (CheckKind::Dag, "add r1")]), None);
        assert!(wrong(&[(CheckKind::Dag, "mul"), (CheckKind::Never, "exit"), (CheckKind::Dag, "add r1")]).is_some());
        // A `not` line before a group of `check-dag` lines searches up to the group's first match.
        // A `not` line after the group searches from its last match.
        assert!(wrong(&[(CheckKind::Not, "start"), (CheckKind::Dag, "mul"), (CheckKind::Dag, "add r1")]).is_some());
        assert_eq!(wrong(&[(CheckKind::Not, "mul"), (CheckKind::Dag, "mul"), (CheckKind::Dag, "add r1")]), None);
        assert!(wrong(&[(CheckKind::Not, "add r1"), (CheckKind::Dag, "mul")]).is_some());
        assert_eq!(
            wrong(&[
                (CheckKind::Dag, "mul"),
                (CheckKind::Dag, "add r1"),
                (CheckKind::Not, "mul"),
                (CheckKind::Check, "exit")
            ]),
            None
        );
        assert!(
            wrong(&[
                (CheckKind::Dag, "mul"),
                (CheckKind::Dag, "add r1"),
                (CheckKind::Not, "add"),
                (CheckKind::Check, "exit")
            ])
            .is_some()
        );
    }

    #[test]
    fn lines_without_order_match_different_places() {
        assert_eq!(wrong(&[(CheckKind::Dag, "add"), (CheckKind::Dag, "add"), (CheckKind::Next, "exit")]), None);
        assert!(wrong(&[(CheckKind::Dag, "add"), (CheckKind::Dag, "add"), (CheckKind::Dag, "add")]).is_some());
        // Two `check-dag` lines may match on the same output line.
        assert_eq!(wrong(&[(CheckKind::Dag, "r1"), (CheckKind::Dag, "add"), (CheckKind::Next, "mul")]), None);
        assert_eq!(wrong(&[(CheckKind::Dag, "r1, r1"), (CheckKind::Dag, "mul r4"), (CheckKind::Same, "// 3")]), None);
        assert!(wrong(&[(CheckKind::Dag, "mul r4, r1"), (CheckKind::Dag, "r4, r1, r1")]).is_some());
        // A later `check-dag` line may use a name that an earlier one binds.
        let named = [(CheckKind::Dag, "mul [[R:r.]]"), (CheckKind::Dag, "add r5, [[R]]")];
        assert_eq!(wrong(&named), None);
        let (_, notes) = wrong(&[(CheckKind::Dag, "mul [[R:r.]]"), (CheckKind::Dag, "add r1, [[R]]")]).unwrap();
        assert!(notes.ends_with("with [[R]] = `r4`"), "{notes}");
    }

    #[test]
    fn counted_lines_match_one_after_another() {
        assert_eq!(wrong(&[(count(2), "add"), (CheckKind::Next, "exit")]), None);
        assert_eq!(wrong(&[(count(1), "add"), (CheckKind::Next, "mul")]), None);
        let (message, notes) = wrong(&[(CheckKind::Check, "start"), (count(3), "add")]).unwrap();
        assert_eq!(message, "`add` is in 2 lines of the output from here on, not in 3");
        assert!(notes.starts_with("the search began at line 2 of 5"), "{notes}");
        assert_eq!(
            wrong(&[(count(u32::MAX), "mul")]).unwrap().0,
            "`mul` is in 1 line of the output from here on, not in 4294967295"
        );
        assert_eq!(wrong(&[(count(2), "sub")]).unwrap().0, "`sub` is not in the output from here on");
        // A pattern may match more often than `check-count-N` requires. A `not` line forbids
        // matches before the first or after the last counted match.
        assert_eq!(wrong(&[(count(1), "add")]), None);
        assert!(wrong(&[(count(1), "add"), (CheckKind::Not, "add")]).is_some());
        assert_eq!(wrong(&[(count(2), "add"), (CheckKind::Not, "add")]), None);
        assert_eq!(wrong(&[(CheckKind::Not, "mul"), (count(2), "add")]), None);
        assert!(wrong(&[(CheckKind::Not, "start"), (count(2), "add")]).is_some());
        assert_eq!(wrong(&[(count(2), "add [[R:r.]]"), (CheckKind::Check, "exit")]), None);
    }

    #[test]
    fn kinds_have_names() {
        for kind in CheckKind::PLAIN {
            assert_eq!(CheckKind::named(kind.name()), Some(kind));
        }
        assert_eq!(
            (CheckKind::named("check-count-3"), CheckKind::named("check-count-012")),
            (Some(count(3)), Some(count(12)))
        );
        for word in [
            "check-count-0",
            "check-count-",
            "check-count-N",
            "check-count-+1",
            "check-count-4294967296",
            "CHECK",
            "dag",
            "",
        ] {
            assert_eq!(CheckKind::named(word), None, "{word}");
        }
    }

    #[test]
    fn bad_patterns_are_errors() {
        let table: &[(&[(CheckKind, &str)], &str)] = &[
            (&[(CheckKind::Check, "")], "`check:` has no pattern; expected a text, or `{{regex}}`"),
            (
                &[(CheckKind::Not, "x"), (CheckKind::Same, "y")],
                "`same:` has no match before it; expected `check:` first",
            ),
            (&[(CheckKind::Dag, "")], "`check-dag:` has no pattern; expected a text, or `{{regex}}`"),
            (
                &[(CheckKind::Dag, "[[R]]"), (CheckKind::Dag, "[[R:x]]")],
                "`[[R]]` is not bound; expected `[[R:regex]]` before",
            ),
            (&[(CheckKind::Check, "a{{b")], "`{{` without `}}`"),
            (&[(CheckKind::Check, "a[[b")], "`[[` without `]]`"),
            (&[(CheckKind::Check, "[[1:x]]")], "`1` is not a valid name"),
            (&[(CheckKind::Check, "[[R]]")], "`[[R]]` is not bound; expected `[[R:regex]]` before"),
            (
                &[(CheckKind::Check, "[[R:x]] [[R]]")],
                "`[[R]]` is used on the line that binds it; expected a later line",
            ),
            (&[(CheckKind::Check, "[[R:x]] [[R:y]]")], "`R` is given twice"),
            (&[(CheckKind::Not, "[[R:x]]")], "`not:` cannot bind `R`; expected `{{regex}}`"),
            (&[(CheckKind::Never, "[[R:x]]")], "`never:` cannot bind `R`; expected `{{regex}}`"),
            (&[(CheckKind::Check, "{{(}}")], "invalid regular expression: unclosed group"),
        ];
        for (lines, message) in table {
            assert_eq!(read(lines).unwrap_err(), *message);
        }
    }

    #[test]
    fn a_regex_may_end_with_the_closing_character() {
        assert_eq!(parts("{{x{2}}}").unwrap(), [PatternPart::Regex("(?:x{2})".into())]);
        assert_eq!(parts("[[R:[0-9]]]").unwrap(), [PatternPart::Bind("R".into(), "[0-9]".into())]);
        assert_eq!(parts(".a  b,").unwrap(), [PatternPart::Regex("\\.a[ \t]+b,".into())]);
    }

    #[test]
    fn words_are_whole_at_the_ends_of_a_pattern() {
        assert!(wrong(&[(CheckKind::Check, "dd r1")]).is_some() && wrong(&[(CheckKind::Check, "mul r4, r")]).is_some());
        assert_eq!(wrong(&[(CheckKind::Check, "{{.}}dd r1"), (CheckKind::Same, ", r2")]), None);
        assert_eq!(wrong(&[(CheckKind::Not, "ad"), (CheckKind::Not, "xit"), (CheckKind::Check, "exit")]), None);
    }
}

//! Reports: lists of diagnostics about a text, shown with excerpts of the text.

mod groups;
#[cfg_attr(feature = "snippets", path = "report/snippets.rs")]
#[cfg_attr(not(feature = "snippets"), path = "report/plain.rs")]
mod shown;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use halfbyte_ir::diag::{Diagnostic, Lines};

use crate::source::SourceText;

pub use groups::Group;

/// Errors or warnings about one source text. `Display` writes each message with file, line and column, the expected
/// form, and a suggested replacement. With feature `snippets` it also shows the source line with an underline.
///
/// Equal messages at several places are shown once, with a list of the other places. After twenty messages, `Display`
/// writes only the number of the remaining messages.
#[derive(Clone, Debug)]
pub struct Report {
    file: String,
    source: SourceText,
    list: Vec<Diagnostic>,
    severity: Severity,
}

/// Severity of the diagnostics in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The text is wrong.
    Error,
    /// The text is probably not what its author intended.
    Warning,
}

impl Severity {
    /// Returns the name of the severity in messages: `error` or `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Report {
    /// Creates a report of errors in the text of a file.
    pub fn new(file: impl Into<String>, text: impl Into<Arc<str>>, list: impl Into<Vec<Diagnostic>>) -> Report {
        Report::of(file, SourceText::Text(text.into().into()), list.into())
    }

    /// Creates a report of warnings about the text of a file.
    pub fn warnings(file: impl Into<String>, text: impl Into<Arc<str>>, list: impl Into<Vec<Diagnostic>>) -> Report {
        Report { severity: Severity::Warning, ..Report::new(file, text, list) }
    }

    /// Creates a report of errors in kernels that have the given source.
    pub(crate) fn of(file: impl Into<String>, source: SourceText, list: Vec<Diagnostic>) -> Report {
        Report { file: file.into(), source, list, severity: Severity::Error }
    }

    /// Creates a report with the diagnostics in `list`, and with the text and the severity of this
    /// report.
    #[must_use]
    pub fn with(&self, list: impl Into<Vec<Diagnostic>>) -> Report {
        Report { file: self.file.clone(), source: self.source.clone(), list: list.into(), severity: self.severity }
    }

    /// Returns the severity of the diagnostics.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns the file name that messages show.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the source text, or an empty string if the report has none.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns the source text with the index of its lines. The text is empty if the report has none.
    pub fn lines(&self) -> Lines<'_> {
        match &self.source {
            SourceText::Text(text) => text.lines(),
            SourceText::None | SourceText::Map(_) => Lines::new(""),
        }
    }

    /// Returns the diagnostics, in the order in which they are shown.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Returns the diagnostics in the order in which they are shown. Equal diagnostics form one group.
    pub fn groups(&self) -> Vec<Group<'_>> {
        groups::grouped(&self.list)
    }

    /// Formats the report, with terminal colours if `colours` is `true`. Without feature `snippets`
    /// there are no colours.
    pub fn render(&self, colours: bool) -> String {
        shown::render(self, colours)
    }
}

/// Number of characters at each end of a long message that are shown. A message may quote a text of any length.
const SHOWN: usize = 400;

fn clipped(message: &str) -> Cow<'_, str> {
    let end = message.char_indices().nth(SHOWN).map(|(byte, _)| byte);
    let start = message.char_indices().nth_back(SHOWN).map(|(byte, _)| byte);
    match (end, start) {
        (Some(end), Some(start)) if end < start => {
            let [first, last] = [message.get(..end), message.get(start..)].map(Option::unwrap_or_default);
            // A message with several lines is shortened at line breaks.
            match (first.rfind('\n'), last.find('\n')) {
                (Some(end), Some(start)) => {
                    let [first, last] = [first.get(..=end), last.get(start..)].map(Option::unwrap_or_default);
                    Cow::Owned(format!("{first}...{last}"))
                }
                _ => Cow::Owned(format!("{first} ... {last}")),
            }
        }
        _ => Cow::Borrowed(message),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}

#[cfg(test)]
mod tests {
    use halfbyte_ir::Span;

    use super::*;

    fn at(source: &str, start: u32, end: u32) -> String {
        let diagnostic = Diagnostic::new(Span { start, end }, "wrong").expected("right");
        Report::new("k.hb", source, vec![diagnostic]).to_string()
    }

    #[test]
    #[cfg(feature = "snippets")]
    fn names_file_line_and_column_and_marks_the_place() {
        let shown = at("first\nsecond %x\n", 13, 15);
        assert!(shown.starts_with("error: wrong\n --> k.hb:2:8\n"), "{shown}");
        assert!(shown.contains("2 | second %x\n"), "{shown}");
        assert!(shown.ends_with("|        ^^ expected right"), "{shown}");
    }

    #[test]
    fn any_place_of_any_text_can_be_shown() {
        let long = format!("{}é{}", "x".repeat(100_000), "\u{7}y".repeat(100_000));
        for source in ["", "\n", "é\r\n\tü", long.as_str()] {
            for (start, end) in [(0, 0), (0, 1), (1, 1), (3, 9), (100_000, 100_001), (7, u32::MAX), (u32::MAX, 0)] {
                let shown = at(source, start, end);
                assert!(shown.contains("k.hb:"), "{shown}");
                assert!(shown.len() < 5000, "{} bytes", shown.len());
            }
        }
    }

    #[test]
    #[cfg(feature = "snippets")]
    fn what_is_true_of_several_places_is_said_once() {
        let wrong =
            |start: u32, message: &str| Diagnostic::new(Span { start, end: start + 1 }, message).help("write x");
        let list = vec![wrong(0, "wrong"), wrong(2, "other"), wrong(4, "wrong"), wrong(6, "wrong")];
        let report = Report::new("k.hb", "a\nb\nc\nd\n", list);
        let groups: Vec<_> = report.groups().iter().map(|group| (group.first.span.start, group.also.len())).collect();
        assert_eq!(groups, [(0, 2), (2, 0)]);
        let shown = report.to_string();
        assert!(shown.contains("= help: write x\n  = note: also at 3:1, 4:1 (3 places)\n\nerror: other"), "{shown}");
        let many: Vec<_> = (0..38).map(|n| wrong(0, &format!("wrong {n}"))).collect();
        let shown = Report::new("k.hb", "a\n", many).to_string();
        assert!(shown.contains("wrong 19\n") && !shown.contains("wrong 20\n"), "{shown}");
        assert!(shown.ends_with("\nerror: and 18 more errors"), "{shown}");
    }

    #[test]
    fn a_message_that_quotes_much_is_clipped() {
        let quoted = "é".repeat(1_000_000);
        let diagnostic = Diagnostic::new(Span::default(), format!("`{quoted}`: wrong"))
            .expected(&quoted)
            .note(None, quoted.as_str())
            .note(Some(Span { start: 0, end: 5 }), quoted.as_str());
        let shown = Report::new("k.hb", quoted.as_str(), vec![diagnostic]).to_string();
        assert!(shown.starts_with("error: `éé") && shown.contains("é`: wrong\n"), "{shown}");
        assert!(shown.len() < 20_000, "{} bytes", shown.len());
        assert_eq!(clipped(&quoted[..4 * SHOWN]), quoted[..4 * SHOWN]);
        let lines: String = (0..200).map(|line| format!("line {line}\n")).collect();
        let shown = clipped(&lines);
        assert!(shown.contains("\n...\nline "), "{shown}");
    }

    #[test]
    #[cfg(not(feature = "snippets"))]
    fn names_file_line_and_column() {
        assert_eq!(at("first\nsecond %x\n", 13, 15), "error: wrong\n --> k.hb:2:8: expected right");
    }

    #[test]
    #[cfg(feature = "snippets")]
    fn notes_stand_below() {
        let diagnostic = Diagnostic::new(Span { start: 6, end: 7 }, "wrong")
            .note(None, "because")
            .note(Some(Span { start: 0, end: 5 }), "first seen here");
        let shown = Report::new("k.hb", "first\ns\n", vec![diagnostic]).to_string();
        assert!(shown.contains("= note: because"), "{shown}");
        assert!(shown.contains("note: first seen here") && shown.contains("1 | first"), "{shown}");
    }
}

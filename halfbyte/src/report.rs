//! What is wrong with a text, shown with the text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};
use halfbyte_ir::Span;
use halfbyte_ir::diag::{Diagnostic, Lines};

use crate::module::Source;

/// The findings about one text. It displays as messages that name file, line and column, show the line with a mark under
/// the place, and say what was expected.
#[derive(Clone, Debug)]
pub struct Report {
    file: String,
    source: Source,
    list: Vec<Diagnostic>,
}

impl Report {
    /// Findings about the text of a file.
    pub fn new(file: impl Into<String>, text: impl Into<Arc<str>>, list: impl Into<Vec<Diagnostic>>) -> Report {
        Report::of(file, Source::Text(text.into()), list.into())
    }

    /// Findings about what was made of a file.
    pub(crate) fn of(file: impl Into<String>, source: Source, list: Vec<Diagnostic>) -> Report {
        Report { file: file.into(), source, list }
    }

    /// The file's name, as messages show it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The findings, in the order they are shown.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.list
    }

    /// The messages, with terminal colours or without.
    pub fn render(&self, colours: bool) -> String {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let lines = Lines::new(self.source.text());
        let shown = self.list.iter().map(|diagnostic| {
            let title = Level::ERROR.primary_title(clipped(&diagnostic.message));
            let label =
                diagnostic.expected.as_ref().map(|expected| clipped(&format!("expected {expected}")).into_owned());
            let mut groups = vec![self.place(title, &lines, diagnostic.span, label)];
            for note in &diagnostic.notes {
                match (note.span, groups.last_mut()) {
                    (None, Some(last)) => {
                        let plain = std::mem::replace(last, Group::with_level(Level::NOTE));
                        *last = plain.element(Level::NOTE.message(clipped(&note.message)));
                    }
                    (span, _) => {
                        let title = Level::NOTE.secondary_title(clipped(&note.message));
                        groups.push(self.place(title, &lines, span.unwrap_or_default(), None));
                    }
                }
            }
            renderer.render(&groups)
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }

    /// A message with its place: the line where there is a text, else where a map says that it is.
    fn place<'a>(&'a self, title: Title<'a>, lines: &Lines<'a>, span: Span, label: Option<String>) -> Group<'a> {
        let expected = |group: Group<'a>, label: Option<String>| match label {
            Some(label) => group.element(Level::NOTE.message(label)),
            None => group,
        };
        match &self.source {
            Source::Text(_) => title.element(self.snippet(lines, span, label)),
            Source::Map(map) => {
                let loc = map.locate(span);
                let origin = Origin::path(self.file.as_str());
                let known = loc.is_known().then_some((loc.line as usize, loc.column as usize));
                let origin = known.map_or(origin.clone(), |(line, column)| origin.line(line).char_column(column));
                expected(title.element(origin), label)
            }
            Source::None => expected(title.element(Origin::path(self.file.as_str())), label),
        }
    }

    /// The line of a place with a mark under it. A place of several lines is marked to the end of its first.
    fn snippet<'a>(
        &'a self,
        lines: &Lines<'a>,
        span: Span,
        label: Option<String>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let position = lines.position(span.start);
        let text = lines.text(position.line);
        let start = text.char_indices().nth(position.column - 1).map_or(text.len(), |(byte, _)| byte);
        let length = span.end.saturating_sub(span.start) as usize;
        let end = text.floor_char_boundary(start.saturating_add(length).min(text.len()));
        let mark = AnnotationKind::Primary.span(start..end.max(start)).label(label);
        Snippet::source(text).line_start(position.line).path(self.file.as_str()).annotation(mark)
    }
}

/// Of a message, so many characters at its beginning are shown, and so many at its end: it may quote a text of any length.
const SHOWN: usize = 400;

fn clipped(message: &str) -> Cow<'_, str> {
    let end = message.char_indices().nth(SHOWN).map(|(byte, _)| byte);
    let start = message.char_indices().nth_back(SHOWN).map(|(byte, _)| byte);
    match (end, start) {
        (Some(end), Some(start)) if end < start => {
            let [first, last] = [message.get(..end), message.get(start..)].map(Option::unwrap_or_default);
            Cow::Owned(format!("{first} ... {last}"))
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
    use super::*;

    fn at(source: &str, start: u32, end: u32) -> String {
        let diagnostic = Diagnostic::new(Span { start, end }, "wrong").expected("right");
        Report::new("k.hb", source, vec![diagnostic]).to_string()
    }

    #[test]
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
    }

    #[test]
    fn notes_stand_below() {
        let diagnostic = Diagnostic::new(Span { start: 6, end: 7 }, "wrong")
            .note(None, "because")
            .note(Some(Span { start: 0, end: 5 }), "first seen here");
        let shown = Report::new("k.hb", "first\ns\n", vec![diagnostic]).to_string();
        assert!(shown.contains("= note: because"), "{shown}");
        assert!(shown.contains("note: first seen here") && shown.contains("1 | first"), "{shown}");
    }
}

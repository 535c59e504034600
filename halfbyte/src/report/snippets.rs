//! Messages with the line that they are about and a mark under the place.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};
use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;

use super::{Report, clipped};
use crate::source::Locator;

pub(super) fn render(report: &Report, colours: bool) -> String {
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    let locator = report.source.locator();
    let shown = report.list.iter().map(|diagnostic| {
        let title = Level::ERROR.primary_title(clipped(&diagnostic.message));
        let label = diagnostic.expected.as_ref().map(|expected| clipped(&format!("expected {expected}")).into_owned());
        let mut groups = vec![place(report, title, &locator, diagnostic.span, label)];
        for note in &diagnostic.notes {
            match (note.span, groups.last_mut()) {
                (None, Some(last)) => {
                    let plain = std::mem::replace(last, Group::with_level(Level::NOTE));
                    *last = plain.element(Level::NOTE.message(clipped(&note.message)));
                }
                (span, _) => {
                    let title = Level::NOTE.secondary_title(clipped(&note.message));
                    groups.push(place(report, title, &locator, span.unwrap_or_default(), None));
                }
            }
        }
        renderer.render(&groups)
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// A message with its place: the line where there is a text, else where a map says that it is.
fn place<'a>(
    report: &'a Report,
    title: Title<'a>,
    locator: &Locator<'a>,
    span: Span,
    label: Option<String>,
) -> Group<'a> {
    if let Locator::Text(lines) = locator {
        return title.element(snippet(report, lines, span, label));
    }
    let loc = locator.locate(span, 0);
    let origin = Origin::path(report.file.as_str());
    let known = loc.is_known().then_some((loc.line as usize, loc.column as usize));
    let group = title.element(known.map_or(origin.clone(), |(line, column)| origin.line(line).char_column(column)));
    match label {
        Some(label) => group.element(Level::NOTE.message(label)),
        None => group,
    }
}

/// The line of a place with a mark under it. A place of several lines is marked to the end of its first.
fn snippet<'a>(
    report: &'a Report,
    lines: &Lines<'a>,
    span: Span,
    label: Option<String>,
) -> Snippet<'a, Annotation<'a>> {
    let position = lines.position(span.start);
    let text = lines.text(position.line);
    let start = text.char_indices().nth(position.column - 1).map_or(text.len(), |(byte, _)| byte);
    let length = span.end.saturating_sub(span.start) as usize;
    let end = text.floor_char_boundary(start.saturating_add(length).min(text.len()));
    let mark = AnnotationKind::Primary.span(start..end.max(start)).label(label);
    Snippet::source(text).line_start(position.line).path(report.file.as_str()).annotation(mark)
}

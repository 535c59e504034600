//! Formatting of reports with source excerpts and underlines.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};
use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;

use super::groups::{MAX_SHOWN, also, more};
use super::{Report, Severity, clipped};
use crate::source::Locator;

pub(super) fn render(report: &Report, colours: bool) -> String {
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    let locator = report.source.locator();
    let groups = report.groups();
    let level = match report.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let line =
        |span: Span| Some(locator.locate(span, 0)).filter(|loc| loc.is_known()).map(|loc| (loc.line, loc.column));
    let shown = groups.iter().take(MAX_SHOWN).map(|group| {
        let diagnostic = group.first;
        let title = level.clone().primary_title(clipped(&diagnostic.message));
        let label = diagnostic.expected.as_ref().map(|expected| clipped(&format!("expected {expected}")).into_owned());
        let mut parts = vec![place(report, title, &locator, diagnostic.span, label)];
        let remark = |parts: &mut Vec<Group<'_>>, level: Level<'static>, text: String| {
            if let Some(last) = parts.last_mut() {
                let plain = std::mem::replace(last, Group::with_level(Level::NOTE));
                *last = plain.element(level.message(text));
            }
        };
        if let Some(help) = &diagnostic.help {
            remark(&mut parts, Level::HELP, clipped(help).into_owned());
        }
        if let Some(also) = also(group, line) {
            remark(&mut parts, Level::NOTE, also);
        }
        for note in &diagnostic.notes {
            match note.span {
                None => remark(&mut parts, Level::NOTE, clipped(&note.message).into_owned()),
                Some(span) => {
                    let title = Level::NOTE.secondary_title(clipped(&note.message));
                    parts.push(place(report, title, &locator, span, None));
                }
            }
        }
        renderer.render(&parts)
    });
    let more = more(&groups, report.severity.name());
    let more = more.map(|more| renderer.render(&[Group::with_title(level.clone().primary_title(more))]));
    shown.chain(more).collect::<Vec<_>>().join("\n\n")
}

/// Adds the location of a span to a message. The location is the source line if there is a text,
/// otherwise the line and column from the source map.
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

/// Returns the source line of a span with an underline. If the span covers several lines, its first
/// line is underlined to the end.
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

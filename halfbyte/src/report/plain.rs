//! Formatting of reports as text with locations, without source excerpts.

use halfbyte_ir::Span;

use super::groups::{MAX_SHOWN, also, more};
use super::{Report, clipped};

pub(super) fn render(report: &Report, _: bool) -> String {
    let locator = report.source.locator();
    let severity = report.severity.name();
    let place = |span: Span| {
        let loc = locator.locate(span, 0);
        let known = loc.is_known().then(|| format!(":{}:{}", loc.line, loc.column));
        format!("{}{}", report.file, known.unwrap_or_default())
    };
    let groups = report.groups();
    let line =
        |span: Span| Some(locator.locate(span, 0)).filter(|loc| loc.is_known()).map(|loc| (loc.line, loc.column));
    let shown = groups.iter().take(MAX_SHOWN).map(|group| {
        let diagnostic = group.first;
        let expected =
            diagnostic.expected.as_ref().map(|expected| clipped(&format!("expected {expected}")).into_owned());
        let expected = expected.map_or(String::new(), |expected| format!(": {expected}"));
        let mut text =
            format!("{severity}: {}\n --> {}{expected}", clipped(&diagnostic.message), place(diagnostic.span));
        if let Some(help) = &diagnostic.help {
            text += &format!("\n = help: {}", clipped(help));
        }
        for note in &diagnostic.notes {
            text += &format!("\n = note: {}", clipped(&note.message));
            text.extend(note.span.map(|span| format!("\n --> {}", place(span))));
        }
        if let Some(also) = also(group, line) {
            text += &format!("\n = note: {also}");
        }
        text
    });
    let more = more(&groups, severity).map(|more| format!("{severity}: {more}"));
    shown.chain(more).collect::<Vec<_>>().join("\n\n")
}

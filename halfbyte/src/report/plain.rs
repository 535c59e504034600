//! Messages that name the place and do not show it.

use halfbyte_ir::Span;

use super::{Report, clipped};

pub(super) fn render(report: &Report, _: bool) -> String {
    let locator = report.source.locator();
    let place = |span: Span| {
        let loc = locator.locate(span, 0);
        let known = loc.is_known().then(|| format!(":{}:{}", loc.line, loc.column));
        format!("{}{}", report.file, known.unwrap_or_default())
    };
    let shown = report.list.iter().map(|diagnostic| {
        let expected =
            diagnostic.expected.as_ref().map(|expected| clipped(&format!("expected {expected}")).into_owned());
        let expected = expected.map_or(String::new(), |expected| format!(": {expected}"));
        let mut text = format!("error: {}\n --> {}{expected}", clipped(&diagnostic.message), place(diagnostic.span));
        for note in &diagnostic.notes {
            text += &format!("\n = note: {}", clipped(&note.message));
            text.extend(note.span.map(|span| format!("\n --> {}", place(span))));
        }
        text
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

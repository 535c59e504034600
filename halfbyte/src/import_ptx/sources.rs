//! Notes in messages about PTX that give the source locations of PTX lines, as `.loc` directives
//! record them.

use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_isa::ptx::text::ParsedFile;

use crate::launch::loc_of;

/// Adds a note to a diagnostic about a PTX text: the source location of each line that the
/// diagnostic points to. Returns the diagnostic unchanged if no `.loc` directive applies to these
/// lines.
pub fn with_sources(diagnostic: Diagnostic, lines: &Lines<'_>, read: &ParsedFile) -> Diagnostic {
    let spans = diagnostic.notes.iter().filter_map(|note| note.span);
    let mut told: Vec<String> = Vec::new();
    for loc in std::iter::once(diagnostic.span).chain(spans).filter_map(|span| loc_of(lines, span)) {
        let Some(origin) = read.source_of(loc) else { continue };
        let text = format!("line {} is from {origin}", loc.line);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    if told.is_empty() { diagnostic } else { diagnostic.note(None, told.join("; ")) }
}

//! Listings: words beside their assembly and the text they come from, for people.

use std::fmt::{self, Write};

use crate::emitter::{Code, Emitter, WORD};

/// Column at which the source of a word begins, where its assembly leaves room.
const ASSEMBLY_WIDTH: usize = 48;

/// A kernel as text: its parameters and where they lie, on VP1 also its streams and its image; then a line a word with its address
/// in hexadecimal, its digits, its assembly, and the line and column it comes from in `source`. Bundles stand in braces.
///
/// With the source's `text`, a word also shows the source line, unless the word before it has the same.
pub fn listing(emitter: &dyn Emitter, code: &Code, source: &str, text: Option<&str>) -> String {
    let mut out = String::new();
    // Writing to a string succeeds.
    let _ = write_listing(&mut out, emitter, code, source, text);
    out
}

fn write_listing(
    out: &mut String,
    emitter: &dyn Emitter,
    code: &Code,
    source: &str,
    text: Option<&str>,
) -> fmt::Result {
    let (signature, words) = (&code.info.signature, code.words.len());
    write!(out, "// kernel @{} of {source}: {words} words", signature.name())?;
    emitter.write_head(out, code)?;
    let lines = emitter.lines(code);
    let source_lines: Vec<&str> = text.unwrap_or_default().lines().collect();
    let mut shown = 0;
    let mut locs = code.locs.iter().enumerate();
    for line in lines.lines() {
        let Some(assembly) = line.strip_prefix(WORD) else {
            writeln!(out, "{line}")?;
            continue;
        };
        let Some((address, loc)) = locs.next() else {
            break;
        };
        write!(out, "{address:04x}  ")?;
        if code.words.get(address).is_some() {
            write!(out, "{}  ", code.words.digits(address))?;
        }
        out.push_str(assembly);
        if loc.is_known() {
            let width = ASSEMBLY_WIDTH.saturating_sub(assembly.len());
            write!(out, "{:width$}  // {}:{}", "", loc.line, loc.column)?;
            if loc.line != shown
                && let Some(line) = source_lines.get(loc.line as usize - 1)
            {
                write!(out, "  {}", line.trim())?;
            }
        }
        shown = loc.line;
        out.push('\n');
    }
    Ok(())
}

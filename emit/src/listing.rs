//! Listings: instruction words with their assembly and their source location.

use std::fmt::{self, Write};

use crate::emitter::{Emitter, KernelCode, WORD};

/// Column at which the source location of an instruction word begins, if its assembly is short enough.
const ASSEMBLY_WIDTH: usize = 48;

/// Formats a kernel as a listing.
///
/// The head shows the parameters with their addresses, and on VP1 the streams and the memory image.
/// One line for each instruction word follows: its hexadecimal address, its hexadecimal digits, its
/// assembly, and its line and column in `source`. Braces enclose the instruction words of a bundle.
///
/// If `text` is the source text, the listing also shows the source line of an instruction word,
/// unless the previous instruction word has the same source line.
pub fn listing(emitter: &dyn Emitter, code: &KernelCode, source: &str, text: Option<&str>) -> String {
    let mut out = String::new();
    // Formatting into a string cannot fail.
    let _ = write_listing(&mut out, emitter, code, source, text);
    out
}

fn write_listing(
    out: &mut String,
    emitter: &dyn Emitter,
    code: &KernelCode,
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

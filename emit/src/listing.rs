//! Listings: words beside their assembly and the text they come from, for people.

mod streams;

use std::fmt::{self, Write};

use halfbyte_isa::object::Words;
use halfbyte_isa::vp1::bundles;

use crate::layout::Code;

/// Column at which the source of a word begins, where its assembly leaves room.
const ASSEMBLY_WIDTH: usize = 48;

/// A kernel as text: its parameters and where they lie, on VP1 also its streams and its image; then a line a word with its address
/// in hexadecimal, its digits, its assembly, and the line and column it comes from in `source`. Bundles stand in braces.
///
/// With the source's `text`, a word also shows the source line, unless the word before it has the same.
pub fn listing(code: &Code, source: &str, text: Option<&str>) -> String {
    let mut out = String::new();
    // Writing to a string succeeds.
    let _ = write_listing(&mut out, code, source, text);
    out
}

fn write_listing(out: &mut String, code: &Code, source: &str, text: Option<&str>) -> fmt::Result {
    let (signature, words) = (&code.info.signature, code.words.len());
    write!(out, "// kernel @{} of {source}: {words} words", signature.name())?;
    match &code.words {
        Words::Halu(_) => {
            let (registers, local_bytes) = (code.info.registers, code.info.local_bytes);
            writeln!(out, ", {registers} registers, {local_bytes} bytes of local memory")?;
            for (param, offset) in signature.params().iter().zip(signature.offsets()) {
                writeln!(out, "// c[0x0][{offset:#x}] {}: {}", param.name, param.kind)?;
            }
        }
        Words::Vp1(words) => {
            write!(out, " in {} bundles", bundles(words).count())?;
            streams::write_head(out, &code.info)?;
        }
    }

    let lines = match &code.words {
        Words::Halu(_) => code.words.disassemble(),
        Words::Vp1(words) => in_braces(words, &code.words),
    };
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
        write!(out, "{address:04x}  {}  {assembly}", code.words.digits(address))?;
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

/// What the line of a word begins with, unlike that of a label.
const WORD: &str = "    ";

/// The assembly of VP1 words, a line each, with braces around bundles.
fn in_braces(vp1: &[u32], words: &Words) -> String {
    let mut lines = String::new();
    for (start, bundle) in bundles(vp1) {
        let end = start + bundle.words();
        for address in start..end {
            let open = if address == start { '{' } else { ' ' };
            let close = if address + 1 == end { " }" } else { "" };
            lines += &format!("{WORD}{open} {}{close}\n", words.text(address as usize));
        }
    }
    lines
}

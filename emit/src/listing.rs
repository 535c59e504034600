//! Listings: words beside their assembly and the text they come from, for people.

mod streams;

use std::fmt::{self, Write};

use halfbyte_isa::object::Words;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::inst_text;
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
        Words::Ptx(kernel) => {
            let (major, minor) = kernel.version;
            writeln!(out, " of PTX {major}.{minor} for {}", kernel.target)?;
            kernel.entry.params.iter().try_for_each(|param| writeln!(out, "// {param}"))?;
        }
    }

    let lines = match &code.words {
        Words::Halu(_) => code.words.disassemble(),
        Words::Vp1(words) => in_braces(words, &code.words),
        Words::Ptx(kernel) => labelled(&kernel.entry),
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

/// What the line of a word begins with, unlike that of a label.
const WORD: &str = "    ";

/// The instructions of an entry, a line each, with labels on lines of their own.
fn labelled(entry: &Entry) -> String {
    let mut lines = String::new();
    let mut labels = entry.labels.iter().peekable();
    for (place, inst) in entry.insts.iter().enumerate() {
        while let Some(label) = labels.next_if(|label| label.at as usize <= place) {
            lines += &format!("{}:\n", label.name);
        }
        lines += &format!("{WORD}{}\n", inst_text(inst, entry));
    }
    lines
}

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

//! Listings: words beside their assembly and the text they come from, for people.

use std::fmt::{self, Write};

use halfbyte_isa::halu::disassemble;

use crate::layout::Code;

/// Column at which the source of a word begins, where its assembly leaves room.
const ASSEMBLY_WIDTH: usize = 48;

/// A kernel as text: its parameters and where they lie, then a line a word with its address in hexadecimal, its digits, its
/// assembly, and the line and column it comes from in `source`.
///
/// With the source's `text`, a word also shows the source line, unless the word before it has the same.
pub fn listing(code: &Code, source: &str, text: Option<&str>) -> String {
    let mut out = String::new();
    // Writing to a string succeeds.
    let _ = write_listing(&mut out, code, source, text);
    out
}

fn write_listing(out: &mut String, code: &Code, source: &str, text: Option<&str>) -> fmt::Result {
    let signature = &code.info.signature;
    writeln!(
        out,
        "// kernel @{} of {source}: {} words, {} registers, {} bytes of local memory",
        signature.name(),
        code.words.len(),
        code.info.registers,
        code.info.local_bytes
    )?;
    for (param, offset) in signature.params().iter().zip(signature.offsets()) {
        writeln!(out, "// c[0x0][{offset:#x}] {}: {}", param.name, param.kind)?;
    }

    let source_lines: Vec<&str> = text.unwrap_or_default().lines().collect();
    let mut shown = 0;
    let mut words = code.words.iter().zip(&code.locs).enumerate();
    for line in disassemble(&code.words).lines() {
        let Some(assembly) = line.strip_prefix("    ") else {
            writeln!(out, "{line}")?;
            continue;
        };
        let Some((address, (word, loc))) = words.next() else {
            break;
        };
        write!(out, "{address:04x}  {word:#034x}  {assembly}")?;
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

//! Diagnostics: an error in a text or kernel, its location, and the expected input.

use std::borrow::Cow;
use std::fmt;

use crate::span::Span;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostic {
    /// Source span of the error; empty if the kernel was not parsed from text.
    pub span: Span,
    /// Error message, in one sentence.
    pub message: String,
    /// Input that would have been valid at the span.
    pub expected: Option<String>,
    /// Help text: the text to write instead, or where the missing feature is available.
    pub help: Option<String>,
    /// Additional notes, such as the location of a definition.
    pub notes: Vec<Note>,
}

/// A note of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// Span that the note refers to, if any.
    pub span: Option<Span>,
    /// Text of the note.
    pub message: String,
}

impl Diagnostic {
    /// Creates a diagnostic without an expectation, help or notes.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span, message: message.into(), expected: None, help: None, notes: Vec::new() }
    }

    /// Sets the expected input.
    pub fn expected(mut self, expected: impl Into<String>) -> Diagnostic {
        self.expected = Some(expected.into());
        self
    }

    /// Sets the help text: what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a note, with the span that it refers to, if any.
    pub fn note(mut self, span: Option<Span>, message: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { span, message: message.into() });
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.expected {
            Some(expected) => write!(f, "; expected {expected}"),
            None => Ok(()),
        }
    }
}

/// A line and column, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Number of the line.
    pub line: usize,
    /// Column, counted in Unicode scalar values. A tab counts as one column.
    pub column: usize,
}

/// Byte offsets of the lines of a text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// `true` if the text is ASCII, so that columns are byte counts.
    is_ascii: bool,
    /// Byte offset of each line start. Text beyond 4 GiB is not indexed, because spans have 32-bit offsets.
    starts: Vec<u32>,
}

/// A source text with the index of its lines. The index is built once, and each lookup takes logarithmic time.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    source: &'s str,
    index: Cow<'s, LineIndex>,
}

/// Lower estimate of the average line length in bytes, used to reserve memory.
const SHORT_LINE: usize = 16;

impl LineIndex {
    /// Builds the line index of a text.
    pub fn new(source: &str) -> LineIndex {
        // Unused capacity costs no physical memory, because its pages are never touched.
        let mut starts = Vec::with_capacity(source.len() / SHORT_LINE + 1);
        starts.push(0);
        let bytes = source.as_bytes();
        let (words, rest) = bytes.get(..u32::MAX as usize).unwrap_or(bytes).as_chunks();
        let mut any = 0;
        for (index, &word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(word);
            any |= word;
            let mut breaks = breaks(word);
            while breaks != 0 {
                starts.push(8 * index as u32 + breaks.trailing_zeros() / 8 + 1);
                breaks &= breaks - 1;
            }
        }
        let before = 8 * words.len() as u32;
        starts.extend((before..).zip(rest).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
        LineIndex { is_ascii: any.to_le_bytes().is_ascii() && rest.is_ascii(), starts }
    }
}

impl<'s> Lines<'s> {
    /// Builds the line index of a text.
    pub fn new(source: &'s str) -> Lines<'s> {
        Lines { source, index: Cow::Owned(LineIndex::new(source)) }
    }

    /// Creates the lines of a text from its line index.
    pub fn with_index(source: &'s str, index: &'s LineIndex) -> Lines<'s> {
        Lines { source, index: Cow::Borrowed(index) }
    }

    /// Returns the line and column of the byte at offset `byte`. Beyond the end of the text,
    /// returns the position of the end.
    pub fn position(&self, byte: u32) -> Position {
        self.position_near(byte, 0)
    }

    /// Returns the line and column of the byte at offset `byte`. The lookup takes constant time if
    /// the byte is on line `line` or an adjacent line.
    pub fn position_near(&self, byte: u32, line: usize) -> Position {
        let byte = match self.index.is_ascii {
            true => self.source.len().min(byte as usize) as u32,
            false => self.source.floor_char_boundary(byte as usize) as u32,
        };
        let line = match line {
            after if self.is_on(byte, after.wrapping_sub(1)) => after - 1,
            same if self.is_on(byte, same) => same,
            before if self.is_on(byte, before.wrapping_add(1)) => before + 1,
            _ => self.index.starts.partition_point(|&start| start <= byte),
        };
        let start = self.start(line);
        let before = match self.index.is_ascii {
            true => (byte as usize).saturating_sub(start),
            false => self.source.get(start..byte as usize).map_or(0, |before| before.chars().count()),
        };
        Position { line, column: before + 1 }
    }

    /// Returns `true` if a byte is on the given line and the line is not the last one.
    #[inline]
    fn is_on(&self, byte: u32, line: usize) -> bool {
        let bounds = line.checked_sub(1).and_then(|first| self.index.starts.get(first..)?.first_chunk());
        bounds.is_some_and(|&[start, next]| (start..next).contains(&byte))
    }

    /// Returns a line's text without its line break, or an empty string if there is no such line.
    pub fn text(&self, line: usize) -> &'s str {
        let end = self.index.starts.get(line).map_or(self.source.len(), |&next| next as usize - 1);
        let text = self.source.get(self.start(line)..end).unwrap_or_default();
        text.strip_suffix('\r').unwrap_or(text)
    }

    /// Returns the byte offset at which a line starts, or the size of the text if there is no such line.
    pub fn start(&self, line: usize) -> usize {
        let index = line.wrapping_sub(1);
        self.index.starts.get(index).map_or(self.source.len(), |&start| start as usize)
    }
}

/// Returns a 64-bit word with the highest bit set in each byte of `bytes` that is a line break.
const fn breaks(bytes: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    const LOW: u64 = 0x7f * ONES;
    // A byte of `differ` is zero for a line break. The sum does not carry between bytes. It sets
    // the highest bit of a byte unless all lower bits are zero.
    let differ = bytes ^ (b'\n' as u64 * ONES);
    !((differ & LOW).wrapping_add(LOW) | differ | LOW)
}

/// Returns the line and column of the byte at offset `byte` of a text.
pub fn position(source: &str, byte: u32) -> Position {
    Lines::new(source).position(byte)
}

/// Diagnostics formatted as plain text: file, line and column, the source line with a marker under
/// the span, and the expected input.
///
/// ```
/// use halfbyte_ir::{diag::Diagnostics, text};
/// let source = "kernel @k(%a: i32) {\n^entry:\n  %r = add.i32 %a, %b\n  ret\n}\n";
/// let errors = text::read(source).unwrap_err();
/// let shown = Diagnostics { file: "k.hb", source, list: &errors }.to_string();
/// assert!(shown.starts_with("k.hb:3:20: error: `%b` is not defined\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Diagnostics<'a> {
    /// File name to print in messages.
    pub file: &'a str,
    /// Source text of the file.
    pub source: &'a str,
    /// Errors of the file.
    pub list: &'a [Diagnostic],
}

/// Maximum number of characters of a source line that are shown.
const SHOWN: usize = 160;

impl fmt::Display for Diagnostics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = Lines::new(self.source);
        for diagnostic in self.list {
            let Position { line, column } = lines.position(diagnostic.span.start);
            writeln!(f, "{}:{line}:{column}: error: {}", self.file, diagnostic.message)?;
            let gutter = line.to_string().len();
            excerpt(f, &lines, diagnostic.span, gutter)?;
            if let Some(expected) = &diagnostic.expected {
                writeln!(f, "{:gutter$} = expected {expected}", "")?;
            }
            if let Some(help) = &diagnostic.help {
                writeln!(f, "{:gutter$} = help: {help}", "")?;
            }
            for note in &diagnostic.notes {
                write!(f, "{:gutter$} = note: {}", "", note.message)?;
                match note.span {
                    Some(span) => {
                        let Position { line, column } = lines.position(span.start);
                        writeln!(f, " ({}:{line}:{column})", self.file)?;
                    }
                    None => writeln!(f)?,
                }
            }
        }
        Ok(())
    }
}

/// Writes a source line with a marker under the span. The marker of a longer span ends at the end of the line.
fn excerpt(f: &mut fmt::Formatter<'_>, lines: &Lines<'_>, span: Span, gutter: usize) -> fmt::Result {
    let start = lines.position(span.start);
    let end = lines.position(span.end.max(span.start));
    let line = lines.text(start.line);
    let skipped = if start.column > SHOWN { start.column - SHOWN / 2 } else { 0 };
    let shown = |c: char| if c.is_control() { if c == '\t' { ' ' } else { '\u{fffd}' } } else { c };
    let text: String = line.chars().skip(skipped).take(SHOWN).map(shown).collect();
    let to_end = (text.chars().count() + skipped + 1).saturating_sub(start.column);
    let marks = if end.line == start.line { end.column - start.column } else { to_end };
    let marks = marks.clamp(1, to_end.max(1));
    writeln!(f, "{:gutter$} |", "")?;
    writeln!(f, "{} | {}", start.line, text.trim_end())?;
    writeln!(f, "{:gutter$} | {:indent$}{:^<marks$}", "", "", "", indent = start.column - 1 - skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = "ab\r\nçd\n\nx";
        let at = |byte| {
            let Position { line, column } = position(source, byte);
            (line, column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(4), (2, 1));
        assert_eq!(at(5), (2, 1), "inside a character");
        assert_eq!(at(6), (2, 2));
        assert_eq!(at(8), (3, 1));
        assert_eq!(at(9), (4, 1));
        assert_eq!(at(10), (4, 2));
        assert_eq!(at(u32::MAX), (4, 2));
        for source in [source, "ab\r\ncd\n\nx", ""] {
            let lines = Lines::new(source);
            for byte in 0..=source.len() as u32 + 1 {
                let before = source.get(..source.floor_char_boundary(byte as usize)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                for near in 0..7 {
                    assert_eq!(lines.position_near(byte, near), Position { line, column }, "{byte} near {near}");
                }
            }
        }
        assert_eq!(Lines::new(source).text(1), "ab");
        assert_eq!(Lines::new(source).text(9), "");
    }

    #[test]
    fn lines_begin_behind_every_break() {
        // Bytes that differ from a line break in few bits, to be placed between line breaks.
        let others = ['\u{b}', '\u{8}', '\0', 'é', '\u{8a}', 'J', '*'];
        for breaks in 0..1u32 << 11 {
            let char =
                |at: usize| if breaks >> at & 1 == 1 { '\n' } else { others[(at + breaks as usize) % others.len()] };
            let text: String = (0..11).map(char).collect();
            let behind = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
            let starts: Vec<_> = [0].into_iter().chain(behind).map(|start| start as u32).collect();
            assert_eq!(LineIndex::new(&text).starts, starts, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_shown_around_the_place() {
        let source = format!("{}!{}\n", "x".repeat(100_000), "y".repeat(100_000));
        let list = [Diagnostic::new(Span { start: 100_000, end: 100_001 }, "here")];
        let shown = Diagnostics { file: "f", source: &source, list: &list }.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "f:1:100001: error: here");
        assert_eq!(lines[2].find('!'), lines[3].find('^'));
        assert!(shown.len() < 1000);
    }
}

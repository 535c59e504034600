//! Parser of argument values, for run lines and the command line.

use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::text::magnitude;
use halfbyte_ir::{Span, Type};

use super::{Value, ValueKind};

/// The position of a parser in a span of a text.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'s> {
    source: &'s str,
    at: usize,
    end: usize,
}

impl<'s> Cursor<'s> {
    /// Creates a cursor at the start of a span.
    pub fn new(source: &'s str, span: Span) -> Cursor<'s> {
        Cursor { source, at: span.start as usize, end: span.end as usize }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the current position as a byte offset in the text.
    pub fn here(&self) -> u32 {
        self.at as u32
    }

    /// Returns the span from byte offset `start` to the current position.
    pub fn since(&self, start: u32) -> Span {
        Span { start, end: self.here() }
    }

    /// Skips white space.
    pub fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Skips white space. Returns `true` if the end of the span is reached.
    pub fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    /// Skips white space, and then `text` if it follows. Returns `true` if `text` followed.
    pub fn eat(&mut self, text: &str) -> bool {
        self.skip_blanks();
        let there = self.rest().starts_with(text);
        self.at += if there { text.len() } else { 0 };
        there
    }

    /// Skips white space, then consumes the longest run of characters that satisfy `belongs`, which
    /// may be empty. Returns these characters with their span.
    pub fn take(&mut self, belongs: impl Fn(char) -> bool) -> (&'s str, Span) {
        self.skip_blanks();
        let rest = self.rest();
        let taken = rest.split(|c| !belongs(c)).next().unwrap_or_default();
        let start = self.here();
        self.at += taken.len();
        (taken, self.since(start))
    }

    /// Parses a name of letters, digits and underscores. `what` describes the name in the error.
    pub fn name(&mut self, what: &str) -> Result<(&'s str, Span), Diagnostic> {
        match self.take(|c| c.is_ascii_alphanumeric() || c == '_') {
            ("", _) => Err(self.unexpected(what)),
            taken => Ok(taken),
        }
    }

    /// Skips white space and `text`, or returns an error if `text` does not follow.
    pub fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if self.eat(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Parses a decimal or `0x` hexadecimal integer of at most 64 bits. `what` describes the integer in the error.
    pub fn integer(&mut self, what: &str) -> Result<(u64, Span), Diagnostic> {
        let (text, span) = self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+'));
        if text.is_empty() {
            return Err(self.unexpected(what));
        }
        let wrong = || Diagnostic::new(span, format!("`{}` is invalid here", shortened(text))).expected(what);
        magnitude(text).map(|value| (value, span)).ok_or_else(wrong)
    }

    /// Returns the error for an unexpected token at the current position. `expected` describes the valid text.
    pub fn unexpected(&mut self, expected: &str) -> Diagnostic {
        self.skip_blanks();
        let rest = self.rest();
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let length = word.len().max(rest.chars().next().map_or(0, char::len_utf8));
        let span = Span { start: self.here(), end: (self.at + length) as u32 };
        let message = match rest.get(..length) {
            None | Some("") => "the line ends too early".into(),
            Some(found) => format!("unexpected `{}`", shortened(found)),
        };
        Diagnostic::new(span, message).expected(expected)
    }

    /// Parses a value, such as `5`, `0x3c00`, `[1.0, nan]`, `@file.npy`, `zeros(8)`,
    /// `zeros:f16x2:8`, `random(8, 1)` or `&x+16`.
    pub fn value(&mut self) -> Result<Value, Diagnostic> {
        self.skip_blanks();
        let start = self.here();
        let kind = if self.eat("@") {
            match self.take(|c| !c.is_whitespace()) {
                ("", _) => return Err(self.unexpected("a file name")),
                (path, _) => ValueKind::File(path.to_owned()),
            }
        } else if self.eat("zeros(") {
            let (count, _) = self.integer(COUNT)?;
            self.expect(")")?;
            ValueKind::Zeros { ty: None, count }
        } else if self.eat("zeros:") {
            let (name, span) = self.name("a type")?;
            let unknown = || Diagnostic::new(span, format!("`{}` is not a type", shortened(name))).expected(TYPES);
            let ty = Type::from_name(name).ok_or_else(unknown)?;
            self.expect(":")?;
            ValueKind::Zeros { ty: Some(ty), count: self.integer(COUNT)?.0 }
        } else if self.eat("random(") {
            let (count, _) = self.integer(COUNT)?;
            self.expect(",")?;
            let (seed, _) = self.integer("a seed: an integer of at most 64 bits")?;
            self.expect(")")?;
            ValueKind::Random { count, seed }
        } else if self.eat("&") {
            let (name, span) = self.name("the name of a buffer's parameter")?;
            let offset = if self.eat("+") { self.integer("a number of bytes")?.0 } else { 0 };
            ValueKind::Alias { of: (name.to_owned(), span), offset }
        } else {
            return self.literal(0);
        };
        Ok(Value { span: self.since(start), kind })
    }

    /// Parses a number or a list. The entries of a list are numbers, or lists of the lanes of an element.
    fn literal(&mut self, depth: u32) -> Result<Value, Diagnostic> {
        self.skip_blanks();
        let start = self.here();
        if depth < 2 && self.eat("[") {
            let mut list = Vec::new();
            while !self.eat("]") {
                if !list.is_empty() && !self.eat(",") {
                    return Err(self.unexpected("`,` or `]`"));
                }
                list.push(self.literal(depth + 1)?);
            }
            return Ok(Value { span: self.since(start), kind: ValueKind::List(list) });
        }
        match self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+')) {
            ("", _) => Err(self.unexpected(if depth == 0 { VALUE } else { "a number" })),
            (text, span) => Ok(Value { span, kind: ValueKind::Number(text.to_owned()) }),
        }
    }
}

const COUNT: &str = "a number of elements";
const VALUE: &str = "a value: a number, a [list], @file.npy, zeros(N), random(N, SEED) or &BUFFER+BYTES";
const TYPES: &str = "a type such as i8x4, f16x2 or i32";

/// Shortens a piece of the input, so that it fits in a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

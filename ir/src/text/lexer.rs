//! Lexer of the IR text. It determines the kind of the next token from its first bytes, and the
//! length only when the parser consumes the token. A line break ends a statement.

use crate::span::Span;

/// Kind of a token. The text of the token is the source under its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tok {
    /// A name or keyword: a letter or `_`, followed by letters, digits and `_`.
    Word,
    /// A number: a digit, followed by letters, digits, `_`, `.` and exponent signs.
    Number,
    /// Name of a value: `%name`
    Value,
    /// Name of a block: `^name`
    Block,
    /// Name of a kernel: `@name`
    Kernel,
    /// String literal on one line: `"..."`
    Text,
    /// `=`, `,`, `:`, `.`, `+`, `-`, `*` and brackets.
    Punctuation(u8),
    /// A byte that cannot begin a token.
    Bad,
    /// A string literal without its closing quote.
    OpenText,
    /// The end of the text, or of the line.
    End,
}

/// The name of a value, block or kernel in the source text.
#[derive(Clone, Copy)]
pub(super) struct Name {
    /// Span of the name, including the sigil (`%`, `^` or `@`).
    pub span: Span,
    /// First eight bytes of the name without the sigil: the first byte lowest, padded with zeros.
    pub head: u64,
}

/// Position in the source text, in front of a token.
#[derive(Clone)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Kind of the next token on this line; [`Tok::End`] at the end of the line.
    tok: Tok,
    /// Kind of the next token on a later line, if `tok` is [`Tok::End`] because the line ends.
    next_line: Tok,
    /// `true` if the next token is the first on its line.
    fresh_line: bool,
    /// `true` if line breaks are ignored, as inside brackets.
    free: bool,
    /// End of the previous token, as a byte offset.
    end: usize,
    /// Start of the statement, label or kernel header that is being parsed, as a byte offset.
    start: usize,
}

/// Kind of token for each first byte. `None` if the byte alone does not determine the kind, or if
/// it is a blank or begins a comment.
const FIRST: [Option<Tok>; 256] = {
    let mut table = [Some(Tok::Bad); 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' | b';' | b'"' => None,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Some(Tok::Word),
            b'0'..=b'9' => Some(Tok::Number),
            b'%' => Some(Tok::Value),
            b'^' => Some(Tok::Block),
            b'@' => Some(Tok::Kernel),
            mark @ (b'=' | b',' | b':' | b'.' | b'+' | b'-' | b'*' | b'(' | b')' | b'[' | b']' | b'{' | b'}') => {
                Some(Tok::Punctuation(mark))
            }
            _ => Some(Tok::Bad),
        };
        byte += 1;
    }
    table
};

/// Table of the bytes that are valid in a name.
const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

fn in_name(byte: u8) -> bool {
    IN_NAME[usize::from(byte)]
}

fn len_while(bytes: &[u8], mut belongs: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !belongs(byte)).unwrap_or(bytes.len())
}

/// Returns a 64-bit word that contains a byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns a 64-bit word with the highest bit set in each byte of `bytes` that is not valid in a name.
fn outside_name(bytes: u64) -> u64 {
    const TOP: u64 = eight(0x80);
    // Each byte has 7 bits here, so sums do not carry into the next byte.
    let ascii = bytes & !TOP;
    let at_least = |bytes: u64, first: u8| bytes + eight(0x80 - first);
    let within = |bytes: u64, first: u8, last: u8| at_least(bytes, first) & !at_least(bytes, last + 1);
    let letter = within(ascii | eight(b'a' ^ b'A'), b'a', b'z');
    let digit = within(ascii, b'0', b'9');
    let underscore = !at_least(ascii ^ eight(b'_'), 1);
    (bytes | !(letter | digit | underscore)) & TOP
}

impl<'s> Lexer<'s> {
    /// Creates a lexer. The source must be shorter than 4 GiB, because spans have 32-bit offsets.
    pub(super) fn new(source: &'s str) -> Lexer<'s> {
        let at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        let mut lexer =
            Lexer { source, at, tok: Tok::End, next_line: Tok::End, fresh_line: false, free: true, end: 0, start: 0 };
        lexer.find();
        lexer
    }

    /// Returns the kind of the next token; [`Tok::End`] at the end of the line or source.
    #[inline]
    pub(super) fn tok(&self) -> Tok {
        self.tok
    }

    /// Returns the kind of the next token on this line or a later one.
    #[inline]
    pub(super) fn tok_of_any_line(&self) -> Tok {
        if self.tok == Tok::End { self.next_line } else { self.tok }
    }

    /// Returns `true` if the next token is the first on its line.
    pub(super) fn fresh_line(&self) -> bool {
        self.fresh_line
    }

    /// Returns the byte offset of the next token.
    #[inline]
    pub(super) fn at(&self) -> u32 {
        self.at as u32
    }

    /// Returns the span of the next token.
    pub(super) fn span(&self) -> Span {
        Span { start: self.at as u32, end: (self.at + self.len()) as u32 }
    }

    fn len(&self) -> usize {
        let rest = self.rest(self.at + 1);
        match self.tok_of_any_line() {
            Tok::End => 0,
            Tok::Punctuation(_) => 1,
            Tok::Word | Tok::Value | Tok::Block | Tok::Kernel => 1 + len_while(rest, in_name),
            Tok::Number => 1 + number_len(self.byte(self.at), rest),
            Tok::Text | Tok::OpenText => 1 + text_len(rest).1,
            // Consecutive non-ASCII bytes form one token, so that the token ends at a character boundary.
            Tok::Bad if self.byte(self.at).is_some_and(|first| !first.is_ascii()) => {
                1 + len_while(rest, |byte| !byte.is_ascii())
            }
            Tok::Bad => 1,
        }
    }

    /// Returns the byte offset of the end of the previous token.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.end as u32
    }

    /// Begins a statement, label or kernel header at the next token.
    pub(super) fn begin(&mut self) {
        self.start = self.at;
        self.free = false;
        self.tok = self.tok_of_any_line();
    }

    /// Returns `true` if a token of the current statement, label or kernel header has been consumed.
    pub(super) fn has_begun(&self) -> bool {
        self.end > self.start
    }

    /// Returns `true` if line breaks are ignored, as inside brackets.
    pub(super) fn is_free(&self) -> bool {
        self.free
    }

    /// Sets whether line breaks are ignored, as inside brackets.
    pub(super) fn free(&mut self, free: bool) {
        self.free = free;
        self.set_kind(self.tok_of_any_line());
    }

    /// Stores the kind of the next token.
    fn set_kind(&mut self, tok: Tok) {
        let ended = self.fresh_line && !self.free && self.has_begun();
        (self.tok, self.next_line) = if ended { (Tok::End, tok) } else { (tok, Tok::End) };
    }

    /// Consumes the next token and returns its span.
    pub(super) fn bump(&mut self) -> Span {
        self.take(self.len())
    }

    /// Consumes a punctuation token and returns its span.
    #[inline]
    pub(super) fn mark(&mut self) -> Span {
        self.take(1)
    }

    /// Consumes a name with its sigil (`%`, `^` or `@`).
    #[inline]
    pub(super) fn name(&mut self) -> Name {
        let name = self.name_from(self.at());
        self.skip(name.span.len());
        name
    }

    /// Returns the name whose sigil (`%`, `^` or `@`) is at `start`.
    #[inline]
    pub(super) fn name_from(&self, start: u32) -> Name {
        let (len, head) = self.name_at(start as usize + 1);
        Name { span: Span { start, end: start + 1 + len as u32 }, head }
    }

    /// Returns the span of the next token, which must be a [`Tok::Word`].
    #[inline]
    pub(super) fn word(&self) -> Span {
        let (len, _) = self.name_at(self.at);
        Span { start: self.at(), end: self.at() + len as u32 }
    }

    /// Returns `true` if the next token, which must be a [`Tok::Word`], equals `word`.
    #[inline]
    pub(super) fn is_word(&self, word: &str) -> bool {
        let rest = self.source.as_bytes().get(self.at..).and_then(|rest| rest.strip_prefix(word.as_bytes()));
        rest.is_some_and(|rest| !rest.first().is_some_and(|&byte| in_name(byte)))
    }

    /// Returns the length and the first eight bytes of the name that begins at `at`, after its sigil.
    #[inline]
    fn name_at(&self, at: usize) -> (usize, u64) {
        let Some(first) = self.source.as_bytes().get(at..).and_then(|rest| rest.first_chunk()) else {
            return short_name(self.rest(at));
        };
        let head = u64::from_le_bytes(*first);
        match outside_name(head) {
            0 => (len_while(self.rest(at), in_name), head),
            outside => {
                let bits = outside.trailing_zeros() & !7;
                (bits as usize / 8, head & !(u64::MAX << bits))
            }
        }
    }

    #[inline]
    fn take(&mut self, len: usize) -> Span {
        let start = self.at();
        self.skip(len);
        Span { start, end: self.end() }
    }

    /// Consumes the next token, which is `len` bytes long. The fast path covers the usual case:
    /// another token follows directly or after one space.
    pub(super) fn skip(&mut self, len: usize) {
        self.end = self.at + len;
        self.at = self.end + usize::from(self.byte(self.end) == Some(b' '));
        match self.here() {
            Some(tok) => (self.tok, self.fresh_line) = (tok, false),
            None => self.find(),
        }
    }

    /// Skips blanks and comments, and determines the kind of the next token.
    #[inline(never)]
    fn find(&mut self) {
        let mut at = self.at;
        self.fresh_line = false;
        let quoted = loop {
            match self.byte(at) {
                Some(b' ' | b'\t' | b'\r') => at += 1,
                Some(b'\n') => (at, self.fresh_line) = (at + 1, true),
                Some(b';') => at += len_while(self.rest(at), |byte| byte != b'\n'),
                first => break first == Some(b'"'),
            }
        };
        self.at = at;
        self.set_kind(match quoted {
            true => text_len(self.rest(at + 1)).0,
            false => self.here().unwrap_or(Tok::End),
        });
    }

    /// Returns the kind of the token at the current position, if one or two bytes determine it.
    #[inline]
    fn here(&self) -> Option<Tok> {
        let tok = FIRST[usize::from(self.byte(self.at)?)]?;
        let sigil = matches!(tok, Tok::Value | Tok::Block | Tok::Kernel);
        Some(if sigil && !self.byte(self.at + 1).is_some_and(in_name) { Tok::Bad } else { tok })
    }

    #[inline]
    fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    #[inline]
    fn rest(&self, at: usize) -> &'s [u8] {
        self.source.as_bytes().get(at..).unwrap_or_default()
    }
}

/// Implements [`Lexer::name_at`] near the end of the text, where fewer than eight bytes remain.
#[inline(never)]
fn short_name(rest: &[u8]) -> (usize, u64) {
    let len = len_while(rest, in_name);
    (len, rest.iter().take(len).rev().fold(0, |head, &byte| head << 8 | u64::from(byte)))
}

/// Returns the length of a number literal without its first digit.
fn number_len(first: Option<u8>, rest: &[u8]) -> usize {
    let hex = first == Some(b'0') && rest.first() == Some(&b'x');
    let mut last = first;
    len_while(rest, |byte| {
        let last = last.replace(byte);
        let exponent_sign = !hex && matches!(byte, b'+' | b'-') && matches!(last, Some(b'e' | b'E'));
        in_name(byte) || byte == b'.' || exponent_sign
    })
}

/// Returns the kind of a string literal, which may lack its closing quote, and its length without the opening quote.
fn text_len(rest: &[u8]) -> (Tok, usize) {
    let mut at = 0;
    loop {
        match rest.get(at) {
            None | Some(b'\n') => return (Tok::OpenText, at),
            Some(b'"') => return (Tok::Text, at + 1),
            Some(b'\\') if !matches!(rest.get(at + 1), None | Some(b'\n')) => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_eight_bytes_like_single_bytes() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                for others in [b'a', b' ', 0x80, 0xff] {
                    let mut bytes = [others; 8];
                    bytes[at] = byte;
                    let expected = bytes.map(|byte| if in_name(byte) { 0 } else { 0x80 });
                    assert_eq!(outside_name(u64::from_le_bytes(bytes)), u64::from_le_bytes(expected), "{bytes:x?}");
                }
            }
        }
    }

    #[test]
    fn a_name_is_as_long_before_the_end_of_the_text_as_elsewhere() {
        for len in 1..20 {
            let name = "n".repeat(len);
            let [at_end, before] = [format!("%{name}"), format!("%{name}, and more than eight bytes")].map(|text| {
                let name = Lexer::new(&text).name();
                (name.span, name.head)
            });
            assert_eq!(at_end, before);
            assert_eq!(at_end.0.len(), len + 1);
            assert_eq!(at_end.1.to_le_bytes().iter().filter(|&&byte| byte == b'n').count(), len.min(8));
        }
    }
}

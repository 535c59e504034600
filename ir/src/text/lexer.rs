//! Tokens. A token remembers whether a line break comes before it; that ends a statement.

use crate::kernel::Span;

/// The kind of a token; its text is the source under its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tok {
    /// A name or keyword: a letter or `_`, then letters, digits and `_`.
    Word,
    /// A digit and what belongs to the number.
    Number,
    /// `%name`
    Value,
    /// `^name`
    Block,
    /// `@name`
    Kernel,
    /// `"..."` on one line
    Text,
    /// `=`, `,`, `:`, `.`, `+`, `-`, `*` and brackets.
    Mark(u8),
    /// What can begin no token.
    Bad,
    /// A string without its closing quote.
    OpenText,
    /// The end of the source.
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Span,
    /// First of its line.
    pub fresh_line: bool,
}

pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

/// By byte, whether it can stand in a name.
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

impl<'s> Lexer<'s> {
    /// The source is shorter than 4 GiB, so that spans hold.
    pub fn new(source: &'s str) -> Lexer<'s> {
        let at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer { source, at }
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let rest = self.source.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
    }

    /// The next token; at the end, [`Tok::End`] for ever.
    pub fn next(&mut self) -> Token {
        let mut fresh_line = false;
        let bytes = self.source.as_bytes();
        let mut at = self.at;
        let first = loop {
            match bytes.get(at) {
                Some(b'\n') => fresh_line = true,
                Some(b' ' | b'\t' | b'\r') => {}
                Some(b';') => {
                    self.at = at;
                    self.skip_while(|byte| byte != b'\n');
                    at = self.at;
                    continue;
                }
                first => break first.copied(),
            }
            at += 1;
        };
        let start = at;
        self.at = at;
        let tok = first.map_or(Tok::End, |first| self.token(first));
        Token { tok, span: Span { start: start as u32, end: self.at as u32 }, fresh_line }
    }

    fn token(&mut self, first: u8) -> Tok {
        self.at += 1;
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_while(in_name);
                Tok::Word
            }
            b'0'..=b'9' => self.number(first),
            b'%' => self.sigil(Tok::Value),
            b'^' => self.sigil(Tok::Block),
            b'@' => self.sigil(Tok::Kernel),
            b'"' => self.text(),
            b'=' | b',' | b':' | b'.' | b'+' | b'-' | b'*' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => {
                Tok::Mark(first)
            }
            // One token for a run of bytes outside ASCII, which ends at a character's end.
            0x80.. => {
                self.skip_while(|byte| byte >= 0x80);
                Tok::Bad
            }
            _ => Tok::Bad,
        }
    }

    fn sigil(&mut self, tok: Tok) -> Tok {
        let start = self.at;
        self.skip_while(in_name);
        if self.at == start { Tok::Bad } else { tok }
    }

    fn number(&mut self, first: u8) -> Tok {
        let hex = first == b'0' && self.peek() == Some(b'x');
        let mut last = first;
        while let Some(byte) = self.peek() {
            let exponent_sign = !hex && matches!(byte, b'+' | b'-') && matches!(last, b'e' | b'E');
            if !(in_name(byte) || byte == b'.' || exponent_sign) {
                break;
            }
            last = byte;
            self.at += 1;
        }
        Tok::Number
    }

    fn text(&mut self) -> Tok {
        loop {
            match self.peek() {
                None | Some(b'\n') => return Tok::OpenText,
                Some(b'"') => {
                    self.at += 1;
                    return Tok::Text;
                }
                Some(b'\\') => {
                    self.at += 1;
                    if !matches!(self.peek(), None | Some(b'\n')) {
                        self.at += 1;
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

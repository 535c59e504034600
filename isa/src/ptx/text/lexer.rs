//! Lexer for PTX.

use super::error::{Error, ErrorKind};
use crate::object::Loc;

/// A token of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// An identifier: `add`, `%r1`, `_`.
    Name(&'a str),
    /// A directive or modifier, without its dot: `s32` of `.s32`.
    Dotted(&'a str),
    /// A numeric literal, as it is written in the text.
    Number(&'a str),
    /// A string literal, without its quotes.
    String(&'a str),
    /// Any other character, such as `,` or `{`.
    Punct(char),
    /// The end of the text.
    End,
}

/// A token and its location in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spanned<'a> {
    pub token: Token<'a>,
    pub at: Loc,
}

impl Token<'_> {
    /// Describes the token for an error message.
    pub(super) fn describe(self) -> String {
        match self {
            Token::Name(text) | Token::Number(text) => format!("`{text}`"),
            Token::Dotted(text) => format!("`.{text}`"),
            Token::String(_) => "a string".to_owned(),
            Token::Punct(c) => format!("`{c}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// Lexer over a PTX text.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { rest: text, line: 1, column: 1 }
    }

    pub(super) fn next(&mut self) -> Result<Spanned<'a>, Error> {
        self.skip_blank()?;
        let at = self.at();
        let token = match self.rest.as_bytes() {
            [] => Token::End,
            [b'"', ..] => {
                self.advance(1);
                let end = self.rest.find(['"', '\n']).filter(|&i| self.rest.as_bytes().get(i) == Some(&b'"'));
                let Some(end) = end else { return Err(self.error(at, ErrorKind::Unclosed("a string"))) };
                let text = self.take(end);
                self.advance(1);
                Token::String(text)
            }
            [b'.', next, ..] if is_name(*next) => {
                self.advance(1);
                Token::Dotted(self.word())
            }
            [b'0'..=b'9', ..] => Token::Number(self.number()),
            [first, ..] if is_name_start(*first) => {
                let length = 1 + self.rest.bytes().skip(1).take_while(|&b| is_name(b)).count();
                Token::Name(self.take(length))
            }
            [first @ (b'!'..=b'~'), ..] => {
                self.advance(1);
                Token::Punct(char::from(*first))
            }
            _ => {
                let c = self.rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                self.advance(c.len_utf8());
                return Err(self.error(at, ErrorKind::Character(c)));
            }
        };
        Ok(Spanned { token, at })
    }

    /// Returns the text that follows the last token.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns the byte that directly follows the last token.
    pub(super) fn next_byte(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    /// Skips to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let length = self.rest.bytes().take_while(|&b| b != b'\n').count();
        self.advance(length);
    }

    fn at(&self) -> Loc {
        Loc { line: self.line, column: self.column }
    }

    fn error(&self, at: Loc, kind: ErrorKind) -> Error {
        Error { at, kind }
    }

    fn advance(&mut self, bytes: usize) {
        self.take(bytes);
    }

    /// Consumes `bytes` bytes of one line and returns them.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.column = self.column.saturating_add(taken.len() as u32);
        taken
    }

    fn take_while(&mut self, mut test: impl FnMut(u8) -> bool) -> &'a str {
        let length = self.rest.bytes().take_while(|&b| test(b)).count();
        self.take(length)
    }

    /// Consumes the name after the dot of a directive or modifier. The name is one identifier, or
    /// two identifiers with `::` between them, such as `L2::128B`.
    fn word(&mut self) -> &'a str {
        let name = |bytes: &[u8]| bytes.iter().take_while(|&&b| is_name(b)).count();
        let bytes = self.rest.as_bytes();
        let first = name(bytes);
        let second = match bytes.get(first..) {
            Some([b':', b':', rest @ ..]) => name(rest),
            _ => 0,
        };
        self.take(if second == 0 { first } else { first + 2 + second })
    }

    /// Consumes a numeric literal: digits and letters. A decimal number may also contain a point and a signed exponent.
    fn number(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let prefixed = matches!(bytes, [b'0', b'x' | b'X' | b'b' | b'B' | b'f' | b'F' | b'd' | b'D', ..]);
        let mut last = 0;
        self.take_while(|b| {
            let exponent = !prefixed && matches!(last, b'e' | b'E') && matches!(b, b'+' | b'-');
            let part = b.is_ascii_alphanumeric() || (!prefixed && b == b'.') || exponent;
            last = b;
            part
        })
    }

    fn skip_blank(&mut self) -> Result<(), Error> {
        loop {
            match self.rest.as_bytes() {
                [b'\n', ..] => self.newline(),
                [b' ' | b'\t' | b'\r', ..] => self.advance(1),
                [b'/', b'/', ..] => self.skip_line(),
                // A line marker of the C preprocessor: `# 5 "k.cu"`.
                [b'#', ..] if self.column == 1 => self.skip_line(),
                [b'/', b'*', ..] => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Error> {
        let at = self.at();
        self.advance(2);
        loop {
            let length = self.rest.bytes().take_while(|b| !matches!(b, b'*' | b'\n')).count();
            self.advance(length);
            match self.rest.as_bytes() {
                [] => return Err(self.error(at, ErrorKind::Unclosed("a comment"))),
                [b'\n', ..] => self.newline(),
                [b'*', b'/', ..] => {
                    self.advance(2);
                    return Ok(());
                }
                _ => self.advance(1),
            }
        }
    }

    fn newline(&mut self) {
        self.advance(1);
        self.line = self.line.saturating_add(1);
        self.column = 1;
    }
}

fn is_name_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'%')
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')
}

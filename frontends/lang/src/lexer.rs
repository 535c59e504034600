//! Lexer of the kernel language. A line break ends a statement, so each token records whether it is
//! the first of its line. `;` begins a comment.

use halfbyte_ir::Span;

/// Kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    /// Identifier or keyword.
    Word,
    /// Identifier with `%`, such as `%name`. The name can also be a keyword.
    Name,
    /// Number literal with its type suffix.
    Number,
    /// String literal `"..."`, on one line.
    Text,
    /// Punctuation token, which is an entry of [`MARKS`].
    Punct(&'static str),
    /// Bytes that do not begin a token.
    Bad,
    /// String literal without a closing quote.
    OpenText,
    /// End of the source text.
    End,
}

/// Token and its source position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub tok: Tok,
    /// Position of the token, from the start of its file.
    pub span: Span,
    /// `true` if a line break precedes the token.
    pub fresh: bool,
    /// `true` if no space separates the token from the previous token.
    pub joined: bool,
    /// `true` if `;` follows without a space and more text follows on the line, as in languages in
    /// which `;` ends a statement.
    pub cut: bool,
}

/// All punctuation tokens. A token comes before its own prefixes. On integers, `/`, `>>` and order
/// comparisons end in `_s` (signed) or `_u` (unsigned).
#[rustfmt::skip]
pub(crate) const MARKS: &[&str] = &[
    ">>_s=", ">>_u=", "/_s=", "/_u=", "<<=", ">>_s", ">>_u", "<=_s", "<=_u", ">=_s", ">=_u",
    "<_s", "<_u", ">_s", ">_u", "/_s", "/_u", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "->", "..",
    "+=", "-=", "*=", "&=", "|=", "^=", "/=",
    "+", "-", "*", "/", "&", "|", "^", "!", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".", "@", "%",
];

pub(crate) fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn len_while(bytes: &[u8], mut belongs: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !belongs(byte)).unwrap_or(bytes.len())
}

/// Returns the longest punctuation token at the start of `rest`, if any.
fn mark(rest: &[u8]) -> Option<&'static str> {
    let first = *rest.first()?;
    // Fast path: no longer token begins with one of these bytes.
    match first {
        b'(' => return Some("("),
        b')' => return Some(")"),
        b'[' => return Some("["),
        b']' => return Some("]"),
        b'{' => return Some("{"),
        b'}' => return Some("}"),
        b',' => return Some(","),
        b':' => return Some(":"),
        b'@' => return Some("@"),
        b'%' => return Some("%"),
        _ => {}
    }
    MARKS.iter().copied().find(|mark| {
        rest.starts_with(mark.as_bytes())
            // In `a <_sum`, the right operand is the name `_sum`.
            && !(mark.ends_with(['s', 'u']) && rest.get(mark.len()).is_some_and(|&byte| in_name(byte)))
    })
}

/// Returns the length of a number literal without its first digit. The literal has hexadecimal
/// digits, or digits, fraction and exponent; the type suffix counts, too.
fn number_len(first: u8, rest: &[u8]) -> usize {
    if first == b'0' && rest.first() == Some(&b'x') {
        return len_while(rest, in_name);
    }
    let mut at = len_while(rest, |byte| byte.is_ascii_digit());
    let byte = |at: usize| rest.get(at).copied().unwrap_or(0);
    // A digit must follow the point, because `0..n` is a range.
    if byte(at) == b'.' && byte(at + 1).is_ascii_digit() {
        at += 1 + len_while(rest.get(at + 1..).unwrap_or_default(), |byte| byte.is_ascii_digit());
    }
    if matches!(byte(at), b'e' | b'E') {
        let sign = usize::from(matches!(byte(at + 1), b'+' | b'-'));
        if byte(at + 1 + sign).is_ascii_digit() {
            at += 1 + sign;
            at += len_while(rest.get(at..).unwrap_or_default(), |byte| byte.is_ascii_digit());
        }
    }
    at + len_while(rest.get(at..).unwrap_or_default(), in_name)
}

/// Returns the kind and length of the string literal at the start of `rest`.
pub(crate) fn string(rest: &[u8]) -> (Tok, usize) {
    let mut at = 1;
    loop {
        match rest.get(at) {
            None | Some(b'\n') => return (Tok::OpenText, at),
            Some(b'"') => return (Tok::Text, at + 1),
            Some(b'\\') if !matches!(rest.get(at + 1), None | Some(b'\n')) => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// Splits a text into tokens. The last token is [`Tok::End`].
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut tokens: Vec<Token> = Vec::with_capacity(source.len() / 3 + 1);
    let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let mut fresh = true;
    loop {
        let before = at;
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\r') => at += 1,
                Some(b'\n') => (at, fresh) = (at + 1, true),
                Some(b';') => {
                    let len = len_while(bytes.get(at..).unwrap_or_default(), |byte| byte != b'\n');
                    let more = source.get(at + 1..at + len).unwrap_or_default().trim();
                    let cut = at == before && !fresh && !more.is_empty() && !more.starts_with(';');
                    if let Some(last) = tokens.last_mut().filter(|_| cut) {
                        last.cut = true;
                    }
                    at += len;
                }
                _ => break,
            }
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let (tok, len) = match rest.first() {
            None => (Tok::End, 0),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => (Tok::Word, len_while(rest, in_name)),
            Some(&first @ b'0'..=b'9') => (Tok::Number, 1 + number_len(first, rest.get(1..).unwrap_or_default())),
            Some(b'"') => string(rest),
            Some(b'%') if rest.get(1).is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_') => {
                (Tok::Name, 1 + len_while(rest.get(1..).unwrap_or_default(), in_name))
            }
            Some(first) => match mark(rest) {
                Some(mark) => (Tok::Punct(mark), mark.len()),
                // Consecutive non-ASCII bytes form one token, so that the token ends at a character boundary.
                None if !first.is_ascii() => (Tok::Bad, len_while(rest, |byte| !byte.is_ascii())),
                None => (Tok::Bad, 1),
            },
        };
        let span = Span { start: at as u32, end: (at + len) as u32 };
        tokens.push(Token { tok, span, fresh, joined: at == before && before > 0, cut: false });
        if tok == Tok::End {
            return tokens;
        }
        (at, fresh) = (at + len, false);
    }
}

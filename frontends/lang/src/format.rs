//! Formatter of source text. It changes only the spaces between tokens and the indentation. Tokens,
//! comments and line breaks stay, and kernels in plain IR are copied.

use halfbyte_ir::{Diagnostic, Span};

use crate::ast::Ast;
use crate::detect::is_language;
use crate::lexer::{Tok, Token, tokens};
use crate::parse::{KEYWORDS, Parser};
use crate::symbols::Symbols;

/// Number of spaces per level of indentation.
const INDENT: usize = 2;

/// Formats a text in the kernel language. Formatting is idempotent, and a text of plain IR is returned unchanged.
///
/// # Errors
/// Returns the syntax errors of the text.
///
/// ```
/// let text = "kernel k( x:inout i32 ){\nx[ 0 ]=%x[0]+1   ; one more\n}\n";
/// let written = halfbyte_lang::format(text).map_err(|errors| errors[0].to_string())?;
/// assert_eq!(written, "kernel k(x: inout i32) {\n  x[0] = x[0] + 1   ; one more\n}\n");
/// # Ok::<(), String>(())
/// ```
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diagnostic::new(Span::default(), "the text has 4 GiB or more").expected("a shorter text")]);
    }
    let (mut ast, mut symbols, mut errors) = (Ast::default(), Symbols::default(), Vec::new());
    Parser::new(text, 0, &mut ast, &mut symbols, &mut errors).file();
    if !errors.is_empty() {
        return Err(errors);
    }
    // Plain IR stays as it is, because a trailing space is significant in the comments of tests.
    if !is_language(text) {
        return Ok(text.to_owned());
    }
    let tokens = tokens(text);
    let mut writer = Writer {
        text,
        out: String::with_capacity(text.len()),
        open: Vec::new(),
        generics: false,
        before: None,
        first: true,
    };
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        let plain = ast.plain.iter().find(|span| span.start == token.span.start && token.tok != Tok::End);
        match plain {
            Some(&span) => {
                writer.plain(token, span);
                at += tokens
                    .iter()
                    .skip(at)
                    .take_while(|token| token.span.start < span.end && token.tok != Tok::End)
                    .count();
            }
            None => {
                writer.token(token);
                at += 1;
            }
        }
    }
    // All lines get the line ending of the first line.
    let has_crlf = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    Ok(if has_crlf { writer.out.replace("\r\n", "\n").replace('\n', "\r\n") } else { writer.out })
}

struct Writer<'t> {
    text: &'t str,
    out: String,
    /// Stack of open brackets.
    open: Vec<&'static str>,
    /// `true` between `<` and `>` after the name in a function definition.
    generics: bool,
    /// The previous token, and `true` if that token is a unary operator.
    before: Option<(Token, bool)>,
    first: bool,
}

impl Writer<'_> {
    fn text_of(&self, token: Token) -> &str {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or_default()
    }

    /// Copies a kernel in plain IR unchanged.
    fn plain(&mut self, token: Token, span: Span) {
        self.gap(token, false);
        self.out.push_str(self.text.get(span.start as usize..span.end as usize).unwrap_or_default());
        let end = Token { tok: Tok::Punct("}"), span: Span { start: span.end, end: span.end }, ..token };
        self.before = Some((end, false));
        self.first = false;
    }

    fn token(&mut self, token: Token) {
        let closes = matches!(token.tok, Tok::Punct(")" | "]" | "}"));
        if closes {
            self.open.pop();
        }
        let operand = self.before.is_none_or(|(before, unary)| unary || self.ends_open(before));
        let is_unary = matches!(token.tok, Tok::Punct("!")) || token.tok == Tok::Punct("-") && operand;
        self.gap(token, closes);
        let text = self.text_of(token);
        let name = text.strip_prefix('%').filter(|name| !KEYWORDS.contains(name));
        let written = name.filter(|_| token.tok == Tok::Name).unwrap_or(text).to_owned();
        self.out.push_str(&written);
        match token.tok {
            Tok::Punct(mark @ ("(" | "[" | "{")) => self.open.push(mark),
            Tok::Punct("<") if self.begins_generics(token) => self.generics = true,
            Tok::Punct(">") => self.generics = false,
            _ => {}
        }
        self.before = Some((token, is_unary));
        self.first = false;
    }

    /// Returns `true` if the token is `<` after the name in a function definition.
    fn begins_generics(&self, token: Token) -> bool {
        let line = self.text.get(..token.span.start as usize).unwrap_or_default();
        let line = line.rsplit('\n').next().unwrap_or_default().trim();
        line.strip_prefix("fn")
            .filter(|name| name.starts_with(char::is_whitespace))
            .is_some_and(|name| !name.trim().contains(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '%'))
    }

    /// Returns `true` if the expression continues after the token, so that an operand follows.
    fn ends_open(&self, token: Token) -> bool {
        match token.tok {
            Tok::Punct(")" | "]" | "}") => false,
            Tok::Punct(_) => true,
            Tok::Word => {
                let text = self.text_of(token);
                KEYWORDS.contains(&text) && !matches!(text, "true" | "false" | "inf" | "nan")
                    || matches!(text, "step" | "align" | "wide")
            }
            _ => false,
        }
    }

    /// Writes the line breaks, comments and spaces before a token.
    fn gap(&mut self, token: Token, closes: bool) {
        let start = self.before.map_or(0, |(before, _)| before.span.end as usize);
        let gap = self
            .text
            .get(start..token.span.start as usize)
            .unwrap_or_default()
            .trim_start_matches('\u{feff}')
            .to_owned();
        let mut lines = gap.split('\n');
        let here = lines.next().unwrap_or_default();
        let comment = here.trim();
        // An empty comment is a `;` that someone wrote to end a statement. It is removed.
        if !comment.trim_start_matches(';').is_empty() || self.first && !comment.is_empty() {
            let blanks = if self.first { 0 } else { here.chars().take_while(|c| *c != ';').count().max(1) };
            self.out.push_str(&" ".repeat(blanks));
            self.out.push_str(comment);
        }
        let rest: Vec<&str> = lines.collect();
        let Some((_, comments)) = rest.split_last() else {
            if !self.first && self.needs_space_before(token) {
                self.out.push(' ');
            }
            return;
        };
        let is_end = token.tok == Tok::End;
        let opened = match self.before {
            Some((before, _)) => matches!(before.tok, Tok::Punct("{" | "(" | "[")),
            None => comment.is_empty(),
        };
        let (mut blank, mut any_written) = (false, false);
        let mut written = self.first && comment.is_empty();
        let level = |writer: &Self| INDENT * writer.open.len();
        for line in comments {
            let line = line.trim();
            if line.is_empty() {
                blank = true;
                continue;
            }
            let is_first_in_block = opened && !any_written;
            self.end_line(blank && !is_first_in_block, &mut written);
            any_written = true;
            // Comments before a closing bracket are indented like the contents of the brackets.
            let depth = level(self) + if closes { INDENT } else { 0 };
            self.out.push_str(&" ".repeat(depth));
            self.out.push_str(line);
            blank = false;
        }
        if is_end {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            return;
        }
        let any_comment = comments.iter().any(|line| !line.trim().is_empty());
        self.end_line(blank && !closes && (any_comment || !opened), &mut written);
        let goes_on = self.before.is_some_and(|(before, unary)| {
            let is_mark =
                matches!(before.tok, Tok::Punct(mark) if !matches!(mark, "{" | "}" | "(" | ")" | "[" | "]" | ","));
            unary || is_mark
        });
        let depth = level(self) + if goes_on { INDENT } else { 0 };
        self.out.push_str(&" ".repeat(depth));
    }

    /// Writes a line break, and a blank line if `blank` is set. Writes nothing at the start of the text.
    fn end_line(&mut self, blank: bool, is_first: &mut bool) {
        if std::mem::take(is_first) {
            return;
        }
        self.out.push('\n');
        if blank {
            self.out.push('\n');
        }
    }

    /// Returns `true` if a space separates a token from the previous token on its line.
    fn needs_space_before(&self, token: Token) -> bool {
        let Some((before, unary)) = self.before else { return false };
        if unary || self.generics && !matches!(before.tok, Tok::Punct(",")) {
            return false;
        }
        match (before.tok, token.tok) {
            (_, Tok::End) => false,
            (Tok::Punct("(" | "[" | "." | ".." | "@"), _) => false,
            (_, Tok::Punct(")" | "]" | "," | ":" | "." | "..")) => false,
            (Tok::Punct("{"), Tok::Punct("}")) => true,
            (_, Tok::Punct("<")) => !self.begins_generics(token),
            (Tok::Punct(">"), Tok::Punct("(")) => {
                // `fn name<T>(` has no space before `(`, but the comparison `a > (b)` has one.
                let line = self.out.rsplit('\n').next().unwrap_or_default();
                !line.trim_start().starts_with("fn ")
            }
            (_, Tok::Punct("(" | "[")) => match before.tok {
                Tok::Punct(")" | "]") | Tok::Name => false,
                Tok::Word => self.ends_open(before) && !matches!(self.text_of(before), "step" | "align" | "wide"),
                _ => true,
            },
            _ => true,
        }
    }
}

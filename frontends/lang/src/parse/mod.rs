//! Parser of the kernel language. After an error the parser resumes at the next line. Expressions
//! that it could not parse become [`ExprKind::Failed`], which causes no further errors.

mod expr;
mod item;
mod stmt;

use halfbyte_ir::{Diagnostic, Span};

use crate::ast::{Ast, ExprId, ExprKind, Ident};
use crate::lexer::{Tok, Token, tokens};
use crate::symbols::Symbols;

/// Maximum nesting depth of brackets, braces and operators.
pub(crate) const MAX_DEPTH: u32 = 96;

/// Marker for an error that has been reported.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Parsing<T> = Result<T, Failed>;

/// Reserved words. With `%`, a reserved word is a name, such as `%for`. Contextual keywords such as
/// `step` are not in this list.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[&str] = &[
    "break", "const", "continue", "do", "else", "false", "fn", "for", "if", "in", "include", "inf", "inout", "kernel", "let", "nan", "out",
    "return", "scratch", "shared", "struct", "true", "unroll", "var", "while",
];

/// Parser of one file, which appends to the shared syntax tree.
pub(crate) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Number of the file's first position; the positions of all files are numbered consecutively.
    base: u32,
    depth: u32,
    /// `true` inside brackets, where line breaks do not end a statement.
    free: bool,
    /// Number of blocks whose opening brace is hidden in a comment.
    hidden: u32,
    /// `true` after an error that suppresses all later errors.
    has_given_up: bool,
    pub ast: &'a mut Ast,
    pub symbols: &'a mut Symbols,
    pub errors: &'a mut Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        source: &'a str,
        base: u32,
        ast: &'a mut Ast,
        symbols: &'a mut Symbols,
        errors: &'a mut Vec<Diagnostic>,
    ) -> Parser<'a> {
        Parser {
            source,
            tokens: tokens(source),
            at: 0,
            base,
            depth: 0,
            free: false,
            hidden: 0,
            has_given_up: false,
            ast,
            symbols,
            errors,
        }
    }

    fn token(&self) -> Token {
        self.ahead(0)
    }

    /// Returns the token that is `count` tokens after the next token.
    fn ahead(&self, count: usize) -> Token {
        let end = Token { tok: Tok::End, span: Span::default(), fresh: true, joined: false, cut: false };
        self.tokens.get(self.at + count).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// Returns the kind of the next token. If the next token is on a new line, which ends the
    /// statement, returns [`Tok::End`].
    fn tok(&self) -> Tok {
        let token = self.token();
        if token.fresh && !self.free { Tok::End } else { token.tok }
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.source.get(token.span.start as usize..token.span.end as usize).unwrap_or_default()
    }

    fn is_word(&self, token: Token, word: &str) -> bool {
        token.tok == Tok::Word && self.text_of(token) == word
    }

    /// Returns `true` if the next token is `word`, on this line or a later one.
    fn at_any(&self, word: &str) -> bool {
        self.is_word(self.token(), word)
    }

    fn at_word(&self, word: &str) -> bool {
        self.tok() == Tok::Word && self.at_any(word)
    }

    fn at_mark(&self, mark: &str) -> bool {
        matches!(self.tok(), Tok::Punct(found) if found == mark)
    }

    /// Consumes the next token. Returns its span, numbered consecutively over all files.
    fn bump(&mut self) -> Span {
        let span = self.token().span;
        self.at = (self.at + 1).min(self.tokens.len().saturating_sub(1));
        self.placed(span)
    }

    fn placed(&self, span: Span) -> Span {
        Span { start: span.start + self.base, end: span.end + self.base }
    }

    /// Returns the position of the next token.
    fn here(&self) -> Span {
        self.placed(self.token().span)
    }

    /// Returns the position of the end of the previous token.
    fn before(&self) -> u32 {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(0, |token| token.span.end) + self.base
    }

    /// Returns the span from `start` to the end of the previous token.
    fn since(&self, start: Span) -> Span {
        Span { start: start.start, end: self.before().max(start.start) }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.at_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn mark(&mut self, mark: &str) -> Parsing<Span> {
        if self.at_mark(mark) { Ok(self.bump()) } else { Err(self.unexpected(format!("`{mark}`"))) }
    }

    /// Consumes the keyword `word`, or reports that it is missing.
    fn keyword(&mut self, word: &str) -> Parsing<Span> {
        if self.at_word(word) { Ok(self.bump()) } else { Err(self.unexpected(format!("`{word}`"))) }
    }

    /// Parses a construct in brackets, inside which line breaks do not end a statement.
    fn bracketed<T>(
        &mut self,
        open: &'static str,
        close: &'static str,
        inside: impl FnOnce(&mut Self) -> Parsing<T>,
    ) -> Parsing<T> {
        self.mark(open)?;
        let free = std::mem::replace(&mut self.free, true);
        let read = inside(self);
        let closed = match &read {
            Ok(_) if !self.at_mark(close) => Err(self.unexpected(format!("`{close}`"))),
            _ => Ok(()),
        };
        self.free = free;
        let read = read?;
        closed?;
        self.bump();
        Ok(read)
    }

    /// Parses items separated by commas, with an optional trailing comma, up to the closing bracket.
    fn items<T>(&mut self, close: &'static str, mut item: impl FnMut(&mut Self) -> Parsing<T>) -> Parsing<Vec<T>> {
        let mut items = Vec::new();
        while !self.at_mark(close) {
            items.push(item(self)?);
            if !self.eat(",") && !self.at_mark(close) {
                return Err(self.unexpected(format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }

    /// Parses a name, with or without `%`.
    fn name(&mut self, expected: &str) -> Parsing<Ident> {
        let token = self.token();
        let text = self.text_of(token);
        match self.tok() {
            Tok::Name => {
                let sym = self.symbols.sym(text.get(1..).unwrap_or_default());
                Ok(Ident { sym, span: self.bump() })
            }
            Tok::Word if KEYWORDS.contains(&text) => {
                let failed = self.unexpected(expected);
                self.help(format!("`{text}` is a keyword; write `%{text}` to use it as a name"));
                Err(failed)
            }
            Tok::Word => {
                let sym = self.symbols.sym(text);
                Ok(Ident { sym, span: self.bump() })
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Checks that the statement ends here: at the end of its line or block.
    fn end(&mut self) -> Parsing<()> {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied();
        if let Some(token) = last.filter(|token| token.cut) {
            let at = self.placed(Span { start: token.span.end, end: token.span.end + 1 });
            let failed = self.error(at, "`;` begins a comment, but code follows", "the end of the line");
            self.help("a line break ends a statement: write the next statement on its own line, or write a space before the `;` of a comment");
            return Err(failed);
        }
        match self.tok() {
            Tok::End | Tok::Punct("}") => Ok(()),
            _ => Err(self.unexpected("the end of the line")),
        }
    }

    /// Calls `read` one nesting level deeper, and reports too deep nesting.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsing<T>) -> Parsing<T> {
        if self.depth >= MAX_DEPTH {
            let here = self.here();
            let failed = self.error(here, format!("more than {MAX_DEPTH} levels of nesting"), "fewer");
            self.help("split the expression with `let` or into functions; each `else if` also counts as a level");
            // Parsing stops at too deep nesting, because the rest of the file would only cause further errors.
            self.at = self.tokens.len().saturating_sub(1);
            self.has_given_up = true;
            return Err(failed);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn expr_node(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.ast.add_expr(kind, span)
    }

    fn error(&mut self, span: Span, message: impl Into<String>, expected: impl Into<String>) -> Failed {
        if !self.has_given_up {
            self.errors.push(Diagnostic::new(span, message).expected(expected));
        }
        Failed
    }

    /// Adds a help text to the last error.
    fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.errors.last_mut().filter(|_| !self.has_given_up) {
            last.help = Some(help.into());
        }
    }

    /// Returns `true` if a C cast, such as `(name)`, precedes the next token.
    fn is_after_cast(&self) -> bool {
        let back = |count: usize| self.at.checked_sub(count).and_then(|at| self.tokens.get(at)).copied();
        matches!(self.tok(), Tok::Word | Tok::Name | Tok::Number | Tok::Punct("("))
            && back(1).is_some_and(|token| token.tok == Tok::Punct(")"))
            && back(2).is_some_and(|token| token.tok == Tok::Word)
            && back(3).is_some_and(|token| token.tok == Tok::Punct("("))
            && back(4)
                .is_none_or(|token| token.tok != Tok::Name && (token.tok != Tok::Word || self.is_word(token, "return")))
    }

    /// Reports the next token as unexpected.
    fn unexpected(&mut self, expected: impl Into<String>) -> Failed {
        let expected = expected.into();
        let token = self.token();
        let end = self.before();
        if self.tok() == Tok::End {
            let (span, message) = match token.tok {
                Tok::End => (self.here(), "unexpected end of the text"),
                _ => (Span { start: end, end }, "unexpected end of the line"),
            };
            return self.error(span, message, expected);
        }
        let text = self.text_of(token);
        if token.tok == Tok::OpenText {
            return self.error(self.placed(token.span), "a string without its closing quote", expected);
        }
        let shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
        let failed =
            self.error(self.placed(token.span), format!("unexpected `{}`", shown.replace("\\\"", "\"")), expected);
        let rest = self.source.get(token.span.start as usize..).unwrap_or_default();
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).copied();
        let before = before.map_or("", |before| self.text_of(before));
        let twice = |mark: &str| token.joined && before == mark && text == mark;
        if twice("/") || ["//", "/*", "#"].iter().any(|mark| rest.starts_with(mark)) {
            self.help("a comment begins with `;` and ends with its line");
        } else if before == "mut" {
            self.help("declare a variable with `var`: `var x = ..`");
        } else if matches!(text, "%") || token.tok == Tok::Name {
            self.help("write a remainder as `rem_u(a, b)` or `rem_s(a, b)`");
        } else if twice("+") || twice("-") {
            self.help("`i += 1` adds one");
        } else if text == "?" {
            self.help("write a conditional expression as `if c { a } else { b }` or `select(c, a, b)`");
        } else if text == "~" {
            self.help("write the bitwise complement as `!x`");
        } else if self.is_after_cast() {
            self.help("convert with an op: `fcvt.f16(x)`, `zext.i32(x)`, `trunc.i8(x)`, `fcvt_from_s.f32(i)`, `fcvt_to_s.i32(f)`");
        }
        failed
    }
}

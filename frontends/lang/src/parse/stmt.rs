//! Parsing of statements and blocks. A statement ends at the end of its line.

use halfbyte_ir::{Space, Span};

use super::expr::infix;
use super::{Failed, Parser, Parsing};
use crate::ast::{ArrayDecl, BinOp, BlockId, ExprKind, For, Stmt, StmtKind};
use crate::lexer::{Tok, Token};

/// Returns the operator of an assignment token: `None` inside for `=`, or the operator of `+=` and
/// similar tokens. Returns `None` for other tokens.
fn assignment(mark: &str) -> Option<Option<BinOp>> {
    if mark == "=" {
        return Some(None);
    }
    let op = mark.strip_suffix('=').filter(|_| !matches!(mark, "==" | "!=" | "<=" | ">="))?;
    infix(op).map(|(op, _)| Some(op))
}

impl Parser<'_> {
    /// Parses the block of `if`, `else`, `for`, `while` or `do`.
    pub(super) fn body(&mut self) -> Parsing<BlockId> {
        if !self.at_mark("{") {
            let failed = self.unexpected("`{`");
            if self.errors.last().is_some_and(|last| last.help.is_none()) {
                self.help("a single statement needs braces, too: `if c { return }`");
            }
            return Err(failed);
        }
        self.block()
    }

    pub(super) fn block(&mut self) -> Parsing<BlockId> {
        let start = self.mark("{")?;
        let free = std::mem::replace(&mut self.free, false);
        let read = self.deeper(|parser| {
            let mut stmts = Vec::new();
            loop {
                match parser.token().tok {
                    Tok::Punct("}") => break,
                    Tok::End => {
                        // The parser of an inner block has already reported the missing brace.
                        if parser.errors.last().is_some_and(|last| last.span == parser.here()) {
                            return Err(Failed);
                        }
                        let failed = parser.unexpected("`}`");
                        if let Some(last) = parser.errors.last_mut().filter(|last| last.notes.is_empty()) {
                            last.notes.push(halfbyte_ir::diag::Note {
                                span: Some(start),
                                message: "the block opens here".into(),
                            });
                        }
                        return Err(failed);
                    }
                    _ => {}
                }
                if parser.begins_item() {
                    return Err(parser.unexpected_item(start));
                }
                match parser.statement() {
                    Ok(stmt) => stmts.push(stmt),
                    Err(Failed) => {
                        parser.skip_statement();
                        let expr = parser.failed(Failed);
                        let here = parser.here();
                        let span = Span { start: here.start, end: here.start };
                        stmts.push(Stmt { kind: StmtKind::Expr(expr), span });
                    }
                }
            }
            parser.bump();
            let span = parser.since(start);
            Ok(parser.ast.add_block(stmts, span))
        });
        self.free = free;
        read
    }

    /// Returns `true` if an item, such as a function, begins where a statement is expected. A
    /// closing brace is then missing.
    fn begins_item(&self) -> bool {
        let token = self.token();
        let named = matches!(self.ahead(1).tok, Tok::Word | Tok::Name | Tok::Punct("@")) && !self.ahead(1).fresh;
        token.fresh && named && ["kernel", "fn", "struct"].iter().any(|word| self.is_word(token, word))
    }

    fn unexpected_item(&mut self, open: Span) -> Failed {
        if let Some(token) = self.tokens.get_mut(self.at) {
            token.fresh = false;
        }
        let failed = self.unexpected("`}` before it");
        if let Some(last) = self.errors.last_mut() {
            last.notes.push(halfbyte_ir::diag::Note { span: Some(open), message: "the block opens here".into() });
        }
        if let Some(token) = self.tokens.get_mut(self.at) {
            token.fresh = true;
        }
        failed
    }

    /// Skips to the next line on which a statement of this block can begin.
    fn skip_statement(&mut self) {
        self.free = false;
        let mut braces = std::mem::take(&mut self.hidden);
        loop {
            match self.token().tok {
                Tok::End => return,
                Tok::Word if self.at_any("for") => braces += self.hides_brace(self.token()),
                Tok::Punct("{") => braces += 1,
                Tok::Punct("}") if braces == 0 => return,
                Tok::Punct("}") => braces -= 1,
                _ => {}
            }
            self.bump();
            let token = self.token();
            if braces == 0 && token.fresh && !matches!(token.tok, Tok::Punct(")" | "]" | ",")) || self.begins_item() {
                return;
            }
        }
    }

    fn statement(&mut self) -> Parsing<Stmt> {
        if let Some(token) = self.tokens.get_mut(self.at) {
            token.fresh = false;
        }
        let (token, start) = (self.token(), self.here());
        let text = self.text_of(token);
        let kind = match (token.tok, text) {
            (Tok::Word, "let" | "var") => self.binding(text == "var")?,
            (Tok::Word, "const") => {
                self.bump();
                let constant = self.constant()?;
                StmtKind::Const { name: constant.name, ty: constant.ty, value: constant.value }
            }
            (Tok::Word, "for") => StmtKind::For(self.numbers()?),
            (Tok::Word, "unroll") => {
                self.bump();
                StmtKind::UnrollFor(self.numbers()?)
            }
            (Tok::Word, "while") => {
                self.bump();
                let condition = self.expr()?;
                let body = self.body()?;
                StmtKind::While { condition, body }
            }
            (Tok::Word, "do") => {
                self.bump();
                let body = self.body()?;
                if !self.at_any("while") {
                    return Err(self.unexpected("`while` after the block"));
                }
                self.bump();
                let condition = self.expr()?;
                StmtKind::DoWhile { body, condition }
            }
            (Tok::Word, "break") => {
                self.bump();
                StmtKind::Break
            }
            (Tok::Word, "continue") => {
                self.bump();
                StmtKind::Continue
            }
            (Tok::Word, "return") => {
                self.bump();
                let nothing = matches!(self.tok(), Tok::End | Tok::Punct("}"));
                StmtKind::Return(if nothing { None } else { Some(self.expr()?) })
            }
            (Tok::Word, "shared") => self.array(Space::Shared)?,
            (Tok::Word, "scratch") => self.array(Space::Scratch)?,
            _ => self.expr_or_assignment()?,
        };
        let span = self.since(start);
        self.end()?;
        Ok(Stmt { kind, span })
    }

    fn expr_or_assignment(&mut self) -> Parsing<StmtKind> {
        if self.token().tok == Tok::Bad && self.text_of(self.token()) == "^" || self.at_mark("^") {
            let failed = self.unexpected("a statement");
            self.help("labels are valid only in plain IR: `kernel @name`");
            return Err(failed);
        }
        if ["+", "*", "&", "|", "&&", "||"].into_iter().any(|mark| self.at_mark(mark)) {
            let failed = self.unexpected("a statement");
            self.help("to continue an expression on the next line, end the line with the operator");
            return Err(failed);
        }
        let target = self.expr()?;
        let is_name = matches!(self.ast.expr(target).kind, ExprKind::Name(_));
        if self.tok() == Tok::Word && is_name {
            let failed = self.unexpected("the end of the line");
            self.help("declare a variable with `let` or `var`: `var a = 3`, or with a type: `var a: i32 = 3`");
            return Err(failed);
        }
        let Tok::Punct(mark) = self.tok() else { return Ok(StmtKind::Expr(target)) };
        let Some(op) = assignment(mark) else {
            if mark == ":" && is_name {
                let failed = self.unexpected("the end of the line");
                self.help("declare a variable with `let` or `var`");
                return Err(failed);
            }
            return Ok(StmtKind::Expr(target));
        };
        self.bump();
        let value = self.value()?;
        Ok(StmtKind::Assign { target, op, value })
    }

    /// Parses a declaration: `let a = e`, `let (a, b) = e`, `var a: T = e`.
    fn binding(&mut self, mutable: bool) -> Parsing<StmtKind> {
        self.bump();
        let (names, ty) = if self.at_mark("(") {
            let names = self.bracketed("(", ")", |parser| parser.items(")", |parser| parser.name("a name")))?;
            (names, None)
        } else {
            let name = self.name("a name")?;
            let ty = if self.eat(":") { Some(self.name("a type")?) } else { None };
            if let (Some(ty), true, true) = (ty, mutable, self.at_mark("[")) {
                let count = self.bracketed("[", "]", Self::expr)?;
                return Ok(StmtKind::Vars { name, ty, count });
            }
            (vec![name], ty)
        };
        let names = self.ast.add_idents(names);
        self.mark("=")?;
        // The names are declared even if the value cannot be parsed, so that their uses cause no further errors.
        let value = match self.value() {
            Ok(value) => value,
            Err(failed) => {
                self.skip_to_end();
                self.failed(failed)
            }
        };
        Ok(StmtKind::Let { names, mutable, ty, value })
    }

    /// Skips to the end of the statement, including the blocks in it.
    fn skip_to_end(&mut self) {
        self.skip_statement();
    }

    /// Returns 1 if the comment on the token's line contains an opening brace, else 0. In `for (int
    /// i = 0; i < n; i++) {` the comment begins at the first `;`.
    fn hides_brace(&self, token: Token) -> u32 {
        let rest =
            self.source.get(token.span.start as usize..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        u32::from(rest.contains('(') && rest.contains(';') && rest.trim_end().ends_with('{'))
    }

    /// Parses a `for` loop: `for i in 0..n step 2 { }`.
    fn numbers(&mut self) -> Parsing<For> {
        self.keyword("for")?;
        let hidden = self.hides_brace(self.token());
        let help = "write `for i in 0..n step 2 { }` instead of `for (int i = 0; i < n; i += 2)`";
        let name = self.name("the name of the number").inspect_err(|_| {
            self.help(help);
            self.hidden = hidden;
        })?;
        self.keyword("in")?;
        let from = self.expr()?;
        if !self.at_mark("..") {
            let failed = self.unexpected("`..`");
            self.help("write a range as `0..n` (n excluded), or `0..n step 2`");
            return Err(failed);
        }
        self.bump();
        let to = self.expr()?;
        let step = if self.eat_word("step") { Some(self.expr()?) } else { None };
        let body = self.body()?;
        Ok(For { name, from, to, step, body })
    }

    /// Parses an array declaration: `shared tile: i32[256] align 16`.
    fn array(&mut self, space: Space) -> Parsing<StmtKind> {
        self.bump();
        let name = self.name("the array's name")?;
        self.mark(":")?;
        let elem = self.name("the type of the elements")?;
        if !self.at_mark("[") {
            let failed = self.unexpected("the number of elements in brackets");
            self.help(format!("as in `{space} {}: i32[256]`", self.symbols.text(name.sym)));
            return Err(failed);
        }
        let count =
            self.bracketed("[", "]", |parser| if parser.at_mark("]") { Ok(None) } else { parser.expr().map(Some) })?;
        let align = if self.eat_word("align") { Some(self.expr()?) } else { None };
        Ok(StmtKind::Array(ArrayDecl { space, name, elem, count, align }))
    }
}

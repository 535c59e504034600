//! Parsing of expressions. Operators have the same precedence as in Rust: `* /`, `+ -`, shifts,
//! `&`, `^`, `|`, comparisons, `&&`, `||`.

use super::{Failed, Parser, Parsing};
use crate::ast::{Arg, BinOp, Compare, ExprId, ExprKind, Ident, Number, Range, Sign, UnOp, Wide};
use crate::lexer::Tok;
use halfbyte_abi::Type;
use halfbyte_ir::Span;

/// Returns the infix operator that a token denotes, and its precedence. Returns `None` for other
/// tokens.
pub(crate) fn infix(mark: &str) -> Option<(BinOp, u8)> {
    use BinOp::{Add, And, Both, Div, Either, Mul, Or, Shl, Shr, Sub, Xor};
    use Compare::{Eq, Ge, Gt, Le, Lt, Ne};
    use Sign::{None as No, S, U};
    Some(match mark {
        "*" => (Mul, 10),
        "/" => (Div(No), 10),
        "/_s" => (Div(S), 10),
        "/_u" => (Div(U), 10),
        "+" => (Add, 9),
        "-" => (Sub, 9),
        "<<" => (Shl, 8),
        ">>" => (Shr(No), 8),
        ">>_s" => (Shr(S), 8),
        ">>_u" => (Shr(U), 8),
        "&" => (And, 7),
        "^" => (Xor, 6),
        "|" => (Or, 5),
        "==" => (BinOp::Compare(Eq, No), 4),
        "!=" => (BinOp::Compare(Ne, No), 4),
        "<" => (BinOp::Compare(Lt, No), 4),
        "<_s" => (BinOp::Compare(Lt, S), 4),
        "<_u" => (BinOp::Compare(Lt, U), 4),
        "<=" => (BinOp::Compare(Le, No), 4),
        "<=_s" => (BinOp::Compare(Le, S), 4),
        "<=_u" => (BinOp::Compare(Le, U), 4),
        ">" => (BinOp::Compare(Gt, No), 4),
        ">_s" => (BinOp::Compare(Gt, S), 4),
        ">_u" => (BinOp::Compare(Gt, U), 4),
        ">=" => (BinOp::Compare(Ge, No), 4),
        ">=_s" => (BinOp::Compare(Ge, S), 4),
        ">=_u" => (BinOp::Compare(Ge, U), 4),
        "&&" => (Both, 3),
        "||" => (Either, 2),
        _ => return None,
    })
}

/// Precedence of comparisons. A comparison cannot be the operand of another comparison.
const COMPARISON: u8 = 4;

/// Lowest precedence of an infix operator.
const LOOSEST: u8 = 2;

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expr(&mut self) -> Parsing<ExprId> {
        self.binary(LOOSEST)
    }

    fn binary(&mut self, least: u8) -> Parsing<ExprId> {
        let start = self.here();
        let mut left = self.unary()?;
        let mut compared = false;
        while let Tok::Punct(mark) = self.tok() {
            let Some((op, tightness)) = infix(mark).filter(|&(_, tightness)| tightness >= least) else { break };
            if tightness == COMPARISON && std::mem::replace(&mut compared, true) {
                let failed = self.unexpected("`&&` between two comparisons");
                self.help("write `a <_s b && b <_s c`, or `(a <_s b) & (b <_s c)` for masks");
                return Err(failed);
            }
            self.bump();
            // If an operator ends a line, its right operand is on the next line.
            let right = self.operand_on_any_line(|parser| parser.deeper(|parser| parser.binary(tightness + 1)))?;
            let span = self.since(start);
            left = self.expr_node(ExprKind::Binary(op, left, right), span);
        }
        Ok(left)
    }

    /// Calls `read` with the next token treated as if it were on the current line.
    fn operand_on_any_line<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsing<T>) -> Parsing<T> {
        if let Some(token) = self.tokens.get_mut(self.at)
            && token.tok != Tok::End
            && token.tok != Tok::Punct("}")
        {
            token.fresh = false;
        }
        read(self)
    }

    /// Parses the expression after `=`, which may begin on the next line.
    pub(super) fn value(&mut self) -> Parsing<ExprId> {
        self.operand_on_any_line(Self::expr)
    }

    fn unary(&mut self) -> Parsing<ExprId> {
        let start = self.here();
        let op = match self.tok() {
            Tok::Punct("-") => UnOp::Neg,
            Tok::Punct("!") => UnOp::Not,
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.deeper(Self::unary)?;
        let span = self.since(start);
        Ok(self.expr_node(ExprKind::Unary(op, operand), span))
    }

    /// Parses a name, element or field: `a`, `a[i]`, `a[i].q[j]`.
    fn postfix(&mut self) -> Parsing<ExprId> {
        let start = self.here();
        let mut expr = self.primary()?;
        let mut parts = 0;
        loop {
            match self.tok() {
                Tok::Punct("[") => {
                    let (index, wide) = self.bracketed("[", "]", |parser| parser.deeper(Self::index))?;
                    let span = self.since(start);
                    expr = self.expr_node(ExprKind::Index { base: expr, index, wide }, span);
                }
                Tok::Punct(".") => {
                    self.bump();
                    let field = self.name("the name of a field")?;
                    let span = self.since(start);
                    expr = self.expr_node(ExprKind::Field { base: expr, field }, span);
                }
                _ => break,
            }
            parts += 1;
            if parts > super::MAX_DEPTH {
                let here = self.here();
                return Err(self.error(
                    here,
                    format!("more than {} indices and fields after one name", super::MAX_DEPTH),
                    "fewer",
                ));
            }
        }
        Ok(expr)
    }

    /// Parses the index in brackets: `i`, `i wide`, `i wide + 3`.
    fn index(&mut self) -> Parsing<(ExprId, Option<Wide>)> {
        let index = self.expr()?;
        if !self.at_word("wide") {
            return Ok((index, None));
        }
        let span = self.bump();
        let minus = match self.tok() {
            Tok::Punct("+") => false,
            Tok::Punct("-") => true,
            _ => return Ok((index, Some(Wide { span, offset: None }))),
        };
        self.bump();
        let offset = Some((minus, self.expr()?));
        Ok((index, Some(Wide { span, offset })))
    }

    fn primary(&mut self) -> Parsing<ExprId> {
        let (token, start) = (self.token(), self.here());
        let text = self.text_of(token);
        match self.tok() {
            Tok::Number => {
                let kind = self.number(text, start)?;
                self.bump();
                Ok(self.expr_node(kind, start))
            }
            Tok::Word => match text {
                "if" => self.choice(),
                "true" | "false" => {
                    self.bump();
                    Ok(self.expr_node(ExprKind::Bool(text == "true"), start))
                }
                "inf" | "nan" => {
                    self.bump();
                    let text = self.symbols.sym(text);
                    Ok(self.expr_node(ExprKind::Number(Number { text, ty: None }), start))
                }
                "const" => {
                    let failed = self.unexpected("a value");
                    self.help("write a constant with a type as `3i32`, `1.5f16x2` or `i8x4(1, 2, 3, 4)`");
                    Err(failed)
                }
                _ => self.word(),
            },
            Tok::Name => self.word(),
            Tok::Punct("(") => {
                let mut list =
                    self.bracketed("(", ")", |parser| parser.items(")", |parser| parser.deeper(Self::expr)))?;
                let span = self.since(start);
                match (list.pop(), list.is_empty()) {
                    (Some(only), true) => Ok(only),
                    (Some(last), false) => {
                        list.push(last);
                        let list = self.ast.add_list(list);
                        Ok(self.expr_node(ExprKind::Tuple(list), span))
                    }
                    (None, _) => Err(self.error(span, "the brackets are empty", "a value")),
                }
            }
            Tok::Punct("[") => {
                let failed = self.unexpected("a value");
                self.help("write a vector as a call of its type: `i8x4(1, 2, 3, 4)`");
                Err(failed)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Parses a number literal: `3`, `3i32`, `1.5f16`, `0xff_i8`.
    fn number(&mut self, text: &str, span: Span) -> Parsing<ExprKind> {
        let split = match text.find('_') {
            Some(at) => text.split_at_checked(at).map(|(number, ty)| (number, ty.get(1..).unwrap_or_default(), at + 1)),
            None if text.starts_with("0x") => None,
            // The type suffix of `1e5f16` begins at `f`, that of `1i8` at `i`.
            None => {
                let exponent = |at: usize| {
                    let rest = text.get(at + 1..).unwrap_or_default().trim_start_matches(['+', '-']);
                    at > 0 && rest.starts_with(|c: char| c.is_ascii_digit())
                };
                let mut starts = text
                    .char_indices()
                    .filter(|&(at, c)| c.is_ascii_alphabetic() && !(matches!(c, 'e' | 'E') && exponent(at)));
                starts.next().and_then(|(at, _)| Some((text.get(..at)?, text.get(at..)?, at)))
            }
        };
        let (number, ty) = match split {
            None => (text, None),
            Some((number, ty, at)) => {
                if Type::from_name(ty).is_none() {
                    let at = Span { start: span.start + at as u32, end: span.end };
                    let expected = halfbyte_ir::text::type_meant(ty)
                        .map_or("a type".into(), |meant| format!("a type; did you mean {meant}?"));
                    return Err(self.error(at, format!("`{ty}` follows a number, but is not a type"), expected));
                }
                let at = Span { start: span.start + at as u32, end: span.end };
                (number, Some(Ident { sym: self.symbols.sym(ty), span: at }))
            }
        };
        let digits = number.strip_prefix("0x").map_or(number, |digits| digits);
        let hex = number.starts_with("0x");
        if digits.is_empty() || hex && !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let failed =
                self.error(span, format!("`{text}` is not a number"), "decimal digits, or `0x` and hexadecimal digits");
            if hex {
                self.help("write the type after `_`: `0xff_i8`");
            }
            return Err(failed);
        }
        Ok(ExprKind::Number(Number { text: self.symbols.sym(number), ty }))
    }

    /// Parses a name or a call: `name(..)`, `name.modifier(..)`.
    fn word(&mut self) -> Parsing<ExprId> {
        let start = self.here();
        // In a call, no space separates the name and its modifiers, and `(` is on the same line.
        let mut ahead = 1;
        while self.ahead(ahead).tok == Tok::Punct(".") && matches!(self.ahead(ahead + 1).tok, Tok::Word | Tok::Name) {
            if !(self.ahead(ahead).joined && self.ahead(ahead + 1).joined) {
                break;
            }
            ahead += 2;
        }
        let bracket = self.ahead(ahead);
        let is_call = bracket.tok == Tok::Punct("(") && (!bracket.fresh || self.free && ahead == 1);
        if !is_call {
            let name = self.name("a value")?;
            return Ok(self.expr_node(ExprKind::Name(name.sym), name.span));
        }
        let name = self.name("a function")?;
        let mut modifiers = Vec::new();
        while self.eat(".") {
            let text = self.text_of(self.token());
            // A keyword is valid as a modifier, as in `fcmp.nan`.
            let sym = self.symbols.sym(text.trim_start_matches('%'));
            modifiers.push(Ident { sym, span: self.bump() });
        }
        let modifiers = self.ast.add_idents(modifiers);
        let args = self.bracketed("(", ")", |parser| parser.items(")", |parser| parser.deeper(Self::arg)))?;
        let args = self.ast.add_args(args);
        let span = self.since(start);
        Ok(self.expr_node(ExprKind::Call { name, modifiers, args }, span))
    }

    /// Parses an argument: a value, a list, a string, or a place with `step N` and `align N`.
    fn arg(&mut self) -> Parsing<Arg> {
        let start = self.here();
        match self.tok() {
            Tok::Punct("[") => {
                let list = self.list()?;
                Ok(Arg::List(list, self.since(start)))
            }
            Tok::Text => {
                let text = self.text_of(self.token());
                let span = self.bump();
                Ok(Arg::Text(self.unquoted(text), span))
            }
            _ => {
                let place = self.expr()?;
                if !(self.at_word("step") || self.at_word("align")) {
                    return Ok(Arg::Value(place));
                }
                let step = if self.eat_word("step") { Some(self.unary()?) } else { None };
                let align = if self.eat_word("align") { Some(self.unary()?) } else { None };
                let span = self.since(start);
                Ok(Arg::Value(self.expr_node(ExprKind::Access { place, step, align }, span)))
            }
        }
    }

    /// Parses a list: `[a, b, c]`.
    pub(super) fn list(&mut self) -> Parsing<Range> {
        let list = self.bracketed("[", "]", |parser| parser.items("]", |parser| parser.deeper(Self::expr)))?;
        Ok(self.ast.add_list(list))
    }

    /// Returns the contents of a string literal, with its escape sequences replaced.
    pub(super) fn unquoted(&mut self, quoted: &str) -> crate::symbols::Sym {
        let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        let mut text = String::with_capacity(inside.len());
        let mut chars = inside.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        self.symbols.sym(&text)
    }

    /// Parses a conditional: `if c { } else if d { } else { }`.
    pub(super) fn choice(&mut self) -> Parsing<ExprId> {
        let start = self.keyword("if")?;
        let free = std::mem::replace(&mut self.free, false);
        let read = self.deeper(|parser| {
            let condition = parser.expr()?;
            let then = parser.body()?;
            let mut otherwise = None;
            if parser.at_any("else") {
                parser.bump();
                let at = parser.here();
                otherwise = Some(if parser.at_word("if") {
                    parser.choice()?
                } else {
                    let block = parser.body()?;
                    let span = parser.since(at);
                    parser.expr_node(ExprKind::Block(block), span)
                });
            }
            Ok((condition, then, otherwise))
        });
        self.free = free;
        let (condition, then, otherwise) = read?;
        let span = self.since(start);
        Ok(self.expr_node(ExprKind::If { condition, then, otherwise }, span))
    }

    /// Adds a placeholder for an expression that could not be parsed.
    pub(super) fn failed(&mut self, _: Failed) -> ExprId {
        let here = self.here();
        self.expr_node(ExprKind::Failed, Span { start: here.start, end: here.start })
    }
}

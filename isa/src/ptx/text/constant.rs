//! Parser of constants: literals and 64-bit constant expressions.

use super::error::{Error, ErrorKind};
use super::instruction::{WARP_SIZE, WARP_THREADS};
use super::lexer::Token;
use super::number::{Integer64, Literal};
use super::reader::Reader;

/// Maximum nesting depth of parentheses, unary operators and conditional expressions.
const MAX_DEPTH: u32 = 64;

/// A subexpression: its literal, if it consists of only a literal, and its value. A floating-point
/// literal has no value.
struct Term<'a> {
    plain: Option<Literal<'a>>,
    value: Option<Integer64>,
}

/// A binary operator in a constant expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    Both,
    Either,
}

impl<'a> Reader<'a> {
    /// Parses a literal or a constant expression.
    pub(super) fn constant(&mut self) -> Result<Literal<'a>, Error> {
        let at = self.ahead.at;
        let Term { plain, value } = self.conditional(0)?;
        let found = || Error { at, kind: float_expression() };
        match (plain, value) {
            (Some(plain), _) => Ok(plain),
            (None, Some(value)) => Ok(Literal::Computed(value)),
            (None, None) => Err(found()),
        }
    }

    /// Returns `true` if the next token starts a constant.
    pub(super) fn is_constant(&self) -> bool {
        match self.ahead.token {
            Token::Number(_) | Token::Name(WARP_SIZE) | Token::Punct('(' | '~' | '+') => true,
            Token::Punct('-') => !matches!(self.following(), Some(Token::Name(name)) if name != WARP_SIZE),
            Token::Punct('!') => self.lexer.next_byte().is_some_and(|b| b.is_ascii_digit() || b == b'('),
            _ => false,
        }
    }

    /// Parses a conditional expression: `a ? b : c`.
    fn conditional(&mut self, depth: u32) -> Result<Term<'a>, Error> {
        let condition = self.binary(depth, 0)?;
        if self.ahead.token != Token::Punct('?') {
            return Ok(condition);
        }
        let condition = self.whole(condition)?;
        self.bump()?;
        let yes = self.conditional(depth + 1)?;
        let yes = self.whole(yes)?;
        self.expect(':', "`:`")?;
        let no = self.conditional(depth + 1)?;
        let no = self.whole(no)?;
        Ok(computed(if condition.bits != 0 { yes } else { no }))
    }

    /// Parses a chain of binary operators whose precedence is at least `least`, with their operands.
    fn binary(&mut self, depth: u32, least: u32) -> Result<Term<'a>, Error> {
        let mut left = self.unary(depth)?;
        while let Some((operator, binds, length)) = self.operator().filter(|(_, binds, _)| *binds >= least) {
            let a = self.whole(left)?;
            for _ in 0..length {
                self.bump()?;
            }
            let at = self.ahead.at;
            let right = self.binary(depth + 1, binds + 1)?;
            let b = self.whole(right)?;
            let zero = || Error { at, kind: ErrorKind::Expression("division by zero in a constant expression") };
            left = computed(apply(operator, a, b).ok_or_else(zero)?);
        }
        Ok(left)
    }

    /// Returns the operator at the next token, its precedence and its length in characters.
    fn operator(&self) -> Option<(Binary, u32, u32)> {
        use Binary::*;
        let Token::Punct(first) = self.ahead.token else { return None };
        Some(match (first, self.lexer.next_byte()) {
            ('*', _) => (Mul, 10, 1),
            ('/', _) => (Div, 10, 1),
            ('%', _) => (Rem, 10, 1),
            ('+', _) => (Add, 9, 1),
            ('-', _) => (Sub, 9, 1),
            ('<', Some(b'<')) => (Shl, 8, 2),
            ('>', Some(b'>')) => (Shr, 8, 2),
            ('<', Some(b'=')) => (LessEqual, 7, 2),
            ('<', _) => (Less, 7, 1),
            ('>', Some(b'=')) => (GreaterEqual, 7, 2),
            ('>', _) => (Greater, 7, 1),
            ('=', Some(b'=')) => (Equal, 6, 2),
            ('!', Some(b'=')) => (NotEqual, 6, 2),
            ('&', Some(b'&')) => (Both, 2, 2),
            ('&', _) => (And, 5, 1),
            ('^', _) => (Xor, 4, 1),
            ('|', Some(b'|')) => (Either, 1, 2),
            ('|', _) => (Or, 3, 1),
            _ => return None,
        })
    }

    fn unary(&mut self, depth: u32) -> Result<Term<'a>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.expected("an expression with at most 64 nested operators and parentheses"));
        }
        match self.ahead.token {
            Token::Punct('-') => {
                self.bump()?;
                let Term { plain, value } = self.unary(depth + 1)?;
                let plain = match plain {
                    Some(Literal::Written { negative: false, text }) => Some(Literal::Written { negative: true, text }),
                    _ => None,
                };
                Ok(Term { plain, value: value.map(|of| Integer64 { bits: of.bits.wrapping_neg(), ..of }) })
            }
            Token::Punct('+') => {
                self.bump()?;
                self.unary(depth + 1)
            }
            Token::Punct('~') => {
                self.bump()?;
                let of = self.unary(depth + 1)?;
                let of = self.whole(of)?;
                Ok(computed(Integer64 { bits: !of.bits, ..of }))
            }
            Token::Punct('!') => {
                self.bump()?;
                let of = self.unary(depth + 1)?;
                let of = self.whole(of)?;
                Ok(computed(truth(of.bits == 0)))
            }
            Token::Punct('(') => {
                self.bump()?;
                let signed = match self.ahead.token {
                    Token::Dotted("s64") => Some(true),
                    Token::Dotted("u64") => Some(false),
                    _ => None,
                };
                if let Some(is_signed) = signed {
                    self.bump()?;
                    self.expect(')', "`)`")?;
                    let of = self.unary(depth + 1)?;
                    let of = self.whole(of)?;
                    return Ok(computed(Integer64 { is_signed, ..of }));
                }
                let of = self.conditional(depth + 1)?;
                self.expect(')', "`)`")?;
                // A floating-point literal in parentheses is still a literal.
                Ok(Term { plain: of.plain.filter(|_| of.value.is_none()), value: of.value })
            }
            _ => {
                let text = match self.ahead.token {
                    Token::Number(text) => text,
                    Token::Name(WARP_SIZE) => WARP_THREADS,
                    _ => return Err(self.expected("a number")),
                };
                let plain = Literal::Written { negative: false, text };
                let value = plain.whole().map_err(|kind| self.error(kind))?;
                self.bump()?;
                Ok(Term { plain: Some(plain), value })
            }
        }
    }

    /// Returns the value of a subexpression, or an error for a floating-point literal.
    fn whole(&self, term: Term<'a>) -> Result<Integer64, Error> {
        term.value.ok_or_else(|| self.error(float_expression()))
    }
}

fn float_expression() -> ErrorKind {
    ErrorKind::Expression("floating-point literals are not allowed in constant expressions")
}

fn computed<'a>(value: Integer64) -> Term<'a> {
    Term { plain: None, value: Some(value) }
}

fn truth(value: bool) -> Integer64 {
    Integer64 { bits: value.into(), is_signed: true }
}

/// Evaluates a binary operator. Returns `None` for a division by zero. The operation is signed if
/// both operands are signed. A shift is signed if its first operand is signed.
fn apply(operator: Binary, a: Integer64, b: Integer64) -> Option<Integer64> {
    let is_signed = a.is_signed && b.is_signed;
    let (x, y) = (a.bits, b.bits);
    let (p, q) = (x.cast_signed(), y.cast_signed());
    let less = |strictly: bool| match (is_signed, strictly) {
        (true, true) => p < q,
        (true, false) => p <= q,
        (false, true) => x < y,
        (false, false) => x <= y,
    };
    let of = |bits: u64| Some(Integer64 { bits, is_signed });
    match operator {
        Binary::Mul => of(x.wrapping_mul(y)),
        Binary::Add => of(x.wrapping_add(y)),
        Binary::Sub => of(x.wrapping_sub(y)),
        Binary::Div | Binary::Rem if y == 0 => None,
        Binary::Div => of(if is_signed { p.wrapping_div(q).cast_unsigned() } else { x / y }),
        Binary::Rem => of(if is_signed { p.wrapping_rem(q).cast_unsigned() } else { x % y }),
        Binary::Shl => Some(Integer64 { bits: x.checked_shl(y.min(64) as u32).unwrap_or(0), ..a }),
        Binary::Shr if a.is_signed => Some(Integer64 { bits: (p >> y.min(63)).cast_unsigned(), ..a }),
        Binary::Shr => Some(Integer64 { bits: x.checked_shr(y.min(64) as u32).unwrap_or(0), ..a }),
        Binary::Less => Some(truth(less(true))),
        Binary::LessEqual => Some(truth(less(false))),
        Binary::Greater => Some(truth(!less(false))),
        Binary::GreaterEqual => Some(truth(!less(true))),
        Binary::Equal => Some(truth(x == y)),
        Binary::NotEqual => Some(truth(x != y)),
        Binary::And => of(x & y),
        Binary::Xor => of(x ^ y),
        Binary::Or => of(x | y),
        Binary::Both => Some(truth(x != 0 && y != 0)),
        Binary::Either => Some(truth(x != 0 || y != 0)),
    }
}

//! Parser of operands. The kind of an operand is determined later, when a row is selected.

use smallvec::SmallVec;

use super::error::{Error, ErrorKind};
use super::lexer::Token as Lexeme;
use super::names::Names;
use super::number::Literal;
use super::reader::Reader;
use super::unsupported;
use crate::object::Loc;
use crate::ptx::Vector;
use crate::ptx::operand::{Address, Base, Operand, Part, Reg};
use crate::ptx::types::{Special, Type};

/// A parsed operand.
#[derive(Clone)]
pub(super) enum Raw<'a> {
    Operand(Operand),
    Number(Literal<'a>),
    /// A vector with at least one immediate among its elements: `{a, 0}`.
    Mixed(SmallVec<[Element<'a>; 8]>),
    Name(&'a str),
    /// The name of a variable, parameter or function, and the operand for its address.
    Address(&'a str, Operand),
    /// An element of an array, such as `a[3]`: the operand for its address.
    Element(Operand),
    /// The sum of a register and a number, such as `%r1+4`.
    Sum(Reg, i64),
    /// The sum of a special register and an integer, such as `%laneid+4`.
    SpecialSum(Special, i64),
    /// A register with a suffix after a dot, such as `%r1.b0` or `-%r1.b0`.
    Dotted {
        reg: Reg,
        suffix: &'a str,
        negated: bool,
    },
}

/// An element of a parsed vector operand.
#[derive(Clone, Copy)]
pub(super) enum Element<'a> {
    /// A register or `_`.
    Register(Option<Reg>),
    Number(Literal<'a>),
}

impl<'a> Reader<'a> {
    pub(super) fn operand(&mut self, names: &mut Names<'a>) -> Result<Raw<'a>, Error> {
        match self.ahead.token {
            Lexeme::Punct('{') => self.vector(names),
            Lexeme::Punct('[') => self.address(names),
            Lexeme::Punct('!') if !self.is_constant() => {
                self.bump()?;
                self.register(names).map(|reg| Raw::Operand(Operand::Not(reg)))
            }
            _ if self.is_constant() => self.constant().map(Raw::Number),
            Lexeme::Punct('-') => {
                self.bump()?;
                let reg = match self.ahead.token {
                    Lexeme::Name(name) => names.register(name),
                    _ => None,
                };
                let reg = reg.ok_or_else(|| self.expected("a register or a number"))?;
                self.bump()?;
                self.suffix(reg, true)
            }
            Lexeme::Name(name) => {
                let (reg, at) = (names.register(name), self.ahead.at);
                if name == "_" || reg.is_some() {
                    self.bump()?;
                    if let (Some(reg), Lexeme::Punct('+')) = (reg, self.ahead.token) {
                        return Ok(Raw::Sum(reg, self.wide_offset()?));
                    }
                    return self.after_register(name, reg, names);
                }
                if let Some(kind) = self.unsupported(name).filter(|_| names.base(name).is_none()) {
                    return Err(self.error(kind));
                }
                self.bump()?;
                let base = self.base(name, names).map_err(|kind| Error { at, kind })?;
                Ok(match (base, self.function_of(name)) {
                    (Some(base), _) => match self.element_offset(base, names)? {
                        Some(offset) => Raw::Element(address_of(base, offset)),
                        None => Raw::Address(name, address_of(base, self.offset()?)),
                    },
                    (None, Some(function)) => Raw::Address(name, Operand::Function(function)),
                    (None, None) => return self.after_name(name, at),
                })
            }
            _ => Err(self.expected("an operand")),
        }
    }

    /// Parses an index such as `[3]` after an array, and returns the byte offset of the element.
    fn element_offset(&mut self, base: Base, names: &Names<'a>) -> Result<Option<i32>, Error> {
        let array = match base {
            Base::Variable(var) => self.variables.get(var.number as usize).map(|of| (of.ty, of.count)),
            Base::Frame(var) => names.frame(var).map(|of| (of.ty, of.count)),
            Base::Register(_) | Base::Parameter(_) => None,
        };
        let Some((ty, Some(_))) = array else { return Ok(None) };
        if !self.accept('[')? {
            return Ok(None);
        }
        let offset = self.bytes(ty.bits() / 8)?;
        self.expect(']', "`]`")?;
        Ok(Some(offset))
    }

    /// Parses the tokens that may follow a register or `_`: a suffix, or `|` and a second predicate.
    fn after_register(&mut self, name: &'a str, reg: Option<Reg>, names: &Names<'a>) -> Result<Raw<'a>, Error> {
        if self.accept('|')? {
            let second = self.element(names)?;
            return Ok(Raw::Operand(Operand::Pair([reg, second])));
        }
        let Some(reg) = reg else { return Ok(Raw::Name(name)) };
        self.suffix(reg, false)
    }

    /// Parses an optional suffix after a register, which may be negated.
    fn suffix(&mut self, reg: Reg, negated: bool) -> Result<Raw<'a>, Error> {
        if let Lexeme::Dotted(suffix) = self.ahead.token {
            self.bump()?;
            return Ok(Raw::Dotted { reg, suffix, negated });
        }
        Ok(Raw::Operand(Operand::part(reg, Part::Whole, negated)))
    }

    /// Parses a special register, or another name whose meaning depends on the kind of operand.
    fn after_name(&mut self, name: &'a str, at: Loc) -> Result<Raw<'a>, Error> {
        let Lexeme::Dotted(component) = self.ahead.token else {
            return match Special::from_name(name) {
                Some(of) if self.ahead.token == Lexeme::Punct('+') => Ok(Raw::SpecialSum(of, self.wide_offset()?)),
                Some(of) => Ok(Raw::Operand(Operand::Special(of))),
                None if self.ahead.token == Lexeme::Punct('+') => {
                    Err(Error { at, kind: ErrorKind::Name(name.to_owned()) })
                }
                None => Ok(Raw::Name(name)),
            };
        };
        if matches!(component, "w" | "a") && Special::from_name(&format!("{name}.x")).is_some() {
            // The component `.w` of a special register always reads zero.
            self.bump()?;
            return Ok(Raw::Operand(Operand::Number(0)));
        }
        let full = format!("{name}.{component}");
        let unknown = |full| Error { at, kind: unsupported::name(name).unwrap_or(ErrorKind::Name(full)) };
        let special = Special::from_name(&full).ok_or_else(|| unknown(full))?;
        self.bump()?;
        Ok(Raw::Operand(Operand::Special(special)))
    }

    fn register(&mut self, names: &Names<'a>) -> Result<Reg, Error> {
        let at = self.ahead.at;
        let name = self.name("a register")?;
        names.register(name).ok_or_else(|| Error { at, kind: ErrorKind::Name(name.to_owned()) })
    }

    /// Parses a register or `_`.
    fn element(&mut self, names: &Names<'a>) -> Result<Option<Reg>, Error> {
        if self.ahead.token == Lexeme::Name("_") {
            self.bump()?;
            return Ok(None);
        }
        self.register(names).map(Some)
    }

    /// Parses a vector operand. After an error, skips to the closing `}`.
    fn vector(&mut self, names: &Names<'a>) -> Result<Raw<'a>, Error> {
        self.elements(names).inspect_err(|_| {
            while !matches!(self.ahead.token, Lexeme::Punct(';' | '}') | Lexeme::End) {
                self.skip();
            }
            if self.ahead.token == Lexeme::Punct('}') {
                self.skip();
            }
        })
    }

    fn elements(&mut self, names: &Names<'a>) -> Result<Raw<'a>, Error> {
        self.bump()?;
        let mut all: SmallVec<[Element<'a>; 8]> = SmallVec::new();
        loop {
            if all.len() == Vector::MAX_LEN {
                return Err(self.expected("`}`"));
            }
            all.push(match self.is_constant() {
                true => Element::Number(self.constant()?),
                false => Element::Register(self.element(names)?),
            });
            if !self.accept(',')? {
                break;
            }
        }
        self.expect('}', "`,` or `}`")?;
        let regs: Option<Vector> = all
            .iter()
            .map(|element| match element {
                Element::Register(reg) => Some(*reg),
                Element::Number(_) => None,
            })
            .collect();
        Ok(match regs {
            Some(regs) => Raw::Operand(Operand::Vector(regs)),
            None => Raw::Mixed(all),
        })
    }

    fn address(&mut self, names: &mut Names<'a>) -> Result<Raw<'a>, Error> {
        self.bump()?;
        let at = self.ahead.at;
        let name = self.name("a register, a parameter or a variable")?;
        let base = match names.register(name).map(Base::Register) {
            Some(base) => Some(base),
            None => self.base(name, names).map_err(|kind| Error { at, kind })?,
        };
        let base = match base {
            Some(base) => base,
            None => {
                let kind = self.unsupported(name).unwrap_or_else(|| ErrorKind::Name(name.to_owned()));
                return Err(Error { at, kind });
            }
        };
        let offset = match base {
            Base::Register(_) if self.ahead.token == Lexeme::Punct('+') => self.wide_offset()?,
            _ => self.offset()?.into(),
        };
        let address = match (base, i32::try_from(offset)) {
            (_, Ok(offset)) => Address { base, offset },
            // A larger offset is added to the register before the access.
            (Base::Register(reg), Err(_)) => {
                let sum = names.sum(reg, offset).map_err(|kind| Error { at, kind })?;
                Address { base: Base::Register(sum), offset: 0 }
            }
            (_, Err(_)) => return Err(Error { at, kind: out_of_range(offset) }),
        };
        self.expect(']', "`+` or `]`")?;
        if self.ahead.token == Lexeme::Dotted("unified") {
            return Err(self.error(ErrorKind::Unsupported("a cache operation (`.unified`)".to_owned())));
        }
        Ok(Raw::Operand(Operand::Memory(address)))
    }

    /// Parses an optional byte offset: `+4`, `+-4`. Returns 0 if there is no offset.
    pub(super) fn offset(&mut self) -> Result<i32, Error> {
        if self.accept('+')? { self.bytes(1) } else { Ok(0) }
    }

    /// Parses a number of elements of `size` bytes each, and returns the total number of bytes.
    fn bytes(&mut self, size: u32) -> Result<i32, Error> {
        let at = self.ahead.at;
        let literal = self.constant()?;
        let count = literal.integer().map_err(|kind| Error { at, kind })?;
        let bytes = count.saturating_mul(size.into());
        i32::try_from(bytes).map_err(|_| Error { at, kind: out_of_range(bytes) })
    }

    /// Parses a `+`, which is the next token, and a 64-bit number after it. Returns the number.
    fn wide_offset(&mut self) -> Result<i64, Error> {
        self.bump()?;
        let at = self.ahead.at;
        let literal = self.constant()?;
        literal.bits(Type::B64).map(u64::cast_signed).map_err(|kind| Error { at, kind })
    }
}

/// Returns the operand for the address that is `offset` bytes after a symbol.
fn address_of(base: Base, offset: i32) -> Operand {
    match base {
        Base::Variable(var) => Operand::Variable { var, offset },
        Base::Frame(var) => Operand::Frame { var, offset },
        Base::Parameter(number) => Operand::Parameter { number, offset },
        Base::Register(reg) => Operand::Register(reg),
    }
}

fn out_of_range(offset: i64) -> ErrorKind {
    ErrorKind::Range { number: offset.to_string(), ty: "an offset that fits in 32 bits".to_owned() }
}

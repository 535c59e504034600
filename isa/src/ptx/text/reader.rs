//! Reads a file: its head, its kernels, and their declarations.

use super::error::{Error, ErrorKind};
use super::lexer::{Lexer, Spanned, Token};
use super::names::Names;
use super::number::Literal;
use super::{Source, Text, outside};
use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{Entry, Linkage, Module, Param, Suffix, TargetName};
use crate::ptx::types::Type;

/// Errors reported at most.
const MAX_ERRORS: usize = 100;

pub(super) fn read(text: &str) -> Result<Text, Vec<Error>> {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        ahead: Spanned { token: Token::End, at: Loc::default() },
        errors: Vec::new(),
        source: Source::default(),
        files: Vec::new(),
    };
    let read = reader.bump().and_then(|()| reader.file());
    match read {
        Ok(text) if reader.errors.is_empty() => Ok(text),
        Ok(_) => Err(reader.sorted()),
        Err(error) => {
            reader.errors.push(error);
            Err(reader.sorted())
        }
    }
}

/// A text on its way, and what is wrong with it so far.
pub(super) struct Reader<'a> {
    lexer: Lexer<'a>,
    /// The token that comes next.
    pub ahead: Spanned<'a>,
    errors: Vec<Error>,
    /// What the last `.loc` says.
    source: Source,
    files: Vec<(u32, String)>,
}

impl<'a> Reader<'a> {
    fn sorted(mut self) -> Vec<Error> {
        self.errors.sort_by_key(|e| (e.at.line, e.at.column));
        self.errors
    }

    /// Goes on by a token.
    pub(super) fn bump(&mut self) -> Result<(), Error> {
        self.ahead = self.lexer.next()?;
        Ok(())
    }

    /// An error at the next token.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error { at: self.ahead.at, kind }
    }

    /// What stands next is not what should.
    pub(super) fn expected(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::Expected { expected, found: self.ahead.token.describe() })
    }

    /// Takes a character where it is next.
    pub(super) fn accept(&mut self, c: char) -> Result<bool, Error> {
        let found = self.ahead.token == Token::Punct(c);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Takes a character, which must be next.
    pub(super) fn expect(&mut self, c: char, expected: &'static str) -> Result<(), Error> {
        if self.accept(c)? { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Takes a name.
    pub(super) fn name(&mut self, expected: &'static str) -> Result<&'a str, Error> {
        let Token::Name(name) = self.ahead.token else { return Err(self.expected(expected)) };
        self.bump()?;
        Ok(name)
    }

    fn dotted(&mut self, expected: &'static str) -> Result<&'a str, Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected(expected)) };
        self.bump()?;
        Ok(word)
    }

    /// Takes a number of at most 32 bits.
    fn number(&mut self) -> Result<u32, Error> {
        let value = self.number_here()?;
        self.bump()?;
        Ok(value)
    }

    /// The number that is next, of at most 32 bits.
    fn number_here(&self) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let value = Literal { negative: false, text }.integer().map_err(|kind| self.error(kind))?;
        Ok(value as u32)
    }

    fn ty(&mut self) -> Result<Type, Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a type")) };
        let Some(ty) = Type::from_name(word) else { return Err(self.expected("a type")) };
        self.bump()?;
        Ok(ty)
    }

    /// Keeps an error, or gives up.
    fn keep(&mut self, error: Error) -> Result<(), Error> {
        self.errors.push(error);
        if self.errors.len() >= MAX_ERRORS { Err(self.error(ErrorKind::TooMany)) } else { Ok(()) }
    }

    /// Keeps an error outside kernels and goes to where the next directive starts: behind a `;`, or behind a body.
    fn recover_outside(&mut self, error: Error) -> Result<(), Error> {
        self.keep(error)?;
        let mut depth = 0u32;
        loop {
            match self.ahead.token {
                Token::End => return Ok(()),
                Token::Punct('{') => depth += 1,
                Token::Punct('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends = depth == 0 && matches!(self.ahead.token, Token::Punct(';' | '}'));
            self.skip();
            if ends {
                return Ok(());
            }
        }
    }

    /// Keeps an error and goes to where the next statement starts; or gives up.
    fn recover(&mut self, error: Error) -> Result<(), Error> {
        self.keep(error)?;
        let mut depth = 0u32;
        loop {
            match self.ahead.token {
                Token::End => return Ok(()),
                Token::Punct('{') => depth += 1,
                Token::Punct('}') if depth == 0 => return Ok(()),
                Token::Punct('}') => depth -= 1,
                Token::Punct(';') if depth == 0 => {
                    self.skip();
                    return Ok(());
                }
                _ => {}
            }
            self.skip();
        }
    }

    /// Goes on by a token, whatever is wrong with the next one.
    pub(super) fn skip(&mut self) {
        while self.bump().is_err() {}
    }

    fn file(&mut self) -> Result<Text, Error> {
        let mut text = Text { module: self.head()?, locs: Vec::new(), sources: Vec::new(), files: Vec::new() };
        loop {
            match self.ahead.token {
                Token::End => {
                    text.files = std::mem::take(&mut self.files);
                    return Ok(text);
                }
                // The end of something that was not understood.
                Token::Punct('}') if !self.errors.is_empty() => self.bump()?,
                _ => match self.top(&mut text) {
                    Ok(()) => {}
                    Err(error) => self.recover_outside(error)?,
                },
            }
        }
    }

    fn head(&mut self) -> Result<Module, Error> {
        self.directive("version", "`.version`")?;
        let version = match self.ahead.token {
            Token::Number(text) => text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))),
            _ => None,
        };
        let version = version.ok_or_else(|| self.expected("a version such as `8.8`"))?;
        self.bump()?;
        self.directive("target", "`.target`")?;
        let target = match self.ahead.token {
            Token::Name(name) => target(name),
            _ => None,
        };
        let target = target.ok_or_else(|| self.expected("a target such as `sm_90`"))?;
        self.bump()?;
        while self.accept(',')? {
            let option = self.name("an option of the target")?;
            if option != "debug" {
                return Err(self.error(ErrorKind::Unsupported(format!("target option `{option}`"))));
            }
        }
        self.directive("address_size", "`.address_size`")?;
        match self.ahead.token {
            Token::Number("64") => self.bump()?,
            _ => return Err(self.expected("`64`")),
        }
        Ok(Module { version, target, entries: Vec::new() })
    }

    fn directive(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        match self.ahead.token {
            Token::Dotted(word) if word == name => self.bump(),
            _ => Err(self.expected(expected)),
        }
    }

    /// A directive outside kernels.
    fn top(&mut self, text: &mut Text) -> Result<(), Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a directive")) };
        let linkage = match word {
            "visible" => Linkage::Visible,
            "weak" => Linkage::Weak,
            "entry" => return self.entry(Linkage::Plain, text),
            _ => return self.about_debugging(word),
        };
        self.bump()?;
        match self.ahead.token {
            Token::Dotted("entry") => self.entry(linkage, text),
            Token::Dotted(word) => Err(self.error(outside::directive(word))),
            _ => Err(self.expected("`.entry`")),
        }
    }

    /// A directive that says nothing about what the program does.
    fn about_debugging(&mut self, word: &str) -> Result<(), Error> {
        match word {
            "file" => {
                self.bump()?;
                let number = self.number()?;
                let Token::String(name) = self.ahead.token else { return Err(self.expected("the name of a file")) };
                self.files.push((number, name.to_owned()));
                // A time and a size may follow.
                self.lexer.skip_line();
                self.bump()
            }
            "loc" => {
                self.bump()?;
                let (file, line) = (self.number()?, self.number()?);
                let column = self.number_here()?;
                self.source = Source { file, loc: Loc { line, column } };
                // What was inlined here may follow.
                self.lexer.skip_line();
                self.bump()
            }
            "pragma" => {
                self.bump()?;
                while matches!(self.ahead.token, Token::String(_) | Token::Punct(',')) {
                    self.bump()?;
                }
                self.expect(';', "`;`")
            }
            "section" => {
                while !matches!(self.ahead.token, Token::Punct('{') | Token::End) {
                    self.bump()?;
                }
                while !matches!(self.ahead.token, Token::Punct('}') | Token::End) {
                    self.bump()?;
                }
                self.expect('}', "`}`")
            }
            _ => Err(self.error(outside::directive(word))),
        }
    }

    fn entry(&mut self, linkage: Linkage, text: &mut Text) -> Result<(), Error> {
        self.bump()?;
        let at = self.ahead.at;
        let name = self.name("the name of a kernel")?;
        if text.module.entries.iter().any(|e| e.name == name) {
            self.errors.push(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) });
        }
        let mut names = Names::default();
        let mut params = Vec::new();
        if self.accept('(')? && !self.accept(')')? {
            loop {
                let (param, name, at) = self.param()?;
                names.param(name, params.len() as u32, at)?;
                params.push(param);
                if !self.accept(',')? {
                    break;
                }
            }
            self.expect(')', "`,` or `)`")?;
        }
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                // What it says is for the assembler and for whoever launches.
                "maxntid" | "reqntid" | "minnctapersm" | "maxnctapersm" | "maxnreg" => {
                    self.bump()?;
                    self.number()?;
                    while self.accept(',')? {
                        self.number()?;
                    }
                }
                _ => self.about_debugging(word)?,
            }
        }
        self.expect('{', "`{`")?;
        let (mut insts, mut locs, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        self.source = Source::default();
        loop {
            match self.ahead.token {
                Token::Punct('}') if names.close() => self.bump()?,
                Token::Punct('}') => break,
                Token::End => return Err(self.expected("`}`")),
                _ => match self.statement(&mut names, insts.len() as u32) {
                    Ok(Some((inst, at))) => {
                        insts.push(inst);
                        locs.push(at);
                        sources.push(self.source);
                    }
                    Ok(None) => {}
                    Err(error) => self.recover(error)?,
                },
            }
        }
        self.bump()?;
        let (registers, labels) = names.finish(&mut insts, &mut self.errors);
        text.module.entries.push(Entry { name: name.to_owned(), linkage, params, registers, insts, labels });
        text.locs.push(locs);
        text.sources.push(sources);
        Ok(())
    }

    /// `.param .u64 p`, `.param .u64 .ptr .global .align 16 p`, `.param .align 8 .b8 p[24]`
    fn param(&mut self) -> Result<(Param, &'a str, Loc), Error> {
        self.directive("param", "`.param`")?;
        let (mut ty, mut align, mut pointer) = (None, None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" => {
                    self.bump()?;
                    let number = Some(self.power_of_two()?);
                    match pointer {
                        Some(_) => pointer = Some(number),
                        None => align = number,
                    }
                }
                "ptr" if pointer.is_none() => {
                    self.bump()?;
                    pointer = Some(None);
                    self.directive("global", "`.global`")?;
                }
                _ if ty.is_none() => ty = Some(self.ty()?),
                _ => break,
            }
        }
        let Some(ty) = ty.filter(|ty| ty.bits() >= 8) else { return Err(self.expected("a type")) };
        let at = self.ahead.at;
        let name = self.name("the name of a parameter")?;
        let count = if self.accept('[')? {
            let count = self.number()?;
            self.expect(']', "`]`")?;
            Some(count)
        } else {
            None
        };
        Ok((Param { name: name.to_owned(), ty, count, align, pointer }, name, at))
    }

    fn power_of_two(&mut self) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let range = ErrorKind::Range { number: text.to_owned(), ty: "a power of two up to 128".to_owned() };
        let range = self.error(range);
        let number = self.number()?;
        if number.is_power_of_two() && number <= 128 { Ok(number) } else { Err(range) }
    }

    /// A declaration, a label, or an instruction that would be number `place`.
    fn statement(&mut self, names: &mut Names<'a>, place: u32) -> Result<Option<(Inst, Loc)>, Error> {
        let at = self.ahead.at;
        match self.ahead.token {
            Token::Dotted("reg") => self.registers(names).map(|()| None),
            Token::Dotted(word) => self.about_debugging(word).map(|()| None),
            Token::Punct(';') => self.bump().map(|()| None),
            Token::Punct('{') => {
                names.open();
                self.bump().map(|()| None)
            }
            Token::Punct('@') => {
                let guard = self.guard(names)?;
                let mnemonic = self.name("an instruction")?;
                self.instruction(mnemonic, at, Some(guard), names).map(|inst| Some((inst, at)))
            }
            Token::Name(name) => {
                self.bump()?;
                if self.accept(':')? {
                    return names.place(name, place, at).map(|()| None);
                }
                self.instruction(name, at, None, names).map(|inst| Some((inst, at)))
            }
            _ => Err(self.expected("an instruction, a label, `.reg` or `}`")),
        }
    }

    /// `.reg .b32 %r<80>, %a;`
    fn registers(&mut self, names: &mut Names<'a>) -> Result<(), Error> {
        self.bump()?;
        if let Token::Dotted("v2" | "v4") = self.ahead.token {
            return Err(self.error(ErrorKind::Unsupported("a vector register".to_owned())));
        }
        let at = self.ahead.at;
        let ty = self.ty()?;
        if !ty.is_of_registers() {
            return Err(Error { at, kind: ErrorKind::Unsupported(format!("a register of type {ty}")) });
        }
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a register")?;
            let count = if self.accept('<')? {
                let count = self.number()?;
                self.expect('>', "`>`")?;
                Some(count)
            } else {
                None
            };
            names.declare(name, ty, count, at)?;
            if !self.accept(',')? {
                break;
            }
        }
        self.expect(';', "`,` or `;`")
    }

    /// `.b32`, for a word behind the mnemonic.
    pub(super) fn word(&mut self) -> Result<Option<(&'a str, Loc)>, Error> {
        match self.ahead.token {
            Token::Dotted(_) => {
                let at = self.ahead.at;
                self.dotted("a modifier").map(|word| Some((word, at)))
            }
            _ => Ok(None),
        }
    }
}

/// `sm_90`, `sm_90a`, `sm_120f`
fn target(name: &str) -> Option<TargetName> {
    let number = name.strip_prefix("sm_")?;
    let (number, suffix) = match (number.strip_suffix('a'), number.strip_suffix('f')) {
        (Some(number), _) => (number, Some(Suffix::Architecture)),
        (_, Some(number)) => (number, Some(Suffix::Family)),
        _ => (number, None),
    };
    let sm = number.parse().ok().filter(|_| number.bytes().all(|b| b.is_ascii_digit()))?;
    Some(TargetName { sm, suffix })
}

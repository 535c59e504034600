//! Reads a file: its head, its variables, its kernels, and their declarations.

use std::collections::HashMap;

use super::error::{Error, ErrorKind, Verdict};
use super::instruction::WARP_SIZE;
use super::lexer::{Lexer, Spanned, Token};
use super::names::Names;
use super::number::Literal;
use super::{Refused, Source, Text, outside};
use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{Entry, Linkage, MAX_ALIGN, Module, Param, TargetName, Variable, Variables};
use crate::ptx::operand::Var;
use crate::ptx::types::Space;
use crate::ptx::types::{Kind, Type};

/// The greatest alignment of a parameter itself, in bytes.
const MAX_PARAM_ALIGN: u32 = 128;

/// Errors reported at most.
const MAX_ERRORS: usize = 100;

pub(super) fn read(text: &str) -> Result<Text, Vec<Error>> {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        ahead: Spanned { token: Token::End, at: Loc::default() },
        errors: Vec::new(),
        source: Source::default(),
        files: Vec::new(),
        variables: Vec::new(),
        vars: HashMap::new(),
        outside: HashMap::new(),
        noted: Vec::new(),
        taken: HashMap::new(),
    };
    let read = reader.bump().and_then(|()| reader.file());
    match read {
        Ok(text) if reader.errors.is_empty() => Ok(text),
        Ok(text) => {
            reader.errors.extend(text.not_taken());
            Err(reader.sorted())
        }
        Err(error) => {
            reader.errors.push(error);
            Err(reader.sorted())
        }
    }
}

/// A kernel that was read.
struct Body {
    entry: Entry,
    locs: Vec<Loc>,
    sources: Vec<Source>,
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
    variables: Vec<Variable>,
    /// By name.
    vars: HashMap<&'a str, Var>,
    /// The names of what is defined in another file or is not supported, and what is to be said where one is named.
    outside: HashMap<&'a str, ErrorKind>,
    /// Those names that were noted in the kernel at hand, and what they meant before.
    noted: Vec<(&'a str, Option<ErrorKind>)>,
    /// Bytes of the variables of each space.
    taken: HashMap<Space, u32>,
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

    /// Takes a number of which none is too few.
    fn count(&mut self) -> Result<u32, Error> {
        let zero = self.error(ErrorKind::Range { number: "0".to_owned(), ty: "a number of at least 1".to_owned() });
        let count = self.number()?;
        if count == 0 { Err(zero) } else { Ok(count) }
    }

    /// The number that is next, of at most 32 bits.
    fn number_here(&self) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let value = Literal { negative: false, text }.integer().map_err(|kind| self.error(kind))?;
        Ok(value as u32)
    }

    fn ty(&mut self) -> Result<Type, Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a type")) };
        let Some(ty) = Type::from_name(word) else {
            return Err(outside::ty(word).map_or_else(|| self.expected("a type"), |kind| self.error(kind)));
        };
        self.bump()?;
        Ok(ty)
    }

    /// Keeps an error, or gives up.
    fn keep(&mut self, error: Error) -> Result<(), Error> {
        self.errors.push(error);
        if self.errors.len() >= MAX_ERRORS { Err(self.error(ErrorKind::TooMany)) } else { Ok(()) }
    }

    /// Keeps an error outside kernels and goes to where the next directive starts: after a `;`, or after a body.
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

    /// Goes past a declaration of what is not supported, to after its `;` or its body, and notes the names that it declares. A brace
    /// that closes what was open before ends a kernel, and outside of them a list of values.
    fn pass_over(&mut self, kind: &ErrorKind, is_in_kernel: bool) {
        let (mut braces, mut brackets, mut has_value) = (0u32, 0u32, false);
        loop {
            let mut ends = false;
            match self.ahead.token {
                Token::End => return,
                Token::Punct('}') if braces == 0 && is_in_kernel => return,
                Token::Punct('{') => braces += 1,
                Token::Punct('}') if braces > 0 => {
                    braces -= 1;
                    ends = braces == 0 && !has_value;
                }
                Token::Punct('(') => brackets += 1,
                Token::Punct(')') => brackets = brackets.saturating_sub(1),
                Token::Punct('=') => has_value = true,
                Token::Punct(';') => ends = braces == 0,
                Token::Name(name) if braces == 0 && brackets == 0 && !has_value && !self.outside.contains_key(name) => {
                    self.note(name, kind.clone());
                }
                _ => {}
            }
            self.skip();
            if ends {
                return;
            }
        }
    }

    /// Keeps an error in a variable and goes after its `;`, or to where a kernel starts.
    fn recover_variable(&mut self, error: Error) -> Result<(), Error> {
        if error.kind.verdict() == Verdict::Unsupported {
            return Err(error);
        }
        self.keep(error)?;
        while !matches!(self.ahead.token, Token::End | Token::Punct(';') | Token::Dotted("visible" | "weak" | "entry"))
        {
            self.skip();
        }
        if self.ahead.token == Token::Punct(';') {
            self.skip();
        }
        Ok(())
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
        let mut text = Text {
            module: self.head()?,
            locs: Vec::new(),
            sources: Vec::new(),
            files: Vec::new(),
            refused: Vec::new(),
            outside: Vec::new(),
        };
        loop {
            match self.ahead.token {
                Token::End => {
                    text.files = std::mem::take(&mut self.files);
                    let variables: Variables = std::mem::take(&mut self.variables).into();
                    text.module.entries.iter_mut().for_each(|entry| entry.variables = variables.clone());
                    text.module.variables = variables;
                    return Ok(text);
                }
                // The end of something that was not understood.
                Token::Punct('}') if !self.errors.is_empty() => self.bump()?,
                _ => match self.top(&mut text) {
                    Ok(()) => {}
                    Err(error) if error.kind.verdict() == Verdict::Unsupported => {
                        self.pass_over(&error.kind, false);
                        text.outside.push(error);
                    }
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
            Token::Name(name) => name.strip_prefix("sm_").and_then(TargetName::from_number),
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
        // Without it an assembler takes addresses of 64 bits: those of 32 are no more.
        if self.ahead.token == Token::Dotted("address_size") {
            self.bump()?;
            match self.ahead.token {
                Token::Number("64") => self.bump()?,
                _ => return Err(self.expected("`64`")),
            }
        }
        Ok(Module { version, target, variables: Variables::default(), entries: Vec::new() })
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
            "common" => {
                self.bump()?;
                return match self.ahead.token {
                    Token::Dotted("global") => {
                        let read = self.variables(Linkage::Common, Space::Global, text);
                        read.or_else(|error| self.recover_variable(error))
                    }
                    _ => Err(self.expected("`.global`")),
                };
            }
            "extern" => return self.defined_elsewhere(),
            "entry" => return self.entry(Linkage::Plain, text),
            _ => match space(word) {
                Some(space) => {
                    return self.variables(Linkage::Plain, space, text).or_else(|e| self.recover_variable(e));
                }
                None => return self.about_debugging(word),
            },
        };
        self.bump()?;
        match self.ahead.token {
            Token::Dotted("entry") => self.entry(linkage, text),
            Token::Dotted(word) => match space(word) {
                Some(space) => self.variables(linkage, space, text).or_else(|error| self.recover_variable(error)),
                None => Err(self.error(outside::directive(word))),
            },
            _ => Err(self.expected("`.entry`, `.global` or `.const`")),
        }
    }

    /// What another file defines: a variable or a function. It matters where it is named.
    fn defined_elsewhere(&mut self) -> Result<(), Error> {
        self.bump()?;
        match self.ahead.token {
            Token::Dotted("func") => {
                self.bump()?;
                if self.accept('(')? {
                    self.skip_to_closing()?;
                }
                let name = self.name("the name of a function")?;
                self.is_elsewhere(name);
                if self.accept('(')? {
                    self.skip_to_closing()?;
                }
                while let Token::Dotted("noreturn") = self.ahead.token {
                    self.bump()?;
                }
                self.expect(';', "`;`")
            }
            Token::Dotted("global" | "const" | "shared") => {
                while let Token::Dotted(word) = self.ahead.token {
                    self.bump()?;
                    if word == "align" {
                        self.power_of_two(MAX_ALIGN)?;
                    }
                }
                loop {
                    let name = self.name("the name of a variable")?;
                    self.is_elsewhere(name);
                    while self.accept('[')? {
                        if self.ahead.token != Token::Punct(']') {
                            self.number()?;
                        }
                        self.expect(']', "`]`")?;
                    }
                    if !self.accept(',')? {
                        return self.expect(';', "`,` or `;`");
                    }
                }
            }
            _ => Err(self.expected("`.func`, `.global`, `.const` or `.shared`")),
        }
    }

    /// Goes past the closing bracket of one that has been taken.
    fn skip_to_closing(&mut self) -> Result<(), Error> {
        while !matches!(self.ahead.token, Token::Punct(')' | ';') | Token::End) {
            self.bump()?;
        }
        self.expect(')', "`)`")
    }

    /// Notes the name of what another file defines.
    fn is_elsewhere(&mut self, name: &'a str) {
        self.note(name, ErrorKind::Unsupported(format!("what another file defines (`{name}`)")));
    }

    /// Notes what is to be said of a name.
    fn note(&mut self, name: &'a str, kind: ErrorKind) {
        let before = self.outside.insert(name, kind);
        self.noted.push((name, before));
    }

    /// Takes back what was noted in a kernel.
    fn forget_noted(&mut self) {
        while let Some((name, before)) = self.noted.pop() {
            match before {
                Some(kind) => self.outside.insert(name, kind),
                None => self.outside.remove(name),
            };
        }
    }

    /// What is to be said where a name is that of something that there is none of here.
    pub(super) fn outside(&self, name: &str) -> Option<ErrorKind> {
        self.outside.get(name).filter(|_| !self.vars.contains_key(name)).cloned()
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

    /// A kernel. One that begins with what is not supported is refused by itself.
    fn entry(&mut self, linkage: Linkage, text: &mut Text) -> Result<(), Error> {
        self.bump()?;
        let at = self.ahead.at;
        let name = self.name("the name of a kernel")?;
        let is_taken = text.module.entries.iter().any(|entry| entry.name == name)
            || text.refused.iter().any(|refused| refused.name == name)
            || self.vars.contains_key(name);
        let before = self.errors.len();
        if is_taken {
            self.errors.push(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) });
        }
        self.noted.clear();
        let read = self.body(name, linkage);
        self.forget_noted();
        let mut errors = self.errors.split_off(before);
        let body = match read {
            Ok(body) => Some(body),
            Err(error) if error.kind.verdict() == Verdict::Unsupported => {
                self.pass_over(&error.kind, false);
                self.forget_noted();
                errors.push(error);
                None
            }
            Err(error) => {
                self.errors.extend(errors);
                return Err(error);
            }
        };
        errors.sort_by_key(|error| (error.at.line, error.at.column));
        match (errors.first().map(|first| first.kind.verdict()), body) {
            (None, Some(Body { entry, locs, sources })) => {
                text.module.entries.push(entry);
                text.locs.push(locs);
                text.sources.push(sources);
            }
            (Some(Verdict::Unsupported), _) => {
                text.refused.push(Refused { name: name.to_owned(), at, errors });
            }
            _ => self.errors.extend(errors),
        }
        Ok(())
    }

    /// A kernel from its parameters on.
    fn body(&mut self, name: &str, linkage: Linkage) -> Result<Body, Error> {
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
                    self.count()?;
                    while self.accept(',')? {
                        self.count()?;
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
                first => match self.statement(&mut names, insts.len() as u32) {
                    Ok(Some((inst, at))) => {
                        insts.push(inst);
                        locs.push(at);
                        sources.push(self.source);
                    }
                    Ok(None) => {}
                    Err(error) if self.declares(first, &error) => {
                        let kind = error.kind.clone();
                        self.keep(error)?;
                        self.pass_over(&kind, true);
                    }
                    Err(error) => self.recover(error)?,
                },
            }
        }
        self.bump()?;
        let (registers, labels) = names.finish(&mut insts, &mut self.errors);
        let variables = Variables::default();
        let entry = Entry { name: name.to_owned(), linkage, params, registers, insts, labels, variables };
        Ok(Body { entry, locs, sources })
    }

    /// Whether an error is of a directive that declares something that is not supported.
    fn declares(&self, first: Token<'a>, error: &Error) -> bool {
        matches!(first, Token::Dotted(_))
            && matches!(self.ahead.token, Token::Dotted(_))
            && error.kind.verdict() == Verdict::Unsupported
    }

    /// `.param .u64 p`, `.param .u64 .ptr .global .align 16 p`, `.param .align 8 .b8 p[24]`
    fn param(&mut self) -> Result<(Param, &'a str, Loc), Error> {
        self.directive("param", "`.param`")?;
        let (mut ty, mut align, mut pointer) = (None, None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" => {
                    self.bump()?;
                    let most = if pointer.is_some() { MAX_ALIGN } else { MAX_PARAM_ALIGN };
                    let number = Some(self.power_of_two(most)?);
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

    /// The variable of a name.
    pub(super) fn variable(&self, name: &str) -> Option<Var> {
        self.vars.get(name).copied()
    }

    /// `.const .align 4 .b8 table[256] = {1, 2};`, `.global .f32 a = 0f3f800000, b;`
    fn variables(&mut self, linkage: Linkage, space: Space, text: &Text) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align) = (None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_ALIGN)?);
                }
                "v2" | "v4" => return Err(self.error(ErrorKind::Unsupported("a variable of vectors".to_owned()))),
                "texref" | "samplerref" | "surfref" => return Err(self.error(outside::directive(word))),
                _ if ty.is_some() => break,
                _ => {
                    let at = self.ahead.at;
                    let of = self.ty()?;
                    if matches!(of.kind(), Kind::Predicate | Kind::Packed) {
                        return Err(Error { at, kind: ErrorKind::Type(of) });
                    }
                    if !Variable::admits(of) {
                        return Err(Error { at, kind: ErrorKind::Unsupported(format!("a variable of type {of}")) });
                    }
                    ty = Some(of);
                }
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            let (count, bytes) = match self.contents(space, ty, at) {
                Ok(contents) => contents,
                Err(error) => {
                    self.note(name, error.kind.clone());
                    return Err(error);
                }
            };
            if self.vars.contains_key(name) || text.module.entries.iter().any(|entry| entry.name == name) {
                self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
            }
            self.vars.insert(name, Var { number: self.variables.len() as u32, space });
            let name = name.to_owned();
            self.variables.push(Variable { name, space, linkage, ty, count, align, bytes: bytes.into() });
            if !self.accept(',')? {
                return self.expect(';', "`,` or `;`");
            }
        }
    }

    /// How many elements the variable has whose name stands at a place, and what is in them.
    fn contents(&mut self, space: Space, ty: Type, at: Loc) -> Result<(Option<u32>, Vec<u8>), Error> {
        let size = ty.bits() / 8;
        let taken = self.taken.get(&space).copied().unwrap_or(0);
        let most = space.most_bytes().saturating_sub(taken) / size;
        let too_large = Error { at, kind: ErrorKind::Variables(space) };
        let (mut count, mut open) = (None, None);
        if self.accept('[')? {
            if self.ahead.token == Token::Punct(']') {
                open = Some(self.expected("the number of elements"));
            } else {
                let zero = ErrorKind::Range { number: "0".to_owned(), ty: "a number of elements".to_owned() };
                let zero = self.error(zero);
                count = Some(self.number()?);
                if count == Some(0) {
                    return Err(zero);
                }
            }
            self.expect(']', "`]`")?;
            if self.ahead.token == Token::Punct('[') {
                return Err(self.error(ErrorKind::Unsupported("an array of arrays".to_owned())));
            }
        }
        if count.unwrap_or(1) > most {
            return Err(too_large);
        }
        let mut bytes = Vec::new();
        let is_array = count.is_some() || open.is_some();
        if self.accept('=')? {
            if !is_array {
                self.element_of(ty, &mut bytes)?;
            } else if self.expect('{', "`{`").map(|()| self.accept('}'))?? {
                // All are zero.
            } else {
                let mut values = 0;
                loop {
                    match count {
                        Some(count) if values == count => return Err(self.error(ErrorKind::Values(count))),
                        None if values == most => return Err(too_large),
                        _ => self.element_of(ty, &mut bytes)?,
                    }
                    values += 1;
                    if !self.accept(',')? {
                        break;
                    }
                }
                self.expect('}', "`,` or `}`")?;
            }
        }
        if let Some(unknown) = open {
            count = Some(bytes.len() as u32 / size).filter(|&count| count != 0);
            count.ok_or(unknown)?;
        }
        let all = count.unwrap_or(1) * size;
        bytes.resize(all as usize, 0);
        self.taken.insert(space, taken + all);
        Ok((count, bytes))
    }

    /// A value of a variable.
    fn element_of(&mut self, ty: Type, bytes: &mut Vec<u8>) -> Result<(), Error> {
        if let Token::Name(name) = self.ahead.token
            && name != WARP_SIZE
        {
            return Err(self.error(ErrorKind::Unsupported(format!("an address as a value (`{name}`)"))));
        }
        let at = self.ahead.at;
        let bits = self.literal()?.bits(ty).map_err(|kind| Error { at, kind })?;
        bytes.extend(bits.to_le_bytes().iter().take((ty.bits() / 8) as usize));
        Ok(())
    }

    fn power_of_two(&mut self, most: u32) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let range = ErrorKind::Range { number: text.to_owned(), ty: format!("a power of two up to {most}") };
        let range = self.error(range);
        let number = self.number()?;
        if number.is_power_of_two() && number <= most { Ok(number) } else { Err(range) }
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

    /// `.b32`, for a word after the mnemonic.
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

/// The space of variables that a directive names.
fn space(word: &str) -> Option<Space> {
    [Space::Global, Space::Const].into_iter().find(|space| space.name() == word)
}

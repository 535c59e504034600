//! Parser of kernels, and of the bodies of kernels and functions.

use super::error::{Error, ErrorKind, Verdict};
use super::lexer::Token;
use super::names::Names;
use super::reader::{MAX_PARAM_ALIGN, Reader};
use super::{ParsedFile, RejectedKernel, SourceLocation};
use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{
    BlockLimit, Body, Entry, FrameVariable, Functions, Linkage, MAX_ALIGN, Param, Targets, Variables,
};
use crate::ptx::types::{Space, Type};

/// A parsed body. For each instruction, it holds the location in the PTX text and the source location from `.loc`.
pub(super) struct ParsedBody {
    pub body: Body,
    pub locs: Vec<Loc>,
    pub sources: Vec<SourceLocation>,
}

impl<'a> Reader<'a> {
    /// Parses a kernel. If the first error of a kernel is an unsupported feature, only this kernel
    /// is rejected, and the following text is still parsed.
    pub(super) fn entry(&mut self, linkage: Linkage, text: &mut ParsedFile) -> Result<(), Error> {
        self.bump()?;
        let at = self.ahead.at;
        let name = self.name("the name of a kernel")?;
        let is_taken = text.module.entries.iter().any(|entry| entry.name == name)
            || text.refused.iter().any(|refused| refused.name == name)
            || self.is_defined(name);
        let before = self.errors.len();
        if is_taken {
            self.errors.push(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) });
        }
        self.noted.clear();
        let read = self.body(name, linkage);
        let (body, errors) = self.settle(read, before)?;
        match (errors.first().map(|first| first.kind.verdict()), body) {
            (None, Some((entry, locs, sources))) => {
                text.module.entries.push(entry);
                text.locs.push(locs);
                text.sources.push(sources);
            }
            (Some(Verdict::Unsupported), _) => {
                text.refused.push(RejectedKernel { name: name.to_owned(), at, errors });
            }
            _ => self.errors.extend(errors),
        }
        Ok(())
    }

    /// Returns the result of parsing a kernel or function, together with its errors in the order of
    /// the text. Errors before the index `before` belong to earlier text. If parsing stopped at an
    /// unsupported feature, skips to the end of the body.
    ///
    /// # Errors
    /// Returns an error after which the file cannot be parsed further.
    pub(super) fn settle<T>(
        &mut self,
        read: Result<T, Error>,
        before: usize,
    ) -> Result<(Option<T>, Vec<Error>), Error> {
        self.forget_noted();
        let mut errors = self.errors.split_off(before);
        let read = match read {
            Ok(read) => Some(read),
            Err(error) if error.kind.verdict() == Verdict::Unsupported => {
                self.skip_unsupported(&error.kind, false);
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
        Ok((read, errors))
    }

    /// Parses the parameters, the directives and the body of a kernel, after its name.
    fn body(&mut self, name: &str, linkage: Linkage) -> Result<(Entry, Vec<Loc>, Vec<SourceLocation>), Error> {
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
        let (mut blocks, mut hints) = (BlockLimit::Any, Vec::new());
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "maxntid" | "reqntid" => {
                    let second = self.error(ErrorKind::Duplicate("the size of a block".to_owned()));
                    self.bump()?;
                    let counts = self.axes()?;
                    if blocks != BlockLimit::Any {
                        self.keep(second)?;
                    }
                    blocks = if word == "reqntid" { BlockLimit::Exactly(counts) } else { BlockLimit::AtMost(counts) };
                }
                // These directives are hints for the assembler and do not change results.
                "minnctapersm" | "maxnctapersm" | "maxnreg" => {
                    self.bump()?;
                    hints.push(format!(".{word} {}", self.count()?));
                }
                "pragma" => hints.push(format!(".pragma {};", self.pragma()?)),
                _ => self.debug_directive(word)?,
            }
        }
        self.of_body.clear();
        let code = self.code(names);
        self.forget_variables(0);
        let ParsedBody { body, locs, sources } = code?;
        let (name, variables, functions) = (name.to_owned(), Variables::default(), Functions::default());
        Ok((Entry { name, linkage, params, blocks, hints, body, variables, functions }, locs, sources))
    }

    /// Parses one to three block dimensions: `128`, `16, 8` or `4, 4, 4`.
    fn axes(&mut self) -> Result<[u32; 3], Error> {
        let mut counts = [self.count()?, 1, 1];
        for count in counts.iter_mut().skip(1) {
            if !self.accept(',')? {
                break;
            }
            *count = self.count()?;
        }
        Ok(counts)
    }

    /// Parses the declarations and instructions of a body, in braces.
    pub(super) fn code(&mut self, mut names: Names<'a>) -> Result<ParsedBody, Error> {
        self.expect('{', "`{`")?;
        let (mut insts, mut locs, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        self.source = SourceLocation::default();
        loop {
            match self.ahead.token {
                Token::Punct('}') => match names.close() {
                    Some(shared) => {
                        self.forget_variables(shared);
                        self.bump()?;
                    }
                    None => break,
                },
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
                        self.skip_unsupported(&kind, true);
                    }
                    Err(error) => self.recover(error)?,
                },
            }
        }
        self.bump()?;
        // Instructions that initialise registers with immediates or special registers are inserted
        // before all other instructions.
        let held = names.held();
        locs.splice(0..0, std::iter::repeat_n(Loc::default(), held));
        sources.splice(0..0, std::iter::repeat_n(SourceLocation::default(), held));
        let around = self.vars.keys().copied();
        let body = names.finish(insts, &mut self.errors, around);
        self.check_calls(&body, &locs);
        Ok(ParsedBody { body, locs, sources })
    }

    /// Returns `true` if the error is an unsupported feature in a declaration that begins with the token `first`.
    fn declares(&self, first: Token<'a>, error: &Error) -> bool {
        matches!(first, Token::Dotted(_))
            && matches!(self.ahead.token, Token::Dotted(_))
            && error.kind.verdict() == Verdict::Unsupported
    }

    /// Parses a kernel parameter: `.param .u64 p`, `.param .u64 .ptr .global .align 16 p`, `.param .align 8 .b8 p[24]`.
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

    /// Parses a declaration, a label or an instruction. `place` is the index that the next
    /// instruction of the body gets.
    fn statement(&mut self, names: &mut Names<'a>, place: u32) -> Result<Option<(Inst, Loc)>, Error> {
        let at = self.ahead.at;
        match self.ahead.token {
            Token::Dotted("reg") => self.registers(names).map(|()| None),
            Token::Dotted("local") => self.frame_variables(Space::Local, names).map(|()| None),
            Token::Dotted("param") => self.frame_variables(Space::Param, names).map(|()| None),
            Token::Dotted("shared") => self.shared_variables(false, Some(names)).map(|()| None),
            Token::Dotted("pragma") => {
                let text = self.pragma()?;
                names.pragma(place, text);
                Ok(None)
            }
            Token::Dotted(word) => self.debug_directive(word).map(|()| None),
            Token::Punct(';') => self.bump().map(|()| None),
            Token::Punct('{') => {
                names.open(self.of_body.len());
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
                    return match self.ahead.token {
                        Token::Dotted("branchtargets" | "calltargets" | "callprototype") => {
                            let of = self.targets(names)?;
                            names.take(name, at)?;
                            names.define_table(name, of, at).map(|()| None)
                        }
                        _ => names.place(name, place, at).map(|()| None),
                    };
                }
                self.instruction(name, at, None, names).map(|inst| Some((inst, at)))
            }
            _ => Err(self.expected("an instruction, a label, `.reg` or `}`")),
        }
    }

    /// Parses a target list or prototype: `.branchtargets L0, L1;`, `.calltargets f, g;`,
    /// `.callprototype (.param .b32 _) _ (.param .b32 _);`.
    fn targets(&mut self, names: &mut Names<'a>) -> Result<Targets, Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a target list or a prototype")) };
        self.bump()?;
        let of = match word {
            "branchtargets" => {
                let mut labels = Vec::new();
                loop {
                    let at = self.ahead.at;
                    labels.push(names.label(self.name("a label")?, at));
                    if !self.accept(',')? {
                        break Targets::Labels(labels);
                    }
                }
            }
            "calltargets" => {
                let mut functions = Vec::new();
                loop {
                    let at = self.ahead.at;
                    let name = self.name("a function")?;
                    let unknown = || Error { at, kind: ErrorKind::Name(name.to_owned()) };
                    functions.push(self.function_of(name).ok_or_else(unknown)?);
                    if !self.accept(',')? {
                        break Targets::Functions(functions);
                    }
                }
            }
            _ => Targets::Prototype(self.prototype_of_call()?),
        };
        self.expect(';', "`,` or `;`")?;
        Ok(of)
    }

    /// Parses frame variables: `.local .align 8 .b8 depot[16];`, `.param .b32 a, b;`.
    fn frame_variables(&mut self, space: Space, names: &mut Names<'a>) -> Result<(), Error> {
        self.bump()?;
        let (mut ty, mut align) = (None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(if space == Space::Param { MAX_PARAM_ALIGN } else { MAX_ALIGN })?);
                }
                "v2" | "v4" => return Err(self.error(ErrorKind::Unsupported("a vector variable".to_owned()))),
                _ if ty.is_some() => break,
                _ => {
                    let at = self.ahead.at;
                    ty = Some(self.ty().and_then(|ty| in_memory(ty).ok_or(Error { at, kind: ErrorKind::Type(ty) }))?);
                }
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            let count = if self.accept('[')? {
                let count = self.count()?;
                self.expect(']', "`]`")?;
                Some(count)
            } else {
                None
            };
            let variable = FrameVariable { name: name.to_owned(), space, ty, count, align };
            if variable.bytes() > space.most_bytes() {
                return Err(Error { at, kind: ErrorKind::Variables(space) });
            }
            names.declare_frame(name, variable, at)?;
            if !self.accept(',')? {
                return self.expect(';', "`,` or `;`");
            }
        }
    }

    /// Parses register declarations: `.reg .b32 %r<80>, %a;`.
    fn registers(&mut self, names: &mut Names<'a>) -> Result<(), Error> {
        self.bump()?;
        if let Token::Dotted("v2" | "v4") = self.ahead.token {
            return Err(self.error(ErrorKind::Unsupported("a vector register".to_owned())));
        }
        let at = self.ahead.at;
        let ty = self.type_of_register()?;
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
}

/// Returns `Some(ty)` if a variable in memory may have the type `ty`, otherwise `None`.
pub(super) fn in_memory(ty: Type) -> Option<Type> {
    crate::ptx::module::Variable::admits(ty).then_some(ty)
}

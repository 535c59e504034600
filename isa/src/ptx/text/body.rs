//! Parser of kernels, and of the bodies of kernels and functions.

use super::error::{Error, ErrorKind, Verdict};
use super::lexer::Token;
use super::names::Names;
use super::reader::{MAX_PARAM_ALIGN, Reader};
use super::{ParsedFile, RejectedKernel, SourceLocation, unsupported};
use crate::object::Loc;
use crate::ptx::inst::Inst;
use crate::ptx::module::{
    BlockLimit, Body, Entry, FrameVariable, Functions, Linkage, MAX_ALIGN, Param, PointerTarget, Targets, Variables,
};
use crate::ptx::operand::Base;
use crate::ptx::types::{Requirements, Space, Type};

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
        let before = self.errors.len();
        if self.is_defined(name) || !self.kernels.insert(name) {
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

    /// Returns the result of parsing a kernel or function, and the errors that parsing has
    /// recorded, in the order of the text. The first `before` recorded errors belong to earlier
    /// text. If parsing stopped at an unsupported feature, skips to the end of the body and returns
    /// `None` as the result.
    ///
    /// # Errors
    /// Returns any other error at which parsing stopped. The file cannot be parsed further.
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
                "minnctapersm" | "maxnctapersm" | "maxnreg" | "local_maxnreg" | "minperctamemory" => {
                    self.bump()?;
                    hints.push(format!(".{word} {}", self.count()?));
                }
                // Access to the memory of another block of the cluster is unsupported, so the
                // cluster size does not change results.
                "reqnctapercluster" | "maxclusterrank" | "explicitcluster" | "blocksareclusters" => {
                    hints.push(self.cluster_hint(word)?);
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

    /// Parses a directive on clusters of blocks, such as `.reqnctapercluster 2, 1, 1`.
    fn cluster_hint(&mut self, word: &str) -> Result<String, Error> {
        let needs = if word == "blocksareclusters" { (9, 0) } else { (7, 8) };
        let version = self.version;
        if version < needs {
            return Err(self.error(ErrorKind::Version { what: word.to_owned(), needs, version }));
        }
        if self.target.sm < 90 {
            let (needs, target) = (Requirements::new(needs.0, needs.1, 90), self.target);
            return Err(self.error(ErrorKind::Missing { inst: format!(".{word}"), needs, version, target }));
        }
        self.bump()?;
        Ok(match word {
            "reqnctapercluster" => {
                let [x, y, z] = self.axes()?;
                format!(".{word} {x}, {y}, {z}")
            }
            "maxclusterrank" => format!(".{word} {}", self.count()?),
            _ => format!(".{word}"),
        })
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
        self.located.clear();
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
                first => {
                    let read = self.statement(&mut names, insts.len() as u32);
                    let before = names.take_before();
                    match read {
                        Ok(Some((inst, at))) => {
                            for inst in before.into_iter().chain([inst]) {
                                insts.push(inst);
                                locs.push(at);
                                sources.push(self.source);
                            }
                        }
                        Ok(None) => {}
                        Err(error) if self.declares(first, &error) => {
                            let kind = error.kind.clone();
                            self.keep(error)?;
                            self.skip_unsupported(&kind, true);
                        }
                        Err(error) => self.recover(error)?,
                    }
                }
            }
        }
        self.bump()?;
        // Instructions that initialise registers with immediates or special registers are inserted
        // before all other instructions.
        let held = names.held();
        locs.splice(0..0, std::iter::repeat_n(Loc::default(), held));
        sources.splice(0..0, std::iter::repeat_n(SourceLocation::default(), held));
        let body = names.finish(insts, &mut self.errors, &self.vars);
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
                "align" if align.is_none() && pointer.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_PARAM_ALIGN)?);
                }
                "texref" | "samplerref" | "surfref" => return Err(self.error(unsupported::directive(word))),
                "ptr" if pointer.is_none() && ty.is_some() => pointer = Some(self.pointer_target()?),
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

    /// Parses the target of a pointer: `.ptr`, `.ptr .align 1`, `.ptr .global .align 16`.
    fn pointer_target(&mut self) -> Result<PointerTarget, Error> {
        self.bump()?;
        let mut target = PointerTarget::default();
        if let Token::Dotted(word) = self.ahead.token
            && let Some(space) = Space::ALL.into_iter().find(|&space| space.name() == word && space != Space::Param)
        {
            target.space = Some(space);
            self.bump()?;
        }
        if self.ahead.token == Token::Dotted("align") {
            self.bump()?;
            target.align = Some(self.power_of_two(u32::MAX)?);
        }
        Ok(target)
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
            Token::Dotted("global") => self.variables(Linkage::Plain, Space::Global, Some(names)).map(|()| None),
            Token::Dotted("const") => self.variables(Linkage::Plain, Space::Const, Some(names)).map(|()| None),
            Token::Dotted("pragma") => {
                let text = self.pragma()?;
                names.pragma(place, text);
                Ok(None)
            }
            Token::Dotted(word) => self.debug_directive(word).map(|()| None),
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
                    let name = self.name("a label")?;
                    self.refuse_range("labels")?;
                    labels.push(names.label(name, at));
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
        for (variable, name, at) in self.frame_declaration(space)? {
            names.declare_frame(name, variable, at)?;
        }
        Ok(())
    }

    /// Parses variables in local memory that the module declares, as PTX before 3.0 allows. The
    /// frame of each kernel that uses such a variable contains a separate copy.
    pub(super) fn local_variables(&mut self) -> Result<(), Error> {
        let (needs, version) = ((3, 0), self.version);
        if version >= needs {
            let what = "a variable in local memory outside a kernel, which PTX does not allow from 3.0 on";
            return Err(self.error(ErrorKind::Expected { expected: "a directive", found: what.to_owned() }));
        }
        for (variable, name, at) in self.frame_declaration(Space::Local)? {
            if self.is_defined(name) || self.locals.insert(name, variable).is_some() {
                self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
            }
        }
        Ok(())
    }

    /// Returns the symbol with this name as the base of an address.
    pub(super) fn base(&self, name: &'a str, names: &mut Names<'a>) -> Result<Option<Base>, ErrorKind> {
        let known = names.base(name).or_else(|| self.variable(name).map(Base::Variable));
        let local = self.locals.get(name).filter(|_| known.is_none());
        match local {
            Some(_) if self.is_in_function => {
                Err(ErrorKind::Unsupported("a variable in local memory of the module in a function".to_owned()))
            }
            Some(variable) => Ok(Some(Base::Frame(names.declare_outermost(name, variable.clone())))),
            None => Ok(known),
        }
    }

    /// Parses a declaration of frame variables. Returns each variable with its name and the location of the name.
    fn frame_declaration(&mut self, space: Space) -> Result<Vec<(FrameVariable, &'a str, Loc)>, Error> {
        self.bump()?;
        let (mut ty, mut align, mut lanes) = (None, None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() => {
                    self.bump()?;
                    align = Some(self.power_of_two(if space == Space::Param { MAX_PARAM_ALIGN } else { MAX_ALIGN })?);
                }
                "v2" | "v4" if lanes.is_none() => lanes = Some(self.lanes()?),
                _ if ty.is_some() => break,
                _ => {
                    let at = self.ahead.at;
                    ty = Some(self.ty().and_then(|ty| in_memory(ty).ok_or(Error { at, kind: ErrorKind::Type(ty) }))?);
                }
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        let align = align.or(lanes.map(|lanes| lanes * ty.bits() / 8));
        let mut all = Vec::new();
        loop {
            let at = self.ahead.at;
            let name = self.name("the name of a variable")?;
            self.refuse_range("variables")?;
            let mut count = lanes;
            while self.accept('[')? {
                count = Some(count.unwrap_or(1).saturating_mul(self.count()?));
                self.expect(']', "`]`")?;
            }
            let variable = FrameVariable { name: name.to_owned(), space, ty, count, align };
            if variable.bytes() > space.most_bytes() {
                return Err(Error { at, kind: ErrorKind::Variables(space) });
            }
            all.push((variable, name, at));
            if !self.accept(',')? {
                self.expect(';', "`,` or `;`")?;
                return Ok(all);
            }
        }
    }

    /// Parses the number of elements of a vector variable: `.v2` or `.v4`.
    pub(super) fn lanes(&mut self) -> Result<u32, Error> {
        let lanes = if self.ahead.token == Token::Dotted("v2") { 2 } else { 4 };
        self.bump()?;
        Ok(lanes)
    }

    /// Returns an error if the next token is a vector size such as `.v2`, because vector registers
    /// are not supported.
    pub(super) fn refuse_vector_register(&self) -> Result<(), Error> {
        match self.ahead.token {
            Token::Dotted("v2" | "v4") => Err(self.error(ErrorKind::Unsupported("a vector register".to_owned()))),
            _ => Ok(()),
        }
    }

    /// Parses register declarations: `.reg .b32 %r<80>, %a;`.
    fn registers(&mut self, names: &mut Names<'a>) -> Result<(), Error> {
        self.bump()?;
        if self.ahead.token == Token::Dotted("align") {
            self.bump()?;
            self.power_of_two(u32::MAX)?;
        }
        self.refuse_vector_register()?;
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

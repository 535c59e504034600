//! Parser of PTX files: the header, directives, and error recovery.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::error::{Error, ErrorKind, Verdict};
use super::function::Declared;
use super::lexer::{Lexer, Spanned, Token};
use super::names::VariableNames;
use super::number::Literal;
use super::{KernelNames, ParsedFile, SourceLocation, unsupported};
use crate::object::Loc;
use crate::ptx::module::{
    FrameVariable, Functions, Linkage, MAX_ALIGN, Module, TargetName, UsedNames, Variable, Variables, is_version,
};
use crate::ptx::operand::Var;
use crate::ptx::types::{Space, Type};

/// Maximum alignment of a parameter in bytes.
pub(super) const MAX_PARAM_ALIGN: u32 = 128;

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 100;

pub(super) fn read(text: &str) -> Result<ParsedFile, Vec<Error>> {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        ahead: Spanned { token: Token::End, at: Loc::default() },
        errors: Vec::new(),
        source: SourceLocation::default(),
        version: (0, 0),
        target: TargetName { sm: 0, suffix: None },
        files: BTreeMap::new(),
        located: HashMap::new(),
        call_sites: Vec::new(),
        variables: Vec::new(),
        vars: VariableNames::default(),
        of_body: Vec::new(),
        unsupported: HashMap::new(),
        noted: Vec::new(),
        functions: Declared::default(),
        taken: HashMap::new(),
        kernels: HashSet::new(),
        locals: HashMap::new(),
        is_in_function: false,
    };
    let read = reader.bump().and_then(|()| reader.file());
    match read {
        Ok(text) if reader.errors.is_empty() => Ok(text),
        Ok(text) => {
            reader.errors.extend(text.unsupported_errors());
            Err(reader.sorted())
        }
        Err(error) => {
            reader.errors.push(error);
            Err(reader.sorted())
        }
    }
}

/// State of the parser of a PTX file.
pub(super) struct Reader<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The next token, which is not consumed yet.
    pub ahead: Spanned<'a>,
    pub(super) errors: Vec<Error>,
    /// The `.version` of the module.
    pub(super) version: (u8, u8),
    /// The `.target` of the module.
    pub(super) target: TargetName,
    /// The source location that the last `.loc` gives.
    pub(super) source: SourceLocation,
    files: BTreeMap<u32, String>,
    /// The source locations of the current body's `.loc` directives. The last directive for a
    /// location determines the call site of that location.
    pub(super) located: HashMap<(u32, Loc), SourceLocation>,
    call_sites: Vec<SourceLocation>,
    pub(super) variables: Vec<Variable>,
    pub(super) vars: VariableNames<'a>,
    /// The names of the shared variables that the current body has declared, each with the module
    /// variable to which the name referred before, if any.
    pub(super) of_body: Vec<(&'a str, Option<Var>)>,
    /// The names of external or unsupported symbols, each with the error that a use of the name causes.
    unsupported: HashMap<&'a str, ErrorKind>,
    /// The names that the current kernel has added to `unsupported`, each with its previous error there, if any.
    pub(super) noted: Vec<(&'a str, Option<ErrorKind>)>,
    /// The functions declared so far.
    pub(super) functions: Declared<'a>,
    /// The names of the kernels so far.
    pub(super) kernels: HashSet<&'a str>,
    /// The variables in local memory that the module declares.
    pub(super) locals: HashMap<&'a str, FrameVariable>,
    /// `true` while the body of a function is parsed.
    pub(super) is_in_function: bool,
    /// Total size of the variables in each state space, in bytes.
    pub(super) taken: HashMap<Space, u32>,
}

impl<'a> Reader<'a> {
    fn sorted(mut self) -> Vec<Error> {
        self.errors.sort_by_key(|e| (e.at.line, e.at.column));
        self.errors
    }

    /// Advances by one token.
    pub(super) fn bump(&mut self) -> Result<(), Error> {
        self.ahead = self.lexer.next()?;
        Ok(())
    }

    /// Returns the token after the next one, or `None` if it is invalid.
    pub(super) fn following(&self) -> Option<Token<'a>> {
        self.lexer.clone().next().ok().map(|spanned| spanned.token)
    }

    /// Creates an error at the next token.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error { at: self.ahead.at, kind }
    }

    /// Creates an error at the next token that names the expected token.
    pub(super) fn expected(&self, expected: &'static str) -> Error {
        self.error(ErrorKind::Expected { expected, found: self.ahead.token.describe() })
    }

    /// Consumes the next token if it is the character `c`. Returns `true` if the token was
    /// consumed.
    pub(super) fn accept(&mut self, c: char) -> Result<bool, Error> {
        let found = self.ahead.token == Token::Punct(c);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Consumes the character `c`. Returns an error that names `expected` if another token is next.
    pub(super) fn expect(&mut self, c: char, expected: &'static str) -> Result<(), Error> {
        if self.accept(c)? { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Consumes an identifier and returns it. Returns an error that names `expected` if another token is next.
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

    /// Consumes a number of at most 32 bits.
    pub(super) fn number(&mut self) -> Result<u32, Error> {
        let value = self.number_here()?;
        self.bump()?;
        Ok(value)
    }

    /// Consumes a number of at least 1.
    pub(super) fn count(&mut self) -> Result<u32, Error> {
        let zero = self.error(ErrorKind::Range { number: "0".to_owned(), ty: "a number of at least 1".to_owned() });
        let count = self.number()?;
        if count == 0 { Err(zero) } else { Ok(count) }
    }

    /// Returns the value of the next token, which must be a number of at most 32 bits.
    fn number_here(&self) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let value = Literal::Written { negative: false, text }.integer().map_err(|kind| self.error(kind))?;
        Ok(value as u32)
    }

    pub(super) fn ty(&mut self) -> Result<Type, Error> {
        let at = self.ahead.at;
        match self.type_of_register()? {
            Type::B128 => {
                Err(Error { at, kind: ErrorKind::Unsupported("a variable or a parameter of type .b128".to_owned()) })
            }
            ty => Ok(ty),
        }
    }

    /// Consumes the type of a register, which may be `.b128`.
    pub(super) fn type_of_register(&mut self) -> Result<Type, Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a type")) };
        let Some(ty) = Type::from_name(word) else { return Err(self.expected("a type")) };
        let (needs, version) = ((8, 3), self.version);
        if ty == Type::B128 && version < needs {
            return Err(self.error(ErrorKind::Version { what: word.to_owned(), needs, version }));
        }
        self.bump()?;
        Ok(ty)
    }

    /// Records an error. Fails if the maximum number of errors is reached.
    pub(super) fn keep(&mut self, error: Error) -> Result<(), Error> {
        self.errors.push(error);
        if self.errors.len() >= MAX_ERRORS { Err(self.error(ErrorKind::TooMany)) } else { Ok(()) }
    }

    /// Records an error outside kernels. Skips past the next `;` or body, to the next directive.
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

    /// Skips an unsupported declaration, past its `;` or its body. The names that it declares are
    /// added to `unsupported`. In a kernel, skipping ends before a closing brace of the kernel.
    /// Outside kernels, braces after `=` enclose a list of values.
    pub(super) fn skip_unsupported(&mut self, kind: &ErrorKind, is_in_kernel: bool) {
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
                Token::Name(name)
                    if braces == 0 && brackets == 0 && !has_value && !self.unsupported.contains_key(name) =>
                {
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

    /// Records an error in the declaration of a variable. Skips past its `;`, or to the start of a kernel.
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

    /// Records an error and skips to the next statement. Fails if the maximum number of errors is reached.
    pub(super) fn recover(&mut self, error: Error) -> Result<(), Error> {
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

    /// Advances by one token, ignoring lexer errors.
    pub(super) fn skip(&mut self) {
        while self.bump().is_err() {}
    }

    fn file(&mut self) -> Result<ParsedFile, Error> {
        let mut text = ParsedFile {
            module: self.head()?,
            locs: Vec::new(),
            sources: Vec::new(),
            files: BTreeMap::new(),
            call_sites: Vec::new(),
            refused: Vec::new(),
            unsupported: Vec::new(),
            function_locs: Vec::new(),
            function_sources: Vec::new(),
            names: KernelNames::default(),
            most_params: 0,
        };
        loop {
            match self.ahead.token {
                Token::End => {
                    text.files = std::mem::take(&mut self.files);
                    text.call_sites = std::mem::take(&mut self.call_sites);
                    text.module.variables = self.named_apart(&text.module).into();
                    self.finish_functions(&mut text);
                    return Ok(text.with_names());
                }
                // This closing brace ends a construct that could not be parsed.
                Token::Punct('}') if !self.errors.is_empty() => self.bump()?,
                _ => match self.top(&mut text) {
                    Ok(()) => {}
                    Err(error) if error.kind.verdict() == Verdict::Unsupported => {
                        self.skip_unsupported(&error.kind, false);
                        text.unsupported.push(error);
                    }
                    Err(error) => self.recover_outside(error)?,
                },
            }
        }
    }

    /// Returns the module's variables with unique names. Names may collide, because the shared
    /// variables of bodies become module variables.
    fn named_apart(&mut self, module: &Module) -> Vec<Variable> {
        let mut variables = std::mem::take(&mut self.variables);
        let entries = module.entries.iter().map(|entry| entry.name.clone());
        let functions = self.functions.all.iter().map(|function| function.name.clone());
        let mut used: UsedNames = entries.chain(functions).collect();
        for variable in &mut variables {
            variable.name = used.unused(&variable.name);
        }
        variables
    }

    fn head(&mut self) -> Result<Module, Error> {
        self.directive("version", "`.version`")?;
        let version = match self.ahead.token {
            Token::Number(text) => text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))),
            _ => None,
        };
        let version = version.ok_or_else(|| self.expected("a version such as `8.8`"))?;
        if !is_version(version) {
            return Err(self.error(ErrorKind::UnknownVersion(version)));
        }
        self.version = version;
        self.bump()?;
        self.directive("target", "`.target`")?;
        let name = match self.ahead.token {
            Token::Name(name) => name,
            _ => "",
        };
        // The virtual architecture `compute_90` has the features of `sm_90`.
        let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"));
        let target =
            number.and_then(TargetName::from_number).ok_or_else(|| self.expected("a target such as `sm_90`"))?;
        let needs = target.first_version().ok_or_else(|| self.error(ErrorKind::Target(target)))?;
        if version < needs {
            return Err(self.error(ErrorKind::EarlyVersion { target, needs, version }));
        }
        self.target = target;
        self.bump()?;
        while self.accept(',')? {
            let at = self.ahead.at;
            match self.name("an option of the target")? {
                // Like `ptxas`, the engines ignore `map_f64_to_f32` and compute f64 operations in
                // f64. The texture modes matter only to texture instructions.
                "debug" | "texmode_unified" | "texmode_independent" => {}
                "map_f64_to_f32" if target.sm < 13 => {}
                option if option == name => {}
                option => {
                    let found = format!("`{option}`");
                    return Err(Error {
                        at,
                        kind: ErrorKind::Expected { expected: "an option of this target", found },
                    });
                }
            }
        }
        // `.address_size` is optional; only 64-bit addresses are supported.
        if self.ahead.token == Token::Dotted("address_size") {
            self.bump()?;
            match self.ahead.token {
                Token::Number("64") => self.bump()?,
                _ => return Err(self.expected("`64`")),
            }
        }
        let (variables, functions) = (Variables::default(), Functions::default());
        Ok(Module { version, target, variables, functions, entries: Vec::new() })
    }

    pub(super) fn directive(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        match self.ahead.token {
            Token::Dotted(word) if word == name => self.bump(),
            _ => Err(self.expected(expected)),
        }
    }

    /// Parses a directive that is not inside a kernel.
    fn top(&mut self, text: &mut ParsedFile) -> Result<(), Error> {
        let Token::Dotted(word) = self.ahead.token else { return Err(self.expected("a directive")) };
        let linkage = match word {
            "visible" => Linkage::Visible,
            "weak" => Linkage::Weak,
            "common" => {
                self.bump()?;
                return match self.ahead.token {
                    Token::Dotted("global") => {
                        let read = self.variables(Linkage::Common, Space::Global, None);
                        read.or_else(|error| self.recover_variable(error))
                    }
                    _ => Err(self.expected("`.global`")),
                };
            }
            "extern" => return self.defined_elsewhere(text),
            "entry" => return self.entry(Linkage::Plain, text),
            "func" => return self.function(Linkage::Plain, text),
            "shared" => return self.shared_variables(false, None).or_else(|error| self.recover_variable(error)),
            "local" => return self.local_variables().or_else(|error| self.recover_variable(error)),
            _ => match space(word) {
                Some(space) => {
                    return self.variables(Linkage::Plain, space, None).or_else(|e| self.recover_variable(e));
                }
                None => return self.debug_directive(word),
            },
        };
        self.bump()?;
        match self.ahead.token {
            Token::Dotted("entry") => self.entry(linkage, text),
            Token::Dotted("func") => self.function(linkage, text),
            Token::Dotted("shared") => self.shared_variables(false, None).or_else(|error| self.recover_variable(error)),
            Token::Dotted(word) => match space(word) {
                Some(space) => self.variables(linkage, space, None).or_else(|error| self.recover_variable(error)),
                None => Err(self.error(unsupported::directive(word))),
            },
            _ => Err(self.expected("`.entry`, `.global` or `.const`")),
        }
    }

    /// Parses the declaration of an external variable or function. An external variable causes an
    /// error only if a kernel uses it.
    fn defined_elsewhere(&mut self, text: &mut ParsedFile) -> Result<(), Error> {
        self.bump()?;
        if self.ahead.token == Token::Dotted("func") {
            return self.function(Linkage::Plain, text);
        }
        match self.ahead.token {
            Token::Dotted("shared") => self.shared_variables(true, None).or_else(|error| self.recover_variable(error)),
            // No kernel launches a kernel of another file, so the declaration has no use.
            Token::Dotted("entry") => {
                while !matches!(self.ahead.token, Token::Punct(';' | '{' | '}') | Token::End) {
                    self.bump()?;
                }
                self.expect(';', "`;`")
            }
            Token::Dotted("global" | "const") => {
                while let Token::Dotted(word) = self.ahead.token {
                    if word == "attribute" {
                        self.attribute()?;
                        continue;
                    }
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

    /// Records that a symbol is external, so that a use of it causes an error.
    fn is_elsewhere(&mut self, name: &'a str) {
        self.note(name, ErrorKind::Unsupported(format!("the external symbol `{name}`")));
    }

    /// Records the error that a use of this name causes.
    pub(super) fn note(&mut self, name: &'a str, kind: ErrorKind) {
        let before = self.unsupported.insert(name, kind);
        self.noted.push((name, before));
    }

    /// Restores the errors of names that the current kernel has added or replaced.
    pub(super) fn forget_noted(&mut self) {
        while let Some((name, before)) = self.noted.pop() {
            match before {
                Some(kind) => self.unsupported.insert(name, kind),
                None => self.unsupported.remove(name),
            };
        }
    }

    /// Returns `true` if a kernel, a variable or a function has this name.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.kernels.contains(name)
            || self.vars.get(name).is_some()
            || self.locals.contains_key(name)
            || self.function_of(name).is_some()
    }

    /// Returns the error that a use of this name causes, if it is an external or unsupported symbol.
    pub(super) fn unsupported(&self, name: &str) -> Option<ErrorKind> {
        self.unsupported.get(name).filter(|_| self.vars.get(name).is_none()).cloned()
    }

    /// Parses a pragma such as `.pragma "nounroll";` and returns the text between `.pragma` and the `;`.
    pub(super) fn pragma(&mut self) -> Result<String, Error> {
        self.bump()?;
        let mut texts = Vec::new();
        while let Token::String(text) = self.ahead.token {
            texts.push(format!("\"{text}\""));
            self.bump()?;
            if !self.accept(',')? {
                break;
            }
        }
        self.expect(';', "`;`")?;
        Ok(texts.join(", "))
    }

    /// Parses a directive that does not change the behaviour of the program, such as debug information.
    pub(super) fn debug_directive(&mut self, word: &str) -> Result<(), Error> {
        match word {
            "file" => {
                self.bump()?;
                let number = self.number()?;
                let Token::String(name) = self.ahead.token else { return Err(self.expected("the name of a file")) };
                self.files.entry(number).or_insert_with(|| name.to_owned());
                // A timestamp and a file size may follow in the line.
                self.lexer.skip_line();
                self.bump()
            }
            "loc" => {
                self.bump()?;
                let (file, loc) = self.source_place()?;
                let inlined_at = if self.accept(',')? { Some(self.call_site()?) } else { None };
                self.source = SourceLocation { file, loc, inlined_at };
                self.located.insert((file, loc), self.source);
                Ok(())
            }
            "pragma" => self.pragma().map(drop),
            "loc_intermediate" => {
                self.bump()?;
                self.lexer.skip_line();
                self.bump()
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
            _ => Err(self.error(unsupported::directive(word))),
        }
    }

    /// Fails at the count of a numbered range, such as `<3>` in `a<3>`.
    pub(super) fn refuse_range(&self, of: &str) -> Result<(), Error> {
        match self.ahead.token {
            Token::Punct('<') => Err(self.error(ErrorKind::Unsupported(format!("a numbered range of {of}")))),
            _ => Ok(()),
        }
    }

    /// Parses a source location: the index of a file, a line and a column.
    fn source_place(&mut self) -> Result<(u32, Loc), Error> {
        Ok((self.number()?, Loc { line: self.number()?, column: self.number()? }))
    }

    /// Parses the call site of an inlined function, such as `function_name $L0+4, inlined_at 1 30 3`. Returns the index
    /// of the call site. If the call is in an inlined function itself, an earlier `.loc` has the outer call site.
    fn call_site(&mut self) -> Result<u32, Error> {
        self.keyword("function_name", "`function_name`")?;
        self.name("the label of a function name")?;
        if self.accept('+')? {
            self.number()?;
        }
        self.expect(',', "`,`")?;
        self.keyword("inlined_at", "`inlined_at`")?;
        let (file, loc) = self.source_place()?;
        let unknown = SourceLocation { file, loc, inlined_at: None };
        let site = self.located.get(&(file, loc)).copied().unwrap_or(unknown);
        if self.call_sites.last() != Some(&site) {
            self.call_sites.push(site);
        }
        Ok(self.call_sites.len() as u32 - 1)
    }

    fn keyword(&mut self, name: &str, expected: &'static str) -> Result<(), Error> {
        match self.ahead.token {
            Token::Name(word) if word == name => self.bump(),
            _ => Err(self.expected(expected)),
        }
    }

    pub(super) fn power_of_two(&mut self, most: u32) -> Result<u32, Error> {
        let Token::Number(text) = self.ahead.token else { return Err(self.expected("a number")) };
        let range = ErrorKind::Range { number: text.to_owned(), ty: format!("a power of two up to {most}") };
        let range = self.error(range);
        let number = self.number()?;
        match number.is_power_of_two() {
            true if number <= most => Ok(number),
            true => Err(Error { kind: ErrorKind::Unsupported(format!("an alignment of {number} bytes")), ..range }),
            false => Err(range),
        }
    }

    /// Consumes a modifier such as `.b32`, if one is next.
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

/// Returns the state space of a variable that is declared with the directive `word`.
fn space(word: &str) -> Option<Space> {
    [Space::Global, Space::Const].into_iter().find(|space| space.name() == word)
}

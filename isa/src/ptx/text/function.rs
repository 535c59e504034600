//! Parser of functions, and the check that calls match the declarations.

use std::collections::{HashMap, HashSet};

use super::body::{ParsedBody, in_memory};
use super::error::{Error, ErrorKind, Verdict};
use super::lexer::Token;
use super::names::Names;
use super::reader::{MAX_PARAM_ALIGN, Reader};
use super::{ParsedFile, RejectedKernel, SourceLocation, unsupported};
use crate::object::Loc;
use crate::ptx::module::{
    Body, Builtin, Formal, FormalLocation, FrameVariable, Function, FunctionCode, Functions, Linkage, Prototype,
    TargetList, Targets,
};
use crate::ptx::operand::{Callee, Operand};
use crate::ptx::row::OperandKind;
use crate::ptx::types::{Space, Type};

/// The functions that the file has declared so far.
#[derive(Default)]
pub(super) struct Declared<'a> {
    by_name: HashMap<&'a str, u32>,
    pub(super) all: Vec<Function>,
    locs: Vec<Vec<Loc>>,
    sources: Vec<Vec<SourceLocation>>,
    /// For each rejected function, by its index, the error that caused the rejection.
    refused: HashMap<u32, ErrorKind>,
    /// The functions, by their index, whose bodies have errors.
    wrong: HashSet<u32>,
}

/// The signature of a function, with the locations of its parameters and results in the body.
struct Head<'a> {
    prototype: Prototype,
    names: Names<'a>,
    results: Vec<FormalLocation>,
    params: Vec<FormalLocation>,
}

impl<'a> Reader<'a> {
    /// Returns the index of the function with this name.
    pub(super) fn function_of(&self, name: &str) -> Option<u32> {
        self.functions.by_name.get(name).copied()
    }

    /// Parses a function: a definition such as `.func (.param .b32 r) f (.param .b32 a) { .. }`, or
    /// a declaration. A declaration ends with `;` in place of the body.
    pub(super) fn function(&mut self, linkage: Linkage, text: &mut ParsedFile) -> Result<(), Error> {
        self.bump()?;
        let mut head =
            Head { prototype: Prototype::default(), names: Names::default(), results: Vec::new(), params: Vec::new() };
        if self.ahead.token == Token::Dotted("attribute") {
            self.attribute()?;
        }
        if self.accept('(')? {
            self.formals(&mut head, false)?;
        }
        let at = self.ahead.at;
        let name = self.name("the name of a function")?;
        if self.accept('(')? {
            self.formals(&mut head, true)?;
        }
        let mut no_return = false;
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "noreturn" => {
                    no_return = true;
                    self.bump()?;
                }
                // A declaration may end without a `;`. Each of these words begins the directive
                // after the declaration.
                "visible" | "weak" | "extern" | "common" | "entry" | "func" | "global" | "const" | "local"
                | "shared" => break,
                "local_maxnreg" => {
                    self.bump()?;
                    self.number()?;
                }
                _ => self.debug_directive(word)?,
            }
        }
        let number = self.declare(
            name,
            at,
            Function { name: name.to_owned(), linkage, prototype: head.prototype.clone(), no_return, code: None },
        )?;
        // The `;` of a declaration may be missing.
        if self.accept(';')? || self.ahead.token != Token::Punct('{') {
            return Ok(());
        }
        self.define(number, (name, at), head, text)
    }

    /// Declares a function and returns its index. A function may be declared several times.
    fn declare(&mut self, name: &'a str, at: Loc, function: Function) -> Result<u32, Error> {
        if let Some(number) = self.function_of(name) {
            let before = self.functions.all.get(number as usize);
            if before.is_some_and(|before| before.prototype != function.prototype) {
                self.keep(Error { at, kind: ErrorKind::Redeclared(name.to_owned()) })?;
            }
            return Ok(number);
        }
        if self.is_defined(name) {
            self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
        }
        let number = self.functions.all.len() as u32;
        self.functions.by_name.insert(name, number);
        self.functions.all.push(function);
        self.functions.locs.push(Vec::new());
        self.functions.sources.push(Vec::new());
        Ok(number)
    }

    /// Parses the body of a function. If the body uses an unsupported feature, the kernels that
    /// call the function are rejected.
    fn define(
        &mut self,
        number: u32,
        (name, at): (&'a str, Loc),
        head: Head<'a>,
        text: &mut ParsedFile,
    ) -> Result<(), Error> {
        let is_defined = |function: &Function| function.code.is_some();
        if self.functions.all.get(number as usize).is_some_and(is_defined)
            || self.functions.refused.contains_key(&number)
        {
            self.keep(Error { at, kind: ErrorKind::Duplicate(name.to_owned()) })?;
        }
        let before = self.errors.len();
        self.noted.clear();
        let Head { names, results, params, .. } = head;
        self.is_in_function = true;
        let read = self.code(names);
        self.is_in_function = false;
        let (code, errors) = self.settle(read, before)?;
        match (errors.first().map(|first| &first.kind), code) {
            (None, Some(ParsedBody { body, locs, sources })) => {
                let (place, of) = (number as usize, &mut self.functions);
                if let (Some(function), Some(of_locs), Some(of_sources)) =
                    (of.all.get_mut(place), of.locs.get_mut(place), of.sources.get_mut(place))
                {
                    function.code = Some(FunctionCode { body, results, params });
                    (*of_locs, *of_sources) = (locs, sources);
                }
            }
            (Some(kind), _) if kind.verdict() == Verdict::Unsupported => {
                self.functions.refused.insert(number, kind.clone());
                text.unsupported.extend(errors);
            }
            (Some(_), _) => {
                self.functions.wrong.insert(number);
                self.errors.extend(errors);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Parses a list of parameters or results after its opening parenthesis.
    fn formals(&mut self, head: &mut Head<'a>, are_params: bool) -> Result<(), Error> {
        if self.accept(')')? {
            return Ok(());
        }
        loop {
            let (formal, name, at) = self.formal()?;
            let passed = match formal.in_memory {
                // The parameters of a declaration may be unnamed.
                _ if name == "_" => FormalLocation::Frame(u32::MAX),
                true => {
                    let Formal { ty, count, align, .. } = formal;
                    let variable = FrameVariable { name: name.to_owned(), space: Space::Param, ty, count, align };
                    FormalLocation::Frame(head.names.declare_frame(name, variable, at)?)
                }
                false => {
                    head.names.declare(name, formal.ty, None, at)?;
                    FormalLocation::Register(head.names.register(name).unwrap_or(crate::ptx::Reg(0)))
                }
            };
            let (formals, places) = match are_params {
                true => (&mut head.prototype.params, &mut head.params),
                false => (&mut head.prototype.results, &mut head.results),
            };
            formals.push(formal);
            places.push(passed);
            if !self.accept(',')? {
                return self.expect(')', "`,` or `)`");
            }
        }
    }

    /// Parses a parameter or result in a signature: `.reg .b32 %a`, `.param .align 8 .b8 a[16]`.
    fn formal(&mut self) -> Result<(Formal, &'a str, Loc), Error> {
        let in_memory_of = match self.ahead.token {
            Token::Dotted("param") => true,
            Token::Dotted("reg") => false,
            _ => return Err(self.expected("`.param` or `.reg`")),
        };
        self.bump()?;
        self.refuse_vector_register()?;
        let (mut ty, mut align) = (None, None);
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "align" if align.is_none() && in_memory_of => {
                    self.bump()?;
                    align = Some(self.power_of_two(MAX_PARAM_ALIGN)?);
                }
                // The state space to which a pointer points does not change how the pointer is passed.
                "ptr" | "global" | "const" | "local" | "shared" | "param" if ty.is_some() && in_memory_of => {
                    self.bump()?
                }
                "align" if ty.is_some() && in_memory_of => {
                    self.bump()?;
                    self.power_of_two(MAX_PARAM_ALIGN)?;
                }
                _ if ty.is_some() => break,
                _ => {
                    let at = self.ahead.at;
                    let of = self.ty()?;
                    let is_one = if in_memory_of { in_memory(of).is_some() } else { of.is_of_registers() };
                    if !is_one {
                        return Err(Error { at, kind: ErrorKind::Type(of) });
                    }
                    ty = Some(of);
                }
            }
        }
        let Some(ty) = ty else { return Err(self.expected("a type")) };
        let at = self.ahead.at;
        let name = match self.ahead.token {
            Token::Name(name) => {
                self.bump()?;
                name
            }
            _ => "_",
        };
        let count = if in_memory_of && self.accept('[')? {
            let count = if self.ahead.token == Token::Punct(']') { None } else { Some(self.count()?) };
            self.expect(']', "`]`")?;
            count.or(Some(1))
        } else {
            None
        };
        let formal = Formal { in_memory: in_memory_of, ty, count, align };
        if formal.bytes() > Space::Param.most_bytes() {
            return Err(Error { at, kind: ErrorKind::Variables(Space::Param) });
        }
        Ok((formal, name, at))
    }

    /// Parses a call prototype: `(.param .b32 _) _ (.param .b32 _)`.
    pub(super) fn prototype_of_call(&mut self) -> Result<Prototype, Error> {
        let mut prototype = Prototype::default();
        if self.accept('(')? {
            prototype.results = self.unnamed()?;
        }
        self.name("`_`")?;
        if self.accept('(')? {
            prototype.params = self.unnamed()?;
        }
        while let Token::Dotted(word) = self.ahead.token {
            match word {
                "noreturn" => self.bump()?,
                _ => return Err(self.error(unsupported::directive(word))),
            }
        }
        Ok(prototype)
    }

    fn unnamed(&mut self) -> Result<Vec<Formal>, Error> {
        let mut all = Vec::new();
        if self.accept(')')? {
            return Ok(all);
        }
        loop {
            all.push(self.formal()?.0);
            if !self.accept(',')? {
                self.expect(')', "`,` or `)`")?;
                return Ok(all);
            }
        }
    }

    /// Records an error for each call that does not match the declaration of its function.
    pub(super) fn check_calls(&mut self, body: &Body, locs: &[Loc]) {
        let tables: Vec<Vec<(&str, &Prototype)>> = body.tables.iter().map(|table| self.prototypes(table)).collect();
        let mut errors = Vec::new();
        for (inst, &at) in body.insts.iter().zip(locs) {
            let Some(&Operand::Call { callee, .. }) = inst.operands.first() else { continue };
            let called = match callee {
                Callee::Function(number) => self.prototype(number),
                Callee::Register(_) => None,
            };
            let listed = match (callee, inst.operands.get(1)) {
                (Callee::Register(_), Some(&Operand::Table(number))) => tables.get(number as usize),
                _ => None,
            };
            let mut prototypes = called.into_iter().chain(listed.into_iter().flatten().copied());
            errors.extend(prototypes.find_map(|(name, prototype)| {
                let what = difference(inst, prototype, body)?;
                Some(Error { at, kind: ErrorKind::Call { name: name.to_owned(), what } })
            }));
        }
        self.errors.extend(errors);
    }

    /// Returns the distinct prototypes of the functions in a target list, each with the name of the
    /// first function that has the prototype. A prototype in place of a target list is returned
    /// with its own name.
    fn prototypes<'t>(&'t self, table: &'t TargetList) -> Vec<(&'t str, &'t Prototype)> {
        let mut seen = HashSet::new();
        match &table.of {
            Targets::Prototype(prototype) => vec![(&table.name, prototype)],
            Targets::Functions(all) => {
                let all = all.iter().filter_map(|&number| self.prototype(number));
                all.filter(|(_, prototype)| seen.insert(*prototype)).collect()
            }
            Targets::Labels(_) => Vec::new(),
        }
    }

    fn prototype(&self, number: u32) -> Option<(&str, &Prototype)> {
        let function = self.functions.all.get(number as usize)?;
        Some((&function.name, &function.prototype))
    }

    /// Attaches the functions to the kernels, and rejects the kernels that reach an unsupported function.
    pub(super) fn finish_functions(&mut self, text: &mut ParsedFile) {
        let Declared { all, locs, sources, refused, wrong, .. } = std::mem::take(&mut self.functions);
        let functions: Functions = all.into();
        (text.function_locs, text.function_sources) = (locs, sources);
        text.module.functions = functions.clone();
        for entry in &mut text.module.entries {
            (entry.variables, entry.functions) = (text.module.variables.clone(), functions.clone());
        }
        let missing = |number: u32| {
            let function = functions.get(number as usize)?;
            match (refused.get(&number), function.definition()) {
                (Some(kind), _) => Some(ErrorKind::Unsupported(format!("a call of `{}` ({kind})", function.name))),
                (None, Some(_)) => None,
                // The errors of the function say enough.
                (None, None) if wrong.contains(&number) || Builtin::of(function).is_some() => None,
                (None, None) => Some(ErrorKind::Unsupported(format!("the external function `{}`", function.name))),
            }
        };
        let first = text.module.first_reached(|number, _| missing(number).is_some());
        let read = std::mem::take(&mut text.module.entries);
        let (locs, sources) = (std::mem::take(&mut text.locs), std::mem::take(&mut text.sources));
        for (((entry, locs), sources), first) in read.into_iter().zip(locs).zip(sources).zip(first) {
            if let Some(kind) = first.and_then(missing) {
                let names_one =
                    |inst: &crate::ptx::Inst| inst.operands.iter().any(|operand| operand.function().is_some());
                let first = entry.body.insts.iter().position(names_one);
                let at = first.and_then(|first| locs.get(first)).copied().unwrap_or_default();
                text.refused.push(RejectedKernel { name: entry.name, at, errors: vec![Error { at, kind }] });
            } else {
                text.module.entries.push(entry);
                text.locs.push(locs);
                text.sources.push(sources);
            }
        }
    }
}

/// Describes the first difference between a call and the prototype. Returns `None` if the call matches.
fn difference(inst: &crate::ptx::Inst, prototype: &Prototype, body: &Body) -> Option<String> {
    let of = |shape: OperandKind| {
        inst.operands_with_rows().filter(move |(o, _)| o.shape == shape).map(|(_, operand)| operand)
    };
    let pairs =
        [("result", OperandKind::Results, &prototype.results), ("argument", OperandKind::Arguments, &prototype.params)];
    pairs.into_iter().find_map(|(what, shape, formals)| {
        let found = of(shape).count();
        if found != formals.len() {
            let s = if formals.len() == 1 { "" } else { "s" };
            return Some(format!("expected {} {what}{s}; found {found}", formals.len()));
        }
        let mut wrong =
            of(shape).zip(formals).zip(1..).filter(|((operand, formal), _)| !is_passed_as(operand, formal, body));
        wrong.next().map(|((_, formal), number)| {
            format!("{what} {number} must have {} bytes of type {}", formal.bytes(), formal.ty)
        })
    })
}

/// Returns `true` if the operand may be passed for a parameter or result with the declaration `formal`.
fn is_passed_as(operand: &Operand, formal: &Formal, body: &Body) -> bool {
    match *operand {
        Operand::Register(reg) => {
            let fits = |ty: Type| match formal.ty.bits() {
                8 => ty.bits() == 16,
                _ => formal.ty.accepts(ty),
            };
            formal.count.is_none() && body.registers.ty(reg).is_some_and(fits)
        }
        Operand::Number(_) => formal.count.is_none(),
        Operand::Frame { var, .. } => {
            body.frame.get(var.number as usize).is_some_and(|variable| variable.bytes() == formal.bytes())
        }
        _ => false,
    }
}

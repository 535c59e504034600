//! Lowering of the syntax tree to IR kernels. It resolves names and types, turns variables into
//! block parameters, and inlines functions.

mod call;
mod constant_evaluation;
mod expr;
mod flow;
mod inline;
mod loop_variables;
mod operand;
mod ops;
mod place;
mod stmt;
mod structs;
mod uncalled;

use halfbyte_abi::{Type, Watchdog};
use halfbyte_ir::builder::Builder;
use halfbyte_ir::diag::Note;
use halfbyte_ir::text::{one_of, type_meant};
use halfbyte_ir::verify::{MAX_CONTENTS, MAX_DIAGNOSTICS};
use halfbyte_ir::{Block, Diagnostic, Direction, Kernel, Span, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, Constant, Ident, Param, ParamTy};
use crate::files::Files;
use crate::symbols::{Sym, Symbols};
use constant_evaluation::Purity;
use operand::Operand;
use structs::Layout;

/// Maximum number of expressions and statements that lowering visits, counted after inlining and unrolling.
const MAX_STEPS: u32 = 4 << 20;

/// Maximum nesting of calls, blocks and operands after inlining.
const MAX_NESTING: u32 = 160;

/// Marker for an error that has been reported.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Lowering<T> = Result<T, Failed>;

/// Element type of a buffer or array.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Elem {
    Type(Type),
    Struct(u32),
}

/// A buffer or array, as a value in the lowered kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Buffer {
    pub value: Value,
    pub elem: Elem,
    /// Direction of a buffer; `None` for an array, which is readable and writable.
    pub direction: Option<Direction>,
}

/// Meaning of a name in scope.
#[derive(Clone, Debug)]
enum Binding {
    /// Value that cannot be assigned.
    Fixed(Operand),
    /// Variable with this index.
    Var(u32),
    /// Array of variables: the index of the first variable, and the number of variables.
    Vars(u32, u32),
}

/// Variable and its current value.
#[derive(Clone, Copy, Debug)]
struct Var {
    name: Sym,
    ty: Type,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Global {
    Function(u32),
    Constant(u32),
    Struct(u32),
}

/// Evaluation state of a file-level constant.
#[derive(Clone, Debug)]
enum ConstantState {
    NotYet,
    /// The constant is being evaluated. A use in this state is a cyclic definition.
    Now,
    Failed,
    Is(Operand),
}

/// Edge to a join block: its source block, and the values of the variables at the end of the source
/// block.
#[derive(Clone, Debug)]
struct Edge {
    from: Block,
    values: Vec<Value>,
}

/// Loop that encloses the current statement.
#[derive(Debug)]
struct LoopFrame {
    /// Indices of the variables that the loop assigns.
    vars: Vec<u32>,
    breaks: Vec<Edge>,
    continues: Vec<Edge>,
}

/// A `return` of a function: the block, the results and their source position.
type Return = (Block, Vec<Operand>, Span);

/// Call of a function that is being inlined.
#[derive(Debug)]
struct Frame {
    function: u32,
    /// Source position of the call; `None` for a function that is checked although nothing calls it.
    call: Option<Span>,
    results: Vec<Type>,
    returns: Vec<Return>,
    /// Number of loops that enclose the call.
    loops: usize,
    /// Number of names in scope at the call, which the called function does not see.
    scopes: usize,
    generics: Vec<(Sym, Type)>,
}

pub(crate) struct Lower<'a> {
    ast: &'a Ast,
    symbols: &'a Symbols,
    files: &'a Files,
    /// `true` if all files were parsed without errors.
    is_whole: bool,
    errors: Vec<Diagnostic>,
    told: FxHashSet<(Span, String)>,
    globals: FxHashMap<Sym, Global>,
    types: FxHashMap<Sym, Type>,
    constants: Vec<ConstantState>,
    layouts: Vec<Option<Layout>>,
    steps: u32,
    /// Limit on the lowering steps of a function that is checked although nothing calls it.
    uncalled_step_limit: Option<u32>,
    /// `true` for each function that was called, by index of the function.
    entered: Vec<bool>,
    nesting: u32,
    /// For each function: properties that decide whether its calls are evaluated at compile time.
    purity: Vec<Purity>,
    /// Watchdog with the limits of compile-time evaluation.
    watchdog: Watchdog,
    /// Results of calls whose compile-time evaluation exceeded the limits, with the position of the
    /// call and the reason.
    too_long: FxHashMap<Value, (Span, String)>,
    /// `true` if a constant condition made the remainder of the current statement unreachable.
    is_unreachable_by_constant: bool,
    /// Position in the main file of the outermost call of a function from another file.
    outermost_call: Option<Span>,

    b: Builder,
    /// Current block; `None` if the current position is unreachable.
    here: Option<Block>,
    scopes: Vec<(Sym, Binding)>,
    vars: Vec<Var>,
    loops: Vec<LoopFrame>,
    frames: Vec<Frame>,
}

impl<'a> Lower<'a> {
    /// Creates the lowering of a module. `is_whole` is `true` if all files were parsed without errors.
    pub(crate) fn new(ast: &'a Ast, symbols: &'a Symbols, files: &'a Files, is_whole: bool) -> Lower<'a> {
        let types = Type::ALL.iter().filter_map(|ty| Some((symbols.find(ty.name())?, *ty))).collect();
        let mut lower = Lower {
            ast,
            symbols,
            files,
            is_whole,
            errors: Vec::new(),
            told: FxHashSet::default(),
            globals: FxHashMap::default(),
            types,
            constants: vec![ConstantState::NotYet; ast.constants.len()],
            layouts: Vec::new(),
            steps: 0,
            uncalled_step_limit: None,
            entered: vec![false; ast.functions.len()],
            nesting: 0,
            purity: Vec::new(),
            watchdog: constant_evaluation::watchdog(),
            too_long: FxHashMap::default(),
            is_unreachable_by_constant: false,
            outermost_call: None,
            b: Builder::new(""),
            here: None,
            scopes: Vec::new(),
            vars: Vec::new(),
            loops: Vec::new(),
            frames: Vec::new(),
        };
        lower.declare();
        lower
    }

    pub(crate) fn into_errors(self) -> Vec<Diagnostic> {
        self.errors
    }

    /// Returns the position in the main file to which an error at `span` in any file is attributed.
    fn placed(&self, span: Span) -> Span {
        if self.files.is_main(span) {
            span
        } else {
            self.outermost_call.or_else(|| self.files.included_at(span)).unwrap_or_default()
        }
    }

    fn report(&mut self, mut diagnostic: Diagnostic) -> Failed {
        let span = diagnostic.span;
        if self.errors.len() >= MAX_DIAGNOSTICS || !self.told.insert((span, diagnostic.message.clone())) {
            return Failed;
        }
        // Name, generic types and call position of the function that contains the error.
        let called = self.frames.last().map(|frame| {
            let name = self.ast.functions.get(frame.function as usize).map_or("", |f| self.symbols.text(f.name.sym));
            let types: Vec<String> =
                frame.generics.iter().map(|(sym, ty)| format!("{} = {ty}", self.symbols.text(*sym))).collect();
            let with = if types.is_empty() { String::new() } else { format!(" with {}", types.join(", ")) };
            (name, with, frame.call)
        });
        if !self.files.is_main(span) {
            let within = called.map_or(String::new(), |(name, with, _)| format!(", in `{name}`{with}"));
            let message = format!("the error is in {}{within}", self.files.place(span));
            diagnostic.notes.insert(0, Note { span: None, message });
            diagnostic.span = self.placed(span);
        } else if let Some((name, with, call)) = called {
            match call {
                Some(call) => {
                    let at = self.placed(call);
                    diagnostic.notes.push(Note { span: Some(at), message: format!("`{name}` is called{with}") });
                }
                None if with.is_empty() => {}
                None => {
                    let message = format!("`{name}` is never called; it was checked{with}");
                    diagnostic.notes.push(Note { span: None, message });
                }
            }
        }
        for note in &mut diagnostic.notes {
            if let Some(span) = note.span.filter(|&span| !self.files.is_main(span)) {
                note.message += &format!(": {}", self.files.place(span));
                note.span = None;
            }
        }
        self.errors.push(diagnostic);
        Failed
    }

    fn error(&mut self, span: Span, message: impl Into<String>, expected: impl Into<String>) -> Failed {
        self.report(Diagnostic::new(span, message).expected(expected))
    }

    fn error_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) -> Failed {
        self.report(Diagnostic::new(span, message).expected(expected).help(help))
    }

    /// Counts an expression or statement as a step, and reports a module that exceeds the step limit.
    fn step(&mut self, span: Span) -> Lowering<()> {
        self.steps += 1;
        if let Some(most) = self.uncalled_step_limit {
            return if self.steps <= most { Ok(()) } else { Err(Failed) };
        }
        match self.steps {
            0..=MAX_STEPS => Ok(()),
            _ => {
                self.steps = MAX_STEPS;
                let message = format!(
                    "the text has more than {} million expressions after inlining and unrolling",
                    MAX_STEPS >> 20
                );
                self.report(
                    Diagnostic::new(span, message)
                        .expected("fewer")
                        .help("use `for` instead of `unroll for`, or nest fewer calls"),
                );
                Err(Failed)
            }
        }
    }

    /// Calls `inside` one nesting level deeper, and reports too deep nesting.
    fn deeper<T>(&mut self, span: Span, inside: impl FnOnce(&mut Self) -> Lowering<T>) -> Lowering<T> {
        if self.nesting >= MAX_NESTING {
            let message = format!("more than {MAX_NESTING} levels of nesting after inlining");
            return Err(self.error_help(span, message, "fewer", "name parts of the expression with `let`"));
        }
        self.nesting += 1;
        let done = inside(self);
        self.nesting -= 1;
        done
    }

    fn declare(&mut self) {
        let ast = self.ast;
        let mut first: FxHashMap<Sym, Span> = FxHashMap::default();
        let functions = ast.functions.iter().enumerate().map(|(at, f)| (f.name, Global::Function(at as u32)));
        let constants = ast.constants.iter().enumerate().map(|(at, c)| (c.name, Global::Constant(at as u32)));
        let structs = ast.structs.iter().enumerate().map(|(at, s)| (s.name, Global::Struct(at as u32)));
        let mut all: Vec<(Ident, Global)> = functions.chain(constants).chain(structs).collect();
        all.sort_by_key(|(name, _)| name.span.start);
        for (name, global) in all {
            let text = self.symbols.text(name.sym);
            if matches!(global, Global::Function(_)) && halfbyte_ir::Op::from_name(text).is_some() {
                self.error(name.span, format!("`{text}` is an op"), "a name that is not in use");
            }
            if self.types.contains_key(&name.sym) {
                self.error(name.span, format!("`{text}` is a type"), "a name that is not in use");
            }
            if let Some(&before) = first.get(&name.sym) {
                let message = format!("`{text}` is defined twice");
                let diagnostic = Diagnostic::new(name.span, message).expected("a name that is not in use");
                self.report(diagnostic.note(Some(before), "the first is here"));
                continue;
            }
            first.insert(name.sym, name.span);
            self.globals.insert(name.sym, global);
        }
        self.find_closed();
        self.here = Some(self.b.begin("entry", &[]));
        self.lay_out();
        for f in &ast.functions {
            for generic in &f.generics {
                if self.types.contains_key(&generic.sym) {
                    let text = self.symbols.text(generic.sym);
                    self.error(generic.span, format!("`{text}` is a type"), "a name that is not in use");
                }
            }
            self.distinct(&f.params);
        }
        for number in 0..ast.constants.len() as u32 {
            let _ = self.constant(number);
        }
    }

    /// Reports duplicate parameter names.
    fn distinct(&mut self, params: &[Param]) {
        for (number, param) in params.iter().enumerate() {
            if let Some(first) = params.iter().take(number).find(|other| other.name.sym == param.name.sym) {
                let message = format!("`{}` is defined twice", self.symbols.text(param.name.sym));
                let diagnostic = Diagnostic::new(param.name.span, message).expected("a name that is not in use");
                self.report(diagnostic.note(Some(first.name.span), "the first is here"));
            }
        }
    }

    /// Returns the value of the file-level constant with index `number`.
    fn constant(&mut self, number: u32) -> Lowering<Operand> {
        let at = number as usize;
        let Some(&constant) = self.ast.constants.get(at) else { return Err(Failed) };
        match self.constants.get(at) {
            Some(ConstantState::Is(operand)) => return Ok(operand.clone()),
            Some(ConstantState::NotYet) => {}
            Some(ConstantState::Now) => {
                let name = self.symbols.text(constant.name.sym).to_owned();
                return Err(self.error(
                    constant.name.span,
                    format!("`{name}` is defined in terms of itself"),
                    "a definition that does not use itself",
                ));
            }
            _ => return Err(Failed),
        }
        self.set_constant(at, ConstantState::Now);
        // A constant sees only file-level names.
        let scopes = std::mem::take(&mut self.scopes);
        let frames = std::mem::take(&mut self.frames);
        // If the expression is not constant, its instructions go to a temporary kernel, which is
        // discarded together with the error.
        let (read, _) = self.apart("", |lower| lower.deeper(constant.name.span, |lower| lower.known_value(constant)));
        (self.scopes, self.frames) = (scopes, frames);
        self.set_constant(
            at,
            read.as_ref().map_or(ConstantState::Failed, |operand| ConstantState::Is(operand.clone())),
        );
        read
    }

    fn set_constant(&mut self, at: usize, known: ConstantState) {
        if let Some(slot) = self.constants.get_mut(at) {
            *slot = known;
        }
    }

    /// Evaluates the expression of a constant.
    fn known_value(&mut self, constant: Constant) -> Lowering<Operand> {
        let span = self.ast.expr(constant.value).span;
        let ty = constant.ty.map(|ty| self.ty(ty)).transpose()?;
        let operand = self.expr(constant.value, ty)?;
        let operand = match ty {
            Some(ty) => self.fit(operand, ty, span)?,
            None => operand,
        };
        match (&operand, self.constant_of(&operand)) {
            (Operand::Number(_) | Operand::Bool(_), _) => Ok(operand),
            (_, Some((ty, words))) => Ok(Operand::Const(ty, words)),
            _ => Err(self.not_known(&operand, span, "a constant expression")),
        }
    }

    /// Returns the type that has a name, or reports an unknown name.
    fn ty(&mut self, name: Ident) -> Lowering<Type> {
        if let Some(&ty) = self.types.get(&name.sym) {
            return Ok(ty);
        }
        if let Some(frame) = self.frames.last()
            && let Some(&(_, ty)) = frame.generics.iter().find(|(sym, _)| *sym == name.sym)
        {
            return Ok(ty);
        }
        let text = self.symbols.text(name.sym);
        if let Some(Global::Struct(_)) = self.globals.get(&name.sym) {
            let help = "a structure is an element of a buffer or array; its fields are values";
            return Err(self.error_help(name.span, format!("`{text}` is a structure"), "a type of values", help));
        }
        let expected = type_meant(text).map_or("a type".to_owned(), |meant| format!("a type; did you mean {meant}?"));
        Err(self.error(name.span, format!("`{text}` is not a type"), expected))
    }

    fn elem(&mut self, name: Ident) -> Lowering<Elem> {
        match self.globals.get(&name.sym) {
            Some(&Global::Struct(number)) => Ok(Elem::Struct(number)),
            _ => self.ty(name).map(Elem::Type),
        }
    }

    /// Returns the IR type as which an element is stored. Structures are stored as bytes.
    fn stored(&self, elem: Elem) -> Type {
        match elem {
            Elem::Type(ty) => ty,
            Elem::Struct(_) => Type::I8,
        }
    }

    /// Resets the state of the lowering for the next kernel.
    fn clear(&mut self, name: &str) {
        self.b = Builder::new(name);
        (self.here, self.nesting, self.outermost_call, self.is_unreachable_by_constant) = (None, 0, None, false);
        self.too_long.clear();
        self.scopes.clear();
        self.vars.clear();
        self.loops.clear();
        self.frames.clear();
    }

    /// Lowers a kernel, or returns `None` if it has errors.
    pub(crate) fn kernel(&mut self, number: usize) -> Option<Kernel> {
        let kernel = self.ast.kernels.get(number)?;
        let before = self.errors.len();
        self.clear(self.symbols.text(kernel.name.sym));
        self.distinct(&kernel.params);
        self.here = Some(self.b.begin("entry", &[]));
        for param in &kernel.params {
            let name = param.name;
            self.b.set_span(param.span);
            let bound = self.kernel_param(param).unwrap_or(Operand::Failed);
            self.scopes.push((name.sym, Binding::Fixed(bound)));
        }
        let lowered = self.statements(kernel.body);
        if self.here.is_some() {
            let end = self.ast.block(kernel.body).span.end;
            self.b.set_span(Span { start: end.saturating_sub(1), end });
            self.b.ret();
        }
        // Earlier errors, in parsing or in a constant, can leave blocks without terminators. Such a
        // kernel is discarded.
        if self.errors.len() > before || lowered.is_err() && (before > 0 || !self.is_whole) {
            return None;
        }
        let mut made = std::mem::replace(&mut self.b, Builder::new("")).finish();
        made.span = kernel.name.span;
        match halfbyte_ir::verify(&made) {
            Ok(()) => Some(made),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        }
    }

    fn kernel_param(&mut self, param: &Param) -> Lowering<Operand> {
        let name = self.symbols.text(param.name.sym);
        match param.ty {
            ParamTy::Number(span) => Err(self.error_help(
                span,
                "a parameter of a kernel cannot be `const`",
                "a type",
                "only functions have `const` parameters",
            )),
            ParamTy::Value(ty) => {
                let ty = self.ty(ty)?;
                Ok(Operand::Value(self.b.scalar(name, ty)))
            }
            ParamTy::Buffer { direction, may_alias, elem, align, contents } => {
                let elem = self.elem(elem)?;
                let stored = self.stored(elem);
                let least = self.alignment_of(elem);
                let align = match align {
                    Some(align) => self.small(align, "an alignment in bytes")?,
                    None => least,
                };
                let value = self.b.buffer_aligned(name, direction, stored, align);
                if may_alias.is_some() {
                    self.b.may_alias();
                }
                if let Some((list, span)) = contents {
                    let contents = self.contents(list, elem, span)?;
                    self.b.contents(contents);
                }
                Ok(Operand::Buffer(Buffer { value, elem, direction: Some(direction) }))
            }
        }
    }

    /// Evaluates the constant contents of a buffer.
    fn contents(&mut self, list: crate::ast::Range, elem: Elem, span: Span) -> Lowering<Vec<u8>> {
        let Elem::Type(ty) = elem else {
            return Err(self.error(
                span,
                "a buffer of structures cannot have contents",
                "a buffer of a scalar or vector type",
            ));
        };
        let mut bytes = Vec::new();
        for &item in self.ast.list(list) {
            let at = self.ast.expr(item).span;
            let operand = self.expr(item, Some(ty))?;
            let operand = self.fit(operand, ty, at)?;
            let Some((_, words)) = self.constant_of(&operand) else {
                return Err(self.not_known(&operand, at, "a constant expression"));
            };
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(ty.bytes() as usize));
            if bytes.len() > MAX_CONTENTS {
                return Err(self.error(span, "contents of more than 1 MiB", "fewer"));
            }
        }
        Ok(bytes)
    }

    /// Returns the meaning of a name that is local to the current kernel or function, or `None` for
    /// any other name.
    fn binding(&self, name: Sym) -> Option<&Binding> {
        let own = self.frames.last().map_or(0, |frame| frame.scopes);
        let names = self.scopes.get(own..).unwrap_or_default();
        names.iter().rev().find(|(sym, _)| *sym == name).map(|(_, binding)| binding)
    }

    fn bind(&mut self, name: Sym, operand: Operand) {
        if let Operand::Value(value) = operand
            && self.b.kernel().value_name(value).is_none()
        {
            self.b.name(value, self.symbols.text(name));
        }
        self.scopes.push((name, Binding::Fixed(operand)));
    }

    /// Returns the name in scope that is most similar to the undefined name `name`, if any is
    /// similar.
    fn near(&self, name: Sym) -> Option<String> {
        let own = self.frames.last().map_or(0, |frame| frame.scopes);
        let names = self.scopes.get(own..).unwrap_or_default().iter().map(|(sym, _)| *sym);
        let all = names.chain(self.globals.keys().copied()).map(|sym| self.symbols.text(sym));
        // The names are sorted, because the order of the hash map must not affect the message.
        let mut all: Vec<&str> = all.collect();
        all.sort_unstable();
        halfbyte_ir::text::closest(self.symbols.text(name), all.into_iter().take(1000)).map(str::to_owned)
    }

    /// Sets the source position of the next instructions.
    fn at(&mut self, span: Span) {
        let span = self.placed(span);
        self.b.set_span(span);
    }
}

/// Formats a list of names: "`x` and `y`".
fn named(names: impl IntoIterator<Item = String>) -> String {
    one_of(names).replace(" or ", " and ")
}

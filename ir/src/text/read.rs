//! The reader: kernels, blocks and names. Statements are read in [`super::inst`].
//!
//! One pass over the tokens with one token of lookahead. After an error it goes on at the next line, and what the lost
//! statement defined counts as being of unknown type. At the end of a kernel the verifier checks it.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::lexer::{Lexer, Tok, Token};
use crate::diag::Diagnostic;
use crate::kernel::{Block, BlockData, Direction, Inst, Kernel, Module, ParamKind, Span, Value, ValueData, ValueDef};
use crate::text::suggest::closest;
use crate::types::Type;
use crate::verify::{self, MAX_DIAGNOSTICS, Part, Partial, Place, StreamPart};

/// Reads a module and verifies its kernels.
///
/// # Errors
/// All that is wrong with the text, in its order; after [`MAX_DIAGNOSTICS`] the reader gives up.
pub fn read(source: &str) -> Result<Module, Vec<Diagnostic>> {
    if u32::try_from(source.len()).is_err() {
        let message = "the text has 4 GiB or more";
        return Err(vec![Diagnostic::new(Span::default(), message).expected("a shorter text")]);
    }
    let mut reader = Reader::new(source);
    let module = reader.module();
    if reader.diagnostics.is_empty() {
        return Ok(module);
    }
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics.truncate(MAX_DIAGNOSTICS);
    Err(diagnostics)
}

/// Says that something was wrong and has been reported.
pub(super) struct Failed;

pub(super) type Reading<T> = Result<T, Failed>;

/// What a name stands for. One that is used first gets its definition later.
struct Named<T> {
    entity: T,
    /// The definition, or the first use.
    span: Span,
    defined: bool,
}

/// The kernel being read.
pub(super) struct Body<'s> {
    pub kernel: Kernel,
    /// The block being read.
    pub block: Option<Block>,
    values: HashMap<&'s str, Named<Value>>,
    blocks: HashMap<&'s str, Named<Block>>,
    /// Names that were used before a definition, in that order.
    early_values: Vec<&'s str>,
    early_blocks: Vec<&'s str>,
    /// Loads and stores that take their type from a base which is no buffer parameter.
    pub untyped: Vec<(Value, Diagnostic)>,
    /// Where the parts of instructions stand, in the order of [`Inst`].
    parts: Vec<(Inst, Part, Span)>,
    pub partial: Partial,
    /// Where a packed kernel says how many items are in a group.
    pub groups: Span,
    /// Where the parts of streams stand, by the stream's number.
    pub stream_parts: Vec<(usize, StreamPart, Span)>,
    /// Streams that have a guard, and its name.
    pub guards: Vec<(usize, &'s str, Span)>,
    header_failed: bool,
}

impl Body<'_> {
    /// The number of the parameter of that name.
    pub fn param_number(&self, name: &str) -> Option<u32> {
        let named = self.values.get(name).filter(|named| named.defined)?;
        match self.kernel.values.get(named.entity)?.def {
            ValueDef::Param(number) if (number as usize) < self.kernel.params.len() => Some(number),
            _ => None,
        }
    }

    /// Whether a name is defined by what could not be made out.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|named| self.partial.unknown.contains(named.entity))
    }

    /// Forgets what was noted of a stream that cannot be made out.
    pub fn forget_stream(&mut self, number: usize) {
        self.stream_parts.retain(|&(stream, ..)| stream != number);
        self.guards.retain(|&(stream, ..)| stream != number);
    }

    /// The next kernel's body, in the memory of this one's tables.
    fn restart(&mut self, name: &str, span: Span) {
        let mut next = Body::new("", span);
        std::mem::swap(&mut next.kernel, &mut self.kernel);
        std::mem::swap(&mut next.values, &mut self.values);
        std::mem::swap(&mut next.blocks, &mut self.blocks);
        std::mem::swap(&mut next.parts, &mut self.parts);
        next.kernel.restart(name, span);
        next.values.clear();
        next.blocks.clear();
        next.parts.clear();
        *self = next;
    }

    fn new(name: &str, span: Span) -> Self {
        let mut kernel = Kernel::new(name);
        kernel.span = span;
        Body {
            kernel,
            block: None,
            values: HashMap::new(),
            blocks: HashMap::new(),
            early_values: Vec::new(),
            early_blocks: Vec::new(),
            untyped: Vec::new(),
            parts: Vec::new(),
            partial: Partial { is_text: true, ..Partial::default() },
            groups: span,
            stream_parts: Vec::new(),
            guards: Vec::new(),
            header_failed: false,
        }
    }

    fn span(&self, place: Place) -> Span {
        match place {
            Place::Kernel => self.kernel.span,
            Place::Groups => self.groups,
            Place::Param(number) => self.kernel.params.get(number).map_or(self.kernel.span, |param| param.span),
            Place::Stream(number, part) => {
                let mut parts = self.stream_parts.iter();
                let part = parts.find(|&&(stream, of, _)| (stream, of) == (number, part)).map(|&(_, _, span)| span);
                part.or(self.kernel.stream_span(number)).unwrap_or(self.kernel.span)
            }
            Place::Block(block) => self.kernel.blocks.get(block).map_or(self.kernel.span, |data| data.span),
            Place::Inst(inst, part) => {
                let at = self.parts.binary_search_by_key(&(inst, part), |&(inst, part, _)| (inst, part));
                let part = at.ok().and_then(|at| self.parts.get(at)).map(|&(_, _, span)| span);
                part.or(self.kernel.insts.get(inst).map(|data| data.span)).unwrap_or_default()
            }
        }
    }
}

/// Among more names than this none is suggested, so that the time for it is bounded.
const MOST_SUGGESTIONS: usize = 1000;

fn undefined_name<T>(sigil: char, name: &str, span: Span, names: &HashMap<&str, Named<T>>) -> Diagnostic {
    let defined = names.iter().filter(|(_, named)| named.defined).map(|(&name, _)| name);
    let near = if names.len() <= MOST_SUGGESTIONS { closest(name, defined) } else { None };
    let what = if sigil == '^' { "the label of a block" } else { "the name of a parameter or result" };
    let expected = near.map_or(what.into(), |near| format!("{what}; did you mean `{sigil}{near}`?"));
    Diagnostic::new(span, format!("`{sigil}{name}` is not defined")).expected(expected)
}

pub(super) struct Reader<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    token: Token,
    /// The end of the token before.
    end: u32,
    /// The start of the line, label or header being read.
    start: u32,
    /// Line breaks mean nothing here: inside brackets.
    free: bool,
    diagnostics: Vec<Diagnostic>,
    pub body: Body<'s>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str) -> Reader<'s> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next();
        Reader {
            source,
            lexer,
            token,
            end: 0,
            start: 0,
            free: false,
            diagnostics: Vec::new(),
            body: Body::new("", Span::default()),
        }
    }

    // Tokens.

    /// The next token of what is being read: [`Tok::End`] where its line ends.
    pub fn tok(&self) -> Tok {
        let ended = self.token.fresh_line && !self.free && self.end > self.start;
        if ended { Tok::End } else { self.token.tok }
    }

    pub fn span(&self) -> Span {
        self.token.span
    }

    /// From the start of a span to the end of what has been read.
    pub fn since(&self, start: u32) -> Span {
        Span { start, end: self.end.max(start) }
    }

    pub fn source(&self, span: Span) -> &'s str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// The text of the next token, without a sigil.
    pub fn text(&self) -> &'s str {
        let text = self.source(self.token.span);
        match self.token.tok {
            Tok::Value | Tok::Block | Tok::Kernel => text.get(1..).unwrap_or_default(),
            _ => text,
        }
    }

    pub fn bump(&mut self) -> Span {
        let span = self.token.span;
        self.end = span.end;
        self.token = self.lexer.next();
        span
    }

    pub fn eat(&mut self, tok: Tok) -> bool {
        let found = self.tok() == tok;
        if found {
            self.bump();
        }
        found
    }

    /// Takes a token of that kind, giving its text and place.
    pub fn expect(&mut self, tok: Tok, expected: &str) -> Reading<(&'s str, Span)> {
        if self.tok() != tok {
            return Err(self.unexpected(expected));
        }
        let text = self.text();
        Ok((text, self.bump()))
    }

    pub fn mark(&mut self, mark: u8) -> Reading<Span> {
        match mark.is_ascii() && self.tok() == Tok::Mark(mark) {
            true => Ok(self.bump()),
            false => Err(self.unexpected(format!("`{}`", char::from(mark)))),
        }
    }

    /// Notes where a part of the instruction being read stands.
    pub fn part(&mut self, part: Part, span: Span) {
        self.body.parts.push((self.body.kernel.insts.next_key(), part, span));
    }

    pub fn at_word(&self, word: &str) -> bool {
        self.tok() == Tok::Word && self.text() == word
    }

    /// Sets whether line breaks count; to be called before the bracket is taken.
    pub fn free(&mut self, free: bool) {
        self.free = free;
    }

    // Errors.

    pub fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        self.diagnostics.push(diagnostic);
        self.body.partial.incomplete = true;
        Failed
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>, expected: impl Into<String>) -> Failed {
        self.report(Diagnostic::new(span, message).expected(expected))
    }

    /// Reports the next token.
    pub fn unexpected(&mut self, expected: impl Into<String>) -> Failed {
        let line_end = Span { start: self.end, end: self.end };
        let (span, message) = match (self.tok(), self.token.tok) {
            (Tok::End, Tok::End) => (self.token.span, "unexpected end of the text".into()),
            (Tok::End, _) => (line_end, "unexpected end of the line".into()),
            (Tok::OpenText, _) => (self.token.span, "a string without its closing quote".into()),
            _ => {
                let text: String = self.source(self.token.span).chars().take(40).flat_map(char::escape_debug).collect();
                (self.token.span, format!("unexpected `{}`", text.replace("\\\"", "\"")))
            }
        };
        self.error(span, message, expected)
    }

    fn gives_up(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    /// Goes to the next line that can begin a statement, or a closing brace, past at least one token since the item
    /// began.
    fn skip_line(&mut self) {
        self.free = false;
        if self.end <= self.start {
            self.bump();
        }
        loop {
            match self.token.tok {
                Tok::End | Tok::Mark(b'}') => return,
                Tok::Number | Tok::Mark(_) => {}
                _ if self.token.fresh_line => return,
                _ => {}
            }
            self.bump();
        }
    }

    // Module and kernels.

    fn module(&mut self) -> Module {
        let mut module = Module::default();
        let mut names: HashMap<&'s str, Span> = HashMap::new();
        while self.token.tok != Tok::End && !self.gives_up() {
            self.start = self.token.span.start;
            self.free = false;
            if !self.at_word("kernel") {
                self.unexpected("`kernel`");
                self.skip_line();
                while self.token.tok != Tok::End && !(self.token.fresh_line && self.at_kernel()) {
                    self.bump();
                }
                continue;
            }
            let (name, span) = self.kernel();
            if let Some(&first) = names.get(name) {
                let diagnostic = Diagnostic::new(span, format!("a second kernel @{name}"));
                self.report(diagnostic.expected("another name").note(Some(first), "the first is here"));
            }
            names.entry(name).or_insert(span);
            // The copy is as large as the kernel; what is read into grows, and is used again.
            module.kernels.push(self.body.kernel.clone());
        }
        module
    }

    fn at_kernel(&self) -> bool {
        self.token.tok == Tok::Word && self.text() == "kernel"
    }

    fn kernel(&mut self) -> (&'s str, Span) {
        self.free = true;
        self.bump();
        let (name, span) = match self.tok() {
            Tok::Kernel => (self.text(), self.bump()),
            _ => ("", self.token.span),
        };
        self.body.restart(name, span);
        let header = if name.is_empty() { Err(self.unexpected("the kernel's name: `@name`")) } else { self.header() };
        if header.is_err() {
            self.body.header_failed = true;
            let at_body =
                |reader: &Self| reader.token.fresh_line && (reader.token.tok == Tok::Block || reader.at_kernel());
            while !matches!(self.token.tok, Tok::End | Tok::Mark(b'}')) && !at_body(self) {
                self.bump();
            }
        }
        self.free = false;
        if header.is_ok() || matches!(self.token.tok, Tok::Block | Tok::Mark(b'}')) {
            self.blocks();
        }
        self.finish();
        (name, span)
    }

    fn header(&mut self) -> Reading<()> {
        self.mark(b'(')?;
        let mut first = true;
        while !self.eat(Tok::Mark(b')')) {
            if !std::mem::take(&mut first) && !self.eat(Tok::Mark(b',')) {
                return Err(self.unexpected("`,` or `)`"));
            }
            self.param()?;
        }
        self.groups()?;
        self.mark(b'{')?;
        Ok(())
    }

    fn param(&mut self) -> Reading<()> {
        let (name, span) = self.expect(Tok::Value, "a parameter: `%name`")?;
        self.mark(b':')?;
        let direction = match self.text() {
            "in" => Some(Direction::In),
            "out" => Some(Direction::Out),
            "inout" => Some(Direction::InOut),
            _ => None,
        };
        let kind = match direction.filter(|_| self.tok() == Tok::Word) {
            None => ParamKind::Scalar(self.type_name("a type, or `in`, `out` or `inout` and a type")?),
            Some(direction) => {
                self.bump();
                let elem = self.type_name("the element type")?;
                let align = match self.at_word("align") {
                    true => {
                        self.bump();
                        self.size("an alignment in bytes")?.0
                    }
                    false => elem.bytes(),
                };
                ParamKind::Buffer { direction, elem, align }
            }
        };
        let span = self.since(span.start);
        let value = self.body.kernel.add_param(name, kind, span);
        self.claim(name, span, value);
        Ok(())
    }

    pub fn type_name(&mut self, expected: &str) -> Reading<Type> {
        let ty = Type::from_name(self.text()).filter(|_| self.tok() == Tok::Word);
        let Some(ty) = ty else {
            let near = match self.tok() {
                Tok::Word => closest(self.text(), Type::ALL.iter().map(|ty| ty.name())),
                _ => None,
            };
            let expected = near.map_or(expected.into(), |near| format!("{expected}; did you mean `{near}`?"));
            return Err(self.unexpected(expected));
        };
        self.bump();
        Ok(ty)
    }

    fn blocks(&mut self) {
        while !self.gives_up() {
            self.start = self.token.span.start;
            self.free = false;
            match self.token.tok {
                Tok::Mark(b'}') => {
                    self.bump();
                    return;
                }
                Tok::End => {
                    self.unexpected("`}`");
                    return;
                }
                Tok::Word if self.at_kernel() => {
                    self.unexpected(format!("`}}` at the end of @{}", self.body.kernel.name));
                    return;
                }
                Tok::Block => {
                    if self.label().is_err() {
                        self.skip_line();
                    }
                }
                Tok::Word if self.at_word("stream") => {
                    if self.stream().is_err() {
                        self.skip_line();
                    }
                }
                _ => self.line(),
            }
        }
    }

    fn label(&mut self) -> Reading<()> {
        let (name, span) = self.expect(Tok::Block, "a label")?;
        let block = self.define_block(name, span);
        self.body.block = Some(block);
        self.body.kernel.blocks[block].span = span;
        self.body.kernel.layout.push(block);
        if self.tok() == Tok::Mark(b'(') {
            self.free(true);
            self.bump();
            loop {
                self.block_param(block)?;
                if self.eat(Tok::Mark(b')')) {
                    break;
                }
                if !self.eat(Tok::Mark(b',')) {
                    return Err(self.unexpected("`,` or `)`"));
                }
            }
            self.free(false);
        }
        self.mark(b':')?;
        Ok(())
    }

    fn block_param(&mut self, block: Block) -> Reading<()> {
        let (name, span) = self.expect(Tok::Value, "a block parameter: `%name: type`")?;
        let ty = self.mark(b':').and_then(|_| self.type_name("a type"));
        let number = self.body.kernel.block_params(block).len() as u32;
        let value =
            self.define_value(name, span, *ty.as_ref().unwrap_or(&Type::I32), ValueDef::BlockParam(block, number));
        let kernel = &mut self.body.kernel;
        kernel.blocks[block].params.push(value, &mut kernel.pool);
        ty.map(|_| ()).inspect_err(|_| {
            self.body.partial.unknown.insert(value);
        })
    }

    fn line(&mut self) {
        let block = match self.body.block {
            Some(block) => block,
            None => {
                self.unexpected("a label before the first instruction: `^entry:`");
                let block = self.body.kernel.add_block();
                *self.body.block.insert(block)
            }
        };
        let result = (self.token.tok == Tok::Value).then(|| (self.text(), self.token.span));
        let parts = self.body.parts.len();
        match self.statement(block) {
            Ok(()) => {
                self.body.partial.open_ended.remove(block);
            }
            Err(Failed) => {
                self.body.parts.truncate(parts);
                self.body.partial.open_ended.insert(block);
                if let Some((name, span)) = result {
                    self.poison(name, span);
                }
                self.skip_line();
            }
        }
    }

    /// Whether a statement can end here: with its line, or with the kernel.
    pub fn at_end(&self) -> bool {
        matches!(self.tok(), Tok::End | Tok::Mark(b'}'))
    }

    pub fn end_of_line(&mut self) -> Reading<()> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    /// Reports names without definition, and verifies.
    fn finish(&mut self) {
        self.resolve_guards();
        let body = &mut self.body;
        let mut undefined = Vec::new();
        for name in std::mem::take(&mut body.early_values) {
            if let Some(named) = body.values.get(name).filter(|named| !named.defined) {
                body.partial.unknown.insert(named.entity);
                if !body.header_failed && undefined.len() < MAX_DIAGNOSTICS {
                    undefined.push(undefined_name('%', name, named.span, &body.values));
                }
            }
        }
        for name in std::mem::take(&mut body.early_blocks) {
            if let Some(named) =
                body.blocks.get(name).filter(|named| !named.defined && undefined.len() < 2 * MAX_DIAGNOSTICS)
            {
                undefined.push(undefined_name('^', name, named.span, &body.blocks));
            }
        }
        // Where nothing else is wrong, what such an access goes by is itself such an access.
        let (follows, first): (Vec<_>, Vec<_>) =
            std::mem::take(&mut body.untyped).into_iter().partition(|(base, _)| body.partial.unknown.contains(*base));
        let alone = first.is_empty() && undefined.is_empty() && self.diagnostics.is_empty();
        let told = if alone { follows } else { first };
        undefined.extend(told.into_iter().map(|(_, diagnostic)| diagnostic));
        for diagnostic in undefined {
            self.report(diagnostic);
        }
        let findings = verify::check(&self.body.kernel, &self.body.partial);
        if !findings.is_empty() {
            self.body.parts.sort_unstable_by_key(|&(inst, part, _)| (inst, part));
            for finding in findings {
                let span = self.body.span(finding.place);
                let diagnostic = finding.diagnostic(&self.body.kernel, span);
                self.report(diagnostic);
            }
        }
    }

    // Names.

    /// The value of that name, defined or not.
    pub fn value(&mut self, name: &'s str, span: Span) -> Value {
        let body = &mut self.body;
        match body.values.entry(name) {
            Entry::Occupied(named) => named.get().entity,
            Entry::Vacant(vacant) => {
                let nowhere = ValueData { ty: Type::I32, def: ValueDef::Param(u32::MAX) };
                let entity = body.kernel.values.push(nowhere);
                vacant.insert(Named { entity, span, defined: false });
                body.early_values.push(name);
                entity
            }
        }
    }

    /// The block of that name, defined or not.
    pub fn block(&mut self, name: &'s str, span: Span) -> Block {
        let body = &mut self.body;
        match body.blocks.entry(name) {
            Entry::Occupied(named) => named.get().entity,
            Entry::Vacant(vacant) => {
                let entity = body.kernel.blocks.push(BlockData::default());
                vacant.insert(Named { entity, span, defined: false });
                body.early_blocks.push(name);
                entity
            }
        }
    }

    /// Makes an existing value the one of that name, unless there is one.
    pub fn claim(&mut self, name: &'s str, span: Span, entity: Value) {
        match self.body.values.entry(name) {
            Entry::Occupied(named) => {
                let first = named.get().span;
                self.defined_twice(format!("%{name}"), span, first);
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Named { entity, span, defined: true });
            }
        }
    }

    fn defined_twice(&mut self, name: String, span: Span, first: Span) {
        let diagnostic = Diagnostic::new(span, format!("`{name}` is defined twice"));
        self.report(diagnostic.expected("another name").note(Some(first), "the first is here"));
    }

    /// Defines a value.
    pub fn define_value(&mut self, name: &'s str, span: Span, ty: Type, def: ValueDef) -> Value {
        let data = ValueData { ty, def };
        let Body { kernel, values, .. } = &mut self.body;
        let (value, first) = match values.entry(name) {
            Entry::Occupied(mut named) if !named.get().defined => {
                let named = named.get_mut();
                (named.defined, named.span) = (true, span);
                kernel.values[named.entity] = data;
                (named.entity, None)
            }
            Entry::Occupied(named) => (kernel.values.push(data), Some(named.get().span)),
            Entry::Vacant(vacant) => {
                let entity = kernel.values.push(data);
                vacant.insert(Named { entity, span, defined: true });
                (entity, None)
            }
        };
        kernel.set_value_name(value, name);
        if let Some(first) = first {
            self.defined_twice(format!("%{name}"), span, first);
        }
        value
    }

    /// Defines a value about which nothing is known.
    pub fn poison(&mut self, name: &'s str, span: Span) {
        let known = self.body.values.get(name).is_some_and(|named| named.defined);
        if !known {
            let value = self.define_value(name, span, Type::I32, ValueDef::Param(u32::MAX));
            self.body.partial.unknown.insert(value);
        }
    }

    fn define_block(&mut self, name: &'s str, span: Span) -> Block {
        let body = &mut self.body;
        let (block, first) = match body.blocks.entry(name) {
            Entry::Occupied(mut named) if !named.get().defined => {
                let named = named.get_mut();
                (named.defined, named.span) = (true, span);
                (named.entity, None)
            }
            Entry::Occupied(named) => (body.kernel.blocks.push(BlockData::default()), Some(named.get().span)),
            Entry::Vacant(vacant) => {
                let entity = body.kernel.blocks.push(BlockData::default());
                vacant.insert(Named { entity, span, defined: true });
                (entity, None)
            }
        };
        body.kernel.set_block_name(block, name);
        if let Some(first) = first {
            self.defined_twice(format!("^{name}"), span, first);
        }
        block
    }
}

//! Parser for kernels, blocks and names. [`super::inst`] parses statements.
//!
//! The parser makes one pass with one token of lookahead. After an error it continues at the next line, and the result
//! of the failed statement gets an unknown type. At the end of each kernel, the parser verifies the kernel.

use halfbyte_abi::{Direction, ParamKind, Type};

use super::lexer::{Lexer, Name, Tok};
use super::names::{Named, Names};
use crate::diag::{Diagnostic, Note};
use crate::kernel::{Block, BlockData, Inst, Kernel, Value, ValueData, ValueDef};
use crate::span::Span;
use crate::text::suggest::closest;
use crate::text::suggestions;
use crate::text::{MAY_ALIAS, VERSION};
use crate::wellformed::{self, InstPart, MAX_DIAGNOSTICS, Partial, StreamPart, Subject};

/// Marker for an error that has been reported.
pub(super) struct Failed;

pub(super) type Reading<T> = Result<T, Failed>;

/// State of the kernel that is being parsed.
pub(super) struct Body<'s> {
    pub kernel: Kernel,
    /// Current block.
    pub block: Option<Block>,
    /// Instructions of the current block.
    pub insts: Vec<Inst>,
    pub values: Names<'s, Value>,
    pub blocks: Names<'s, Block>,
    /// Loads and stores without a type whose base is not a buffer parameter: the base, and the error to report.
    pub untyped: Vec<(Value, Diagnostic)>,
    /// Spans of the parts of instructions, in the order of the instructions' numbers.
    parts: Vec<(Inst, InstPart, Span)>,
    pub partial: Partial,
    /// Span of the group size of a packed kernel.
    pub groups: Span,
    /// Spans of the parts of stream declarations, with the number of the stream.
    pub stream_parts: Vec<(usize, StreamPart, Span)>,
    /// Numbers of the streams that have a guard, with the name of the guard.
    pub guards: Vec<(usize, Name)>,
    header_failed: bool,
    /// Span of the kernel's opening brace.
    open: Option<Span>,
}

impl<'s> Body<'s> {
    /// Returns the number of the parameter with a name.
    pub(super) fn param_number(&self, name: Name) -> Option<u32> {
        let named = self.values.get(name).filter(|named| named.defined)?;
        match self.kernel.values.get(named.entity)?.def {
            ValueDef::Param(number) if (number as usize) < self.kernel.params.len() => Some(number),
            _ => None,
        }
    }

    /// Returns `true` if a name is undefined because its definition could not be parsed.
    pub(super) fn is_unknown(&self, name: Name) -> bool {
        self.values.get(name).is_some_and(|named| self.partial.unknown.contains(named.entity))
    }

    /// Ends the current block and begins another block.
    fn begin_block(&mut self, block: Option<Block>) {
        if let Some(block) = std::mem::replace(&mut self.block, block) {
            self.kernel.blocks[block].insts = self.insts.as_slice().into();
            self.insts.clear();
        }
    }

    /// Removes the recorded parts of a stream that failed to parse.
    pub(super) fn forget_stream(&mut self, number: usize) {
        self.stream_parts.retain(|&(stream, ..)| stream != number);
        self.guards.retain(|&(stream, ..)| stream != number);
    }

    fn new(source: &'s str) -> Self {
        Body {
            kernel: Kernel::new(""),
            block: None,
            insts: Vec::new(),
            values: Names::new(source),
            blocks: Names::new(source),
            untyped: Vec::new(),
            parts: Vec::new(),
            partial: Partial { is_text: true, ..Partial::default() },
            groups: Span::default(),
            stream_parts: Vec::new(),
            guards: Vec::new(),
            header_failed: false,
            open: None,
        }
    }

    /// Resets the state for the next kernel, but keeps the memory of the tables.
    fn restart(&mut self, name: &str, span: Span) {
        self.kernel.restart(name, span);
        self.block = None;
        self.insts.clear();
        self.values.clear();
        self.blocks.clear();
        self.untyped.clear();
        self.parts.clear();
        self.partial = Partial { is_text: true, ..Partial::default() };
        self.groups = span;
        self.stream_parts.clear();
        self.guards.clear();
        self.header_failed = false;
        self.open = None;
    }

    fn span(&self, place: Subject) -> Span {
        match place {
            Subject::Kernel => self.kernel.span,
            Subject::Groups => self.groups,
            Subject::Param(number) => self.kernel.params.get(number).map_or(self.kernel.span, |param| param.span),
            Subject::Stream(number, part) => {
                let mut parts = self.stream_parts.iter();
                let part = parts.find(|&&(stream, of, _)| (stream, of) == (number, part)).map(|&(_, _, span)| span);
                part.or(self.kernel.stream_span(number)).unwrap_or(self.kernel.span)
            }
            Subject::Array(number) => self.kernel.arrays.get(number).map_or(self.kernel.span, |array| array.span),
            Subject::Block(block) => self.kernel.blocks.get(block).map_or(self.kernel.span, |data| data.span),
            Subject::Inst(inst, part) => {
                let at = self.parts.binary_search_by_key(&(inst, part), |&(inst, part, _)| (inst, part));
                let part = at.ok().and_then(|at| self.parts.get(at)).map(|&(_, _, span)| span);
                part.or(self.kernel.insts.get(inst).map(|data| data.span)).unwrap_or_default()
            }
        }
    }
}

/// Maximum number of names to which an undefined name is compared for a suggestion. The limit
/// bounds the time of the search.
const MOST_SUGGESTIONS: usize = 1000;

fn undefined_name<T: Copy>(sigil: char, named: &Named<T>, names: &Names<'_, T>) -> Diagnostic {
    let name = names.text(named.name);
    let defined = names.iter().filter(|named| named.defined).map(|named| names.text(named.name));
    let near = if names.iter().len() <= MOST_SUGGESTIONS { closest(name, defined) } else { None };
    let what = if sigil == '^' { "the label of a block" } else { "the name of a parameter or result" };
    let expected = near.map_or(what.into(), |near| format!("{what}; did you mean `{sigil}{near}`?"));
    let diagnostic = Diagnostic::new(named.span, format!("`{sigil}{name}` is not defined")).expected(expected);
    match suggestions::place(name).filter(|_| sigil == '%' && near.is_none()) {
        Some(op) => diagnostic.help(format!("define it with an op: `%{name} = {op}`")),
        None => diagnostic,
    }
}

pub(super) struct Reader<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    diagnostics: Vec<Diagnostic>,
    /// `true` if the spans of instruction parts are recorded. Only the errors of an invalid kernel need them.
    notes_parts: bool,
    pub body: Body<'s>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s str) -> Reader<'s> {
        Reader {
            source,
            lexer: Lexer::new(source),
            diagnostics: Vec::new(),
            notes_parts: false,
            body: Body::new(source),
        }
    }

    /// Returns the kind of the next token; [`Tok::End`] at the end of the line.
    #[inline]
    pub(super) fn tok(&self) -> Tok {
        self.lexer.tok()
    }

    /// Returns the byte offset of the next token.
    #[inline]
    pub(super) fn at(&self) -> u32 {
        self.lexer.at()
    }

    /// Returns the span of the next token.
    pub(super) fn span(&self) -> Span {
        self.lexer.span()
    }

    /// Returns the span from `start` to the end of the last consumed token.
    #[inline]
    pub(super) fn since(&self, start: u32) -> Span {
        Span { start, end: self.lexer.end().max(start) }
    }

    #[inline]
    pub(super) fn source(&self, span: Span) -> &'s str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Returns the source text from byte offset `start` on.
    pub(super) fn source_from(&self, start: u32) -> &'s str {
        self.source.get(start as usize..).unwrap_or_default()
    }

    /// Returns the text of a name, without its sigil.
    #[inline]
    pub(super) fn name_text(&self, Name { span: Span { start, end }, .. }: Name) -> &'s str {
        self.source(Span { start: start + 1, end })
    }

    /// Returns the text of the next token.
    pub(super) fn text(&self) -> &'s str {
        self.source(self.span())
    }

    pub(super) fn bump(&mut self) -> Span {
        self.lexer.bump()
    }

    #[inline]
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.tok() == Tok::Punctuation(mark);
        if found {
            self.lexer.mark();
        }
        found
    }

    #[inline]
    pub(super) fn mark(&mut self, mark: u8) -> Reading<Span> {
        match self.tok() == Tok::Punctuation(mark) {
            true => Ok(self.lexer.mark()),
            false => Err(self.unexpected(format!("`{}`", char::from(mark)))),
        }
    }

    /// Consumes the next token if it has kind `tok`; otherwise reports an error.
    pub(super) fn expect(&mut self, tok: Tok, expected: &str) -> Reading<(&'s str, Span)> {
        if self.tok() != tok {
            return Err(self.unexpected(expected));
        }
        let span = self.bump();
        Ok((self.source(span), span))
    }

    /// Consumes the next token, which is a name. Names are the most frequent tokens, so this
    /// function is always inlined.
    #[inline(always)]
    pub(super) fn take_name(&mut self) -> Name {
        self.lexer.name()
    }

    /// Returns the name whose sigil is at byte offset `start`. The sigil may be missing.
    pub(super) fn name_at(&self, start: u32) -> Name {
        self.lexer.name_from(start)
    }

    /// Consumes the name of a value or block, which is a token of kind `tok`.
    #[inline]
    pub(super) fn name(&mut self, tok: Tok, expected: &str) -> Reading<Name> {
        match self.tok() == tok {
            true => Ok(self.lexer.name()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Consumes a name or keyword without a sigil; otherwise reports an error.
    #[inline]
    pub(super) fn word(&mut self, expected: &str) -> Reading<Span> {
        if self.tok() != Tok::Word {
            return Err(self.unexpected(expected));
        }
        let span = self.lexer.word();
        self.lexer.skip(span.len());
        Ok(span)
    }

    /// Records the span of a part of the current instruction, if spans are recorded.
    #[inline]
    pub(super) fn part(&mut self, part: InstPart, span: Span) {
        if self.notes_parts {
            self.body.parts.push((self.body.kernel.insts.next_key(), part, span));
        }
    }

    /// Moves the parts recorded for `inst` to the next instruction. Used when a constant is
    /// inserted in front of the current instruction.
    pub(super) fn put_off(&mut self, inst: Inst) {
        let next = self.body.kernel.insts.next_key();
        for (of, ..) in self.body.parts.iter_mut().rev().take_while(|(of, ..)| *of == inst) {
            *of = next;
        }
    }

    /// Returns the position of the next token, for backtracking.
    pub(super) fn place(&self) -> Lexer<'s> {
        self.lexer.clone()
    }

    /// Returns to an earlier position of the parser.
    pub(super) fn go_to(&mut self, place: Lexer<'s>) {
        self.lexer = place;
    }

    #[inline]
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.tok() == Tok::Word && self.lexer.is_word(word)
    }

    /// Consumes the next token if it is the keyword `word`. Returns `true` if the token was
    /// consumed.
    #[inline]
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.lexer.skip(word.len());
        }
        found
    }

    /// Sets whether line breaks are ignored. Must be called before the opening or closing bracket is consumed.
    pub(super) fn free(&mut self, free: bool) {
        self.lexer.free(free);
    }

    pub(super) fn is_free(&self) -> bool {
        self.lexer.is_free()
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        self.diagnostics.push(diagnostic);
        self.body.partial.incomplete = true;
        Failed
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, expected: impl Into<String>) -> Failed {
        self.report(Diagnostic::new(span, message).expected(expected))
    }

    /// Adds a help text to the last error.
    pub(super) fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.diagnostics.last_mut() {
            last.help = Some(help.into());
        }
    }

    /// Adds a note about the kernel's unclosed brace to the last error.
    fn note_open_brace(&mut self) {
        if let (Some(last), Some(open)) = (self.diagnostics.last_mut(), self.body.open) {
            last.notes.push(Note { span: Some(open), message: format!("@{} opens here", self.body.kernel.name) });
        }
    }

    /// Reports the next token as unexpected.
    pub(super) fn unexpected(&mut self, expected: impl Into<String>) -> Failed {
        let mut expected = expected.into();
        let (end, span) = (self.lexer.end(), self.span());
        let (span, message) = match (self.tok(), self.lexer.tok_of_any_line()) {
            (Tok::End, Tok::End) => (span, "unexpected end of the text".into()),
            (Tok::End, _) => (Span { start: end, end }, "unexpected end of the line".into()),
            (Tok::OpenText, _) => (span, "a string without its closing quote".into()),
            _ => {
                let text: String = self.source(span).chars().take(40).flat_map(char::escape_debug).collect();
                (span, format!("unexpected `{}`", text.replace("\\\"", "\"")))
            }
        };
        let rest = self.source.get(span.start as usize..).unwrap_or_default();
        let is_comment = ["//", "/*", "#", "--"].iter().any(|mark| rest.starts_with(mark));
        if self.tok() == Tok::Word {
            let word = self.text();
            let sigils = [("%name", '%'), ("^name", '^'), ("@name", '@')];
            let sigil = sigils.into_iter().find(|(name, _)| expected.contains(name)).map(|(_, sigil)| sigil);
            let is_value = || self.body.values.iter().any(|named| self.body.values.text(named.name) == word);
            if let Some(sigil) = sigil.filter(|&sigil| sigil != '%' || is_value()) {
                expected += &format!("; did you mean `{sigil}{word}`?");
            }
        }
        let failed = self.error(span, message, expected);
        if is_comment {
            self.help("a comment begins with `;` and ends with its line");
        }
        failed
    }

    /// Returns `true` if an error has been reported.
    pub(super) fn has_faults(&self) -> bool {
        !self.diagnostics.is_empty()
    }

    /// Returns the errors in the order in which they were found.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    fn gives_up(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    /// Skips to the next line that can begin a statement, or to a closing brace. Consumes at least
    /// one token of the current statement.
    fn skip_line(&mut self) {
        self.free(false);
        if !self.lexer.has_begun() {
            self.bump();
        }
        loop {
            match self.lexer.tok_of_any_line() {
                Tok::End | Tok::Punctuation(b'}') => return,
                Tok::Number | Tok::Punctuation(_) => {}
                _ if self.lexer.fresh_line() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Parses the line that declares the version of the IR text, if the text begins with such a line. If the version is
    /// not supported, the rest of the text is skipped, because further errors would be misleading.
    pub(super) fn version(&mut self) {
        if self.lexer.tok_of_any_line() == Tok::End {
            return;
        }
        self.lexer.begin();
        if !self.eat_word("halfbyte") {
            return;
        }
        match self.expect(Tok::Number, "the version of the language") {
            Ok((text, _)) if text.parse() == Ok(VERSION) => {
                if self.tok() != Tok::End {
                    self.unexpected("the end of the line");
                    self.skip_line();
                }
            }
            Ok((text, span)) => {
                self.error(span, format!("version {text} of the language"), format!("version {VERSION}"));
                while self.lexer.tok_of_any_line() != Tok::End {
                    self.bump();
                }
            }
            Err(Failed) => self.skip_line(),
        }
    }

    /// Finds the next kernel. Returns `false` if there is no further kernel, or if there are too
    /// many errors to continue.
    pub(super) fn find_kernel(&mut self) -> bool {
        while self.lexer.tok_of_any_line() != Tok::End && !self.gives_up() {
            self.lexer.begin();
            if self.at_word("kernel") {
                return true;
            }
            let is_word = self.tok() == Tok::Word;
            self.unexpected("`kernel`");
            if is_word {
                self.help("a kernel begins with `kernel @name(%x: in f16x2, %n: i32) {`");
            }
            self.skip_line();
            while self.lexer.tok_of_any_line() != Tok::End && !(self.lexer.fresh_line() && self.at_kernel()) {
                self.bump();
            }
        }
        false
    }

    fn at_kernel(&self) -> bool {
        self.lexer.tok_of_any_line() == Tok::Word && self.lexer.is_word("kernel")
    }

    /// Parses a kernel. The first kernel with errors is parsed again to record the spans of
    /// instruction parts, which the errors need.
    pub(super) fn kernel_with_parts(&mut self) -> (&'s str, Span) {
        let (start, reported) = (self.lexer.clone(), self.diagnostics.len());
        let (name, span) = self.kernel();
        if self.notes_parts || self.diagnostics.len() == reported {
            return (name, span);
        }
        self.notes_parts = true;
        self.lexer = start;
        self.diagnostics.truncate(reported);
        self.kernel()
    }

    fn kernel(&mut self) -> (&'s str, Span) {
        self.free(true);
        self.bump();
        let (name, span) = match self.tok() {
            Tok::Kernel => {
                let name = self.lexer.name();
                (self.name_text(name), name.span)
            }
            _ => ("", self.span()),
        };
        self.body.restart(name, span);
        let header = if name.is_empty() { Err(self.unexpected("the kernel's name: `@name`")) } else { self.header() };
        if header.is_err() {
            self.body.header_failed = true;
            let at_body = |reader: &Self| {
                reader.lexer.fresh_line() && (reader.lexer.tok_of_any_line() == Tok::Block || reader.at_kernel())
            };
            while !matches!(self.lexer.tok_of_any_line(), Tok::End | Tok::Punctuation(b'}')) && !at_body(self) {
                self.bump();
            }
        }
        self.free(false);
        if header.is_ok() || matches!(self.lexer.tok_of_any_line(), Tok::Block | Tok::Punctuation(b'}')) {
            self.blocks();
        }
        self.finish();
        (name, span)
    }

    fn header(&mut self) -> Reading<()> {
        self.mark(b'(')?;
        let mut first = true;
        while !self.eat(b')') {
            if !std::mem::take(&mut first) && !self.eat(b',') {
                return Err(self.unexpected("`,` or `)`"));
            }
            self.param()?;
        }
        self.groups()?;
        self.body.open = Some(self.mark(b'{')?);
        Ok(())
    }

    fn param(&mut self) -> Reading<()> {
        let name = self.name(Tok::Value, "a parameter: `%name`").inspect_err(|_| {
            self.help("declare a parameter as `%a: i32`, or a buffer as `%x: in f16x2`, with `in`, `out` or `inout`");
        })?;
        self.mark(b':')?;
        let directions = [Direction::In, Direction::Out, Direction::InOut];
        let kind = match directions.into_iter().find(|direction| self.eat_word(direction.name())) {
            None => {
                let ty = self
                    .type_name("a type, or `in`, `out` or `inout` and a type")
                    .inspect_err(|_| self.misplaced(name))?;
                match self.tok() {
                    Tok::Punctuation(b'*' | b'[') => self.pointer(name, ty)?,
                    _ => ParamKind::Scalar(ty),
                }
            }
            Some(direction) => {
                let may_alias = self.eat_word(MAY_ALIAS);
                let elem = self.type_name("the element type")?;
                let align = match self.eat_word("align") {
                    true => self.size("an alignment in bytes")?.0,
                    false => elem.bytes(),
                };
                ParamKind::Buffer { direction, elem, align, may_alias }
            }
        };
        if self.at_word(MAY_ALIAS) {
            self.unexpected("`,` or `)`");
            self.misplaced(name);
            return Err(Failed);
        }
        let span = self.since(name.span.start);
        let value = self.body.kernel.add_param(self.name_text(name), kind, span);
        self.claim(name, span, value);
        if let ParamKind::Buffer { elem, .. } = kind
            && self.eat(b'=')
        {
            let contents = self.contents(elem)?;
            self.body.kernel.set_contents(contents.into());
        }
        Ok(())
    }

    /// Adds help about the right position of `may_alias`, if `may_alias` is the unexpected token.
    fn misplaced(&mut self, name: Name) {
        if self.at_word(MAY_ALIAS) {
            let name = self.source(name.span);
            self.help(format!("declare a buffer that may overlap others as `{name}: inout {MAY_ALIAS} i32`"));
        }
    }

    /// Reports a buffer parameter in C syntax, such as `float* x`. Returns the kind of the intended parameter.
    fn pointer(&mut self, name: Name, elem: Type) -> Reading<ParamKind> {
        self.unexpected("`,` or `)`");
        self.help(format!("declare a buffer as `{}: in {elem}`, with `in`, `out` or `inout`", self.source(name.span)));
        if self.eat(b'[') {
            if self.tok() == Tok::Number {
                self.bump();
            }
            self.mark(b']')?;
        } else {
            self.bump();
        }
        Ok(ParamKind::Buffer { direction: Direction::InOut, elem, align: elem.bytes(), may_alias: false })
    }

    pub(super) fn type_name(&mut self, expected: &str) -> Reading<Type> {
        if self.tok() != Tok::Word {
            return Err(self.unexpected(expected));
        }
        let span = self.lexer.word();
        let word = self.source(span);
        let Some(ty) = Type::from_name(word) else {
            let expected =
                suggestions::ty(word).map_or(expected.into(), |meant| format!("{expected}; did you mean {meant}?"));
            return Err(self.unexpected(expected));
        };
        self.lexer.skip(span.len());
        Ok(ty)
    }

    fn blocks(&mut self) {
        while !self.gives_up() {
            self.lexer.begin();
            match self.lexer.tok_of_any_line() {
                Tok::Punctuation(b'}') => {
                    self.bump();
                    return;
                }
                Tok::End => {
                    self.unexpected("`}`");
                    self.note_open_brace();
                    return;
                }
                Tok::Word if self.at_kernel() => {
                    self.unexpected(format!("`}}` at the end of @{}", self.body.kernel.name));
                    self.note_open_brace();
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
                _ => match self.at_array() {
                    Some(space) => {
                        if self.array(space).is_err() {
                            self.skip_line();
                        }
                    }
                    None => self.line(),
                },
            }
        }
    }

    fn label(&mut self) -> Reading<()> {
        let name = self.name(Tok::Block, "a label")?;
        let block = self.define_block(name);
        self.body.begin_block(Some(block));
        self.body.kernel.blocks[block].span = name.span;
        self.body.kernel.layout.push(block);
        if self.tok() == Tok::Punctuation(b'(') {
            self.free(true);
            self.bump();
            loop {
                self.block_param(block)?;
                if self.eat(b')') {
                    break;
                }
                if !self.eat(b',') {
                    return Err(self.unexpected("`,` or `)`"));
                }
            }
            self.free(false);
        }
        self.mark(b':')?;
        Ok(())
    }

    fn block_param(&mut self, block: Block) -> Reading<()> {
        let name = self.name(Tok::Value, "a block parameter: `%name: type`")?;
        let ty = self.mark(b':').and_then(|_| self.type_name("a type"));
        let number = self.body.kernel.block_params(block).len() as u32;
        let value = self.define_value(name, *ty.as_ref().unwrap_or(&Type::I32), ValueDef::BlockParam(block, number));
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
                // A label without `^` is reported later, when it is parsed.
                let rest = self.source.get(self.span().end as usize..).unwrap_or_default();
                if self.tok() != Tok::Word || !rest.starts_with(':') {
                    self.unexpected("a label before the first instruction: `^entry:`");
                }
                let block = self.body.kernel.add_block();
                *self.body.block.insert(block)
            }
        };
        let (start, has_result) = (self.at(), self.tok() == Tok::Value);
        let parts = self.body.parts.len();
        match self.statement() {
            Ok(()) => {
                self.body.partial.open_ended.remove(block);
            }
            Err(Failed) => {
                self.body.parts.truncate(parts);
                self.body.partial.open_ended.insert(block);
                if has_result {
                    self.poison(self.lexer.name_from(start));
                }
                self.skip_line();
            }
        }
    }

    /// Returns `true` if a statement can end at the next token: at the end of the line or of the kernel.
    pub(super) fn at_end(&self) -> bool {
        matches!(self.tok(), Tok::End | Tok::Punctuation(b'}'))
    }

    pub(super) fn end_of_line(&mut self) -> Reading<()> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    /// Reports undefined names of the kernel, and verifies the kernel.
    fn finish(&mut self) {
        self.resolve_guards();
        let body = &mut self.body;
        body.begin_block(None);
        let mut undefined = Vec::new();
        for named in body.values.iter().filter(|named| !named.defined) {
            body.partial.unknown.insert(named.entity);
            if !body.header_failed && undefined.len() < MAX_DIAGNOSTICS {
                undefined.push(undefined_name('%', named, &body.values));
            }
        }
        for named in body.blocks.iter().filter(|named| !named.defined) {
            if undefined.len() < 2 * MAX_DIAGNOSTICS {
                undefined.push(undefined_name('^', named, &body.blocks));
            }
        }
        // The error of a memory access whose base has no definition usually follows from another
        // error. Such an error is reported only if there is no other error.
        let (follows, first): (Vec<_>, Vec<_>) =
            std::mem::take(&mut body.untyped).into_iter().partition(|(base, _)| body.partial.unknown.contains(*base));
        let alone = first.is_empty() && undefined.is_empty() && self.diagnostics.is_empty();
        let told = if alone { follows } else { first };
        undefined.extend(told.into_iter().map(|(_, diagnostic)| diagnostic));
        for diagnostic in undefined {
            self.report(diagnostic);
        }
        let findings = wellformed::check(&self.body.kernel, &self.body.partial);
        if !findings.is_empty() {
            self.body.parts.sort_unstable_by_key(|&(inst, part, _)| (inst, part));
            for finding in findings {
                let span = self.body.span(finding.place);
                let diagnostic = finding.diagnostic(&self.body.kernel, span);
                self.report(diagnostic);
            }
        }
    }

    /// Returns the value that has a name, and creates the value if it is not defined yet.
    pub(super) fn value(&mut self, name: Name) -> Value {
        let Body { kernel, values, .. } = &mut self.body;
        match values.entry(name) {
            Ok(named) => named.entity,
            Err(vacant) => {
                let nowhere = ValueData { ty: Type::I32, def: ValueDef::Param(u32::MAX) };
                let entity = kernel.values.push(nowhere);
                values.insert(vacant, Named { entity, name: name.span, span: name.span, defined: false });
                entity
            }
        }
    }

    /// Returns the block that has a name, and creates the block if it is not defined yet.
    pub(super) fn block(&mut self, name: Name) -> Block {
        let Body { kernel, blocks, .. } = &mut self.body;
        match blocks.entry(name) {
            Ok(named) => named.entity,
            Err(vacant) => {
                let entity = kernel.blocks.push(BlockData::default());
                blocks.insert(vacant, Named { entity, name: name.span, span: name.span, defined: false });
                entity
            }
        }
    }

    /// Gives a name to an existing value, and reports a name that is already in use.
    pub(super) fn claim(&mut self, name: Name, span: Span, entity: Value) {
        match self.body.values.entry(name) {
            Ok(named) => {
                let first = named.span;
                self.defined_twice('%', name, span, first);
            }
            Err(vacant) => {
                self.body.values.insert(vacant, Named { entity, name: name.span, span, defined: true });
            }
        }
    }

    fn defined_twice(&mut self, sigil: char, name: Name, span: Span, first: Span) {
        let diagnostic = Diagnostic::new(span, format!("`{sigil}{}` is defined twice", self.name_text(name)));
        self.report(diagnostic.expected("a name that is not in use").note(Some(first), "the first is here"));
    }

    /// Defines the value that has a name, with its type and its definition.
    pub(super) fn define_value(&mut self, name: Name, ty: Type, def: ValueDef) -> Value {
        let data = ValueData { ty, def };
        let text = self.name_text(name);
        let Body { kernel, values, .. } = &mut self.body;
        let (value, first) = match values.entry(name) {
            Ok(named) if !named.defined => {
                (named.defined, named.span) = (true, name.span);
                kernel.values[named.entity] = data;
                (named.entity, None)
            }
            Ok(named) => (kernel.values.push(data), Some(named.span)),
            Err(vacant) => {
                let entity = kernel.values.push(data);
                values.insert(vacant, Named { entity, name: name.span, span: name.span, defined: true });
                (entity, None)
            }
        };
        kernel.set_value_name(value, text);
        if let Some(first) = first {
            self.defined_twice('%', name, name.span, first);
        }
        value
    }

    /// Defines the value that has a name, with an unknown type, after an error.
    pub(super) fn poison(&mut self, name: Name) {
        let known = self.body.values.get(name).is_some_and(|named| named.defined);
        if !known {
            let value = self.define_value(name, Type::I32, ValueDef::Param(u32::MAX));
            self.body.partial.unknown.insert(value);
        }
    }

    fn define_block(&mut self, name: Name) -> Block {
        let text = self.name_text(name);
        let Body { kernel, blocks, .. } = &mut self.body;
        let (block, first) = match blocks.entry(name) {
            Ok(named) if !named.defined => {
                (named.defined, named.span) = (true, name.span);
                (named.entity, None)
            }
            Ok(named) => (kernel.blocks.push(BlockData::default()), Some(named.span)),
            Err(vacant) => {
                let entity = kernel.blocks.push(BlockData::default());
                blocks.insert(vacant, Named { entity, name: name.span, span: name.span, defined: true });
                (entity, None)
            }
        };
        kernel.set_block_name(block, text);
        if let Some(first) = first {
            self.defined_twice('^', name, name.span, first);
        }
        block
    }
}

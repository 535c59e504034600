//! Modules: kernels with what they were made of.

use std::sync::Arc;

use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{self as ir, Kernel, Span};
use halfbyte_lang as lang;

use crate::report::Report;
use crate::source::{Source, SourceMap};

/// A kernel that is known to be well formed, so that compiling it
/// ([`Compiler::compile_verified`](crate::pipeline::Compiler::compile_verified)) need not find out.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'k>(&'k Kernel);

impl<'k> Verified<'k> {
    /// Verifies a kernel.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn new(kernel: &'k Kernel) -> Result<Verified<'k>, Vec<Diagnostic>> {
        ir::verify(kernel).map(|()| Verified(kernel))
    }

    /// Takes a kernel for well formed that [`verify`](fn@ir::verify) has nothing against. Of any other the compiler may make wrong
    /// machine code, or report a defect of its own.
    pub const fn trust(kernel: &'k Kernel) -> Verified<'k> {
        Verified(kernel)
    }

    /// The kernel.
    pub const fn kernel(self) -> &'k Kernel {
        self.0
    }
}

/// A kernel of a text in another language that did not become one of the IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedKernel {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub span: Span,
    /// Why, in the order of the text.
    pub errors: Vec<Diagnostic>,
}

/// Kernels with what they were made of.
#[derive(Clone, Debug)]
pub struct Module {
    file: String,
    source: Source,
    ir: ir::Module,
    refused: Vec<RefusedKernel>,
}

impl Module {
    /// Reads a text and checks that its kernels are well formed.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str) -> Result<Module, Report> {
        Module::named("<text>", text)
    }

    /// Reads the text of a file, whose name messages and objects show.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn named(file: &str, text: impl Into<String>) -> Result<Module, Report> {
        Module::including(file, text, &lang::StdOnly)
    }

    /// The same, where the text may `include` others.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn including(file: &str, text: impl Into<String>, includes: &dyn lang::Includes) -> Result<Module, Report> {
        let text: Arc<str> = text.into().into();
        if u32::try_from(text.len()).is_err() {
            let message = format!("the text has {} bytes", text.len());
            let error = Diagnostic::new(Span::default(), message).expected("less than 4 GiB");
            return Err(Report::new(file, "", vec![error]));
        }
        let read = match begins_in_language(&text) {
            true => lang::read(&text, file, includes),
            // Plain IR pays nothing for there being a language: whether it is in that is asked where it cannot be read.
            false => match ir::text::read(&text) {
                Err(_) if lang::is_language(&text) => lang::read(&text, file, includes),
                read => read,
            },
        };
        match read {
            Ok(ir) => Ok(Module { file: file.to_owned(), source: Source::Text(text), ir, refused: Vec::new() }),
            Err(errors) => Err(Report::new(file, text, errors)),
        }
    }

    /// Kernels that were built. They are verified when they are compiled.
    ///
    /// ```
    /// use halfbyte::ir::{Direction, Op, Type, builder::Builder};
    /// use halfbyte::{HALU, Module};
    /// let mut b = Builder::new("numbers");
    /// let y = b.buffer("y", Direction::Out, Type::I32);
    /// b.begin("entry", &[]);
    /// let i = b.here(Op::ItemId);
    /// b.store(Type::I32, i, y, i);
    /// b.ret();
    /// let binary = Module::from_kernels([b.finish()]).compile(HALU)?;
    /// assert_eq!(binary.stats[0].kernel, "numbers");
    /// # Ok::<(), halfbyte::CompileError>(())
    /// ```
    pub fn from_kernels(kernels: impl IntoIterator<Item = Kernel>) -> Module {
        let ir = ir::Module { kernels: kernels.into_iter().collect() };
        Module { file: "<built>".to_owned(), source: Source::None, ir, refused: Vec::new() }
    }

    /// The same kernels, made of the text of this file, maybe in another language: their spans count bytes of it.
    #[must_use]
    pub fn with_text(self, file: &str, text: impl Into<String>) -> Module {
        Module { file: file.to_owned(), source: Source::Text(text.into().into()), ..self }
    }

    /// The same kernels, made of this file: a map says where in it their spans are.
    ///
    /// ```
    /// use halfbyte::ir::{Span, builder::Builder};
    /// use halfbyte::isa::object::Loc;
    /// use halfbyte::{HALU, Module};
    /// let mut b = Builder::new("nothing");
    /// b.begin("entry", &[]);
    /// b.set_span(Span { start: 7, end: 7 });
    /// b.ret();
    /// // A span's start is the line here.
    /// let places = |span: Span| Loc { line: span.start, column: 1 };
    /// let module = Module::from_kernels([b.finish()]).with_map("mylang.src", places);
    /// let code = module.compile(HALU)?.code;
    /// assert_eq!(code[0].locs[0], Loc { line: 7, column: 1 });
    /// # Ok::<(), halfbyte::CompileError>(())
    /// ```
    #[must_use]
    pub fn with_map(self, file: &str, map: impl SourceMap + 'static) -> Module {
        Module { file: file.to_owned(), source: Source::Map(Arc::new(map)), ..self }
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text; an empty one where the kernels were made of none.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// What the places in its kernels are places of.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The kernels.
    pub fn ir(&self) -> &ir::Module {
        &self.ir
    }

    /// The same module, whose text has these kernels too.
    #[cfg(feature = "import-ptx")]
    pub(crate) fn with_refused(self, refused: Vec<RefusedKernel>) -> Module {
        Module { refused, ..self }
    }

    /// The kernels of its text that are not among [its own](Module::ir). There are some only where it was read kernel by kernel
    /// (`Module::open_each`).
    pub fn refused_kernels(&self) -> &[RefusedKernel] {
        &self.refused
    }

    /// Findings about the module, to be shown with its text.
    pub fn report(&self, findings: impl Into<Vec<Diagnostic>>) -> Report {
        Report::of(self.file.as_str(), self.source.clone(), findings.into())
    }
}

/// Whether the first item of a text is in the language.
fn begins_in_language(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(';')).unwrap_or_default();
    match first.strip_prefix("kernel ") {
        Some(name) => name.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
        None => ["fn ", "const ", "struct ", "include "].iter().any(|word| first.starts_with(word)),
    }
}

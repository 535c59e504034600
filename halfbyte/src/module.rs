//! Modules, which contain kernels and their source text.

use std::sync::Arc;

use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{self as ir, Kernel, Span};
use halfbyte_lang as lang;

use crate::report::Report;
use crate::source::{SourceMap, SourceText};

/// A kernel that has been verified. [`Compiler::compile_verified`](crate::pipeline::Compiler::compile_verified) does
/// not verify it again.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'k>(&'k Kernel);

impl<'k> Verified<'k> {
    /// Verifies a kernel.
    ///
    /// # Errors
    /// Returns all errors of the kernel.
    pub fn new(kernel: &'k Kernel) -> Result<Verified<'k>, Vec<Diagnostic>> {
        ir::verify(kernel).map(|()| Verified(kernel))
    }

    /// Accepts a kernel without verification. The caller guarantees that [`verify`](fn@ir::verify) would accept it. For
    /// any other kernel the compiler may generate wrong machine code or report an internal error.
    pub const fn trust(kernel: &'k Kernel) -> Verified<'k> {
        Verified(kernel)
    }

    /// Returns the kernel.
    pub const fn kernel(self) -> &'k Kernel {
        self.0
    }
}

/// A kernel in another source language that could not be translated to the IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedKernel {
    /// Name of the kernel.
    pub name: String,
    /// Span of the start of the kernel in the source text.
    pub span: Span,
    /// The errors of the kernel, in source order.
    pub errors: Vec<Diagnostic>,
}

/// Kernels of the IR with their source text.
#[derive(Clone, Debug)]
pub struct Module {
    file: String,
    source: SourceText,
    ir: ir::Module,
    refused: Vec<RefusedKernel>,
}

impl Module {
    /// Parses and verifies a text.
    ///
    /// # Errors
    /// Returns all errors of the text.
    pub fn parse(text: &str) -> Result<Module, Report> {
        Module::named("<text>", text)
    }

    /// Parses and verifies the text of a file. Messages and objects contain the file name.
    ///
    /// # Errors
    /// Returns all errors of the text.
    pub fn named(file: &str, text: impl Into<String>) -> Result<Module, Report> {
        Module::including(file, text, &lang::StdOnly)
    }

    /// Parses and verifies the text of a file that may `include` other files, which `includes` reads.
    ///
    /// # Errors
    /// Returns all errors of the text.
    pub fn including(file: &str, text: impl Into<String>, includes: &dyn lang::Includes) -> Result<Module, Report> {
        let text: Arc<str> = text.into().into();
        if u32::try_from(text.len()).is_err() {
            let message = format!("the text has {} bytes", text.len());
            let error = Diagnostic::new(Span::default(), message).expected("less than 4 GiB");
            return Err(Report::new(file, "", vec![error]));
        }
        let read = match begins_in_language(&text) {
            true => lang::read(&text, file, includes),
            // The text is parsed as plain IR first, so that plain IR does not pay for the test for the kernel language.
            false => match ir::text::read(&text) {
                Err(_) if lang::is_language(&text) => lang::read(&text, file, includes),
                read => read,
            },
        };
        match read {
            Ok(ir) => {
                Ok(Module { file: file.to_owned(), source: SourceText::Text(text.into()), ir, refused: Vec::new() })
            }
            Err(errors) => Err(Report::new(file, text, errors)),
        }
    }

    /// Creates a module of kernels from a builder. The kernels are verified when they are compiled.
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
        Module { file: "<built>".to_owned(), source: SourceText::None, ir, refused: Vec::new() }
    }

    /// Sets the source text of the kernels, which may be in another language. The spans of the
    /// kernels are byte offsets in this text.
    #[must_use]
    pub fn with_text(self, file: &str, text: impl Into<String>) -> Module {
        Module { file: file.to_owned(), source: SourceText::Text(text.into().into()), ..self }
    }

    /// Sets the source file of the kernels, with a map from the kernels' spans to locations in the file.
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
        Module { file: file.to_owned(), source: SourceText::Map(Arc::new(map)), ..self }
    }

    /// Returns the name of the source file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the source text, or an empty string if the module has none.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns the source that the kernels' spans refer to.
    pub fn source(&self) -> &SourceText {
        &self.source
    }

    /// Returns the kernels of the IR.
    pub fn ir(&self) -> &ir::Module {
        &self.ir
    }

    /// Sets the kernels of the text that could not be translated.
    #[cfg(feature = "import-ptx")]
    pub(crate) fn with_refused(self, refused: Vec<RefusedKernel>) -> Module {
        Module { refused, ..self }
    }

    /// Returns the kernels of the text that are not in [`Module::ir`], because they could not be translated. The list
    /// is empty unless the text was read kernel by kernel (`Module::open_each`).
    pub fn refused_kernels(&self) -> &[RefusedKernel] {
        &self.refused
    }

    /// Creates a report that shows diagnostics with the module's source text.
    pub fn report(&self, findings: impl Into<Vec<Diagnostic>>) -> Report {
        Report::of(self.file.as_str(), self.source.clone(), findings.into())
    }
}

/// Returns `true` if the first item of a text is in the kernel language.
fn begins_in_language(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(';')).unwrap_or_default();
    match first.strip_prefix("kernel ") {
        Some(name) => name.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
        None => ["fn ", "const ", "struct ", "include "].iter().any(|word| first.starts_with(word)),
    }
}

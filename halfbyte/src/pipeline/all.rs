//! Compilation of all kernels of a module or of a text, to an object or to PTX text.

use std::io::{Seek, Write};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

use halfbyte_abi::{KernelFormat, Target};
use halfbyte_emit::{KernelCode, ObjectError, ObjectWriter, PtxWriter};
use halfbyte_ir::Kernel;
use halfbyte_ir::diag::Lines;
use halfbyte_ir::text::Kernels;
use halfbyte_isa::object::Header;

use super::threads::{Batches, spread};
use super::{Binary, Compiled, Compiler, Options, Stats, Watch};
use crate::error::{CompileError, ErrorLocation, Limit, Refused, TooLarge, WriteError};
use crate::module::Module;
use crate::refused::as_written;
use crate::source::Locator;

/// Compiles kernels of a module to an object.
///
/// # Errors
/// Returns all ops that the target does not support, over all kernels, or an error if the kernels
/// exceed the limits of the object format.
pub fn compile(
    module: &Module,
    kernels: &[Kernel],
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Binary, CompileError> {
    let compiled = compile_kernels(module, kernels, options, watch)?;
    let object = compiled.object(module.file(), options)?;
    let Compiled { code, stats } = compiled;
    Ok(Binary { object, code, stats })
}

/// Compiles kernels of a module to machine code.
///
/// # Errors
/// Returns all ops that the target does not support, over all kernels.
pub fn compile_kernels(
    module: &Module,
    kernels: &[Kernel],
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Compiled, CompileError> {
    let mut all = Compiled::default();
    let work = ModuleBatches { kernels, begin: || Compiler::new(module, options) };
    let mut left = 0..kernels.len();
    let fill = |batch: &mut Range<usize>| {
        *batch = left.start..left.end.min(left.start + at_once(options.threads, left.start));
        left.start = batch.end;
        batch.start < batch.end
    };
    let mut gathered = ResultCollector::new(|compiled| {
        all.push(compiled);
        Ok(())
    });
    spread(options.threads, &work, fill, |done| gathered.add(done), watch);
    gathered.finish(|| Ok(()))?;
    Ok(all)
}

/// Returns the number of kernels in the next batch of a thread, after `before` kernels have been handed out.
///
/// The number grows with `before`, so that threads rarely wait for each other. It is small at the start, so that a few
/// kernels are balanced over the threads. A single thread never waits, and uses small batches that stay in its cache.
fn at_once(threads: NonZero<usize>, before: usize) -> usize {
    let most = if threads.get() == 1 { 4 } else { 64 };
    (before / 8).clamp(1, most)
}

type Results = Vec<Result<(KernelCode, Stats), CompileError>>;

/// Compilation of kernels in a module. A batch is a range of kernel indices.
struct ModuleBatches<'k, F> {
    kernels: &'k [Kernel],
    begin: F,
}

impl<'a, F: Fn() -> Compiler<'a> + Sync> Batches for ModuleBatches<'_, F> {
    type Batch = Range<usize>;
    type State = Compiler<'a>;
    type Done = Results;

    fn begin(&self) -> Compiler<'a> {
        (self.begin)()
    }

    fn work(&self, compiler: &mut Compiler<'a>, batch: &mut Range<usize>, watch: &mut Watch<'_>) -> Results {
        let kernels = self.kernels.get(batch.clone()).unwrap_or_default();
        kernels.iter().map(|kernel| compiler.compile(kernel, watch)).collect()
    }
}

/// Compilation of kernels that are parsed from a text. The passes modify the parsed kernels in
/// place.
struct TextBatches<F> {
    begin: F,
}

/// A batch of parsed kernels, whose allocations are reused for the next batch.
#[derive(Default)]
struct ParsedBatch {
    kernels: Vec<Kernel>,
    count: usize,
}

impl ParsedBatch {
    /// Parses the next kernels of the text, at most `most`. Returns `false` if the text has no more kernels.
    fn fill(&mut self, text: &mut Kernels<'_>, most: usize) -> bool {
        self.count = 0;
        while self.count < most
            && let Some(kernel) = text.read()
        {
            match self.kernels.get_mut(self.count) {
                Some(place) => std::mem::swap(place, kernel),
                None => self.kernels.push(std::mem::replace(kernel, Kernel::new(""))),
            }
            self.count += 1;
        }
        self.count > 0
    }
}

impl<'a, F: Fn() -> Compiler<'a> + Sync> Batches for TextBatches<F> {
    type Batch = ParsedBatch;
    type State = Compiler<'a>;
    type Done = Results;

    fn begin(&self) -> Compiler<'a> {
        (self.begin)()
    }

    fn work(&self, compiler: &mut Compiler<'a>, batch: &mut ParsedBatch, watch: &mut Watch<'_>) -> Results {
        let kernels = batch.kernels.iter_mut().take(batch.count);
        kernels.map(|kernel| compiler.compile_in_place(kernel, watch)).collect()
    }
}

/// Receiver of the compiled kernels, in the order of the kernels.
struct ResultCollector<D> {
    done: D,
    failed: UnsupportedOps,
    /// The error that ended the compilation.
    error: Option<CompileError>,
}

impl<D: FnMut((KernelCode, Stats)) -> Result<(), CompileError>> ResultCollector<D> {
    fn new(done: D) -> ResultCollector<D> {
        ResultCollector { done, failed: UnsupportedOps::default(), error: None }
    }

    /// Adds the results of a batch. Returns `false` if the compilation must end.
    fn add(&mut self, results: Results) -> bool {
        let each = results.into_iter().try_for_each(|result| match result {
            Ok(compiled) if self.failed.is_none() => (self.done)(compiled),
            Ok(_) => Ok(()),
            Err(error) => self.failed.add(error),
        });
        self.error = each.err();
        self.error.is_none()
    }

    /// Returns the error of a compilation, if any. The error that ended the compilation takes
    /// precedence, then an error that `rest` returns, then the unsupported ops.
    fn finish(self, rest: impl FnOnce() -> Result<(), CompileError>) -> Result<(), CompileError> {
        self.error.map_or(Ok(()), Err)?;
        rest()?;
        self.failed.finish()
    }
}

impl Module {
    /// Compiles all kernels with the default options.
    ///
    /// # Errors
    /// Returns a [`CompileError`], whose variant tells who can fix the problem.
    pub fn compile(&self, target: Target) -> Result<Binary, CompileError> {
        self.compile_with(&Options::new(target))
    }

    /// Compiles all kernels.
    ///
    /// # Errors
    /// Returns a [`CompileError`], whose variant tells who can fix the problem.
    pub fn compile_with(&self, options: &Options) -> Result<Binary, CompileError> {
        compile(self, &self.ir().kernels, options, &mut |_| {})
    }
}

/// Compiles all kernels of a text, each as soon as it is parsed.
///
/// # Errors
/// Returns the errors of the text. For a valid text, returns all ops that the target does not
/// support, over all kernels.
pub fn compile_text(text: &str, options: &Options, watch: &mut Watch<'_>) -> Result<Compiled, CompileError> {
    let mut all = Compiled::default();
    compile_each(TEXT, text, options, watch, |compiled| {
        all.push(compiled);
        Ok(())
    })?;
    Ok(all)
}

/// Compiles all kernels of a text to an object. Besides the object, at most one batch of kernels for each thread is in
/// memory.
///
/// # Errors
/// Returns the errors of [`compile_text`], or an error if the kernels exceed the limits of the object format.
pub fn compile_object(
    file: &str,
    text: &str,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Vec<u8>, CompileError> {
    let unwritable = |error| unwritable(file, options, error);
    // Most objects take little more memory than their texts. The system provides reserved memory
    // only when it is written, so a large reservation costs nothing.
    let mut writer = ObjectWriter::new(&header(file, options), 2 * text.len()).map_err(unwritable)?;
    compile_each(file, text, options, watch, |(code, _)| writer.add(&code).map_err(unwritable))?;
    writer.finish().map_err(unwritable)
}

/// Compiles all kernels of a text to an object, and writes the object to `out` during compilation, so that it is never
/// complete in memory. After an error, the data written so far remains in `out`.
///
/// # Errors
/// Returns the errors of [`compile_object`], and errors of `out`.
pub fn compile_object_to(
    file: &str,
    text: &str,
    options: &Options,
    watch: &mut Watch<'_>,
    out: &mut (impl Write + Seek + Send),
) -> Result<(), WriteError> {
    let unwritable = |error| unwritable(file, options, error);
    let mut writer = ObjectWriter::new(&header(file, options), 0).map_err(unwritable)?;
    let mut failed = None;
    let compiled = compile_each(file, text, options, watch, |(code, _)| {
        writer.add(&code).map_err(unwritable)?;
        writer.flush_if_full(out).map_err(|error| {
            let ended = unwritable(ObjectError::Format(error.to_string()));
            failed = Some(error);
            ended
        })
    });
    if let Some(error) = failed {
        return Err(WriteError::Io(error));
    }
    compiled?;
    writer.finish_to(out).map_err(unwritable)?.map_err(WriteError::Io)
}

/// Compiles all kernels of a text to PTX text. If a source file name is given, the PTX also
/// contains the source lines of the instructions.
///
/// # Errors
/// Returns the errors of [`compile_text`], or an error if the target is not PTX.
pub fn compile_ptx(
    text: &str,
    options: &Options,
    source: Option<&str>,
    watch: &mut Watch<'_>,
) -> Result<String, CompileError> {
    let Some(sm) = options.target.sm().filter(|_| options.target.form() == KernelFormat::Text) else {
        let message = format!("target `{}` is not PTX", options.target);
        return Err(CompileError::Internal { at: ErrorLocation::default(), message });
    };
    // PTX text rarely takes more than twice the size of its source.
    let mut writer = PtxWriter::new(sm, source, 2 * text.len());
    compile_each(source.unwrap_or(TEXT), text, options, watch, |(code, _)| {
        writer.add(code);
        Ok(())
    })?;
    Ok(writer.finish())
}

/// Name in messages of a text that is not from a file.
const TEXT: &str = "<text>";

fn compile_each(
    file: &str,
    text: &str,
    options: &Options,
    watch: &mut Watch<'_>,
    done: impl FnMut((KernelCode, Stats)) -> Result<(), CompileError> + Send,
) -> Result<(), CompileError> {
    let locator = Locator::Text(Arc::new(Lines::new(text)));
    let begin = || Compiler::of(file, locator.clone(), options, options.targets.legality(options.target));
    let mut kernels = Kernels::new(text);
    let mut gathered = ResultCollector::new(done);
    let mut before = 0;
    let fill = |batch: &mut ParsedBatch| {
        let is_filled = batch.fill(&mut kernels, at_once(options.threads, before));
        before += batch.count;
        is_filled
    };
    spread(options.threads, &TextBatches { begin }, fill, |done| gathered.add(done), watch);
    let rest = || kernels.finish().map_err(|wrong| begin().invalid("", wrong));
    gathered.finish(rest).map_err(|error| {
        // The source kernels are parsed again for the messages, because the compilation changed them in place.
        let kernels = halfbyte_ir::text::read(text).map(|module| module.kernels).unwrap_or_default();
        as_written(error, &kernels, options.targets, options.target)
    })
}

/// The unsupported ops of the kernels compiled so far. They do not end the compilation, unlike all other errors.
#[derive(Default)]
struct UnsupportedOps(Vec<Refused>);

impl UnsupportedOps {
    fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, error: CompileError) -> Result<(), CompileError> {
        match error {
            CompileError::Refused(refused) => {
                self.0.extend(refused);
                Ok(())
            }
            error => Err(error),
        }
    }

    fn finish(self) -> Result<(), CompileError> {
        if self.is_none() { Ok(()) } else { Err(CompileError::Refused(self.0)) }
    }
}

pub(super) fn header(file: &str, options: &Options) -> Header {
    Header { target: options.target, source: file.to_owned() }
}

pub(super) fn unwritable(file: &str, options: &Options, error: ObjectError) -> CompileError {
    let at = ErrorLocation { file: file.to_owned(), ..ErrorLocation::default() };
    CompileError::TooLarge(TooLarge { at, target: options.target, limit: Limit::Object(error.to_string()) })
}

//! The compilation pipeline from a kernel to machine code.
//!
//! The passes over the IR run in the order of [`PASSES`]. Instruction selection, register
//! allocation and code layout follow. An object contains the machine code of all kernels.

mod all;
mod threads;

use std::cell::Cell;
use std::fmt::{self, Display};
use std::num::NonZero;
use std::time::{Duration, Instant};

use halfbyte_abi::{Exceeded, Poll, Target, Watchdog, clock};
use halfbyte_emit::{BlockStats, KernelCode, write_object};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{Kernel, Legality, Reason, Span};
use halfbyte_isel::regalloc::{self, AllocError, Allocator};
use halfbyte_isel::{AllocatedCode, Refusal, Request, Scratch, SelectedCode};
use halfbyte_lower::{Context, LowerError, Observer, Pass, Pipeline, UnknownPass};

use crate::error::{CompileError, ErrorLocation, Invalid, Limit, Refused, TooLarge};
use crate::module::{Module, Verified};
use crate::refused::as_written;
use crate::source::Locator;
use crate::targets::{Support, TARGETS, TargetSet};

use all::{header, unwritable};

pub use all::{compile, compile_kernels, compile_object, compile_object_to, compile_ptx, compile_text};
/// The names of the default passes over the IR, in order.
pub use halfbyte_lower::ORDER as PASSES;

/// The names of the compilation stages after the passes, as `--print-after` and `--time-passes` accept them. For PTX,
/// which has an unlimited number of registers, `regalloc` only converts the code out of SSA form.
pub const STAGES: [&str; 4] = ["isel", "expand", "regalloc", "layout"];

/// Returns `true` if the compilation for a target includes the stage `step`. Stage `expand` runs only for some targets.
pub fn is_taken(step: &str, target: Target) -> bool {
    step != "expand" || TARGETS.support(target).is_some_and(|support| support.isel.has_pseudo_instructions())
}

/// Compilation options.
#[derive(Clone)]
pub struct Options {
    /// The target of the compilation.
    pub target: Target,
    /// The set of targets to which `target` belongs.
    pub targets: &'static TargetSet,
    /// The passes over the IR, with their rules.
    pub pipeline: Pipeline,
    /// Permits launches along several axes for kernels that use only x. On targets that number
    /// items per axis, ops without an axis, such as `item_id`, then take more instructions. Kernels
    /// that use y or z always permit such launches.
    pub several_axes: bool,
    /// The block size along x, y and z, if all launches use the same block size. Targets with a
    /// directive for it, such as `.reqntid` of PTX, then treat it as a constant.
    pub block: Option<[u32; 3]>,
    /// Enables verification after each step: of the kernel after each pass, and of the register allocation.
    pub verify: bool,
    /// Enables measurement of the time of each step. The measurement itself takes some time.
    pub timed: bool,
    /// Watchdog that limits the compilation, and can cancel it.
    pub watchdog: Option<Watchdog>,
    /// Maximum number of threads that compile kernels. The output does not depend on the number of threads. With
    /// several threads, the observer receives the steps of different kernels interleaved.
    pub threads: NonZero<usize>,
}

impl Options {
    /// Creates options with the default passes, on one thread. Verification is enabled if debug assertions are.
    pub fn new(target: Target) -> Options {
        Options {
            target,
            targets: &TARGETS,
            pipeline: Pipeline::default(),
            several_axes: false,
            block: None,
            verify: cfg!(debug_assertions),
            timed: false,
            watchdog: None,
            threads: NonZero::<usize>::MIN,
        }
    }

    /// Replaces the passes by the passes with the given names, in this order.
    ///
    /// # Errors
    /// Returns an error if no pass has one of the names.
    pub fn with_passes<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Result<Options, UnknownPass> {
        self.pipeline = Pipeline::named(names)?;
        Ok(self)
    }
}

/// A completed step of a compilation: a pass, or a stage after the passes.
pub struct Stage<'a> {
    /// Name of the step: a pass, or one of [`STAGES`].
    pub name: &'a str,
    /// Name of the kernel, without `@`.
    pub kernel: &'a str,
    /// Duration of the step; zero unless [`Options::timed`] is set.
    pub time: Duration,
    /// `true` if the step changed the kernel.
    pub changed: bool,
    /// The kernel or its code after the step. `Display` formats it as text.
    pub result: Product<'a>,
}

/// The form of a kernel after a step of its compilation.
#[derive(Clone, Copy)]
pub enum Product<'a> {
    /// The kernel in the IR, after a pass.
    Lowered(&'a Kernel),
    /// The machine instructions on virtual registers, after instruction selection.
    Selected(&'a dyn SelectedCode),
    /// The machine instructions on physical registers, after register allocation.
    Allocated(&'a dyn AllocatedCode),
    /// The encoded machine code, after code layout.
    Words(&'a KernelCode),
}

impl Display for Product<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Product::Lowered(kernel) => kernel.fmt(f),
            Product::Selected(code) => code.fmt(f),
            Product::Allocated(func) => func.fmt(f),
            Product::Words(code) => f.write_str(&code.words.disassemble()),
        }
    }
}

/// Observer of a compilation, called after each step.
pub type Watch<'w> = dyn FnMut(&Stage<'_>) + Send + 'w;

/// Compiler that compiles kernels one after another with the same options.
pub struct Compiler<'a> {
    options: &'a Options,
    legality: Legality,
    file: &'a str,
    locator: Locator<'a>,
    scratch: Scratch,
    support: Option<&'static Support>,
    allocator: Allocator,
    fired: Fired,
}

/// Number of applications of each rule, indexed by rule number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fired {
    /// Counts of the rules of the passes, in the numbering of [`Pipeline::rule`].
    pub lower: Vec<usize>,
    /// Counts of the selection rules of the target, in the order of [`TargetSet::rules`].
    pub isel: Vec<usize>,
}

/// A kernel's machine instructions after register allocation.
#[derive(Debug)]
pub struct Allocated {
    /// The machine instructions on physical registers.
    pub func: Box<dyn AllocatedCode>,
    /// The numbers of the selection rules that were applied, in order of application.
    pub rules: Vec<u32>,
}

/// Statistics of a compiled kernel.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Name of the kernel, without `@`.
    pub kernel: String,
    /// Number of ops in the source kernel.
    pub ops: usize,
    /// Number of ops after the passes.
    pub lowered: usize,
    /// `true` if at least one op after the passes operates on several lanes.
    pub is_packed: bool,
    /// Number of instruction words.
    pub words: usize,
    /// Number of general registers that the code uses.
    pub registers: u32,
    /// Size in bytes of the local memory of an item.
    pub local_bytes: u32,
    /// Number of values that were spilled to local memory.
    pub spills: u32,
    /// Numbers of bundles and instructions in each basic block, for targets with bundles.
    pub blocks: Vec<BlockStats>,
    /// The numbers of the selection rules that were applied, in order of application.
    /// [`count_rules`] converts them to names and counts.
    pub rules: Vec<u32>,
}

/// The machine code of compiled kernels, with statistics.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// Machine code of each kernel.
    pub code: Vec<KernelCode>,
    /// Statistics of each kernel.
    pub stats: Vec<Stats>,
}

/// Compiled kernels with an object file that contains them.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The bytes of the object file.
    pub object: Vec<u8>,
    /// Machine code of each kernel.
    pub code: Vec<KernelCode>,
    /// Statistics of each kernel.
    pub stats: Vec<Stats>,
}

impl Compiled {
    /// Returns an object file of the kernels. `file` is the name of their source file. `options`
    /// are the options with which they were compiled.
    ///
    /// # Errors
    /// Returns an error if the kernels exceed the limits of the object format.
    pub fn object(&self, file: &str, options: &Options) -> Result<Vec<u8>, CompileError> {
        write_object(&header(file, options), &self.code).map_err(|error| unwritable(file, options, error))
    }

    fn push(&mut self, (code, stats): (KernelCode, Stats)) {
        self.code.push(code);
        self.stats.push(stats);
    }
}

impl<'a> Compiler<'a> {
    /// Creates a compiler for kernels of a module.
    pub fn new(module: &'a Module, options: &'a Options) -> Compiler<'a> {
        Compiler::with_legality(module, options, options.targets.legality(options.target))
    }

    /// Creates a compiler with the description `legality` of the target's legal ops, in place of
    /// the default description.
    pub fn with_legality(module: &'a Module, options: &'a Options, legality: Legality) -> Compiler<'a> {
        Compiler::of(module.file(), module.source().locator(), options, legality)
    }

    fn of(file: &'a str, locator: Locator<'a>, options: &'a Options, legality: Legality) -> Compiler<'a> {
        let legality = if options.several_axes { legality.with_several_axes() } else { legality };
        let legality = options.block.map_or(legality.clone(), |block| legality.with_block(block));
        let isel = vec![0; options.targets.rules(options.target).len()];
        let fired = Fired { lower: vec![0; options.pipeline.rule_count()], isel };
        let (scratch, allocator) = (Scratch::default(), Allocator::default());
        let support = options.targets.support(options.target);
        Compiler { options, legality, file, locator, scratch, support, allocator, fired }
    }

    /// Returns the number of applications of each rule so far. Applications to kernels that the
    /// target does not support are included.
    pub fn fired(&self) -> &Fired {
        &self.fired
    }

    /// Verifies a kernel and compiles it to machine code.
    ///
    /// # Errors
    /// Returns a [`CompileError`], whose variant tells who can fix the problem.
    pub fn compile(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<(KernelCode, Stats), CompileError> {
        let verified = Verified::new(kernel).map_err(|wrong| self.invalid(&kernel.name, wrong))?;
        self.compile_verified(verified, watch)
    }

    /// Compiles a verified kernel to machine code.
    ///
    /// # Errors
    /// Returns the errors of [`Compiler::compile`].
    pub fn compile_verified(
        &mut self,
        kernel: Verified<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(KernelCode, Stats), CompileError> {
        let compiled = self.compile_in_place(&mut kernel.kernel().clone(), watch);
        compiled.map_err(|error| self.as_written(error, kernel.kernel()))
    }

    /// Rewrites an error of a later step, such as [`Compiler::machine`], in terms of the source
    /// kernel. Unsupported ops are then named as in the source.
    pub fn as_written(&self, error: CompileError, kernel: &Kernel) -> CompileError {
        as_written(error, std::slice::from_ref(kernel), self.options.targets, self.options.target)
    }

    /// Compiles a kernel in place: the passes modify `kernel` instead of a copy.
    fn compile_in_place(
        &mut self,
        kernel: &mut Kernel,
        watch: &mut Watch<'_>,
    ) -> Result<(KernelCode, Stats), CompileError> {
        let support = self.support()?;
        let refused = support.isel.check_intrinsics(kernel, self.options.target);
        if !refused.is_empty() {
            return Err(self.refused(kernel, refused));
        }
        let written = ops(kernel);
        self.run_passes(kernel, watch)?;
        let Allocated { func, rules } = self.machine(kernel, watch)?;
        let start = self.start();
        let spills = func.spills();
        let code = support.emit.layout(func).map_err(|error| match error {
            error if error.is_limit() => self.too_large(kernel, error),
            error => self.defect(kernel, error),
        })?;
        self.poll(kernel)?;
        watch(&step("layout", kernel, start, Product::Words(&code)));
        let (lowered, is_packed) = (ops(kernel), is_packed(kernel));
        let stats = Stats {
            kernel: kernel.name.clone(),
            ops: written,
            lowered,
            is_packed,
            words: code.words.len(),
            registers: code.info.registers,
            local_bytes: code.info.local_bytes,
            spills,
            blocks: code.stats.clone(),
            rules,
        };
        Ok((code, stats))
    }

    /// Runs the passes over the IR. Returns the resulting kernel.
    ///
    /// # Errors
    /// Returns an error if a pass finds an op that the target does not support. With verification
    /// enabled, also returns an error if a pass breaks the kernel.
    pub fn lower(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<Kernel, CompileError> {
        let mut lowered = kernel.clone();
        let done = self.run_passes(&mut lowered, watch);
        done.map_err(|error| self.as_written(error, kernel))?;
        Ok(lowered)
    }

    fn run_passes(&mut self, kernel: &mut Kernel, watch: &mut Watch<'_>) -> Result<(), CompileError> {
        let context = Context::counting(&self.legality, std::mem::take(&mut self.fired.lower));
        let mut context = context.with_watchdog(self.options.watchdog.as_ref());
        (context.verify, context.timed) = (self.options.verify, self.options.timed);
        let done = self.options.pipeline.run(kernel, &mut context, &mut Passes(watch));
        self.fired.lower = context.into_fired();
        done.map_err(|error| match error {
            LowerError::Refused(refused) => self.refused(kernel, refused),
            LowerError::Exceeded(exceeded) => self.ended(kernel, exceeded),
            LowerError::Failed { pass, error, .. } => {
                CompileError::Pass { at: self.at(&kernel.name, kernel.span), pass, error }
            }
            error => self.defect(kernel, error),
        })
    }

    /// Compiles a lowered kernel to machine instructions on physical registers.
    ///
    /// # Errors
    /// Returns an error if the target does not support the kernel.
    pub fn machine(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<Allocated, CompileError> {
        let support = self.support()?;
        let locator = &self.locator;
        // Instructions are visited in order, so the line of the previous one is a good start for the search.
        let line = Cell::new(0);
        let locate = |span: Span| {
            let loc = locator.locate(span, line.get());
            line.set(loc.line);
            loc
        };
        let start = self.start();
        let poll = Poll::new(self.options.watchdog.as_ref());
        let block = self.legality.block();
        let request = Request { block, poll, ..Request::new(kernel, self.options.target, &locate) };
        let selected = support.isel.select(request, &mut self.scratch);
        self.poll(kernel)?;
        let mut selected = selected.map_err(|refused| self.refused(kernel, refused))?;
        watch(&step("isel", kernel, start, Product::Selected(&*selected.code)));
        for &rule in &selected.fired {
            if let Some(count) = self.fired.isel.get_mut(rule as usize) {
                *count += 1;
            }
        }
        if support.isel.has_pseudo_instructions() {
            let start = self.start();
            selected.code.expand().map_err(|error| self.defect(kernel, error))?;
            self.poll(kernel)?;
            watch(&step("expand", kernel, start, Product::Selected(&*selected.code)));
        }
        let start = self.start();
        let watchdog = self.options.watchdog.as_ref();
        let options = regalloc::Options { check: self.options.verify, watchdog };
        let func = selected.code.allocate(&mut self.allocator, &options).map_err(|error| match error {
            AllocError::Exceeded(exceeded) => self.ended(kernel, exceeded),
            error if error.is_limit() => self.too_large(kernel, error),
            error => self.defect(kernel, error),
        })?;
        watch(&step("regalloc", kernel, start, Product::Allocated(&*func)));
        Ok(Allocated { func, rules: selected.fired })
    }

    /// Returns the compiler's support for the target.
    fn support(&self) -> Result<&'static Support, CompileError> {
        let unknown = || {
            let (span, target) = (Span::default(), self.options.target.name());
            let reason = Some(Reason::new("the target is not in the list of targets"));
            let refusal = Refusal { op: None, span, target, reason };
            CompileError::Refused(vec![Refused { at: self.at("", span), refusal }])
        };
        self.support.ok_or_else(unknown)
    }

    /// Polls the watchdog. Returns an error if the compilation must end.
    fn poll(&self, kernel: &Kernel) -> Result<(), CompileError> {
        let polled = self.options.watchdog.as_ref().map_or(Ok(()), Watchdog::poll);
        polled.map_err(|exceeded| self.ended(kernel, exceeded))
    }

    fn at(&self, kernel: &str, span: Span) -> ErrorLocation {
        let loc = self.locator.locate(span, 0);
        ErrorLocation { file: self.file.to_owned(), kernel: kernel.to_owned(), span, loc }
    }

    fn invalid(&self, kernel: &str, wrong: Vec<Diagnostic>) -> CompileError {
        let invalid = |diagnostic: Diagnostic| Invalid { at: self.at(kernel, diagnostic.span), diagnostic };
        CompileError::Invalid(wrong.into_iter().map(invalid).collect())
    }

    fn refused(&self, kernel: &Kernel, refused: Vec<Refusal>) -> CompileError {
        let located = |refusal: Refusal| Refused { at: self.at(&kernel.name, refusal.span), refusal };
        CompileError::Refused(refused.into_iter().map(located).collect())
    }

    /// Creates the error for a kernel that exceeds the target's capacity.
    fn too_large(&self, kernel: &Kernel, error: impl Display) -> CompileError {
        let (at, limit) = (self.at(&kernel.name, kernel.span), Limit::Target(error.to_string()));
        CompileError::TooLarge(TooLarge { at, target: self.options.target, limit })
    }

    /// Creates the error for a compilation that exceeded a limit or was cancelled.
    fn ended(&self, kernel: &Kernel, exceeded: Exceeded) -> CompileError {
        let at = self.at(&kernel.name, kernel.span);
        match exceeded {
            Exceeded::Cancelled | Exceeded::Time { .. } => CompileError::Cancelled { at, exceeded },
            _ => {
                let limit = Limit::Set(exceeded);
                CompileError::TooLarge(TooLarge { at, target: self.options.target, limit })
            }
        }
    }

    /// Creates the error for a defect of the compiler itself.
    fn defect(&self, kernel: &Kernel, error: impl Display) -> CompileError {
        let message = format!("cannot compile @{}: {error}", kernel.name);
        CompileError::Internal { at: self.at(&kernel.name, kernel.span), message }
    }

    /// Returns the current time as the start of a step. Returns `None` if steps are not timed.
    fn start(&self) -> Option<Instant> {
        self.options.timed.then(clock::now).flatten()
    }
}

/// Counts the applications of each selection rule. Returns the names of the applied rules with
/// their counts, in the order of the rules.
pub fn count_rules(target: Target, taken: &[u32]) -> Vec<(&'static str, usize)> {
    let rules = TARGETS.rules(target);
    let mut counts = vec![0; rules.len()];
    for &rule in taken {
        if let Some(count) = counts.get_mut(rule as usize) {
            *count += 1;
        }
    }
    rules.iter().zip(counts).filter(|&(_, count)| count > 0).map(|(rule, count)| (rule.name, count)).collect()
}

/// Returns `true` if a kernel has an op that operates on several lanes.
fn is_packed(kernel: &Kernel) -> bool {
    use halfbyte_ir::Op::{Dot2S, Dot2SU, Dot2U, Dot4S, Dot4SU, Dot4U, ReduceAddS, ReduceAddU, SadS, SadU};
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    insts.any(|&inst| {
        let data = &kernel.insts[inst];
        let adds =
            matches!(data.op, SadS | SadU | Dot4S | Dot4U | Dot4SU | Dot2S | Dot2U | Dot2SU | ReduceAddS | ReduceAddU);
        let works = data.op.row().lanewise || adds;
        works && data.ty.lanes() > 1
    })
}

fn ops(kernel: &Kernel) -> usize {
    kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).map(|block| block.insts.len()).sum()
}

fn step<'a>(name: &'static str, kernel: &'a Kernel, start: Option<Instant>, result: Product<'a>) -> Stage<'a> {
    let time = start.map_or(Duration::ZERO, |start| start.elapsed());
    Stage { name, kernel: &kernel.name, time, changed: true, result }
}

/// Adapter that reports the passes to an observer of the compilation.
struct Passes<'a, 'w>(&'a mut Watch<'w>);

impl Observer for Passes<'_, '_> {
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, changed: bool, time: Duration) {
        let result = Product::Lowered(kernel);
        (self.0)(&Stage { name: pass.name(), kernel: &kernel.name, time, changed, result });
    }
}

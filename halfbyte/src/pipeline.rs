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
/// The passes over the IR, in order.
pub use halfbyte_lower::ORDER as PASSES;

/// The stages after the passes, by the names that `--print-after` and `--time-passes` accept. PTX
/// has an unlimited number of registers; there `regalloc` converts the code out of SSA form.
pub const STAGES: [&str; 4] = ["isel", "expand", "regalloc", "layout"];

/// Returns `true` if a step runs for a target. Only some targets have instructions to expand.
pub fn is_taken(step: &str, target: Target) -> bool {
    step != "expand" || TARGETS.support(target).is_some_and(|support| support.isel.has_pseudo_instructions())
}

/// Compilation options.
#[derive(Clone)]
pub struct Options {
    /// The target.
    pub target: Target,
    /// The set of targets that contains it.
    pub targets: &'static TargetSet,
    /// The passes over the IR, with their rules.
    pub pipeline: Pipeline,
    /// Permits launches with items along several axes for kernels that name only x. On targets that
    /// number items per axis, ops without an axis, such as `item_id`, then take more instructions.
    /// Kernels that name y or z always permit such launches.
    pub several_axes: bool,
    /// The block size along x, y and z, if all launches use the same one. Targets that can declare
    /// it then use it as a constant: PTX has `.reqntid`.
    pub block: Option<[u32; 3]>,
    /// Verifies the result of each step: the kernel after each pass, and the register allocation.
    pub verify: bool,
    /// Measures the time of each step, which takes some time itself.
    pub timed: bool,
    /// Watchdog with limits on the compilation, which can also cancel it.
    pub watchdog: Option<Watchdog>,
    /// Maximum number of threads that compile kernels. The output does not depend on it, but the
    /// steps of different kernels are shown interleaved.
    pub threads: NonZero<usize>,
}

impl Options {
    /// Creates options with all passes in order, on one thread. Steps are verified if debug
    /// assertions are enabled.
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

    /// Replaces the passes by those with the given names.
    ///
    /// # Errors
    /// Returns an error if a name is not that of a pass.
    pub fn with_passes<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Result<Options, UnknownPass> {
        self.pipeline = Pipeline::named(names)?;
        Ok(self)
    }
}

/// A completed step.
pub struct Stage<'a> {
    /// Name of the step: a pass, or one of [`STAGES`].
    pub name: &'a str,
    /// Name of the kernel, without `@`.
    pub kernel: &'a str,
    /// Duration of the step; zero unless [`Options::timed`] is set.
    pub time: Duration,
    /// The step changed the kernel.
    pub changed: bool,
    /// The result of the step, which `Display` formats as text.
    pub result: Product<'a>,
}

/// The result of a step for one kernel.
#[derive(Clone, Copy)]
pub enum Product<'a> {
    /// The kernel after a pass.
    Lowered(&'a Kernel),
    /// Machine instructions on virtual registers.
    Selected(&'a dyn SelectedCode),
    /// Machine instructions on hardware registers.
    Allocated(&'a dyn AllocatedCode),
    /// Encoded machine code.
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

/// Callback that observes every step.
pub type Watch<'w> = dyn FnMut(&Stage<'_>) + Send + 'w;

/// Compiler of kernels, one after another.
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
    /// The rules of the passes, in the numbering of [`Pipeline::rule`].
    pub lower: Vec<usize>,
    /// The selection rules of the target, in the order of [`TargetSet::rules`].
    pub isel: Vec<usize>,
}

/// A kernel's machine instructions after register allocation.
#[derive(Debug)]
pub struct Allocated {
    /// The instructions.
    pub func: Box<dyn AllocatedCode>,
    /// The selection rules that were applied, in order of application.
    pub rules: Vec<u32>,
}

/// Statistics of a compiled kernel.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Name of the kernel, without `@`.
    pub kernel: String,
    /// Number of ops in the source.
    pub ops: usize,
    /// Number of ops after the passes.
    pub lowered: usize,
    /// At least one op after the passes operates on several lanes.
    pub is_packed: bool,
    /// Number of instruction words.
    pub words: usize,
    /// Number of general registers in use.
    pub registers: u32,
    /// Bytes of local memory per item.
    pub local_bytes: u32,
    /// Number of spilled values.
    pub spills: u32,
    /// Bundle density of each block, on targets with bundles.
    pub blocks: Vec<BlockStats>,
    /// The selection rules that were applied, in order of application; [`count_rules`] returns
    /// their names.
    pub rules: Vec<u32>,
}

/// Compiled kernels.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The kernels' machine code.
    pub code: Vec<KernelCode>,
    /// Statistics of the kernels.
    pub stats: Vec<Stats>,
}

/// Compiled kernels, and an object that contains them.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The object file.
    pub object: Vec<u8>,
    /// The kernels' machine code.
    pub code: Vec<KernelCode>,
    /// Statistics of the kernels.
    pub stats: Vec<Stats>,
}

impl Compiled {
    /// Returns an object file of the kernels. `file` is their source file, and `options` are the
    /// options that they were compiled with.
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

    /// Creates a compiler whose passes use another description of the target's legal ops.
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

    /// Returns how often each rule was applied so far, including applications to kernels that the
    /// target does not support.
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
    /// As for [`Compiler::compile`].
    pub fn compile_verified(
        &mut self,
        kernel: Verified<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(KernelCode, Stats), CompileError> {
        let compiled = self.compile_in_place(&mut kernel.kernel().clone(), watch);
        compiled.map_err(|error| self.as_written(error, kernel.kernel()))
    }

    /// Converts an error of a later step, such as [`Compiler::machine`], to one in terms of the
    /// source kernel: refusals then name its ops.
    pub fn as_written(&self, error: CompileError, kernel: &Kernel) -> CompileError {
        as_written(error, std::slice::from_ref(kernel), self.options.targets, self.options.target)
    }

    /// Compiles a kernel in place. The passes modify `kernel`; later steps do not.
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

    /// Runs the passes over the IR and returns the resulting kernel.
    ///
    /// # Errors
    /// Returns an error if a pass finds something that the target does not support. With
    /// verification enabled, also returns an error if a pass breaks the kernel.
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

    /// Compiles a lowered kernel to machine instructions on hardware registers.
    ///
    /// # Errors
    /// Returns an error if the target does not support the kernel.
    pub fn machine(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<Allocated, CompileError> {
        let support = self.support()?;
        let locator = &self.locator;
        // Spans are located in the order of instructions, so the last line is a good starting
        // point.
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

    /// Returns the support for the target.
    fn support(&self) -> Result<&'static Support, CompileError> {
        let unknown = || {
            let (span, target) = (Span::default(), self.options.target.name());
            let reason = Some(Reason::new("the target is not in the list of targets"));
            let refusal = Refusal { op: None, span, target, reason };
            CompileError::Refused(vec![Refused { at: self.at("", span), refusal }])
        };
        self.support.ok_or_else(unknown)
    }

    /// Polls the watchdog.
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

    /// Creates the error for a compilation that was ended early.
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

    /// Returns the start time of a step, if steps are timed.
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

/// Returns `true` if a kernel has an op on several lanes.
fn is_packed(kernel: &Kernel) -> bool {
    use halfbyte_ir::Op::{Dot2S, Dot2SU, Dot2U, Dot4S, Dot4SU, Dot4U, SadS, SadU};
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    insts.any(|&inst| {
        let data = &kernel.insts[inst];
        let works =
            data.op.row().lanewise || matches!(data.op, SadS | SadU | Dot4S | Dot4U | Dot4SU | Dot2S | Dot2U | Dot2SU);
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

/// Adapter that reports passes as steps.
struct Passes<'a, 'w>(&'a mut Watch<'w>);

impl Observer for Passes<'_, '_> {
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, changed: bool, time: Duration) {
        let result = Product::Lowered(kernel);
        (self.0)(&Stage { name: pass.name(), kernel: &kernel.name, time, changed, result });
    }
}

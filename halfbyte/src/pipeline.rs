//! The way from a kernel to words, step by step.
//!
//! The passes over the IR run in the order of [`PASSES`]. Then instructions are selected, registers allocated, and the
//! words laid out; the words of all kernels make an object.

mod all;
mod threads;

use std::cell::Cell;
use std::fmt::{self, Display};
use std::num::NonZero;
use std::time::{Duration, Instant};

use halfbyte_abi::{Exceeded, Poll, Target, Watchdog, clock};
use halfbyte_emit::{BlockStats, Code, write_object};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{Kernel, Legality, Reason, Span};
use halfbyte_isel::regalloc::{self, AllocError, Allocator};
use halfbyte_isel::{AllocatedCode, Refusal, Request, Scratch, SelectedCode};
use halfbyte_lower::{Context, LowerError, Observer, Pass, Pipeline, UnknownPass};

use crate::error::{At, CompileError, Invalid, Limit, Refused, TooLarge};
use crate::module::{Module, Verified};
use crate::refused::as_written;
use crate::source::Locator;
use crate::targets::{Support, TARGETS, TargetSet};

use all::{header, unwritable};

pub use all::{compile, compile_kernels, compile_object, compile_object_to, compile_ptx, compile_text};
/// The passes over the IR, in order.
pub use halfbyte_lower::ORDER as PASSES;

/// The steps after the passes, by the names that `--print-after` and `--time-passes` know. PTX has as many registers as are
/// named: in place of allocating them its code leaves SSA form.
pub const STAGES: [&str; 4] = ["isel", "expand", "regalloc", "layout"];

/// Whether a step is taken for a target: not everywhere are there instructions to expand.
pub fn is_taken(step: &str, target: Target) -> bool {
    step != "expand" || TARGETS.support(target).is_some_and(|support| support.isel.expands())
}

/// How to compile.
#[derive(Clone)]
pub struct Options {
    /// For which machine.
    pub target: Target,
    /// The list that it is in.
    pub targets: &'static TargetSet,
    /// The passes over the IR, and the rules that they apply.
    pub pipeline: Pipeline,
    /// Whether launches may have items along several axes though a kernel names none but x. Where a target numbers items along each
    /// axis only, `item_id` and other ops without an axis then take more instructions; kernels that name y or z have them anyway.
    pub several_axes: bool,
    /// The items of a group along x, y and z, where launches have no other groups. A target that can say so of a kernel then has these counts as
    /// constants: PTX says `.reqntid`.
    pub block: Option<[u32; 3]>,
    /// Whether each step's result is verified: kernels after each pass, and the register allocation.
    pub verify: bool,
    /// Whether steps say how long they took; to ask for the time takes some itself.
    pub timed: bool,
    /// The limits of the work, and what cancels it.
    pub watchdog: Option<Watchdog>,
    /// How many threads compile kernels at once, at most. What is made is the same; the steps of different kernels are shown
    /// in between each other.
    pub threads: NonZero<usize>,
}

impl Options {
    /// All passes in order, on one thread; verified where debug assertions are on.
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

    /// Other passes, by name.
    ///
    /// # Errors
    /// A name that is no pass's.
    pub fn with_passes<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Result<Options, UnknownPass> {
        self.pipeline = Pipeline::named(names)?;
        Ok(self)
    }
}

/// A step that has been taken.
pub struct Stage<'a> {
    /// The step: a pass, or one of [`STAGES`].
    pub name: &'a str,
    /// The kernel, without `@`.
    pub kernel: &'a str,
    /// The time it took; none where [`Options::timed`] is not set.
    pub time: Duration,
    /// Whether it changed anything.
    pub changed: bool,
    /// What it made of the kernel; displays as text.
    pub result: Product<'a>,
}

/// What a step makes of a kernel.
#[derive(Clone, Copy)]
pub enum Product<'a> {
    /// Of a pass: the kernel after it.
    Lowered(&'a Kernel),
    /// Instructions on virtual registers.
    Selected(&'a dyn SelectedCode),
    /// Instructions on hardware registers.
    Allocated(&'a dyn AllocatedCode),
    /// Words.
    Words(&'a Code),
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

/// Is shown every step.
pub type Watch<'w> = dyn FnMut(&Stage<'_>) + Send + 'w;

/// Compiles kernels one after another.
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

/// How often each rule was taken, by its number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fired {
    /// The rules of the passes, as [`Pipeline::rule`] counts them.
    pub lower: Vec<usize>,
    /// The target's rules of [`TargetSet::rules`].
    pub isel: Vec<usize>,
}

/// A kernel's machine instructions with registers.
#[derive(Debug)]
pub struct Allocated {
    /// The instructions.
    pub func: Box<dyn AllocatedCode>,
    /// The selection rules that were taken, in the order in which they were.
    pub rules: Vec<u32>,
}

/// What became of a kernel.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The kernel, without `@`.
    pub kernel: String,
    /// Its ops in the text.
    pub ops: usize,
    /// Its ops after the passes.
    pub lowered: usize,
    /// Whether some of these work on several lanes.
    pub is_packed: bool,
    /// Its words.
    pub words: usize,
    /// The general registers that it uses.
    pub registers: u32,
    /// The bytes of local memory that an item needs.
    pub local_bytes: u32,
    /// Values that went there.
    pub spills: u32,
    /// Of a target with bundles, how dense they are, by block.
    pub blocks: Vec<BlockStats>,
    /// The selection rules that were taken, in the order in which they were; [`count_rules`] names them.
    pub rules: Vec<u32>,
}

/// Compiled kernels.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The kernels' words.
    pub code: Vec<Code>,
    /// What became of the kernels.
    pub stats: Vec<Stats>,
}

/// Compiled kernels, and an object of them.
#[derive(Clone, Debug)]
pub struct Binary {
    /// An object file.
    pub object: Vec<u8>,
    /// The kernels' words.
    pub code: Vec<Code>,
    /// What became of the kernels.
    pub stats: Vec<Stats>,
}

impl Compiled {
    /// An object file of the kernels, which were compiled from this file with these options.
    ///
    /// # Errors
    /// More than an object can hold.
    pub fn object(&self, file: &str, options: &Options) -> Result<Vec<u8>, CompileError> {
        write_object(&header(file, options), &self.code).map_err(|error| unwritable(file, options, error))
    }

    fn push(&mut self, (code, stats): (Code, Stats)) {
        self.code.push(code);
        self.stats.push(stats);
    }
}

impl<'a> Compiler<'a> {
    /// For kernels of this module.
    pub fn new(module: &'a Module, options: &'a Options) -> Compiler<'a> {
        Compiler::with_legality(module, options, options.targets.legality(options.target))
    }

    /// The same, where the passes are told of a target that can do other things.
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

    /// The rules that were taken so far, also those for kernels that the target cannot do.
    pub fn fired(&self) -> &Fired {
        &self.fired
    }

    /// From a kernel, which is verified first, to its machine code.
    ///
    /// # Errors
    /// [`CompileError`] says of whom.
    pub fn compile(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<(Code, Stats), CompileError> {
        let verified = Verified::new(kernel).map_err(|wrong| self.invalid(&kernel.name, wrong))?;
        self.compile_verified(verified, watch)
    }

    /// The same, of a kernel that is known to be well formed.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn compile_verified(
        &mut self,
        kernel: Verified<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Code, Stats), CompileError> {
        let compiled = self.compile_in_place(&mut kernel.kernel().clone(), watch);
        compiled.map_err(|error| self.as_written(error, kernel.kernel()))
    }

    /// An error of a later step, such as [`Compiler::machine`], in terms of the kernel that the text has: refusals name its ops.
    pub fn as_written(&self, error: CompileError, kernel: &Kernel) -> CompileError {
        as_written(error, std::slice::from_ref(kernel), self.options.targets, self.options.target)
    }

    /// The same where the kernel is not needed afterwards: it is left as the passes have made it.
    fn compile_in_place(&mut self, kernel: &mut Kernel, watch: &mut Watch<'_>) -> Result<(Code, Stats), CompileError> {
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

    /// The kernel after the passes over the IR.
    ///
    /// # Errors
    /// What the target cannot do, where a pass finds it; a pass that left the kernel broken, where steps are verified.
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

    /// From a lowered kernel to machine instructions with registers.
    ///
    /// # Errors
    /// What the target cannot do.
    pub fn machine(&mut self, kernel: &Kernel, watch: &mut Watch<'_>) -> Result<Allocated, CompileError> {
        let support = self.support()?;
        let locator = &self.locator;
        // Instructions are asked for one after the other.
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
        if support.isel.expands() {
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

    /// What there is for the target.
    fn support(&self) -> Result<&'static Support, CompileError> {
        let unknown = || {
            let (span, target) = (Span::default(), self.options.target.name());
            let reason = Some(Reason::new("it is not in the list of targets"));
            let refusal = Refusal { op: None, span, target, reason };
            CompileError::Refused(vec![Refused { at: self.at("", span), refusal }])
        };
        self.support.ok_or_else(unknown)
    }

    /// Whether the work on a kernel may go on.
    fn poll(&self, kernel: &Kernel) -> Result<(), CompileError> {
        let polled = self.options.watchdog.as_ref().map_or(Ok(()), Watchdog::poll);
        polled.map_err(|exceeded| self.ended(kernel, exceeded))
    }

    fn at(&self, kernel: &str, span: Span) -> At {
        let loc = self.locator.locate(span, 0);
        At { file: self.file.to_owned(), kernel: kernel.to_owned(), span, loc }
    }

    fn invalid(&self, kernel: &str, wrong: Vec<Diagnostic>) -> CompileError {
        let invalid = |diagnostic: Diagnostic| Invalid { at: self.at(kernel, diagnostic.span), diagnostic };
        CompileError::Invalid(wrong.into_iter().map(invalid).collect())
    }

    fn refused(&self, kernel: &Kernel, refused: Vec<Refusal>) -> CompileError {
        let located = |refusal: Refusal| Refused { at: self.at(&kernel.name, refusal.span), refusal };
        CompileError::Refused(refused.into_iter().map(located).collect())
    }

    /// That a kernel needs more than the target has.
    fn too_large(&self, kernel: &Kernel, error: impl Display) -> CompileError {
        let (at, limit) = (self.at(&kernel.name, kernel.span), Limit::Target(error.to_string()));
        CompileError::TooLarge(TooLarge { at, target: self.options.target, limit })
    }

    /// That the work on a kernel was ended early.
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

    /// An error that no kernel should cause: the compiler's own.
    fn defect(&self, kernel: &Kernel, error: impl Display) -> CompileError {
        let message = format!("cannot compile @{}: {error}", kernel.name);
        CompileError::Internal { at: self.at(&kernel.name, kernel.span), message }
    }

    /// When a step begins, where that is asked.
    fn start(&self) -> Option<Instant> {
        self.options.timed.then(clock::now).flatten()
    }
}

/// The selection rules that were taken, by name and in the order of the rules, with how often each was.
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

/// Whether an op works on several lanes.
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

/// Shows passes as steps.
struct Passes<'a, 'w>(&'a mut Watch<'w>);

impl Observer for Passes<'_, '_> {
    fn after(&mut self, pass: &dyn Pass, kernel: &Kernel, changed: bool, time: Duration) {
        let result = Product::Lowered(kernel);
        (self.0)(&Stage { name: pass.name(), kernel: &kernel.name, time, changed, result });
    }
}

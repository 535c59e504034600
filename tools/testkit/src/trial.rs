//! Trials: executions of a kernel on the evaluator and as machine code on all engines, with a
//! comparison of the results.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use halfbyte::launch::{Engine, Evaluation, LaunchOptions, evaluate, execute, given, runtime_args};
use halfbyte::pipeline::{Options, compile};
use halfbyte::{CompileError, Module, TARGETS};
use halfbyte_abi::{Alias, Exceeded, Shape, Target, Type, Watchdog};
use halfbyte_ir::diag::Lines;
use halfbyte_ir::eval::{DEFAULT_BUDGET, Evaluated, Fault};
use halfbyte_ir::{Kernel, Op, Space, eval};
use halfbyte_isa::stream::Stream;
use halfbyte_runtime::{LaunchError, Program, Stats, Trap, TrapKind};

use crate::approximate::{is_approximate, is_of_addresses};
use crate::compare::compare;
#[cfg(feature = "aot")]
use crate::native_object::{LaunchResult, NativeKernel};

/// The configuration of a trial: the compiler options and the engines by which one kernel is
/// compiled and executed.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The compiler options; the kernel is compiled with each of them.
    pub options: &'a [Options],
    /// The engines that execute the machine code.
    pub engines: &'a [Engine],
    /// `true` to run native objects too, which requires the feature `aot`.
    pub native_objects: bool,
    /// The number of backward branches that an item may take.
    pub budget: u32,
    /// The limits of the trial.
    pub watchdog: Option<&'a Watchdog>,
}

/// A launch of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The shape of the launch.
    pub shape: Shape,
    /// The bytes of each parameter's scalar or buffer.
    pub args: Vec<Vec<u8>>,
    /// The parameters whose argument lies in the buffer of another parameter.
    pub aliases: Vec<Alias>,
}

impl Launch {
    /// Returns the evaluator's options for the launch.
    fn evaluation<'a>(&'a self, budget: u32, watchdog: Option<&'a Watchdog>) -> Evaluation<'a> {
        Evaluation { budget, watchdog, aliases: &self.aliases, ..Evaluation::from(self.shape) }
    }
}

/// The counts of a trial in which no failure was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// `true` if an item traps on the evaluator.
    pub traps: bool,
    /// For each of the trial's compiler options, `true` if the kernel compiles with them.
    pub accepted: Vec<bool>,
    /// The number of launches of machine code.
    pub launches: u64,
}

/// The kind of failure that a trial finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The kernel is malformed, its text changes when it is parsed and printed again, or its items are not independent.
    Malformed,
    /// The compiler has a defect: it reports an internal error, or its object does not load.
    Defect,
    /// The compiler or an engine panics.
    Panic,
    /// Memory differs after machine code and after the evaluator.
    Memory,
    /// Machine code and evaluator disagree on whether or where an item traps.
    Trap,
    /// Engines disagree on the statistics of a launch.
    Engines,
    /// A limit of the trial was exceeded before a failure was found.
    Exceeded,
}

/// A failure that a trial found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The target, or `None` if the kernel fails before it is compiled.
    pub target: Option<Target>,
    /// The engine, or `None` if no machine code was executed.
    pub engine: Option<Engine>,
    /// The message that describes the failure.
    pub reason: String,
    /// The failing launch, or `None` if the kernel was not launched.
    pub launch: Option<Box<Launch>>,
}

impl Failure {
    fn malformed(reason: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Malformed, target: None, engine: None, reason: reason.into(), launch: None }
    }

    fn exceeded(exceeded: Exceeded) -> Failure {
        Failure { kind: FailureKind::Exceeded, ..Failure::malformed(exceeded.to_string()) }
    }

    fn on(target: Target, kind: FailureKind, reason: impl Into<String>) -> Failure {
        Failure { kind, target: Some(target), ..Failure::malformed(reason) }
    }

    fn in_launch(self, launch: &Launch) -> Failure {
        Failure { launch: Some(Box::new(launch.clone())), ..self }
    }

    /// Returns `true` if the other failure has the same kind, target and engine. For malformed
    /// kernels, defects and panics, the messages must also be similar.
    pub fn is_like(&self, other: &Failure) -> bool {
        let is_said = matches!(self.kind, FailureKind::Malformed | FailureKind::Defect | FailureKind::Panic);
        (self.kind, self.target, self.engine) == (other.kind, other.target, other.engine)
            && (!is_said || outline(&self.reason) == outline(&other.reason))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Returns the first line of a message without names and numbers, because those depend on the kernel.
fn outline(reason: &str) -> String {
    let is_fixed = |word: &&str| !word.contains(|c: char| c.is_ascii_digit() || "%^@".contains(c));
    reason.lines().next().unwrap_or_default().split_whitespace().filter(is_fixed).collect::<Vec<_>>().join(" ")
}

/// Runs a closure. Returns its result, or the message of its panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // The closure's state is dropped after a panic, so a broken invariant cannot be observed.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload.downcast_ref::<&str>().copied();
        said.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
    })
}

impl Trial<'_> {
    fn poll(&self) -> Result<(), Failure> {
        self.watchdog.map_or(Ok(()), Watchdog::poll).map_err(Failure::exceeded)
    }

    /// Runs a trial of a kernel, given as printed text. The closure `launches` returns the launches.
    ///
    /// # Errors
    /// Fails with the failure of the kernel.
    pub fn run_printed(&self, text: &str, launches: impl FnOnce(&Kernel) -> Vec<Launch>) -> Result<Tally, Failure> {
        let module = Module::parse(text).map_err(|report| Failure::malformed(report.to_string()))?;
        let launches = module.ir().kernels.first().map(launches).unwrap_or_default();
        match module.ir().to_string() == text {
            true => self.run(&module, &launches),
            false => Err(Failure::malformed("the kernel's text changes when it is parsed and printed again")),
        }
    }

    /// Checks that the evaluator reports a race in every launch whose groups have at least two items.
    ///
    /// # Errors
    /// Fails if the evaluator does not report a race.
    pub fn must_race(&self, text: &str, launches: impl FnOnce(&Kernel) -> Vec<Launch>) -> Result<Tally, Failure> {
        let module = Module::parse(text).map_err(|report| Failure::malformed(report.to_string()))?;
        let Some(kernel) = module.ir().kernels.first() else { return Ok(Tally::default()) };
        let mut tally = Tally { accepted: vec![false; self.options.len()], ..Tally::default() };
        for launch in launches(kernel) {
            let size: u32 = launch.shape.block.into_iter().product();
            let is_alone = size < 2 || launch.shape.items() == Ok(0);
            match evaluate(kernel, launch.evaluation(self.budget, self.watchdog), &mut launch.args.clone()) {
                Err(Fault::Exceeded(exceeded)) => return Err(Failure::exceeded(exceeded)),
                // A trap may end the launch before the evaluator finds the race.
                Err(Fault::Trap(_)) => tally.traps = true,
                Err(Fault::Race(_)) if !is_alone => {}
                Ok(_) if is_alone => {}
                found => {
                    let found = found.map_or_else(|fault| fault.to_string(), |_| "no race".to_owned());
                    return Err(Failure::malformed(format!("on ir: {found} in {}", launch.shape)).in_launch(&launch));
                }
            }
        }
        Ok(tally)
    }

    /// Runs a trial of the only kernel of a module, with the given launches.
    ///
    /// # Errors
    /// Fails with the failure of the kernel.
    pub fn run(&self, module: &Module, launches: &[Launch]) -> Result<Tally, Failure> {
        let [kernel] = module.ir().kernels.as_slice() else {
            return Err(Failure::malformed("the module must contain exactly one kernel"));
        };
        let mut tally = Tally::default();
        let mut expected = Vec::with_capacity(launches.len());
        for launch in launches {
            let mut args = launch.args.clone();
            let outcome = match evaluate(kernel, launch.evaluation(self.budget, self.watchdog), &mut args) {
                Err(Fault::Exceeded(exceeded)) => return Err(Failure::exceeded(exceeded)),
                Err(fault @ (Fault::Race(_) | Fault::Args(_))) => {
                    return Err(Failure::malformed(format!("on ir: {fault}")).in_launch(launch));
                }
                outcome => outcome,
            };
            tally.traps |= outcome.is_err();
            expected.push((args, outcome));
        }
        for options in self.options {
            let target = options.target;
            let several_axes = options.several_axes || launches.iter().any(|launch| !launch.shape.is_along_x());
            // If all launches have the same group size, kernels with an even number of instructions
            // are compiled for that fixed size.
            let block = launches.first().map(|launch| launch.shape.block);
            let block = block.filter(|block| launches.iter().all(|launch| launch.shape.block == *block));
            let block = options.block.or(block.filter(|_| kernel.insts.len().is_multiple_of(2)));
            let options = &Options { watchdog: self.watchdog.cloned(), several_axes, block, ..options.clone() };
            let compiled = caught(|| compiled(module, options));
            self.poll()?;
            let compiled = compiled.unwrap_or_else(|said| {
                Err(Failure::on(target, FailureKind::Panic, format!("the compiler for {target} panics: {said}")))
            });
            let program = compiled.map_err(|failure| match launches.first() {
                Some(launch) => failure.in_launch(launch),
                None => failure,
            })?;
            #[cfg(feature = "aot")]
            let ahead = self.ahead(program.as_ref(), target)?;
            #[cfg(feature = "aot")]
            let program = program.filter(|_| !self.native_objects || ahead.is_some());
            tally.accepted.push(program.is_some());
            let Some(program) = program else { continue };
            for (launch, (args, outcome)) in launches.iter().zip(&expected) {
                let reference = Reference {
                    module,
                    kernel,
                    launch,
                    args,
                    outcome,
                    target,
                    budget: self.budget,
                    watchdog: self.watchdog,
                };
                tally.launches += self.engines.iter().filter(|engine| TARGETS.runs(**engine, target)).count() as u64;
                reference.check(&program, self.engines).map_err(|mut failure| {
                    if options.pipeline.names().len() != Options::new(target).pipeline.names().len() {
                        let passes: Vec<&str> = options.pipeline.names().collect();
                        failure.reason += &format!(" (with passes {passes:?})");
                    }
                    failure.in_launch(launch)
                })?;
                #[cfg(feature = "aot")]
                if let Some(ahead) = &ahead {
                    tally.launches += u64::from(reference.check_ahead(ahead)?);
                }
            }
        }
        Ok(tally)
    }

    /// Returns the native function of the program's only kernel. Returns `None` if native objects
    /// are not requested or do not support the kernel.
    #[cfg(feature = "aot")]
    fn ahead(&self, program: Option<&Program>, target: Target) -> Result<Option<NativeKernel>, Failure> {
        let kernel = program.and_then(|program| program.kernels().first()).filter(|_| self.native_objects);
        let Some(kernel) = kernel else { return Ok(None) };
        let wrong = |kind, said: &dyn fmt::Display| Failure::on(target, kind, format!("on {target} (aot): {said}"));
        let made =
            caught(|| NativeKernel::new(kernel, self.budget)).map_err(|said| wrong(FailureKind::Panic, &said))?;
        made.map_err(|error| wrong(FailureKind::Defect, &error))
    }
}

/// Compiles a module. Returns `None` if the target refuses a kernel. An internal error or an
/// invalid kernel is a defect of the compiler.
fn compiled(module: &Module, options: &Options) -> Result<Option<Program>, Failure> {
    let target = options.target;
    let defect = |reason: &dyn fmt::Display| Failure::on(target, FailureKind::Defect, format!("on {target}: {reason}"));
    match compile(module, &module.ir().kernels, options, &mut |_| {}) {
        Ok(binary) => halfbyte::TARGETS.load(&binary.object).map(Some).map_err(|error| defect(&error)),
        Err(error @ (CompileError::Internal { .. } | CompileError::Invalid(_))) => Err(defect(&module.report(error))),
        Err(_) => Ok(None),
    }
}

/// Factor by which the budget of backward branches grows, up to [`DEFAULT_BUDGET`], when a launch
/// is evaluated again because an item exceeded the budget.
///
/// An unrolled loop takes fewer backward branches in machine code than on the evaluator, so machine
/// code may continue where the evaluator stops.
const BUDGET_GROWTH: u32 = 64;

/// A launch and its results on the evaluator. Machine code is compared with these results.
struct Reference<'a> {
    module: &'a Module,
    kernel: &'a Kernel,
    launch: &'a Launch,
    /// The contents of the arguments after the launch on the evaluator.
    args: &'a [Vec<u8>],
    outcome: &'a Result<Evaluated, Fault>,
    target: Target,
    budget: u32,
    watchdog: Option<&'a Watchdog>,
}

/// Returns `true` if a kernel uses the bits of an address. Native code and GPUs use other addresses
/// than the evaluator, so the results of a kernel that uses address bits are not compared.
pub fn reads_addresses(kernel: &Kernel) -> bool {
    let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
    insts.filter_map(|&inst| Some((inst, kernel.insts.get(inst)?))).any(|(inst, data)| {
        let is_cast = matches!(data.op, Op::Bitcast | Op::Split | Op::Concat);
        let takes_pointer =
            is_cast && data.ty != Type::PTR && kernel.args(inst).iter().any(|&arg| kernel.ty(arg) == Type::PTR);
        takes_pointer || is_of_addresses(kernel, inst)
    })
}

/// The result of a launch of machine code.
type Outcome = Result<Stats, LaunchError>;

impl Reference<'_> {
    /// Runs the launch on every engine, and compares the results.
    fn check(&self, program: &Program, engines: &[Engine]) -> Result<(), Failure> {
        let target = self.target;
        let Some(loaded) = program.kernel(&self.kernel.name) else {
            return Err(Failure::on(target, FailureKind::Defect, format!("on {target}: the object lacks the kernel")));
        };
        // Machine code that supports only launches along x cannot run a launch over several axes.
        if loaded.info().along_x && !self.launch.shape.is_along_x() {
            return Ok(());
        }
        let mut first: Option<(Engine, Outcome)> = None;
        // A launch runs on a GPU only if the result must be the evaluator's. On traps, approximated
        // instructions and addresses, a GPU may differ.
        let is_for_gpus = self.outcome.is_ok() && !is_approximate(self.kernel) && !reads_addresses(self.kernel);
        let is_fit = |engine: &&Engine| TARGETS.runs(**engine, target) && (**engine != Engine::Cuda || is_for_gpus);
        for &engine in engines.iter().filter(is_fit) {
            let wrong = |(kind, reason)| Failure { engine: Some(engine), ..Failure::on(target, kind, reason) };
            let mut args = self.launch.args.clone();
            let (budget, watchdog, aliases) = (self.budget.into(), self.watchdog, self.launch.aliases.as_slice());
            let how = LaunchOptions { budget, watchdog, aliases, ..LaunchOptions::from(engine) };
            let outcome = caught(|| execute(loaded, how, self.launch.shape, &mut args))
                .map_err(|said| wrong((FailureKind::Panic, format!("{target} ({engine}) panics: {said}"))))?;
            if let Err(LaunchError::Exceeded { exceeded, .. }) = outcome {
                return Err(Failure::exceeded(exceeded));
            }
            let on = format!("{target} ({engine})");
            let agrees = self.agrees(loaded, &on, &outcome, &args);
            let agrees =
                agrees.or_else(|failure| self.agrees_with_larger_budget(loaded, &on, &outcome, &args, failure));
            agrees.map_err(wrong)?;
            if let Engine::Jit { .. } = engine {
                let repeated = caught(|| self.repeats(loaded, engine, &outcome, &args))
                    .map_err(|said| wrong((FailureKind::Panic, format!("{target} ({engine}) panics: {said}"))))?;
                repeated.map_err(|reason| wrong((FailureKind::Engines, format!("{on}, launched again {reason}"))))?;
            }
            match &first {
                None => first = Some((engine, outcome)),
                Some((other, expected)) if *expected != outcome => {
                    let (outcome, expected) = (shown(&outcome), shown(expected));
                    let reason = format!("on {target} {engine} and {other} do not agree: {outcome} and {expected}");
                    return Err(wrong((FailureKind::Engines, reason)));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Checks that three runs of one bound launch give the same result as a single launch. The
    /// buffers are reset before each run.
    fn repeats(
        &self,
        loaded: &halfbyte_runtime::Kernel,
        engine: Engine,
        outcome: &Outcome,
        after: &[Vec<u8>],
    ) -> Result<(), String> {
        let mut args = self.launch.args.clone();
        let lent = runtime_args(loaded, &self.launch.aliases, &mut args);
        let mut bound = loaded.bind(lent).map_err(|error| error.to_string())?;
        bound.engine(engine).budget(self.budget.into()).watchdog(self.watchdog);
        let is_own = |number: usize| !self.launch.aliases.iter().any(|alias| alias.param == number);
        let buffers = || self.launch.args.iter().zip(after).enumerate().filter(|&(number, _)| is_own(number));
        for time in 1..=3 {
            let found = bound.run(self.launch.shape);
            // The watchdog counts the work of all runs together, so its limit may end a repeated run.
            if matches!(found, Err(LaunchError::Exceeded { .. })) {
                return Ok(());
            }
            if found != *outcome {
                return Err(format!(
                    "run {time} of a bound launch: {}; single launch: {}",
                    shown(&found),
                    shown(outcome)
                ));
            }
            for (number, (before, after)) in buffers() {
                if outcome.is_ok() && bound.buffer(number).is_some_and(|bytes| bytes != after) {
                    return Err(format!("run {time} of a bound launch: argument {number} differs"));
                }
                if let Some(bytes) = bound.buffer_mut(number) {
                    bytes.copy_from_slice(before);
                }
            }
        }
        Ok(())
    }

    /// Runs the function of a native object. Returns `true` if its result was compared with the evaluator's.
    #[cfg(feature = "aot")]
    fn check_ahead(&self, ahead: &NativeKernel) -> Result<bool, Failure> {
        if reads_addresses(self.kernel) || !(ahead.takes_grid() || self.launch.shape.is_along_x()) {
            return Ok(false);
        }
        let on = format!("{} (aot)", self.target);
        let called = caught(|| ahead.call(self.launch))
            .map_err(|said| Failure::on(self.target, FailureKind::Panic, format!("{on} panics: {said}")))?;
        let agrees = self.agrees_ahead(&on, &called).or_else(|failure| {
            // Machine code may take fewer backward branches than the evaluator. If the evaluator
            // exceeds the budget, it tries again with a larger one.
            let budget = self.budget.saturating_mul(BUDGET_GROWTH).min(DEFAULT_BUDGET);
            if !matches!(self.outcome, Err(Fault::Trap(trap)) if is_over_budget(trap)) || budget <= self.budget {
                return Err(failure);
            }
            let mut expected = self.launch.args.clone();
            let outcome = evaluate(self.kernel, self.launch.evaluation(budget, self.watchdog), &mut expected);
            if let Err(Fault::Exceeded(exceeded)) = outcome {
                return Err((FailureKind::Exceeded, exceeded.to_string()));
            }
            Reference { args: &expected, outcome: &outcome, ..*self }.agrees_ahead(&on, &called)
        });
        let wrong = |(kind, reason)| Failure::on(self.target, kind, reason).in_launch(self.launch);
        agrees.map(|()| true).map_err(wrong)
    }

    /// Compares the result of a native object's function with the evaluator's result.
    #[cfg(feature = "aot")]
    fn agrees_ahead(&self, on: &str, called: &LaunchResult) -> Result<(), (FailureKind, String)> {
        let reason = match (self.outcome, &called.stopped) {
            (Ok(writers), None) => return self.same_memory(on, &called.args, writers),
            (Err(Fault::Trap(expected)), Some(found)) => {
                let is_own = match expected.kind {
                    eval::TrapKind::OutOfBounds { address, .. } | eval::TrapKind::Misaligned { address, .. } => {
                        eval::space_of(self.kernel, expected.inst, address).is_some()
                    }
                    _ => false,
                };
                match called.has_same_trap(found, expected, self.line(expected), is_own) {
                    true => return Ok(()),
                    false => format!("on {on}: {found}; on ir line {}, {expected}", self.line(expected)),
                }
            }
            (Ok(_), Some(found)) => format!("on {on}: {found}; on ir the launch does not trap"),
            (Err(fault), None) => format!("on {on} the launch does not trap; on ir: {fault}"),
            (Err(fault), Some(found)) => format!("on {on}: {found}; on ir: {fault}"),
        };
        Err((FailureKind::Trap, reason))
    }

    /// Compares the contents of memory after a launch with the contents that the evaluator left.
    fn same_memory(&self, on: &str, args: &[Vec<u8>], writers: &Evaluated) -> Result<(), (FailureKind, String)> {
        let params = given(self.kernel);
        for (param, (expected, found)) in params.iter().enumerate().zip(self.args.iter().zip(args)) {
            let difference = compare(&self.kernel.name, param, ("ir", expected), (on, found), None, Some(writers));
            if let Some(difference) = difference {
                return Err((FailureKind::Memory, difference.to_string()));
            }
        }
        Ok(())
    }

    /// Compares the result of an engine with the evaluator's result.
    fn agrees(
        &self,
        words: &halfbyte_runtime::Kernel,
        on: &str,
        outcome: &Outcome,
        args: &[Vec<u8>],
    ) -> Result<(), (FailureKind, String)> {
        let reason = match (self.outcome, outcome) {
            // The data of one tile do not fit VP1's data store, so the launch is not compared.
            (_, Err(LaunchError::Tile(_))) => return Ok(()),
            (Ok(writers), Ok(_)) => return self.same_memory(on, args, writers),
            (Err(Fault::Trap(expected)), Err(LaunchError::Trap(found))) => {
                match self.is_same_trap(words, expected, found) {
                    true => return Ok(()),
                    false => format!("on {on}: {found}; on ir line {}, {expected}", self.line(expected)),
                }
            }
            (Ok(_), Err(error)) => format!("on {on}: {error}; on ir the launch does not trap"),
            (Err(fault), Ok(_)) => format!("on {on} the launch does not trap; on ir: {fault}"),
            (Err(fault), Err(error)) => format!("on {on}: {error}; on ir: {fault}"),
        };
        Err((FailureKind::Trap, reason))
    }

    /// If an item exceeds the budget on the evaluator, compares again with a larger budget for the
    /// evaluator. Machine code may take fewer backward branches, and so continue for longer.
    fn agrees_with_larger_budget(
        &self,
        words: &halfbyte_runtime::Kernel,
        on: &str,
        outcome: &Outcome,
        args: &[Vec<u8>],
        failure: (FailureKind, String),
    ) -> Result<(), (FailureKind, String)> {
        let budget = self.budget.saturating_mul(BUDGET_GROWTH).min(DEFAULT_BUDGET);
        if !matches!(self.outcome, Err(Fault::Trap(trap)) if is_over_budget(trap)) || budget <= self.budget {
            return Err(failure);
        }
        let mut expected = self.launch.args.clone();
        let how = self.launch.evaluation(budget, self.watchdog);
        let evaluated = &evaluate(self.kernel, how, &mut expected);
        if let Err(Fault::Exceeded(exceeded)) = evaluated {
            return Err((FailureKind::Exceeded, exceeded.to_string()));
        }
        Reference { args: &expected, outcome: evaluated, ..*self }.agrees(words, on, outcome, args)
    }

    fn line(&self, trap: &eval::Trap) -> u32 {
        Lines::new(self.module.text()).position(trap.span.start).line as u32
    }

    /// Returns `true` if machine code traps like the evaluator. The following differences are allowed:
    /// * Machine code may split an access into parts, so the address may be anywhere within the evaluator's access.
    /// * The items of a tile share a budget, so any item of the tile may exceed the budget.
    /// * A load of a uniform stream executes early, so it may trap where the evaluator exceeds the budget in an
    ///   infinite loop.
    /// * The budget may be exceeded at another branch.
    fn is_same_trap(&self, words: &halfbyte_runtime::Kernel, expected: &eval::Trap, found: &Trap) -> bool {
        let tiles = words.info().tiles.as_ref();
        let group = tiles.map_or(1, |tiles| tiles.items);
        let by_budget = (is_over_budget(expected), matches!(found.kind, TrapKind::Budget { .. }));
        match by_budget {
            (_, true) if group > 1 => {
                return (found.item..found.item.saturating_add(group)).contains(&expected.item);
            }
            (true, false) => {
                let at_will =
                    |stream: &Stream| stream.uniform && stream.steps.is_empty() && stream.site.word == found.address;
                return expected.item == found.item && tiles.is_some_and(|tiles| tiles.streams.iter().any(at_will));
            }
            (true, true) => return expected.item == found.item,
            _ => {}
        }
        // Arrays that the kernel declares have other addresses in machine code. Addresses in
        // scratch memory are not compared at all.
        let is_there =
            |address: u64, at: u64, part: u64, bytes: u64| match eval::space_of(self.kernel, expected.inst, address) {
                Some(Space::Scratch) => true,
                space => at.wrapping_sub(address.wrapping_sub(space.map_or(0, Space::base))) + part <= bytes,
            };
        let same_kind = match (&expected.kind, &found.kind) {
            (
                &eval::TrapKind::OutOfBounds { address, bytes },
                &TrapKind::OutOfBounds { address: at, bytes: part, .. },
            ) => is_there(address, at, part.into(), bytes.into()),
            (&eval::TrapKind::Misaligned { address, .. }, &TrapKind::Misaligned { address: at, .. }) => {
                is_there(address, at, 0, 0)
            }
            (eval::TrapKind::Collective(why, _), TrapKind::Collective(found, _)) => why == found,
            (eval::TrapKind::Deadlock(_), TrapKind::Deadlock(_)) => true,
            (eval::TrapKind::ReadOnly { address, .. }, TrapKind::ReadOnly { address: at, .. }) => address == at,
            _ => false,
        };
        same_kind && expected.item == found.item && self.line(expected) == found.loc.line
    }
}

fn is_over_budget(trap: &eval::Trap) -> bool {
    matches!(trap.kind, eval::TrapKind::Budget { .. })
}

fn shown(outcome: &Result<Stats, LaunchError>) -> String {
    match outcome {
        Ok(stats) => format!("{stats:?}"),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Runs a trial of a kernel with a loop of `iterations` iterations. The loop contains `inner`
    /// loops of 60 iterations each.
    fn nested(iterations: u32, inner: usize, budget: u32) -> Result<Tally, Failure> {
        let mut text =
            "kernel @k(%n: i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %0 = const.i32 0\n  %1 = const.i32 1\n  \
                        %60 = const.i32 60\n  br ^l0(%0, %i)\n^l0(%k: i32, %s0: i32):\n"
                .to_owned();
        for (before, number) in (1..=inner).enumerate() {
            text += &format!(
                "  br ^l{number}(%0, %s{before})\n^l{number}(%c{number}: i32, %a{number}: i32):\n  \
                 %s{number} = mul.i32 %a{number}, %n\n  %d{number} = add.i32 %c{number}, %1\n  \
                 %m{number} = icmp.ne.i32 %d{number}, %60\n  br_if %m{number}, ^l{number}(%d{number}, %s{number}), ^x{number}\n\
                 ^x{number}:\n"
            );
        }
        text += &format!(
            "  %k1 = add.i32 %k, %1\n  %more = icmp.lt_u.i32 %k1, %n\n  br_if %more, ^l0(%k1, %s{inner}), ^done\n\
             ^done:\n  store %s{inner}, %y[%i]\n  ret\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let launch = Launch {
            shape: Shape::from(2),
            args: vec![iterations.to_le_bytes().to_vec(), vec![0; 8]],
            aliases: Vec::new(),
        };
        let trial = Trial {
            options: &[Options::new(halfbyte::HALU)],
            engines: &[Engine::Interp, Engine::JIT],
            native_objects: false,
            budget,
            watchdog: None,
        };
        trial.run(&module, &[launch])
    }

    #[test]
    fn machine_code_may_take_fewer_backward_branches() {
        let tally = nested(7, 1, 10).unwrap();
        assert!(tally.traps, "the evaluator takes more than 10");
        assert_eq!(tally.launches, 2);
        assert!(!nested(7, 1, 1000).unwrap().traps);
        // The evaluator and machine code exceed the budget in the same item, so both trap.
        assert!(nested(12, 1, 10).unwrap().traps);
    }

    #[test]
    fn reports_a_launch_that_only_the_evaluator_cannot_finish() {
        let failure = nested(7, 2, 10).unwrap_err();
        assert_eq!((failure.kind, failure.target), (FailureKind::Trap, Some(halfbyte::HALU)));
    }
}

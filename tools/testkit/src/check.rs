//! Checks of kernel files. Every launch in a run line must give the same bits on the evaluator and
//! on every engine of the named targets. Every expected refusal must occur. A PTX kernel that cannot
//! be imported is only executed directly.

mod direct;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halfbyte::import_ptx::{Globals, Options, import_read, is_ptx, read_each, uninitialised, with_sources};
use halfbyte::launch::{
    Engine, Evaluation, LaunchOptions, OrderCause, OrderDependence, OrderDifference, RaceCheck, evaluate, execute,
    fault_diagnostic, given, launch_diagnostic, order_dependence, race_diagnostic,
};
use halfbyte::report::Report;
use halfbyte::{Module, RefusedKernel, Sm, TARGETS, pipeline};
use halfbyte_abi::{Exceeded, Param, Target, Watchdog};
use halfbyte_ir::Span;
use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_ir::eval::Evaluated;
use halfbyte_isa::ptx::text::{KernelNumber, ParsedFile};
use halfbyte_runtime::Program;

use crate::approximate::{self, Approximation, approximations};
use crate::compare::{Difference, compare};
use crate::runlines::{self, LaunchLine, NearResult, RefuseLine, RunLine, RunLines};
use crate::tolerance::{Format, Tolerance};
use halfbyte::args::bind::{Bound, RetainedBuffers, bind_after};
use halfbyte::args::names::kernel_names;
use halfbyte::args::{Loader, shortened};
use halfbyte::include::ModuleReader;

/// The result of checking a file.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The number of launches in run lines.
    pub runs: usize,
    /// The number of expected refusals that occurred.
    pub refusals: usize,
    /// `true` if the evaluator (`ir`) was asked to run a launch.
    pub is_evaluated: bool,
    /// The names of the targets on which results were computed, without the evaluator (`ir`).
    pub compared: BTreeSet<&'static str>,
    /// The errors, or `None` if the file passes.
    pub failures: Option<Report>,
    /// The warnings about same-value races, and about a PTX register or the carry flag that is read
    /// before it is written.
    pub warnings: Option<Report>,
    /// The result of each launch on the evaluator (`ir`) and on each target and engine, and of each expected refusal.
    pub results: Vec<CheckResult>,
    /// The launches whose results depend on the execution order of the items.
    pub order_dependent: Vec<OrderWarning>,
    /// The result of each kernel, in the order of the file.
    pub kernels: Vec<CheckedKernel>,
    /// The text of the file.
    pub text: Arc<str>,
}

/// A launch whose result depends on the execution order of the items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderWarning {
    /// The reason why the result depends on the order of the items.
    pub cause: OrderCause,
    /// The kernel's name, and the difference between the results of two execution orders.
    pub launch: String,
    /// `true` if targets are compared despite the warning. Every target must then give the result
    /// of items that run in ascending order.
    pub is_compared: bool,
}

/// The result of checking one kernel.
#[derive(Clone, Debug)]
pub struct CheckedKernel {
    /// The kernel's name.
    pub name: String,
    /// The span of the kernel.
    pub place: Span,
    /// The errors with which the kernel was refused; empty if the kernel was parsed and imported.
    pub refused: Vec<Diagnostic>,
    /// `true` if the kernel was parsed but not imported, and no run line names a target that needs
    /// the import. `refused` then holds the reasons. A kernel that was not imported is only
    /// executed directly, and counts as read.
    pub only_direct: bool,
    /// `true` if refuse lines expect all errors of the kernel.
    pub as_expected: bool,
    /// `true` if the kernel has an instruction that GPUs approximate. halfbyte rounds its result
    /// correctly, so the result of a GPU may differ slightly.
    pub approximate: bool,
    /// The number of launches in run lines.
    pub launches: usize,
    /// The number of launches that completed on the evaluator (`ir`), if it runs them, and on each target and engine.
    pub run: usize,
    /// The number of launches whose results have the expected bits wherever they ran.
    pub equal: usize,
}

impl CheckedKernel {
    fn new(name: &str, place: Span, refused: &[Diagnostic]) -> CheckedKernel {
        CheckedKernel {
            name: name.to_owned(),
            place,
            refused: refused.to_vec(),
            only_direct: false,
            as_expected: false,
            approximate: false,
            launches: 0,
            run: 0,
            equal: 0,
        }
    }

    /// Returns `true` if the kernel was refused with an error that no refuse line expects.
    pub fn is_refused(&self) -> bool {
        !self.refused.is_empty() && !self.only_direct && !self.as_expected
    }

    /// Returns the state of the kernel: `refused`, `read` (parsed), `run` if all launches
    /// completed, or `equal` if all results are as expected.
    pub fn state(&self) -> &'static str {
        match self.launches {
            _ if !self.refused.is_empty() && !self.only_direct => "refused",
            0 => "read",
            launches if launches == self.equal => "equal",
            launches if launches == self.run => "run",
            _ => "read",
        }
    }
}

/// The result of one launch on one target and engine, or of one expected refusal.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The span of the run line or of the refuse line.
    pub place: Span,
    /// The line number of the run line or of the refuse line.
    pub line: usize,
    /// The target's name, or `ir` for the evaluator and for an invalid run line.
    pub target: &'static str,
    /// The engine that executed machine code; `None` for the evaluator, or if no machine code was executed.
    pub engine: Option<Engine>,
    /// The outcome of the comparison.
    pub verdict: Verdict,
    /// The errors of this launch or refusal.
    pub failures: Vec<Diagnostic>,
    /// The buffers that differ from the expected contents.
    pub differences: Vec<Difference>,
}

/// The verdict on a launch or on an expected refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The launch gave the expected bits, or the expected refusal occurred.
    Passed,
    /// The launch failed or gave other bits, or an expected refusal is missing.
    Failed,
    /// The target refuses the kernel, as a refuse line expects.
    Refused,
}

impl Outcome {
    /// Returns `true` if the file has no launch and no expected refusal.
    pub fn is_empty(&self) -> bool {
        self.runs == 0 && self.refusals == 0
    }
}

/// Options of a check.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The SM version for which PTX is generated.
    pub sm: Sm,
    /// The engines that execute machine code.
    pub engines: &'a [Engine],
    /// Folders from which the text may read files, in addition to the folder of the file itself.
    pub allowed: &'a [PathBuf],
    /// The limits for checking one file. Each file needs its own watchdog.
    pub watchdog: Option<&'a Watchdog>,
    /// `true` if pointers of a PTX kernel may alias.
    pub may_alias: bool,
    /// Detection of races in PTX kernels that are executed directly. The evaluator always detects races.
    pub races: RaceCheck,
}

impl<'a> Setup<'a> {
    /// Creates options for the default SM version, without limits.
    pub const fn new(engines: &'a [Engine]) -> Setup<'a> {
        Setup { sm: Sm::DEFAULT, engines, allowed: &[], watchdog: None, may_alias: false, races: RaceCheck::Off }
    }
}

/// Maximum number of errors that are reported for one file.
const MAX_FAILURES: usize = 100;

/// Checks the text of a file. Relative file names in the text are resolved in `folder`.
pub fn check(file: &str, text: &str, folder: &Path, engines: &[Engine]) -> Outcome {
    check_with(&Setup::new(engines), file, text, folder)
}

/// Checks the text of a file, with PTX generated for the given SM version.
pub fn check_for_sm(sm: Sm, file: &str, text: &str, folder: &Path, engines: &[Engine]) -> Outcome {
    check_with(&Setup { sm, ..Setup::new(engines) }, file, text, folder)
}

/// Checks the text of a file with the given options. If a limit is exceeded, the check ends, and
/// the exceeded limit is reported as the last error.
pub fn check_with(setup: &Setup<'_>, file: &str, text: &str, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let Setup { sm, engines, allowed, watchdog, may_alias, races } = *setup;
    let (found, start) = (text.len() as u64, Span::default());
    let exceeded = watchdog.and_then(|watchdog| {
        let most = watchdog.limits().text_bytes;
        watchdog.check(found, most, |found, limit| Exceeded::Text { found, limit }).err()
    });
    if let Some(exceeded) = exceeded {
        outcome.failures = Some(Report::new(file, "", vec![Diagnostic::new(start, exceeded.to_string())]));
        return outcome;
    }
    outcome.text = text.into();
    let read = is_ptx(file).then(|| read_each(file, text)).transpose();
    let mut warnings = match &read {
        Ok(Some(read)) => uninitialised(file, text, read).map_or_else(Vec::new, |report| report.diagnostics().to_vec()),
        _ => Vec::new(),
    };
    let lines = if is_ptx(file) { runlines::read_ptx(text) } else { runlines::read(text) };
    let module = read.and_then(|read| {
        let module = match &read {
            Some(read) => import_read(file, text, read, Options { may_alias, ..Options::default() }),
            None => ModuleReader::of(file).allow(allowed).watched(watchdog).read(text),
        };
        Ok((module?, read))
    });
    let failures = match (module, lines) {
        (Ok((module, _)), Ok(_)) if module.ir().kernels.is_empty() && module.refused_kernels().is_empty() => {
            vec![Diagnostic::new(start, "the file has no kernel").expected("`kernel @name(...) { ... }`")]
        }
        (Ok((module, read)), Ok(mut lines)) => {
            lines.set_sm(sm);
            let approximations = approximations(&module, read.as_ref());
            outcome.kernels = kernels_of(&module, read.as_ref(), &approximations);
            let imported = module.ir().kernels.iter().map(|kernel| kernel.name.as_str());
            let checker = Checker {
                module: &module,
                read: read.as_ref(),
                imported: indices(imported),
                refused: indices(module.refused_kernels().iter().map(|refused| refused.name.as_str())),
                checked: indices(outcome.kernels.iter().map(|kernel| kernel.name.clone())),
                approximations,
                lines: Lines::new(text),
                loader: Loader::within(folder).allow(allowed).watched(watchdog),
                watchdog,
                races,
                engines,
                programs: HashMap::new(),
                outcome: &mut outcome,
                failures: Vec::new(),
                warnings: &mut warnings,
                differences: Vec::new(),
            };
            checker.check(&lines)
        }
        (module, lines) => {
            let mut wrong = match module {
                Ok((module, _)) => module.refused_kernels().iter().flat_map(|refused| refused.errors.clone()).collect(),
                Err(report) => report.diagnostics().to_vec(),
            };
            wrong.extend(lines.err().unwrap_or_default());
            wrong.sort_by_key(|diagnostic| diagnostic.span.start);
            wrong
        }
    };
    let mut failures = failures;
    if let Some(exceeded) = watchdog.and_then(Watchdog::exceeded)
        && !failures.iter().any(|failure| failure.message.ends_with(&exceeded.to_string()))
    {
        failures.push(Diagnostic::new(start, exceeded.to_string()));
    }
    if !failures.is_empty() {
        outcome.failures = Some(Report::new(file, text, failures));
    }
    if !warnings.is_empty() {
        outcome.warnings = Some(Report::warnings(file, text, warnings));
    }
    outcome
}

/// Returns the kernels of a module, including refused ones, in the order of the file. All their
/// counts of launches are zero.
fn kernels_of(
    module: &Module,
    text: Option<&ParsedFile>,
    approximations: &BTreeMap<String, Vec<Approximation>>,
) -> Vec<CheckedKernel> {
    let read = module.ir().kernels.iter().map(|kernel| CheckedKernel::new(&kernel.name, kernel.span, &[]));
    let refused = module.refused_kernels().iter().map(|refused| CheckedKernel {
        only_direct: text.is_some_and(|text| is_entry(text, &refused.name)),
        ..CheckedKernel::new(&refused.name, refused.span, &refused.errors)
    });
    let mut kernels: Vec<CheckedKernel> = read.chain(refused).collect();
    for kernel in &mut kernels {
        kernel.approximate = approximations.contains_key(&kernel.name);
    }
    kernels.sort_by_key(|kernel| kernel.place.start);
    kernels
}

/// Returns `true` if a text contains the kernel with this name, and the kernel can be executed directly.
fn is_entry(text: &ParsedFile, name: &str) -> bool {
    matches!(text.kernel_by_ir_name(name), Some(KernelNumber::Entry(_)))
}

/// Returns the index of the first occurrence of each name.
fn indices<N: std::hash::Hash + Eq>(names: impl Iterator<Item = N>) -> HashMap<N, usize> {
    let mut indices = HashMap::new();
    for (index, name) in names.enumerate() {
        indices.entry(name).or_insert(index);
    }
    indices
}

/// Target under which the direct execution of PTX is reported. The SM version of this target has no
/// effect.
const TEXT: Target = halfbyte::ptx(Sm::DEFAULT);

struct Checker<'a> {
    module: &'a Module,
    /// The parsed text of a PTX file.
    read: Option<&'a ParsedFile>,
    /// The indices of the kernels of the module, by name.
    imported: HashMap<&'a str, usize>,
    /// The indices of the refused kernels of the module, by name.
    refused: HashMap<&'a str, usize>,
    /// The indices of the kernels in `outcome`, by name.
    checked: HashMap<String, usize>,
    /// The approximated instructions of each kernel, by the kernel's name.
    approximations: BTreeMap<String, Vec<Approximation>>,
    lines: Lines<'a>,
    loader: Loader,
    watchdog: Option<&'a Watchdog>,
    races: RaceCheck,
    engines: &'a [Engine],
    /// The compiled programs. The key is the kernel's index in the module, the target, and whether
    /// the code supports launches over several axes.
    programs: HashMap<(usize, Target, bool), Result<Program, Vec<Diagnostic>>>,
    outcome: &'a mut Outcome,
    failures: Vec<Diagnostic>,
    warnings: &'a mut Vec<Diagnostic>,
    /// The differences of the current launch.
    differences: Vec<Difference>,
}

impl Checker<'_> {
    fn check(mut self, lines: &RunLines) -> Vec<Diagnostic> {
        for run in lines.runs.iter().filter(|run| needs_import(run)) {
            for line in run.launches() {
                self.checked_kernel(&line.kernel.0).into_iter().for_each(|kernel| kernel.only_direct = false);
            }
        }
        let expected = self.refused_kernels(&lines.refusals);
        let refused = self.refusals(&expected);
        for run in &lines.runs {
            if self.is_over() {
                break;
            }
            self.run(run, &refused);
        }
        self.failures.truncate(MAX_FAILURES);
        self.failures
    }

    /// Returns `true` if the check of the file must stop: it has too many errors, or a limit is exceeded.
    fn is_over(&self) -> bool {
        self.failures.len() >= MAX_FAILURES || self.watchdog.is_some_and(|watchdog| watchdog.poll().is_err())
    }

    /// Returns the compiled kernel, compiling it on first use.
    fn program(&mut self, kernel: usize, target: Target, several_axes: bool) -> &Result<Program, Vec<Diagnostic>> {
        let (module, watchdog) = (self.module, self.watchdog.cloned());
        self.programs.entry((kernel, target, several_axes)).or_insert_with(|| {
            let kernels = module.ir().kernels.get(kernel..=kernel).unwrap_or_default();
            let options = pipeline::Options { watchdog, several_axes, ..pipeline::Options::new(target) };
            let binary = pipeline::compile(module, kernels, &options, &mut |_| {})?;
            // An object that does not load is a defect of the compiler. The error points to the kernel.
            let span = kernels.first().map_or_else(Default::default, |kernel| kernel.span);
            halfbyte::TARGETS
                .load(&binary.object)
                .map_err(|error| vec![Diagnostic::new(span, format!("the object does not load: {error}"))])
        })
    }

    /// Reports the errors of the kernels that were refused on import, except the errors that refuse
    /// lines expect. Returns the refuse lines of all other kernels.
    fn refused_kernels<'l>(&mut self, expected: &'l [RefuseLine]) -> Vec<&'l RefuseLine> {
        let module = self.module;
        let mut starts: Vec<u32> = (module.ir().kernels.iter().map(|kernel| kernel.span.start))
            .chain(module.refused_kernels().iter().map(|refused| refused.span.start))
            .collect();
        starts.sort_unstable();
        let is_refused: HashSet<u32> = module.refused_kernels().iter().map(|refused| refused.span.start).collect();
        // A refuse line belongs to the last kernel that begins before its end.
        let mut wanted: HashMap<u32, Vec<&RefuseLine>> = HashMap::new();
        let mut others = Vec::new();
        for refusal in expected {
            let before = starts.partition_point(|&start| start <= refusal.line.end);
            match before.checked_sub(1).and_then(|last| starts.get(last)).filter(|start| is_refused.contains(start)) {
                Some(&start) => wanted.entry(start).or_default().push(refusal),
                None => others.push(refusal),
            }
        }
        for kernel in module.refused_kernels() {
            let mut made = kernel.errors.clone();
            for refusal in wanted.remove(&kernel.span.start).unwrap_or_default() {
                // A kernel that cannot be imported is refused by every target, so the target of the
                // refuse line does not matter.
                let found = expected_of(refusal, &made);
                let failure = found.is_none().then(|| not_refused(refusal));
                match found {
                    Some(place) => {
                        made.remove(place);
                        self.outcome.refusals += 1;
                    }
                    None => self.failures.extend(failure.clone()),
                }
                let verdict = if failure.is_none() { Verdict::Refused } else { Verdict::Failed };
                let (name, failures) = (kernel.name.clone(), failure.into_iter().collect());
                self.push_result(name, refusal.span, refusal.target.name(), None, verdict, failures);
            }
            let checked = self.checked_kernel(&kernel.name);
            let is_error = checked.is_none_or(|checked| {
                checked.as_expected = made.is_empty();
                !checked.only_direct
            });
            self.failures.extend(made.into_iter().filter(|_| is_error));
        }
        others
    }

    fn checked_kernel(&mut self, name: &str) -> Option<&mut CheckedKernel> {
        self.checked.get(name).and_then(|&index| self.outcome.kernels.get_mut(index))
    }

    /// Returns the refused kernel with this name.
    fn refused_kernel(&self, name: &str) -> Option<&RefusedKernel> {
        self.refused.get(name).and_then(|&index| self.module.refused_kernels().get(index))
    }

    /// Checks the refuse lines. Returns the kernels, by index, and targets that they name: each
    /// such pair must fail to compile.
    fn refusals(&mut self, expected: &[&RefuseLine]) -> BTreeSet<(usize, &'static str)> {
        let mut wanted: HashMap<(usize, Target), Vec<&RefuseLine>> = HashMap::new();
        let mut last = 0;
        // For each kernel, the last start of a kernel up to it.
        let starts: Vec<u32> = (self.module.ir().kernels.iter())
            .map(|kernel| {
                last = last.max(kernel.span.start);
                last
            })
            .collect();
        for &refusal in expected {
            match starts.partition_point(|&start| start <= refusal.line.end).checked_sub(1) {
                None => self.failures.push(Diagnostic::new(refusal.span, "there is no kernel before this line")),
                Some(kernel) => wanted.entry((kernel, refusal.target)).or_default().push(refusal),
            }
        }
        let mut keys: Vec<_> = wanted.keys().copied().collect();
        keys.sort_by_key(|&(kernel, target)| (kernel, target.name()));
        for &(kernel, target) in &keys {
            if self.is_over() {
                break;
            }
            let wanted = wanted.get(&(kernel, target)).map(Vec::as_slice).unwrap_or_default();
            let mut made = match self.program(kernel, target, false) {
                Ok(_) => Vec::new(),
                Err(made) => made.clone(),
            };
            for refusal in wanted {
                match expected_of(refusal, &made) {
                    Some(place) => {
                        made.remove(place);
                        self.outcome.refusals += 1;
                        self.note((kernel, refusal.span), target.name(), None, Verdict::Refused, &[]);
                    }
                    None => {
                        let failure = not_refused(refusal);
                        self.note(
                            (kernel, refusal.span),
                            target.name(),
                            None,
                            Verdict::Failed,
                            std::slice::from_ref(&failure),
                        );
                        self.failures.push(failure);
                    }
                }
            }
            if let Some(first) = made.first() {
                self.note((kernel, first.span), target.name(), None, Verdict::Failed, &made);
            }
            self.failures.extend(made);
        }
        keys.into_iter().map(|(kernel, target)| (kernel, target.name())).collect()
    }

    /// Runs the launches of a run line and its `then` lines. Each launch starts with the memory
    /// that the previous launch left. The first failure ends the sequence.
    fn run(&mut self, run: &RunLine, refused: &BTreeSet<(usize, &'static str)>) {
        let mut kept = RetainedBuffers::default();
        // The variables of the PTX text on each engine.
        let globals: Vec<Globals> = self.engines.iter().map(|_| Globals::default()).collect();
        for line in run.launches() {
            let (failures, results) = (self.failures.len(), self.outcome.results.len());
            let launch = match self.is_only_direct(line, &globals) {
                true => self.launch_directly(run, line, &kept, &globals),
                false => {
                    let launch = self.evaluate(line, &kept);
                    self.result(line, "ir", None, failures);
                    launch.iter().for_each(|launch| self.run_everywhere(launch, &run.targets, refused));
                    launch
                }
            };
            self.count(line, results);
            let Some(launch) = launch.filter(|_| self.failures.len() == failures && !self.is_over()) else { return };
            kept.keep(&launch.params, &launch.bound.aliases, launch.results);
        }
    }

    /// Counts a launch in the result of its kernel. The results of the launch start at index `from`
    /// in `outcome.results`.
    fn count(&mut self, line: &LaunchLine, from: usize) {
        let is_over = self.is_over();
        let made = self.outcome.results.get(from..).unwrap_or_default();
        let is_equal = !is_over && made.iter().all(|result| result.verdict == Verdict::Passed);
        let is_run = |result: &CheckResult| result.verdict == Verdict::Passed || !result.differences.is_empty();
        let is_run = !is_over && made.iter().all(is_run);
        let Some(kernel) = self.checked_kernel(&line.kernel.0) else { return };
        kernel.launches += 1;
        kernel.run += usize::from(is_run);
        kernel.equal += usize::from(is_equal);
    }

    /// Records the result of a launch on one target. `before` is the number of errors before the
    /// launch; the launch has failed if there are more now.
    fn result(&mut self, line: &LaunchLine, target: &'static str, engine: Option<Engine>, before: usize) {
        let failures = self.failures.get(before..).unwrap_or_default().to_vec();
        let verdict = if failures.is_empty() { Verdict::Passed } else { Verdict::Failed };
        self.push_result(line.kernel.0.clone(), line.span, target, engine, verdict, failures);
    }

    /// Records a result at a span, for the kernel with the given index in the module.
    fn note(
        &mut self,
        (kernel, place): (usize, Span),
        target: &'static str,
        engine: Option<Engine>,
        verdict: Verdict,
        failures: &[Diagnostic],
    ) {
        let name = self.module.ir().kernels.get(kernel).map_or_else(String::new, |kernel| kernel.name.clone());
        self.push_result(name, place, target, engine, verdict, failures.to_vec());
    }

    fn push_result(
        &mut self,
        kernel: String,
        place: Span,
        target: &'static str,
        engine: Option<Engine>,
        verdict: Verdict,
        failures: Vec<Diagnostic>,
    ) {
        let differences = std::mem::take(&mut self.differences);
        let line = self.lines.position(place.start).line;
        let result = CheckResult { kernel, place, line, target, engine, verdict, failures, differences };
        self.outcome.results.push(result);
    }

    /// Executes one launch on the evaluator, and compares its results with those in the run line.
    /// Returns `None` if the launch fails.
    fn evaluate<'l>(&mut self, line: &'l LaunchLine, kept: &RetainedBuffers) -> Option<EvaluatedLaunch<'l>> {
        let kernels = &self.module.ir().kernels;
        let (name, name_span) = &line.kernel;
        let number = self.imported.get(name.as_str()).copied();
        let Some((number, kernel)) = number.and_then(|number| Some((number, kernels.get(number)?))) else {
            if let Some(refused) = self.refused_kernel(name) {
                let first = refused.errors.first().map_or(refused.span, |first| first.span);
                let failure = Diagnostic::new(*name_span, format!("`@{name}` is refused and cannot be run"));
                self.failures.push(failure.note(Some(first), "the reason is here"));
                return None;
            }
            let unknown = Diagnostic::new(*name_span, format!("there is no kernel `@{}`", shortened(name)));
            let names = kernel_names(kernels.iter().map(|kernel| kernel.name.as_str()), name);
            self.failures.push(unknown.expected(names));
            return None;
        };
        let params = given(kernel);
        let mut bound = match bind_after(kept, &params, &line.args, &line.results, &self.loader, *name_span) {
            Ok(bound) => bound,
            Err(errors) => {
                self.failures.extend(errors);
                return None;
            }
        };
        let near = match self.near(line, &params) {
            Ok(near) => near,
            Err(errors) => {
                self.failures.extend(errors);
                return None;
            }
        };
        bound.size_open_buffers(kernel, line.shape, self.watchdog);
        self.outcome.runs += 1;
        self.outcome.is_evaluated = true;
        let mut results = bound.args.clone();
        let (watchdog, races) = (self.watchdog, self.races.max(RaceCheck::On));
        let how = Evaluation { watchdog, races, aliases: &bound.aliases, ..Evaluation::from(line.shape) };
        let writers = match evaluate(kernel, how, &mut results) {
            Ok(writers) => writers,
            Err(fault) => {
                let failure = self.sourced(fault_diagnostic(&fault, kernel, &line.shape, line.span));
                self.failures.push(failure.note(Some(line.span), "in this launch"));
                return None;
            }
        };
        for race in writers.same_value_races() {
            let warning = self.sourced(race_diagnostic(race, kernel, &line.shape));
            self.warnings.push(warning.note(Some(line.span), "in this launch"));
        }
        let depends = match order_dependence(kernel, how, &bound.args, &results) {
            Ok(found) => found,
            Err(fault) => {
                let failure = self.sourced(fault_diagnostic(&fault, kernel, &line.shape, line.span));
                self.failures.push(failure.note(Some(line.span), "in this launch, with items in another order"));
                return None;
            }
        };
        let launch =
            EvaluatedLaunch { line, kernel: Some(number), params, bound, near, results, writers: Some(writers) };
        for (param, bytes) in &launch.bound.results {
            let Some(found) = launch.results.get(*param) else { continue };
            let near = launch.near(*param);
            self.compare(&launch, (*param, near), ("the run line", bytes), ("ir", found));
        }
        match depends {
            Some(found) => self.is_defined(&launch, &found).then_some(launch),
            None => Some(launch),
        }
    }

    /// Records that the result of a launch depends on the order of the items. Returns `true` if every engine must still
    /// give the result of the ascending order.
    fn is_defined(&mut self, launch: &EvaluatedLaunch<'_>, found: &OrderDependence) -> bool {
        let name = match found.difference {
            OrderDifference::Byte { param, .. } => launch.params.get(param).map(|param| format!(", `{}`", param.name)),
            OrderDifference::Failure(_) => None,
        };
        let warning = OrderWarning {
            cause: found.cause,
            launch: format!("@{}{}: {found}", launch.line.kernel.0, name.unwrap_or_default()),
            is_compared: found.is_defined(),
        };
        self.outcome.order_dependent.push(warning);
        found.is_defined()
    }

    /// Adds the source locations that `.loc` directives give to a diagnostic.
    fn sourced(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.read {
            Some(read) => with_sources(diagnostic, &self.lines, read),
            None => diagnostic,
        }
    }

    /// Returns the tolerance for each parameter's buffer, or `None` for a buffer that is compared exactly.
    fn near(&self, line: &LaunchLine, params: &[Param]) -> Result<Vec<Option<Tolerance>>, Vec<Diagnostic>> {
        let (mut all, mut errors) = (vec![None; params.len()], Vec::new());
        let approximations = self.approximations.get(&line.kernel.0).map(Vec::as_slice).unwrap_or_default();
        for result in &line.near {
            let place = params.iter().zip(&mut all).find(|(param, _)| param.name == result.name.0);
            let Some((param, near)) = place else { continue };
            match near_of(result, param, approximations) {
                Ok(found) => *near = found,
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(all) } else { Err(errors) }
    }

    /// Compares the contents of a parameter's buffer with the expected contents, exactly or within the given tolerance.
    fn compare(
        &mut self,
        launch: &EvaluatedLaunch<'_>,
        (number, near): (usize, Option<&Tolerance>),
        expected: (&str, &[u8]),
        found: (&str, &[u8]),
    ) {
        let EvaluatedLaunch { line, params, bound, writers, .. } = launch;
        let Some(param) = params.get(number) else { return };
        if let Some(found) = compare(&line.kernel.0, (number, param), expected, found, near, writers.as_ref()) {
            let found = found.with(bound.sign(param));
            let failure = Diagnostic::new(line.span, found.to_string());
            let noted = found.notes().into_iter().fold(failure, |failure, note| failure.note(None, note));
            self.failures.push(noted);
            self.differences.push(found);
        }
    }

    /// Runs a launch on every target and engine.
    fn run_everywhere(
        &mut self,
        launch: &EvaluatedLaunch<'_>,
        targets: &[Target],
        refused: &BTreeSet<(usize, &'static str)>,
    ) {
        let (line, engines) = (launch.line, self.engines);
        let Some(kernel) = launch.kernel else { return };
        if self.read.is_some() {
            for &engine in engines.iter().filter(|engine| TARGETS.runs(**engine, TEXT)) {
                let before = self.failures.len();
                self.run_ptx_directly(engine, launch);
                self.result(line, TEXT.name(), Some(engine), before);
            }
            if self.is_over() {
                return;
            }
        }
        for &target in targets {
            let before = self.failures.len();
            if refused.contains(&(kernel, target.name())) {
                let message = format!(
                    "@{} cannot run on {target}: a refuse line in the kernel expects {target} to refuse it",
                    line.kernel.0
                );
                self.failures.push(Diagnostic::new(line.span, message));
                self.result(line, target.name(), None, before);
                continue;
            }
            if let Err(errors) = self.program(kernel, target, !line.shape.is_along_x()) {
                let errors = errors.clone();
                self.note((kernel, line.span), target.name(), None, Verdict::Failed, &errors);
                // Several run lines may launch the same kernel, but its compile errors are reported only once.
                let fresh: Vec<Diagnostic> =
                    errors.into_iter().filter(|error| !self.failures.contains(error)).collect();
                self.failures.extend(fresh);
                continue;
            }
            for &engine in engines.iter().filter(|engine| TARGETS.runs(**engine, target)) {
                let before = self.failures.len();
                self.run_on((kernel, target), engine, launch);
                self.result(line, target.name(), Some(engine), before);
                if self.is_over() {
                    return;
                }
            }
        }
    }

    /// Executes a launch of a PTX text directly.
    fn run_ptx_directly(&mut self, engine: Engine, launch: &EvaluatedLaunch<'_>) {
        let line = launch.line;
        let Some(host) = self.host(line, &Globals::default()) else { return };
        let Some(found) = self.execute(&host, engine, launch) else { return };
        for (number, (expected, found)) in launch.results.iter().zip(&found).enumerate() {
            self.compare(launch, (number, launch.near_on(engine, number)), ("ir", expected), ("the text", found));
        }
    }

    /// Runs a launch on a target with an engine, and compares the results with the evaluator's.
    fn run_on(&mut self, (kernel, target): (usize, Target), engine: Engine, launch: &EvaluatedLaunch<'_>) {
        let (line, watchdog) = (launch.line, self.watchdog);
        let (name, on) = (&line.kernel.0, format!("{target} ({engine})"));
        let Ok(program) = self.program(kernel, target, !line.shape.is_along_x()) else { return };
        let Some(kernel) = program.kernel(name) else {
            return self.failures.push(Diagnostic::new(line.span, format!("the object has no kernel `@{name}`")));
        };
        let mut results = launch.bound.args.clone();
        let how = LaunchOptions { watchdog, aliases: &launch.bound.aliases, ..LaunchOptions::from(engine) };
        if let Err(error) = execute(kernel, how, line.shape, &mut results) {
            let failure = launch_diagnostic(&error, &self.lines, line.span, &on);
            return self.failures.push(failure.note(Some(line.span), "in this launch"));
        }
        self.outcome.compared.insert(target.name());
        for (number, (expected, found)) in launch.results.iter().zip(&results).enumerate() {
            self.compare(launch, (number, launch.near_on(engine, number)), ("ir", expected), (&on, found));
        }
    }
}

/// Returns `true` if a run line names the evaluator or a target for which PTX is imported.
fn needs_import(run: &RunLine) -> bool {
    run.names_ir || run.targets.iter().any(|target| target.sm().is_none())
}

/// Returns the tolerance for a result that was recorded on a GPU.
fn near_of(
    result: &NearResult,
    param: &Param,
    approximations: &[Approximation],
) -> Result<Option<Tolerance>, Diagnostic> {
    let ((name, span), ty) = (&result.name, param.ty());
    let wrong = |message: String, expected: &str| Diagnostic::new(*span, message).expected(expected);
    let format = result.format.or_else(|| Format::of(ty)).ok_or_else(|| {
        let message = format!("`{name}` has elements of type {ty}, which is not a floating-point type");
        wrong(message, "`=`, or `within(f32)` after the value if the elements contain that type")
    })?;
    if format.bits() != ty.elem().bits() {
        let (format, bits) = (format.name(), ty.elem().bits());
        return Err(wrong(format!("`{name}` has lanes of {bits} bits, but {format} does not"), "a type as wide"));
    }
    match &result.margin {
        Some((margin, said)) => Ok(Some(Tolerance::new(format, vec![*margin], format!("the margin {said}")))),
        None => approximate::tolerance_of(approximations, format)
            .map_err(|reason| wrong(reason, "a margin after the value: `within(rel=N, abs=N)`")),
    }
}

/// Returns the index of the error that a refuse line expects, or `None` if there is no such error.
fn expected_of(refusal: &RefuseLine, made: &[Diagnostic]) -> Option<usize> {
    let on_line = |made: &Diagnostic| (refusal.line.start..=refusal.line.end).contains(&made.span.start);
    made.iter().position(|made| on_line(made) && made.to_string().contains(&refusal.text))
}

fn not_refused(refusal: &RefuseLine) -> Diagnostic {
    let message =
        format!("{} does not refuse this with a message that contains `{}`", refusal.target, shortened(&refusal.text));
    Diagnostic::new(refusal.span, message)
}

/// A launch and its results on the evaluator, or on the first engine if the kernel is only executed
/// directly. Other targets and engines are compared with these results.
struct EvaluatedLaunch<'a> {
    line: &'a LaunchLine,
    /// The kernel's index in the module; `None` if the launch is only executed directly.
    kernel: Option<usize>,
    params: Vec<Param>,
    bound: Bound,
    /// The tolerance for each parameter's buffer; `None` for exact comparison.
    near: Vec<Option<Tolerance>>,
    results: Vec<Vec<u8>>,
    /// Outcome of the evaluation; `None` if the launch is only executed directly.
    writers: Option<Evaluated>,
}

impl EvaluatedLaunch<'_> {
    fn near(&self, param: usize) -> Option<&Tolerance> {
        self.near.get(param)?.as_ref()
    }

    /// Returns the tolerance for a parameter's buffer on an engine. Only results of a GPU may
    /// differ from the evaluator's results.
    fn near_on(&self, engine: Engine, param: usize) -> Option<&Tolerance> {
        if engine == Engine::Cuda { self.near(param) } else { None }
    }
}

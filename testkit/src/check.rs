//! Checks a kernel file: every launch that its run lines ask for gives the same bits on the evaluator, on every target
//! named and on every engine; every refusal that it expects is made.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use halfbyte::import_ptx::{Host, Shape, is_ptx};
use halfbyte::launch::{Engine, How, evaluate_watched, execute, fault_diagnostic, given, launch_diagnostic};
use halfbyte::report::Report;
use halfbyte::{Module, Sm, TARGETS, pipeline};
use halfbyte_abi::{Exceeded, Param, Target, Watchdog};
use halfbyte_ir::Span;
use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_ir::eval::{DEFAULT_BUDGET, Writers};
use halfbyte_runtime::Program;

use crate::bind::{Bound, bind};
use crate::compare::compare;
use crate::runlines::{self, RefuseLine, RunLine, RunLines};
use crate::values::{Loader, brief};

/// What came of checking a file.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Launches made.
    pub runs: usize,
    /// Refusals found as expected.
    pub refusals: usize,
    /// What results were computed on, by name, beside `ir`.
    pub compared: BTreeSet<&'static str>,
    /// What is wrong; none where all is well.
    pub failures: Option<Report>,
}

impl Outcome {
    /// Whether the file asks for nothing but to be well formed.
    pub fn is_empty(&self) -> bool {
        self.runs == 0 && self.refusals == 0
    }
}

/// How files are checked.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The SM that PTX is made for.
    pub sm: Sm,
    /// What executes words.
    pub engines: &'a [Engine],
    /// Folders, beside its own, in which files lie that a text may name.
    pub allowed: &'a [PathBuf],
    /// The limits of each file; the same watchdog watches over no two.
    pub watchdog: Option<&'a Watchdog>,
}

impl<'a> Setup<'a> {
    /// For the SM that PTX is made for where none is given, without limits.
    pub const fn new(engines: &'a [Engine]) -> Setup<'a> {
        Setup { sm: Sm::DEFAULT, engines, allowed: &[], watchdog: None }
    }
}

/// More errors of one file are not shown.
const MAX_FAILURES: usize = 100;

/// Checks the text of a file. Files that it names lie in the folder.
pub fn check(file: &str, text: &str, folder: &Path, engines: &[Engine]) -> Outcome {
    check_with(&Setup::new(engines), file, text, folder)
}

/// The same, where PTX is made for another SM.
pub fn check_for_sm(sm: Sm, file: &str, text: &str, folder: &Path, engines: &[Engine]) -> Outcome {
    check_with(&Setup { sm, ..Setup::new(engines) }, file, text, folder)
}

/// The same, within limits: the work on the file ends at the first that is met, which is then the last failure.
pub fn check_with(setup: &Setup<'_>, file: &str, text: &str, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let Setup { sm, engines, allowed, watchdog } = *setup;
    let (found, start) = (text.len() as u64, Span::default());
    let exceeded = watchdog.and_then(|watchdog| {
        let most = watchdog.limits().text_bytes;
        watchdog.check(found, most, |found, limit| Exceeded::Text { found, limit }).err()
    });
    if let Some(exceeded) = exceeded {
        outcome.failures = Some(Report::new(file, "", vec![Diagnostic::new(start, exceeded.to_string())]));
        return outcome;
    }
    let lines = if is_ptx(file) { runlines::read_ptx(text) } else { runlines::read(text) };
    let failures = match (Module::open(file, text, Shape::default()), lines) {
        (Ok(module), Ok(mut lines)) => {
            lines.set_sm(sm);
            let checker = Checker {
                module: &module,
                lines: Lines::new(text),
                loader: Loader::within(folder).allow(allowed).watched(watchdog),
                watchdog,
                engines,
                programs: HashMap::new(),
                outcome: &mut outcome,
                failures: Vec::new(),
            };
            checker.check(&lines)
        }
        (module, lines) => {
            let mut wrong = module.err().map_or(Vec::new(), |report| report.diagnostics().to_vec());
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
    outcome
}

/// What a text in PTX runs on, whichever SM it is for.
const TEXT: Target = halfbyte::ptx(Sm::DEFAULT);

struct Checker<'a> {
    module: &'a Module,
    lines: Lines<'a>,
    loader: Loader,
    watchdog: Option<&'a Watchdog>,
    engines: &'a [Engine],
    /// By the kernel's number and the target: what the compiler makes of it.
    programs: HashMap<(usize, Target), Result<Program, Vec<Diagnostic>>>,
    outcome: &'a mut Outcome,
    failures: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn check(mut self, lines: &RunLines) -> Vec<Diagnostic> {
        let refused = self.refusals(&lines.refusals);
        for run in &lines.runs {
            if self.is_over() {
                break;
            }
            self.run(run, &refused);
        }
        self.failures.truncate(MAX_FAILURES);
        self.failures
    }

    /// Whether nothing more is to be done for the file.
    fn is_over(&self) -> bool {
        self.failures.len() >= MAX_FAILURES || self.watchdog.is_some_and(|watchdog| watchdog.poll().is_err())
    }

    /// What the compiler makes of a kernel, compiled when it is first asked for.
    fn program(&mut self, kernel: usize, target: Target) -> &Result<Program, Vec<Diagnostic>> {
        let (module, watchdog) = (self.module, self.watchdog.cloned());
        self.programs.entry((kernel, target)).or_insert_with(|| {
            let kernels = module.ir().kernels.get(kernel..=kernel).unwrap_or_default();
            let options = pipeline::Options { watchdog, ..pipeline::Options::new(target) };
            let binary = pipeline::compile(module, kernels, &options, &mut |_| {})?;
            // The compiler's own object is at fault where it does not load; the kernel's name shows which.
            let span = kernels.first().map_or_else(Default::default, |kernel| kernel.span);
            halfbyte::TARGETS
                .load(&binary.object)
                .map_err(|error| vec![Diagnostic::new(span, format!("the object does not load: {error}"))])
        })
    }

    /// Checks the expected refusals, and gives the kernels and targets that they are about.
    fn refusals(&mut self, expected: &[RefuseLine]) -> BTreeSet<(usize, &'static str)> {
        let mut wanted: HashMap<(usize, Target), Vec<&RefuseLine>> = HashMap::new();
        for refusal in expected {
            let kernels = self.module.ir().kernels.iter().enumerate();
            let before = kernels.take_while(|(_, kernel)| kernel.span.start <= refusal.line.start);
            match before.last() {
                None => self.failures.push(Diagnostic::new(refusal.span, "no kernel stands before this line")),
                Some((kernel, _)) => wanted.entry((kernel, refusal.target)).or_default().push(refusal),
            }
        }
        let mut keys: Vec<_> = wanted.keys().copied().collect();
        keys.sort_by_key(|&(kernel, target)| (kernel, target.name()));
        for &(kernel, target) in &keys {
            if self.is_over() {
                break;
            }
            let wanted = wanted.get(&(kernel, target)).map(Vec::as_slice).unwrap_or_default();
            let mut made = match self.program(kernel, target) {
                Ok(_) => Vec::new(),
                Err(made) => made.clone(),
            };
            for refusal in wanted {
                let on_line = |made: &Diagnostic| (refusal.line.start..=refusal.line.end).contains(&made.span.start);
                match made.iter().position(|made| on_line(made) && made.to_string().contains(&refusal.text)) {
                    Some(place) => {
                        made.remove(place);
                        self.outcome.refusals += 1;
                    }
                    None => {
                        let message = format!("{target} does not refuse this with `{}`", brief(&refusal.text));
                        self.failures.push(Diagnostic::new(refusal.span, message));
                    }
                }
            }
            self.failures.extend(made);
        }
        keys.into_iter().map(|(kernel, target)| (kernel, target.name())).collect()
    }

    fn run(&mut self, run: &RunLine, refused: &BTreeSet<(usize, &'static str)>) {
        let kernels = &self.module.ir().kernels;
        let (name, name_span) = &run.kernel;
        let Some((number, kernel)) = kernels.iter().enumerate().find(|(_, kernel)| kernel.name == *name) else {
            let names: Vec<String> = kernels.iter().map(|kernel| format!("@{}", kernel.name)).collect();
            let unknown = Diagnostic::new(*name_span, format!("there is no kernel `@{}`", brief(name)));
            return self.failures.push(unknown.expected(names.join(", ")));
        };
        let params = given(kernel);
        let Bound { args, results } = match bind(&params, &run.args, &run.results, &self.loader, *name_span) {
            Ok(bound) => bound,
            Err(errors) => return self.failures.extend(errors),
        };
        self.outcome.runs += 1;
        let mut reference = args.clone();
        let writers = match evaluate_watched(kernel, run.items, DEFAULT_BUDGET, self.watchdog, &mut reference) {
            Ok(writers) => writers,
            Err(fault) => {
                let failure = fault_diagnostic(&fault, kernel, run.span);
                return self.failures.push(failure.note(Some(run.span), "in this launch"));
            }
        };
        for (param, bytes) in &results {
            let (Some(declared), Some(found)) = (params.get(*param), reference.get(*param)) else { continue };
            let (expected, found) = (("the run line", bytes.as_slice()), ("ir", found.as_slice()));
            if let Some(difference) = compare(name, (*param, declared), expected, found, &writers) {
                self.failures.push(Diagnostic::new(run.span, difference.to_string()));
            }
        }
        let launch =
            Reference { run, kernel: number, params: &params, args: &args, results: &reference, writers: &writers };
        if is_ptx(self.module.file()) {
            let engines = self.engines.iter().filter(|engine| TARGETS.runs(**engine, TEXT));
            engines.for_each(|&engine| self.run_text(engine, &launch));
            if self.is_over() {
                return;
            }
        }
        for &target in &run.targets {
            if refused.contains(&(number, target.name())) {
                let message = format!("@{name} cannot run on {target}: a refusal is expected in it");
                self.failures.push(Diagnostic::new(run.span, message));
            } else {
                self.run_on(target, &launch);
            }
        }
    }

    /// Makes a launch of a text in PTX as it stands, of one block as the evaluator has it.
    fn run_text(&mut self, engine: Engine, launch: &Reference<'_>) {
        let Reference { run, params, args, results, writers, .. } = *launch;
        let name = &run.kernel.0;
        let host = match Host::load(self.module.file(), self.module.text(), name) {
            Ok(host) => host,
            Err(report) => return self.failures.extend(report.diagnostics().iter().cloned()),
        };
        let mut found = args.to_vec();
        let how = How { watchdog: self.watchdog, ..How::from(engine) };
        if let Err(error) = host.launch_on(how, 1, run.items, &mut found) {
            return self.failures.push(Diagnostic::new(run.span, error.to_string()));
        }
        self.outcome.compared.insert("ptx");
        for ((param, declared), (expected, found)) in params.iter().enumerate().zip(results.iter().zip(&found)) {
            let texts = (("ir", expected.as_slice()), ("the text", found.as_slice()));
            let difference = compare(name, (param, declared), texts.0, texts.1, writers);
            self.failures.extend(difference.map(|difference| Diagnostic::new(run.span, difference.to_string())));
        }
    }

    /// Makes a launch on a target, with every engine, and compares the results with the evaluator's.
    fn run_on(&mut self, target: Target, launch: &Reference<'_>) {
        let Reference { run, params, writers, .. } = *launch;
        let (name, watchdog) = (&run.kernel.0, self.watchdog);
        for &engine in self.engines.iter().filter(|engine| TARGETS.runs(**engine, target)) {
            let on = format!("{target} ({engine})");
            let program = match self.program(launch.kernel, target) {
                Ok(program) => program,
                Err(errors) => {
                    // A kernel that several run lines name is refused once.
                    let errors = errors.clone();
                    let fresh = errors.into_iter().filter(|error| !self.failures.contains(error));
                    let fresh: Vec<Diagnostic> = fresh.collect();
                    return self.failures.extend(fresh);
                }
            };
            let Some(kernel) = program.kernel(name) else {
                return self.failures.push(Diagnostic::new(run.span, format!("the object has no kernel `@{name}`")));
            };
            let mut results = launch.args.to_vec();
            let how = How { watchdog, ..How::from(engine) };
            if let Err(error) = execute(kernel, how, run.items, &mut results) {
                let failure = launch_diagnostic(&error, &self.lines, run.span, &on);
                self.failures.push(failure.note(Some(run.span), "in this launch"));
                if self.is_over() {
                    return;
                }
                continue;
            }
            self.outcome.compared.insert(target.name());
            for ((param, declared), (expected, found)) in
                params.iter().enumerate().zip(launch.results.iter().zip(&results))
            {
                let difference = compare(name, (param, declared), ("ir", expected), (&on, found), writers);
                let failure = difference.map(|difference| Diagnostic::new(run.span, difference.to_string()));
                self.failures.extend(failure);
            }
        }
    }
}

/// A launch that the evaluator has made.
struct Reference<'a> {
    run: &'a RunLine,
    /// The kernel's number in the module.
    kernel: usize,
    params: &'a [Param],
    args: &'a [Vec<u8>],
    results: &'a [Vec<u8>],
    writers: &'a Writers,
}

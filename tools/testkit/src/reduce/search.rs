//! Search for a failing launch in a kernel file.

use halfbyte_abi::Target;
use halfbyte_ir::eval::DEFAULT_BUDGET;
use thiserror::Error;

use super::{Case, TrialLimits};
use crate::runlines;
use crate::trial::{Failure, FailureKind, Launch, Trial};
use halfbyte::Module;
use halfbyte::args::bind::{RetainedBuffers, bind_after};
use halfbyte::args::{Loader, shortened};
use halfbyte::launch::{Engine, Evaluation, evaluate, given};
use halfbyte::pipeline::Options;
use halfbyte::report::Report;
use halfbyte::targets::TARGETS;

/// Options of the search for a failing launch.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions<'a> {
    /// The name of the only kernel to launch, without `@`; `None` for all kernels.
    pub kernel: Option<&'a str>,
    /// The only target to compile for; `None` for all targets of the run lines.
    pub target: Option<Target>,
    /// The engines that execute the machine code.
    pub engines: &'a [Engine],
    /// The time limits.
    pub patience: &'a TrialLimits,
}

/// A launch on a target that may fail.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The kernel and the launch.
    pub case: Case,
    /// The target.
    pub target: Target,
}

/// The reason why no failing launch was found.
#[derive(Clone, Debug, Error)]
pub enum FindError {
    /// The text, a run line or a value in a run line is invalid.
    #[error(transparent)]
    Report(#[from] Report),
    /// The file has no kernel of the requested name.
    #[error("{file} has no kernel `@{name}`; its kernels are: {there}")]
    Kernel {
        /// The file.
        file: String,
        /// The requested name.
        name: String,
        /// The names of the kernels in the file.
        there: String,
    },
    /// No run line launches the requested kernel on the requested target.
    #[error("{file}: there is nothing to reduce: no run line launches {what}")]
    NotRun {
        /// The file.
        file: String,
        /// The requested kernel and target.
        what: String,
    },
    /// No launch of the run lines fails.
    #[error("{file}: there is nothing to reduce: {what}")]
    Agrees {
        /// The file.
        file: String,
        /// The outcomes on the targets, as text.
        what: String,
    },
}

/// The reason why a launch on one target shows no failure.
#[derive(PartialEq, Eq)]
enum NoFailure {
    /// Machine code and evaluator agree on the contents of memory or on the trap.
    Agrees,
    /// The target refuses the kernel.
    Refused,
    /// The evaluator rejects the launch.
    Malformed(String),
    /// A limit was exceeded before the launch had a result.
    Exceeded(String),
}

impl NoFailure {
    /// Formats the reason as a message that names the given targets.
    fn on(&self, targets: &str) -> String {
        match self {
            NoFailure::Agrees => format!("on {targets}, machine code agrees with ir"),
            NoFailure::Refused => format!("{targets} refuses the kernel; `halfbyte compile` says why"),
            NoFailure::Malformed(reason) => format!("the launch itself is invalid: {reason}"),
            NoFailure::Exceeded(reason) => format!("on {targets}, a limit is exceeded: {reason}"),
        }
    }
}

/// A failing launch of a kernel file.
pub struct FailingLaunch {
    /// The kernel and its failing launch.
    pub case: Case,
    /// The failure.
    pub failure: Failure,
    options: Options,
    engines: Vec<Engine>,
    budget: u32,
    patience: TrialLimits,
}

/// Returns the launches of a module's run lines that match the search options, one for each target of a run line.
///
/// # Errors
/// Fails if a run line is invalid, or if no launch matches the options.
pub fn suspects(module: &Module, loader: &Loader, question: SearchOptions<'_>) -> Result<Vec<Suspect>, FindError> {
    let report = |errors| FindError::Report(Report::new(module.file(), module.text(), errors));
    let kernels = &module.ir().kernels;
    if let Some(name) = question.kernel.filter(|name| !kernels.iter().any(|kernel| kernel.name == *name)) {
        let there: Vec<String> = kernels.iter().map(|kernel| format!("@{}", kernel.name)).collect();
        let there = there.join(", ");
        return Err(FindError::Kernel { file: module.file().to_owned(), name: shortened(name), there });
    }
    let lines = runlines::read(module.text()).map_err(report)?;
    let mut suspects = Vec::new();
    for run in &lines.runs {
        let asked = |target: Target| match question.target {
            Some(wanted) => (wanted.name() == target.name()).then_some(wanted),
            None => Some(target),
        };
        let mut kept = RetainedBuffers::default();
        for launch in run.launches() {
            let (name, place) = &launch.kernel;
            let Some(kernel) = module.ir().kernel(name) else {
                let unknown =
                    halfbyte_ir::Diagnostic::new(*place, format!("there is no kernel `@{}`", shortened(name)));
                return Err(report(vec![unknown]));
            };
            let params = given(kernel);
            let bound = bind_after(&kept, &params, &launch.args, &launch.results, loader, *place);
            let mut bound = bound.map_err(report)?;
            bound.size_open_buffers(kernel, launch.shape, loader.watchdog());
            let (args, aliases) = (bound.args, bound.aliases);
            // The next launch of the run line starts with the memory that this launch leaves.
            let is_next = run.then.last().is_some_and(|last| !std::ptr::eq(last, launch));
            let mut after = if is_next { args.clone() } else { Vec::new() };
            let goes_on = is_next
                && evaluate(
                    kernel,
                    Evaluation { watchdog: loader.watchdog(), aliases: &aliases, ..Evaluation::from(launch.shape) },
                    &mut after,
                )
                .is_ok();
            if question.kernel.is_none_or(|asked| asked == name)
                && let Some(case) = Case::new(kernel, Launch { shape: launch.shape, args, aliases: aliases.clone() })
            {
                let targets = run.targets.iter().filter_map(|&target| asked(target));
                suspects.extend(targets.map(|target| Suspect { case: case.clone(), target }));
            }
            if !goes_on {
                break;
            }
            kept.keep(&params, &aliases, after);
        }
    }
    if suspects.is_empty() {
        let kernel = question.kernel.map_or("a kernel".to_owned(), |name| format!("@{name}"));
        let what = format!(
            "{kernel} on {}",
            question.target.map_or_else(|| TARGETS.names(), |target| target.name().to_owned())
        );
        return Err(FindError::NotRun { file: module.file().to_owned(), what });
    }
    Ok(suspects)
}

/// Returns the first failing launch of a module's run lines.
///
/// # Errors
/// Fails if a run line is invalid, if no launch matches the search options, or if no launch fails.
pub fn find(module: &Module, loader: &Loader, question: SearchOptions<'_>) -> Result<FailingLaunch, FindError> {
    let suspects = suspects(module, loader, question)?;
    // The first iteration finds the failures that `halfbyte check` also finds. The second iteration
    // also verifies the kernel after each compiler step.
    let mut reasons: Vec<(NoFailure, Vec<&str>)> = Vec::new();
    for verify in [false, true] {
        for Suspect { case, target } in &suspects {
            let options = Options::new(*target);
            let options = Options { verify: verify || options.verify, ..options };
            let reason = match FailingLaunch::search(case.clone(), options, question.engines, question.patience) {
                Ok(found) => return Ok(found),
                Err(reason) => reason,
            };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, targets)) if targets.contains(&target.name()) => {}
                Some((_, targets)) => targets.push(target.name()),
                None => reasons.push((reason, vec![target.name()])),
            }
        }
    }
    let what = reasons.iter().map(|(reason, targets)| reason.on(&targets.join(" and ")));
    let what = what.collect::<Vec<_>>().join("; ");
    Err(FindError::Agrees { file: module.file().to_owned(), what })
}

impl FailingLaunch {
    /// Returns the failure of a case, or `None` if machine code and evaluator agree or the case cannot be run.
    pub fn of(case: Case, options: Options, engines: &[Engine], patience: &TrialLimits) -> Option<FailingLaunch> {
        FailingLaunch::search(case, options, engines, patience).ok()
    }

    fn search(
        case: Case,
        options: Options,
        engines: &[Engine],
        patience: &TrialLimits,
    ) -> Result<FailingLaunch, NoFailure> {
        let launches = [case.launch().clone()];
        let failure = |engines: &[Engine], budget| {
            let watchdog = &patience.watchdog();
            let trial = Trial {
                options: std::slice::from_ref(&options),
                engines,
                native_objects: false,
                budget,
                watchdog: Some(watchdog),
            };
            trial.run(&case.module(), &launches)
        };
        let failure_of_all = match failure(engines, DEFAULT_BUDGET) {
            Ok(tally) if tally.accepted.contains(&false) => return Err(NoFailure::Refused),
            Ok(_) => return Err(NoFailure::Agrees),
            Err(Failure { kind: FailureKind::Malformed, reason, .. }) => return Err(NoFailure::Malformed(reason)),
            Err(Failure { kind: FailureKind::Exceeded, reason, .. }) => return Err(NoFailure::Exceeded(reason)),
            Err(failure) => failure,
        };
        // If one engine alone also shows the failure, the reduction uses only that engine.
        let alone: Vec<Engine> = failure_of_all.engine.into_iter().collect();
        let is_same = |other: Result<_, Failure>| other.is_err_and(|other| other.is_like(&failure_of_all));
        let engines = if is_same(failure(&alone, DEFAULT_BUDGET)) { alone } else { engines.to_vec() };
        // A changed branch may make a loop infinite. A small budget of backward branches ends an
        // infinite loop early.
        let budgets = (10..20).map(|bits| 1 << bits).filter(|_| failure_of_all.kind != FailureKind::Trap);
        let budget = budgets.into_iter().find(|&budget| is_same(failure(&engines, budget))).unwrap_or(DEFAULT_BUDGET);
        let (options, patience) = (options.clone(), patience.clone());
        Ok(FailingLaunch { failure: failure_of_all, options, engines, budget, case, patience })
    }

    /// Returns the failure of another case if the failure is of the same kind.
    pub fn fails(&self, case: &Case) -> Option<Failure> {
        let FailingLaunch { options, engines, budget, .. } = self;
        let watchdog = &self.patience.watchdog();
        let trial = Trial {
            options: std::slice::from_ref(options),
            engines,
            native_objects: false,
            budget: *budget,
            watchdog: Some(watchdog),
        };
        let failure = trial.run(&case.module(), std::slice::from_ref(case.launch())).err()?;
        failure.is_like(&self.failure).then_some(failure)
    }

    /// Returns the target on which the case fails.
    pub fn target(&self) -> Target {
        self.options.target
    }

    /// Returns `true` if the case fails only while the kernel is verified after each compiler step.
    pub fn is_hidden(&self) -> bool {
        self.options.verify && !Options::new(self.options.target).verify
    }
}

//! `halfbyte reduce`

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use halfbyte::Target;
use halfbyte::abi::{Limits, Watchdog};
use halfbyte::args::{Loader, MAX_BYTES};
use halfbyte::include::ModuleReader;
use halfbyte::launch::Engine;
use halfbyte_testkit::reduce::{
    Case, Effort, FailingLaunch, FindError, Progress, SearchOptions, Suspect, TrialLimits, find, reduce, suspects,
};

use super::compile::select;
use super::io::{Input, refuse_input, write};
use super::limits::LimitArgs;
use super::meter::{Meter, grouped, seconds};
use super::output::mention;
use super::{Done, EngineName, Failure, SmArgs, interrupt, silence_panics};

/// Reduces a failing kernel to a minimal one
///
/// Takes the first run line of the file on which a target differs from `ir` or the compiler fails: an internal error,
/// an invalid kernel after a pass, a panic, or a hang. Removes ops, branches, work items, parameters and elements as
/// long as the same failure remains. Prints the reduced kernel with a run line for `check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Reduce {
    /// Kernel file; - is standard input
    file: PathBuf,
    /// Output file; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use only this target, instead of all targets of the run lines
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    #[command(flatten)]
    sm: SmArgs,
    /// Use only this engine, instead of all engines
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    /// Reduce only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Maximum total time in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u32,
    /// Time in seconds after which a launch counts as a hang
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u32,
    /// Allow run lines to name files in this folder, in addition to the kernel file's folder
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte reduce wrong.hb
  halfbyte reduce wrong.hb --target vp1 --kernel blur -o less.hb
  halfbyte check less.hb

Exit codes: 0 a failure was found and is written, 1 there is none, 2 the call is at fault.";

impl Reduce {
    pub(super) fn run(self) -> Done {
        refuse_input(self.output.as_deref(), [self.file.as_path()])?;
        let one = Duration::from_secs(self.patience.into());
        let limits = Limits { time: Some(one), buffer_bytes: MAX_BYTES, ..Limits::generous() };
        let all = Duration::from_secs(self.time.into());
        let limits = self.limits.limits(limits);
        // The time limit for a hang applies only to launches, not to reading the file.
        let reading = Watchdog::with_token(Limits { time: Some(all), ..limits.clone() }, interrupt::token());
        let patience = TrialLimits::new(limits, all, interrupt::token());
        let input = Input::read_at_most(&self.file, reading.limits().text_bytes)?;
        let reader = ModuleReader::of(&input.name).allow(&self.allow).watched(Some(&reading));
        let module = reader.read(input.text()?)?;
        select(&module, self.kernel.as_deref())?;
        let engines = match self.engine {
            Some(engine) => vec![engine.engine()],
            None => Engine::ALL.to_vec(),
        };
        if let Some(reason) = self.engine.and_then(|engine| engine.missing(&self.sm)) {
            return Err(Failure::Call(reason));
        }
        let name = self.kernel.as_deref().map(|name| name.strip_prefix('@').unwrap_or(name));
        let target = self.target.map(|name| self.sm.only(name)).transpose()?;
        let question = SearchOptions { kernel: name, target, engines: &engines, patience: &patience };
        let loader = Loader::within(&input.folder).allow(&self.allow).watched(Some(&reading));
        let suspects = suspects(&module, &loader, question).map_err(failure)?;
        silence_panics();
        let watched = Watched { patience: &patience, one, engine: self.engine };
        for suspect in suspects {
            let end = watched.run(&suspect, &suspect.case)?;
            if end == ProcessEnd::Cut {
                let reason =
                    format!("{}: no failure was found in {} s; use --time to search longer", input.name, self.time);
                return Err(Failure::input(reason));
            }
            if !end.is_orderly() {
                // A crash or a hang cannot be caught in this process, so each case runs in a process of its own.
                let mut fails = |case: &Case| watched.run(&suspect, case).is_ok_and(|other| other == end);
                let case = self.reduce(&suspect.case, &patience, &mut fails);
                return self.write(&case, &format!("on {}: check {end}", suspect.target), suspect.target.name());
            }
        }
        let found: FailingLaunch = find(&module, &loader, question).map_err(failure)?;
        let mut reason = found.failure.to_string();
        let mut fails = |case: &Case| found.fails(case).map(|failure| reason = failure.to_string()).is_some();
        let case = self.reduce(&found.case, &patience, &mut fails);
        if found.is_hidden() {
            reason +=
                "\nThe failure occurs only in builds with debug assertions, which verify the kernel after each step.";
        }
        self.write(&case, &reason, found.target().name())
    }

    fn reduce(&self, case: &Case, patience: &TrialLimits, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
        let time = patience.left().unwrap_or(Duration::MAX);
        let effort = Effort { time, ..Effort::default() };
        let mut meter = Meter::new(Duration::from_millis(100));
        let start = Instant::now();
        let mut tried = 0;
        let least = reduce(case.clone(), effort, fails, &mut |Progress { trials, ops, items }| {
            tried = trials;
            let of = case.ops();
            meter.show(|time| format!("{ops} of {of} ops, {items} items; {trials} kernels tried in {}", seconds(time)));
        });
        meter.clear();
        mention(&format!(
            "{} of {} ops, {} of {} items; {} kernels tried in {}",
            least.ops(),
            case.ops(),
            least.launch().shape.items().unwrap_or(0),
            case.launch().shape.items().unwrap_or(0),
            grouped(tried),
            seconds(start.elapsed()),
        ));
        least
    }

    fn write(&self, case: &Case, reason: &str, target: &str) -> Done {
        let said: String = reason.lines().map(|line| format!("; {line}\n")).collect();
        write(self.output.as_deref(), (said + &case.file(target)).as_bytes())
    }
}

/// Converts an error of the search for a failing launch. An unknown kernel is an error of the
/// command line; all others are errors of the input file.
fn failure(error: FindError) -> Failure {
    match error {
        FindError::Report(report) => report.into(),
        error @ FindError::Kernel { .. } => Failure::Call(error.to_string()),
        error @ (FindError::NotRun { .. } | FindError::Agrees { .. }) => Failure::input(error),
    }
}

/// A runner that executes each case in a process of its own.
struct Watched<'a> {
    patience: &'a TrialLimits,
    /// The time limit of a single process.
    one: Duration,
    engine: Option<EngineName>,
}

/// Reason for the end of a process.
#[derive(PartialEq, Eq)]
enum ProcessEnd {
    /// The process exited by itself.
    Orderly,
    /// A signal killed the process.
    Killed(ExitStatus),
    /// The process exceeded its time limit and was killed.
    Late(Duration),
    /// The total time of the reduction was over, so the case has no result.
    Cut,
}

impl ProcessEnd {
    fn is_orderly(&self) -> bool {
        matches!(self, ProcessEnd::Orderly)
    }
}

impl std::fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProcessEnd::Orderly => f.write_str("ends"),
            ProcessEnd::Killed(status) => write!(f, "dies: {status}"),
            ProcessEnd::Late(patience) => write!(f, "does not end within {}", seconds(*patience)),
            ProcessEnd::Cut => f.write_str("was cut short"),
        }
    }
}

impl Watched<'_> {
    fn run(&self, suspect: &Suspect, case: &Case) -> Result<ProcessEnd, Failure> {
        let failed = |error: std::io::Error| Failure::Call(format!("halfbyte cannot call itself: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        // The time limit of `check` is disabled, because the parent process kills the child after its own time limit.
        command.args(["check", "-", "--timeout", "0"]);
        if let Some(sm) = suspect.target.sm() {
            command.args(["--sm", &sm.number().to_string()]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(engine) = self.engine {
            command.args(["--engine", engine.engine().name()]);
        }
        let mut child = command.spawn().map_err(failed)?;
        let file = case.file(suspect.target.name());
        if let Some(mut stdin) = child.stdin.take() {
            // The child may exit before it has read all input.
            let _ = stdin.write_all(file.as_bytes());
        }
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(if status.code().is_some() { ProcessEnd::Orderly } else { ProcessEnd::Killed(status) });
            }
            let is_late = start.elapsed() >= self.one;
            if is_late || self.patience.watchdog().poll().is_err() {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Ok(if is_late { ProcessEnd::Late(self.one) } else { ProcessEnd::Cut });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

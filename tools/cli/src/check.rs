//! `halfbyte check`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use halfbyte::abi::Limits;
use halfbyte::import_ptx::is_ptx;
use halfbyte::ir::diag::{Lines, Position};
use halfbyte::launch::Engine;
use halfbyte::report::Report;
use halfbyte_testkit::check::{CheckResult, CheckedKernel, OrderWarning, Outcome, Setup, Verdict, check_with};
use serde_json::{Value, json};

use super::io::{KernelFile, kernel_files, print, refuse_input, to_stdout};
use super::json_output::{JsonOutput, of_report};
use super::junit::{self, Case, Suite};
use super::limits::{LimitArgs, advice};
use super::numbers::mismatch;
use super::output::{mention, render, say, summarise};
use super::races::{Strictness, race_check};
use super::{AliasArgs, Done, EngineName, Failure, Message, SmArgs, interrupt, watch};

/// Runs kernel files on the evaluator and on all targets of their run lines, and compares the results bit for bit
///
/// For a PTX file with several kernels, each kernel has a line of its own. It shows the state of the kernel: `refused`,
/// with the position and the reason; `read`; `run`, if its launches completed; or `equal`, if all results are equal. A
/// refused kernel does not prevent the launches of the other kernels. The file fails, unless a line `// refuse: ptx:
/// TEXT` expects each reason.
///
/// A PTX kernel that cannot be imported is only executed directly, by run lines for `ptx`. The reason is a note in the
/// line of the kernel. If a run line names `ir`, `halu` or `vp1`, the kernel is refused.
///
/// A file without run lines neither passes nor fails, and is counted separately. If engine `cuda` finds no GPU, all
/// files are skipped, with the reason.
///
/// By default, a file may take 9 seconds, 1.5 GiB of memory and 64 MiB of buffers. If a limit is exceeded, the rest of
/// the file is not checked.
///
/// A run line: `; run: halu: @axpy items=2 a=2.0 x=[1.0, 3.0] y=zeros(2) -> y=[2.0, 6.0]`. The target `all` means every
/// target. `grid=4,2 block=32,4` may replace `items=N`: blocks and threads along x, y and z.
///
/// A result of a GPU is written with `~=`. Approximate instructions may differ from it within the bound of the PTX
/// manual or within a tolerance: `y~=[2.0] within(rel=1e-5)`.
///
/// A line `; then: @KERNEL items=N ...` below a run line makes another launch. A parameter without a value keeps the
/// last value of the parameter with that name.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// Kernel files, or folders that are searched for *.hb files; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Use only this engine, instead of all engines
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    #[command(flatten)]
    alias: AliasArgs,
    #[command(flatten)]
    sm: SmArgs,
    /// Also detect races in directly executed PTX; the evaluator always detects them
    ///
    /// Two stores of the same value by the same instruction are a warning; with --races=strict, they are an error.
    #[arg(long, value_enum, require_equals = true, value_name = "MODE")]
    races: Option<Option<Strictness>>,
    /// Allow run lines to name files in this folder, in addition to the kernel file's folder
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
    /// Run again whenever one of the files or folders changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Write a JUnit report for CI systems; with -, standard output has only the report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object (docs/json/check.schema.json)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte check examples
  halfbyte check mine.hb --engine jit
  halfbyte check mine.hb --watch
  halfbyte check examples --engine cuda --sm 90";

impl Check {
    pub(super) fn run(self) -> Done {
        if self.watch { watch::each_change(&self.paths, || self.once()) } else { self.once() }
    }

    fn once(&self) -> Done {
        let has_stdout = self.junit.as_deref().is_some_and(|path| to_stdout(Some(path)));
        if self.json && has_stdout {
            let message = "--json and `--junit -` both write to standard output; name a file with --junit FILE";
            return Err(Failure::Call(message.into()));
        }
        // If standard output has a JSON object or a JUnit report, nothing else is printed there.
        let is_shown = !self.json && !has_stdout;
        let mut checked = Vec::new();
        let done = self.run_files(&mut checked, is_shown);
        if interrupt::is_pending() {
            return Ok(());
        }
        if let (Some(path), Ok(())) = (&self.junit, &done) {
            let suites: Vec<Suite> = checked.iter().map(Checked::suite).collect();
            junit::report(path, "check", &suites)?;
        }
        let count = |verdict| checked.iter().filter(|file| file.verdict() == verdict).count();
        let (passed, failed, skipped) = (count(OK), count(FAILED), count(SKIPPED));
        let done = done.and_then(|()| if failed == 0 { Ok(()) } else { Err(Failure::Input(Message::Said)) });
        if self.json {
            let mut answer = JsonOutput::new("check");
            answer.set("passed", passed);
            answer.set("failed", failed);
            answer.set("without_run_lines", count(WITHOUT));
            answer.set("skipped", skipped);
            answer.set("files", checked.iter().map(Checked::json).collect::<Vec<_>>());
            for file in &checked {
                match &file.what {
                    FileResult::Checked(outcome) => {
                        outcome.failures.iter().chain(&outcome.warnings).for_each(|report| answer.report(report));
                    }
                    FileResult::NotRead(reason) => answer.wrong(&Message::Text(reason.clone())),
                    FileResult::Skipped(_) => {}
                }
            }
            return answer.finish(done);
        }
        if is_shown && let Err(Failure::Input(Message::Said)) | Ok(()) = done {
            let without = count(WITHOUT);
            let without = if without == 0 { String::new() } else { format!(", {without} without run lines") };
            let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
            summarise(&format!("{passed} passed, {failed} failed{without}{skipped}\n"))?;
        }
        done
    }

    fn run_files(&self, checked: &mut Vec<Checked>, is_shown: bool) -> Done {
        let engines = match self.engine {
            Some(engine) => vec![engine.engine()],
            None => Engine::ALL.to_vec(),
        };
        let files = kernel_files(&self.paths)?;
        refuse_input(self.junit.as_deref(), files.iter().map(|file| file.path.as_path()))?;
        if let Some(reason) = self.engine.and_then(|engine| engine.missing(&self.sm)) {
            if is_shown {
                print(format!("skipped: {reason}\n").as_bytes())?;
            }
            let skipped = |file: &KernelFile| {
                let name = file.path.display().to_string();
                Checked { name, what: FileResult::Skipped(reason.clone()), time: Duration::ZERO, advice: None }
            };
            checked.extend(files.iter().map(skipped));
            return Ok(());
        }
        let width = files.iter().map(|file| file.path.as_os_str().len()).max().unwrap_or(0).min(60);
        for file in &files {
            if interrupt::is_pending() {
                return Ok(());
            }
            let found = self.run_file(file, &engines)?;
            if is_shown {
                found.show(width)?;
            }
            checked.push(found);
        }
        Ok(())
    }

    fn run_file(&self, file: &KernelFile, engines: &[Engine]) -> Result<Checked, Failure> {
        let (start, watchdog) = (Instant::now(), self.limits.watchdog(Limits::strict()));
        let input = match file.read(watchdog.limits().text_bytes) {
            Ok(input) => input,
            // If a file cannot be read, the remaining files are still checked.
            Err(Failure::Input(Message::Text(reason))) => {
                let (name, time) = (file.path.display().to_string(), start.elapsed());
                return Ok(Checked { name, what: FileResult::NotRead(reason), time, advice: None });
            }
            Err(failure) => return Err(failure),
        };
        let (sm, may_alias, races) = (self.sm.version(), self.alias.alias, race_check(self.races));
        let setup = Setup { sm, engines, allowed: &self.allow, watchdog: Some(&watchdog), may_alias, races };
        let outcome = match input.text() {
            Ok(text) => check_with(&setup, &input.name, text, &input.folder),
            Err(report) => Outcome { failures: Some(report), ..Outcome::default() },
        };
        let advice = outcome.failures.as_ref().and_then(|_| watchdog.exceeded().as_ref().and_then(advice));
        Ok(Checked { name: input.name, what: FileResult::Checked(Box::new(outcome)), time: start.elapsed(), advice })
    }
}

const OK: &str = "ok";
const FAILED: &str = "FAILED";
const WITHOUT: &str = "-";
const SKIPPED: &str = "skipped";

/// The result of checking one file.
struct Checked {
    name: String,
    what: FileResult,
    time: Duration,
    /// The help text for an exceeded limit.
    advice: Option<&'static str>,
}

enum FileResult {
    Checked(Box<Outcome>),
    /// The file could not be read, for this reason.
    NotRead(String),
    /// The file was skipped, for this reason.
    Skipped(String),
}

impl Checked {
    fn verdict(&self) -> &'static str {
        match &self.what {
            FileResult::Checked(outcome) if outcome.failures.is_some() => FAILED,
            FileResult::Checked(outcome) if outcome.is_empty() => WITHOUT,
            FileResult::Checked(_) => OK,
            FileResult::NotRead(_) => FAILED,
            FileResult::Skipped(_) => SKIPPED,
        }
    }

    /// Prints the result line of the file and its errors. `width` is the width of the longest file name.
    fn show(&self, width: usize) -> Done {
        let (name, verdict) = (&self.name, self.verdict());
        match &self.what {
            FileResult::Checked(outcome) => {
                let mut line = format!("{verdict:<6} {name:<width$}  {}\n", summary(outcome));
                // If a PTX file has a single kernel that is not refused, the line of the kernel would repeat the line
                // of the file. It is therefore omitted.
                if is_ptx(name) && (outcome.kernels.len() > 1 || outcome.kernels.iter().any(|k| !k.refused.is_empty()))
                {
                    let lines = Lines::new(&outcome.text);
                    line.extend(outcome.kernels.iter().map(|kernel| kernel_line(kernel, &lines)));
                }
                if outcome.failures.is_some() {
                    print(line.as_bytes())?
                } else {
                    summarise(&line)?
                }
                outcome.failures.iter().for_each(|report| say(&render(report)));
                outcome.warnings.iter().for_each(|report| mention(&render(report)));
            }
            FileResult::NotRead(reason) => {
                print(format!("{verdict:<6} {name:<width$}  not read\n").as_bytes())?;
                say(&format!("error: {reason}"));
            }
            FileResult::Skipped(_) => {}
        }
        if let Some(advice) = self.advice {
            say(&format!("help: {advice}"));
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let mut object = json!({ "file": self.name, "seconds": self.time.as_secs_f64(), "results": [] });
        object["verdict"] = match self.verdict() {
            OK => "passed",
            FAILED => "failed",
            WITHOUT => "no run lines",
            _ => "skipped",
        }
        .into();
        match &self.what {
            FileResult::Checked(outcome) => {
                object["launches"] = outcome.runs.into();
                object["refusals"] = outcome.refusals.into();
                let text = Report::new(&*self.name, outcome.text.clone(), []);
                object["results"] = outcome.results.iter().map(|result| result_json(result, &text)).collect();
                object["kernels"] = outcome.kernels.iter().map(|kernel| kernel_json(kernel, &text)).collect();
            }
            FileResult::NotRead(reason) | FileResult::Skipped(reason) => object["reason"] = reason.as_str().into(),
        }
        object
    }

    fn suite(&self) -> Suite {
        let whole = |verdict| vec![Case { name: self.name.clone(), line: None, time: None, verdict }];
        let cases = match &self.what {
            FileResult::Skipped(reason) => whole(junit::Verdict::Skipped { message: reason.clone() }),
            FileResult::NotRead(reason) => {
                whole(junit::Verdict::Error { message: "not read".into(), text: reason.clone() })
            }
            FileResult::Checked(outcome) => match &outcome.failures {
                None if outcome.is_empty() => whole(junit::Verdict::Skipped { message: "no run lines".into() }),
                failures => {
                    let text = Report::new(&*self.name, outcome.text.clone(), []);
                    let refused = outcome.kernels.iter().filter(|kernel| kernel.is_refused());
                    let mut cases: Vec<Case> = refused.map(|kernel| refused_case(kernel, &text)).collect();
                    let is_blamed = |result: &CheckResult| result.verdict == Verdict::Failed;
                    // An error of the file itself belongs to no kernel and no launch, so it gets its own test case.
                    if let Some(report) = failures
                        && cases.is_empty()
                        && !outcome.results.iter().any(is_blamed)
                    {
                        let message = report.diagnostics().first().map_or_else(String::new, ToString::to_string);
                        cases = whole(junit::Verdict::Error { message, text: report.render(false) });
                    }
                    cases.extend(outcome.results.iter().map(|result| case(result, &text)));
                    cases
                }
            },
        };
        Suite { name: self.name.clone(), time: Some(self.time), cases }
    }
}

fn kernel_json(kernel: &CheckedKernel, text: &Report) -> Value {
    let mut object = json!({
        "kernel": kernel.name,
        "state": kernel.state(),
        "launches": kernel.launches,
        "run": kernel.run,
        "equal": kernel.equal,
    });
    if kernel.approximate {
        object["approximate"] = true.into();
    }
    if !kernel.refused.is_empty() {
        let reasons = if kernel.only_direct { "not_imported" } else { "refused" };
        object[reasons] = of_report(&text.with(kernel.refused.clone()), &[]).into();
        object["as_expected"] = kernel.as_expected.into();
    }
    object
}

fn result_json(result: &CheckResult, text: &Report) -> Value {
    let mut object = json!({
        "kernel": result.kernel,
        "target": result.target,
        "verdict": match result.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Refused => "refused as expected",
        },
        "failures": of_report(&text.with(result.failures.clone()), &[]),
        "mismatches": result.differences.iter().map(mismatch).collect::<Vec<_>>(),
    });
    if let Some(engine) = result.engine {
        object["engine"] = engine.to_string().into();
    }
    object["line"] = result.line.into();
    object
}

/// Returns the JUnit test case for a refused kernel.
fn refused_case(kernel: &CheckedKernel, text: &Report) -> Case {
    let report = text.with(kernel.refused.clone());
    let message = kernel.refused.first().map_or_else(String::new, ToString::to_string);
    let verdict = junit::Verdict::Error { message, text: report.render(false) };
    let line = text.lines().position(kernel.place.start).line;
    Case { name: format!("@{} is read", kernel.name), line: Some(line), time: None, verdict }
}

fn case(result: &CheckResult, text: &Report) -> Case {
    let CheckResult { kernel, target, engine, .. } = result;
    let engine = engine.map_or(String::new(), |engine| format!(" ({engine})"));
    let verdict = match result.verdict {
        Verdict::Passed | Verdict::Refused => junit::Verdict::Passed,
        Verdict::Failed => junit::Verdict::Failed {
            message: result.failures.first().map_or_else(String::new, ToString::to_string),
            text: text.with(result.failures.clone()).render(false),
        },
    };
    let does = if result.verdict == Verdict::Refused { "refused by" } else { "on" };
    Case {
        name: format!("@{kernel} {does} {target}{engine}, line {}", result.line),
        line: Some(result.line),
        time: None,
        verdict,
    }
}

/// Formats the line of a kernel: its state, and the first error if the kernel is refused.
fn kernel_line(kernel: &CheckedKernel, lines: &Lines<'_>) -> String {
    let reasons = kernel.refused.first().map(|first| {
        let Position { line, column } = lines.position(first.span.start);
        let more = kernel.refused.len() - 1;
        let more = if more == 0 { String::new() } else { format!(", and {}", counted(more, "more error")) };
        let expected = if kernel.as_expected { "as expected, " } else { "" };
        format!("{expected}{line}:{column}: {}{more}", first.message)
    });
    let launches = match kernel.launches {
        0 => "no launch".to_owned(),
        launches if launches == kernel.equal => counted(launches, "launch"),
        launches => format!("{}: {} run, {} equal", counted(launches, "launch"), kernel.run, kernel.equal),
    };
    let said = match reasons {
        Some(reasons) if kernel.only_direct => format!("{launches}; not imported: {reasons}"),
        Some(reasons) => reasons,
        None => launches,
    };
    format!("       {:<7} @{}  {said}\n", kernel.state(), kernel.name)
}

fn summary(outcome: &Outcome) -> String {
    let errors = outcome.failures.as_ref().map_or(0, |report| report.diagnostics().len());
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(counted(errors, "error"));
    }
    match outcome.runs {
        0 if errors > 0 || outcome.refusals > 0 => {}
        0 => parts.push("no run lines".into()),
        runs => {
            let evaluated = outcome.is_evaluated.then_some("ir");
            let on: Vec<&str> = evaluated.into_iter().chain(outcome.compared.iter().copied()).collect();
            let on = if on.is_empty() { String::new() } else { format!(" on {}", on.join(", ")) };
            parts.push(format!("{}{on}", counted(runs, "launch")));
        }
    }
    if outcome.refusals > 0 {
        parts.push(counted(outcome.refusals, "refusal"));
    }
    let approximate = outcome.kernels.iter().filter(|kernel| kernel.approximate && kernel.launches > 0);
    let approximate: Vec<String> = approximate.map(|kernel| format!("@{}", kernel.name)).collect();
    if !approximate.is_empty() {
        parts.push(format!("approximate on a GPU: {}", approximate.join(", ")));
    }
    for launch in &outcome.order_dependent {
        let OrderWarning { cause, launch, is_compared } = launch;
        let but = if *is_compared { "" } else { ", and is not compared" };
        parts.push(format!("{cause}{but}: {launch}"));
    }
    parts.join("; ")
}

fn counted(count: usize, noun: &str) -> String {
    let plural = match noun {
        _ if count == 1 => "",
        "launch" => "es",
        _ => "s",
    };
    format!("{count} {noun}{plural}")
}

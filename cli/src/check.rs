//! `halfbyte check`

use std::path::PathBuf;

use halfbyte::abi::Limits;
use halfbyte::launch::Engine;
use halfbyte_testkit::check::{Outcome, Setup, check_with};

use super::io::{kernel_files, print};
use super::limits::{LimitArgs, advice};
use super::{Done, EngineName, Failure, Message, SmArgs, interrupt, render, say};

/// Runs kernel files on the evaluator and on every target that their run lines name, and compares bit for bit
///
/// A file that has no run lines has nothing to pass or fail, and is counted apart. Where engine `cuda` finds no GPU, all is
/// skipped, with the reason.
///
/// A file takes at most 9 seconds, 1.5 GiB of memory and 64 MiB of buffers, unless the limits below say otherwise; the rest of a
/// file that meets one is not checked.
///
/// A run line: `; run: halu: @axpy items=2 a=2.0 x=[1.0, 3.0] y=zeros(2) -> y=[2.0, 6.0]`
#[derive(clap::Args)]
pub(super) struct Check {
    /// Kernel files, and folders, of which every *.hb below is checked
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// One engine, not every engine there is
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    #[command(flatten)]
    sm: SmArgs,
    /// Let run lines name files in this folder too, not in the kernel file's alone
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl Check {
    pub(super) fn run(self) -> Done {
        let engines = match self.engine {
            Some(engine) => vec![engine.engine()],
            None => Engine::ALL.to_vec(),
        };
        let files = kernel_files(&self.paths)?;
        if let Some(reason) = self.engine.and_then(|engine| engine.missing(&self.sm)) {
            let skipped = files.len();
            return print(format!("skipped: {reason}\n0 passed, 0 failed, {skipped} skipped\n").as_bytes());
        }
        let width = files.iter().map(|file| file.path.as_os_str().len()).max().unwrap_or(0).min(60);
        let (mut passed, mut failed, mut without) = (0, 0, 0);
        for file in &files {
            if interrupt::is_pending() {
                return Ok(());
            }
            let watchdog = self.limits.watchdog(Limits::strict());
            let input = match file.read(watchdog.limits().text_bytes) {
                Ok(input) => input,
                // One file that cannot be read is no reason to leave out the others.
                Err(Failure::Input(Message::Text(reason))) => {
                    failed += 1;
                    print(format!("FAILED {:<width$}  not read\n", file.path.display()).as_bytes())?;
                    say(&format!("error: {reason}"));
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let setup = Setup { sm: self.sm.sm, engines: &engines, allowed: &self.allow, watchdog: Some(&watchdog) };
            let outcome = match input.text() {
                Ok(text) => check_with(&setup, &input.name, text, &input.folder),
                Err(report) => Outcome { failures: Some(report), ..Outcome::default() },
            };
            let (verdict, count) = match &outcome.failures {
                Some(_) => ("FAILED", &mut failed),
                None if outcome.is_empty() => ("-", &mut without),
                None => ("ok", &mut passed),
            };
            *count += 1;
            print(format!("{verdict:<6} {:<width$}  {}\n", input.name, summary(&outcome)).as_bytes())?;
            if let Some(report) = &outcome.failures {
                say(&render(report));
                if let Some(advice) = watchdog.exceeded().as_ref().and_then(advice) {
                    say(&format!("help: {advice}"));
                }
            }
        }
        let others = if without == 0 { String::new() } else { format!(", {without} without run lines") };
        print(format!("{passed} passed, {failed} failed{others}\n").as_bytes())?;
        if failed == 0 { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }
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
            let on: Vec<&str> = std::iter::once("ir").chain(outcome.compared.iter().copied()).collect();
            parts.push(format!("{} on {}", counted(runs, "launch"), on.join(", ")));
        }
    }
    if outcome.refusals > 0 {
        parts.push(counted(outcome.refusals, "refusal"));
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

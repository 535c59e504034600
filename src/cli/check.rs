//! `halfbyte check`

use std::path::{Path, PathBuf};

use halfbyte::check::{Outcome, check};
use halfbyte::launch::Engine;

use super::io::{Input, print};
use super::{Done, EngineName, Failure, Message, render, say};

/// Runs kernel files on the evaluator and on every target that their run lines name, and compares bit for bit
///
/// A file that has no run lines has nothing to pass or fail, and is counted apart.
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
}

impl Check {
    pub(super) fn run(self) -> Done {
        let engines = match self.engine {
            Some(engine) => vec![engine.engine()],
            None => Engine::ALL.to_vec(),
        };
        let mut files = Vec::new();
        for path in &self.paths {
            let before = files.len();
            find(path, &mut files)?;
            if files.len() == before {
                return Err(Failure::input(format!("{}: there is no *.hb in this folder", path.display())));
            }
        }
        let width = files.iter().map(|file| file.as_os_str().len()).max().unwrap_or(0).min(60);
        let (mut passed, mut failed, mut without) = (0, 0, 0);
        for file in &files {
            let input = Input::read(file)?;
            let outcome = match input.text() {
                Ok(text) => check(&input.name, text, &input.folder, &engines),
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
            }
        }
        let others = if without == 0 { String::new() } else { format!(", {without} without run lines") };
        print(format!("{passed} passed, {failed} failed{others}\n").as_bytes())?;
        if failed == 0 { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }
}

/// The kernel files of a path, in order of their names. What is named outright is taken whatever its name.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Done {
    let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
    if path == Path::new("-") || !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let first = files.len();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // Links to folders are not followed, for they may lead back.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "hb") {
                files.push(entry.path());
            }
        }
    }
    if let Some(found) = files.get_mut(first..) {
        found.sort();
    }
    Ok(())
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
    if !outcome.skipped.is_empty() {
        let skipped: Vec<&str> = outcome.skipped.iter().copied().collect();
        parts.push(format!("{} skipped: not there yet", skipped.join(", ")));
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

//! Reports of launches: messages on standard error, and a file for `halfbyte exec`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use halfbyte::abi::Exceeded;
use halfbyte::import_ptx::with_sources;
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::launch::{launch_diagnostic, race_warning as race_diagnostic};
use halfbyte::runtime::{LaunchError, Trap, TrapKind};
use halfbyte::{FailureKind, Report};
use serde::Serialize;

use crate::function::Function;
use crate::memory;
use crate::status::Status;

/// Environment variable with the folder for the report file. Without the variable, no file is written.
const FOLDER_VARIABLE: &str = "HALFBYTE_REPORT_DIR";

/// The report file of this process, if the variable is set.
static FILE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = std::env::var_os(FOLDER_VARIABLE)?;
    // SAFETY: the handler may run at any time before the process ends, and does not unwind.
    unsafe { libc::atexit(write_at_exit) };
    Some(PathBuf::from(folder).join(format!("report-{}.json", std::process::id())))
});

/// Number of launches.
static LAUNCHES: AtomicU64 = AtomicU64::new(0);

/// What has happened besides launches that succeeded.
static FOUND: Mutex<Found> =
    Mutex::new(Found { kernels: Vec::new(), errors: BTreeMap::new(), warnings: BTreeMap::new() });

struct Found {
    /// The names of the launched kernels.
    kernels: Vec<String>,
    errors: BTreeMap<Key, Finding>,
    warnings: BTreeMap<Key, Finding>,
}

/// The properties in which equal findings agree: kernel, kind of the failure, and line of the PTX text.
type Key = (String, &'static str, u32);

/// An error or a warning, with the number of times that it occurred.
#[derive(Clone, Serialize)]
struct Finding {
    kind: &'static str,
    kernel: String,
    message: String,
    display: String,
    file: String,
    line: u32,
    count: u64,
}

/// The contents of the report file.
#[derive(Serialize)]
struct Contents<'a> {
    launches: u64,
    kernels: &'a [String],
    errors: Vec<&'a Finding>,
    warnings: Vec<&'a Finding>,
}

fn found() -> MutexGuard<'static, Found> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn write_at_exit() {
    // A panic must not unwind into the C library.
    let _ = std::panic::catch_unwind(|| write(&found()));
}

/// Writes the report file. An error is ignored, because the program cannot handle it.
fn write(found: &Found) {
    let Some(file) = &*FILE else { return };
    let contents = Contents {
        launches: LAUNCHES.load(Ordering::Relaxed),
        kernels: &found.kernels,
        errors: found.errors.values().collect(),
        warnings: found.warnings.values().collect(),
    };
    let unfinished = file.with_extension("json-unfinished");
    let written = serde_json::to_vec(&contents).map_err(std::io::Error::from);
    let _ =
        written.and_then(|text| std::fs::write(&unfinished, text)).and_then(|()| std::fs::rename(&unfinished, file));
}

/// Writes a message to standard error.
fn show(message: &str) {
    // A program may have closed standard error.
    let _ = writeln!(std::io::stderr(), "halfbyte: {message}");
}

/// Records a launch of a function.
pub fn launched(function: &Function) {
    LAUNCHES.fetch_add(1, Ordering::Relaxed);
    if !function.is_launched.swap(true, Ordering::Relaxed) {
        found().kernels.push(function.name().to_owned());
        LazyLock::force(&FILE);
    }
}

/// Writes text that a kernel prints to standard output.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Flushes standard output after a launch.
pub fn flush() {
    let _ = std::io::stdout().flush();
}

/// Records a finding, and shows it if it is the first failure of its kind at its line.
fn record(is_error: bool, failure: &'static str, finding: Finding) {
    let mut found = found();
    let list = if is_error { &mut found.errors } else { &mut found.warnings };
    let key = (finding.kernel.clone(), failure, finding.line);
    match list.get_mut(&key) {
        Some(earlier) => earlier.count += 1,
        None => {
            show(&finding.display);
            list.insert(key, finding);
        }
    }
    if is_error {
        write(&found);
    }
}

/// Creates a finding about a launch of a function from a diagnostic of the PTX text. `report` creates a report of
/// errors or of warnings.
fn finding(
    kind: &'static str,
    function: &Function,
    trap: Option<&Trap>,
    diagnostic: Diagnostic,
    report: fn(String, String, Vec<Diagnostic>) -> Report,
) -> Finding {
    let module = &function.module;
    let line = trap.map_or(0, |trap| trap.loc.line);
    let lines = Lines::new(&module.text);
    let diagnostic = with_sources(diagnostic, &lines, &module.read);
    let origin = trap.and_then(|trap| module.read.source_of(trap.loc));
    let source = origin.as_ref().and_then(|origin| origin.0.first());
    let (file, line) = source.map_or((module.file.clone(), line), |(file, loc)| ((*file).to_owned(), loc.line));
    let message = diagnostic.to_string();
    let display = report(module.file.clone(), module.text.clone(), vec![diagnostic]).to_string();
    Finding { kind, kernel: function.name().to_owned(), message, display, file, line, count: 1 }
}

/// Records a failed launch, and returns the status that later calls give.
pub fn failed(function: &Function, error: &LaunchError) -> Status {
    let lines = Lines::new(&function.module.text);
    let diagnostic = launch_diagnostic(error, &lines, Default::default(), "ptx");
    let LaunchError::Trap(trap) = error else {
        record(true, "launch", finding("trap", function, None, diagnostic, Report::new));
        return match error {
            LaunchError::Exceeded { exceeded: Exceeded::Memory { .. }, .. } | LaunchError::Resident { .. } => {
                Status::LAUNCH_OUT_OF_RESOURCES
            }
            LaunchError::Exceeded { .. } => Status::LAUNCH_TIMEOUT,
            _ => Status::INVALID_VALUE,
        };
    };
    let diagnostic = match freed(&trap.kind) {
        Some(note) => diagnostic.note(None, note),
        None => diagnostic,
    };
    let failure = FailureKind::of_trap(&trap.kind);
    let (kind, status) = match failure {
        FailureKind::RaceGlobal | FailureKind::RaceShared => ("race", Status::LAUNCH_FAILED),
        FailureKind::Uninitialised | FailureKind::UninitialisedRegister | FailureKind::UninitialisedCarry => {
            ("uninitialised", Status::LAUNCH_FAILED)
        }
        FailureKind::OutOfBoundsGlobal
        | FailureKind::OutOfBoundsLocal
        | FailureKind::OutOfBoundsShared
        | FailureKind::ReadOnly => ("trap", Status::ILLEGAL_ADDRESS),
        FailureKind::Misaligned => ("trap", Status::MISALIGNED_ADDRESS),
        _ if matches!(trap.kind, TrapKind::AssertFailed { .. }) => ("trap", Status::ASSERT),
        _ => ("trap", Status::LAUNCH_FAILED),
    };
    record(true, failure.name(), finding(kind, function, Some(trap), diagnostic, Report::new));
    status
}

/// Returns a note for an access to memory that the program has freed.
fn freed(kind: &TrapKind) -> Option<String> {
    let TrapKind::OutOfBounds { address, .. } = *kind else { return None };
    let block = memory::freed(address)?;
    Some(format!("the program has freed this memory, an allocation of {} bytes at {:#x}", block.bytes, block.start))
}

/// Records a same-value race, which is a warning.
pub fn race_warning(function: &Function, race: &Trap) {
    let diagnostic = race_diagnostic(race, &Lines::new(&function.module.text), "ptx");
    record(false, "race", finding("race", function, Some(race), diagnostic, Report::warnings));
}

/// Records a kernel that halfbyte does not support.
pub fn unsupported(kernel: &str, report: &Report) {
    let message = report.diagnostics().first().map(ToString::to_string).unwrap_or_default();
    let (kernel, file, display) = (kernel.to_owned(), report.file().to_owned(), report.to_string());
    record(true, "unsupported", Finding { kind: "unsupported", kernel, message, display, file, line: 0, count: 1 });
}

//! Reports of launches: messages on standard error, and a file for `halfbyte exec`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_char;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use halfbyte::abi::Exceeded;
use halfbyte::abi::mangled_name::name_parts;
use halfbyte::import_ptx::with_sources;
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::isa::object::Loc;
use halfbyte::launch::{launch_diagnostic, load_diagnostic, race_warning as race_diagnostic};
use halfbyte::runtime::ptx::{LoadFinding, LoadFindingKind};
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

/// The names of the launched kernels, and the errors and warnings of launches.
static FOUND: Mutex<Found> = Mutex::new(Found::new());

struct Found {
    /// The names of the launched kernels.
    kernels: Vec<String>,
    errors: BTreeMap<Key, Finding>,
    warnings: BTreeMap<Key, Finding>,
    /// The instructions of launched kernels that a GPU approximates.
    approximations: Vec<Finding>,
    /// The errors that no caller of [`halfbyte_take_findings`] has taken, in the order of their first occurrence.
    untaken: Vec<(Key, Finding)>,
}

impl Found {
    const fn new() -> Found {
        Found {
            kernels: Vec::new(),
            errors: BTreeMap::new(),
            warnings: BTreeMap::new(),
            approximations: Vec::new(),
            untaken: Vec::new(),
        }
    }

    /// Returns the contents of the report file. `launches` is the number of launches.
    fn contents(&self, launches: u64) -> Contents<'_> {
        let (errors, warnings) = (self.errors.values().collect(), self.warnings.values().collect());
        Contents { launches, kernels: &self.kernels, errors, warnings, approximations: &self.approximations }
    }

    /// Adds an error or a warning. Returns `true` if no earlier one has the same key.
    fn add(&mut self, is_error: bool, key: Key, finding: Finding) -> bool {
        if is_error {
            match self.untaken.iter_mut().find(|(of, _)| *of == key) {
                Some((_, earlier)) => earlier.count += 1,
                None => self.untaken.push((key.clone(), finding.clone())),
            }
        }
        let list = if is_error { &mut self.errors } else { &mut self.warnings };
        match list.entry(key) {
            Entry::Occupied(mut earlier) => {
                earlier.get_mut().count += 1;
                false
            }
            Entry::Vacant(place) => {
                place.insert(finding);
                true
            }
        }
    }

    /// Returns the untaken errors as a JSON array of at most `most` bytes, and marks them as taken. If the array is
    /// longer, returns its length.
    fn take(&mut self, most: usize) -> Result<Vec<u8>, usize> {
        let findings: Vec<&Finding> = self.untaken.iter().map(|(_, finding)| finding).collect();
        let text = serde_json::to_vec(&findings).unwrap_or_default();
        if text.len() > most {
            return Err(text.len());
        }
        self.untaken.clear();
        Ok(text)
    }
}

/// Key that identifies equal findings: the kernel, the kind of the failure, and the line of the PTX text.
type Key = (String, &'static str, u32);

/// An error, a warning or an approximation, with the number of times that it occurred.
#[derive(Clone, Serialize)]
struct Finding {
    kind: &'static str,
    kernel: String,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
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
    approximations: &'a [Finding],
}

fn found() -> MutexGuard<'static, Found> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn write_at_exit() {
    // A panic must not unwind into the C library.
    let _ = catch_unwind(|| write(&found()));
}

/// Copies a text to the buffer of a caller if the buffer has room for it. Returns the length of the text.
///
/// # Safety
/// `buffer` is null, or valid for writes of `bytes` bytes.
unsafe fn copy(text: &[u8], buffer: *mut c_char, bytes: usize) -> usize {
    if !buffer.is_null() && text.len() <= bytes {
        // SAFETY: the buffer is valid for writes of the length of the text by contract. The text is memory of this
        // library, so the two do not overlap.
        unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    }
    text.len()
}

/// Copies the errors since the previous call to a buffer, as a JSON array in UTF-8 without a zero
/// byte at its end. The entries are those of `errors` in the report file.
///
/// Returns the number of bytes of the array. If the array is larger than `bytes`, or if the buffer
/// is null, the call copies nothing, and the next call has the same errors.
///
/// This function is for the Python package of halfbyte. The driver interface does not contain it.
///
/// # Safety
/// `buffer` is null, or valid for writes of `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_take_findings(buffer: *mut c_char, bytes: usize) -> usize {
    let most = if buffer.is_null() { 0 } else { bytes };
    let body = || match found().take(most) {
        // SAFETY: the caller upholds this function's contract.
        Ok(text) => unsafe { copy(&text, buffer, bytes) },
        Err(length) => length,
    };
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(0)
}

/// Copies the report of this process to a buffer, as a JSON object in UTF-8 without a zero byte at
/// its end. The report file contains the same object.
///
/// Returns the number of bytes of the object. If the object is larger than `bytes`, or if the
/// buffer is null, the call copies nothing.
///
/// This function is for the Python package of halfbyte. The driver interface does not contain it.
///
/// # Safety
/// `buffer` is null, or valid for writes of `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_report(buffer: *mut c_char, bytes: usize) -> usize {
    let body = || {
        let text = serde_json::to_vec(&found().contents(LAUNCHES.load(Ordering::Relaxed))).unwrap_or_default();
        // SAFETY: the caller upholds this function's contract.
        unsafe { copy(&text, buffer, bytes) }
    };
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(0)
}

/// Writes the report file. An error is ignored, because the program cannot handle it.
fn write(found: &Found) {
    let Some(file) = &*FILE else { return };
    let unfinished = file.with_extension("json-unfinished");
    let contents = found.contents(LAUNCHES.load(Ordering::Relaxed));
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
        let mut found = found();
        found.kernels.push(function.name().to_owned());
        found.approximations.extend(approximations(function));
        LazyLock::force(&FILE);
    }
}

/// Returns the instructions of a function that a GPU approximates, each with its source line.
fn approximations(function: &Function) -> impl Iterator<Item = Finding> {
    let module = &function.module;
    module.read.approximations(function.name()).into_iter().map(|of| {
        let origin = module.read.source_of(of.at);
        let source = origin.as_ref().and_then(|origin| origin.0.first());
        let (file, line) = source.map_or((&*module.file, of.at.line), |&(file, loc)| (file, loc.line));
        let message = format!("the result of `{}` is rounded to nearest; a GPU approximates it", of.instruction);
        let (kernel, file) = (function.name().to_owned(), file.to_owned());
        Finding { kind: "approximation", kernel, message, display: String::new(), file, line, count: 1 }
    })
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
    let key = (finding.kernel.clone(), failure, finding.line);
    let display = finding.display.clone();
    if found.add(is_error, key, finding) {
        show(&display);
    }
    if is_error {
        write(&found);
    }
}

/// Creates a finding about a launch of a function from a diagnostic of the PTX text. `loc` is the location of the
/// instruction, if there is one. `report` creates a report of errors or of warnings.
fn finding(
    kind: &'static str,
    function: &Function,
    loc: Option<Loc>,
    diagnostic: Diagnostic,
    report: fn(String, String, Vec<Diagnostic>) -> Report,
) -> Finding {
    let module = &function.module;
    let line = loc.map_or(0, |loc| loc.line);
    let lines = Lines::new(&module.text);
    let diagnostic = with_sources(diagnostic, &lines, &module.read);
    let origin = loc.and_then(|loc| module.read.source_of(loc));
    let source = origin.as_ref().and_then(|origin| origin.0.first());
    let (file, line) = source.map_or((module.file.clone(), line), |(file, loc)| ((*file).to_owned(), loc.line));
    let message = with_readable_name(function, diagnostic.to_string());
    let display = report(module.file.clone(), module.text.clone(), vec![diagnostic]).to_string();
    let display = with_readable_name(function, display);
    Finding { kind, kernel: function.name().to_owned(), message, display, file, line, count: 1 }
}

/// Replaces the mangled name of a kernel in a text by the name of the function. Numba encodes the options of the
/// compilation in the mangled name, which can therefore have hundreds of characters.
fn with_readable_name(function: &Function, text: String) -> String {
    match name_parts(function.name()).last() {
        Some(name) => text.replace(function.name(), name),
        None => text,
    }
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
    record(true, failure.name(), finding(kind, function, Some(trap.loc), diagnostic, Report::new));
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
    record(false, "race", finding("race", function, Some(race.loc), diagnostic, Report::warnings));
}

/// Records a load that does not end its launch. A load of uninitialised memory is an error, and a load in the padding of
/// an allocation is a warning.
pub fn load(function: &Function, load: &LoadFinding) {
    let diagnostic = load_diagnostic(load, &Lines::new(&function.module.text), "ptx");
    let location = Some(load.loc);
    match load.kind {
        LoadFindingKind::Padding => {
            record(false, "padding", finding("padding", function, location, diagnostic, Report::warnings));
        }
        LoadFindingKind::Uninitialised => {
            let finding = finding("uninitialised", function, location, diagnostic, Report::new);
            record(true, "uninitialised-global", finding);
        }
    }
}

/// Records a kernel that halfbyte does not support.
pub fn unsupported(kernel: &str, report: &Report) {
    let message = report.diagnostics().first().map(ToString::to_string).unwrap_or_default();
    let (kernel, file, display) = (kernel.to_owned(), report.file().to_owned(), report.to_string());
    record(true, "unsupported", Finding { kind: "unsupported", kernel, message, display, file, line: 0, count: 1 });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns a finding about a kernel at a line of the PTX text, with its key.
    fn of(kernel: &str, line: u32) -> (Key, Finding) {
        let (message, display, file) = (format!("in {kernel}"), String::new(), "k.cu".to_owned());
        let finding = Finding { kind: "trap", kernel: kernel.to_owned(), message, display, file, line, count: 1 };
        ((kernel.to_owned(), "misaligned", line), finding)
    }

    /// Takes the errors, and returns the kernel, the line and the count of each.
    fn taken(found: &mut Found) -> Vec<String> {
        let errors: Vec<serde_json::Value> = serde_json::from_slice(&found.take(usize::MAX).unwrap()).unwrap();
        let text = |error: &serde_json::Value| {
            let kernel = error["kernel"].as_str().unwrap();
            format!("{kernel}:{} {}", error["line"], error["count"])
        };
        errors.iter().map(text).collect()
    }

    #[test]
    fn errors_are_taken_once_and_in_order() {
        let mut found = Found::new();
        assert_eq!(found.take(2), Ok(b"[]".to_vec()));
        for (kernel, line, is_first) in [("z", 3, true), ("a", 7, true), ("z", 3, false), ("z", 4, true)] {
            let (key, finding) = of(kernel, line);
            assert_eq!(found.add(true, key, finding), is_first, "{kernel} {line}");
        }
        let (key, finding) = of("warned", 1);
        assert!(found.add(false, key, finding));
        // A buffer that is too small takes nothing.
        let length = found.take(2).unwrap_err();
        assert_eq!(found.take(length - 1), Err(length));
        assert_eq!(taken(&mut found), ["z:3 2", "a:7 1", "z:4 1"]);
        assert!(taken(&mut found).is_empty());
        // A later occurrence is taken again, with its own count, but it is not a new error in the report.
        let (key, finding) = of("z", 3);
        assert!(!found.add(true, key, finding));
        assert_eq!(taken(&mut found), ["z:3 1"]);
        let report = serde_json::to_value(found.contents(9)).unwrap();
        assert_eq!((&report["launches"], &report["errors"][1]["count"]), (&9.into(), &3.into()));
        assert_eq!(report["warnings"][0]["kernel"], "warned");
    }

    #[test]
    fn texts_are_copied_to_buffers_that_have_room() {
        let mut buffer = [0_u8; 4];
        let to: *mut c_char = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has 4 bytes, and null is valid.
        let lengths = unsafe { [copy(b"12345", to, 4), copy(b"12", std::ptr::null_mut(), 4), copy(b"123", to, 3)] };
        assert_eq!((lengths, buffer), ([5, 2, 3], *b"123\0"));
    }
}

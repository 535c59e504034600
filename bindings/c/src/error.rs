//! What went wrong, as a value: its kind, its place and its words.

use std::ffi::{CString, c_char};

use halfbyte::abi::Exceeded;
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::launch::launch_diagnostic;
use halfbyte::runtime::{LaunchError, LoadError, TrapKind};
use halfbyte::{CompileError, Report};

use crate::border;

/// How a call went.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Well.
    Ok = 0,
    /// A pointer is null, a length is none, a number is not one of those that there are: the caller is wrong.
    InvalidArgument = 1,
    /// A text is wrong.
    Parse = 2,
    /// A target cannot do what a kernel asks for.
    Refused = 3,
    /// Bytes are no object that runs here.
    Load = 4,
    /// There is no kernel, or no target, of that name.
    NotFound = 5,
    /// A launch's arguments or its shape do not fit the kernel.
    Arguments = 6,
    /// A work item did what it must not: an access out of bounds, a barrier that some never come to, a race.
    Trap = 7,
    /// A limit was met.
    Limit = 8,
    /// It was cancelled.
    Cancelled = 9,
    /// The engine does not run the kernel, or was not built into the library.
    Unsupported = 10,
    /// A defect of halfbyte.
    Internal = 11,
}

/// What went wrong.
pub struct Error {
    pub(crate) status: Status,
    file: CString,
    line: u32,
    column: u32,
    message: CString,
    display: CString,
}

/// A string of C. What has a zero in it ends there.
fn string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

impl Error {
    /// One without a place.
    pub fn new(status: Status, message: impl AsRef<str>) -> Error {
        let message = string(message.as_ref());
        Error { status, file: CString::default(), line: 0, column: 0, display: message.clone(), message }
    }

    /// The findings about a text; its place and its message are those of the first.
    pub fn of_report(status: Status, report: &Report) -> Error {
        let first = report.diagnostics().first();
        let has_place = |first: &&Diagnostic| !report.text().is_empty() && first.span != Default::default();
        let place = first.filter(has_place).map(|first| Lines::new(report.text()).position(first.span.start));
        let (line, column) = place.map_or((0, 0), |place| (place.line as u32, place.column as u32));
        let message = first.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Error {
            status,
            file: string(report.file()),
            line,
            column,
            message: string(&message),
            display: string(&report.to_string()),
        }
    }

    /// Why the kernels of a module were not compiled.
    pub fn of_compile(module: &halfbyte::Module, error: &CompileError) -> Error {
        let status = match error {
            CompileError::Invalid(_) => Status::Parse,
            CompileError::Refused(_) => Status::Refused,
            CompileError::Internal { .. } | CompileError::Pass { .. } => Status::Internal,
            _ => match error.exceeded() {
                Some(exceeded) => of_limit(exceeded),
                None => Status::Refused,
            },
        };
        Error::of_report(status, &module.report(error.diagnostics()))
    }

    /// Why an object was not loaded.
    pub fn of_load(error: &LoadError) -> Error {
        Error::new(Status::Load, error.to_string())
    }

    /// Why a launch gave no result. With the text that the kernel is of, its place is shown there.
    pub fn of_launch(error: &LaunchError, source: Option<(&str, &str)>, on: &str) -> Error {
        let status = match error {
            LaunchError::Trap(trap) if matches!(trap.kind, TrapKind::Budget { .. }) => Status::Limit,
            LaunchError::Trap(_) => Status::Trap,
            LaunchError::Exceeded { exceeded, .. } => of_limit(*exceeded),
            LaunchError::Engine { .. } | LaunchError::Native { .. } | LaunchError::Cuda { .. } => Status::Unsupported,
            _ => Status::Arguments,
        };
        let (file, text) = source.unwrap_or_default();
        let diagnostic = launch_diagnostic(error, &Lines::new(text), Default::default(), on);
        let mut made = Error::of_report(status, &Report::new(file, text, vec![diagnostic]));
        // Without a text the place is what the object says of it.
        if let (LaunchError::Trap(trap), None) = (error, source) {
            (made.file, made.line, made.column) = (string(&trap.source), trap.loc.line, trap.loc.column);
            if trap.loc.is_known() {
                let place = format!("{}:{}:{}", trap.source, trap.loc.line, trap.loc.column);
                made.display = string(&format!("{place}: {}", made.message.to_string_lossy()));
            }
        }
        made
    }
}

fn of_limit(exceeded: Exceeded) -> Status {
    if exceeded == Exceeded::Cancelled { Status::Cancelled } else { Status::Limit }
}

/// What kind of error it is; HALFBYTE_STATUS_OK of null.
///
/// # Safety
/// `error` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_status(error: *const Error) -> Status {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(Status::Ok, |error| error.status)
}

/// What is wrong, in one line: the first thing, where there are several. It lives as long as the error.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_message(error: *const Error) -> *const c_char {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// All that is wrong, as people read it: each with file, line and column, and the line of the text with a mark under the place. It lives
/// as long as the error.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_display(error: *const Error) -> *const c_char {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.display.as_ptr())
}

/// The file that it is about, as the caller has called it; empty where it is about none. It lives as long as the error.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_file(error: *const Error) -> *const c_char {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.file.as_ptr())
}

/// The line, counted from 1; 0 where it has no place.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_line(error: *const Error) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// The column, likewise, in characters.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_column(error: *const Error) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { error.as_ref() }.map_or(0, |error| error.column)
}

/// Frees an error.
///
/// # Safety
/// As halfbyte_error_status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_free(error: *mut Error) {
    // SAFETY: the caller's contract.
    unsafe { border::free(error) };
}

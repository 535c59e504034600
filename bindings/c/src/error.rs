//! Errors of the C interface, with status, position and message.

use std::ffi::{CString, c_char};

use halfbyte::FailureKind;
use halfbyte::abi::{Exceeded, ItemPosition};
use halfbyte::import_ptx::with_sources;
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::isa::ptx::text::ParsedFile;
use halfbyte::launch::launch_diagnostic;
use halfbyte::runtime::{LaunchError, LoadError, Trap, TrapKind};
use halfbyte::{CompileError, Report};

use crate::ffi;

/// Result of a function call: success, or the kind of an error.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The call succeeded.
    Ok = 0,
    /// An argument of the call is invalid: a null pointer, an invalid length, or an unknown constant.
    InvalidArgument = 1,
    /// A source text has errors.
    Parse = 2,
    /// The target does not support an operation of a kernel.
    Refused = 3,
    /// The bytes are not an object file that this library can execute.
    Load = 4,
    /// No kernel or no target has the given name.
    NotFound = 5,
    /// The arguments or the shape of a launch do not match the kernel.
    Arguments = 6,
    /// A work item trapped, for example because of an access out of bounds, a barrier that not all
    /// items reach, or a race.
    Trap = 7,
    /// A limit of the options was exceeded.
    Limit = 8,
    /// The call was cancelled by halfbyte_cancel_request.
    Cancelled = 9,
    /// The engine does not support the kernel, or the library was built without the engine.
    Unsupported = 10,
    /// The library has a defect.
    Internal = 11,
}

/// Error of a function call.
pub struct Error {
    pub(crate) status: Status,
    file: CString,
    line: u32,
    column: u32,
    message: CString,
    display: CString,
    trap: Option<TrapPlace>,
}

/// The kind and the place of a trap.
struct TrapPlace {
    kind: CString,
    block: [u32; 3],
    thread: [u32; 3],
    source: CString,
}

impl TrapPlace {
    /// Creates the place of a trap. `read` is the parsed text of a PTX kernel.
    fn new(trap: &Trap, read: Option<&ParsedFile>) -> TrapPlace {
        let ItemPosition { group: block, local: thread } = trap.shape.place(trap.item);
        let source = read.and_then(|read| read.source_of(trap.loc)).map(|origin| origin.to_string());
        let kind = string(FailureKind::of_trap(&trap.kind).name());
        TrapPlace { kind, block, thread, source: string(&source.unwrap_or_default()) }
    }
}

/// Converts a text to a C string, truncated at the first zero byte.
fn string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

impl Error {
    /// Creates an error without a position.
    pub fn new(status: Status, message: impl AsRef<str>) -> Error {
        let message = string(message.as_ref());
        Error { status, file: CString::default(), line: 0, column: 0, display: message.clone(), message, trap: None }
    }

    /// Creates an error from a report. Its position and message are those of the first diagnostic.
    pub fn of_report(status: Status, report: &Report) -> Error {
        let first = report.diagnostics().first();
        let has_place = |first: &&Diagnostic| !report.text().is_empty() && first.span != Default::default();
        let place = first.filter(has_place).map(|first| report.lines().position(first.span.start));
        let (line, column) = place.map_or((0, 0), |place| (place.line as u32, place.column as u32));
        let message = first.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Error {
            status,
            file: string(report.file()),
            line,
            column,
            message: string(&message),
            display: string(&report.to_string()),
            trap: None,
        }
    }

    /// Creates an error from an error of the compiler.
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

    /// Creates an error from an error of the object loader.
    pub fn of_load(error: &LoadError) -> Error {
        Error::new(Status::Load, error.to_string())
    }

    /// Creates an error from a launch error. `source` holds the file name and the text of the
    /// kernel and, for PTX, the parsed text. The message quotes a line of the text. `on` names the
    /// target and the engine.
    pub fn of_launch(error: &LaunchError, source: Option<(&str, &str, Option<&ParsedFile>)>, on: &str) -> Error {
        let status = match error {
            LaunchError::Trap(trap) if matches!(trap.kind, TrapKind::Budget { .. }) => Status::Limit,
            LaunchError::Trap(_) => Status::Trap,
            LaunchError::Exceeded { exceeded, .. } => of_limit(*exceeded),
            LaunchError::Resident { .. } => Status::Limit,
            LaunchError::Engine { .. } | LaunchError::Native { .. } | LaunchError::Cuda { .. } => Status::Unsupported,
            _ => Status::Arguments,
        };
        let (file, text, read) = source.unwrap_or_default();
        let lines = Lines::new(text);
        let diagnostic = launch_diagnostic(error, &lines, Default::default(), on);
        let diagnostic = match read {
            Some(read) => with_sources(diagnostic, &lines, read),
            None => diagnostic,
        };
        let mut made = Error::of_report(status, &Report::new(file, text, vec![diagnostic]));
        if let LaunchError::Trap(trap) = error {
            made.trap = Some(TrapPlace::new(trap, read));
        }
        // Without a source text, the position comes from the object file.
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

/// Returns the kind of an error, or HALFBYTE_STATUS_OK for null.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_status(error: *const Error) -> Status {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(Status::Ok, |error| error.status)
}

/// Returns the message of an error in one line. If the call found several errors, this is the
/// message of the first. The string lives as long as the error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_message(error: *const Error) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// Returns the full report of all errors, each with file, line and column and the quoted source
/// line. The string lives as long as the error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_display(error: *const Error) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.display.as_ptr())
}

/// Returns the name of the file that contains the error, as the caller has given it, or an empty
/// string. The string lives as long as the error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_file(error: *const Error) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.file.as_ptr())
}

/// Returns the line of the error, counted from 1, or 0 if the error has no position.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_line(error: *const Error) -> u32 {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(0, |error| error.line)
}

/// Returns the column of the error in characters, counted from 1, or 0 if the error has no position.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_column(error: *const Error) -> u32 {
    // SAFETY: the caller upholds this function's contract.
    unsafe { error.as_ref() }.map_or(0, |error| error.column)
}

/// Returns the kind of a trap, one of the names that docs/launch.md lists, such as "misaligned". Returns an empty
/// string for an error that is not a trap. The string lives as long as the error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_trap_kind(error: *const Error) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    let trap = unsafe { error.as_ref() }.and_then(|error| error.trap.as_ref());
    trap.map_or(c"".as_ptr(), |trap| trap.kind.as_ptr())
}

/// Stores the coordinates, along x, y and z, of the block and of the thread that trapped. Returns false and stores
/// nothing for an error that is not a trap. A work item of a kernel that does not synchronise is a thread.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed. `block` and `thread` are null, or valid for writes of
/// three numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_trap_item(
    error: *const Error,
    block: *mut [u32; 3],
    thread: *mut [u32; 3],
) -> bool {
    // SAFETY: the caller upholds this function's contract.
    let Some(trap) = (unsafe { error.as_ref() }).and_then(|error| error.trap.as_ref()) else { return false };
    for (to, from) in [(block, trap.block), (thread, trap.thread)] {
        if !to.is_null() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { to.write(from) };
        }
    }
    true
}

/// Returns the location in the original source of the instruction that trapped, from the debug information of a PTX
/// text, such as "norm.py:12, inlined at softmax.py:30". Returns an empty string if the location is unknown. The string
/// lives as long as the error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_trap_source(error: *const Error) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    let trap = unsafe { error.as_ref() }.and_then(|error| error.trap.as_ref());
    trap.map_or(c"".as_ptr(), |trap| trap.source.as_ptr())
}

/// Frees an error.
///
/// # Safety
/// `error` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_error_free(error: *mut Error) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(error) };
}

//! Common code of the exported functions: conversion of panics to result codes, the trace of calls, and writes through
//! out-pointers.

use std::collections::HashSet;
use std::fmt::Arguments;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::status::{Result, Status};

/// Environment variable that, if set, enables the trace of all calls on standard error.
const TRACE_VARIABLE: &str = "HALFBYTE_TRACE";

/// Runs the body of the exported function `name` and returns its result code. A panic becomes [`Status::UNKNOWN`].
pub fn enter(name: &str, body: impl FnOnce() -> Result<()>) -> Status {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::UNKNOWN,
    };
    trace(format_args!("{name}: {status}"));
    status
}

/// Writes a value through an out-pointer, or returns [`Status::INVALID_VALUE`] if it is null.
///
/// # Safety
/// `to` is null or valid for a write.
pub unsafe fn write_out<T>(to: *mut T, value: T) -> Result<()> {
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { to.write(value) };
    Ok(())
}

/// Reports on standard error that a function is not implemented, once for each name, and returns
/// [`Status::NOT_SUPPORTED`].
pub fn not_supported(name: &'static str) -> Status {
    static REPORTED: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    enter(name, || {
        if REPORTED.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
            report(format_args!("the function {name} is not implemented"));
        }
        Err(Status::NOT_SUPPORTED)
    })
}

/// Writes a line to standard error if the trace is enabled.
pub fn trace(message: Arguments<'_>) {
    static ENABLED: LazyLock<bool> = LazyLock::new(|| std::env::var_os(TRACE_VARIABLE).is_some());
    if *ENABLED {
        report(message);
    }
}

/// Writes a line to standard error.
fn report(message: Arguments<'_>) {
    // A program may have closed standard error, which must not affect its calls.
    let _ = writeln!(std::io::stderr(), "halfbyte: {message}");
}

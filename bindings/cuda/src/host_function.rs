//! Host functions and callbacks, which run in the order of the work of their stream.

use std::cell::Cell;
use std::ffi::{c_uint, c_void};

use crate::entry::enter;
use crate::status::{Result, Status};
use crate::stream::{context_of, usable};

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` if the calling thread executes a host function. A host function must not use the driver.
pub fn is_running() -> bool {
    IS_RUNNING.get()
}

/// Host function, a `CUhostFn`.
pub type HostFunction = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// Callback of a stream, a `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(stream: *mut c_void, status: Status, data: *mut c_void)>;

/// Runs a host function in the calling thread, which must not hold a lock of the driver.
pub fn run(function: impl FnOnce()) {
    IS_RUNNING.set(true);
    function();
    IS_RUNNING.set(false);
}

/// Runs a host function on a stream, unless the context has an error.
///
/// # Safety
/// `function` can be called with `data`.
unsafe fn launch(stream: *mut c_void, function: HostFunction, data: *mut c_void) -> Result<()> {
    usable(stream)?;
    let function = function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: the caller upholds this function's contract.
    run(|| unsafe { function(data) });
    Ok(())
}

/// Runs a host function on a stream. It runs before the call returns, and does not run if the context has an error.
///
/// # Safety
/// `function` is null, or can be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc(stream: *mut c_void, function: HostFunction, data: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuLaunchHostFunc", || unsafe { launch(stream, function, data) })
}

/// Runs a host function on a stream, as [`cuLaunchHostFunc`] does. The synchronisation mode has no effect.
///
/// # Safety
/// `function` is null, or can be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_v2(
    stream: *mut c_void,
    function: HostFunction,
    data: *mut c_void,
    mode: c_uint,
) -> Status {
    const LAST_MODE: c_uint = 1;
    enter("cuLaunchHostFunc_v2", || {
        if mode > LAST_MODE {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { launch(stream, function, data) }
    })
}

/// Runs a callback with the status of a stream. It runs before the call returns, even if the context has an error.
/// `flags` must be 0.
///
/// # Safety
/// `callback` is null, or can be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback(
    stream: *mut c_void,
    callback: StreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Status {
    enter("cuStreamAddCallback", || {
        let status = context_of(stream)?.error().unwrap_or(Status::SUCCESS);
        let callback = callback.filter(|_| flags == 0).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller upholds this function's contract.
        run(|| unsafe { callback(stream, status, data) });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_running_during_its_call() {
        let mut seen = false;
        run(|| seen = is_running());
        assert!(seen && !is_running());
    }
}

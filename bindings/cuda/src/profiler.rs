//! Control of an external profiler. No profiler exists, so the calls have no effect.

use std::ffi::{c_char, c_uint};

use crate::context::current;
use crate::entry::enter;
use crate::init::initialised;
use crate::status::Status;

/// Configures the profiler.
#[unsafe(no_mangle)]
pub extern "C" fn cuProfilerInitialize(_config: *const c_char, _output: *const c_char, _format: c_uint) -> Status {
    enter("cuProfilerInitialize", initialised)
}

/// Starts profiling of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuProfilerStart() -> Status {
    enter("cuProfilerStart", || current().map(drop))
}

/// Stops profiling of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuProfilerStop() -> Status {
    enter("cuProfilerStop", || current().map(drop))
}

//! Initialisation and version of the driver.

use std::ffi::{c_int, c_uint};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device;
use crate::entry::{enter, write_out};
use crate::host_function;
use crate::status::{Result, Status};

/// CUDA version of the driver: that of the newest functions in `functions.txt`. Clients compare the version with those
/// of NVRTC and nvJitLink, and avoid PTX if the driver is older.
const DRIVER_VERSION: c_int = 13050;

/// Identifier of the process that has called `cuInit`, or 0.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Checks that the calling thread can use the driver: this process has called `cuInit`, and the thread does not execute
/// a host function.
///
/// A child process after a fork has the memory of its parent, but neither its threads nor a consistent state of locks.
/// As on a GPU, the child cannot use the driver.
pub fn initialised() -> Result<()> {
    if PROCESS.load(Ordering::Acquire) != process::id() {
        return Err(Status::NOT_INITIALIZED);
    }
    if host_function::is_running() { Err(Status::NOT_PERMITTED) } else { Ok(()) }
}

/// Initialises the driver. `flags` must be 0. Fails in a child of a process that has initialised the driver.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: c_uint) -> Status {
    enter("cuInit", || {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if device::count() == 0 {
            return Err(Status::NO_DEVICE);
        }
        match PROCESS.compare_exchange(0, process::id(), Ordering::AcqRel, Ordering::Acquire) {
            Err(earlier) if earlier != process::id() => Err(Status::NOT_INITIALIZED),
            _ => Ok(()),
        }
    })
}

/// Returns the newest CUDA version that the driver supports, as 1000 * major + 10 * minor.
///
/// # Safety
/// `version` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuDriverGetVersion", || unsafe { write_out(version, DRIVER_VERSION) })
}

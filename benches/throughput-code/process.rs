//! Child processes, whose time and memory usage is measured.

use std::ffi::c_int;
use std::process::{Command, Stdio};

/// Exit code and resource usage of a child process.
pub struct ResourceUsage {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Processor time in user and system mode, in seconds. Other processes hardly affect this time.
    pub seconds: f64,
    /// Peak resident memory in bytes.
    pub bytes: f64,
}

/// `struct rusage` of Linux: seconds and microseconds in user mode and in system mode, the peak
/// memory in KiB, and thirteen more fields.
type Usage = [i64; 18];

unsafe extern "C" {
    fn wait4(process: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
}

/// Runs a program to its end and returns its resource usage. Returns an error unless the exit code is 0.
pub fn run(command: &mut Command) -> Result<ResourceUsage, String> {
    let took = measure(command)?;
    if took.code == Some(0) { Ok(took) } else { Err(format!("`{}` failed", command.get_program().to_string_lossy())) }
}

/// Runs a program to its end and returns its exit code and resource usage.
pub fn measure(command: &mut Command) -> Result<ResourceUsage, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).spawn();
    let child = child.map_err(|error| format!("{name}: {error}"))?;
    let process = child.id() as c_int;
    let (mut status, mut usage): (c_int, Usage) = (0, [0; 18]);
    // SAFETY: `status` and `usage` have the sizes to which 64-bit Linux writes. No other code waits
    // for the child process.
    let waited = unsafe { wait4(process, &raw mut status, 0, &raw mut usage) };
    if waited != process {
        return Err(format!("cannot wait for the end of `{name}`"));
    }
    let code = (status & 0x7f == 0).then_some(status >> 8 & 0xff);
    let [user, user_us, system, system_us, peak, ..] = usage.map(|word| word as f64);
    let seconds = user + system + (user_us + system_us) / 1e6;
    Ok(ResourceUsage { code, seconds, bytes: peak * 1024.0 })
}

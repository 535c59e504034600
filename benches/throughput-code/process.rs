//! Programs that are run, with the time and the memory that they take.

use std::ffi::c_int;
use std::process::{Command, Stdio};

/// What a run of a program took.
pub struct Took {
    /// Of a processor, in the program and in the system for it: what else the machine does counts little.
    pub seconds: f64,
    /// The most that was resident.
    pub bytes: f64,
}

/// `struct rusage`: seconds and microseconds of the program and of the system, the peak in KiB, and thirteen more.
type Usage = [i64; 18];

unsafe extern "C" {
    fn wait4(process: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Result<Took, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).spawn();
    let child = child.map_err(|error| format!("{name}: {error}"))?;
    let process = child.id() as c_int;
    let (mut status, mut usage): (c_int, Usage) = (0, [0; 18]);
    // SAFETY: both are written to, and as large as the system has them on 64-bit Linux; the child is waited for only here.
    let waited = unsafe { wait4(process, &raw mut status, 0, &raw mut usage) };
    if waited != process || status != 0 {
        return Err(format!("{name} fails"));
    }
    let [user, user_us, system, system_us, peak, ..] = usage.map(|word| word as f64);
    let seconds = user + system + (user_us + system_us) / 1e6;
    Ok(Took { seconds, bytes: peak * 1024.0 })
}

//! Measurements of the memory of programs after a launch on native code.

use std::thread;

use halfbyte::{Engine, Program};

use crate::texts::{HALU, Text, VP1};
use crate::{Bench, Found};

/// Measures the memory of a program without its native code, in KB. The value is the mean over 1,000 programs.
pub fn program(bench: &Bench, text: &Text) -> Result<Found, String> {
    let count = 1000 / bench.fewer;
    drop(launched(text, 0)?);
    let before = resident()?;
    let programs = (0..count).map(|number| launched(text, number)).collect::<Result<Vec<_>, _>>()?;
    let bytes = resident()?.saturating_sub(before) as f64 / count as f64;
    let translations = programs.iter().flat_map(Program::kernels).filter_map(|kernel| kernel.raw().translation());
    let code = translations.map(|translation| translation.bytes).sum::<usize>() as f64 / count as f64;
    Ok(Found { value: (bytes - code) / 1e3, note: format!("{:.1} KB of code, {count} live programs", code / 1e3) })
}

/// Measures the resident memory of the process with 10,000 live programs, in GB. Half of the
/// programs are for HALU, and half for VP1.
pub fn programs(bench: &Bench) -> Result<Found, String> {
    let count = 10_000 / bench.fewer;
    let text = |number| if number % 2 == 0 { &HALU } else { &VP1 };
    let programs = (0..count).map(|number| launched(text(number), number)).collect::<Result<Vec<_>, _>>()?;
    let value = resident()? as f64 / 1e9;
    drop(programs);
    Ok(Found { value, note: format!("{count} live programs") })
}

/// Measures the growth of the resident memory, in MB, while four threads compile, launch and drop
/// kernels. An initial tenth of the kernels runs before the measurement.
pub fn churn(bench: &Bench) -> Result<Found, String> {
    let count = 10_000 / bench.fewer;
    let churn = |count: usize| {
        let work = |thread: usize| {
            (0..count).try_for_each(|number| {
                launched(if number % 2 == 0 { &HALU } else { &VP1 }, 4 * number + thread).map(drop)
            })
        };
        thread::scope(|scope| {
            let threads = [0, 1, 2, 3].map(|number| scope.spawn(move || work(number)));
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?)
        })
    };
    churn(count / 10)?;
    let before = resident()?;
    churn(count)?;
    let after = resident()?;
    let note =
        format!("4 threads, {count} kernels each, from {:.1} MB to {:.1} MB", before as f64 / 1e6, after as f64 / 1e6);
    Ok(Found { value: (after as f64 - before as f64) / 1e6, note })
}

/// Creates the program with the constant `number`, and launches its kernel once. The launch has enough items for
/// several rows, the sets of items that native code executes together.
fn launched(text: &Text, number: usize) -> Result<Program, String> {
    const ITEMS: usize = 300;
    let program = text.program(number)?;
    let (x, mut y, mut z) = ([1_u32; ITEMS], [1_u32; ITEMS], [0_u32; ITEMS]);
    let kernel = program.kernel("k").map_err(|error| error.to_string())?;
    let mut bound = kernel.bind((2_u32, &x, &mut y, &mut z)).map_err(|error| error.to_string())?;
    bound.engine(Engine::JIT).run(ITEMS as u32).map_err(|error| error.to_string())?;
    match (y[ITEMS - 1], z[ITEMS - 1]) == (1 + 2 + 1 + 2 - 2, number as u32) {
        true => Ok(program),
        false => Err(format!("the launch gave the wrong results {} and {}", y[ITEMS - 1], z[ITEMS - 1])),
    }
}

/// Returns the resident memory of the process in bytes.
fn resident() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| format!("/proc/self/status: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("/proc/self/status has no VmRSS")?;
    let kb = line.trim().trim_end_matches("kB").trim().parse::<u64>().map_err(|error| error.to_string())?;
    Ok(1024 * kb)
}

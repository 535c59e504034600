//! A PTX launch on two threads, compared with two processes that each launch on one thread.

use std::io::{BufRead, BufReader, Lines, Write};
use std::num::NonZero;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use halfbyte::Shape;
use halfbyte::runtime::Engine;
use halfbyte::runtime::ptx::{Arg, Kernel, Launch};

use crate::Bench;
use crate::data::Aligned;
use crate::measure::Sample;
use crate::ptx::{BLOCK, case};

/// The option with which the benchmark starts itself as a process that launches on one thread. The
/// process launches once for each line of its input.
pub const ALONE: &str = "--ptx-alone";
/// Number of items per thread or process. The number is so large that two threads are worthwhile.
const SHARED: usize = 1 << 22;

/// The PTX kernel of the polynomial, with its input and output.
struct Shared {
    kernel: Kernel,
    x: Aligned,
    y: Vec<u8>,
}

impl Shared {
    fn new(items: usize) -> Result<Shared, String> {
        let case = case("polynomial")?;
        let x = Aligned::of_random(4 * items, 1, case.element);
        Ok(Shared { kernel: case.kernel()?, x, y: vec![0; 4 * items] })
    }

    fn launch(&mut self, engine: Engine) -> Result<(), String> {
        let items = (self.y.len() / 4) as u32;
        let count = items.to_le_bytes();
        let mut args = [Arg::Value(&count), Arg::In(&self.x), Arg::Buffer(&mut self.y)];
        let shape = Shape { grid: [items / BLOCK, 1, 1], block: [BLOCK, 1, 1], shared: 0 };
        let launch = Launch { engine, budget: u64::MAX, ..Launch::new(shape, &mut args) };
        self.kernel.launch(launch).map(drop).map_err(|error| error.to_string())
    }
}

/// Launches the kernel on one thread for each line of the input, and prints the time of each launch in seconds.
pub fn alone() -> Result<(), String> {
    let mut shared = Shared::new(SHARED)?;
    for line in std::io::stdin().lines() {
        line.map_err(|error| error.to_string())?;
        let start = Instant::now();
        shared.launch(Engine::JIT)?;
        println!("{}", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// A child process that launches on one thread, with its pipes.
struct Process {
    ask: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start() -> Result<Process, String> {
        let said = |error: std::io::Error| error.to_string();
        let program = std::env::current_exe().map_err(said)?;
        let mut child =
            Command::new(program).arg(ALONE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(said)?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a child process has no pipes".into());
        };
        Ok(Process { ask, answers: BufReader::new(answers).lines() })
    }

    fn ask(&mut self) -> Result<(), String> {
        writeln!(self.ask).map_err(|error| error.to_string())
    }

    fn seconds(&mut self) -> Result<f64, String> {
        let answer = self.answers.next().ok_or("a child process ended early")?.map_err(|error| error.to_string())?;
        answer.parse().map_err(|_| format!("a child process printed `{answer}` in place of a time"))
    }
}

/// Compares a launch on two threads with two processes that launch at the same time, each on one
/// thread. Each process has half of the items.
pub fn threads(bench: &Bench) -> Result<Sample, String> {
    let two = Engine::Jit { threads: NonZero::<u16>::MIN.saturating_add(1) };
    let mut shared = Shared::new(2 * SHARED)?;
    let mut processes = [Process::start()?, Process::start()?];
    let mut both = || -> Result<f64, String> {
        processes.iter_mut().try_for_each(Process::ask)?;
        let seconds = processes.iter_mut().map(Process::seconds).collect::<Result<Vec<_>, _>>()?;
        // The time of the whole work at the combined speed of both processes.
        Ok(2.0 / seconds.iter().map(|seconds| 1.0 / seconds).sum::<f64>())
    };
    both()?;
    shared.launch(two)?;
    let mut theirs = Vec::new();
    let ours = bench.rounds.each(|| {
        theirs.push(both()?);
        let start = Instant::now();
        shared.launch(two)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    theirs.sort_by(f64::total_cmp);
    let theirs = theirs.get(theirs.len() / 2).copied().unwrap_or(ours);
    Ok(Sample::of_speeds(2.0 * SHARED as f64 / 1e6, [ours, theirs]))
}

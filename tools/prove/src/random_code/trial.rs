//! Execution of a random program on the interpreter and as native code, with a comparison of the results.

use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Argument, Case};

/// Number of threads when native code runs on several threads.
pub const THREADS: NonZero<u16> = NonZero::<u16>::MIN.saturating_add(3);

/// Offset of each buffer's address from a multiple of 16 bytes: one row for the interpreter, and
/// one for each of the two runs of native code.
const STARTS: [[usize; 4]; 3] = [[0, 0, 0, 0], [0, 1, 2, 3], [3, 0, 1, 4]];

/// A runner of random programs.
#[derive(Debug)]
pub struct Trial {
    /// The pool from which the launches are called. The size of the pool limits the number of
    /// threads of native code.
    pool: ThreadPool,
}

/// The result of a program on which all engines agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All items completed.
    Done,
    /// An item trapped.
    Trapped,
    /// The engines refused the launch.
    Refused,
}

/// A difference between the results of two engines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The description of the difference.
    pub reason: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The result of a launch on one engine.
struct Run {
    result: Result<Stats, LaunchError>,
    buffers: Vec<Vec<u8>>,
    /// `true` if the bytes before and after each buffer are unchanged.
    within: bool,
}

/// Initial value of the bytes before and after each buffer.
const AROUND: u8 = 0xa5;

impl Trial {
    /// Creates a runner with a pool of [`THREADS`] threads. Returns `None` if the system cannot create threads.
    pub fn new() -> Option<Trial> {
        let pool = ThreadPoolBuilder::new().num_threads(THREADS.get().into()).build().ok()?;
        Some(Trial { pool })
    }

    /// Runs a program on the interpreter, and as native code on one thread and on several threads.
    /// The buffers have another alignment in each run.
    ///
    /// # Errors
    /// Fails with the first difference.
    pub fn run(&self, case: &Case) -> Result<Outcome, Difference> {
        let different = |reason: String| Err(Difference { reason });
        let program = match case.load() {
            Ok(program) => program,
            Err(error) => return different(format!("cannot be loaded: {error}")),
        };
        let engines = [Engine::Interp, Engine::JIT, Engine::Jit { threads: THREADS }];
        let mut runs = Vec::new();
        for (engine, starts) in engines.into_iter().zip(STARTS) {
            let run = || self.pool.install(|| launch(case, &program, engine, starts));
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(run) => runs.push((engine, run)),
                Err(_) => return different(format!("{} panics", name(engine))),
            }
        }
        if let Some((engine, _)) = runs.iter().find(|(_, run)| !run.within) {
            return different(format!("{} writes outside the buffers", name(*engine)));
        }
        let Some(((_, expected), others)) = runs.split_first() else { return Ok(Outcome::Refused) };
        for (engine, found) in others {
            if found.result != expected.result {
                let [found, expected] = [found, expected].map(|run| match &run.result {
                    Ok(stats) => format!("{stats:?}"),
                    Err(error) => error.to_string(),
                });
                return different(format!("{}: {found}\nexpected: {expected}", name(*engine)));
            }
            if expected.result.is_err() {
                continue;
            }
            for ((number, found), expected) in found.buffers.iter().enumerate().zip(&expected.buffers) {
                let at = found.iter().zip(expected).position(|(found, expected)| found != expected);
                if let Some(at) = at {
                    let [found, expected] = [found, expected].map(|bytes| bytes.get(at).copied().unwrap_or(0));
                    let name = name(*engine);
                    return different(format!(
                        "{name}: byte {at} of buffer {number} is {found:#04x}; expected {expected:#04x}"
                    ));
                }
            }
        }
        Ok(match &expected.result {
            Ok(_) => Outcome::Done,
            Err(LaunchError::Trap(_)) => Outcome::Trapped,
            Err(_) => Outcome::Refused,
        })
    }

    /// Reduces a program on which engines differ: replaces as many instructions as possible by no-ops.
    pub fn reduce(&self, case: &Case) -> Case {
        let mut least = case.clone();
        let mut size = case.words.len().next_power_of_two();
        while size > 0 {
            for start in (0..case.words.len()).step_by(size) {
                let mut smaller = least.clone();
                smaller.words = least.words.replace_with_nops(start..case.words.len().min(start + size));
                if smaller.words != least.words && self.run(&smaller).is_err() {
                    least = smaller;
                }
            }
            size /= 2;
        }
        least
    }
}

fn name(engine: Engine) -> String {
    match engine {
        Engine::Jit { threads } if threads.get() > 1 => format!("native code on {threads} threads"),
        Engine::Jit { .. } => "native code".to_owned(),
        other => other.name().to_owned(),
    }
}

fn launch(case: &Case, program: &Program, engine: Engine, starts: [usize; 4]) -> Run {
    /// Number of additional bytes in the memory of a buffer, so that the buffer can start at any
    /// offset and is surrounded by other bytes.
    const SLACK: usize = 32;
    let mut memory: Vec<(Vec<u8>, usize, usize)> = Vec::new();
    for (number, arg) in case.args.iter().enumerate() {
        let bytes: &[u8] = if let Argument::Buffer(bytes) = arg { bytes } else { &[] };
        let mut place = vec![AROUND; bytes.len() + SLACK];
        let start = place.as_ptr().align_offset(16).min(16) + starts[number % starts.len()];
        place.iter_mut().skip(start).zip(bytes).for_each(|(place, byte)| *place = *byte);
        memory.push((place, start, bytes.len()));
    }
    let mut args: Vec<Arg<'_>> = (case.args.iter())
        .zip(&mut memory)
        .map(|(arg, (place, start, len))| match arg {
            Argument::Scalar(bits) => Arg::Scalar(*bits),
            Argument::Buffer(_) => Arg::Buffer(place.get_mut(*start..*start + *len).unwrap_or_default()),
        })
        .collect();
    let launch = Launch { budget: case.budget, engine, ..Launch::new(case.items, &mut args) };
    let result = match program.kernels().first() {
        Some(kernel) => kernel.launch(launch),
        None => Ok(Stats::default()),
    };
    let buffers =
        memory.iter().map(|(place, start, len)| place.get(*start..*start + *len).unwrap_or_default().to_vec());
    let within = memory.iter().all(|(place, start, len)| {
        place.iter().enumerate().all(|(at, &byte)| (*start..*start + *len).contains(&at) || byte == AROUND)
    });
    Run { result, buffers: buffers.collect(), within }
}

//! A case on every engine.

use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use halfbyte_runtime::{Arg, Engine, Launch, LaunchError, Program, Stats};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Argument, Case};

/// Threads of native code, where it has several.
pub const THREADS: NonZero<u16> = NonZero::<u16>::MIN.saturating_add(3);

/// Where slices start, in bytes from a multiple of 16, on the interpreter and then on native code.
const STARTS: [[usize; 4]; 3] = [[0, 0, 0, 0], [0, 1, 2, 3], [3, 0, 1, 4]];

/// Runs cases.
#[derive(Debug)]
pub struct Trial {
    /// Native code takes no more threads than there are in the pool that it is called from.
    pool: ThreadPool,
}

/// How a case ended, on all engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All items ran to their end.
    Done,
    /// An item trapped.
    Trapped,
    /// It was not launched.
    Refused,
}

/// What engines do not agree on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// What differs, where.
    pub reason: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// What a launch came to.
struct Run {
    result: Result<Stats, LaunchError>,
    buffers: Vec<Vec<u8>>,
    /// Nothing was written around the buffers.
    within: bool,
}

/// What is around buffers.
const AROUND: u8 = 0xa5;

impl Trial {
    /// A pool of [`THREADS`] for cases; none where the system gives no threads.
    pub fn new() -> Option<Trial> {
        let pool = ThreadPoolBuilder::new().num_threads(THREADS.get().into()).build().ok()?;
        Some(Trial { pool })
    }

    /// Runs a case on the interpreter, and on native code with one and several threads. Buffers start at other places in each.
    ///
    /// # Errors
    /// The first difference.
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

    /// The least of a case that still differs: with as many words as can be made instructions that do nothing.
    pub fn reduce(&self, case: &Case) -> Case {
        let mut least = case.clone();
        let mut size = case.words.len().next_power_of_two();
        while size > 0 {
            for start in (0..case.words.len()).step_by(size) {
                let mut smaller = least.clone();
                smaller.words = least.words.idle(start..case.words.len().min(start + size));
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
    /// Room for a slice that starts anywhere.
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

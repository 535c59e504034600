//! Measurements of the latency of cancellation.

use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use halfbyte::abi::{CancelToken, Exceeded, Limits, Watchdog};
use halfbyte::pipeline::Options;
use halfbyte::runtime::LaunchError;
use halfbyte::{Engine, HALU, Module, Program, TARGETS, VP1};

use crate::Found;

/// Time from the start of the work to its cancellation.
const BEFORE: Duration = Duration::from_millis(100);
const ROUNDS: usize = 5;
/// Number of ops of the kernel for which compilation is cancelled.
const OPS: usize = 1_000_000;

/// A kernel with an endless loop.
const ENDLESS: &str = "
kernel @k(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  br ^l(%0)
^l(%k: i32):
  %m = add.i32 %k, %i
  %t = icmp.eq.i32 %n, %0
  br_if %t, ^l(%m), ^done
^done:
  store %i, %y[%i]
  ret
}";

/// Measures the time from the cancellation of a launch to its end, in milliseconds. The value is
/// the maximum over all engines.
pub fn launch() -> Result<Found, String> {
    let mut slowest = (Duration::ZERO, String::new());
    for target in [HALU, VP1] {
        let module = Module::parse(ENDLESS).map_err(|error| error.to_string())?;
        let binary = module.compile(target).map_err(|error| error.to_string())?;
        let program = Program::load(&binary.object).map_err(|error| error.to_string())?;
        for engine in Engine::ALL {
            for _ in 0..ROUNDS {
                let late = cancelled(|watchdog| {
                    let mut y = vec![0_u32; 1 << 16];
                    let kernel = program.kernel("k").map_err(|error| error.to_string())?;
                    let mut bound = kernel.bind((0_u32, &mut y)).map_err(|error| error.to_string())?;
                    let done = bound.engine(engine).budget(u64::MAX).watchdog(watchdog).run(1 << 16);
                    match done {
                        Err(LaunchError::Exceeded { exceeded, .. }) => Ok(Some(exceeded)),
                        Err(error) => Err(error.to_string()),
                        Ok(_) => Ok(None),
                    }
                })?;
                slowest = slowest.max((late, format!("the slowest of {ROUNDS} of each engine, {target} on {engine}")));
            }
        }
    }
    Ok(Found { value: slowest.0.as_secs_f64() * 1e3, note: slowest.1 })
}

/// Measures the time from the cancellation of a compilation to its end, in milliseconds. The value
/// is the maximum over all targets.
pub fn compile() -> Result<Found, String> {
    let module = Module::parse(&large()).map_err(|error| error.to_string())?;
    let mut slowest = (Duration::ZERO, String::new());
    for target in TARGETS.defaults() {
        for round in 1..=ROUNDS as u32 {
            let late = cancelled_after(BEFORE / 2 * round, |watchdog| {
                let options = Options { watchdog: Some(watchdog.clone()), ..Options::new(target) };
                match module.compile_with(&options) {
                    Err(error) => error.exceeded().map(Some).ok_or_else(|| error.to_string()),
                    Ok(_) => Ok(None),
                }
            })?;
            slowest = slowest.max((late, format!("the slowest of {ROUNDS} of each target, {target}")));
        }
    }
    Ok(Found { value: slowest.0.as_secs_f64() * 1e3, note: slowest.1 })
}

/// Returns a kernel that takes a long time to compile.
fn large() -> String {
    let mut text = String::from("kernel @k(%x: in i32, %y: out i32) {\n^entry:\n%i = item_id\n%v0 = load %x[%i]\n");
    for number in 0..OPS {
        let op = ["add", "xor", "mul", "sub"][number % 4];
        let (next, other) = (number + 1, number - number % 97);
        let _ = writeln!(text, "%v{next} = {op}.i32 %v{number}, %v{other}");
    }
    text + &format!("store %v{OPS}, %y[%i]\nret\n}}")
}

fn cancelled(work: impl FnOnce(&Watchdog) -> Result<Option<Exceeded>, String>) -> Result<Duration, String> {
    cancelled_after(BEFORE, work)
}

/// Returns the time from the cancellation to the end of `work`, which is cancelled after `before`.
/// `work` returns the limit that ended it, or `None` if it completed.
fn cancelled_after(
    before: Duration,
    work: impl FnOnce(&Watchdog) -> Result<Option<Exceeded>, String>,
) -> Result<Duration, String> {
    let token = CancelToken::default();
    let watchdog = Watchdog::with_token(Limits::NONE, token.clone());
    thread::scope(|scope| {
        let canceller = scope.spawn(move || {
            thread::sleep(before);
            let asked = Instant::now();
            token.cancel();
            asked
        });
        let met = work(&watchdog)?;
        let end = Instant::now();
        let asked = canceller.join().map_err(|_| "a thread panicked".to_owned())?;
        match met {
            Some(Exceeded::Cancelled) => Ok(end.saturating_duration_since(asked)),
            Some(other) => Err(other.to_string()),
            None => Err("the work ended before it was cancelled".to_owned()),
        }
    })
}

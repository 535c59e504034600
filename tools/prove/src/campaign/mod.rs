//! Campaigns of random kernels: each kernel is one text, drawn from its number, which every target is given. What a target
//! accepts it must run as the evaluator does: the same memory, or the same trap.
//!
//! Which kernels there are depends on the seed alone, so shards and threads do not change them.

mod launches;
mod mix;

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use halfbyte::launch::Engine;
use halfbyte::pipeline::Options;
use halfbyte_abi::{CancelToken, Limits, Target};
use halfbyte_ir::generate::Meets;
pub use launches::launches;
pub use mix::{Mix, Targets};

use crate::prove::Shard;
use halfbyte_testkit::reduce::{Case, Effort, Patience, reduce};
use halfbyte_testkit::trial::{Failure, Kind, Tally, Trial};

/// Backward branches that an item may take: more than a drawn kernel takes unless one of its loops has no end.
pub const BUDGET: u32 = 10_000;

/// What is spent on making a kernel smaller that fails.
const REDUCTION: Effort = Effort { time: Duration::from_secs(60), trials: 5000 };

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the kernels depend on.
    pub seed: u64,
    /// The kernels, by number.
    pub kernels: Range<u64>,
    /// Which part of them.
    pub shard: Shard,
    /// What they are compiled for.
    pub targets: Vec<Target>,
    /// What executes their words.
    pub engines: Vec<Engine>,
    /// Whether the functions that objects have of these words run too, which takes feature `aot`.
    pub ahead: bool,
    /// How many threads run kernels.
    pub threads: NonZero<usize>,
    /// Differences after which no more kernels are begun.
    pub enough: usize,
    /// Whether items meet: of all kernels, or of some where nothing is said. Of kernels that race it is asked whether the evaluator says so.
    pub meets: Option<Meets>,
    /// The limits of each kernel's trial.
    pub limits: Limits,
    /// What ends the campaign early.
    pub cancel: CancelToken,
}

/// What came of the kernels that are done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The kernels.
    pub kernels: u64,
    /// Those with an item that the evaluator saw trapping.
    pub trapping: u64,
    /// Those that each target of the plan accepts.
    pub accepted: Vec<u64>,
    /// Launches on words: of a kernel on a target and an engine.
    pub launches: u64,
    /// Kernels whose trial met a limit.
    pub exceeded: u64,
    /// What does not agree, by the kernels' numbers.
    pub differences: Vec<Difference>,
}

/// A kernel that fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Its number.
    pub number: u64,
    /// What is wrong.
    pub reason: String,
    /// The least of it that still fails, as a kernel file with the launch.
    pub file: String,
}

/// Runs a shard of the kernels. `watch` is told now and then how far the work is.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&Summary)) -> Summary {
    let next = AtomicU64::new(plan.kernels.start + plan.shard.index() as u64 - 1);
    let found = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let mut summary = Summary { accepted: vec![0; plan.targets.len()], ..Summary::default() };
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.get() {
            let (sender, next, found) = (sender.clone(), &next, &found);
            scope.spawn(move || {
                let targets = Targets::new();
                let mut mix = Mix::new(&targets);
                while found.load(Ordering::Relaxed) < plan.enough && !plan.cancel.is_cancelled() {
                    let number = next.fetch_add(plan.shard.count() as u64, Ordering::Relaxed);
                    if number >= plan.kernels.end {
                        break;
                    }
                    let outcome = one(plan, &mut mix, number);
                    found.fetch_add(usize::from(matches!(outcome, Ok(Err(_)))), Ordering::Relaxed);
                    // The receiver outlives all senders.
                    let _ = sender.send(outcome);
                }
            });
        }
        drop(sender);
        for outcome in results {
            summary.add(outcome);
            watch(&summary);
        }
    });
    summary.differences.sort_by_key(|difference| difference.number);
    summary
}

/// A trial met a limit.
struct Exceeded;

/// What came of a kernel.
type Outcome = Result<Result<Tally, Box<Difference>>, Exceeded>;

/// Runs the kernel of a number.
fn one(plan: &Plan, mix: &mut Mix<'_>, number: u64) -> Outcome {
    let ways: Vec<Options> = plan.targets.iter().map(|&target| Options::new(target)).collect();
    let (text, mut random) = mix.draw(plan.seed, number, plan.meets);
    let patience = Patience::each(plan.limits.clone(), plan.cancel.clone());
    let watchdog = &patience.watchdog();
    let trial =
        Trial { ways: &ways, engines: &plan.engines, ahead: plan.ahead, budget: BUDGET, watchdog: Some(watchdog) };
    let outcome = match plan.meets {
        Some(Meets::Racing) => trial.must_race(&text, |kernel| launches(kernel, &mut random)),
        _ => trial.run_printed(&text, |kernel| launches(kernel, &mut random)),
    };
    if let Err(Failure { kind: Kind::Exceeded, .. }) = outcome {
        return Err(Exceeded);
    }
    Ok(outcome.map_err(|failure| {
        let (reason, file) = least(&trial, &patience, text, failure);
        let file = format!("; Kernel {number} of seed {}: {}\n{file}", plan.seed, reason.replace('\n', "\n; "));
        Box::new(Difference { number, reason, file })
    }))
}

/// The least of a kernel that fails in the same way, as a kernel file, and what is wrong with that. What cannot be read or
/// launched stays as it is.
pub fn least(trial: &Trial<'_>, patience: &Patience, text: String, failure: Failure) -> (String, String) {
    let case = failure.launch.as_deref().and_then(|launch| Case::read(text.clone(), launch.clone()));
    let Some(case) = case else { return (failure.reason, text) };
    let mut reason = failure.reason.clone();
    let mut fails = |case: &Case| {
        let watchdog = &patience.watchdog();
        let trial = Trial { watchdog: Some(watchdog), ..*trial };
        let found = trial.run(&case.module(), std::slice::from_ref(case.launch())).err();
        let found = found.filter(|found| found.is_like(&failure));
        found.map(|found| reason = found.reason).is_some()
    };
    let case = reduce(case, REDUCTION, &mut fails, &mut |_| {});
    let targets: Vec<&str> = trial.ways.iter().map(|options| options.target.name()).collect();
    (reason, case.file(&targets.join(", ")))
}

impl Summary {
    fn add(&mut self, outcome: Outcome) {
        self.kernels += 1;
        match outcome {
            Err(Exceeded) => self.exceeded += 1,
            Ok(Ok(tally)) => {
                self.trapping += u64::from(tally.traps);
                self.launches += tally.launches;
                for (all, accepted) in self.accepted.iter_mut().zip(tally.accepted) {
                    *all += u64::from(accepted);
                }
            }
            Ok(Err(difference)) => self.differences.push(*difference),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn plan(shard: &str, threads: usize) -> Plan {
        Plan {
            seed: 5,
            kernels: 0..24,
            shard: shard.parse().unwrap(),
            targets: vec![halfbyte::HALU, halfbyte::VP1],
            engines: vec![Engine::Interp],
            ahead: false,
            threads: NonZero::new(threads).unwrap(),
            enough: 1,
            meets: None,
            limits: Limits::NONE,
            cancel: CancelToken::default(),
        }
    }

    #[test]
    fn shards_are_the_whole_whatever_the_threads() {
        let whole = run(&plan("1/1", 1), &mut |_| {});
        assert_eq!(whole.differences, []);
        assert_eq!(whole.kernels, 24);
        assert_eq!(run(&plan("1/1", 2), &mut |_| {}), whole);
        let parts = [run(&plan("1/2", 1), &mut |_| {}), run(&plan("2/2", 1), &mut |_| {})];
        assert_eq!(parts.iter().map(|part| part.launches).sum::<u64>(), whole.launches);
        assert_eq!(parts.iter().map(|part| part.accepted[0]).sum::<u64>(), whole.accepted[0]);
    }
}

//! Campaigns of random kernels. Each kernel is drawn from its number and compiled for every target.
//! A target that accepts the kernel must agree with the evaluator: it must leave the same memory,
//! or end with the same trap.
//!
//! The kernels depend only on the seed and their numbers, not on the shards or threads.

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
use halfbyte_ir::generate::Cooperation;
pub use launches::launches;
pub use mix::{Mix, Targets};

use crate::prove::Shard;
use halfbyte_testkit::reduce::{Case, Effort, TrialLimits, reduce};
use halfbyte_testkit::trial::{Failure, FailureKind, Tally, Trial};

/// Number of backward branches that an item may take. Only an infinite loop takes more, because the
/// generator bounds all other loops.
pub const BUDGET: u32 = 10_000;

/// Limits for the reduction of a failing kernel.
const REDUCTION: Effort = Effort { time: Duration::from_secs(60), trials: 5000 };

/// The configuration of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed from which all kernels are drawn.
    pub seed: u64,
    /// The numbers of the kernels to run.
    pub kernels: Range<u64>,
    /// The shard of the kernels to run.
    pub shard: Shard,
    /// The targets for which each kernel is compiled.
    pub targets: Vec<Target>,
    /// The engines that execute the machine code.
    pub engines: Vec<Engine>,
    /// `true` to run native objects too, which requires the feature `aot`.
    pub ahead: bool,
    /// The number of threads that run kernels.
    pub threads: NonZero<usize>,
    /// The number of failing kernels after which no further kernel is started.
    pub enough: usize,
    /// The kind of cooperation in all kernels; if `None`, one kernel in eight is cooperative. If
    /// the kernels race, the evaluator must report the race.
    pub cooperation: Option<Cooperation>,
    /// The limits for compiling and executing each kernel.
    pub limits: Limits,
    /// The token that cancels the campaign.
    pub cancel: CancelToken,
}

/// The counts and failures of the kernels that have finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The number of kernels that have finished.
    pub kernels: u64,
    /// The number of kernels in which the evaluator found a trap.
    pub trapping: u64,
    /// The number of kernels that each target of the plan accepts.
    pub accepted: Vec<u64>,
    /// The number of launches of machine code: one per kernel, target and engine.
    pub launches: u64,
    /// The number of kernels that exceeded a limit.
    pub exceeded: u64,
    /// The failing kernels, sorted by number.
    pub differences: Vec<Difference>,
}

/// A kernel on which a target differs from the evaluator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The kernel's number.
    pub number: u64,
    /// The difference from the evaluator.
    pub reason: String,
    /// The text of a kernel file: the kernel, reduced as far as it still fails, with its launch as a run line.
    pub file: String,
}

/// Runs one shard of the kernels. After each kernel, calls `watch` with the summary so far.
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
                    let outcome = run_kernel(plan, &mut mix, number);
                    found.fetch_add(usize::from(matches!(outcome, Ok(Err(_)))), Ordering::Relaxed);
                    // Sending cannot fail, because the receiver outlives all senders.
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

/// A kernel exceeded a limit, so there is no result.
struct Exceeded;

/// The outcome of one kernel.
type Outcome = Result<Result<Tally, Box<Difference>>, Exceeded>;

/// Draws and runs the kernel with this number.
fn run_kernel(plan: &Plan, mix: &mut Mix<'_>, number: u64) -> Outcome {
    let ways: Vec<Options> = plan.targets.iter().map(|&target| Options::new(target)).collect();
    let (text, mut random) = mix.draw(plan.seed, number, plan.cooperation);
    let patience = TrialLimits::each(plan.limits.clone(), plan.cancel.clone());
    let watchdog = &patience.watchdog();
    let trial = Trial {
        options: &ways,
        engines: &plan.engines,
        native_objects: plan.ahead,
        budget: BUDGET,
        watchdog: Some(watchdog),
    };
    let outcome = match plan.cooperation {
        Some(Cooperation::Racing) => trial.must_race(&text, |kernel| launches(kernel, &mut random)),
        _ => trial.run_printed(&text, |kernel| launches(kernel, &mut random)),
    };
    if let Err(Failure { kind: FailureKind::Exceeded, .. }) = outcome {
        return Err(Exceeded);
    }
    Ok(outcome.map_err(|failure| {
        let (reason, file) = reduce_failure(&trial, &patience, text, failure);
        let file = format!("; Kernel {number} of seed {}: {}\n{file}", plan.seed, reason.replace('\n', "\n; "));
        Box::new(Difference { number, reason, file })
    }))
}

/// Reduces a failing kernel. Returns the failure message of the reduced kernel, and its kernel
/// file. If the kernel cannot be parsed or launched, it is returned unchanged.
pub fn reduce_failure(trial: &Trial<'_>, patience: &TrialLimits, text: String, failure: Failure) -> (String, String) {
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
    let targets: Vec<&str> = trial.options.iter().map(|options| options.target.name()).collect();
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
            cooperation: None,
            limits: Limits::NONE,
            cancel: CancelToken::default(),
        }
    }

    #[test]
    fn shards_cover_all_kernels_with_any_thread_count() {
        let whole = run(&plan("1/1", 1), &mut |_| {});
        assert_eq!(whole.differences, []);
        assert_eq!(whole.kernels, 24);
        assert_eq!(run(&plan("1/1", 2), &mut |_| {}), whole);
        let parts = [run(&plan("1/2", 1), &mut |_| {}), run(&plan("2/2", 1), &mut |_| {})];
        assert_eq!(parts.iter().map(|part| part.launches).sum::<u64>(), whole.launches);
        assert_eq!(parts.iter().map(|part| part.accepted[0]).sum::<u64>(), whole.accepted[0]);
    }
}

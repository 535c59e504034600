//! Campaigns that compare many numbered launches on every route.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::shrink::shrink;
use super::{LaunchLimits, Undefined, Verdict, compare, line};
use crate::prove::Shard;
use halfbyte_testkit::harness::Request;

/// The configuration of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The numbers of the launches.
    pub numbers: Range<u64>,
    /// The shard of the launches to run.
    pub shard: Shard,
    /// The number of threads that run launches.
    pub threads: NonZero<usize>,
    /// The number of failing launches after which no further launch is started.
    pub enough: usize,
    /// The limits of each launch.
    pub patience: LaunchLimits,
}

/// The results of the launches that have finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The number of launches that have finished.
    pub launches: u64,
    /// The number of launches that end with the same memory on at least two routes.
    pub done: u64,
    /// The number of launches that end in the same trap on at least two routes.
    pub trapped: u64,
    /// The number of launches that at most one route executes, so that there is nothing to compare.
    pub refused: u64,
    /// The number of launches whose result is not defined, by reason.
    pub undefined: BTreeMap<Undefined, u64>,
    /// The number of results that were compared, over all launches and routes.
    pub results: u64,
    /// The launches on which routes disagree, sorted by number.
    pub findings: Vec<Finding>,
}

/// A launch on which routes disagree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The launch's number.
    pub number: u64,
    /// The difference between the results of two routes.
    pub reason: String,
    /// The PTX text, reduced as far as the routes still disagree.
    pub text: String,
    /// The launch of the reduced text, as a JSON line for `halfbyte corpus` or `halfbyte launch --json`.
    pub line: String,
}

/// Runs one shard of the launches on every route. The closure `draw` returns the launch with a
/// number. After each launch, calls `watch` with the summary so far.
pub fn run(plan: &Plan, draw: impl Fn(u64) -> Option<Request> + Sync, watch: &mut dyn FnMut(&Summary)) -> Summary {
    let next = AtomicU64::new(plan.numbers.start + plan.shard.index() as u64 - 1);
    let found = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let mut summary = Summary::default();
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.get() {
            let (sender, next, found, draw) = (sender.clone(), &next, &found, &draw);
            scope.spawn(move || {
                while found.load(Ordering::Relaxed) < plan.enough && !plan.patience.cancel.is_cancelled() {
                    let number = next.fetch_add(plan.shard.count() as u64, Ordering::Relaxed);
                    if number >= plan.numbers.end {
                        break;
                    }
                    let Some(request) = draw(number) else { continue };
                    let verdict = compare(&request, &plan.patience);
                    let finding = match &verdict {
                        Verdict::Differs(difference) => {
                            found.fetch_add(1, Ordering::Relaxed);
                            Some(finding(number, request, difference, &plan.patience))
                        }
                        _ => None,
                    };
                    // Sending cannot fail, because the receiver outlives all senders.
                    let _ = sender.send((verdict, finding));
                }
            });
        }
        drop(sender);
        for (verdict, finding) in results {
            summary.add(&verdict, finding);
            watch(&summary);
        }
    });
    summary.findings.sort_by_key(|finding| finding.number);
    summary
}

fn finding(number: u64, request: Request, difference: &super::Disagreement, patience: &LaunchLimits) -> Finding {
    let (least, difference) = shrink(request, Box::new(difference.clone()), patience);
    let reason = format!("{}: {}", difference.route, difference.reason);
    let line = line(&least, &format!("{number}: {reason}"), difference.expected.as_deref()).to_string();
    let text = format!("// {number}: {reason}\n{}", least.text);
    Finding { number, reason, text, line }
}

impl Summary {
    fn add(&mut self, verdict: &Verdict, finding: Option<Finding>) {
        self.launches += 1;
        match *verdict {
            Verdict::Done(routes @ 2..) => {
                self.done += 1;
                self.results += routes as u64;
            }
            Verdict::Trapped(routes @ 2..) => {
                self.trapped += 1;
                self.results += routes as u64;
            }
            Verdict::Done(_) | Verdict::Trapped(_) | Verdict::Refused => self.refused += 1,
            Verdict::Undefined(reason) => *self.undefined.entry(reason).or_default() += 1,
            Verdict::Differs(_) => {}
        }
        self.findings.extend(finding);
    }
}

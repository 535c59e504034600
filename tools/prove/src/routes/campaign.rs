//! Many launches on every route, by number.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::shrink::shrink;
use super::{Patience, Undefined, Verdict, compare, line};
use crate::prove::Shard;
use halfbyte_testkit::harness::Request;

/// Name of what is compared.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The launches, by number.
    pub numbers: Range<u64>,
    /// Shard of the numbers.
    pub shard: Shard,
    /// Number of threads that run launches.
    pub threads: NonZero<usize>,
    /// Differences after which no more launches are begun.
    pub enough: usize,
    /// The limits of each launch.
    pub patience: Patience,
}

/// A count of each verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Launches that were drawn.
    pub launches: u64,
    /// Launches that end on at least two routes with the same memory.
    pub done: u64,
    /// Launches that end in the same trap on at least two routes.
    pub trapped: u64,
    /// Launches that at most one route runs.
    pub refused: u64,
    /// Launches without one defined result, by reason.
    pub undefined: BTreeMap<Undefined, u64>,
    /// Results of routes that were compared.
    pub results: u64,
    /// Launches on which routes disagree, by number.
    pub findings: Vec<Finding>,
}

/// A launch on which routes disagree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Its number.
    pub number: u64,
    /// The results.
    pub reason: String,
    /// The least text that still differs.
    pub text: String,
    /// The launch of that text, as a line for `halfbyte corpus` or `halfbyte launch --json`.
    pub line: String,
}

/// Compares the launches of a shard, which `draw` makes. `watch` is told now and then how far the work is.
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
                    // The receiver outlives all senders.
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

fn finding(number: u64, request: Request, difference: &super::Disagreement, patience: &Patience) -> Finding {
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

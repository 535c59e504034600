//! Reduction of failing test cases.
//!
//! A [`Case`] is a kernel with a launch. [`reduce`] tries smaller and smaller cases with a closure, which returns
//! `true` if a case still fails like the first one. Every case that fails becomes the start of the next step.
//!
//! A step removes ops, replaces them by other values, or loads the result of an op from a buffer. Other steps simplify
//! branches and constants, and remove work items, parameters and elements. Every tried case is well-formed and smaller
//! than the smallest failing case so far, so the reduction terminates.
//!
//! [`find`] finds a failing launch in the run lines of a kernel file.

mod case;
mod cost;
mod draft;
mod flow;
mod launch;
mod ops;
mod search;
mod simplify;
mod tidy;
mod time_limit;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::time::{Duration, Instant};

use halfbyte_abi::{Limits, Watchdog};

use halfbyte::args::MAX_BYTES;

pub use case::Case;
pub use search::{FailingLaunch, FindError, SearchOptions, Suspect, find, suspects};
pub use time_limit::TrialLimits;

use cost::Cost;
use draft::Draft;

/// The limits at which a reduction ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The time limit.
    pub time: Duration,
    /// The maximum number of cases that are tried.
    pub trials: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { time: Duration::from_secs(60), trials: 20_000 }
    }
}

/// The progress of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The number of cases that have been tried.
    pub trials: u64,
    /// The number of ops in the smallest case so far.
    pub ops: usize,
    /// The number of work items in the smallest case so far.
    pub items: u32,
}

/// Reduces a failing case. The closure `fails` returns `true` if a case still fails. The closure
/// `watch` is called after each tried case.
pub fn reduce(
    case: Case,
    effort: Effort,
    fails: &mut dyn FnMut(&Case) -> bool,
    watch: &mut dyn FnMut(Progress),
) -> Case {
    let mut reducer = Reducer {
        cost: Cost::of(case.kernel(), case.launch()),
        best: case,
        fails,
        watch,
        effort,
        start: Instant::now(),
        trials: 0,
        rejected: HashSet::new(),
    };
    loop {
        let before = reducer.cost.clone();
        launch::items(&mut reducer);
        ops::in_chunks(&mut reducer);
        flow::branches(&mut reducer);
        ops::one_by_one(&mut reducer);
        flow::block_params(&mut reducer);
        simplify::constants(&mut reducer);
        simplify::modifiers(&mut reducer);
        launch::params(&mut reducer);
        launch::buffers(&mut reducer);
        if reducer.cost == before || reducer.is_over() {
            return reducer.best;
        }
    }
}

/// The state of a reduction.
struct Reducer<'a> {
    /// The smallest failing case so far.
    best: Case,
    cost: Cost,
    fails: &'a mut dyn FnMut(&Case) -> bool,
    watch: &'a mut dyn FnMut(Progress),
    effort: Effort,
    start: Instant,
    trials: u64,
    /// Hashes of the tried cases that do not fail.
    rejected: HashSet<u64>,
}

impl Reducer<'_> {
    fn is_over(&self) -> bool {
        self.trials >= self.effort.trials || self.start.elapsed() >= self.effort.time
    }

    /// Returns a watchdog for the remaining time.
    fn watchdog(&self) -> Watchdog {
        let time = Some(self.effort.time.saturating_sub(self.start.elapsed()));
        Watchdog::new(Limits { time, buffer_bytes: MAX_BYTES, ..Limits::NONE })
    }

    /// Applies a change to the smallest failing case. If the changed case is smaller and still
    /// fails, it becomes the smallest case, and the function returns `true`.
    fn accepts(&mut self, change: impl FnOnce(&mut Draft) -> Option<()>) -> bool {
        if self.is_over() {
            return false;
        }
        let mut draft = Draft::of(&self.best);
        if change(&mut draft).is_none() {
            return false;
        }
        tidy::tidy(&mut draft.kernel);
        let cost = Cost::of(&draft.kernel, &draft.launch);
        if cost >= self.cost {
            return false;
        }
        let Some(case) = draft.case() else { return false };
        let mut hasher = DefaultHasher::new();
        (case.text(), case.launch().shape, &case.launch().args, &case.launch().aliases).hash(&mut hasher);
        let hash = hasher.finish();
        if self.rejected.contains(&hash) {
            return false;
        }
        let is_kept = (self.fails)(&case);
        self.trials += 1;
        if is_kept {
            (self.best, self.cost) = (case, cost);
        } else {
            self.rejected.insert(hash);
        }
        (self.watch)(Progress {
            trials: self.trials,
            ops: self.cost.ops,
            items: self.best.launch().shape.items().unwrap_or(0),
        });
        is_kept
    }

    /// Tries a change on ranges of `count` elements. The length of the ranges is halved after each pass, down to
    /// `least` elements. Later ranges are tried first, because the last elements are less likely to have users.
    fn in_parts(
        &mut self,
        least: usize,
        count: impl Fn(&Case) -> usize,
        change: impl Fn(&mut Draft, Range<usize>) -> Option<()>,
    ) {
        let least = least.max(1);
        let mut size = (count(&self.best) / 2).max(least);
        loop {
            let mut end = count(&self.best);
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(size);
                self.accepts(|draft| change(draft, start..end));
                end = start.min(count(&self.best));
            }
            if size == least || self.is_over() {
                return;
            }
            size = (size / 2).max(least);
        }
    }

    /// Minimises the number that `value` returns. The closure `change` subtracts the given amount
    /// from the number. Large amounts are tried first.
    fn minimise(&mut self, value: impl Fn(&Case) -> u64, mut change: impl FnMut(&mut Draft, u64) -> Option<()>) {
        let mut step = value(&self.best);
        while step > 0 && !self.is_over() {
            while step <= value(&self.best) && self.accepts(|draft| change(draft, step)) {}
            step /= 2;
        }
    }
}

//! Launches: what they are given, and what they did.

use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::{DEFAULT_BUDGET, Exceeded, Shape, Watchdog};

use crate::arguments::Arg;
use crate::engine::Engine;
use crate::threads::ThreadPool;

/// How a kernel is launched once.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// The work items, from item 0 up. None is allowed.
    pub shape: Shape,
    /// The arguments, in the order of the parameters; those with contents have none.
    pub args: &'a mut [Arg<'b>],
    /// Backward branches that an item may take.
    pub budget: u64,
    /// What runs it.
    pub engine: Engine,
    /// Counts the items that are done, for whoever watches a long launch.
    pub done: Option<&'a AtomicU32>,
    /// What ends the launch early: limits that are met, or someone who cancels it. Engine `cuda` does not look at it.
    pub watchdog: Option<&'a Watchdog>,
    /// Whose threads help where the engine may use several; none for rayon's global pool.
    pub pool: Option<&'a ThreadPool>,
}

/// A launch without its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The number of work items.
    pub items: u32,
    /// The groups that they are in.
    pub shape: Shape,
    /// Backward branches that an item may take.
    pub budget: u64,
    /// What runs it.
    pub engine: Engine,
    pub(crate) done: Option<&'a AtomicU32>,
    pub(crate) watchdog: Option<&'a Watchdog>,
    pub(crate) pool: Option<&'a ThreadPool>,
}

impl Order<'_> {
    /// So many more items are done.
    pub fn advance(&self, items: u32) {
        if let Some(done) = self.done {
            done.fetch_add(items, Ordering::Relaxed);
        }
    }
}

impl<'a> Order<'a> {
    /// What a thread counts the launch's work in.
    pub fn work(&self) -> Work<'a> {
        Work::new(self.watchdog)
    }
}

/// What one thread has done of a launch. Now and then it asks whether it may go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    watchdog: Option<&'a Watchdog>,
    /// Done since the watchdog was last asked.
    unpolled: u64,
}

impl<'a> Work<'a> {
    /// Nothing done yet.
    pub fn new(watchdog: Option<&'a Watchdog>) -> Work<'a> {
        Work { watchdog, unpolled: 0 }
    }

    /// Instructions and backward branches that an interpreter does in a millisecond at most.
    const BETWEEN_POLLS: u64 = 1 << 12;

    /// Counts instructions executed or backward branches taken.
    ///
    /// # Errors
    /// A limit that was met.
    pub fn add(&mut self, work: u64) -> Result<(), Exceeded> {
        self.unpolled += work;
        if self.unpolled < Work::BETWEEN_POLLS { Ok(()) } else { self.poll() }
    }

    /// Counts without asking, where that would be too late or too early.
    pub fn count(&mut self, work: u64) {
        self.unpolled += work;
    }

    /// Asks at once.
    ///
    /// # Errors
    /// A limit that was met.
    pub fn poll(&mut self) -> Result<(), Exceeded> {
        let work = std::mem::take(&mut self.unpolled);
        self.watchdog.map_or(Ok(()), |watchdog| watchdog.spend(work))
    }
}

impl<'a, 'b> Launch<'a, 'b> {
    /// A launch on the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        let (shape, budget) = (shape.into(), DEFAULT_BUDGET);
        Launch { shape, args, budget, engine: Engine::Interp, done: None, watchdog: None, pool: None }
    }
}

/// What a launch did, over all items.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Instructions executed, those with a false guard included; on VP1 bundles, of up to four instructions each.
    pub issued: u64,
    /// Backward branches taken.
    pub backward_branches: u64,
    /// Tiles run, on VP1.
    pub tiles: u64,
    /// Bytes copied from buffers to the data store, on VP1.
    pub bytes_in: u64,
    /// Bytes copied from the data store to buffers, on VP1.
    pub bytes_out: u64,
}

/// Whether a launch of so many items, whose buffers have so many bytes each, may begin.
pub(crate) fn check_limits(watchdog: &Watchdog, items: u32, bytes: impl Iterator<Item = u64>) -> Result<(), Exceeded> {
    let limits = watchdog.limits();
    watchdog.check(items.into(), limits.items, |found, limit| Exceeded::Items { found, limit })?;
    let bytes = bytes.fold(0, u64::saturating_add);
    watchdog.check(bytes, limits.buffer_bytes, |found, limit| Exceeded::Buffers { found, limit })?;
    watchdog.poll()
}

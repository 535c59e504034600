//! Launches: what they are given, and what they did.

use std::sync::atomic::AtomicU32;

use halfbyte_abi::{Arg, DEFAULT_BUDGET, Engine, Exceeded, Shape, Watchdog};
use halfbyte_native::threads::ThreadPool;

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

impl<'a, 'b> Launch<'a, 'b> {
    /// A launch on the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        let (shape, budget) = (shape.into(), DEFAULT_BUDGET);
        Launch { shape, args, budget, engine: Engine::Interp, done: None, watchdog: None, pool: None }
    }
}

/// Whether a launch of so many items, whose buffers have so many bytes each, may begin.
pub(crate) fn check_limits(watchdog: &Watchdog, items: u32, bytes: impl Iterator<Item = u64>) -> Result<(), Exceeded> {
    let limits = watchdog.limits();
    watchdog.check(items.into(), limits.items, |found, limit| Exceeded::Items { found, limit })?;
    let bytes = bytes.fold(0, u64::saturating_add);
    watchdog.check(bytes, limits.buffer_bytes, |found, limit| Exceeded::Buffers { found, limit })?;
    watchdog.poll()
}

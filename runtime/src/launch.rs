//! Launch options and statistics.

use std::sync::atomic::AtomicU32;

use halfbyte_abi::{Arg, DEFAULT_BUDGET, Engine, Exceeded, Shape, Watchdog};
use halfbyte_native::threads::ThreadPool;

/// The options of a single launch.
#[derive(Debug)]
pub struct Launch<'a, 'b> {
    /// The number of work items, or the number of groups and the group size. An empty shape is valid.
    pub shape: Shape,
    /// The arguments, in the order of the parameters. Parameters with constant contents take no argument.
    pub args: &'a mut [Arg<'b>],
    /// Maximum number of backward branches that one work item may take.
    pub budget: u64,
    /// The engine that runs the launch.
    pub engine: Engine,
    /// Counter that the launch increases by the number of its finished work items. Other threads
    /// can read the counter to observe a long launch.
    pub done: Option<&'a AtomicU32>,
    /// Watchdog that ends the launch when a limit is exceeded or the launch is cancelled. Engine `cuda` ignores it.
    pub watchdog: Option<&'a Watchdog>,
    /// Pool whose threads help if the engine may use several threads. `None` means rayon's global pool.
    pub pool: Option<&'a ThreadPool>,
}

impl<'a, 'b> Launch<'a, 'b> {
    /// Creates launch options for the interpreter with the default budget.
    pub fn new(shape: impl Into<Shape>, args: &'a mut [Arg<'b>]) -> Launch<'a, 'b> {
        let (shape, budget) = (shape.into(), DEFAULT_BUDGET);
        Launch { shape, args, budget, engine: Engine::Interp, done: None, watchdog: None, pool: None }
    }
}

/// Checks a launch against the watchdog's limits on work items and buffer bytes. `bytes` yields the
/// size of each buffer in bytes.
pub(crate) fn check_limits(watchdog: &Watchdog, items: u32, bytes: impl Iterator<Item = u64>) -> Result<(), Exceeded> {
    let limits = watchdog.limits();
    watchdog.check(items.into(), limits.items, |found, limit| Exceeded::Items { found, limit })?;
    let bytes = bytes.fold(0, u64::saturating_add);
    watchdog.check(bytes, limits.buffer_bytes, |found, limit| Exceeded::Buffers { found, limit })?;
    watchdog.poll()
}

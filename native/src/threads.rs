//! The threads that launches run on: rayon's where feature `parallel` is on, else the caller's alone.

use std::fmt;
use std::num::NonZero;
use std::panic::{RefUnwindSafe, UnwindSafe};

use thiserror::Error;

/// Threads of one's own for launches, in place of those that the process shares. They end when this is dropped.
///
/// ```
/// use std::num::NonZero;
///
/// # #[cfg(feature = "parallel")]
/// # {
/// let pool = halfbyte_runtime::ThreadPool::new(NonZero::new(2).unwrap())?;
/// assert_eq!(pool.threads(), 2);
/// # }
/// # Ok::<(), halfbyte_runtime::ThreadPoolError>(())
/// ```
pub struct ThreadPool(
    #[cfg(feature = "parallel")] rayon::ThreadPool,
    #[cfg(not(feature = "parallel"))] std::convert::Infallible,
);

/// Why there are no threads.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ThreadPoolError {
    /// The system gives none.
    #[error("no threads could be started: {0}")]
    System(String),
    /// The library was built without feature `parallel`.
    #[error("halfbyte was built without feature `parallel`")]
    NotBuilt,
}

impl ThreadPool {
    /// Starts so many threads. A launch on them has one more, its caller's.
    ///
    /// # Errors
    /// The system gives no threads, or feature `parallel` is off.
    #[cfg(feature = "parallel")]
    pub fn new(threads: NonZero<u16>) -> Result<ThreadPool, ThreadPoolError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get().into());
        let pool = pool.thread_name(|number| format!("halfbyte {number}")).build();
        pool.map(ThreadPool).map_err(|error| ThreadPoolError::System(error.to_string()))
    }

    /// How many threads there are.
    #[cfg(feature = "parallel")]
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Starts no threads.
    ///
    /// # Errors
    /// [`ThreadPoolError::NotBuilt`].
    #[cfg(not(feature = "parallel"))]
    pub fn new(_: NonZero<u16>) -> Result<ThreadPool, ThreadPoolError> {
        Err(ThreadPoolError::NotBuilt)
    }

    /// How many threads there are.
    #[cfg(not(feature = "parallel"))]
    pub fn threads(&self) -> usize {
        match self.0 {}
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("threads", &self.threads()).finish()
    }
}

// What a launch does on the threads is done when it returns, or unwinds; nothing of it is left in the pool.
impl UnwindSafe for ThreadPool {}
impl RefUnwindSafe for ThreadPool {}

/// How many threads there are to share work with.
pub fn available(pool: Option<&ThreadPool>) -> usize {
    #[cfg(feature = "parallel")]
    let shared = rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    let shared = 1;
    pool.map_or(shared, ThreadPool::threads)
}

/// Runs each share of the work, side by side where there are threads for it, and waits for all.
///
/// The caller's thread takes the first share: it would only sleep, and waking it takes as long as some tiles or many rows.
#[cfg(feature = "parallel")]
pub fn run_each<T: Send>(pool: Option<&ThreadPool>, shares: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    let (mut shares, run) = (shares, &run);
    scope(pool, |scope| {
        let own = shares.next();
        shares.for_each(|share| scope.spawn(move |_| run(share)));
        own.map(run);
    });
}

#[cfg(feature = "parallel")]
fn scope<'s, R>(pool: Option<&ThreadPool>, work: impl FnOnce(&rayon::Scope<'s>) -> R) -> R {
    match pool {
        Some(pool) => pool.0.in_place_scope(work),
        None => rayon::in_place_scope(work),
    }
}

/// Runs each share of the work.
#[cfg(not(feature = "parallel"))]
pub fn run_each<T: Send>(_: Option<&ThreadPool>, shares: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    shares.for_each(run);
}

//! Threads for launches: rayon's if feature `parallel` is enabled, otherwise only the caller's
//! thread.

use std::fmt;
use std::num::NonZero;
use std::panic::{RefUnwindSafe, UnwindSafe};

use thiserror::Error;

/// A private thread pool for launches, in place of rayon's global pool. The threads end when the
/// pool is dropped.
///
/// ```
/// use std::num::NonZero;
///
/// # #[cfg(feature = "parallel")]
/// # {
/// let pool = halfbyte_native::threads::ThreadPool::new(NonZero::new(2).unwrap())?;
/// assert_eq!(pool.threads(), 2);
/// # }
/// # Ok::<(), halfbyte_native::threads::ThreadPoolError>(())
/// ```
pub struct ThreadPool(
    #[cfg(feature = "parallel")] rayon::ThreadPool,
    #[cfg(not(feature = "parallel"))] std::convert::Infallible,
);

/// Reason why a thread pool could not be created.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ThreadPoolError {
    /// The operating system could not start the threads.
    #[error("no threads could be started: {0}")]
    System(String),
    /// The library was built without feature `parallel`.
    #[error("halfbyte was built without feature `parallel`")]
    NotBuilt,
}

impl ThreadPool {
    /// Starts `threads` threads. The thread that launches a kernel takes part in the work, in
    /// addition to the pool.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot start the threads.
    #[cfg(feature = "parallel")]
    pub fn new(threads: NonZero<u16>) -> Result<ThreadPool, ThreadPoolError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get().into());
        let pool = pool.thread_name(|number| format!("halfbyte {number}")).build();
        pool.map(ThreadPool).map_err(|error| ThreadPoolError::System(error.to_string()))
    }

    /// Returns the number of threads.
    #[cfg(feature = "parallel")]
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Fails, because feature `parallel` is disabled.
    ///
    /// # Errors
    /// Always returns [`ThreadPoolError::NotBuilt`].
    #[cfg(not(feature = "parallel"))]
    pub fn new(_: NonZero<u16>) -> Result<ThreadPool, ThreadPoolError> {
        Err(ThreadPoolError::NotBuilt)
    }

    /// Returns the number of threads.
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

// All work of a launch has ended when the launch returns or unwinds, so that the pool keeps no
// broken state.
impl UnwindSafe for ThreadPool {}
impl RefUnwindSafe for ThreadPool {}

/// Returns the number of threads that can share work.
pub fn available(pool: Option<&ThreadPool>) -> usize {
    #[cfg(feature = "parallel")]
    let shared = rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    let shared = 1;
    pool.map_or(shared, ThreadPool::threads)
}

/// Runs each share of the work, in parallel if threads are available, and waits for all.
///
/// The calling thread takes the first share itself. The thread would otherwise sleep, and waking it takes
/// as long as several tiles or many rows.
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

/// Runs each share of the work in turn.
#[cfg(not(feature = "parallel"))]
pub fn run_each<T: Send>(_: Option<&ThreadPool>, shares: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    shares.for_each(run);
}

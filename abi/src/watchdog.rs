//! Watchdog that enforces limits while work is in progress.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Exceeded, Limits, clock};

/// A request to cancel work, which any thread can make. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Cancels the work of every [`Watchdog`] with this token. The work ends within 10 ms, with
    /// [`Exceeded::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the work has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Monitor of the limits of a piece of work. The code that does the work polls it. Clones share the
/// same state, also between threads.
#[derive(Clone, Debug)]
pub struct Watchdog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: Limits,
    cancel: CancelToken,
    /// Start of the work; `None` if no limit depends on time or there is no clock.
    start: Option<Instant>,
    work: AtomicU64,
    /// Time of the last memory check, in milliseconds from the start of the work.
    looked: AtomicU64,
    is_met: AtomicBool,
    met: Mutex<Option<Exceeded>>,
    beat: Option<PeriodicCallback>,
}

/// A callback that is called periodically while work is in progress.
struct PeriodicCallback {
    every: Duration,
    /// Time of the last call, in microseconds from the start of the work.
    last: AtomicU64,
    call: Box<dyn Fn(&CancelToken) + Send + Sync>,
}

impl fmt::Debug for PeriodicCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beat").field("every", &self.every).finish_non_exhaustive()
    }
}

// A panic in a callback leaves all fields consistent.
impl std::panic::UnwindSafe for PeriodicCallback {}
impl std::panic::RefUnwindSafe for PeriodicCallback {}

/// Minimum interval between memory checks, in milliseconds. A check takes some microseconds,
/// because it queries the operating system.
const MEMORY_CHECK_INTERVAL_MS: u64 = 4;

impl Watchdog {
    /// Creates a watchdog for work that begins now.
    pub fn new(limits: Limits) -> Watchdog {
        Watchdog::with_token(limits, CancelToken::default())
    }

    /// Creates a watchdog for work that begins now and can be cancelled through `cancel`.
    pub fn with_token(limits: Limits, cancel: CancelToken) -> Watchdog {
        Watchdog::made(limits, cancel, None)
    }

    /// Creates a watchdog that also calls `beat` about once per interval `every`, on a thread that
    /// does the work. The argument of `beat` is the token. A caller uses `beat` to find out whether
    /// the work is still wanted; for example, a language interpreter checks for pending signals.
    ///
    /// `beat` is not called if the work ends within the first interval, or on a platform without a [clock].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use halfbyte_abi::{CancelToken, Exceeded, Limits, Watchdog};
    ///
    /// let beat = |token: &CancelToken| token.cancel();
    /// let watchdog = Watchdog::with_beat(Limits::NONE, CancelToken::default(), Duration::ZERO, beat);
    /// assert_eq!(watchdog.poll(), Err(Exceeded::Cancelled));
    /// ```
    pub fn with_beat(
        limits: Limits,
        cancel: CancelToken,
        every: Duration,
        beat: impl Fn(&CancelToken) + Send + Sync + 'static,
    ) -> Watchdog {
        Watchdog::made(limits, cancel, Some(PeriodicCallback { every, last: AtomicU64::new(0), call: Box::new(beat) }))
    }

    fn made(limits: Limits, cancel: CancelToken, beat: Option<PeriodicCallback>) -> Watchdog {
        let (work, looked) = (AtomicU64::new(0), AtomicU64::new(0));
        let (is_met, met) = (AtomicBool::new(false), Mutex::default());
        let is_timed = limits.time.is_some() || limits.memory != u64::MAX || beat.is_some();
        let start = is_timed.then(clock::now).flatten();
        Watchdog(Arc::new(Inner { limits, cancel, start, work, looked, is_met, met, beat }))
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Returns the token with which a caller cancels the work.
    pub fn token(&self) -> &CancelToken {
        &self.0.cancel
    }

    /// Returns the first limit that the work has exceeded, if any.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self.0.is_met.load(Ordering::Acquire) {
            true => *self.0.met.lock().unwrap_or_else(PoisonError::into_inner),
            false => None,
        }
    }

    /// Checks that the work may continue. Callers poll every few milliseconds. After the first
    /// error, every later call fails, too.
    ///
    /// # Errors
    /// Returns the limit that was exceeded first, on any thread.
    pub fn poll(&self) -> Result<(), Exceeded> {
        let inner = &*self.0;
        if let Some(exceeded) = self.exceeded() {
            return Err(exceeded);
        }
        if inner.cancel.is_cancelled() {
            return self.met(Exceeded::Cancelled);
        }
        let Some(start) = inner.start else { return Ok(()) };
        let Limits { time, memory, .. } = inner.limits;
        let elapsed = start.elapsed();
        if let Some(beat) = &inner.beat
            && beat.is_due(elapsed)
        {
            (beat.call)(&inner.cancel);
            if inner.cancel.is_cancelled() {
                return self.met(Exceeded::Cancelled);
            }
        }
        if let Some(limit) = time
            && elapsed >= limit
        {
            return self.met(Exceeded::Time { limit });
        }
        if memory != u64::MAX && self.is_due(elapsed) && resident().is_some_and(|bytes| bytes > memory) {
            return self.met(Exceeded::Memory { limit: memory });
        }
        Ok(())
    }

    /// Adds `work` to the count of executed instructions and backward branches, and polls.
    ///
    /// # Errors
    /// See [`Watchdog::poll`].
    pub fn spend(&self, work: u64) -> Result<(), Exceeded> {
        let (all, limit) = (self.0.work.fetch_add(work, Ordering::Relaxed), self.0.limits.work);
        if all.saturating_add(work) > limit {
            return self.met(Exceeded::Work { limit });
        }
        self.poll()
    }

    /// Checks that `found` is at most `limit`. Otherwise `exceeded` creates the error.
    ///
    /// # Errors
    /// The error that `exceeded` returns, or the limit that was exceeded first.
    pub fn check(&self, found: u64, limit: u64, exceeded: impl FnOnce(u64, u64) -> Exceeded) -> Result<(), Exceeded> {
        if found <= limit { Ok(()) } else { self.met(exceeded(found, limit)) }
    }

    fn met(&self, exceeded: Exceeded) -> Result<(), Exceeded> {
        let mut met = self.0.met.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *met.get_or_insert(exceeded);
        self.0.is_met.store(true, Ordering::Release);
        Err(first)
    }

    /// Returns `true` if a memory check is due. Only one thread gets `true` for each check.
    fn is_due(&self, elapsed: Duration) -> bool {
        let now = elapsed.as_millis() as u64;
        let looked = self.0.looked.load(Ordering::Relaxed);
        now >= looked + MEMORY_CHECK_INTERVAL_MS
            && self.0.looked.compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl PeriodicCallback {
    /// Returns `true` if a call of the callback is due. Only one thread gets `true` for each call.
    fn is_due(&self, elapsed: Duration) -> bool {
        let now = elapsed.as_micros() as u64;
        let last = self.last.load(Ordering::Relaxed);
        now >= last.saturating_add(self.every.as_micros() as u64)
            && self.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Returns the resident memory of the process in bytes, if the system reports it.
#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    // `VmRSS` is in kilobytes, independently of the page size.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}

/// Periodic check whether the compilation of a kernel must stop early because of a limit or a cancellation.
#[derive(Clone, Copy, Default)]
pub struct Poll<'l> {
    watchdog: Option<&'l Watchdog>,
    /// Ops processed since the last poll of the watchdog.
    unpolled: usize,
}

impl<'l> Poll<'l> {
    /// Number of ops between polls. A pass or instruction selection processes this many ops in much less than 10 ms.
    const BETWEEN: usize = 1 << 9;

    /// Creates a periodic check for a watchdog, if there is one.
    pub fn new(watchdog: Option<&'l Watchdog>) -> Poll<'l> {
        Poll { watchdog, unpolled: 0 }
    }

    /// Returns the watchdog, if any.
    pub fn watchdog(&self) -> Option<&'l Watchdog> {
        self.watchdog
    }

    /// Returns `true` if compilation must stop early. Passes and instruction selection call this function once per op.
    /// After `true`, the caller may return immediately, because its result is discarded.
    pub fn is_stopped(&mut self) -> bool {
        self.is_stopped_after(1)
    }

    /// Adds `ops` to the count of processed ops. Returns `true` if compilation must stop early.
    pub fn is_stopped_after(&mut self, ops: usize) -> bool {
        self.unpolled = self.unpolled.saturating_add(ops);
        if self.unpolled < Poll::BETWEEN {
            return false;
        }
        self.unpolled = 0;
        self.watchdog.is_some_and(|watchdog| watchdog.poll().is_err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_all_threads_counts() {
        let watchdog = Watchdog::new(Limits { work: 1000, ..Limits::NONE });
        let spent = std::thread::scope(|scope| {
            let spend = || (0..).take_while(|_| watchdog.spend(10).is_ok()).count();
            let threads = [scope.spawn(spend), scope.spawn(spend)];
            threads.map(|thread| thread.join().unwrap_or(0)).iter().sum::<usize>()
        });
        assert_eq!(spent, 100);
        assert_eq!(watchdog.exceeded(), Some(Exceeded::Work { limit: 1000 }));
        assert_eq!(watchdog.poll(), Err(Exceeded::Work { limit: 1000 }));
    }

    #[test]
    fn reports_the_first_exceeded_limit() {
        let token = CancelToken::default();
        let watchdog = Watchdog::with_token(Limits { work: 5, ..Limits::NONE }, token.clone());
        assert_eq!((watchdog.poll(), watchdog.exceeded()), (Ok(()), None));
        token.cancel();
        assert_eq!(watchdog.clone().poll(), Err(Exceeded::Cancelled));
        assert_eq!(watchdog.spend(9), Err(Exceeded::Cancelled));
        let ops = |found, limit| Exceeded::Ops { found, limit };
        assert_eq!(watchdog.check(3, 3, ops), Ok(()));
        assert_eq!(watchdog.check(4, 3, ops), Err(Exceeded::Cancelled));
    }

    #[test]
    fn calls_the_callback_periodically() {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = calls.clone();
        let beat = move |token: &CancelToken| {
            if counted.fetch_add(1, Ordering::Relaxed) == 1 {
                token.cancel();
            }
        };
        let start = Instant::now();
        let watchdog = Watchdog::with_beat(Limits::NONE, CancelToken::default(), Duration::from_millis(2), beat);
        while watchdog.poll().is_ok() {}
        assert!(start.elapsed() >= Duration::from_millis(4));
        assert_eq!((watchdog.poll(), calls.load(Ordering::Relaxed)), (Err(Exceeded::Cancelled), 2));
    }

    #[test]
    fn checks_time_and_memory() {
        let late = Watchdog::new(Limits { time: Some(Duration::ZERO), ..Limits::NONE });
        assert_eq!(late.poll(), Err(Exceeded::Time { limit: Duration::ZERO }));
        if cfg!(target_os = "linux") {
            assert!(resident().is_some_and(|bytes| bytes > 1 << 16));
            let large = Watchdog::new(Limits { memory: 1 << 16, ..Limits::NONE });
            while large.poll().is_ok() {
                std::thread::yield_now();
            }
            assert_eq!(large.exceeded(), Some(Exceeded::Memory { limit: 1 << 16 }));
        }
    }
}

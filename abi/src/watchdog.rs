//! Limits under way: what work asks whether it may go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Exceeded, Limits, clock};

/// Asks work to end early, from any thread. Copies are of the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Work under a [`Watchdog`] with this token ends within 10 ms, with [`Exceeded::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Watches over work that has limits: whoever does the work polls it. Copies are of the same one, and threads may share it.
#[derive(Clone, Debug)]
pub struct Watchdog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: Limits,
    cancel: CancelToken,
    /// None where no limit needs it, and where there is no clock.
    start: Option<Instant>,
    work: AtomicU64,
    /// When memory was looked at last, in milliseconds from the start.
    looked: AtomicU64,
    is_met: AtomicBool,
    met: Mutex<Option<Exceeded>>,
}

/// How long memory is not looked at again, in milliseconds: to ask the system takes some microseconds.
const PAUSE: u64 = 4;

impl Watchdog {
    /// For work that begins now.
    pub fn new(limits: Limits) -> Watchdog {
        Watchdog::with_token(limits, CancelToken::default())
    }

    /// The same, for work that can be cancelled.
    pub fn with_token(limits: Limits, cancel: CancelToken) -> Watchdog {
        let (work, looked) = (AtomicU64::new(0), AtomicU64::new(0));
        let (is_met, met) = (AtomicBool::new(false), Mutex::default());
        let start = (limits.time.is_some() || limits.memory != u64::MAX).then(clock::now).flatten();
        Watchdog(Arc::new(Inner { limits, cancel, start, work, looked, is_met, met }))
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// What cancels the work.
    pub fn token(&self) -> &CancelToken {
        &self.0.cancel
    }

    /// The limit that was met first, if one was.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self.0.is_met.load(Ordering::Acquire) {
            true => *self.0.met.lock().unwrap_or_else(PoisonError::into_inner),
            false => None,
        }
    }

    /// Whether the work may go on. To be asked every few milliseconds; once it may not, it may never again.
    ///
    /// # Errors
    /// The limit that was met, by this or by other threads.
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

    /// Counts work that has been done, and polls.
    ///
    /// # Errors
    /// As [`Watchdog::poll`].
    pub fn spend(&self, work: u64) -> Result<(), Exceeded> {
        let (all, limit) = (self.0.work.fetch_add(work, Ordering::Relaxed), self.0.limits.work);
        if all.saturating_add(work) > limit {
            return self.met(Exceeded::Work { limit });
        }
        self.poll()
    }

    /// Whether a number is within a limit; `exceeded` says of a larger one what it exceeds.
    ///
    /// # Errors
    /// What `exceeded` gives.
    pub fn check(&self, found: u64, limit: u64, exceeded: impl FnOnce(u64, u64) -> Exceeded) -> Result<(), Exceeded> {
        if found <= limit { Ok(()) } else { self.met(exceeded(found, limit)) }
    }

    fn met(&self, exceeded: Exceeded) -> Result<(), Exceeded> {
        let mut met = self.0.met.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *met.get_or_insert(exceeded);
        self.0.is_met.store(true, Ordering::Release);
        Err(first)
    }

    /// Whether memory is to be looked at, which then one thread does.
    fn is_due(&self, elapsed: Duration) -> bool {
        let now = elapsed.as_millis() as u64;
        let looked = self.0.looked.load(Ordering::Relaxed);
        now >= looked + PAUSE
            && self.0.looked.compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Bytes of memory that the process has, where the system tells.
#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    // In kilobytes, whatever the size of a page.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
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
    fn the_first_limit_met_is_the_one_that_is_named() {
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
    fn time_and_memory_are_looked_at() {
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

//! Limits under way: what work asks whether it may go on.

use std::fmt;
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
    beat: Option<Beat>,
}

/// What is called now and then while work goes on.
struct Beat {
    every: Duration,
    /// When it was called last, in microseconds from the start.
    last: AtomicU64,
    call: Box<dyn Fn(&CancelToken) + Send + Sync>,
}

impl fmt::Debug for Beat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beat").field("every", &self.every).finish_non_exhaustive()
    }
}

// A call that unwinds leaves nothing half done here.
impl std::panic::UnwindSafe for Beat {}
impl std::panic::RefUnwindSafe for Beat {}

/// How long memory is not looked at again, in milliseconds: to ask the system takes some microseconds.
const PAUSE: u64 = 4;

impl Watchdog {
    /// For work that begins now.
    pub fn new(limits: Limits) -> Watchdog {
        Watchdog::with_token(limits, CancelToken::default())
    }

    /// The same, for work that can be cancelled.
    pub fn with_token(limits: Limits, cancel: CancelToken) -> Watchdog {
        Watchdog::made(limits, cancel, None)
    }

    /// The same, where `beat` is called about every so often by a thread that does the work, with the token: for whoever must do so to learn
    /// whether the work is still wanted, as an interpreter of another language that looks for signals. Work that is done sooner
    /// never calls it, and where there is no [clock] none does.
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
        Watchdog::made(limits, cancel, Some(Beat { every, last: AtomicU64::new(0), call: Box::new(beat) }))
    }

    fn made(limits: Limits, cancel: CancelToken, beat: Option<Beat>) -> Watchdog {
        let (work, looked) = (AtomicU64::new(0), AtomicU64::new(0));
        let (is_met, met) = (AtomicBool::new(false), Mutex::default());
        let is_timed = limits.time.is_some() || limits.memory != u64::MAX || beat.is_some();
        let start = is_timed.then(clock::now).flatten();
        Watchdog(Arc::new(Inner { limits, cancel, start, work, looked, is_met, met, beat }))
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

impl Beat {
    /// Whether it is to be called, which then one thread does.
    fn is_due(&self, elapsed: Duration) -> bool {
        let now = elapsed.as_micros() as u64;
        let last = self.last.load(Ordering::Relaxed);
        now >= last.saturating_add(self.every.as_micros() as u64)
            && self.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
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

/// Asks a watchdog now and then whether the compilation of a kernel is to end early.
#[derive(Clone, Copy, Default)]
pub struct Poll<'l> {
    watchdog: Option<&'l Watchdog>,
    /// Ops seen since the watchdog was polled.
    unpolled: usize,
}

impl<'l> Poll<'l> {
    /// Ops that a pass or selection works on in much less than 10 ms.
    const BETWEEN: usize = 1 << 9;

    /// Of a watchdog, if there is one.
    pub fn new(watchdog: Option<&'l Watchdog>) -> Poll<'l> {
        Poll { watchdog, unpolled: 0 }
    }

    /// The watchdog.
    pub fn watchdog(&self) -> Option<&'l Watchdog> {
        self.watchdog
    }

    /// Whether to end early; passes and selection ask it once for each op. They may then return at once: their result is dropped.
    pub fn is_stopped(&mut self) -> bool {
        self.is_stopped_after(1)
    }

    /// The same after so many ops.
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
    fn a_beat_is_called_now_and_then() {
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

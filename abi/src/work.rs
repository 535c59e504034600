//! Work counters and statistics of launches.

use crate::{Exceeded, Watchdog};

/// The work counter of one thread in a launch. It polls the watchdog periodically.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    watchdog: Option<&'a Watchdog>,
    /// Number of instructions and backward branches since the last poll of the watchdog.
    unpolled: u64,
}

impl<'a> Work<'a> {
    /// Creates a work counter that starts at zero.
    pub fn new(watchdog: Option<&'a Watchdog>) -> Work<'a> {
        Work { watchdog, unpolled: 0 }
    }

    /// Number of instructions and backward branches between two polls. An interpreter executes them
    /// within a millisecond.
    const BETWEEN_POLLS: u64 = 1 << 12;

    /// Counts executed instructions or taken backward branches, and polls the watchdog if a poll is due.
    ///
    /// # Errors
    /// Returns the limit that was exceeded.
    pub fn add(&mut self, work: u64) -> Result<(), Exceeded> {
        self.unpolled += work;
        if self.unpolled < Work::BETWEEN_POLLS { Ok(()) } else { self.poll() }
    }

    /// Adds to the work counter without polling, for callers that poll themselves.
    pub fn count(&mut self, work: u64) {
        self.unpolled += work;
    }

    /// Polls the watchdog now.
    ///
    /// # Errors
    /// Returns the limit that was exceeded.
    pub fn poll(&mut self) -> Result<(), Exceeded> {
        let work = std::mem::take(&mut self.unpolled);
        self.watchdog.map_or(Ok(()), |watchdog| watchdog.spend(work))
    }
}

/// Execution statistics of a launch, summed over all items.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Number of executed instructions, including those with a false guard. On VP1, the number of
    /// executed bundles, each of up to four instructions.
    pub issued: u64,
    /// Number of backward branches taken.
    pub backward_branches: u64,
    /// Number of executed tiles (VP1 only).
    pub tiles: u64,
    /// Number of bytes copied from buffers to the data store (VP1 only).
    pub bytes_in: u64,
    /// Number of bytes copied from the data store to buffers (VP1 only).
    pub bytes_out: u64,
}

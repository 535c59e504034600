//! The work of a launch: its total, and the part of it that one thread counts.

use crate::{Exceeded, Watchdog};

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

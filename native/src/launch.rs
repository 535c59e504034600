//! A launch, as engines take it.

use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::{Engine, Shape, Watchdog, Work};

use crate::threads::ThreadPool;

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
    /// Counts the items that are done.
    pub done: Option<&'a AtomicU32>,
    /// Ends the launch early.
    pub watchdog: Option<&'a Watchdog>,
    /// Whose threads help; none for rayon's global pool.
    pub pool: Option<&'a ThreadPool>,
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

/// The address of a buffer in constant bank 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// Its place in the bank.
    pub offset: u32,
    /// No other parameter's address leads into the buffer.
    pub is_unique: bool,
}

//! Launch options of the engines.

use std::sync::atomic::{AtomicU32, Ordering};

use halfbyte_abi::{Engine, Shape, Watchdog, Work};

use crate::threads::ThreadPool;

/// The options of a launch without its arguments.
#[derive(Clone, Copy, Debug)]
pub struct LaunchOptions<'a> {
    /// The number of work items.
    pub items: u32,
    /// The launch shape.
    pub shape: Shape,
    /// Maximum number of backward branches per item.
    pub budget: u64,
    /// The engine that runs the launch.
    pub engine: Engine,
    /// Counter of finished items.
    pub done: Option<&'a AtomicU32>,
    /// Ends the launch early.
    pub watchdog: Option<&'a Watchdog>,
    /// Threads that help; `None` selects the global pool of rayon.
    pub pool: Option<&'a ThreadPool>,
}

impl LaunchOptions<'_> {
    /// Adds to the counter of finished items.
    pub fn advance(&self, items: u32) {
        if let Some(done) = self.done {
            done.fetch_add(items, Ordering::Relaxed);
        }
    }
}

impl<'a> LaunchOptions<'a> {
    /// Creates a thread's work counter for the launch.
    pub fn work(&self) -> Work<'a> {
        Work::new(self.watchdog)
    }
}

/// The address of a buffer in constant bank 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// Offset in the bank.
    pub offset: u32,
    /// No other parameter points into the same buffer.
    pub is_unique: bool,
}

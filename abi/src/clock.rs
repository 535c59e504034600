//! Access to the monotonic clock on platforms that have one.

use std::time::Instant;

/// Returns the current time, or `None` on `wasm32-unknown-unknown`, where `Instant::now` panics for lack of a clock.
pub fn now() -> Option<Instant> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(Instant::now)
}

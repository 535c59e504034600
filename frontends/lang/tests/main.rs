//! Tests of the kernel language.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, unreachable_pub)]

mod formats;
mod grammar;
mod highlight;
mod hostile;
mod known;
mod library;
mod mistakes;
mod outline;
mod random;
mod reads;
mod tokens;

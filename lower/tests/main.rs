//! Tests of the lowering passes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod common;
mod divide;
mod pack;
mod pack_refusals;
mod passes;
mod pipeline;
mod random;
mod rules;
mod trace;
mod wide;

//! Tests of kernels: run lines beside a kernel are checked on all engines ([`check`](mod@check)), text tests say what a stage makes of a
//! kernel ([`testing`]), launches of one description run on every route ([`harness`]), and what differs is made small
//! ([`reduce`](mod@reduce)).

#[cfg(feature = "aot")]
mod ahead;
pub mod approximate;
pub mod check;
pub mod compare;
pub mod harness;
pub mod margin;
pub mod matrix;
pub mod quality;
pub mod reduce;
pub mod runlines;
pub mod spare;
pub mod testing;
pub mod trial;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

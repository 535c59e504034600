//! Tests of kernels: run lines beside a kernel are checked on all engines ([`check`](mod@check)), text tests say what a stage makes of a
//! kernel ([`testing`]), launches of one description run on every route ([`harness`]), and what differs is made small
//! ([`reduce`](mod@reduce)).

pub mod approximate;
pub mod check;
pub mod compare;
pub mod harness;
pub mod matrix;
#[cfg(feature = "aot")]
mod native_object;
pub mod quality;
pub mod reduce;
pub mod runlines;
pub mod spare_words;
pub mod testing;
pub mod tolerance;
pub mod trial;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

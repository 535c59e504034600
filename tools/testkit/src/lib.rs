//! Tests of kernels:
//!
//! * [`check`](mod@check) checks the run lines of a kernel file on all engines.
//! * [`testing`] runs text tests, which check the output of one compiler stage.
//! * [`harness`] executes launches that are described by a text, a shape and arguments.
//! * [`reduce`](mod@reduce) makes a failing kernel smaller.

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

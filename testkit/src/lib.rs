//! Tests of kernels, and of the compiler by means of kernels. [`check`](mod@check) runs the
//! launches in a kernel's run lines on all engines. [`testing`] checks the output of compiler
//! stages against text tests. [`prove`](mod@prove) verifies each rule by running both its sides.
//! [`campaign`] and [`words`] compare engines on random kernels and random machine code.
//! [`reduce`](mod@reduce) shrinks a failing case.

#[cfg(feature = "aot")]
mod ahead;
pub mod approximate;
pub mod bind;
pub mod campaign;
pub mod check;
pub mod compare;
pub mod draw;
pub mod harness;
pub mod json;
pub mod margin;
pub mod matrix;
pub mod prove;
pub mod quality;
pub mod reduce;
pub mod routes;
pub mod rows;
pub mod runlines;
pub mod spare;
pub mod step;
pub mod testing;
pub mod trial;
pub mod values;
pub mod words;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

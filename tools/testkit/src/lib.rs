//! Testing of kernels, and of the compiler by kernels: run lines beside a kernel are checked on all engines ([`check`](mod@check)), text tests
//! say what a stage makes of it ([`testing`]), every rule is proved by running both its sides ([`prove`](mod@prove)), random kernels and
//! random words are compared ([`campaign`], [`words`]), and what differs is made small ([`reduce`](mod@reduce)).

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

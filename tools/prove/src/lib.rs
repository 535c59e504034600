//! Tests that compare the compiler and the engines with references on many inputs:
//!
//! * [`prove`](mod@prove) executes both sides of each rule, and each instruction against its specification.
//! * [`campaign`] runs random kernels on all targets.
//! * [`random_code`] runs random machine code.
//! * [`routes`] runs random PTX kernels, and mutants of PTX texts, in every form of execution.

pub mod campaign;
pub mod json;
pub mod prove;
pub mod ptx_vectors;
pub mod random_code;
pub mod random_intrinsics;
pub mod routes;
pub mod step;

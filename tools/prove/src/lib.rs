//! Proofs of the compiler and the engines by running: each rule and instruction on both its sides ([`prove`](mod@prove)), random kernels
//! ([`campaign`]), random machine words ([`random_code`]), and random memory kernels and mutants of PTX on every route ([`routes`]).

pub mod campaign;
pub mod json;
pub mod prove;
pub mod ptx_vectors;
pub mod random_code;
pub mod random_intrinsics;
pub mod routes;
pub mod step;

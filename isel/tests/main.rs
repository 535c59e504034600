//! Tests of instruction selection and register allocation.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod halu_combine;
mod ptx_expand;
mod ptx_moves;
mod ptx_signs;
mod regalloc_errors;
mod regalloc_fast_path;
mod regalloc_random;
mod regalloc_shapes;
mod regalloc_support;
mod regalloc_uniform;
mod regalloc_vp1;
mod vp1_identity;
mod vp1_select;
mod vp1_shape;

//! Tests of the instruction sets: rows, encodings, assembly text and semantics, with the test vectors.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod approx;
mod approx_precise;
mod docs;
mod half_apfloat;
mod halu_fields;
mod halu_text;
mod machine;
mod meaning_float;
mod meaning_integer;
mod meaning_moves;
mod meaning_roles;
mod meaning_video;
mod ptx;
mod ptx_acceptance;
mod ptx_assembler;
mod ptx_errors;
mod ptx_exact;
mod ptx_link;
mod ptx_locations;
mod ptx_meaning;
mod ptx_scalar_video;
mod ptx_text;
mod ptx_unsupported;
mod random;
mod vectors_matrix;
mod vectors_semantics;
mod vp1_bundles;
mod vp1_control;
mod vp1_footprint;
mod vp1_roles;
mod vp1_rows;
mod vp1_semantics;
mod vp1_text;

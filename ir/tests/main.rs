//! Tests of the IR: the text format, the verifier and the evaluator.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod common;
mod eval_contract;
mod eval_double;
mod eval_float;
mod eval_groups;
mod eval_observe;
mod eval_ops;
mod eval_run;
mod eval_same_value;
mod known;
mod packed_eval;
mod text_docs;
mod text_errors;
mod text_groups;
mod text_hostile;
mod text_roundtrip;
mod text_streams;
mod verify_built;

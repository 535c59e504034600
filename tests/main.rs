//! The integration tests: one program, with one module for each subject. The tests belong to the
//! package of the command-line tool, because only there does Cargo provide the path of the tool.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

mod aliases;
mod allocator;
mod axes;
mod check_examples;
mod check_messages;
mod cli_cuda;
mod cli_cuda_cpp;
mod cli_exec;
mod cli_front;
mod cli_kernels;
mod cli_limits;
mod cli_ptx;
mod cli_vp1;
mod cli_watch;
mod cli_words;
mod common;
mod compile_errors;
mod cooperative_launch;
mod corpus;
mod docs;
mod explain;
mod files;
mod fp8;
mod groups_of_one_size;
mod growth;
mod hostile_files;
mod intrinsics;
mod intrinsics_vp1;
mod item_counts;
mod json;
mod junit;
mod kernels;
mod language;
mod launch;
mod limits;
mod mistakes;
mod native;
mod near;
mod pressure;
mod prove;
mod prove_cli;
mod ptx_assembler;
mod ptx_back;
mod ptx_bf16;
mod ptx_calls;
mod ptx_carry;
mod ptx_compilers;
mod ptx_copies;
mod ptx_data;
mod ptx_each;
mod ptx_forms;
mod ptx_halves;
mod ptx_import;
mod ptx_matrices;
mod ptx_memory;
mod ptx_mutated;
mod ptx_only_direct;
mod ptx_ssa;
mod ptx_support;
mod ptx_uninitialised;
mod ptx_warpgroups;
mod quality;
mod random_cli;
mod random_kernels;
mod reach;
mod reduce;
mod reduce_cli;
mod root_folder;
mod std_page;
mod support;
mod support_matrix;
mod test_cli;
mod threads;
mod trace;
mod values;
mod view;
mod vp1_idle;
mod warp_lockstep;
mod wide_traps;

// Modules that other tests and benchmarks use, too.
#[path = "../benches/growth-code/kernels.rs"]
mod growing;
#[allow(dead_code)]
#[path = "../ir/tests/common/mod.rs"]
mod ops;
#[allow(dead_code)]
#[path = "../isa/tests/ptx/mod.rs"]
mod ptx;
#[path = "support/sequences.rs"]
mod sequences;

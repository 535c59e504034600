//! Tests of the loader, the engines and the launch interface.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod aliases;
mod arguments;
mod common;
mod halu_groups;
mod hostile;
mod jit_groups;
mod jit_launch;
mod jit_random;
mod out_buffers;
mod programs;
mod ptx;
mod ptx_calls;
mod ptx_heap;
mod ptx_host;
mod ptx_jit;
mod ptx_objects;
mod ptx_streams;
mod ptx_uniform;
mod repeats;
mod traps;
mod vp1_hostile;
mod vp1_jit;
mod vp1_moves;
mod vp1_programs;
mod vp1_traps;

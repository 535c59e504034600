//! A CUDA driver library that executes kernels on the CPU. Programs that use the CUDA driver load this library instead
//! of the driver, and run without a GPU.
//!
//! `functions.txt` lists the exported functions. All calls are synchronous: a launch has ended when its call returns.
//! As on a GPU, the call after the launch returns the error of the kernel. Device memory is memory of the process.
#![allow(non_snake_case, reason = "the names are those of the driver interface")]
#![allow(unreachable_pub, reason = "exported functions are public in private modules")]

mod allocate;
mod attributes;
mod byte_set;
mod check;
mod context;
mod context_stack;
mod copy;
mod copy_pitched;
mod dependency_graph;
mod device;
mod entry;
mod error_text;
mod event;
mod fatbin;
mod fill;
mod function;
mod graph;
mod graph_edges;
mod graph_exec;
mod graph_nodes;
mod graph_operation;
mod graph_update;
mod host_function;
mod image;
mod init;
mod jit_options;
mod launch;
mod legacy_launch;
mod library;
mod limits;
mod linker;
mod memory;
mod module;
mod occupancy;
mod peer;
mod pointer;
mod pool;
mod primary;
mod proc_address;
mod profiler;
mod registry;
mod report;
mod settings;
mod status;
mod stream;
mod stream_memory;

//! The `halfbyte` binary.

use std::process::ExitCode;

/// Compilation makes many small allocations, for which this allocator is faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(halfbyte_cli::run(std::env::args_os()))
}

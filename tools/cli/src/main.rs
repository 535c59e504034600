//! The program `halfbyte`.

use std::process::ExitCode;

/// Kernels are many small lists, and the time that it takes to allocate them counts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(halfbyte_cli::run(std::env::args_os()))
}

//! The `halfbyte` binary.

use std::process::ExitCode;

/// The memory allocator. The compiler makes many small allocations, for which mimalloc is faster
/// than the allocator of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(halfbyte_cli::run(std::env::args_os()))
}

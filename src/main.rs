//! The command line of halfbyte.

mod cli;

/// Kernels are many small lists, and the time that it takes to allocate them counts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}

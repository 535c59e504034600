//! The command line of halfbyte.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}

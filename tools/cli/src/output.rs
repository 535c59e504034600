//! Options for messages: verbosity and colours.

use std::ffi::OsString;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use halfbyte::report::Report;

use super::io::print;
use super::{Done, Failure};

/// Options of all commands for their output.
#[derive(Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct OutputArgs {
    /// Print only errors and warnings: no progress, no summaries
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Use colours in messages; `auto` depends on the terminal, NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Applies the choice of colours to the whole program.
    fn apply(self) {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);

impl OutputArgs {
    /// Applies the output options to the whole program.
    pub(super) fn apply(&self) {
        self.color.apply();
        QUIET.store(self.quiet, Ordering::Relaxed);
    }
}

/// Applies `--color` before the command line is parsed, so that errors in the command line have the right colours.
pub(super) fn color_of(args: impl IntoIterator<Item = OsString>) {
    let mut args = args.into_iter().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let mut given = None;
    while let Some(arg) = args.next().filter(|arg| arg != "--") {
        match arg.strip_prefix("--color") {
            Some("") => given = args.next(),
            Some(value) => given = value.strip_prefix('=').map(str::to_owned),
            None => {}
        }
    }
    if let Some(color) = given.and_then(|name| Color::from_str(&name, false).ok()) {
        color.apply();
    }
}

/// Returns `true` if `--quiet` is given.
pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a message to standard error. Errors of writing are ignored.
pub(super) fn say(text: &str) {
    let _ = stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Writes a message to standard error, unless `--quiet` is given.
pub(super) fn mention(text: &str) {
    if !is_quiet() {
        say(text);
    }
}

/// Writes a summary to standard output, unless `--quiet` is given.
pub(super) fn summarise(text: &str) -> Done {
    if is_quiet() { Ok(()) } else { print(text.as_bytes()) }
}

/// Renders a report as text, with colours if messages have colours.
pub(super) fn render(report: &Report) -> String {
    report.render(AutoStream::choice(&stderr()) != ColorChoice::Never)
}

/// Fails if standard output is a terminal, because binary output would disturb it. The message
/// names the output, `what`, and what to do, `instead`.
pub(super) fn refuse_terminal(what: &str, instead: &str) -> Done {
    if stdout().is_terminal() {
        let message = format!("{what} is binary, and is not written to a terminal; {instead}, or write it to a pipe");
        return Err(Failure::Call(message));
    }
    Ok(())
}

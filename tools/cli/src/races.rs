//! The option `--races`.

use clap::ValueEnum;
use halfbyte::launch::RaceCheck;

/// Optional value of the option `--races`.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Strictness {
    /// Two stores of the same value by the same instruction are an error instead of a warning
    Strict,
}

/// Returns the race check that the option `--races` requests.
pub(super) fn race_check(given: Option<Option<Strictness>>) -> RaceCheck {
    match given {
        None => RaceCheck::Off,
        Some(None) => RaceCheck::On,
        Some(Some(Strictness::Strict)) => RaceCheck::Strict,
    }
}

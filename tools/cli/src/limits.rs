//! Command-line options for resource limits.

use std::time::Duration;

use clap::Args;
use halfbyte::abi::{Exceeded, Limits, Watchdog};

use super::interrupt;

/// Options for the limits on time, work and memory.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Wall-clock time in seconds, such as 10 or 0.5; 0 for no limit
    #[arg(long, value_name = "SECONDS", value_parser = time)]
    timeout: Option<Duration>,
    /// Maximum number of instructions and backward branches of a launch, over all items, such as 5000000 or 5M
    #[arg(long, value_name = "N", value_parser = number)]
    max_work: Option<u64>,
    /// Maximum memory of the program, such as 512M or 2G; a file, or the buffers of a launch, may use half of it
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits of the command line; for an omitted option, the limit in `base`.
    pub(super) fn limits(&self, base: Limits) -> Limits {
        let mut limits = base;
        if let Some(time) = self.timeout {
            limits.time = (!time.is_zero()).then_some(time);
        }
        if let Some(work) = self.max_work {
            limits.work = work;
        }
        if let Some(memory) = self.max_memory {
            limits.memory = memory;
            for bytes in [&mut limits.buffer_bytes, &mut limits.text_bytes, &mut limits.file_bytes] {
                *bytes = (*bytes).min(memory / 2);
            }
        }
        limits
    }

    /// Starts a watchdog for work that begins now and that Ctrl-C cancels.
    pub(super) fn watchdog(&self, base: Limits) -> Watchdog {
        Watchdog::with_token(self.limits(base), interrupt::token())
    }
}

/// Returns the help text for an exceeded limit.
pub(super) fn advice(exceeded: &Exceeded) -> Option<&'static str> {
    match exceeded {
        Exceeded::Time { .. } => Some("--timeout SECONDS sets this limit"),
        Exceeded::Work { .. } => Some("--max-work N sets this limit"),
        Exceeded::Memory { .. } | Exceeded::Buffers { .. } => Some("--max-memory BYTES sets this limit"),
        _ => None,
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    // A positive time below one nanosecond is rounded up, because 0 means no limit.
    let least = |seconds: f64| if seconds > 0.0 { Duration::from_nanos(1) } else { Duration::ZERO };
    seconds
        .and_then(|seconds| Some(Duration::try_from_secs_f64(seconds).ok()?.max(least(seconds))))
        .ok_or_else(|| "expected seconds, such as 10 or 0.5".into())
}

fn number(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| "expected a number, such as 5000000 or 5M".into())
}

/// Parses a number of bytes, such as `512M`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    scaled(text, 1024).ok_or_else(|| "expected bytes, such as 512M or 2G".into())
}

/// Parses an integer with an optional unit: k, m, g or t.
fn scaled(text: &str, base: u64) -> Option<u64> {
    let units = ["k", "m", "g", "t"];
    let lower = text.to_ascii_lowercase();
    let unit = units.iter().position(|unit| lower.ends_with(unit));
    let digits = unit.map_or(lower.as_str(), |_| lower.get(..lower.len() - 1).unwrap_or_default());
    // `parse` accepts a leading plus sign, but this function does not.
    let number: u64 = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(unit.map_or(1, |unit| base.pow(unit as u32 + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_numbers_with_units() {
        assert_eq!(["12", "3k", "2G", "0"].map(|text| bytes(text).ok()), [12, 3 << 10, 2 << 30, 0].map(Some));
        assert_eq!(number("5M"), Ok(5_000_000));
        for text in ["", "k", "-1", "+1", "1.5", "1kk", "99999999T", "1é"] {
            assert!(number(text).is_err() && bytes(text).is_err(), "{text}");
        }
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(time("1e-300"), Ok(Duration::from_nanos(1)));
        assert_eq!(time("0"), Ok(Duration::ZERO));
        assert!(["-1", "x", "inf", "NaN", "1e300"].iter().all(|text| time(text).is_err()));
    }

    #[test]
    fn keeps_base_limits_without_options() {
        let none = LimitArgs { timeout: None, max_work: None, max_memory: None };
        assert_eq!(none.limits(Limits::strict()), Limits::strict());
        let all = LimitArgs { timeout: Some(Duration::ZERO), max_work: Some(7), max_memory: Some(1 << 20) };
        let limits = all.limits(Limits::strict());
        assert_eq!((limits.time, limits.work, limits.memory, limits.buffer_bytes), (None, 7, 1 << 20, 1 << 19));
    }
}

//! Progress of long work, on standard error.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use super::output::{is_quiet, say};

/// A line that is rewritten on a terminal; elsewhere one every some seconds.
pub(super) struct Meter {
    start: Instant,
    shown: Option<Instant>,
    quiet: Duration,
    is_terminal: bool,
}

impl Meter {
    /// For work that begins now. Nothing is shown of work that takes no longer than `quiet`.
    pub(super) fn new(quiet: Duration) -> Meter {
        Meter { start: Instant::now(), shown: None, quiet, is_terminal: stderr().is_terminal() }
    }

    /// Shows how far the work is, if the last time is long enough ago and `--quiet` does not forbid it.
    pub(super) fn show(&mut self, line: impl FnOnce(Duration) -> String) {
        if is_quiet() {
            return;
        }
        let every = if self.is_terminal { Duration::from_millis(100) } else { Duration::from_secs(15) };
        let (since, wait) = match self.shown {
            Some(shown) => (shown.elapsed(), every),
            None => (self.start.elapsed(), every.max(self.quiet)),
        };
        if since < wait {
            return;
        }
        self.shown = Some(Instant::now());
        let line = line(self.start.elapsed());
        if self.is_terminal {
            let _ = stderr().write_all(format!("\r\x1b[K{line}").as_bytes());
        } else {
            say(&line);
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            clear_line();
        }
    }
}

/// Takes away what stands in the terminal's last line.
pub(super) fn clear_line() {
    if stderr().is_terminal() {
        let _ = stderr().write_all(b"\r\x1b[K");
    }
}

/// Digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Seconds with a decimal.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped() {
        let grouped = [0, 999, 1000, 65_536, 4_294_967_296].map(super::grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "65,536", "4,294,967,296"]);
    }
}

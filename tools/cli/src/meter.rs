//! Progress display on standard error.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use super::output::{is_quiet, say};

/// A progress line. On a terminal, the line is rewritten; otherwise a new line is printed every 15 seconds.
pub(super) struct Meter {
    start: Instant,
    shown: Option<Instant>,
    quiet: Duration,
    is_terminal: bool,
}

impl Meter {
    /// Starts the display. Nothing is shown during the time `quiet` from now.
    pub(super) fn new(quiet: Duration) -> Meter {
        Meter { start: Instant::now(), shown: None, quiet, is_terminal: stderr().is_terminal() }
    }

    /// Shows the progress. Does nothing shortly after the last display, or if `--quiet` is given.
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

    /// Clears the progress line.
    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            clear_line();
        }
    }
}

/// Clears the last line of the terminal.
pub(super) fn clear_line() {
    if stderr().is_terminal() {
        let _ = stderr().write_all(b"\r\x1b[K");
    }
}

/// Formats a number with thousands separators.
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

/// Formats seconds with one decimal.
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

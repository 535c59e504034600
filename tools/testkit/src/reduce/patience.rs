//! How long trials may take.

use std::time::{Duration, Instant};

use halfbyte_abi::{CancelToken, Limits, Watchdog};

/// The limits of each trial, and the time that all of them have together.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Of one trial.
    limits: Limits,
    /// When none may go on.
    end: Option<Instant>,
    cancel: CancelToken,
}

impl Patience {
    /// No limits.
    pub fn endless() -> Patience {
        Patience::each(Limits::NONE, CancelToken::default())
    }

    /// So much for each trial, however many there are. The token ends them all.
    pub fn each(limits: Limits, cancel: CancelToken) -> Patience {
        Patience { limits, end: None, cancel }
    }

    /// So much for each trial, and so long for all of them from now on.
    pub fn new(limits: Limits, all: Duration, cancel: CancelToken) -> Patience {
        Patience { limits, end: Instant::now().checked_add(all), cancel }
    }

    /// The time that is left; none where there is no end.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Watches over a trial that begins now.
    pub fn watchdog(&self) -> Watchdog {
        let time = self.limits.time.into_iter().chain(self.left()).min();
        Watchdog::with_token(Limits { time, ..self.limits.clone() }, self.cancel.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_no_more_time_than_all_have() {
        let limits = Limits { time: Some(Duration::from_secs(10)), work: 5, ..Limits::NONE };
        let token = CancelToken::default();
        let patience = Patience::new(limits.clone(), Duration::from_secs(3600), token.clone());
        assert_eq!(*patience.watchdog().limits(), limits);
        let short = Patience::new(limits, Duration::ZERO, token.clone());
        assert_eq!(short.watchdog().limits().time, Some(Duration::ZERO));
        assert!(short.watchdog().poll().is_err());
        assert!(patience.watchdog().poll().is_ok());
        token.cancel();
        assert!(patience.watchdog().poll().is_err());
        assert_eq!(Patience::endless().left(), None);
    }
}

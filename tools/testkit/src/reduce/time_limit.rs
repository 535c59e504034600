//! Time limits of trials, the executions of one test case on all engines.

use std::time::{Duration, Instant};

use halfbyte_abi::{CancelToken, Limits, Watchdog};

/// The limits of each trial of a test case, and a time limit for all trials together.
#[derive(Clone, Debug)]
pub struct TrialLimits {
    /// The limits of one trial.
    limits: Limits,
    /// The time at which all trials must have ended; `None` without a limit.
    end: Option<Instant>,
    cancel: CancelToken,
}

impl TrialLimits {
    /// Returns `TrialLimits` without any limit.
    pub fn endless() -> TrialLimits {
        TrialLimits::each(Limits::NONE, CancelToken::default())
    }

    /// Returns `TrialLimits` with limits for each trial but without a total time limit. The token cancels all trials.
    pub fn each(limits: Limits, cancel: CancelToken) -> TrialLimits {
        TrialLimits { limits, end: None, cancel }
    }

    /// Returns `TrialLimits` with limits for each trial and a time limit for all trials together. The time starts now.
    pub fn new(limits: Limits, all: Duration, cancel: CancelToken) -> TrialLimits {
        TrialLimits { limits, end: Instant::now().checked_add(all), cancel }
    }

    /// Returns the remaining time of all trials, or `None` if the time is unlimited.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Returns a watchdog for a trial that begins now.
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
        let patience = TrialLimits::new(limits.clone(), Duration::from_secs(3600), token.clone());
        assert_eq!(*patience.watchdog().limits(), limits);
        let short = TrialLimits::new(limits, Duration::ZERO, token.clone());
        assert_eq!(short.watchdog().limits().time, Some(Duration::ZERO));
        assert!(short.watchdog().poll().is_err());
        assert!(patience.watchdog().poll().is_ok());
        token.cancel();
        assert!(patience.watchdog().poll().is_err());
        assert_eq!(TrialLimits::endless().left(), None);
    }
}

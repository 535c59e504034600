//! Detection of a livelock: items poll memory that no item will ever write.

/// Detector of a livelock: consecutive rounds in which items only poll memory and no item writes.
/// `P` is the complete state of an item.
#[derive(Debug)]
pub struct LivelockDetector<P> {
    rounds: u32,
    /// States of all items in the last round whose number is a power of two.
    seen: Vec<P>,
}

impl<P> Default for LivelockDetector<P> {
    fn default() -> LivelockDetector<P> {
        LivelockDetector { rounds: 0, seen: Vec::new() }
    }
}

impl<P: PartialEq> LivelockDetector<P> {
    /// Number of rounds before the detector begins to compare states. The comparison is costly.
    const ROUNDS_BEFORE_COMPARISON: u32 = 64;

    /// Counts a round of the scheduler. Returns `true` if the states of all items equal those of an
    /// earlier round, so that the items repeat the same steps forever.
    pub fn is_livelock(&mut self, positions: impl FnOnce() -> Vec<P>) -> bool {
        self.rounds += 1;
        if self.rounds < Self::ROUNDS_BEFORE_COMPARISON {
            return false;
        }
        let positions = positions();
        let is_seen = self.seen == positions;
        if self.rounds.is_power_of_two() {
            self.seen = positions;
        }
        is_seen
    }
}

//! Whether items that only ask what others write will ever be answered.

/// Rounds in which items only ask what others write, and nobody writes anything. `P` is where an item is, with all that it goes on from.
#[derive(Debug)]
pub struct Idle<P> {
    rounds: u32,
    /// Where all were, in a round whose number is a power of two.
    seen: Vec<P>,
}

impl<P> Default for Idle<P> {
    fn default() -> Idle<P> {
        Idle { rounds: 0, seen: Vec::new() }
    }
}

impl<P: PartialEq> Idle<P> {
    /// Rounds after which it is worth while to look.
    const PATIENCE: u32 = 64;

    /// Takes note of a round, and says whether all are where they were before: then they will be there again and again.
    pub fn is_for_ever(&mut self, positions: impl FnOnce() -> Vec<P>) -> bool {
        self.rounds += 1;
        if self.rounds < Self::PATIENCE {
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

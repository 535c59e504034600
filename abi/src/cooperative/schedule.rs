//! Execution order of items and of groups.
//!
//! The scheduler runs one item after another. Each item runs up to and including its next strong memory access. Lanes
//! of a warp that have not diverged make the same number of strong accesses. In ascending order, the lanes therefore
//! execute each access one after another in lane order. No lane continues before the last lane has executed the access.

/// Order in which the scheduler runs items.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Schedule {
    /// Ascending item numbers.
    #[default]
    Ascending,
    /// Descending item numbers.
    Descending,
    /// A different pseudorandom permutation in each round, generated from this seed.
    Shuffled(u64),
    /// Each item runs to its next barrier or collective operation, as if lanes of a warp were never in lockstep.
    RunOn {
        /// `true` if the highest item runs first.
        descending: bool,
    },
}

/// Maximum number of strong accesses that an item makes before the next item runs, for `RunOn`. The
/// bound is needed because an item can loop until another item writes.
const MAX_STRONG_ACCESSES: u32 = 256;

impl Schedule {
    /// Schedules whose results are compared. Different results mean that a kernel depends on the execution order.
    pub const ALL: [Schedule; 5] = [
        Schedule::Ascending,
        Schedule::Descending,
        Schedule::Shuffled(1),
        Schedule::RunOn { descending: false },
        Schedule::RunOn { descending: true },
    ];

    /// Returns the maximum number of strong accesses that an item makes before the next item runs.
    pub fn accesses(self) -> u32 {
        if let Schedule::RunOn { .. } = self { MAX_STRONG_ACCESSES } else { 1 }
    }

    /// Returns `true` if the highest item number comes first in every round.
    pub fn is_descending(self) -> bool {
        matches!(self, Schedule::Descending | Schedule::RunOn { descending: true })
    }

    /// Returns the numbers below `count` in their execution order in a round.
    pub fn execution_order(self, count: u32, round: u64) -> Vec<u32> {
        let mut turns: Vec<u32> = (0..count).collect();
        match self {
            _ if self.is_descending() => turns.reverse(),
            Schedule::Shuffled(seed) => {
                let mut state = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for last in (1..turns.len()).rev() {
                    // The state must not be zero, because xorshift maps zero to zero.
                    state = state.max(1);
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    turns.swap(last, (state % (last as u64 + 1)) as usize);
                }
            }
            _ => {}
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_runs_once_per_round() {
        let all: Vec<u32> = (0..100).collect();
        for schedule in Schedule::ALL {
            for round in 0..5 {
                let mut turns = schedule.execution_order(100, round);
                turns.sort_unstable();
                assert_eq!(turns, all, "{schedule:?}");
            }
        }
        assert_eq!(Schedule::Descending.execution_order(3, 7), [2, 1, 0]);
        let [up, down] = [false, true].map(|descending| Schedule::RunOn { descending });
        assert_eq!([up.execution_order(3, 7), down.execution_order(3, 7)], [[0, 1, 2], [2, 1, 0]]);
        assert!(up.accesses() > Schedule::Ascending.accesses());
        let shuffled = Schedule::Shuffled(1);
        assert_ne!(shuffled.execution_order(100, 0), shuffled.execution_order(100, 1));
        assert_eq!(shuffled.execution_order(0, 0), []);
    }
}

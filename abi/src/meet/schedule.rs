//! In which order items have their turns, and groups run: all orders are right, and what depends on one is no result.

/// An order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Schedule {
    /// That of their numbers.
    #[default]
    Ascending,
    /// The other way round.
    Descending,
    /// Another one in each round, drawn from a seed.
    Shuffled(u64),
}

impl Schedule {
    /// Those that are compared where it is asked whether a result depends on the order.
    pub const ALL: [Schedule; 3] = [Schedule::Ascending, Schedule::Descending, Schedule::Shuffled(1)];

    /// So many numbers from 0 in their order in a round.
    pub fn turns(self, count: u32, round: u64) -> Vec<u32> {
        let mut turns: Vec<u32> = (0..count).collect();
        match self {
            Schedule::Ascending => {}
            Schedule::Descending => turns.reverse(),
            Schedule::Shuffled(seed) => {
                let mut state = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for last in (1..turns.len()).rev() {
                    // Xorshift, which no number but zero leads to zero.
                    state = state.max(1);
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    turns.swap(last, (state % (last as u64 + 1)) as usize);
                }
            }
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_turn_once_a_round() {
        let all: Vec<u32> = (0..100).collect();
        for schedule in Schedule::ALL {
            for round in 0..5 {
                let mut turns = schedule.turns(100, round);
                turns.sort_unstable();
                assert_eq!(turns, all, "{schedule:?}");
            }
        }
        assert_eq!(Schedule::Descending.turns(3, 7), [2, 1, 0]);
        let shuffled = Schedule::Shuffled(1);
        assert_ne!(shuffled.turns(100, 0), shuffled.turns(100, 1));
        assert_eq!(shuffled.turns(0, 0), []);
    }
}

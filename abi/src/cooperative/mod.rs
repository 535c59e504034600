//! Barriers and collective operations of the items of a group, and detection of data races.
//!
//! [`Group`] tracks the state of the items of a group for every engine that executes items. It records waiting items,
//! completes barriers and collective operations, and resumes their items. [`RaceDetector`] tracks the happens-before
//! order of memory accesses, and finds pairs of conflicting accesses that are not ordered.

mod copies;
mod divergence;
mod exchange;
mod group;
mod livelock;
mod order;
mod parties;
mod races;
mod schedule;
mod shadow;
mod strength;

pub use copies::AsyncCopy;
pub use divergence::{Branch, post_dominators};
pub use exchange::{elected, matched};
pub use group::{DeadlockedItem, Group, InvalidSync, SyncError};
pub use livelock::LivelockDetector;
pub use parties::{WaitState, WaitingItems};
pub use races::{AccessInfo, Race, RaceCheck, RaceDetector, RacingAccess, SharedLocation};
pub use schedule::Schedule;
pub use strength::{MemOrder, Scope, Strength};

/// Number of items in a subgroup, which CUDA calls a warp.
pub const SUBGROUP: u32 = 32;
/// Number of barriers of a group.
pub const BARRIERS: u32 = 16;

/// A barrier or collective operation that items of a group execute together. `W` is the type of a
/// 32-bit word, and `P` the type of a predicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SyncOp<W: Copy, P: Copy> {
    /// Arrival of subgroups at a barrier.
    Barrier {
        /// Number of the barrier.
        id: W,
        /// Number of items that must arrive; `None` for all items of the group.
        count: Option<W>,
        /// Kind of barrier operation.
        of: BarrierOp<P>,
        /// `true` if the program guarantees that all items of a subgroup execute the same barrier instruction.
        aligned: bool,
    },
    /// Operation in which items of a subgroup wait for the lanes of a mask.
    Subgroup {
        /// Mask of the participating lanes.
        mask: W,
        /// The collective operation.
        of: SubgroupOp<W, P>,
    },
    /// Collective operation of those items of a subgroup that execute the instruction at the same
    /// time. The items wait for no other item.
    Converged {
        /// The collective operation.
        of: SubgroupOp<W, P>,
    },
}

/// Kind of barrier operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierOp<P: Copy> {
    /// Arrives at the barrier and waits for the other items.
    Sync,
    /// Arrives at the barrier without waiting.
    Arrive,
    /// Waits, and returns the number of items whose predicate is true.
    Count(P),
    /// Waits, and returns 1 if the predicate is true for all items.
    All(P),
    /// Waits, and returns 1 if the predicate is true for any item.
    Any(P),
}

/// Collective operation of lanes of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SubgroupOp<W: Copy, P: Copy> {
    /// Synchronisation only. Earlier memory accesses of each lane become visible to the other lanes.
    None,
    /// Shuffle: each lane reads the value of another lane.
    Shuffle {
        /// Mode of the shuffle, which determines the source lane of each lane.
        mode: Shuffle,
        /// Value that the lane contributes.
        value: W,
        /// Source lane, distance to the source lane, or mask for XOR, depending on the mode.
        by: W,
        /// Segment of lanes, encoded as operand `c` of PTX `shfl.sync`: the clamp value in bits 0
        /// to 4, and the segment mask in bits 8 to 12.
        segment: W,
    },
    /// Vote on a predicate.
    Vote(Vote, P),
    /// Match: the mask of lanes that have the same value as this lane, or a test whether all lanes have the same value.
    Match {
        /// `true` to test whether all lanes have the same value.
        all: bool,
        /// The value to compare, low 32-bit word first. The high word of a 32-bit value is zero.
        value: [W; 2],
    },
    /// A reduction over all lanes.
    Reduce(Reduce, W),
    /// Election of the lowest participating lane.
    Elect,
    /// Mask of the lanes that execute the instruction together.
    Active,
    /// One instruction that all lanes execute together, such as a matrix instruction. The engine
    /// defines its effect and its results.
    Collective,
}

/// Mode of a shuffle: the rule that determines the source lane of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane with the given number.
    Index,
    /// The lane that is `by` lanes lower.
    Up,
    /// The lane that is `by` lanes higher.
    Down,
    /// The lane whose number is this lane's number XOR `by`.
    Xor,
}

/// Kind of vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Tests whether the predicate is true for all lanes.
    All,
    /// Tests whether the predicate is true for any lane.
    Any,
    /// Tests whether the predicate is the same for all lanes.
    Uniform,
    /// Returns the mask of lanes whose predicate is true.
    Ballot,
}

/// Operator of a reduction over lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Sum modulo 2^32.
    Add,
    /// Integer minimum.
    Min {
        /// `true` for signed numbers.
        signed: bool,
    },
    /// Integer maximum.
    Max {
        /// `true` for signed numbers.
        signed: bool,
    },
    /// Bitwise AND.
    And,
    /// Bitwise OR.
    Or,
    /// Bitwise XOR.
    Xor,
    /// Minimum or maximum of f32 numbers; -0 is less than +0.
    Extremum {
        /// `true` for the minimum, `false` for the maximum.
        min: bool,
        /// `true` if the operands' magnitudes are compared.
        abs: bool,
        /// `true` if the result is NaN when any operand is NaN. Otherwise NaN operands are ignored.
        nan: bool,
    },
}

#[cfg(test)]
mod same_value_tests;
#[cfg(test)]
mod tests;

//! Items of a group that meet: what they meet for, who waits for whom, and which access comes before which.
//!
//! A group is run by one machine, [`Group`], whoever executes its items: it says who may run, takes in who waits, and lets
//! go on those who have come together. [`Races`] knows for each access to memory which others come before it, and so finds two that
//! nothing orders.

mod copies;
mod divergence;
mod exchange;
mod group;
mod idle;
mod order;
mod parties;
mod races;
mod schedule;
mod shadow;
mod strength;

pub use copies::AsyncCopy;
pub use divergence::{Branch, post_dominators};
pub use exchange::{elected, matched};
pub use group::{Dead, Group, Meets, Misfit};
pub use idle::Idle;
pub use parties::{Party, Standing};
pub use races::{Place, Race, Races, Side, Touch};
pub use schedule::Schedule;
pub use strength::{MemOrder, Scope, Strength};

/// Items of a subgroup, which is a warp.
pub const SUBGROUP: u32 = 32;
/// Barriers of a group.
pub const BARRIERS: u32 = 16;

/// What items of a group meet for. `W` is a word of 32 bits, and `P` an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meeting<W: Copy, P: Copy> {
    /// Subgroups arrive at a barrier.
    Barrier {
        /// Its number.
        id: W,
        /// How many items must arrive; all of the group where nothing is said.
        count: Option<W>,
        /// What for.
        of: Barrier<P>,
        /// Whether all items of a subgroup promise to come from the same instruction.
        aligned: bool,
    },
    /// Items of a subgroup wait for each other.
    Subgroup {
        /// The lanes that take part.
        mask: W,
        /// What they exchange.
        of: Exchange<W, P>,
    },
    /// Items of a subgroup that are at the instruction together wait for no other.
    Here {
        /// What they exchange.
        of: Exchange<W, P>,
    },
}

/// What subgroups arrive at a barrier for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier<P: Copy> {
    /// To wait for the others.
    Sync,
    /// Not to wait.
    Arrive,
    /// To wait, and to learn for how many the predicate is true.
    Count(P),
    /// To wait, and to learn whether it is true for all.
    All(P),
    /// To wait, and to learn whether it is true for any.
    Any(P),
}

/// What lanes of a subgroup exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exchange<W: Copy, P: Copy> {
    /// Nothing: they wait, and see what the others did in memory before.
    None,
    /// Each takes the value of another lane.
    Shuffle {
        /// Which way.
        mode: Shuffle,
        /// What it gives.
        value: W,
        /// The lane, or how far it is.
        by: W,
        /// The segment: the greatest lane in bits 0 to 4, and which bits of the lane's number are kept in bits 8 to 12.
        segment: W,
    },
    /// Whether the predicate is true for all, for any, or the same for all; for whom it is.
    Vote(Vote, P),
    /// Which lanes have the same value: its own, or whether all have it. Low word first; of 32 bits the high word is zero.
    Match {
        /// Whether all must have it.
        all: bool,
        /// The value.
        value: [W; 2],
    },
    /// A reduction over all lanes.
    Reduce(Reduce, W),
    /// One lane is chosen: the lowest.
    Elect,
    /// Which lanes are here together.
    Active,
    /// All lanes execute one instruction as a whole: what it does and gives them, whoever runs them knows.
    Collective,
}

/// The lane that a shuffle takes a value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The one of that number.
    Index,
    /// So many lanes lower.
    Up,
    /// So many lanes higher.
    Down,
    /// The one whose number differs in these bits.
    Xor,
}

/// What is asked of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Whether it is true for all.
    All,
    /// Whether one does.
    Any,
    /// Whether all say the same.
    Uniform,
    /// Which do.
    Ballot,
}

/// How values of lanes are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum modulo 2^32.
    Add,
    /// The least, of signed numbers or not.
    Min {
        /// Whether they are.
        signed: bool,
    },
    /// The greatest, likewise.
    Max {
        /// Whether they are.
        signed: bool,
    },
    /// The bits that all have.
    And,
    /// The bits that one has.
    Or,
    /// The bits that an odd number has.
    Xor,
    /// The least of f32, or the greatest; -0 is less than +0.
    Extremum {
        /// Whether it is the least.
        min: bool,
        /// Whether it is that of the magnitudes.
        abs: bool,
        /// Whether it is NaN where one of them is; else those count as if they were not there.
        nan: bool,
    },
}

#[cfg(test)]
mod tests;

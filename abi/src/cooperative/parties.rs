//! Participants of a deadlock: items that cannot continue, and the condition that each waits for.

use std::fmt;

use crate::{Loc, Shape};

/// Items that wait at one instruction for the same condition, or that have passed a barrier at which other items wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingItems {
    /// Numbers of the items in the group, in ascending order.
    pub items: Vec<u32>,
    /// Number of the instruction.
    pub place: u32,
    /// Location of the instruction in the source text, if known.
    pub loc: Loc,
    /// State of the items: what they wait for, or that they have passed a barrier.
    pub standing: WaitState,
}

/// State of items that take part in a deadlock or in the divergence at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitState {
    /// The items wait for other items at a barrier.
    Barrier {
        /// Number of the barrier.
        id: u32,
        /// Number of items that have arrived. A subgroup counts as 32 items.
        arrived: u32,
        /// Number of items that must arrive.
        expected: u32,
    },
    /// The items wait for lanes of the subgroup that have not arrived, given as a mask.
    Lanes(u32),
    /// The items poll memory that other items would have to write.
    Memory,
    /// The items do not wait, because they have passed a barrier at which a lane of their subgroup
    /// waits. [`WaitingItems::place`] is then the branch at which the lanes diverged.
    Passed,
}

impl fmt::Display for WaitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            WaitState::Barrier { id, arrived, expected } => {
                write!(f, "at barrier {id}, where {arrived} of {expected} items have arrived")
            }
            WaitState::Lanes(lanes) => {
                let lanes: Vec<u32> = (0..32).filter(|lane| lanes >> lane & 1 != 0).collect();
                match lanes.as_slice() {
                    [lane] => write!(f, "for lane {lane}"),
                    lanes => write!(f, "for lanes {}", numbers(lanes)),
                }
            }
            WaitState::Memory => f.write_str("for memory that no item writes"),
            WaitState::Passed => f.write_str("past the barrier, diverged at a branch or guard"),
        }
    }
}

/// Maximum number of ranges of item numbers in a message.
const SHOWN: usize = 4;

/// Formats numbers as ranges, such as `1, 4 to 7 and 9`.
fn numbers(all: &[u32]) -> String {
    let mut runs: Vec<[u32; 2]> = Vec::new();
    for &number in all {
        match runs.last_mut() {
            Some([_, last]) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push([number; 2]),
        }
    }
    let left: u32 = runs.iter().skip(SHOWN).map(|[first, last]| last - first + 1).sum();
    let mut shown: Vec<String> = (runs.iter().take(SHOWN))
        .map(|[first, last]| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    if left != 0 {
        shown.push(format!("{left} others"));
    }
    match shown.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

impl WaitingItems {
    /// Returns the verb phrase of the message, such as `waits for lanes 0 to 7`.
    fn verb_phrase(&self) -> String {
        let is_one = self.items.len() == 1;
        let verb = match self.standing {
            WaitState::Passed if is_one => "goes",
            WaitState::Passed => "go",
            _ if is_one => "waits",
            _ => "wait",
        };
        format!("{verb} {}", self.standing)
    }

    /// Describes the items by their numbers in the launch, such as `items 8 to 31 wait for lanes 0
    /// to 7`. `item` is the number in the launch of any item of the group.
    pub fn describe(&self, shape: &Shape, item: u32) -> String {
        let size = shape.block.into_iter().product::<u32>().max(1);
        let first = item / size * size;
        let items: Vec<u32> = self.items.iter().map(|number| first + number).collect();
        let does = self.verb_phrase();
        match items.as_slice() {
            [item] => format!("{} {does}", shape.name(*item)),
            items if shape.is_along_x() => format!("items {} {does}", numbers(items)),
            [item, rest @ ..] => format!("{} and {} others {does}", shape.name(*item), rest.len()),
            [] => does,
        }
    }
}

impl fmt::Display for WaitingItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = if self.items.len() == 1 { "item" } else { "items" };
        write!(f, "{items} {} of the group {}", numbers(&self.items), self.verb_phrase())?;
        if self.loc.is_known() { write!(f, " (line {})", self.loc.line) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parties_name_items_and_lines() {
        let loc = Loc { line: 13, column: 3 };
        let party = |items: &[u32], standing| WaitingItems { items: items.to_vec(), place: 0, loc, standing };
        let lanes = party(&[1, 4, 5, 6, 9], WaitState::Lanes(0x3fc));
        assert_eq!(lanes.to_string(), "items 1, 4 to 6 and 9 of the group wait for lanes 2 to 9 (line 13)");
        assert_eq!(lanes.describe(&Shape::from((2, 32)), 40), "items 33, 36 to 38 and 41 wait for lanes 2 to 9");
        let many = party(&[0, 2, 4, 6, 8, 10, 11], WaitState::Memory);
        assert_eq!(
            many.to_string(),
            "items 0, 2, 4, 6 and 3 others of the group wait for memory that no item writes (line 13)"
        );
        let barrier = WaitState::Barrier { id: 2, arrived: 32, expected: 64 };
        let one = WaitingItems { loc: Loc::default(), ..party(&[3], barrier) };
        assert_eq!(one.to_string(), "item 3 of the group waits at barrier 2, where 32 of 64 items have arrived");
    }
}

//! A row of items that meet, for native code: who goes on when, and what whole subgroups give each other.
//!
//! Native code runs many items side by side, each up to where it waits or ends; that is at a turn of its own. [`Rendezvous`] takes
//! them in and has the machine of the group bring them together turn by turn, as if they had run one after another.

pub(crate) mod rows;

use std::collections::BTreeMap;

use halfbyte_abi::cooperative::{Group, InvalidSync, SyncOp};

/// An item that has ended, or waits at an instruction.
struct Stopped {
    item: u32,
    waits: Option<(u32, SyncOp<u32, bool>)>,
}

/// The items of a group that have stopped.
#[derive(Default)]
pub(crate) struct Rendezvous {
    /// The machine, once one has stopped.
    group: Option<Group>,
    items: u32,
    /// Those that the machine does not know of yet, by their turn.
    stopped: BTreeMap<u32, Vec<Stopped>>,
}

impl Rendezvous {
    /// A group of so many items, all of which run.
    pub fn begin(&mut self, items: u32) {
        self.items = items;
        self.group = None;
        self.stopped.clear();
    }

    /// Whether all run, and nothing has arrived anywhere.
    pub fn is_at_rest(&self) -> bool {
        self.stopped.is_empty() && self.group.as_ref().is_none_or(Group::is_at_rest)
    }

    /// An item waits at an instruction, or has ended, at its turn.
    pub fn stop(&mut self, item: u32, turn: u32, waits: Option<(u32, SyncOp<u32, bool>)>) {
        self.stopped.entry(turn).or_default().push(Stopped { item, waits });
    }

    /// Lets go on those who come together first, which must be in a turn before one: adds them with what they are given, and says which
    /// turn that was. None where nobody does.
    ///
    /// # Errors
    /// The turn, and an item that cannot meet others as it asks.
    pub fn next(&mut self, before: u32, go_on: &mut Vec<(u32, [u64; 2])>) -> Result<Option<u32>, (u32, InvalidSync)> {
        let group = self.group.get_or_insert_with(|| Group::new(self.items));
        while let Some(first) = self.stopped.first_entry().filter(|first| *first.key() < before) {
            let (turn, stopped) = first.remove_entry();
            for Stopped { item, waits } in stopped {
                match waits {
                    Some((place, meeting)) => group.wait(item, place, meeting),
                    None => group.end(item),
                }
            }
            let met = group.complete_ready(None, &mut |item, given| go_on.push((item, given)));
            if met.map_err(|misfit| (turn, misfit))? {
                return Ok(Some(turn));
            }
        }
        Ok(None)
    }

    /// The lowest item that waits, where none can go on.
    pub fn stuck(&self) -> Option<InvalidSync> {
        self.group.as_ref().and_then(Group::lowest_waiting_item)
    }
}

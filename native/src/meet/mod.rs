//! Collective operations of the items of a group, for native code.
//!
//! Native code runs many items together, each up to a collective operation or to its end. Each stop
//! belongs to a round. [`Rendezvous`] passes the stopped items to the state machine of the group
//! round by round, as if the items had run one after another.

pub(crate) mod rows;

use std::collections::BTreeMap;

use halfbyte_abi::cooperative::{Group, InvalidSync, SyncOp};

/// An item that has ended, or that waits at an instruction.
struct Stopped {
    item: u32,
    waits: Option<(u32, SyncOp<u32, bool>)>,
}

/// The stopped items of a group.
#[derive(Default)]
pub(crate) struct Rendezvous {
    /// State machine of the group, once an item has stopped.
    group: Option<Group>,
    items: u32,
    /// Stopped items that the state machine does not know yet, by their rounds.
    stopped: BTreeMap<u32, Vec<Stopped>>,
}

impl Rendezvous {
    /// Begins a group of `items` running items.
    pub fn begin(&mut self, items: u32) {
        self.items = items;
        self.group = None;
        self.stopped.clear();
    }

    /// Returns `true` if all items run and no item has arrived at a collective operation.
    pub fn is_at_rest(&self) -> bool {
        self.stopped.is_empty() && self.group.as_ref().is_none_or(Group::is_at_rest)
    }

    /// Records that an item waits at an instruction, or has ended, in round `turn`.
    pub fn stop(&mut self, item: u32, turn: u32, waits: Option<(u32, SyncOp<u32, bool>)>) {
        self.stopped.entry(turn).or_default().push(Stopped { item, waits });
    }

    /// Releases the items of the first collective operation that completes in a round before `before`. Appends these
    /// items and their results to `go_on`, and returns the round. Returns `None` if no operation completes.
    ///
    /// # Errors
    /// The round, and the invalid operation of an item.
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

    /// Returns the lowest waiting item, if no item can continue.
    pub fn stuck(&self) -> Option<InvalidSync> {
        self.group.as_ref().and_then(Group::lowest_waiting_item)
    }
}

//! Copies that go on beside the items that have begun them.
//!
//! A copy reads and writes at some moment between its beginning and the wait of its item. What others do to the same bytes must
//! therefore come before the beginning or after the wait, and nothing may be done to them in between, by the item itself neither.

use super::Place;

/// A copy from one memory to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsyncCopy {
    /// The item, by its number in the launch.
    pub item: u32,
    /// The instruction that begins it, by its number.
    pub inst: u32,
    /// Where it reads: the memory, the first byte and how many.
    pub from: (Place, u64, usize),
    /// Where it writes.
    pub to: (Place, u64, usize),
}

/// The copies of a group of items that are not waited for yet.
#[derive(Default)]
pub(super) struct Copies {
    /// Each with the number of its group among those of its item.
    begun: Vec<(AsyncCopy, u32)>,
    /// By item of the group: how many groups of copies it has closed.
    closed: Vec<u32>,
}

impl Copies {
    fn closed(&mut self, local: u32) -> &mut u32 {
        let local = local as usize;
        if self.closed.len() <= local {
            self.closed.resize(local + 1, 0);
        }
        &mut self.closed[local]
    }

    pub fn begin(&mut self, local: u32, copy: AsyncCopy) {
        let group = *self.closed(local);
        self.begun.push((copy, group));
    }

    /// The copies that an item has begun since the last time are a group.
    pub fn close(&mut self, local: u32) {
        *self.closed(local) += 1;
    }

    /// Those that an item waits for: all, or all but those of so many of its newest groups and what is in none yet.
    pub fn wait(&mut self, local: u32, item: u32, but: Option<u32>) -> Vec<AsyncCopy> {
        let closed = *self.closed(local);
        let is_awaited = |&(copy, group): &(AsyncCopy, u32)| {
            copy.item == item && but.is_none_or(|but| group < closed.saturating_sub(but))
        };
        let done = self.begun.iter().filter(|begun| is_awaited(begun)).map(|(copy, _)| *copy).collect();
        self.begun.retain(|begun| !is_awaited(begun));
        done
    }

    /// A copy that an access comes too early for, the first byte in common, and whether the copy writes it.
    pub fn against(&self, place: Place, offset: u64, bytes: usize, writes: bool) -> Option<(&AsyncCopy, u64, bool)> {
        let common = |(of, start, count): (Place, u64, usize)| {
            let first = start.max(offset);
            let is_any = of == place && first < start + count as u64 && first < offset + bytes as u64;
            is_any.then_some(first)
        };
        self.begun.iter().find_map(|(copy, _)| {
            let written = common(copy.to).map(|first| (copy, first, true));
            written.or_else(|| common(copy.from).filter(|_| writes).map(|first| (copy, first, false)))
        })
    }
}

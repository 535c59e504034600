//! Asynchronous copies, which proceed while the work items that start them continue.
//!
//! A copy reads and writes memory at an unspecified time between its start and its item's wait for
//! it. A conflicting access to the same bytes must therefore happen before the start or after the
//! wait. The rule also holds for accesses by the item that started the copy.

use super::SharedLocation;

/// An asynchronous copy from one memory to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsyncCopy {
    /// Number of the item in the launch.
    pub item: u32,
    /// Number of the instruction that started the copy.
    pub inst: u32,
    /// Source: the memory, the offset of the first byte, and the number of bytes.
    pub from: (SharedLocation, u64, usize),
    /// Destination: the memory, the offset of the first byte, and the number of bytes.
    pub to: (SharedLocation, u64, usize),
}

/// Pending asynchronous copies of the items of a group.
#[derive(Default)]
pub(super) struct Copies {
    /// Pending copies, each with the number of its copy group. Each item numbers its copy groups from 0.
    begun: Vec<(AsyncCopy, u32)>,
    /// Number of copy groups that each item of the group has committed.
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

    pub(super) fn begin(&mut self, local: u32, copy: AsyncCopy) {
        let group = *self.closed(local);
        self.begun.push((copy, group));
    }

    /// Forms a copy group of the copies that an item has started since its last commit.
    pub(super) fn close(&mut self, local: u32) {
        *self.closed(local) += 1;
    }

    /// Completes and returns the copies that an item waits for. If `but` is `None`, the item waits for all its copies.
    /// Otherwise it does not wait for its newest `but` committed groups and its uncommitted copies.
    pub(super) fn wait(&mut self, local: u32, item: u32, but: Option<u32>) -> Vec<AsyncCopy> {
        let closed = *self.closed(local);
        let is_awaited = |&(copy, group): &(AsyncCopy, u32)| {
            copy.item == item && but.is_none_or(|but| group < closed.saturating_sub(but))
        };
        let done = self.begun.iter().filter(|begun| is_awaited(begun)).map(|(copy, _)| *copy).collect();
        self.begun.retain(|begun| !is_awaited(begun));
        done
    }

    /// Finds a pending copy that conflicts with an access. Returns the copy, the first byte that
    /// the copy and the access have in common, and `true` if the copy writes that byte.
    pub(super) fn find_conflict(
        &self,
        place: SharedLocation,
        offset: u64,
        bytes: usize,
        writes: bool,
    ) -> Option<(&AsyncCopy, u64, bool)> {
        let common = |(of, start, count): (SharedLocation, u64, usize)| {
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

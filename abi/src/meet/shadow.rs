//! Who has accessed each byte of a memory, as far as somebody may still have to know.

use std::sync::Arc;

use super::order::Release;
use super::{MemOrder, Scope};

/// An access to a byte, as it is kept.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Note {
    /// The item's number in the launch, from 1; 0 where there was no access.
    item: u32,
    clock: u32,
    /// The instruction, and in the two highest bits its strength.
    place: u32,
}

/// The highest bits of a place: whether the access is strong, and whether for the group alone.
const STRONG: u32 = 1 << 31;
const OF_GROUP: u32 = 1 << 30;

impl Note {
    pub fn new(item: u32, clock: u32, place: u32, strength: Option<(MemOrder, Scope)>) -> Note {
        let flags = match strength {
            None => 0,
            Some((_, Scope::Group)) => STRONG | OF_GROUP,
            Some(_) => STRONG,
        };
        Note { item: item.saturating_add(1), clock, place: place & !(STRONG | OF_GROUP) | flags }
    }

    pub fn is_any(self) -> bool {
        self.item != 0
    }

    pub fn item(self) -> u32 {
        self.item.saturating_sub(1)
    }

    pub fn clock(self) -> u32 {
        self.clock
    }

    pub fn place(self) -> u32 {
        self.place & !(STRONG | OF_GROUP)
    }

    pub fn is_strong(self) -> bool {
        self.place & STRONG != 0
    }

    pub fn is_of_group(self) -> bool {
        self.place & OF_GROUP != 0
    }
}

/// A byte.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    /// The last weak write; those before it come before.
    pub write: Note,
    /// A weak read since then.
    pub read: Note,
    /// The number of its lists among those of the memory, from 1; 0 where it has none.
    lists: u32,
}

/// What a byte has where more than a write and a read are to be kept.
#[derive(Default)]
pub(super) struct Lists {
    /// Weak reads by others than the one in the cell.
    pub reads: Vec<Note>,
    pub strong_writes: Vec<Note>,
    pub strong_reads: Vec<Note>,
    /// Whether one of the strong ones is meant for its group alone.
    pub are_of_group: bool,
    /// What who reads the byte may acquire.
    pub releases: Vec<Arc<Release>>,
}

impl Lists {
    /// Forgets accesses, which all come before one that is kept.
    pub fn forget(&mut self) {
        self.reads.clear();
        self.strong_writes.clear();
        self.strong_reads.clear();
        self.are_of_group = false;
    }
}

/// Bytes of a page.
const PAGE: usize = 256;

/// A memory.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Cell; PAGE]>>>,
    lists: Vec<Lists>,
}

impl Shadow {
    /// A byte, and its lists where it has them.
    pub fn byte(&mut self, at: usize) -> (&mut Cell, Option<&mut Lists>) {
        let (number, within) = (at / PAGE, at % PAGE);
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        // The page is there: it was made just now.
        let page = &mut self.pages[number];
        let cell = &mut page.get_or_insert_with(|| Box::new([Cell::default(); PAGE]))[within];
        let lists = (cell.lists as usize).checked_sub(1).and_then(|number| self.lists.get_mut(number));
        (cell, lists)
    }

    /// The lists of a byte.
    pub fn lists(&mut self, at: usize) -> &mut Lists {
        let next = self.lists.len() as u32 + 1;
        let (cell, _) = self.byte(at);
        let number = if cell.lists == 0 { next } else { cell.lists };
        cell.lists = number;
        if number == next {
            self.lists.push(Lists::default());
        }
        &mut self.lists[number as usize - 1]
    }

    /// Whether a byte has been written.
    pub fn is_written(&self, at: usize) -> bool {
        let page = self.pages.get(at / PAGE).and_then(Option::as_ref);
        let Some(cell) = page.and_then(|page| page.get(at % PAGE)) else { return false };
        let lists = (cell.lists as usize).checked_sub(1).and_then(|number| self.lists.get(number));
        cell.write.is_any() || lists.is_some_and(|lists| !lists.strong_writes.is_empty())
    }
}

/// Keeps an access in a list, of which one an item is enough: its last.
pub(super) fn keep(list: &mut Vec<Note>, note: Note) {
    match list.last_mut() {
        Some(last) if last.item == note.item => *last = note,
        _ => list.push(note),
    }
    // Where it has doubled, some may be of the same items.
    if list.len() >= 64 && list.len().is_power_of_two() {
        list.sort_by_key(|note| (note.item, std::cmp::Reverse(note.clock)));
        list.dedup_by_key(|note| note.item);
    }
}

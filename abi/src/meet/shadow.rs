//! Who has accessed each byte of a memory, as far as somebody may still have to know.

use std::sync::Arc;

use super::order::Release;
use super::{Scope, Strength};

/// An access to a byte, as it is kept.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Note {
    /// The item's number in the launch, from 1; 0 where there was no access.
    item: u32,
    clock: u32,
    /// The instruction, and in the highest bits its strength.
    place: u32,
}

/// The highest bits of a place: whether the access is strong, whether for the group alone, and the logarithm of its elements' bytes.
const STRONG: u32 = 1 << 31;
const OF_GROUP: u32 = 1 << 30;
const BYTES: u32 = 27;
const STRENGTH: u32 = !0 << BYTES;

impl Note {
    pub fn new(item: u32, clock: u32, place: u32, strength: Option<Strength>) -> Note {
        let flags = |Strength { scope, bytes, .. }: Strength| {
            let of_group = if scope == Scope::Group { OF_GROUP } else { 0 };
            STRONG | of_group | bytes.trailing_zeros().min(7) << BYTES
        };
        Note { item: item.saturating_add(1), clock, place: place & !STRENGTH | strength.map_or(0, flags) }
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
        self.place & !STRENGTH
    }

    /// Bits that tell whether it is strong, for whom, and its size.
    pub fn strength(self) -> u32 {
        self.place & STRENGTH
    }

    /// Logarithm of the bytes of a strong access's elements.
    pub fn size(self) -> u32 {
        self.place >> BYTES & 7
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

/// A strong access, and its place in observation order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linked {
    pub note: Note,
    /// The write that is observed, or the access itself if it writes; none of a read that observes no strong write.
    pub link: Option<Link>,
}

/// A strong write in a chain: a write, then atomic operations that each read the value of the operation before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Link {
    /// The chain's number in the memory.
    pub chain: u32,
    /// The write's number in the chain.
    pub number: u32,
}

/// What a byte has where more than a write and a read are to be kept.
#[derive(Default)]
pub(super) struct Lists {
    /// Weak reads by others than the one in the cell.
    pub reads: Vec<Note>,
    pub strong_writes: Vec<Linked>,
    pub strong_reads: Vec<Linked>,
    /// The last write, if it is strong.
    pub last: Option<Linked>,
    /// Whether one of the strong ones is meant for its group alone.
    pub are_of_group: bool,
    /// Sizes of the strong ones, as a set of their logarithms.
    pub sizes: u8,
    /// What who reads the byte may acquire.
    pub releases: Vec<Arc<Release>>,
}

impl Lists {
    /// Forgets accesses, which all come before one that is kept.
    pub fn forget(&mut self) {
        self.reads.clear();
        self.strong_writes.clear();
        self.strong_reads.clear();
        self.last = None;
        self.are_of_group = false;
        self.sizes = 0;
    }
}

/// Bytes of a page.
const PAGE: usize = 256;

/// A memory.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Cell; PAGE]>>>,
    lists: Vec<Lists>,
    chains: u32,
}

impl Shadow {
    /// Begins a chain of writes.
    pub fn chain(&mut self) -> Link {
        self.chains = self.chains.wrapping_add(1);
        Link { chain: self.chains, number: 0 }
    }

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

/// Most accesses of one item that a long list keeps. The last one decides whether all precede another access in base causality order.
/// Earlier ones record earlier observations, which matter only to items that have acquired from the item in between.
const KEPT: usize = 4;
/// Length up to which a list keeps all accesses.
const SHORT: usize = 64;

/// Keeps a weak read in a list: the last read of each item is enough.
pub(super) fn keep(list: &mut Vec<Note>, note: Note) {
    match list.last_mut() {
        Some(last) if last.item == note.item => *last = note,
        _ => {
            make_room(list, |list| {
                list.sort_by_key(|note| (note.item, std::cmp::Reverse(note.clock)));
                list.dedup_by_key(|note| note.item);
            });
            list.push(note);
        }
    }
}

/// Keeps a strong access in a list.
pub(super) fn keep_linked(list: &mut Vec<Linked>, new: Linked) {
    match list.last_mut() {
        Some(last) if last.replaces(&new) => *last = new,
        _ => {
            make_room(list, thin);
            list.push(new);
        }
    }
}

impl Linked {
    /// Returns `true` if two accesses differ for no other item except in what they have observed.
    fn is_alike(&self, other: &Linked) -> bool {
        self.note.item == other.note.item && self.note.strength() == other.note.strength()
    }

    /// Returns `true` if the later of the two accesses makes the other redundant.
    fn replaces(&self, other: &Linked) -> bool {
        let chain = |of: &Linked| of.link.map(|link| link.chain);
        self.is_alike(other) && self.note.clock == other.note.clock && chain(self) == chain(other)
    }
}

/// Drops the entries that a full list need not keep. If more than half remain, its capacity doubles, so that the cost per access stays
/// constant.
fn make_room<T>(list: &mut Vec<T>, thin: impl FnOnce(&mut Vec<T>)) {
    if list.len() == list.capacity() && list.len() >= SHORT {
        thin(list);
        if list.len() > list.capacity() / 2 {
            list.reserve(list.capacity());
        }
    }
}

/// Drops accesses of items that have made many.
fn thin(list: &mut Vec<Linked>) {
    // The latest of each item first.
    list.sort_by_key(|of| std::cmp::Reverse((of.note.item, of.note.strength(), of.note.clock, of.link)));
    let mut later: Option<(Linked, usize)> = None;
    list.retain(|of| {
        let kept = match &later {
            Some((last, kept)) if last.is_alike(of) => *kept,
            _ => 0,
        };
        let keeps = kept < KEPT && !later.is_some_and(|(last, _)| last.replaces(of));
        if keeps {
            later = Some((*of, kept + 1));
        }
        keeps
    });
}

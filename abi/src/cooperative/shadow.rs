//! Shadow memory: for each byte, the accesses that a later access can race with.

use std::sync::Arc;

use super::order::Release;
use super::{Scope, Strength};

/// Record of an access to a byte.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AccessRecord {
    /// Number of the item in the launch, from 1; 0 if there was no access.
    item: u32,
    clock: u32,
    /// Number of the instruction; the highest bits hold the strength.
    place: u32,
}

/// Highest bits of `Note::place`: a flag for a strong access, a flag for group scope, and log2 of
/// the element size in bytes.
const STRONG: u32 = 1 << 31;
const OF_GROUP: u32 = 1 << 30;
const BYTES: u32 = 27;
const STRENGTH: u32 = !0 << BYTES;

impl AccessRecord {
    pub(super) fn new(item: u32, clock: u32, place: u32, strength: Option<Strength>) -> AccessRecord {
        let flags = |Strength { scope, bytes, .. }: Strength| {
            let of_group = if scope == Scope::Group { OF_GROUP } else { 0 };
            STRONG | of_group | bytes.trailing_zeros().min(7) << BYTES
        };
        AccessRecord { item: item.saturating_add(1), clock, place: place & !STRENGTH | strength.map_or(0, flags) }
    }

    pub(super) fn is_any(self) -> bool {
        self.item != 0
    }

    pub(super) fn item(self) -> u32 {
        self.item.saturating_sub(1)
    }

    pub(super) fn clock(self) -> u32 {
        self.clock
    }

    pub(super) fn place(self) -> u32 {
        self.place & !STRENGTH
    }

    /// Returns the bits for strong, group scope and element size.
    pub(super) fn strength(self) -> u32 {
        self.place & STRENGTH
    }

    /// Returns log2 of the element size of a strong access in bytes.
    pub(super) fn size(self) -> u32 {
        self.place >> BYTES & 7
    }

    pub(super) fn is_strong(self) -> bool {
        self.place & STRONG != 0
    }

    pub(super) fn is_of_group(self) -> bool {
        self.place & OF_GROUP != 0
    }
}

/// Shadow state of a byte.
#[derive(Clone, Copy, Default)]
pub(super) struct ByteState {
    /// Last weak write. All earlier accesses happen before it.
    pub write: AccessRecord,
    /// A weak read since the last weak write.
    pub read: AccessRecord,
    /// Number of the byte's entry in `Shadow::lists`, from 1; 0 if it has none.
    lists: u32,
}

/// A strong access, and its position in observation order.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrongAccess {
    pub note: AccessRecord,
    /// The observed write, or the access itself if it writes; `None` for a read that observes no
    /// strong write.
    pub link: Option<ChainPosition>,
}

/// Position of a strong write in a chain: a write, followed by atomic operations that each read the
/// value of the previous operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ChainPosition {
    /// Number of the chain in the memory.
    pub chain: u32,
    /// Number of the write in the chain.
    pub number: u32,
}

/// Records of a byte that do not fit in its cell.
#[derive(Default)]
pub(super) struct Lists {
    /// Weak reads by items other than that of the cell.
    pub reads: Vec<AccessRecord>,
    pub strong_writes: Vec<StrongAccess>,
    pub strong_reads: Vec<StrongAccess>,
    /// Last write, if it is strong.
    pub last: Option<StrongAccess>,
    /// `true` if a strong access has group scope.
    pub are_of_group: bool,
    /// Set of the element sizes of strong accesses; bit n stands for 2^n bytes.
    pub sizes: u8,
    /// Releases that a read of the byte can acquire.
    pub releases: Vec<Arc<Release>>,
}

impl Lists {
    /// Removes all accesses, because they happen before an access that is kept.
    pub(super) fn forget(&mut self) {
        self.reads.clear();
        self.strong_writes.clear();
        self.strong_reads.clear();
        self.last = None;
        self.are_of_group = false;
        self.sizes = 0;
    }
}

/// Size of a page in bytes.
const PAGE: usize = 256;

/// Shadow memory of a buffer or of shared memory.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[ByteState; PAGE]>>>,
    lists: Vec<Lists>,
    chains: u32,
}

impl Shadow {
    /// Starts a chain of writes.
    pub(super) fn chain(&mut self) -> ChainPosition {
        self.chains = self.chains.wrapping_add(1);
        ChainPosition { chain: self.chains, number: 0 }
    }

    /// Returns the cell of a byte, and its lists if it has any.
    pub(super) fn byte(&mut self, at: usize) -> (&mut ByteState, Option<&mut Lists>) {
        let (number, within) = (at / PAGE, at % PAGE);
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        // The index is valid because the vector was resized above.
        let page = &mut self.pages[number];
        let cell = &mut page.get_or_insert_with(|| Box::new([ByteState::default(); PAGE]))[within];
        let lists = (cell.lists as usize).checked_sub(1).and_then(|number| self.lists.get_mut(number));
        (cell, lists)
    }

    /// Returns the lists of a byte, and creates them if necessary.
    pub(super) fn lists(&mut self, at: usize) -> &mut Lists {
        let next = self.lists.len() as u32 + 1;
        let (cell, _) = self.byte(at);
        let number = if cell.lists == 0 { next } else { cell.lists };
        cell.lists = number;
        if number == next {
            self.lists.push(Lists::default());
        }
        &mut self.lists[number as usize - 1]
    }

    /// Returns `true` if a byte has been written.
    pub(super) fn is_written(&self, at: usize) -> bool {
        let page = self.pages.get(at / PAGE).and_then(Option::as_ref);
        let Some(cell) = page.and_then(|page| page.get(at % PAGE)) else { return false };
        let lists = (cell.lists as usize).checked_sub(1).and_then(|number| self.lists.get(number));
        cell.write.is_any() || lists.is_some_and(|lists| !lists.strong_writes.is_empty())
    }
}

/// Maximum number of accesses of one item in a long list. The last access decides whether all of
/// them precede another access in base causality order. Earlier ones record earlier observations,
/// which matter only to items that have acquired from the item in between.
const KEPT: usize = 4;
/// Length up to which a list keeps all accesses.
const SHORT: usize = 64;

/// Adds a weak read to a list. Only the last read of each item is needed.
pub(super) fn keep(list: &mut Vec<AccessRecord>, note: AccessRecord) {
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

/// Adds a strong access to a list.
pub(super) fn keep_linked(list: &mut Vec<StrongAccess>, new: StrongAccess) {
    match list.last_mut() {
        Some(last) if last.replaces(&new) => *last = new,
        _ => {
            make_room(list, thin);
            list.push(new);
        }
    }
}

impl StrongAccess {
    /// Returns `true` if two accesses are equivalent for all other items, apart from their
    /// observations.
    fn is_alike(&self, other: &StrongAccess) -> bool {
        self.note.item == other.note.item && self.note.strength() == other.note.strength()
    }

    /// Returns `true` if the later of the two accesses makes the other redundant.
    fn replaces(&self, other: &StrongAccess) -> bool {
        let chain = |of: &StrongAccess| of.link.map(|link| link.chain);
        self.is_alike(other) && self.note.clock == other.note.clock && chain(self) == chain(other)
    }
}

/// Drops redundant entries of a full list. If more than half of the entries remain, the capacity
/// doubles, so that the amortised cost per access is constant.
fn make_room<T>(list: &mut Vec<T>, thin: impl FnOnce(&mut Vec<T>)) {
    if list.len() == list.capacity() && list.len() >= SHORT {
        thin(list);
        if list.len() > list.capacity() / 2 {
            list.reserve(list.capacity());
        }
    }
}

/// Drops surplus accesses of items with many accesses.
fn thin(list: &mut Vec<StrongAccess>) {
    // Sort by item, latest access first.
    list.sort_by_key(|of| std::cmp::Reverse((of.note.item, of.note.strength(), of.note.clock, of.link)));
    let mut later: Option<(StrongAccess, usize)> = None;
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

//! Shadow memory: for each byte, the accesses that a later access can race with.

use std::sync::Arc;

use super::order::Release;
use super::races::AccessInfo;
use super::{Scope, Strength};

/// Record of an access to a byte.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AccessRecord {
    /// Number of the item in the launch, from 1; 0 if there was no access.
    item: u32,
    clock: u32,
    /// Number of the instruction. The five highest bits encode the strength of a strong access, or
    /// whether a weak access writes.
    place: u32,
}

/// Flag of a strong access in `AccessRecord::place`.
const STRONG: u32 = 1 << 31;
/// Flag of a strong access with group scope in `AccessRecord::place`.
const OF_GROUP: u32 = 1 << 30;
/// Number of the lowest bit of `AccessRecord::place` that holds log2 of the element size in bytes of
/// a strong access.
const BYTES: u32 = 27;
/// Mask of the bits of `AccessRecord::place` that do not hold the number of the instruction.
const STRENGTH: u32 = !0 << BYTES;
/// Flag of a write by a weak access in `AccessRecord::place`.
const WEAK_WRITE: u32 = 1 << BYTES;

impl AccessRecord {
    pub(super) fn new(touch: AccessInfo, clock: u32) -> AccessRecord {
        let AccessInfo { item, inst, writes, strong, .. } = touch;
        let flags = match strong {
            Some(Strength { scope, bytes, .. }) => {
                let of_group = if scope == Scope::Group { OF_GROUP } else { 0 };
                STRONG | of_group | bytes.trailing_zeros().min(7) << BYTES
            }
            None if writes => WEAK_WRITE,
            None => 0,
        };
        AccessRecord { item: item.saturating_add(1), clock, place: inst & !STRENGTH | flags }
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

    /// Returns the bits that encode the strength: the flag for a strong access, the flag for group
    /// scope, and the element size.
    pub(super) fn strength(self) -> u32 {
        self.place & STRENGTH
    }

    /// Returns log2 of the element size in bytes of a strong access.
    pub(super) fn size(self) -> u32 {
        self.place >> BYTES & 7
    }

    pub(super) fn is_strong(self) -> bool {
        self.place & STRONG != 0
    }

    pub(super) fn is_of_group(self) -> bool {
        self.place & OF_GROUP != 0
    }

    pub(super) fn is_weak_write(self) -> bool {
        self.place & STRENGTH == WEAK_WRITE
    }
}

/// The accesses that shadow memory records for a byte.
///
/// The *last writes* are the latest weak write, and the weak writes of the same value by the same
/// instruction that are not ordered with the latest one. Every other access is either before all
/// last writes or after all of them. A new access that is not ordered with an access before the
/// last writes is not ordered with a last write either. The accesses before the last writes
/// therefore matter only if the new access is a further last write.
#[derive(Clone, Copy, Default)]
pub(super) struct ByteState {
    /// The latest weak write of the byte.
    pub write: AccessRecord,
    /// A weak access other than the last writes.
    pub read: AccessRecord,
    /// Number of the byte's entry in `Shadow::lists`, from 1; 0 if the byte has no entry.
    lists: u32,
    /// `true` if all recorded accesses other than the last writes are before the last writes. These
    /// accesses are the reads since the previous last writes or, without such reads, the previous
    /// last writes themselves.
    pub are_before: bool,
}

/// A strong access, with the write that it observes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrongAccess {
    pub note: AccessRecord,
    /// Position of the observed write in its chain. A write observes itself. `None` for a read that
    /// observes no strong write.
    pub link: Option<ChainPosition>,
}

/// Position of a strong write in a chain of writes. A chain is a write, followed by atomic
/// operations that each read the value of the previous operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ChainPosition {
    /// Number of the chain. Each memory numbers its chains.
    pub chain: u32,
    /// Number of the write in the chain.
    pub number: u32,
}

/// Accesses to a byte that do not fit in its [`ByteState`].
#[derive(Default)]
pub(super) struct Lists {
    /// The last writes other than [`ByteState::write`].
    pub writes: Vec<AccessRecord>,
    /// Weak accesses like [`ByteState::read`], by other items.
    pub reads: Vec<AccessRecord>,
    pub strong_writes: Vec<StrongAccess>,
    pub strong_reads: Vec<StrongAccess>,
    /// Last write to the byte, if it is a strong write.
    pub last: Option<StrongAccess>,
    /// `true` if any strong access to the byte has group scope.
    pub are_of_group: bool,
    /// Element sizes of the strong accesses to the byte, as a bit set: bit n is set for 2^n bytes.
    pub sizes: u8,
    /// Releases that a read of the byte can acquire.
    pub releases: Vec<Arc<Release>>,
}

impl Lists {
    /// Returns `true` if there is no access other than last writes.
    pub(super) fn has_only_last_writes(&self) -> bool {
        self.reads.is_empty() && self.strong_writes.is_empty() && self.strong_reads.is_empty()
    }

    /// Removes all accesses except the last writes.
    pub(super) fn forget(&mut self) {
        self.reads.clear();
        self.strong_writes.clear();
        self.strong_reads.clear();
        self.last = None;
        self.are_of_group = false;
        self.sizes = 0;
    }
}

/// Number of bytes whose states are allocated together.
const PAGE: usize = 256;

/// Shadow memory of a buffer or of shared memory.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[ByteState; PAGE]>>>,
    lists: Vec<Lists>,
    chains: u32,
}

impl Shadow {
    /// Starts a new chain of writes, and returns its first position.
    pub(super) fn chain(&mut self) -> ChainPosition {
        self.chains = self.chains.wrapping_add(1);
        ChainPosition { chain: self.chains, number: 0 }
    }

    /// Returns the state of a byte, and its lists if it has any.
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

/// Maximum number of accesses of one item in a list longer than [`UNFILTERED_LENGTH`]. The last
/// access of an item decides whether all its accesses precede another access in base causality
/// order. An earlier access matters only to items that acquire a release made between the earlier
/// access and the last access.
const MAX_ACCESSES_PER_ITEM: usize = 4;
/// Number of entries up to which a list holds all accesses of an item.
const UNFILTERED_LENGTH: usize = 64;

/// Adds a weak access to a list. A list needs only the last access of each item.
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
    /// Returns `true` if two accesses by the same item have equal strength. Such accesses can still observe different
    /// writes.
    fn is_alike(&self, other: &StrongAccess) -> bool {
        self.note.item == other.note.item && self.note.strength() == other.note.strength()
    }

    /// Returns `true` if the later of the two accesses makes the earlier access redundant.
    fn replaces(&self, other: &StrongAccess) -> bool {
        let chain = |of: &StrongAccess| of.link.map(|link| link.chain);
        self.is_alike(other) && self.note.clock == other.note.clock && chain(self) == chain(other)
    }
}

/// Drops redundant entries of a full list. If more than half of the entries remain, the capacity
/// doubles, so that an insertion takes amortised constant time.
fn make_room<T>(list: &mut Vec<T>, thin: impl FnOnce(&mut Vec<T>)) {
    if list.len() == list.capacity() && list.len() >= UNFILTERED_LENGTH {
        thin(list);
        if list.len() > list.capacity() / 2 {
            list.reserve(list.capacity());
        }
    }
}

/// Drops all but the last few accesses of each item.
fn thin(list: &mut Vec<StrongAccess>) {
    // Sort by item, latest access first.
    list.sort_by_key(|of| std::cmp::Reverse((of.note.item, of.note.strength(), of.note.clock, of.link)));
    let mut later: Option<(StrongAccess, usize)> = None;
    list.retain(|of| {
        let kept = match &later {
            Some((last, kept)) if last.is_alike(of) => *kept,
            _ => 0,
        };
        let keeps = kept < MAX_ACCESSES_PER_ITEM && !later.is_some_and(|(last, _)| last.replaces(of));
        if keeps {
            later = Some((*of, kept + 1));
        }
        keeps
    });
}

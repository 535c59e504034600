//! Detection of data races.
//!
//! Two accesses to a byte race under four conditions: they are by different items, at least one
//! writes, neither happens before the other, and they are not both strong with scopes that include
//! each other. Barriers and release-acquire pairs establish the happens-before order.
//!
//! A strong access can observe a strong write. The write then happens before every access that
//! follows the observing access. Earlier accesses by the writing item are not ordered in this way.
//!
//! A *same-value race* is a race of two weak writes of the same value by the same instruction. Such
//! a race does not change the result, and is an error only under [`RaceCheck::Strict`].

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::copies::{AsyncCopy, Copies};
use super::divergence::{Branch, Path};
use super::order::{ItemClock, Release, VectorClock};
use super::shadow::{AccessRecord, ByteState, ChainPosition, Lists, Shadow, StrongAccess, keep, keep_linked};
use super::{BARRIERS, MemOrder, SUBGROUP, Scope, Strength};

/// Detection of data races in a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RaceCheck {
    /// No race is detected.
    #[default]
    Off,
    /// A same-value race is a warning, and every other race is an error. A same-value race is a race
    /// of two weak stores of the same value by the same instruction.
    On,
    /// Every race is an error.
    Strict,
}

impl RaceCheck {
    /// Returns `true` if races are detected.
    pub const fn is_on(self) -> bool {
        !matches!(self, RaceCheck::Off)
    }
}

/// Memory that several items can access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedLocation {
    /// Shared memory of the running group.
    Shared,
    /// The buffer with this number.
    Buffer(u32),
    /// Memory of the process. An offset is an address of the process. An access is aligned to its size.
    Process,
}

/// Properties of a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessInfo {
    /// Number of the item in the launch.
    pub item: u32,
    /// Number of the instruction, which is less than 2^27.
    pub inst: u32,
    /// `true` for a write or a read-modify-write.
    pub writes: bool,
    /// `true` for a read or a read-modify-write.
    pub reads: bool,
    /// Strength of a strong access, which is an atomic, volatile, relaxed or ordered access; `None` for a weak access.
    pub strong: Option<Strength>,
    /// `true` for a weak write that leaves the memory as it is.
    pub keeps_value: bool,
}

/// One of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RacingAccess {
    /// Number of the item in the launch.
    pub item: u32,
    /// Number of the instruction.
    pub inst: u32,
    /// `true` for a write.
    pub writes: bool,
}

/// Two conflicting accesses to a byte that are not ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// Memory that contains the byte.
    pub place: SharedLocation,
    /// Offset of the byte in the memory.
    pub offset: u64,
    /// The access that was executed first.
    pub first: RacingAccess,
    /// The access that was executed second.
    pub second: RacingAccess,
    /// `true` if the first access belongs to a pending asynchronous copy.
    pub is_async_copy: bool,
    /// `true` for a same-value race: both accesses are weak writes of the same value by the same instruction.
    pub is_same_value: bool,
}

/// Size in bytes of a region of the process that has one shadow memory.
const REGION_BYTES: u64 = 1 << 20;

/// Detector of data races between the work items of a launch that runs one group at a time.
pub struct RaceDetector {
    /// Number of items in a group.
    size: u32,
    running: GroupState,
    /// Suspended groups of a cooperative launch, by group number.
    suspended: BTreeMap<u32, GroupState>,
    buffers: Vec<Shadow>,
    /// Shadow memory of the accessed regions of the process, by the address of the region divided by its size.
    process: BTreeMap<u64, Shadow>,
    check: RaceCheck,
    found: Option<Race>,
    /// The first same-value race of each instruction. Empty under [`RaceCheck::Strict`].
    same_value: BTreeMap<u32, Race>,
}

/// The state of a group and of its items.
struct GroupState {
    number: u32,
    /// Clock of each item of the group.
    clocks: Vec<ItemClock>,
    /// For each barrier, the join of the vector clocks of all arrived items.
    arrived: [Option<VectorClock>; BARRIERS as usize],
    shared: Shadow,
    copies: Copies,
    /// Branches taken by each item of the group.
    paths: Vec<Path>,
}

impl GroupState {
    /// Creates the state of a group at its start.
    fn new(number: u32, size: u32) -> GroupState {
        GroupState {
            number,
            clocks: vec![ItemClock::start(&VectorClock::nothing(number, size)); size as usize],
            arrived: Default::default(),
            shared: Shadow::default(),
            copies: Copies::default(),
            paths: vec![Path::default(); size as usize],
        }
    }
}

impl RaceDetector {
    /// Creates a race detector for a launch in groups of `size` items.
    pub fn new(size: u32, check: RaceCheck) -> RaceDetector {
        let size = size.max(1);
        RaceDetector {
            size,
            running: GroupState::new(0, size),
            suspended: BTreeMap::new(),
            buffers: Vec::new(),
            process: BTreeMap::new(),
            check,
            found: None,
            same_value: BTreeMap::new(),
        }
    }

    /// Starts a group after the end of the running group. All groups have separate shared memory.
    pub fn begin(&mut self, group: u32) {
        self.running = GroupState::new(group, self.size);
    }

    /// Suspends the running group, and continues another group. The other group starts if it has not run before.
    pub fn switch_to(&mut self, group: u32) {
        if group == self.running.number {
            return;
        }
        let next = self.suspended.remove(&group).unwrap_or_else(|| GroupState::new(group, self.size));
        let last = std::mem::replace(&mut self.running, next);
        self.suspended.insert(last.number, last);
    }

    /// Returns the first race that is an error.
    pub fn found(&self) -> Option<&Race> {
        self.found.as_ref()
    }

    /// Returns the first same-value race of each instruction. A same-value race is not an error.
    pub fn same_value(&self) -> impl Iterator<Item = &Race> {
        self.same_value.values()
    }

    /// Returns `true` if the running group has written all bytes of a range of shared memory.
    pub fn are_written(&self, offset: u64, bytes: usize) -> bool {
        (offset as usize..).take(bytes).all(|at| self.running.shared.is_written(at))
    }

    fn local(&self, item: u32) -> u32 {
        item.wrapping_sub(self.running.number.wrapping_mul(self.size))
    }

    /// Records a memory access of an item, and reports a race with an earlier access.
    pub fn access(&mut self, place: SharedLocation, offset: u64, bytes: usize, touch: AccessInfo) {
        if let (None, Some((copy, offset, writes))) =
            (&self.found, self.running.copies.find_conflict(place, offset, bytes, touch.writes))
        {
            let first = RacingAccess { item: copy.item, inst: copy.inst, writes };
            let second = RacingAccess { item: touch.item, inst: touch.inst, writes: touch.writes };
            self.found = Some(Race { place, offset, first, second, is_async_copy: true, is_same_value: false });
        }
        self.order(place, offset, bytes, touch);
    }

    /// Records that an item starts an asynchronous copy.
    pub fn copy(&mut self, copy: AsyncCopy) {
        let (read, written) = accesses(copy);
        for ((place, offset, bytes), touch) in [read, written] {
            self.access(place, offset, bytes, touch);
        }
        self.running.copies.begin(self.local(copy.item), copy);
    }

    /// Forms a copy group of the asynchronous copies that an item has started since its last commit.
    pub fn commit_copies(&mut self, item: u32) {
        self.running.copies.close(self.local(item));
    }

    /// Records that an item has waited for its asynchronous copies, which happen before its later
    /// accesses. If `but` is `None`, the item waits for all its copies. Otherwise it does not wait
    /// for its newest `but` committed groups and its uncommitted copies.
    pub fn await_copies(&mut self, item: u32, but: Option<u32>) {
        for copy in self.running.copies.wait(self.local(item), item, but) {
            let (read, written) = accesses(copy);
            for ((place, offset, bytes), touch) in [read, written] {
                self.order(place, offset, bytes, touch);
            }
        }
    }

    /// Finds an earlier access that races with this access, and then records this access.
    fn order(&mut self, place: SharedLocation, offset: u64, bytes: usize, touch: AccessInfo) {
        let local = self.local(touch.item);
        let (size, group) = (self.size, self.running.number);
        let (shadow, start) = match place {
            SharedLocation::Shared => (&mut self.running.shared, 0),
            SharedLocation::Buffer(number) => {
                let number = number as usize;
                if self.buffers.len() <= number {
                    self.buffers.resize_with(number + 1, Shadow::default);
                }
                (&mut self.buffers[number], 0)
            }
            SharedLocation::Process => {
                let region = offset / REGION_BYTES;
                (self.process.entry(region).or_default(), region * REGION_BYTES)
            }
        };
        let Some(clock) = self.running.clocks.get_mut(local as usize) else { return };
        let first = (offset - start) as usize;
        let bytes = first..first + bytes;
        // Acquire first: the releases that an access acquires happen before the access itself.
        if let (true, Some(strength)) = (touch.reads, touch.strong) {
            for at in bytes.clone() {
                if let (_, Some(lists)) = shadow.byte(at) {
                    clock.acquire(group, &lists.releases, strength);
                }
            }
        }
        let note = AccessRecord::new(touch, clock.now);
        let is_before = |note: &AccessRecord| {
            note.item() == touch.item || clock.known.includes(note.item() / size, note.item() % size, note.clock())
        };
        let element = touch.strong.map_or(bytes.len(), |strength| strength.bytes as usize).max(1);
        for element in bytes.clone().step_by(element).map(|start| start..bytes.end.min(start + element)) {
            let link = if touch.strong.is_some() { link_of(shadow, element.clone(), note, touch, size) } else { None };
            let new = StrongAccess { note, link };
            for at in element {
                let found = find_racing_access(shadow, at, note, touch, size, &is_before);
                let is_same_value = found.is_some_and(|found| found.is_same_value);
                if let Some(RacingRecord { note: first, writes, is_same_value }) = found {
                    let side =
                        |note: AccessRecord, writes| RacingAccess { item: note.item(), inst: note.place(), writes };
                    let (first, second) = (side(first, writes), side(note, touch.writes));
                    let offset = start + at as u64;
                    let race = Race { place, offset, first, second, is_async_copy: false, is_same_value };
                    if is_same_value && self.check != RaceCheck::Strict {
                        self.same_value.entry(touch.inst).or_insert(race);
                    } else {
                        self.found.get_or_insert(race);
                    }
                }
                insert(shadow, at, new, touch, is_same_value, &is_before);
            }
        }
        if !touch.writes {
            return;
        }
        let released = touch.strong.and_then(|strength| clock.release(group, local, strength));
        for at in bytes {
            let joins = touch.reads && touch.strong.is_some();
            match &released {
                Some(released) => {
                    let releases = &mut shadow.lists(at).releases;
                    if !joins {
                        releases.clear();
                    }
                    release_with(releases, released);
                }
                // A relaxed atomic operation preserves the byte's earlier releases; a relaxed store discards them.
                None if joins => {}
                None => {
                    if let (_, Some(lists)) = shadow.byte(at) {
                        lists.releases.clear();
                    }
                }
            }
        }
    }

    /// Records an acquire-release fence of an item.
    pub fn fence(&mut self, item: u32, scope: Scope) {
        self.fence_of(item, MemOrder::AcqRel, scope);
    }

    /// Records a fence of an item with the given memory order.
    pub fn fence_of(&mut self, item: u32, ordering: MemOrder, scope: Scope) {
        let (group, local) = (self.running.number, self.local(item));
        if let Some(clock) = self.running.clocks.get_mut(local as usize) {
            clock.fence(group, local, ordering, scope);
        }
    }

    /// Records a branch that an item executes. A guarded barrier or call counts as a branch.
    pub fn branch(&mut self, item: u32, branch: Branch) {
        if let Some(path) = self.path(item) {
            path.branch(branch);
        }
    }

    /// Records that an item reaches an instruction or block at a call depth.
    pub fn reach(&mut self, item: u32, at: u32, depth: u32) {
        if let Some(path) = self.path(item) {
            path.reach(at, depth);
        }
    }

    /// Records that an item returns to a caller at call depth `depth`. `ends` is `true` if the
    /// caller does nothing but return after the call.
    pub fn ret(&mut self, item: u32, depth: u32, ends: bool) {
        if let Some(path) = self.path(item) {
            path.ret(depth, ends);
        }
    }

    fn path(&mut self, item: u32) -> Option<&mut Path> {
        let local = self.local(item);
        self.running.paths.get_mut(local as usize)
    }

    /// Finds a waiting item of a subgroup that another lane has passed. Returns the first such item, the lane, and the
    /// branch at which they diverged. All item numbers are within the group; `first` is the first item of the subgroup.
    pub(super) fn passed(&self, waiting: &[u32], first: u32) -> Option<(u32, u32, u32)> {
        let paths = self.running.paths.get(first as usize..)?;
        let lanes: Vec<&Path> = paths.iter().take(SUBGROUP as usize).collect();
        if lanes.iter().all(|path| Some(path) == lanes.first()) {
            return None;
        }
        waiting.iter().find_map(|&item| {
            let path = self.running.paths.get(item as usize)?;
            let passes = |(lane, other): (u32, &&Path)| path.passed_by(other).map(|branch| (item, lane, branch));
            (first..).zip(&lanes).find_map(passes)
        })
    }

    /// Records that an item arrives at a barrier. `local` is the item's number in the group.
    pub(super) fn arrive(&mut self, id: u32, local: u32) {
        let group = self.running.number;
        let (Some(clock), Some(arrived)) =
            (self.running.clocks.get_mut(local as usize), self.running.arrived.get_mut(id as usize))
        else {
            return;
        };
        let arrived = arrived.get_or_insert_with(VectorClock::default);
        arrived.join(&clock.known);
        arrived.learn(group, local, clock.now);
        clock.now += 1;
    }

    /// Records that an item leaves a completed barrier.
    pub(super) fn leave(&mut self, id: u32, local: u32) {
        if let (Some(clock), Some(Some(arrived))) =
            (self.running.clocks.get_mut(local as usize), self.running.arrived.get(id as usize))
        {
            clock.known = arrived.clone();
        }
    }

    /// Resets a barrier after its completion.
    pub(super) fn complete(&mut self, id: u32) {
        if let Some(arrived) = self.running.arrived.get_mut(id as usize) {
            *arrived = None;
        }
    }

    /// Records that the lanes in the mask `lanes` of a subgroup synchronise. `first` is the number
    /// in the group of the subgroup's first item.
    pub(super) fn synchronise_lanes(&mut self, lanes: u32, first: u32) {
        let group = self.running.number;
        let mut all = VectorClock::default();
        let locals = (0..32).filter(|lane| lanes >> lane & 1 != 0).map(|lane| first + lane);
        for local in locals.clone() {
            let Some(clock) = self.running.clocks.get_mut(local as usize) else { continue };
            all.join(&clock.known);
            all.learn(group, local, clock.now);
            clock.now += 1;
        }
        for local in locals {
            if let Some(clock) = self.running.clocks.get_mut(local as usize) {
                clock.known = all.clone();
            }
        }
    }
}

/// A byte range of a memory, and the access to it.
type Access = ((SharedLocation, u64, usize), AccessInfo);

/// Returns the two memory accesses of an asynchronous copy: its read and its write.
fn accesses(copy: AsyncCopy) -> (Access, Access) {
    let AsyncCopy { item, inst, from, to } = copy;
    let touch = |writes| AccessInfo { item, inst, writes, reads: !writes, strong: None, keeps_value: false };
    ((from, touch(false)), (to, touch(true)))
}

/// Adds a release to a list. If an entry has the same group, scope and size, merges the two
/// releases: an access that acquires one of them acquires the other, too.
fn release_with(releases: &mut Vec<Arc<Release>>, released: &Arc<Release>) {
    let key = |of: &Release| (of.group, of.scope, of.bytes);
    match releases.iter_mut().rfind(|of| key(of) == key(released)) {
        Some(of) => Arc::make_mut(of).known.join(&released.known),
        None => releases.push(released.clone()),
    }
}

/// Returns `true` if two strong accesses to a byte do not race: the scope of each includes the item
/// of the other, and their elements overlap completely. Elements of equal size overlap completely
/// because elements are aligned to their size.
fn are_morally_strong(a: AccessRecord, b: AccessRecord, size: u32) -> bool {
    let is_in_scope = a.item() / size == b.item() / size || !a.is_of_group() && !b.is_of_group();
    a.is_strong() && b.is_strong() && a.size() == b.size() && is_in_scope
}

/// Returns the write that a strong access to an element observes or makes, as a position in a chain of writes.
fn link_of(
    shadow: &mut Shadow,
    element: Range<usize>,
    note: AccessRecord,
    touch: AccessInfo,
    size: u32,
) -> Option<ChainPosition> {
    let mut last = None;
    for at in element.clone().filter(|_| touch.reads) {
        let of_byte = shadow.byte(at).1.and_then(|lists| lists.last);
        let of_byte = of_byte.filter(|write| are_morally_strong(write.note, note, size)).and_then(|write| write.link);
        // If the bytes of an element come from several writes, its value is not the value of any single write.
        if at != element.start && of_byte != last {
            last = None;
            break;
        }
        last = of_byte;
    }
    match (touch.writes, last) {
        (false, observed) => observed,
        (true, Some(ChainPosition { chain, number })) => {
            Some(ChainPosition { chain, number: number.saturating_add(1) })
        }
        (true, None) => Some(shadow.chain()),
    }
}

/// An earlier access that races with the current access.
#[derive(Clone, Copy)]
struct RacingRecord {
    note: AccessRecord,
    writes: bool,
    is_same_value: bool,
}

/// Returns `true` if no recorded access to a byte follows the byte's last writes.
fn has_only_last_writes(cell: &ByteState, lists: Option<&Lists>) -> bool {
    cell.are_before || !cell.read.is_any() && lists.is_none_or(Lists::has_only_last_writes)
}

/// Returns `true` if an access to a byte repeats the byte's last writes: a weak write of the same
/// value by the same instruction, with no other recorded access in between.
fn is_like_last_writes(cell: &ByteState, lists: Option<&Lists>, note: AccessRecord, touch: AccessInfo) -> bool {
    let is_same = touch.keeps_value && cell.write.place() == note.place();
    is_same && note.is_weak_write() && cell.write.is_weak_write() && has_only_last_writes(cell, lists)
}

/// Returns an earlier access to a byte that races with the current access, if any. Prefers a race
/// that is an error to a same-value race.
fn find_racing_access(
    shadow: &mut Shadow,
    at: usize,
    note: AccessRecord,
    touch: AccessInfo,
    size: u32,
    is_before: &impl Fn(&AccessRecord) -> bool,
) -> Option<RacingRecord> {
    let races =
        |earlier: &AccessRecord| earlier.is_any() && !are_morally_strong(*earlier, note, size) && !is_before(earlier);
    let racing = |note: AccessRecord, writes| Some(RacingRecord { note, writes, is_same_value: false });
    let (cell, lists) = shadow.byte(at);
    let lists: Option<&Lists> = lists.map(|lists| &*lists);
    let more = || lists.and_then(|lists| lists.writes.iter().find(|write| races(write)).copied());
    let last = if races(&cell.write) { Some(cell.write) } else { more() };
    let same_value = match last {
        Some(last) if is_like_last_writes(cell, lists, note, touch) => {
            Some(RacingRecord { note: last, writes: true, is_same_value: true })
        }
        Some(last) => return racing(last, true),
        // The current access is after the last writes, and therefore after all accesses before them.
        None if cell.are_before => return None,
        None => None,
    };
    if touch.writes && races(&cell.read) {
        return racing(cell.read, cell.read.is_weak_write());
    }
    let Some(lists) = lists else { return same_value };
    let Lists { reads, strong_writes, strong_reads, are_of_group, sizes, .. } = lists;
    // Strong accesses of equal size do not race with each other if their scope is at least the device.
    let is_like_all = note.is_strong() && !note.is_of_group() && !are_of_group && sizes & !(1 << note.size()) == 0;
    if !is_like_all {
        let observed = OnceCell::new();
        let is_observed = |write: &StrongAccess| {
            let observed: &Vec<ChainPosition> = observed.get_or_init(|| observed_before(lists, is_before));
            write.link.is_some_and(|link| {
                let next = observed.partition_point(|of| *of < link);
                observed.get(next).is_some_and(|of| of.chain == link.chain)
            })
        };
        let found = strong_writes.iter().find(|write| races(&write.note) && !is_observed(write));
        if let Some(write) = found {
            return racing(write.note, true);
        }
    }
    if !touch.writes {
        return same_value;
    }
    let weak = reads.iter().find(|earlier| races(earlier)).copied();
    let strong = || strong_reads.iter().map(|read| read.note).find(|earlier| races(earlier));
    match weak.or_else(|| if is_like_all { None } else { strong() }) {
        Some(read) => racing(read, read.is_weak_write()),
        None => same_value,
    }
}

/// Returns, for each chain of writes, the newest write that is observed by an access that happens
/// before the current access. A write observes itself and the earlier writes of its chain.
fn observed_before(lists: &Lists, is_before: &impl Fn(&AccessRecord) -> bool) -> Vec<ChainPosition> {
    let all = lists.strong_writes.iter().chain(&lists.strong_reads);
    let mut observed: Vec<ChainPosition> = all.filter(|of| is_before(&of.note)).filter_map(|of| of.link).collect();
    observed.sort_unstable_by(|a, b| b.cmp(a));
    observed.dedup_by_key(|link| link.chain);
    observed.reverse();
    observed
}

/// Records an access to a byte, and drops the records that no later access needs. `is_same_value` is
/// `true` if the access has a same-value race with a last write, and no other race.
fn insert(
    shadow: &mut Shadow,
    at: usize,
    new: StrongAccess,
    touch: AccessInfo,
    is_same_value: bool,
    is_before: &impl Fn(&AccessRecord) -> bool,
) {
    let note = new.note;
    let (cell, mut lists) = shadow.byte(at);
    if note.is_weak_write() {
        if is_same_value {
            cell.are_before = true;
            let last = std::mem::replace(&mut cell.write, note);
            keep(&mut shadow.lists(at).writes, last);
            return;
        }
        let has = lists.as_deref();
        // The previous last writes are still needed, as the latest accesses before the new last
        // write.
        if has_only_last_writes(cell, has) && !is_like_last_writes(cell, has, note, touch) {
            cell.read = cell.write;
            if let Some(lists) = &mut lists {
                lists.forget();
                std::mem::swap(&mut lists.reads, &mut lists.writes);
            }
        }
        cell.are_before = true;
        cell.write = note;
        if let Some(lists) = lists {
            lists.writes.clear();
            lists.last = None;
        }
        return;
    }
    if std::mem::take(&mut cell.are_before) {
        cell.read = AccessRecord::default();
        if let Some(lists) = lists {
            lists.forget();
        }
    }
    if note.is_strong() {
        let lists = shadow.lists(at);
        lists.are_of_group |= note.is_of_group();
        lists.sizes |= 1 << note.size();
        if touch.writes {
            lists.last = Some(new);
        }
        keep_linked(if touch.writes { &mut lists.strong_writes } else { &mut lists.strong_reads }, new);
    } else if !cell.read.is_any() || is_before(&cell.read) {
        cell.read = note;
    } else {
        keep(&mut shadow.lists(at).reads, note);
    }
}

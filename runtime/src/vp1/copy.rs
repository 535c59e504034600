//! Copies between the buffers of a launch and the data store of a tile.

use std::ops::Range;

use halfbyte_isa::stream::{Stream, StreamContents};
use smallvec::SmallVec;

use super::moves::BulkCopy;
use super::tiles::{ItemAccess, Tile, Tiling};
use halfbyte_isa::buffers::Buffers;
use halfbyte_isa::trap::{Access, Fault, Space, TrapKind};

/// The bits of an address register `$a` that hold the address.
const ADDRESS: u32 = 0xffff;

/// Copier between buffers and the data store of one tile. The streams of the plan are sorted by data store address.
pub(super) struct Copier<'a> {
    pub plan: &'a Tiling,
    pub tile: Tile,
    pub store: &'a mut [u8],
}

/// The point at which a program stopped before it had run for all items of a tile.
pub(super) struct Stop {
    /// First item of the group in which the program stopped.
    pub item: u32,
    /// The address registers `$a`. Each holds the data store address of the next element of a stream.
    pub cursors: [u32; 32],
}

/// One access of the program, executed by consecutive items. The accessed elements are contiguous in the stream.
#[derive(Clone, Copy)]
struct AccessRow<'a> {
    stream: &'a Stream,
    /// Address of the stream's buffer.
    base: u64,
    /// Distance in bytes between the accesses of consecutive items, modulo 2^32.
    scale: u32,
    /// The part of the byte offset in the buffer that is the same for all items, modulo 2^32.
    index: u32,
    /// Index, in the stream, of the first item's element.
    element: u64,
    /// Number, in the launch, of the first item.
    first: u32,
    /// Number of items, all of which are within the launch. Always 1 for a uniform stream.
    count: u32,
}

impl AccessRow<'_> {
    fn bytes(&self) -> usize {
        self.stream.bytes as usize
    }

    /// Returns the buffer address that an item accesses.
    fn address(&self, item: u32) -> u64 {
        self.at(item.wrapping_mul(self.scale).wrapping_add(self.index))
    }

    /// Returns the buffer address for a byte offset. `offset` excludes the constant offset of the
    /// stream.
    fn at(&self, offset: u32) -> u64 {
        self.base.wrapping_add(offset.into()).wrapping_add_signed(self.stream.offset.into())
    }

    /// Returns the buffer address of each item's access, in the order of the items.
    fn addresses(&self) -> impl Iterator<Item = u64> {
        (self.first..).take(self.count as usize).map(|item| self.address(item))
    }

    /// Returns the distance in bytes between the accesses of consecutive items. Returns `None` if
    /// the distance is not constant.
    fn stride(&self) -> Option<u32> {
        if self.stream.holds != StreamContents::Elements {
            return None;
        }
        let first = self.first.wrapping_mul(self.scale).wrapping_add(self.index);
        let last = u64::from(first) + u64::from(self.scale) * u64::from(self.count.saturating_sub(1));
        u32::try_from(last).is_ok().then_some(self.scale)
    }

    /// Returns the buffer address and the byte count of all accesses together, if the accesses are contiguous.
    fn byte_range(&self) -> Option<(u64, usize)> {
        (self.stride() == Some(self.stream.bytes))
            .then(|| (self.address(self.first), self.bytes() * self.count as usize))
    }

    fn access(&self) -> Access {
        if self.stream.site.written { Access::Store } else { Access::Load }
    }

    fn is_aligned(&self, address: u64) -> bool {
        address.is_multiple_of(self.stream.align.into())
    }

    /// Returns `true` if an access at the address is valid.
    fn may_access(&self, buffers: &Buffers<'_>, address: u64) -> bool {
        self.is_aligned(address) && buffers.permits(self.access(), address, self.bytes())
    }

    /// Returns the trap of an invalid access.
    fn refusal(&self, buffers: &Buffers<'_>, address: u64) -> TrapKind {
        let (access, bytes) = (self.access(), self.stream.bytes);
        if self.is_aligned(address) {
            buffers.trap_of_access(access, address, self.bytes())
        } else {
            TrapKind::Misaligned { access, space: Space::Global, address, bytes }
        }
    }

    /// Returns `true` if all accesses are valid. If the first and the last access are valid, so are
    /// all others, because they lie between these two in the same buffer.
    fn is_valid(&self, buffers: &Buffers<'_>) -> bool {
        let Some(stride) = self.stride() else { return false };
        let last = self.address(self.first.wrapping_add(self.count.saturating_sub(1)));
        stride.is_multiple_of(self.stream.align)
            && self.may_access(buffers, self.address(self.first))
            && self.may_access(buffers, last)
    }
}

/// Returns one copy for each stream of a launch, in the order of the data store. Returns `None`
/// unless all accesses are contiguous and known to be valid before the launch.
pub(super) fn bulk_copies(plan: &Tiling, buffers: &Buffers<'_>) -> Option<SmallVec<[BulkCopy; 8]>> {
    let is_alone = |visit: &ItemAccess| {
        let stream = plan.streams().get(visit.stream)?;
        let share = plan.shares.get(visit.stream).filter(|share| share.streams == 1)?;
        let is_plain = stream.holds == StreamContents::Elements && !stream.uniform && stream.guard.is_none();
        if !is_plain || plan.rounds.get(visit.stream) != Some(&1) {
            return None;
        }
        let (&base, &scale) = (plan.bases.get(visit.stream)?, plan.scales.get(visit.stream)?);
        let run = AccessRow { stream, base, scale, index: visit.index, element: 0, first: 0, count: plan.items };
        let (start, _) = run.byte_range().filter(|_| run.is_valid(buffers))?;
        BulkCopy::new(stream.site.written, share.region, start, stream.bytes)
    };
    let moves: Option<SmallVec<[BulkCopy; 8]>> = plan.visits.iter().map(is_alone).collect();
    // Streams that hold a whole buffer or guards have no bulk copy.
    moves.filter(|moves| moves.len() == plan.streams().len() && moves.is_sorted_by_key(|of| of.region))
}

impl<'a> Copier<'a> {
    /// Fills the data store: the program's image at its start, then the input streams, and zeros elsewhere. An element
    /// whose access is invalid becomes zero. Returns the number of bytes copied from buffers.
    pub(super) fn fill(&mut self, image: &[u8], buffers: &Buffers<'_>) -> u64 {
        if let Some(moves) = self.plan.moves(self.tile) {
            return moves.fill(self.store, image, self.tile, buffers);
        }
        self.fill_by_rows(image, buffers)
    }

    /// Fills the data store access by access, for launches without bulk copies. Returns the number
    /// of bytes copied from buffers.
    #[inline(never)]
    fn fill_by_rows(&mut self, image: &[u8], buffers: &Buffers<'_>) -> u64 {
        let (mut copied, mut filled) = (0, 0);
        let image = image.get(..self.store.len()).unwrap_or(image);
        if let Some(place) = self.open(&mut filled, 0, image.len()) {
            place.copy_from_slice(image);
        }
        let plan = self.plan;
        let places = &plan.places(self.tile).regions;
        for ((stream, share), &base) in plan.streams().iter().zip(&plan.shares).zip(&plan.bases) {
            if let Some(place) = places.get(share.region as usize)
                && stream.holds == StreamContents::Buffer
                && let Some(held) = buffers.get(base, place.len())
                && let Some(place) = self.open(&mut filled, place.start as usize, held.len())
            {
                place.copy_from_slice(held);
                copied += held.len() as u64;
            }
        }
        for visit in &plan.visits {
            let is_read =
                |row: &AccessRow<'_>| !row.stream.site.written && row.stream.holds == StreamContents::Elements;
            for row in self.rows(visit).filter(is_read) {
                let bytes = row.bytes();
                let Some(start) = self.start(visit.stream, row.element) else { continue };
                if let Some((address, count)) = row.byte_range()
                    && let Some(held) = buffers.get(address, count)
                    && let Some(place) = self.open(&mut filled, start, count)
                {
                    place.copy_from_slice(held);
                    copied += count as u64;
                    continue;
                }
                for (start, address) in (start..).step_by(bytes.max(1)).zip(row.addresses()) {
                    if let Some(held) = buffers.get(address, bytes)
                        && let Some(place) = self.open(&mut filled, start, bytes)
                    {
                        place.copy_from_slice(held);
                        copied += bytes as u64;
                    }
                }
            }
        }
        let end = self.store.len();
        self.open(&mut filled, end, 0);
        copied
    }

    /// Returns a range of the data store for writing. Fills the bytes between the end of the filled
    /// part and this range with zeros. Returns `None` if the range exceeds the data store.
    fn open(&mut self, filled: &mut usize, start: usize, count: usize) -> Option<&mut [u8]> {
        let end = start.checked_add(count).filter(|&end| end <= self.store.len())?;
        if let Some(before) = self.store.get_mut(*filled..start) {
            before.fill(0);
        }
        *filled = end.max(*filled);
        self.store.get_mut(start..end)
    }

    /// Returns the first invalid access of the lowest item that makes one, if any. Only accesses
    /// that the program executed before `stop` count.
    pub(super) fn first_fault(&self, buffers: &Buffers<'_>, stop: Option<&Stop>) -> Option<(u32, Fault)> {
        let mut found: Option<(u32, Fault)> = None;
        let plan = self.plan;
        if plan.is_always_valid() {
            return None;
        }
        for visit in &plan.visits {
            for row in self.rows(visit) {
                let below = |item: u32| found.as_ref().is_none_or(|&(lowest, _)| item < lowest);
                if !below(row.first) {
                    break;
                }
                if row.is_valid(buffers) {
                    continue;
                }
                let items = (row.first..).zip(row.element..).take(row.count as usize);
                let items = items.take_while(|&(item, _)| below(item));
                let is_wrong = |&(item, address, element): &(u32, u64, u64)| {
                    self.is_guard_true(row.stream, element)
                        && stop.is_none_or(|stop| item < stop.item || self.has_accessed(visit.stream, element, stop))
                        && !row.may_access(buffers, address)
                };
                let items =
                    items.map(|(item, element)| (item, self.address(visit.stream, &row, item, element), element));
                if let Some((item, address, _)) = { items }.find(is_wrong) {
                    let fault = Fault { address: row.stream.site.word as usize, kind: row.refusal(buffers, address) };
                    found = Some((item, fault));
                    break;
                }
            }
        }
        found
    }

    /// Copies the output streams to the buffers. All accesses of the tile must be valid. Returns
    /// the number of bytes copied.
    pub(super) fn copy_out(&mut self, buffers: &mut Buffers<'_>) -> u64 {
        if let Some(moves) = self.plan.moves(self.tile) {
            return moves.copy_out(self.store, self.tile, buffers);
        }
        self.copy_out_by_rows(buffers)
    }

    /// Copies the output streams to the buffers access by access, for launches without bulk copies.
    /// Returns the number of bytes copied.
    #[inline(never)]
    fn copy_out_by_rows(&mut self, buffers: &mut Buffers<'_>) -> u64 {
        let mut copied = 0;
        let plan = self.plan;
        for visit in &plan.visits {
            for row in self.rows(visit).filter(|row| row.stream.site.written) {
                if let Some(window) = row.stream.window() {
                    copied += self.copy_out_of(window, visit.stream, &row, buffers);
                    continue;
                }
                let (bytes, count) = (row.bytes(), row.count as usize);
                let Some(start) = self.start(visit.stream, row.element) else { continue };
                let Some(written) = self.store.get(start..start + bytes * count) else { continue };
                if row.stream.guard.is_none()
                    && let Some((address, count)) = row.byte_range()
                    && let Some(place) = buffers.get_mut(address, count)
                {
                    place.copy_from_slice(written);
                    copied += count as u64;
                    continue;
                }
                for ((written, address), element) in written.chunks_exact(bytes).zip(row.addresses()).zip(row.element..)
                {
                    if self.is_guard_true(row.stream, element)
                        && let Some(place) = buffers.get_mut(address, bytes)
                    {
                        place.copy_from_slice(written);
                        copied += bytes as u64;
                    }
                }
            }
        }
        copied
    }

    /// Copies the results of a row's stores to their buffer. The stores went to the stream
    /// `window`, which holds the whole buffer.
    fn copy_out_of(&self, window: u32, stream: usize, row: &AccessRow<'_>, buffers: &mut Buffers<'_>) -> u64 {
        let Some(place) = self.region_of(window as usize) else { return 0 };
        let bytes = row.bytes();
        let mut copied = 0;
        for (item, element) in (row.first..).zip(row.element..).take(row.count as usize) {
            if !self.is_guard_true(row.stream, element) {
                continue;
            }
            let address = self.address(stream, row, item, element);
            let start = u64::from(place.start).wrapping_add(address.wrapping_sub(row.base)) as usize;
            let stored = start.checked_add(bytes).and_then(|end| self.store.get(start..end));
            if let (Some(stored), Some(to)) = (stored, buffers.get_mut(address, bytes)) {
                to.copy_from_slice(stored);
                copied += bytes as u64;
            }
        }
        copied
    }

    /// Returns the buffer address that an item accesses. If the kernel computes the address, its
    /// program has stored the offset in the stream.
    fn address(&self, stream: usize, row: &AccessRow<'_>, item: u32, element: u64) -> u64 {
        if row.stream.window().is_none() {
            return row.address(item);
        }
        let offset = self.start(stream, element).and_then(|start| self.store.get(start..)?.first_chunk::<4>());
        row.at(offset.map_or(0, |&bytes| u32::from_le_bytes(bytes)))
    }

    /// Returns the executions of the access `visit` by the items of the tile, as rows of consecutive items in ascending
    /// order.
    fn rows(&self, visit: &ItemAccess) -> impl Iterator<Item = AccessRow<'a>> + use<'a> {
        let (plan, tile, visit) = (self.plan, self.tile, *visit);
        let stream = plan.streams().get(visit.stream);
        let rounds = plan.rounds.get(visit.stream).copied().unwrap_or(0);
        let base = plan.bases.get(visit.stream).copied().unwrap_or(0);
        let scale = plan.scales.get(visit.stream).copied().unwrap_or(0);
        // Outside of loops, a stream that is alone in its region holds the elements of consecutive
        // groups contiguously. One row then covers all groups.
        let alone = plan.shares.get(visit.stream).is_none_or(|share| share.streams == 1);
        let whole = rounds == 1 && alone || stream.is_some_and(|stream| stream.uniform);
        let (rows, step) = if whole { (1, tile.items) } else { (plan.groups(tile.items), plan.group) };
        stream.into_iter().flat_map(move |stream| {
            (0..rows).map(move |row| {
                let done = row * step;
                let round = u64::from(row) * rounds + u64::from(visit.round);
                let element = if stream.uniform { round } else { round * u64::from(plan.group) };
                let count = if stream.uniform { 1 } else { step.min(tile.items - done) };
                AccessRow { stream, base, scale, index: visit.index, element, first: tile.first + done, count }
            })
        })
    }

    /// Returns the address range, in the data store, of the region that contains stream `stream`,
    /// if there is such a stream.
    fn region_of(&self, stream: usize) -> Option<&Range<u32>> {
        self.plan.places(self.tile).regions.get(self.plan.shares.get(stream)?.region as usize)
    }

    /// Returns the data store address of an element of a stream, if there is such a stream.
    fn start(&self, stream: usize, element: u64) -> Option<usize> {
        let bytes = u64::from(self.plan.streams().get(stream)?.element_bytes());
        let (share, group) = (self.plan.shares.get(stream)?, u64::from(self.plan.group));
        let before = match share.streams {
            1 => element,
            streams => (element / group * streams + share.place) * group + element % group,
        };
        usize::try_from(u64::from(self.region_of(stream)?.start) + before * bytes).ok()
    }

    /// Returns `true` if the program has accessed an element before it stopped, that is, if the
    /// stream's address register is past the element. A uniform stream outside of loops may be read
    /// at any time, so its elements always count as accessed.
    fn has_accessed(&self, stream: usize, element: u64, stop: &Stop) -> bool {
        let at_will = self.plan.streams().get(stream).is_some_and(|stream| stream.uniform && stream.steps.is_empty());
        let region = self.plan.shares.get(stream).map_or(stream, |share| share.region as usize);
        let cursor = stop.cursors.get(region).map_or(0, |&cursor| cursor & ADDRESS);
        at_will || self.start(stream, element).is_some_and(|start| start < cursor as usize)
    }

    /// Returns `true` if the program has stored a true guard for the access to an element, or if
    /// the access has no guard.
    fn is_guard_true(&self, stream: &Stream, element: u64) -> bool {
        let Some(guard) = stream.guard else { return true };
        let byte = self.start(guard as usize, element).and_then(|start| self.store.get(start));
        byte.is_some_and(|&byte| byte != 0)
    }
}

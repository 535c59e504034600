//! Bulk copies between buffers and the data store. Their accesses are known to be valid before the launch. For each
//! tile, a stream corresponds to one contiguous range of its buffer.

use std::ops::Range;

use halfbyte_abi::buffer_of;
use smallvec::SmallVec;

use super::blocks::{clear, copy};
use super::tiles::{StreamLayout, Tile};
use halfbyte_isa::buffers::{Buffer, Buffers, OverwrittenBuffer, OverwrittenBuffers};

/// The copy of a stream that all items access unconditionally, and whose accesses are contiguous
/// both in the buffer and in the stream.
#[derive(Clone, Copy)]
pub(super) struct BulkCopy {
    pub written: bool,
    /// Number of the stream's region, which contains no other stream.
    pub region: u32,
    /// Index of the buffer parameter. `start` is the byte offset of item 0's access in the buffer.
    pub buffer: usize,
    pub start: usize,
    /// Number of bytes that each item accesses.
    pub bytes: u32,
}

impl BulkCopy {
    /// Creates a bulk copy. `address` is the buffer address of item 0's access. Returns `None` for
    /// an address outside of all buffers.
    pub(super) fn new(written: bool, region: u32, address: u64, bytes: u32) -> Option<BulkCopy> {
        let (buffer, start) = buffer_of(address)?;
        Some(BulkCopy { written, region, buffer, start: usize::try_from(start).ok()?, bytes })
    }

    /// Returns the byte range of the buffer that the items of a tile access.
    fn of(&self, tile: Tile) -> Range<usize> {
        let bytes = self.bytes as usize;
        let start = self.start + bytes * tile.first as usize;
        start..start + bytes * tile.items as usize
    }
}

/// A bulk copy, and the data store address of its stream.
type CopyAt = (BulkCopy, usize);

/// The bulk copies for all tiles with the same number of items, in the order of regions. The
/// program's image lies before the streams. Zeros fill the gaps.
pub(super) struct BulkCopies {
    image: usize,
    reads: SmallVec<[CopyAt; 4]>,
    writes: SmallVec<[CopyAt; 4]>,
    /// Data store ranges that neither the image nor an input stream fills.
    zeros: SmallVec<[Range<usize>; 4]>,
}

impl BulkCopies {
    /// Creates the bulk copies for tiles with `items` items and the layout `places`. The size of
    /// the data store is `store` bytes. Returns `None` if streams overlap or do not fit.
    pub(super) fn new(
        moves: &[BulkCopy],
        items: u32,
        places: &StreamLayout,
        image: usize,
        store: usize,
    ) -> Option<BulkCopies> {
        let image = image.min(store);
        let mut all = BulkCopies { image, reads: SmallVec::new(), writes: SmallVec::new(), zeros: SmallVec::new() };
        let mut filled = image;
        for of in moves {
            let start = places.regions.get(of.region as usize)?.start as usize;
            let end = start.checked_add(of.bytes as usize * items as usize)?;
            if end > store {
                return None;
            }
            if of.written {
                all.writes.push((*of, start));
                continue;
            }
            if start < filled {
                return None;
            }
            all.zeros.push(filled..start);
            all.reads.push((*of, start));
            filled = end;
        }
        all.zeros.push(filled..store);
        all.zeros.retain(|range| range.start < range.end);
        Some(all)
    }

    /// Fills the data store for a tile. Returns the number of bytes copied from buffers.
    pub(super) fn fill(&self, store: &mut [u8], image: &[u8], tile: Tile, buffers: &Buffers<'_>) -> u64 {
        if let (Some(place), Some(image)) = (store.get_mut(..self.image), image.get(..self.image)) {
            place.copy_from_slice(image);
        }
        let mut copied = 0;
        for (of, start) in &self.reads {
            let held = buffers.0.get(of.buffer).and_then(Option::as_ref);
            if let Some(held) = held.and_then(|held| held.bytes().get(of.of(tile)))
                && let Some(place) = store.get_mut(*start..*start + held.len())
            {
                copy(place, held);
                copied += held.len() as u64;
            }
        }
        // The tile's range of the output buffer is prefetched, because the results are written to it.
        let written = self.writes.first().and_then(|(of, _)| {
            let held = buffers.0.get(of.buffer)?.as_ref()?;
            held.bytes().get(of.of(tile))
        });
        let mut next = written.unwrap_or_default();
        for range in &self.zeros {
            if let Some(place) = store.get_mut(range.clone()) {
                clear(place, std::mem::take(&mut next));
            }
        }
        copied
    }

    /// Copies the output streams of a tile to the buffers. Returns the number of bytes copied.
    pub(super) fn copy_out(&self, store: &[u8], tile: Tile, buffers: &mut Buffers<'_>) -> u64 {
        let mut copied = 0;
        for (of, start) in &self.writes {
            let held = buffers.0.get_mut(of.buffer).and_then(Option::as_mut).and_then(Buffer::written);
            if let Some(place) = held.and_then(|held| held.get_mut(of.of(tile)))
                && let Some(written) = store.get(*start..*start + place.len())
            {
                copy(place, written);
                copied += place.len() as u64;
            }
        }
        copied
    }
}

/// Returns the buffers that a launch of `items` items overwrites completely.
pub(super) fn overwritten_buffers(moves: &[BulkCopy], items: u32, buffers: &Buffers<'_>) -> OverwrittenBuffers {
    let fills = |of: &BulkCopy| {
        let held = buffers.0.get(of.buffer)?.as_ref()?;
        let found = OverwrittenBuffer { buffer: of.buffer, bytes: of.bytes };
        let is_read = || moves.iter().any(|read| !read.written && read.buffer == of.buffer);
        (of.written && of.start == 0 && found.is_whole(held, items) && !is_read()).then_some(found)
    };
    moves.iter().filter_map(fills).collect()
}

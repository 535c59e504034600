//! Copies that are known before a launch to be right: of each stream a tile has one range of a buffer.

use std::ops::Range;

use halfbyte_abi::buffer_of;
use smallvec::SmallVec;

use super::blocks::{clear, copy};
use super::tiles::{Places, Tile};
use halfbyte_isa::buffers::{AllCovered, Buffer, Buffers, Covered};

/// A stream whose accesses all items make, and stand side by side in the buffer and in the stream.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub written: bool,
    /// The region of the stream, which is its own.
    pub region: u32,
    /// The buffer, by parameter, and where in it item 0's access is.
    pub buffer: usize,
    pub start: usize,
    /// Bytes of an item.
    pub bytes: u32,
}

impl Move {
    /// One of item 0's address.
    pub fn new(written: bool, region: u32, address: u64, bytes: u32) -> Option<Move> {
        let (buffer, start) = buffer_of(address)?;
        Some(Move { written, region, buffer, start: usize::try_from(start).ok()?, bytes })
    }

    /// What of the buffer is a tile's.
    fn of(&self, tile: Tile) -> Range<usize> {
        let bytes = self.bytes as usize;
        let start = self.start + bytes * tile.first as usize;
        start..start + bytes * tile.items as usize
    }
}

/// A stream's bytes, and the place in the data store where they begin.
type Placed = (Move, usize);

/// All that is copied for a tile of some size: by region, with the image before and zeros between.
pub(super) struct Moves {
    image: usize,
    reads: SmallVec<[Placed; 4]>,
    writes: SmallVec<[Placed; 4]>,
    /// What is neither of the image nor read.
    zeros: SmallVec<[Range<usize>; 4]>,
}

impl Moves {
    /// Those of tiles of so many items, whose streams lie in such places; none where one reaches into another, or out of a data
    /// store of so many bytes.
    pub fn new(moves: &[Move], items: u32, places: &Places, image: usize, store: usize) -> Option<Moves> {
        let image = image.min(store);
        let mut all = Moves { image, reads: SmallVec::new(), writes: SmallVec::new(), zeros: SmallVec::new() };
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

    /// Fills the data store. Returns the bytes copied from buffers.
    pub fn fill(&self, store: &mut [u8], image: &[u8], tile: Tile, buffers: &Buffers<'_>) -> u64 {
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
        // What is written once the tile has run.
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

    /// Empties the streams that are written. Returns the bytes copied.
    pub fn copy_out(&self, store: &[u8], tile: Tile, buffers: &mut Buffers<'_>) -> u64 {
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

/// The buffers that the copies of a launch of so many items fill.
pub(super) fn covered(moves: &[Move], items: u32, buffers: &Buffers<'_>) -> AllCovered {
    let fills = |of: &Move| {
        let held = buffers.0.get(of.buffer)?.as_ref()?;
        let found = Covered { buffer: of.buffer, bytes: of.bytes };
        let is_read = || moves.iter().any(|read| !read.written && read.buffer == of.buffer);
        (of.written && of.start == 0 && found.is_whole(held, items) && !is_read()).then_some(found)
    };
    moves.iter().filter_map(fills).collect()
}

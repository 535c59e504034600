//! Memory that Python objects own and a launch uses in place, and which arguments lie in the memory of others.
//!
//! Python may hold any number of views of the same memory. Rust may not: so what overlaps and may be written becomes one slice, which one
//! argument owns, and addresses in it for the others.

use std::{ptr, slice};

use smallvec::SmallVec;

/// Memory of an array. Whoever makes a slice of it answers for what that slice must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    data: *mut u8,
    bytes: usize,
    /// Whether the kernel may write it.
    pub written: bool,
}

// SAFETY: an address may go to another thread; what is done there with the memory is up to who makes slices of it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// So many bytes at an address.
    pub fn new(data: *mut u8, bytes: usize, written: bool) -> Memory {
        Memory { data, bytes, written }
    }

    /// No bytes, nowhere.
    pub fn none() -> Memory {
        Memory { data: ptr::null_mut(), bytes: 0, written: false }
    }

    /// Whether it is nowhere, as null is.
    pub fn is_null(&self) -> bool {
        self.data.is_null()
    }

    fn start(&self) -> usize {
        self.data.addr()
    }

    fn end(&self) -> usize {
        self.start().saturating_add(self.bytes)
    }

    fn overlaps(&self, other: &Memory) -> bool {
        self.bytes > 0 && other.bytes > 0 && self.start() < other.end() && other.start() < self.end()
    }

    /// The bytes, to be read.
    ///
    /// # Safety
    /// While the slice is in use the memory is kept, and nothing of it is written by anything that Rust knows of.
    pub unsafe fn read<'a>(self) -> &'a [u8] {
        // An array without elements may lie anywhere.
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: the array has so many bytes at its address; the rest is the caller's.
        unsafe { slice::from_raw_parts(self.data, self.bytes) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// While the slice is in use the memory is kept, and nothing else that Rust knows of reads or writes it.
    pub unsafe fn write<'a>(self) -> &'a mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: as of `read`.
        unsafe { slice::from_raw_parts_mut(self.data, self.bytes) }
    }
}

/// What becomes of the memory of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Placed {
    /// It is a slice of its own; where others lie in it, it reaches as far as they do.
    Own(Memory),
    /// It begins so many bytes into that of another argument, by number.
    In { of: usize, offset: u64 },
}

/// Two arguments, by number, that overlap though the first of them may overlap nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    pub unique: usize,
    pub other: usize,
}

/// The places of arguments, of which those without memory have none. Memory that is only read may be that of others as it is.
///
/// # Errors
/// Memory that overlaps other, which `is_unique` says that it must not.
pub(crate) fn place(
    memory: &[Option<Memory>],
    is_unique: impl Fn(usize) -> bool,
) -> Result<SmallVec<[Option<Placed>; 8]>, Overlap> {
    let mut placed: SmallVec<[Option<Placed>; 8]> = memory.iter().map(|of| of.map(Placed::Own)).collect();
    let there = || memory.iter().enumerate().filter_map(|(number, of)| Some((number, (*of)?)));
    let meets = |a: &Memory, b: &Memory| (a.written || b.written) && a.overlaps(b);
    let mut is_apart = true;
    for (number, of) in there() {
        for (other, with) in there().take_while(|(other, _)| *other < number) {
            if !meets(&of, &with) {
                continue;
            }
            is_apart = false;
            if let Some(unique) = [number, other].into_iter().find(|&number| is_unique(number)) {
                return Err(Overlap { unique, other: if unique == number { other } else { number } });
            }
        }
    }
    if is_apart {
        return Ok(placed);
    }
    // Memory that hangs together, from its start on: what begins before all so far ends belongs to it.
    let mut by_start: SmallVec<[(usize, Memory); 8]> = there().filter(|(_, of)| of.bytes > 0).collect();
    by_start.sort_by_key(|(_, of)| of.start());
    let mut rest = by_start.as_slice();
    while let Some((&(owner, first), _)) = rest.split_first() {
        let mut end = first.end();
        let mut count = 1;
        let mut written = first.written;
        while let Some((_, next)) = rest.get(count).filter(|(_, next)| next.start() < end) {
            end = end.max(next.end());
            written |= next.written;
            count += 1;
        }
        let (cluster, others) = rest.split_at(count);
        rest = others;
        // What is only read is left as it is.
        if !written || count == 1 {
            continue;
        }
        for &(number, of) in cluster {
            let offset = (of.start() - first.start()) as u64;
            let place = match number == owner {
                true => Placed::Own(Memory { bytes: end - first.start(), written: true, ..first }),
                false => Placed::In { of: owner, offset },
            };
            if let Some(slot) = placed.get_mut(number) {
                *slot = Some(place);
            }
        }
    }
    Ok(placed)
}

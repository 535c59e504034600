//! Memory of Python objects that a launch uses in place, and the handling of overlapping arguments.
//!
//! Python permits any number of views of the same memory, but Rust does not. Overlapping memory
//! that may be written therefore becomes one slice, which one argument owns. The other overlapping
//! arguments become addresses in this slice.

use std::{ptr, slice};

use smallvec::SmallVec;

/// The address and the size of an array's memory. Code that creates a slice from them must ensure
/// that the slice is valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    data: *mut u8,
    bytes: usize,
    /// `true` if the kernel may write the memory.
    pub written: bool,
}

// SAFETY: an address may be sent to another thread. Code that creates slices from it ensures that
// the accesses are valid.
unsafe impl Send for Memory {}
// SAFETY: an address may be shared with other threads. Code that creates slices from it ensures
// that the accesses are valid.
unsafe impl Sync for Memory {}

impl Memory {
    /// Creates the description of `bytes` bytes of memory at an address.
    pub(crate) fn new(data: *mut u8, bytes: usize, written: bool) -> Memory {
        Memory { data, bytes, written }
    }

    /// Creates the description of empty memory at a null pointer.
    pub(crate) fn none() -> Memory {
        Memory { data: ptr::null_mut(), bytes: 0, written: false }
    }

    /// Returns `true` if the address is null.
    pub(crate) fn is_null(&self) -> bool {
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

    /// Returns the bytes for reading.
    ///
    /// # Safety
    /// While the slice is in use, the memory stays alive and Rust code does not write it.
    pub(crate) unsafe fn read<'a>(self) -> &'a [u8] {
        // An empty array may have any address, even null.
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: the array has this many bytes at its address. The caller upholds all other
        // requirements.
        unsafe { slice::from_raw_parts(self.data, self.bytes) }
    }

    /// Returns the bytes for writing.
    ///
    /// # Safety
    /// While the slice is in use, the memory stays alive and no other Rust code reads or writes it.
    pub(crate) unsafe fn write<'a>(self) -> &'a mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: the array has this many bytes at its address. The caller upholds all other
        // requirements.
        unsafe { slice::from_raw_parts_mut(self.data, self.bytes) }
    }
}

/// The slice that an argument uses for its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemoryPlacement {
    /// The argument has its own slice, which includes the memory of the arguments that overlap it.
    Own(Memory),
    /// The argument is an address in the slice of argument `of`, at byte `offset`.
    In { of: usize, offset: u64 },
}

/// The indices of two overlapping arguments. The parameter of the first does not permit aliasing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    pub unique: usize,
    pub other: usize,
}

/// Assigns a slice to each argument, or `None` to an argument without memory. Overlapping arguments share one slice if
/// at least one of them is written. Read-only arguments have separate slices even if they overlap.
///
/// # Errors
/// Fails if two arguments overlap, at least one of them is written, and `is_unique` is `true` for one of them.
pub(crate) fn place(
    memory: &[Option<Memory>],
    is_unique: impl Fn(usize) -> bool,
) -> Result<SmallVec<[Option<MemoryPlacement>; 8]>, Overlap> {
    let mut placed: SmallVec<[Option<MemoryPlacement>; 8]> =
        memory.iter().map(|of| of.map(MemoryPlacement::Own)).collect();
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
    // Arguments whose memory overlaps form a cluster. In the order of start addresses, an argument
    // belongs to the cluster if it begins before the cluster's end.
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
        // The arguments of a read-only cluster have separate slices.
        if !written || count == 1 {
            continue;
        }
        for &(number, of) in cluster {
            let offset = (of.start() - first.start()) as u64;
            let place = match number == owner {
                true => MemoryPlacement::Own(Memory { bytes: end - first.start(), written: true, ..first }),
                false => MemoryPlacement::In { of: owner, offset },
            };
            if let Some(slot) = placed.get_mut(number) {
                *slot = Some(place);
            }
        }
    }
    Ok(placed)
}

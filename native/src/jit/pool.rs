//! Memory for contexts, which all programs share: a launch takes what it needs, and gives it back at its end.
//!
//! What is given back is kept for the next launch of any program, within bounds; the rest is freed. Large pieces come from the system
//! as pages that take no memory until they are touched, so that a launch of few items takes little of them.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Sizes are powers of two from this one on.
const LEAST_LOG2: u32 = 12;
/// Classes whose pieces are kept: up to 8 MiB.
const CLASSES: usize = 12;
/// Pieces of a class that are kept: so many, as long as they are not more bytes than this.
const KEPT: usize = 16;
const KEPT_BYTES: usize = 32 << 20;
/// What contexts start at a multiple of.
const ALIGN: usize = 64;

static KEPT_PIECES: Mutex<[Vec<Memory>; CLASSES]> = Mutex::new([const { Vec::new() }; CLASSES]);

/// Bytes of a piece that a thread may keep for itself.
const OWN_BYTES: usize = 4 << 20;

thread_local! {
    /// The piece that this thread gave back last: a lock would have it wait for all that a launch has stored to arrive.
    static OWN: Cell<Option<Memory>> = const { Cell::new(None) };
}

/// A piece of memory. All its bytes are initialised, to anything.
pub(super) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the piece is owned.
unsafe impl Send for Memory {}

impl Memory {
    /// A piece of so many bytes at least; none where there can be none so large.
    pub fn take(bytes: usize) -> Option<Memory> {
        // Only what an allocator aligns by itself does it get from the system without writing it.
        let size = bytes.checked_add(ALIGN)?.checked_next_power_of_two()?.max(1 << LEAST_LOG2);
        let layout = Layout::from_size_align(size, align_of::<u128>()).ok()?;
        let kept = Memory::own(size).or_else(|| class(size).and_then(|class| lock().get_mut(class)?.pop()));
        Some(kept.unwrap_or_else(|| {
            // SAFETY: the size is not zero.
            let start = unsafe { alloc_zeroed(layout) };
            let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
            Memory { start, layout }
        }))
    }

    /// This thread's piece, if it has that size.
    fn own(size: usize) -> Option<Memory> {
        let take = |own: &Cell<Option<Memory>>| {
            let memory = own.take()?;
            if memory.layout.size() == size {
                return Some(memory);
            }
            own.set(Some(memory));
            None
        };
        OWN.try_with(take).ok().flatten()
    }

    /// Keeps the piece for whoever takes one next, or frees it.
    pub fn give_back(self) {
        if self.layout.size() > OWN_BYTES {
            return self.share();
        }
        let mut memory = Some(self);
        // The piece before it is shared: this one is of the kernel that is launched now.
        let before = OWN.try_with(|own| own.replace(memory.take())).ok().flatten();
        before.or(memory).into_iter().for_each(Memory::share);
    }

    /// Keeps the piece for whichever thread takes one next, or frees it.
    fn share(self) {
        let Some(class) = class(self.layout.size()) else { return };
        let most = KEPT.min(KEPT_BYTES / self.layout.size());
        let mut kept = lock();
        match kept.get_mut(class) {
            Some(pieces) if pieces.len() < most => pieces.push(self),
            _ => {}
        }
    }

    /// Where a context begins in it.
    pub fn start(&self) -> NonNull<u8> {
        // SAFETY: the piece is larger than what was asked for by an alignment.
        unsafe { self.start.add(self.start.align_offset(ALIGN)) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it came from the allocator with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// The class of a size, if such pieces are kept.
fn class(size: usize) -> Option<usize> {
    let class = size.ilog2().checked_sub(LEAST_LOG2)? as usize;
    (class < CLASSES).then_some(class)
}

fn lock() -> std::sync::MutexGuard<'static, [Vec<Memory>; CLASSES]> {
    KEPT_PIECES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_large_enough_and_aligned() {
        for bytes in [1, 4000, 4096, 100_000, (2 << 20) - ALIGN, 2 << 20, 5 << 20] {
            let memory = Memory::take(bytes).unwrap();
            let skipped = memory.start().addr().get() - memory.start.addr().get();
            assert!(memory.start().addr().get().is_multiple_of(ALIGN));
            assert!(skipped + bytes <= memory.layout.size());
            memory.give_back();
        }
        assert!(Memory::take(usize::MAX).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        // No other test takes pieces of this class.
        let bytes = (1 << (LEAST_LOG2 + 8)) - ALIGN;
        let taken: Vec<Memory> = (0..2 * KEPT).map(|_| Memory::take(bytes).unwrap()).collect();
        taken.into_iter().for_each(Memory::give_back);
        let class = class(1 << (LEAST_LOG2 + 8)).unwrap();
        assert!(lock()[class].len() <= KEPT);
    }
}

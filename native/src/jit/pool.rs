//! Memory pool for contexts, shared by all programs. A launch takes a piece and gives the piece
//! back at its end.
//!
//! A piece that is given back is kept for the next launch of any program, within limits; otherwise
//! the piece is freed. The system provides large pieces as pages that use no memory before the
//! first access. A launch of few items therefore uses little memory.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Binary logarithm of the smallest size. All sizes are powers of two.
const LEAST_LOG2: u32 = 12;
/// Number of size classes whose pieces are kept: up to 8 MiB.
const CLASSES: usize = 12;
/// Limits on the number and the size of the kept pieces of a class.
const KEPT: usize = 16;
const KEPT_BYTES: usize = 32 << 20;
/// Alignment of contexts.
const ALIGN: usize = 64;

static KEPT_PIECES: Mutex<[Vec<Memory>; CLASSES]> = Mutex::new([const { Vec::new() }; CLASSES]);

/// Maximum size of a piece that a thread keeps for itself.
const OWN_BYTES: usize = 4 << 20;

thread_local! {
    /// Piece that this thread gave back last. Taking a lock instead would wait until all stores of a launch have
    /// completed.
    static OWN: Cell<Option<Memory>> = const { Cell::new(None) };
}

/// Piece of memory, all of whose bytes are initialised with arbitrary values.
pub(super) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the piece is owned.
unsafe impl Send for Memory {}

impl Memory {
    /// Takes a piece of at least `bytes` bytes. Returns `None` if the size overflows.
    pub fn take(bytes: usize) -> Option<Memory> {
        // The allocator gets zeroed pages from the system without writing them only for its natural alignment.
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

    /// Returns this thread's piece if the piece has this size.
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

    /// Keeps the piece for this thread or shares the piece.
    pub fn give_back(self) {
        if self.layout.size() > OWN_BYTES {
            return self.share();
        }
        let mut memory = Some(self);
        // Share the previous piece: the new piece belongs to the kernel that is currently launched.
        let before = OWN.try_with(|own| own.replace(memory.take())).ok().flatten();
        before.or(memory).into_iter().for_each(Memory::share);
    }

    /// Keeps the piece for any thread, or frees the piece.
    fn share(self) {
        let Some(class) = class(self.layout.size()) else { return };
        let most = KEPT.min(KEPT_BYTES / self.layout.size());
        let mut kept = lock();
        match kept.get_mut(class) {
            Some(pieces) if pieces.len() < most => pieces.push(self),
            _ => {}
        }
    }

    /// Returns the start of the context.
    pub fn start(&self) -> NonNull<u8> {
        // SAFETY: the piece is larger than the requested size by at least the alignment.
        unsafe { self.start.add(self.start.align_offset(ALIGN)) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the piece was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Returns the class of a size, or `None` if pieces of this size are not kept.
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

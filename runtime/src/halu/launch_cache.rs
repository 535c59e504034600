//! Cache for the state of a launch. The state is reused by the next launch with the same arguments,
//! or by the next launch of the same kernel on the same thread.

use std::cell::RefCell;

use arrayvec::ArrayVec;
use halfbyte_abi::{GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET, Shape};

use super::put;
use super::{Jit, Repeat};

/// The state of a launch that a relaunch can reuse.
#[derive(Default)]
pub(super) struct LaunchCache {
    pub constants: Vec<u8>,
    pub local: Vec<u8>,
    /// The launch shape that `constants` was last filled for.
    shape: Option<Shape>,
    /// State of the native code of the last launch, or `None` if that launch cannot be relaunched.
    pub repeat: Option<Box<Repeat>>,
}

/// Maximum number of kernels whose launch state a thread caches.
const MAX_CACHED_KERNELS: usize = 4;

/// The launch states that a thread caches, ordered from least to most recently used.
type LaunchCaches = ArrayVec<Box<LaunchCache>, MAX_CACHED_KERNELS>;

thread_local! {
    static LAST: RefCell<LaunchCaches> = const { RefCell::new(ArrayVec::new_const()) };
}

impl LaunchCache {
    /// Removes and returns the state that this thread has cached for a kernel, if any.
    pub(super) fn of_thread(jit: &Jit) -> Option<Box<LaunchCache>> {
        let take = |last: &RefCell<LaunchCaches>| {
            let last = &mut *last.borrow_mut();
            let is_of = |kept: &LaunchCache| kept.repeat.as_ref().is_some_and(|repeat| jit.is_of(repeat));
            let place = last.iter().position(|kept| is_of(kept))?;
            Some(last.remove(place))
        };
        LAST.try_with(take).ok().flatten()
    }

    /// Caches the state for this thread's next launch of the same kernel. A state that does not permit a relaunch is
    /// dropped. If the cache is full, the least recently used state is evicted.
    pub(super) fn leave_to_thread(self: Box<LaunchCache>) {
        if self.repeat.is_none() {
            return;
        }
        let keep = |last: &RefCell<LaunchCaches>| {
            let last = &mut *last.borrow_mut();
            if last.is_full() {
                last.remove(0);
            }
            last.push(self);
        };
        // The access fails only while the thread exits. No later launch could then use the state.
        let _ = LAST.try_with(keep);
    }

    /// Writes the number of items, the group size and the number of groups of a launch to constant bank 0.
    pub(super) fn launch(&mut self, items: u32, shape: &Shape) {
        if self.shape == Some(*shape) {
            return;
        }
        self.shape = Some(*shape);
        put(&mut self.constants, ITEM_COUNT_OFFSET, &items.to_le_bytes());
        for (offset, counts) in [(GROUP_SIZE_OFFSET, shape.block), (GROUP_COUNT_OFFSET, shape.grid)] {
            let all = counts.into_iter().fold(1, u32::wrapping_mul);
            for (offset, count) in (offset..).step_by(4).zip(counts.into_iter().chain([all])) {
                put(&mut self.constants, offset, &count.to_le_bytes());
            }
        }
    }
}

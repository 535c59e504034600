//! Launch state that is cached for the next launch, either on the same arguments or of the same
//! kernel by the same thread.

use std::cell::RefCell;

use arrayvec::ArrayVec;
use halfbyte_abi::{GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET, Shape};

use super::put;
use super::{Jit, Repeat};

/// The private memory of a launch.
#[derive(Default)]
pub(super) struct LaunchCache {
    pub constants: Vec<u8>,
    pub local: Vec<u8>,
    /// The shape of the last launch, whose counts are in `constants`.
    shape: Option<Shape>,
    /// The relaunch state of the last launch in native code, if it can be relaunched.
    pub repeat: Option<Box<Repeat>>,
}

/// Maximum number of kernels whose launch state a thread caches.
const KERNELS: usize = 4;

/// The cached launch states; the most recently used state is last.
type Last = ArrayVec<Box<LaunchCache>, KERNELS>;

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(ArrayVec::new_const()) };
}

impl LaunchCache {
    /// Takes the cached state of this thread's last launch of a kernel, if that launch can be
    /// relaunched.
    pub(super) fn of_thread(jit: &Jit) -> Option<Box<LaunchCache>> {
        let take = |last: &RefCell<Last>| {
            let last = &mut *last.borrow_mut();
            let is_of = |kept: &LaunchCache| kept.repeat.as_ref().is_some_and(|repeat| jit.is_of(repeat));
            let place = last.iter().position(|kept| is_of(kept))?;
            Some(last.remove(place))
        };
        LAST.try_with(take).ok().flatten()
    }

    /// Caches the state for this thread's next launch of the kernel, if it can be relaunched. If
    /// the cache is full, the least recently used state is evicted.
    pub(super) fn leave_to_thread(self: Box<LaunchCache>) {
        if self.repeat.is_none() {
            return;
        }
        let keep = |last: &RefCell<Last>| {
            let last = &mut *last.borrow_mut();
            if last.is_full() {
                last.remove(0);
            }
            last.push(self);
        };
        // The access fails only while the thread ends, and then nothing needs to be cached.
        let _ = LAST.try_with(keep);
    }

    /// Writes the item and group counts of a launch to constant bank 0.
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

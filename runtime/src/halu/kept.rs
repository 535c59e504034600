//! What a launch leaves for the next one: on the same arguments, or of the same kernel by the same thread.

use std::cell::RefCell;

use arrayvec::ArrayVec;
use halfbyte_abi::{GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET, Shape};

use super::put;
use super::{Jit, Repeat};

/// The memory of a launch that is its own.
#[derive(Default)]
pub(super) struct Kept {
    pub constants: Vec<u8>,
    pub local: Vec<u8>,
    /// That of the last launch, which the constants say.
    shape: Option<Shape>,
    /// The last one in native code, where it can be made again.
    pub repeat: Option<Box<Repeat>>,
}

/// Kernels that a thread launches in turn: what more than so many leave is not kept.
const KERNELS: usize = 4;

/// The one that was launched last at the end.
type Last = ArrayVec<Box<Kept>, KERNELS>;

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(ArrayVec::new_const()) };
}

impl Kept {
    /// That of the last launch of a kernel by this thread, where it was one of native code that can be made again.
    pub fn of_thread(jit: &Jit) -> Option<Box<Kept>> {
        let take = |last: &RefCell<Last>| {
            let last = &mut *last.borrow_mut();
            let is_of = |kept: &Kept| kept.repeat.as_ref().is_some_and(|repeat| jit.is_of(repeat));
            let place = last.iter().position(|kept| is_of(kept))?;
            Some(last.remove(place))
        };
        LAST.try_with(take).ok().flatten()
    }

    /// Keeps it for the kernel's next launch by this thread, if it can be made again. That of the kernel which was launched longest ago goes.
    pub fn leave_to_thread(self: Box<Kept>) {
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
        // A thread that ends keeps nothing.
        let _ = LAST.try_with(keep);
    }

    /// Says how many items and groups there are.
    pub fn launch(&mut self, items: u32, shape: &Shape) {
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

//! A launch that was made on arguments and is made on them again, in the same shape: of a kernel that is one block without a branch, what is
//! left to do is to enter the code with the context that it had.

use std::num::NonZero;
use std::panic::{RefUnwindSafe, UnwindSafe};

use halfbyte_abi::Shape;

use super::Jit;
use super::compile::Start;
use super::context::{Context, Shared};
use super::run::{Outcome, Reached, Stop, raw};
use crate::buffers::AllCovered;
use crate::launch::{Order, Stats};

/// Such a launch.
pub(crate) struct Repeat {
    state: State,
    threads: NonZero<u16>,
    shape: Shape,
    /// What keeps the code.
    _jit: Jit,
}

/// What a launch leaves that can be made again.
pub(super) struct State {
    pub context: Context,
    /// What the header points to, and the words that it takes constants from.
    pub shared: Box<Shared>,
    pub start: Start,
    pub covered: AllCovered,
}

// SAFETY: what it points to but does not own are the buffers of its arguments, which are written anew at each launch, and code that nobody
// changes. A launch has it alone.
unsafe impl Send for Repeat {}
// SAFETY: likewise: nothing is done with it by reference.
unsafe impl Sync for Repeat {}
impl UnwindSafe for Repeat {}
impl RefUnwindSafe for Repeat {}

impl Repeat {
    pub(super) fn new(jit: &Jit, state: State, order: &Order<'_>, threads: NonZero<u16>) -> Repeat {
        Repeat { state, threads, shape: order.shape, _jit: jit.clone() }
    }

    /// Whether a launch is the same.
    pub fn is(&self, order: &Order<'_>, threads: NonZero<u16>) -> bool {
        self.threads == threads && self.shape == order.shape
    }

    /// Makes it again.
    ///
    /// # Errors
    /// As the first one: what the code loads may lead elsewhere this time.
    pub fn run<'m>(&mut self, memory: &mut impl Reached<'m>, order: &Order<'_>) -> Result<Stats, Stop> {
        let State { context, shared, start, covered } = &mut self.state;
        let buffers = memory.buffers();
        buffers.start_but(covered);
        for (lent, buffer) in shared.buffers.iter_mut().zip(&mut buffers.0) {
            *lent = raw(buffer.as_mut(), lent.constant);
        }
        let header = context.header();
        header.shared = &raw const **shared;
        header.constants = shared.constants.as_ptr();
        header.set_items(order.items);
        (header.issued, header.fault) = (0, None);
        // The first item is number 0: so are the special registers that count items.
        context.clear_slots();
        // SAFETY: the code was made for contexts of this map, and entered with this one before. It stays within it, and calls what checks
        // every access.
        unsafe { (start.function)(context.as_ptr(), start.number) };
        let header = context.header();
        let mut outcome = Outcome::default();
        outcome.stats.issued = header.issued * u64::from(header.items);
        outcome.fault = header.fault.take().map(|fault| (fault.item, fault));
        match order.work().add(outcome.stats.issued) {
            Err(exceeded) => outcome.error = Some(exceeded.into()),
            Ok(()) if outcome.fault.is_none() => order.advance(order.items),
            Ok(()) => {}
        }
        outcome.end(memory, covered)
    }
}

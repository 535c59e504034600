//! A launch that is made again in the same shape, of a kernel that is one block without a branch: what is left to do is to enter the code with
//! the context that the first one had, on the buffers and constants of this one.

use std::num::NonZero;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use halfbyte_abi::Shape;
use smallvec::SmallVec;

use super::Jit;
use super::cells::Cell;
use super::compile::Start;
use super::context::{Context, Shared};
use super::run::{Outcome, Reached, Rows, Stop, raw};
use crate::launch::LaunchOptions;
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::OverwrittenBuffers;

/// Such a launch.
pub struct Repeat {
    state: State,
    threads: NonZero<u16>,
    shape: Shape,
    /// What keeps the code.
    jit: Jit,
}

/// What a launch leaves that can be made again.
pub(super) struct State {
    pub context: Context,
    /// What the header points to, and the words that it takes constants from.
    pub shared: Box<Shared>,
    pub start: Start,
    pub covered: OverwrittenBuffers,
    pub rows: Rows,
    /// The cells of special registers, which are 0 for item 0, and their stride from an item to the next.
    pub strides: SmallVec<[(Cell, u32); 4]>,
}

// SAFETY: what it points to but does not own are the buffers of its arguments, whose addresses are written anew at each launch, and code that
// nobody changes. A launch has it alone.
unsafe impl Send for Repeat {}
// SAFETY: likewise: nothing is done with it by reference.
unsafe impl Sync for Repeat {}
impl UnwindSafe for Repeat {}
impl RefUnwindSafe for Repeat {}

impl Repeat {
    pub(super) fn new(jit: &Jit, state: State, order: &LaunchOptions<'_>, threads: NonZero<u16>) -> Repeat {
        Repeat { state, threads, shape: order.shape, jit: jit.clone() }
    }

    /// Whether it is a launch of that code.
    pub(crate) fn is_of(&self, jit: &Jit) -> bool {
        Arc::ptr_eq(&self.jit.0, &jit.0)
    }

    /// Whether a launch is the same but for its arguments. `out` buffers that the first one did not make zero, since it wrote all of them, this
    /// one has to write whole, too.
    pub fn is<'m>(&self, memory: &mut impl Reached<'m>, order: &LaunchOptions<'_>, threads: NonZero<u16>) -> bool {
        let State { shared, covered, .. } = &self.state;
        self.threads == threads
            && self.shape == order.shape
            && (covered.is_empty()
                || shared.constants == *memory.constants()
                    && covered.iter().all(|covered| {
                        let held = memory.buffers().0.get(covered.buffer).and_then(Option::as_ref);
                        held.is_some_and(|held| covered.is_whole(held, order.items))
                    }))
    }

    /// Makes it again.
    ///
    /// # Errors
    /// As the first one: what the code loads may lead elsewhere this time.
    pub fn run<'m>(&mut self, memory: &mut impl Reached<'m>, order: &LaunchOptions<'_>) -> Result<Stats, Stop> {
        let State { context, shared, start, covered, rows, strides } = &mut self.state;
        let buffers = memory.buffers();
        buffers.zero_out_buffers_except(covered);
        for (lent, buffer) in shared.buffers.iter_mut().zip(&mut buffers.0) {
            *lent = raw(buffer.as_mut(), lent.constant);
        }
        shared.constants.clone_from(memory.constants());
        let header = context.header();
        header.shared = &raw const **shared;
        header.constants = shared.constants.as_ptr();
        let (mut issued, mut row, mut work) = (0, 0, order.work());
        while let Some((first, count)) = rows.get(row) {
            row += 1;
            let header = context.header();
            header.set_items(count);
            (header.issued, header.fault) = (0, None);
            context.clear_slots();
            for &(cell, stride) in strides.iter() {
                *context.slot(cell) = stride.wrapping_mul(first);
            }
            // SAFETY: the code was made for contexts of this map, and entered with this one before. It stays within it, and calls what
            // checks every access.
            unsafe { (start.function)(context.as_ptr(), start.number) };
            let header = context.header();
            let more = header.issued * u64::from(header.items);
            let fault = header.fault.take().map(|fault| (first + fault.item, fault));
            let exceeded = work.add(more).err();
            if fault.is_some() || exceeded.is_some() {
                let mut outcome = Outcome::default();
                (outcome.fault, outcome.error) = (fault, exceeded.map(Into::into));
                return outcome.end(memory, covered);
            }
            issued += more;
            order.advance(count);
        }
        Ok(Stats { issued, ..Stats::default() })
    }
}

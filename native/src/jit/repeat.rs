//! Relaunches of a kernel that is one block without a branch, in the same shape. A relaunch enters
//! the code with the context of the first launch, on its own buffers and constants.

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

/// Relaunchable launch.
pub struct Repeat {
    state: State,
    threads: NonZero<u16>,
    shape: Shape,
    /// Keeps the compiled code alive.
    jit: Jit,
}

/// State that a launch leaves for relaunches.
pub(super) struct State {
    pub context: Context,
    /// Target of the header's pointer, with the constants.
    pub shared: Box<Shared>,
    pub start: Start,
    pub covered: OverwrittenBuffers,
    pub rows: Rows,
    /// Cells of special registers, with their stride between items. Their value for item 0 is 0.
    pub strides: SmallVec<[(Cell, u32); 4]>,
}

// SAFETY: the borrowed targets are the buffers of the arguments, whose addresses are written at each launch, and
// immutable code. A launch has exclusive access.
unsafe impl Send for Repeat {}
// SAFETY: as for `Send`; a shared reference gives no access to the state.
unsafe impl Sync for Repeat {}
impl UnwindSafe for Repeat {}
impl RefUnwindSafe for Repeat {}

impl Repeat {
    pub(super) fn new(jit: &Jit, state: State, order: &LaunchOptions<'_>, threads: NonZero<u16>) -> Repeat {
        Repeat { state, threads, shape: order.shape, jit: jit.clone() }
    }

    /// Returns `true` if this is a launch of the same code.
    pub(crate) fn is_of(&self, jit: &Jit) -> bool {
        Arc::ptr_eq(&self.jit.0, &jit.0)
    }

    /// Returns `true` if a launch differs only in its arguments. An `out` buffer that the first launch did not zero
    /// must also be overwritten completely by this launch.
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

    /// Relaunches the kernel.
    ///
    /// # Errors
    /// As for the first launch. Loaded values can make this launch fail although the first launch succeeded.
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
            // SAFETY: the code was compiled for contexts of this map and has run with this context before. The code
            // stays within the context and calls functions that check every access.
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

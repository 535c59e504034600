//! Launches of compiled code: rows one after another, on as many threads as are worthwhile.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use halfbyte_isa::halu::domain::SpecialReg;

use super::Compiled;
use super::cells::Cell;
use super::compile::Start;
use super::context::{CHUNK, Context, MASK};
use super::context::{FaultKind, Parts, RawBuffer, RowFault, Shared};
use super::front::Kernel;
use super::layout::{Cut, Layout};
use super::repeat::State;
use super::runner::Runner;
use super::sized::{Frame, GroupCode};
use crate::clif::NativeError;
use crate::host::HostMemory;
use crate::launch::LaunchOptions;
use crate::threads::{available, run_each};
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::{Buffer, Buffers, OverwrittenBuffer, OverwrittenBuffers};
use halfbyte_isa::halu::special::Special;
use halfbyte_isa::trap::{Access, Fault, Space, TrapKind};

/// Minimum number of instructions of all items for each thread.
const WORDS_OF_A_THREAD: u64 = 1 << 18;
/// Number of lots per thread. If a thread starts late, the other threads take its lots.
const LOTS_OF_A_THREAD: u32 = 16;
/// Minimum number of items for each thread, whatever the length of the kernel.
const ITEMS_OF_A_THREAD: u32 = 64;

/// Reason for a failed launch.
pub enum Stop {
    /// The lowest item that trapped, and its trap.
    Fault(u32, Fault),
    /// Some code that the launch needs cannot be compiled.
    Native(NativeError),
}

/// Memory of a launch.
pub trait Reached<'a> {
    /// Global memory.
    fn buffers(&mut self) -> &mut Buffers<'a>;
    /// Returns the memory of the process, if the launch runs on this memory.
    fn host(&self) -> Option<&HostMemory<'a>> {
        None
    }
    /// Constant bank 0.
    fn constants(&mut self) -> &mut Vec<u8>;
    /// Returns the ranges of the bank, in ascending order. An access must stay within one range.
    fn parts(&self) -> Parts;
    /// Returns `true` if a buffer is also at the addresses of constant memory.
    fn is_constant(&self, buffer: usize) -> bool;
    /// Returns the reason why an access that native code did not execute is invalid.
    fn why_not(&mut self, access: Access, space: Space, address: u64, count: usize) -> TrapKind;
}

/// Returns the address and the size of a buffer.
pub(super) fn raw(buffer: Option<&mut Buffer<'_>>, constant: bool) -> RawBuffer {
    let Some(buffer) = buffer else {
        return RawBuffer { start: std::ptr::null_mut(), bytes: 0, writable: false, constant: false };
    };
    if let Some(bytes) = buffer.written() {
        return RawBuffer { start: bytes.as_mut_ptr(), bytes: bytes.len(), writable: true, constant };
    }
    let bytes = buffer.bytes();
    RawBuffer { start: bytes.as_ptr().cast_mut(), bytes: bytes.len(), writable: false, constant }
}

impl Compiled {
    /// Runs all items of a launch, cut into rows for this layout. Stores the state for relaunches to `left` if the
    /// launch can be relaunched.
    pub(super) fn launch<'m>(
        &self,
        kernel: &Kernel<'_>,
        memory: &mut impl Reached<'m>,
        (order, cut): (LaunchOptions<'_>, Cut),
        threads: NonZero<u16>,
        left: Option<&mut Option<State>>,
    ) -> Result<Stats, Stop> {
        let covered = match cut.run == order.items {
            true => {
                let constants = std::mem::take(memory.constants());
                let covered = self.covers.buffers(&constants, order.items, memory.buffers());
                *memory.constants() = constants;
                covered
            }
            false => OverwrittenBuffers::new(),
        };
        memory.buffers().zero_out_buffers_except(&covered);
        let count = memory.buffers().0.len();
        let buffer = |number: usize| {
            let constant = memory.is_constant(number);
            raw(memory.buffers().0.get_mut(number).and_then(Option::as_mut), constant)
        };
        let buffers = (0..count).map(buffer).collect();
        let threads = self.threads(&order, threads.get().into());
        let shared = Shared {
            buffers,
            host: memory.host().map_or(std::ptr::null(), |host| std::ptr::from_ref(host).cast()),
            parts: memory.parts(),
            constants: std::mem::take(memory.constants()),
            mask: self.map.row(MASK) as usize,
            is_alone: threads == 1,
        };
        let width = match threads {
            1 => self.map.width,
            threads => {
                self.map.width.min((order.items / (LOTS_OF_A_THREAD * threads)).next_multiple_of(ITEMS_OF_A_THREAD))
            }
        };
        let rows = match kernel.groups {
            Some(size) => Rows { run: size, width: size, whole: 1, of_run: 1, count: order.items / size },
            None => Rows::new(order.items, cut.run, width),
        };
        let sized = self.sized(kernel, &order);
        let launch = Launch {
            compiled: self,
            kernel,
            shared: &shared,
            order,
            cut,
            rows,
            sized,
            faulted: AtomicU32::new(u32::MAX),
            is_kept: left.is_some(),
        };
        let mut outcome = match threads {
            1 => launch.work(&mut std::iter::once(0..launch.rows.count)),
            threads => launch.share(threads),
        };
        let rows = launch.rows;
        let is_one_run = cut.layout == Layout::Along && cut.run == order.items;
        let context = outcome.context.take();
        *memory.constants() = if let Some(left) = left
            && let Some(context) = context
            && let (Some(start), true, None, None) = (self.only_start(), is_one_run, &outcome.error, &outcome.fault)
        {
            let constants = shared.constants.clone();
            let stride = |&(cell, register): &(Cell, SpecialReg)| (cell, Special::new(register, &order.shape).local[0]);
            let strides = self.specials.iter().map(stride).collect();
            *left = Some(State { context, shared: Box::new(shared), start, covered: covered.clone(), rows, strides });
            constants
        } else {
            shared.constants
        };
        outcome.end(memory, &covered)
    }

    /// Returns the entry point, if each row enters the code once and the code needs no information about the launch.
    fn only_start(&self) -> Option<Start> {
        let is_plain = self.is_one_block && self.run.is_none() && self.flow.entry_rows.is_empty();
        self.together.starts.first().copied().flatten().filter(|_| is_plain)
    }

    /// Returns the number of threads that are worthwhile for a launch, at most `most` and the available threads.
    fn threads(&self, order: &LaunchOptions<'_>, most: u32) -> u32 {
        if most == 1 {
            return 1;
        }
        let items = order.items;
        let by_items = items / ITEMS_OF_A_THREAD;
        let words = self.blocks.last().map_or(0, |block| block.end);
        let by_words = u64::from(items) * u64::from(words) / WORDS_OF_A_THREAD;
        let pay = if self.flow.has_loop { by_items } else { by_items.min(by_words.try_into().unwrap_or(u32::MAX)) };
        most.min(pay).min(available(order.pool) as u32).max(1)
    }
}

/// State of a launch.
struct Launch<'a> {
    compiled: &'a Compiled,
    kernel: &'a Kernel<'a>,
    shared: &'a Shared,
    order: LaunchOptions<'a>,
    cut: Cut,
    rows: Rows,
    /// Code for whole groups.
    sized: Option<Arc<GroupCode>>,
    /// Lowest item that has faulted. Items after it need not run.
    faulted: AtomicU32,
    /// `true` if the context is wanted for relaunches.
    is_kept: bool,
}

/// Result of the rows that have run.
#[derive(Default)]
pub(super) struct Outcome {
    pub stats: Stats,
    /// Lowest item that faulted.
    pub fault: Option<(u32, RowFault)>,
    pub error: Option<NativeError>,
    /// Context of a thread, if it is wanted for relaunches.
    context: Option<Context>,
}

impl Outcome {
    /// Adds the result of other rows.
    fn add(&mut self, other: Outcome) {
        self.stats.issued += other.stats.issued;
        self.stats.backward_branches += other.stats.backward_branches;
        self.error = self.error.take().or(other.error);
        let faults = self.fault.take().into_iter().chain(other.fault);
        self.fault = faults.min_by_key(|(item, _)| *item);
    }

    /// Returns the result of a launch. After a failure, zeroes the items of overwritten buffers that the launch did not
    /// write.
    pub fn end<'m>(self, memory: &mut impl Reached<'m>, covered: &[OverwrittenBuffer]) -> Result<Stats, Stop> {
        if let Some(error) = self.error {
            memory.buffers().zero_unwritten_items(covered, 0);
            return Err(Stop::Native(error));
        }
        let Some((item, RowFault { address, kind, .. })) = self.fault else { return Ok(self.stats) };
        // All items before this one have run to completion.
        memory.buffers().zero_unwritten_items(covered, item);
        let kind = match kind {
            FaultKind::Known(kind) => kind,
            FaultKind::Memory { access, space, address, bytes } => {
                memory.why_not(access, space, address, bytes as usize)
            }
        };
        Err(Stop::Fault(item, Fault { address: address as usize, kind }))
    }
}

impl Launch<'_> {
    /// Runs all rows on `threads` threads. Each thread takes the next lot when it has finished one.
    fn share(&self, threads: u32) -> Outcome {
        let lot = (self.rows.count / (LOTS_OF_A_THREAD * threads)).max(1);
        let (next, all) = (AtomicU32::new(0), Mutex::new(Outcome::default()));
        run_each(self.order.pool, 0..threads, |_| {
            let mut lots = std::iter::repeat_with(|| {
                let start = next.fetch_add(lot, Ordering::Relaxed);
                start..start.saturating_add(lot)
            });
            let done = self.work(&mut lots);
            all.lock().unwrap_or_else(PoisonError::into_inner).add(done);
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs lots of rows until no lot is left.
    fn work(&self, lots: &mut dyn Iterator<Item = Range<u32>>) -> Outcome {
        let mut done = Outcome::default();
        match Runner::new(self.compiled, self.kernel, self.shared, &self.order, self.cut) {
            Ok(mut runner) => {
                let items = self.kernel.groups.unwrap_or(0);
                runner.frame =
                    self.sized.clone().and_then(|sized| Frame::new(sized, &self.order.shape, items, self.shared));
                while let Some(rows) = lots.next()
                    && self.lot(rows, &mut runner, &mut done).is_continue()
                {}
                done.stats = runner.stats;
                if self.is_kept {
                    done.context = Some(runner.context);
                }
            }
            Err(error) => done.error = Some(error),
        }
        done
    }

    /// Runs the rows of a lot.
    fn lot(&self, rows: Range<u32>, runner: &mut Runner<'_>, done: &mut Outcome) -> ControlFlow<()> {
        for row in rows {
            let Some((first, count)) = self.rows.get(row) else { return ControlFlow::Break(()) };
            if first > self.faulted.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            match runner.row(first, count) {
                Ok(None) => self.order.advance(count),
                Ok(Some((item, fault))) => {
                    self.faulted.fetch_min(item, Ordering::Relaxed);
                    done.fault = Some((item, fault));
                    return ControlFlow::Break(());
                }
                Err(error) => {
                    done.error = Some(error);
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Rows of a launch. Each run has rows of full width, then a row of the remaining whole chunks, then a row of the
/// remaining items.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    run: u32,
    width: u32,
    /// Rows of full width per run, and rows per run.
    whole: u32,
    of_run: u32,
    count: u32,
}

impl Rows {
    /// Returns the rows of `items` items in runs of `run` items, which divides `items`.
    fn new(items: u32, run: u32, width: u32) -> Rows {
        let whole = run / width;
        let rest = run % width;
        let of_run = whole + u32::from(rest >= CHUNK) + u32::from(!rest.is_multiple_of(CHUNK));
        Rows { run, width, whole, of_run, count: items / run * of_run }
    }

    /// Returns the first item and the number of items of a row, or `None` after the last row.
    pub fn get(&self, row: u32) -> Option<(u32, u32)> {
        if row >= self.count {
            return None;
        }
        // Groups are many and short, so the cost of a division matters.
        if (self.whole, self.of_run) == (1, 1) {
            return Some((row * self.run, self.width));
        }
        let (run, row) = (row / self.of_run * self.run, row % self.of_run);
        if row < self.whole {
            return Some((run + row * self.width, self.width));
        }
        let start = self.whole * self.width;
        let chunks = (self.run - start) / CHUNK * CHUNK;
        match row - self.whole {
            0 if chunks != 0 => Some((run + start, chunks)),
            _ => Some((run + start + chunks, self.run - start - chunks)),
        }
    }
}

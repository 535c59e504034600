//! Execution of a row of items by compiled code while all items are convergent.

mod cuts;
pub(crate) mod divergence;
mod mask;
pub(crate) mod meet;

use halfbyte_abi::{ItemPosition, Shape};
use halfbyte_isa::halu::domain::SpecialReg;
use smallvec::SmallVec;

use super::Compiled;
use super::access::leave;
use super::cells::Cell;
use super::compile::{Code, Leave, Start};
use super::context::{ALONG, CONDITION, Context};
use super::context::{CHUNK, FaultKind, Own, RowFault, Shared};
use super::dataflow;
use super::front::Kernel;
use super::graph::{BlockId, Next, Target};
use super::layout::{Cut, Layout, fill};
use super::sized::Frame;
use super::split::{Split, first_part};
use crate::clif::NativeError;
use crate::launch::LaunchOptions;
use cuts::Cuts;
use divergence::Groups;
use halfbyte_abi::{Stats, Work};
use halfbyte_isa::halu::special::Special;
use halfbyte_isa::trap::TrapKind;
use meet::Meetings;

/// Number of instructions, summed over all items, between two counts of the work: some milliseconds of execution.
pub(super) const WORK_OF_A_SLICE: u64 = if cfg!(test) { 1 << 10 } else { 1 << 22 };

/// Result of running a row.
enum Done {
    All,
    /// Nothing has run: the first items, in this number, must run as a row of their own.
    Parts(u32),
    Fault(u32, RowFault),
    /// Nothing has run: a guard does not hold for all items.
    Guarded,
}

/// Maximum size of a row that runs on the general code if a guard fails, instead of being split into two rows.
const FEW: u32 = 256;
/// Maximum size of a row of the general code.
const MOST_ROW: u32 = 1024;
/// Number of consecutive rows with a failed guard after which guards are not tried any more.
const MOST_IN_VAIN: u32 = 16;

/// State of a thread of a launch.
pub(super) struct Runner<'a> {
    pub compiled: &'a Compiled,
    pub kernel: &'a Kernel<'a>,
    pub context: Context,
    pub budget: u64,
    /// Counter of the work in `stats`. `counted` is the amount that has already been added.
    pub work: Work<'a>,
    counted: u64,
    /// Maximum number of convergent backward branches between two counts of the work.
    slice: u64,
    pub stats: Stats,
    /// Backward branches that all items of the row have taken while convergent.
    pub together: u64,
    /// Headroom of backward branches that the context was given last.
    granted: u64,
    /// Backward branches of each item while diverged; empty or all zero unless `counted_alone`.
    alone: Vec<u64>,
    counted_alone: bool,
    /// Upper bound of the values in `alone`.
    most_alone: u64,
    /// Shape of the launch; `true` if the launch is one run.
    shape: Shape,
    is_one_run: bool,
    /// Items per run.
    run: u32,
    cuts: Cuts,
    /// Number of consecutive rows whose guards did not hold.
    vain: u32,
    /// Special registers that the code reads, with their cells.
    specials: SmallVec<[(Cell, SpecialReg, Special); 4]>,
    /// Position of the first item, and number of items, for which the rows of special registers are set.
    placed: Option<(ItemPosition, u32)>,
    pub groups: Groups,
    pub meetings: Meetings,
    /// Buffer for reuse.
    spare: Vec<u32>,
    /// Shared memory of the group, and private memory of its items.
    own: OwnMemory,
    /// Frame for code that executes whole groups.
    pub frame: Option<Frame>,
}

impl<'a> Runner<'a> {
    pub fn new(
        compiled: &'a Compiled,
        kernel: &'a Kernel<'a>,
        shared: &Shared,
        order: &LaunchOptions<'a>,
        cut: Cut,
    ) -> Result<Runner<'a>, NativeError> {
        let map = match compiled.divergent.get() {
            Some(Ok(divergent)) => divergent.map,
            _ => compiled.map,
        };
        let mut context = Context::new(map).ok_or(NativeError::TooLarge)?;
        let header = context.header();
        header.shared = shared;
        header.constants = shared.constants.as_ptr();
        let [across, down, _] = order.shape.block;
        (header.across, header.down) = (across.max(1), down);
        if compiled.layout == Layout::Planes {
            let [along_x, along_y] = ALONG;
            for line in context.row(along_x).chunks_mut(across.max(1) as usize) {
                (0..).zip(line).for_each(|(x, word)| *word = x);
            }
            for (y, line) in (0..).zip(context.row(along_y).chunks_mut(across.max(1) as usize)) {
                line.fill(y);
            }
        }
        let special = |&(cell, register): &(Cell, SpecialReg)| (cell, register, Special::new(register, &order.shape));
        Ok(Runner {
            shape: order.shape,
            is_one_run: cut.run == order.items,
            run: cut.run.max(1),
            cuts: Cuts::default(),
            vain: 0,
            specials: compiled.specials.iter().map(special).collect(),
            compiled,
            kernel,
            context,
            budget: order.budget,
            work: order.work(),
            counted: 0,
            slice: 0,
            stats: Stats::default(),
            together: 0,
            granted: 0,
            alone: Vec::new(),
            counted_alone: false,
            most_alone: 0,
            placed: None,
            groups: Groups::default(),
            meetings: Meetings::default(),
            spare: Vec::new(),
            own: OwnMemory::default(),
            frame: None,
        })
    }

    /// Returns the backward branches of each item while diverged, to be counted.
    pub fn alone(&mut self) -> &mut [u64] {
        self.counted_alone = true;
        self.alone.resize(self.compiled.map.width as usize, 0);
        &mut self.alone
    }

    /// Runs a row. Returns the faulting item and its fault, if any.
    pub fn row(&mut self, first: u32, count: u32) -> Result<Option<(u32, RowFault)>, NativeError> {
        if let Some(frame) = &mut self.frame {
            let (work, counted) = (&mut self.work, &mut self.counted);
            let may_go_on = |more: u64| {
                *counted += more;
                work.count(more);
                work.poll()
            };
            if let Some((issued, backward)) = frame.run(&self.shape, first, self.budget, may_go_on)? {
                self.stats.issued += issued;
                self.stats.backward_branches += backward;
                self.count_work()?;
                return Ok(None);
            }
        }
        self.cuts.begin(first % self.run, count);
        let mut done = 0;
        while done != count {
            let mut end = self.cuts.end(done);
            loop {
                match self.part(first + done, end - done)? {
                    Done::Parts(items) => end = self.cuts.cut(done, items),
                    Done::Fault(item, fault) => return Ok(Some((item, fault))),
                    Done::All | Done::Guarded => break,
                }
            }
            done = end;
        }
        Ok(None)
    }

    /// Runs a part of a row: on the code for runs if its guards hold, and on the general code otherwise.
    fn part(&mut self, first: u32, count: u32) -> Result<Done, NativeError> {
        let compiled = self.compiled;
        if let Some(run) = compiled.run.as_ref().filter(|_| self.vain < MOST_IN_VAIN) {
            match self.part_on((&run.code, &run.splits), first, count)? {
                Done::Guarded if count > FEW => return Ok(Done::Parts((count / 2).next_multiple_of(CHUNK))),
                Done::Guarded => self.vain += 1,
                done => {
                    self.vain = 0;
                    return Ok(done);
                }
            }
        }
        // Rows of runs are longer than the optimum of the general code.
        if compiled.run.is_some() && count > MOST_ROW {
            return Ok(Done::Parts(MOST_ROW));
        }
        self.part_on((&compiled.together, &compiled.splits), first, count)
    }

    /// Runs a part of a row on some code. Restores the statistics if the part must run again.
    fn part_on(&mut self, code: (&Code, &[Option<Split>]), first: u32, count: u32) -> Result<Done, NativeError> {
        let before = self.stats;
        let done = self.attempt(code, first, count)?;
        if matches!(done, Done::Parts(_) | Done::Guarded) {
            self.stats = before;
        }
        Ok(done)
    }

    fn attempt(
        &mut self,
        (code, splits): (&Code, &[Option<Split>]),
        first: u32,
        count: u32,
    ) -> Result<Done, NativeError> {
        self.begin(first, count);
        let mut at = BlockId(0);
        loop {
            let start = start_of(code, at)?;
            let (leave, block) = self.call(start);
            if self.context.header().items == 0 {
                break;
            }
            at = match leave {
                Leave::Go => block,
                Leave::Done => break,
                Leave::Fault | Leave::FaultFall => {
                    let fault = self.bad_target(block, leave == Leave::Fault);
                    self.fault(0, fault);
                    break;
                }
                Leave::Budget => {
                    self.sync();
                    self.count_work()?;
                    match self.over_budget(block) {
                        Some(at) => at,
                        None => break,
                    }
                }
                Leave::Meet => match self.meet(block)? {
                    Some(at) => at,
                    None => break,
                },
                Leave::Guarded => return Ok(Done::Guarded),
                Leave::Part => match self.first_part(splits.get(block.index()).copied().flatten()) {
                    Some(items) => return Ok(Done::Parts(items)),
                    // A run has no code for diverged items.
                    None if !std::ptr::eq(code, &raw const self.compiled.together) => return Ok(Done::Guarded),
                    None => match self.divergent(block)? {
                        Some(at) => at,
                        None => break,
                    },
                },
            };
        }
        self.sync();
        let header = self.context.header();
        self.stats.issued += header.issued * u64::from(header.items);
        self.stats.backward_branches += self.together * u64::from(header.items);
        (header.issued, self.together) = (0, 0);
        self.count_work()?;
        let header = self.context.header();
        Ok(match header.fault.take() {
            Some(fault) => Done::Fault(first + fault.item, fault),
            None => Done::All,
        })
    }

    /// Returns the number of items before the point where a condition changes, if the row can be split into two rows
    /// there.
    fn first_part(&mut self, split: Option<Split>) -> Option<u32> {
        let header = self.context.header();
        let items = header.items;
        match split? {
            // A single item has a known condition.
            Split::ByEnds => (items > 1).then(|| header.cut.clamp(1, items - 1)),
            Split::ByEach => first_part(self.context.row(CONDITION).get(..items as usize)?),
        }
    }

    fn begin(&mut self, first: u32, count: u32) {
        let header = self.context.header();
        header.set_items(count);
        header.issued = 0;
        header.fault = None;
        (header.round, header.rounds) = (0, std::ptr::null_mut());
        // No instruction is executed twice between two backward branches.
        let words = self.kernel.front.count() as u64 * u64::from(count);
        self.slice = (WORK_OF_A_SLICE / words.max(1)).max(1);
        self.together = 0;
        if std::mem::take(&mut self.counted_alone) {
            self.alone.fill(0);
            self.most_alone = 0;
        }
        self.grant();
        self.context.clear_slots();
        for &cell in &self.compiled.flow.entry_rows {
            self.context.row(self.compiled.map.cell(cell)).fill(0);
        }
        self.place(first, count);
        if self.kernel.groups.is_some() {
            self.begin_meetings(count);
        }
        self.own.begin(self.kernel, count);
        self.context.header().own = self.own.raw(self.kernel);
    }

    /// Sets the special registers for the items of a row.
    fn place(&mut self, first: u32, count: u32) {
        let layout = self.compiled.layout;
        let place = self.shape.place(first);
        let before = self.placed.replace((place, count)).filter(|(_, before)| *before == count);
        for (cell, register, special) in &self.specials {
            match layout {
                Layout::Groups | Layout::Planes if !layout.shape(*register).is_varying() => {
                    *self.context.slot(*cell) = special.at(&place);
                }
                // All items' values differ by the same amount from one group to another.
                Layout::Groups | Layout::Planes if let Some((before, _)) = &before => {
                    let by = special.at(&place).wrapping_sub(special.at(before));
                    if by != 0 {
                        let row = self.context.row(self.compiled.map.cell(*cell)).iter_mut().take(count as usize);
                        row.for_each(|word| *word = word.wrapping_add(by));
                    }
                }
                Layout::Along if self.is_one_run => {
                    let Special { local: [stride, ..], .. } = special;
                    *self.context.slot(*cell) = stride.wrapping_mul(first);
                }
                Layout::Along => *self.context.slot(*cell) = special.at(&place),
                Layout::Apart | Layout::Groups | Layout::Planes => {
                    // Loops may also compute items beyond `count`, up to a whole chunk. Their values are irrelevant.
                    if let Some(row) = self.context.row(self.compiled.map.cell(*cell)).get_mut(..count as usize) {
                        fill(row, special, &self.shape, first);
                    }
                }
            }
        }
    }

    pub fn call(&mut self, start: Start) -> (Leave, BlockId) {
        // SAFETY: the code was compiled for contexts of this map, or for a map of which this one is an extension. The
        // code stays within the context and calls functions that check every access.
        Leave::of(unsafe { (start.function)(self.context.as_ptr(), start.number) })
    }

    /// Adds the backward branches that the code has taken to `together`.
    pub fn sync(&mut self) {
        let headroom = self.context.header().headroom;
        self.together += self.granted.saturating_sub(headroom);
        self.granted = headroom;
    }

    /// Adds the work since the last call to the counter. Fails if the launch may not continue.
    pub fn count_work(&mut self) -> Result<(), NativeError> {
        let header = self.context.header();
        let row = (header.issued + self.together) * u64::from(header.items);
        let all = self.stats.issued + self.stats.backward_branches + row;
        // Items that faulted are no longer in the row.
        let more = all.saturating_sub(std::mem::replace(&mut self.counted, all));
        Ok(self.work.add(more)?)
    }

    /// Sets the number of backward branches that all items may take until the next count of the work.
    pub fn grant(&mut self) {
        let items = if self.counted_alone { self.context.header().items } else { 0 };
        let alone = self.alone.iter().take(items as usize).max().copied().unwrap_or(0);
        self.granted = self.budget.saturating_sub(self.together + alone).min(self.slice);
        self.context.header().headroom = self.granted;
    }

    /// Records a fault of an item, unless the item is no longer in the row.
    pub fn fault(&mut self, item: u32, (address, kind): (u32, TrapKind)) {
        self.fault_of(item, address, FaultKind::Known(kind));
    }

    /// Records a fault of any kind, including invalid accesses, unless the item is no longer in the row.
    fn fault_of(&mut self, item: u32, address: u32, kind: FaultKind) {
        if item < self.context.header().items {
            // SAFETY: the header is that of the runner's context, made for this launch.
            unsafe { leave(self.context.as_ptr(), item, address, kind) };
        }
    }

    /// Returns the fault of items whose branch target is outside the kernel.
    pub fn bad_target(&self, block: BlockId, taken: bool) -> (u32, TrapKind) {
        let words = self.kernel.front.count() as u32;
        let Some(block) = self.compiled.blocks.get(block.index()) else { return (0, TrapKind::RanPastEnd) };
        let target = match block.next {
            Next::Undefined(word) => return (block.start, undefined(word)),
            Next::To(target) => Some(target),
            Next::Branch { taken: target, .. } if taken => Some(target),
            Next::Branch { fall, .. } | Next::ExitIf { fall } => Some(fall),
            Next::Exit | Next::Meet { .. } => None,
        };
        match target {
            Some(Target::Outside(target)) => (block.last(), TrapKind::BranchOutside { target, words }),
            _ => (block.last(), TrapKind::RanPastEnd),
        }
    }

    /// Handles a backward branch without headroom. Records a fault if an item has exhausted its budget; otherwise the
    /// slice is over. Returns the block at which the remaining items continue, if any.
    fn over_budget(&mut self, block: BlockId) -> Option<BlockId> {
        self.sync();
        let spent = self.budget - self.together;
        let address = self.compiled.blocks.get(block.index())?.last();
        let items = self.context.header().items as usize;
        let over = match self.counted_alone {
            true => self.alone.iter().take(items).position(|&alone| alone >= spent),
            false => (spent == 0).then_some(0),
        };
        if let Some(first) = over {
            self.fault(first as u32, (address, TrapKind::Budget { limit: self.budget }));
            if first == 0 {
                return None;
            }
        }
        self.together += 1;
        self.grant();
        match self.compiled.blocks.get(block.index())?.next {
            Next::To(target) | Next::Branch { taken: target, .. } => {
                let to = target.block()?;
                self.enter(block, to);
                Some(to)
            }
            _ => None,
        }
    }

    /// Spreads the cells that are rows in convergent code at `to` but not at the end of `from`.
    fn enter(&mut self, from: BlockId, to: BlockId) {
        let flow = &self.compiled.flow;
        for cell in flow.live.iter(to).filter(|&cell| flow.shape_before(to, cell).is_varying()) {
            self.spread(cell, flow.shape_after(from, cell));
        }
    }

    /// Returns the number of items of a group along x.
    pub fn across(&self) -> u32 {
        let [across, ..] = self.shape.block;
        across
    }

    /// Fills the row of a cell from its shape and its value in the first item. A varying cell is already in its row.
    pub fn spread(&mut self, cell: Cell, shape: dataflow::Shape) {
        let across = self.across();
        let first = *self.context.slot(cell);
        let first = if self.compiled.cells.is_pred(cell) { first.wrapping_neg() } else { first };
        let items = self.context.header().items.next_multiple_of(CHUNK) as usize;
        let row = self.context.row(self.compiled.map.cell(cell));
        let row = row.iter_mut().take(items);
        match shape {
            dataflow::Shape::Varying => {}
            dataflow::Shape::Uniform => row.for_each(|word| *word = first),
            _ => (0..).zip(row).for_each(|(item, word)| *word = shape.at(first, item, across)),
        }
    }
}

/// Shared memory of a group, and private memory of its items.
#[derive(Default)]
struct OwnMemory {
    shared: Vec<u8>,
    scratch: Vec<u8>,
}

impl OwnMemory {
    /// Zeroes the memory for a row of `items` items.
    fn begin(&mut self, kernel: &Kernel<'_>, items: u32) {
        self.shared.clear();
        self.shared.resize(kernel.shared_bytes, 0);
        self.scratch.clear();
        self.scratch.resize(kernel.scratch_bytes * items as usize, 0);
    }

    fn raw(&mut self, kernel: &Kernel<'_>) -> Own {
        Own {
            shared: self.shared.as_mut_ptr(),
            shared_bytes: self.shared.len(),
            scratch: self.scratch.as_mut_ptr(),
            scratch_bytes: kernel.scratch_bytes,
            scratch_start: kernel.scratch_start,
        }
    }
}

pub(super) fn start_of(code: &Code, block: BlockId) -> Result<Start, NativeError> {
    let start = code.starts.get(block.index()).copied().flatten();
    start.ok_or_else(|| NativeError::Code(format!("block {} was thought out of reach", block.0)))
}

pub(super) fn undefined(word: u128) -> TrapKind {
    TrapKind::Undefined { word, bytes: size_of::<u128>() as u32 }
}

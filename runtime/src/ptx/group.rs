//! Execution of PTX thread blocks whose threads synchronise. In a cooperative launch, all blocks are resident.

use std::ops::Range;

use arrayvec::ArrayVec;
use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::{Race, RaceDetector, SUBGROUP, SharedLocation, SubgroupOp, SyncOp};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::ptx::Reg;
use halfbyte_isa::ptx::meaning::{self, Location, Reader};

use super::interp::{self, Item, ItemStats, Position, Thread, View};
use super::memory::{AccessOrigin, Memory};
use super::stack::Stack;
use crate::group::{self, Runner, Stop};
use halfbyte_abi::Work;
use halfbyte_isa::ptx::program::Program;
use halfbyte_isa::ptx::special::SharedMemory;
use halfbyte_isa::trap::{Access, ConflictingAccess, Fault, Halt, Space, TrapKind};

/// A thread with its stack and the state of its wait, stored while other threads run.
struct SuspendedThread<'p> {
    thread: Thread<'p>,
    stack: Stack,
    /// Registers that receive the results of the collective operation at which the thread waits.
    results: [Option<Reg>; 2],
    /// `true` if the thread waits at an instruction that its whole warp executes together.
    is_collective: bool,
    /// `true` if the thread waits at a warp-wide instruction at which all threads of its warp have
    /// arrived.
    has_met: bool,
}

/// Executor of the threads of one or more resident blocks. One block runs at a time.
struct Blocks<'p, 'r, 'm, 'w> {
    program: &'p Program<'p>,
    shape: &'r Shape,
    /// Number, in the launch, of the first resident block.
    start: u32,
    /// Number of the running block among the resident blocks, counted from 0.
    running: u32,
    /// Number, in the launch, of the running block's first thread.
    first: u32,
    /// Shared memory of each suspended block. The entry of the running block is empty, because
    /// `memory` holds its shared memory.
    shared: Vec<Vec<u8>>,
    memory: &'r mut Memory<'m>,
    budget: u64,
    work: &'r mut Work<'w>,
}

impl<'p> Runner for Blocks<'p, '_, '_, '_> {
    type ItemState = SuspendedThread<'p>;
    type Position = Position;

    fn select(&mut self, block: u32) {
        if block == self.running {
            return;
        }
        for block in [self.running, block] {
            if let Some(shared) = self.shared.get_mut(block as usize) {
                std::mem::swap(shared, &mut self.memory.shared);
            }
        }
        (self.running, self.first) = (block, (self.start + block) * block_size(self.shape));
        if let Some(races) = &mut self.memory.races {
            races.switch_to(self.start + block);
        }
    }

    fn run(&mut self, number: u32, slot: &mut SuspendedThread<'p>) -> Result<Stop, Halt> {
        let Blocks { program, shape, first, ref mut memory, budget, ref mut work, .. } = *self;
        memory.item = first + number;
        let item = Item { shape, place: shape.place(first + number) };
        std::mem::swap(&mut memory.stack, &mut slot.stack);
        let stop = slot.thread.run(program, item, memory, budget, work);
        std::mem::swap(&mut memory.stack, &mut slot.stack);
        Ok(match stop? {
            interp::Stop::End => Stop::End,
            interp::Stop::Yield => Stop::Yield,
            interp::Stop::Collective { sync_op, results } => {
                slot.results = results;
                slot.is_collective = sync_op == SyncOp::Subgroup { mask: u32::MAX, of: SubgroupOp::Collective };
                Stop::Collective(sync_op)
            }
        })
    }

    fn resume(&self, slot: &mut SuspendedThread<'p>, given: [u64; 2]) {
        if slot.is_collective {
            slot.has_met = true;
            return;
        }
        let given = slot.results.into_iter().zip(given).filter_map(|(reg, value)| Some((reg?, value)));
        let given: ArrayVec<(Reg, u64), 2> = given.collect();
        slot.thread.resume(&given);
    }

    fn execute_collectives(&mut self, slots: &mut [SuspendedThread<'p>]) -> Result<(), (u32, Halt)> {
        let Blocks { program, shape, first, ref mut memory, .. } = *self;
        // An incomplete warp cannot execute a warp-wide instruction.
        let (warps, _) = slots.as_chunks_mut::<LANES>();
        for (item, slots) in (0..).step_by(LANES).zip(warps) {
            let inst = program.collectives.get(&slots[0].thread.address()).filter(|_| slots[0].has_met);
            let Some(inst) = inst else { continue };
            let mut warp = Warp { shape, number: item / SUBGROUP, first: first + item, slots, memory };
            inst.execute(&mut warp).map_err(|(lane, fault)| (item + lane, Halt::Fault(fault)))?;
            for slot in slots {
                slot.has_met = false;
                slot.thread.resume(&[]);
            }
        }
        Ok(())
    }

    fn address(slot: &SuspendedThread<'p>) -> usize {
        slot.thread.address()
    }

    fn call_address(slot: &SuspendedThread<'p>) -> Option<usize> {
        slot.thread.call_address()
    }

    fn position(slot: &SuspendedThread<'p>) -> Position {
        slot.thread.position()
    }

    fn races(&mut self) -> &mut Option<RaceDetector> {
        &mut self.memory.races
    }

    fn is_changed(&mut self) -> bool {
        std::mem::take(&mut self.memory.is_changed)
    }
}

/// A warp whose threads are all at the same instruction.
struct Warp<'p, 'r, 'm> {
    shape: &'r Shape,
    /// Number of the warp in the block.
    number: u32,
    /// Number, in the launch, of the warp's first thread.
    first: u32,
    slots: &'r mut [SuspendedThread<'p>; LANES],
    memory: &'r mut Memory<'m>,
}

const LANES: usize = SUBGROUP as usize;

impl<'m> Warp<'_, '_, 'm> {
    /// Makes the thread of a lane the current thread of the memory. Returns the memory and the
    /// address of the instruction that the lane executes.
    fn of_lane(&mut self, lane: u32) -> (&mut Memory<'m>, usize) {
        self.memory.item = self.first + lane;
        let address = self.slots[lane as usize % LANES].thread.address();
        (self.memory, address)
    }
}

impl meaning::Warp for Warp<'_, '_, '_> {
    type Fault = (u32, Fault);

    fn number(&self) -> u32 {
        self.number
    }

    fn reader(&mut self, lane: u32) -> impl Reader<Concrete> {
        let item = Item { shape: self.shape, place: self.shape.place(self.first + lane) };
        View::new(&self.slots[lane as usize % LANES].thread, item, self.memory)
    }

    fn set(&mut self, lane: u32, reg: Reg, word: u32) {
        self.slots[lane as usize % LANES].thread.set(reg, word.into());
    }

    fn load(&mut self, lane: u32, place: Location<u32>, into: &mut [u8]) -> Result<(), Self::Fault> {
        let (memory, address) = self.of_lane(lane);
        let by = AccessOrigin { address: Some(address), strong: None };
        let fault = |kind| (lane, Fault { address, kind });
        let bytes = memory.load(place, into.len(), by).map_err(fault)?;
        into.iter_mut().zip(bytes).for_each(|(into, byte)| *into = *byte);
        Ok(())
    }

    fn store(&mut self, lane: u32, place: Location<u32>, bytes: &[u8]) -> Result<(), Self::Fault> {
        let (memory, address) = self.of_lane(lane);
        let by = AccessOrigin { address: Some(address), strong: None };
        let fault = |kind| (lane, Fault { address, kind });
        memory.store(place, bytes, by).map_err(fault)
    }
}

/// Returns the number of threads per block.
pub(super) fn block_size(shape: &Shape) -> u32 {
    shape.block.into_iter().product::<u32>().max(1)
}

/// Returns the approximate size in bytes of the memory that a resident block takes.
pub(super) fn resident_bytes(program: &Program<'_>, shape: &Shape, is_watched: bool) -> u64 {
    let (registers, frame) = (program.kernel.types.len() as u64, u64::from(program.kernel.frame_bytes));
    let per_register = if is_watched { WATCHED_REGISTER_BYTES } else { size_of::<u64>() as u64 };
    let thread = size_of::<SuspendedThread<'_>>() as u64 + registers * per_register + frame;
    u64::from(block_size(shape)) * thread + shared_memory(program, shape).bytes()
}

/// Returns the layout of the shared memory of a block.
fn shared_memory(program: &Program<'_>, shape: &Shape) -> SharedMemory {
    let used = program.entry.shared_layout().bytes + u64::from(shape.shared);
    SharedMemory { used, has_reserved: program.has_reserved_memory }
}

/// Size in bytes of a register whose undefined bits are tracked.
const WATCHED_REGISTER_BYTES: u64 = 40;

/// Number of threads that are created between two polls of the watchdog.
const MAX_UNPOLLED_STARTS: u32 = 1 << 12;

/// Runs the threads of the blocks in the range `blocks` until they end. All these blocks are
/// resident together, so a block can wait for a write of another block. An error holds the number,
/// in the launch, of the faulting thread.
pub(super) fn run_blocks(
    program: &Program<'_>,
    shape: &Shape,
    blocks: Range<u32>,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<ItemStats, (u32, Halt)> {
    let size = block_size(shape);
    let (start, first, items) = (blocks.start, blocks.start * size, blocks.len() as u32 * size);
    memory.block_memory = shared_memory(program, shape);
    let shared_bytes = memory.block_memory.bytes() as usize;
    memory.shared.clear();
    memory.shared.resize(shared_bytes, 0);
    let shared = blocks.clone().map(|block| vec![0; if block == start { 0 } else { shared_bytes }]).collect();
    if let Some(races) = &mut memory.races {
        races.begin(start);
    }
    let mut slots = Vec::with_capacity(items as usize);
    for number in first..first + items {
        // The creation of all threads may take long, so the watchdog is polled meanwhile.
        if number % MAX_UNPOLLED_STARTS == 0 {
            work.poll().map_err(|exceeded| (number, exceeded.into()))?;
        }
        let thread = Thread::start(program, Default::default(), memory).map_err(|halt| (number, halt))?;
        slots.push(SuspendedThread {
            thread,
            stack: std::mem::take(&mut memory.stack),
            results: [None; 2],
            is_collective: false,
            has_met: false,
        });
    }
    memory.is_changed = false;
    let schedule = memory.schedule;
    let mut groups: Vec<&mut [SuspendedThread<'_>]> = slots.chunks_mut(size as usize).collect();
    let mut runner = Blocks { program, shape, start, running: 0, first, shared, memory, budget, work };
    group::run_groups(&mut runner, &mut groups, schedule).map_err(|(number, halt)| (first + number, halt))?;
    if let Some(race) = memory.races.as_ref().and_then(|races| races.found()) {
        let (item, fault) = race_of(race, shape);
        return Err((item, Halt::Fault(fault)));
    }
    let mut stats = ItemStats::default();
    for slot in &slots {
        stats.instructions += slot.thread.stats.instructions;
        stats.backward += slot.thread.stats.backward;
    }
    Ok(stats)
}

/// Converts a race to a fault of the item that made the second access. Returns the number of this
/// item and the fault.
pub(super) fn race_of(race: &Race, shape: &Shape) -> (u32, Fault) {
    let Race { place, offset, first, second, is_async_copy, is_same_value } = *race;
    let (space, address) = match place {
        SharedLocation::Shared => (Space::Shared, offset),
        SharedLocation::Buffer(number) => (Space::Global, halfbyte_abi::buffer_base(number as usize) + offset),
        SharedLocation::Process => (Space::Global, offset),
    };
    let access = if second.writes { Access::Store } else { Access::Load };
    let other = ConflictingAccess {
        item: shape.name(first.item),
        address: first.inst as usize,
        loc: None,
        is_written: first.writes,
        is_under_way: is_async_copy,
        is_same_value,
    };
    let kind = TrapKind::Race { access, space, address, other };
    (second.item, Fault { address: second.inst as usize, kind })
}

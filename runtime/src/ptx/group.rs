//! A block of threads that meet.

use arrayvec::ArrayVec;
use halfbyte_abi::Shape;
use halfbyte_abi::meet::{Race, Races};
use halfbyte_isa::ptx::Reg;

use super::interp::{self, Item, ItemStats, Position, Thread};
use super::memory::Memory;
use super::program::Program;
use super::stack::Stack;
use crate::group::{self, Runner, Stop};
use crate::launch::Work;
use crate::trap::{Access, Fault, Halt, Other, Space, TrapKind};

/// A thread, and what is its own while others run.
struct Slot<'p> {
    thread: Thread<'p>,
    stack: Stack,
    /// Of one that waits, what takes what it is given.
    results: [Option<Reg>; 2],
}

/// A block on its way.
struct Block<'p, 'r, 'm, 'w> {
    program: &'p Program<'p>,
    shape: &'r Shape,
    /// The number of the first item.
    first: u32,
    memory: &'r mut Memory<'m>,
    budget: u64,
    work: &'r mut Work<'w>,
}

impl<'p> Runner for Block<'p, '_, '_, '_> {
    type Slot = Slot<'p>;
    type Position = Position;

    fn run(&mut self, number: u32, slot: &mut Slot<'p>) -> Result<Stop, Halt> {
        let Block { program, shape, first, ref mut memory, budget, ref mut work } = *self;
        memory.item = first + number;
        let item = Item { shape, place: shape.place(first + number) };
        std::mem::swap(&mut memory.stack, &mut slot.stack);
        let stop = slot.thread.run(program, item, memory, budget, work);
        std::mem::swap(&mut memory.stack, &mut slot.stack);
        Ok(match stop? {
            interp::Stop::End => Stop::End,
            interp::Stop::Yield => Stop::Yield,
            interp::Stop::Meet { meeting, results } => {
                slot.results = results;
                Stop::Meet(meeting)
            }
        })
    }

    fn resume(&self, slot: &mut Slot<'p>, given: [u64; 2]) {
        let given = slot.results.into_iter().zip(given).filter_map(|(reg, value)| Some((reg?, value)));
        let given: ArrayVec<(Reg, u64), 2> = given.collect();
        slot.thread.resume(&given);
    }

    fn address(slot: &Slot<'p>) -> usize {
        slot.thread.address()
    }

    fn position(slot: &Slot<'p>) -> Position {
        slot.thread.position()
    }

    fn races(&mut self) -> &mut Option<Races> {
        &mut self.memory.races
    }

    fn is_changed(&mut self) -> bool {
        std::mem::take(&mut self.memory.is_changed)
    }
}

/// Runs the items of a block, of which `first` is the number of the first. A fault comes with its item.
pub(super) fn run_group(
    program: &Program<'_>,
    shape: &Shape,
    first: u32,
    items: u32,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<ItemStats, (u32, Halt)> {
    let mut slots = Vec::with_capacity(items as usize);
    for number in 0..items {
        let thread = Thread::start(program, Default::default(), memory).map_err(|halt| (first + number, halt))?;
        slots.push(Slot { thread, stack: std::mem::take(&mut memory.stack), results: [None; 2] });
    }
    memory.is_changed = false;
    let mut block = Block { program, shape, first, memory, budget, work };
    group::run_group(&mut block, &mut slots).map_err(|(number, halt)| (first + number, halt))?;
    if let Some(race) = memory.races.as_ref().and_then(|races| races.found()) {
        return Err(race_of(race, shape));
    }
    let mut stats = ItemStats::default();
    for slot in &slots {
        stats.instructions += slot.thread.stats.instructions;
        stats.backward += slot.thread.stats.backward;
    }
    Ok(stats)
}

/// What a race is to the second of its items.
pub(super) fn race_of(race: &Race, shape: &Shape) -> (u32, Halt) {
    let Race { place, offset, first, second, is_under_way } = *race;
    let (space, address) = match place {
        halfbyte_abi::meet::Place::Shared => (Space::Shared, offset),
        halfbyte_abi::meet::Place::Buffer(number) => {
            (Space::Global, halfbyte_abi::buffer_base(number as usize) + offset)
        }
    };
    let access = if second.writes { Access::Store } else { Access::Load };
    let other = Other {
        item: shape.name(first.item),
        address: first.inst as usize,
        loc: None,
        is_written: first.writes,
        is_under_way,
    };
    let kind = TrapKind::Race { access, space, address, other };
    (second.item, Halt::Fault(Fault { address: second.inst as usize, kind }))
}

//! A block of threads that meet: each runs until it waits for others, and those that have come together go on.

use arrayvec::ArrayVec;
use halfbyte_abi::Shape;
use halfbyte_abi::meet::{Group, Misfit, Race};
use halfbyte_isa::ptx::Reg;

use super::interp::{Item, ItemStats, Position, Stop, Thread};
use super::memory::Memory;
use super::program::Program;
use super::stack::Stack;
use crate::launch::Work;
use crate::trap::{Access, Fault, Halt, Other, Space, TrapKind};

/// A thread, and what is its own while others run.
struct Slot<'p> {
    thread: Thread<'p>,
    stack: Stack,
    /// Of one that waits, what takes what it is given.
    results: [Option<Reg>; 2],
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
    let mut group = Group::new(items);
    let mut idle = Idle::default();
    loop {
        let (mut ran, mut only_yields) = (false, true);
        memory.is_changed = false;
        for (number, slot) in (0..).zip(&mut slots) {
            if !group.runs(number) {
                continue;
            }
            ran = true;
            memory.item = first + number;
            let item = Item { shape, place: shape.place(first + number) };
            std::mem::swap(&mut memory.stack, &mut slot.stack);
            let stop = slot.thread.run(program, item, memory, budget, work);
            std::mem::swap(&mut memory.stack, &mut slot.stack);
            match stop.map_err(|halt| (first + number, halt))? {
                Stop::Yield => continue,
                Stop::End => group.end(number),
                Stop::Meet { meeting, results } => {
                    slot.results = results;
                    group.wait(number, slot.thread.address() as u32, meeting);
                }
            }
            only_yields = false;
        }
        let met = group.meet(memory.races.as_mut(), &mut |number, values| {
            let Some(slot) = slots.get_mut(number as usize) else { return };
            let given = slot.results.into_iter().zip(values).filter_map(|(reg, value)| Some((reg?, value)));
            let given: ArrayVec<(Reg, u64), 2> = given.collect();
            slot.thread.resume(&given);
        });
        let met = met.map_err(|misfit| misfit_of(misfit, first, &slots))?;
        if !ran && !met {
            break;
        }
        if only_yields && !met && !memory.is_changed {
            let running = |number: u32| group.runs(number);
            if idle.is_for_ever(&slots, running) {
                return Err(dead(&group, first, &slots));
            }
        } else {
            idle = Idle::default();
        }
    }
    if let Some(misfit) = group.stuck() {
        return Err(misfit_of(misfit, first, &slots));
    }
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

fn fault(number: u32, first: u32, slots: &[Slot<'_>], kind: TrapKind) -> (u32, Halt) {
    let address = slots.get(number as usize).map_or(0, |slot| slot.thread.address());
    (first + number, Halt::Fault(Fault { address, kind }))
}

fn misfit_of(misfit: Misfit, first: u32, slots: &[Slot<'_>]) -> (u32, Halt) {
    fault(misfit.item, first, slots, TrapKind::Meets(misfit.why))
}

/// What a race is to the second of its items.
pub(super) fn race_of(race: &Race, shape: &Shape) -> (u32, Halt) {
    let Race { place, offset, first, second } = *race;
    let (space, address) = match place {
        halfbyte_abi::meet::Place::Shared => (Space::Shared, offset),
        halfbyte_abi::meet::Place::Buffer(number) => {
            (Space::Global, halfbyte_abi::buffer_base(number as usize) + offset)
        }
    };
    let access = if second.writes { Access::Store } else { Access::Load };
    let other =
        Other { item: shape.name(first.item), address: first.inst as usize, loc: None, is_written: first.writes };
    let kind = TrapKind::Race { access, space, address, other };
    (second.item, Halt::Fault(Fault { address: second.inst as usize, kind }))
}

/// The lowest thread that has not ended, where none will: it waits, or asks again and again for what nobody writes.
fn dead(group: &Group, first: u32, slots: &[Slot<'_>]) -> (u32, Halt) {
    let spins = (0..slots.len() as u32).find(|&number| group.runs(number));
    match (spins, group.stuck()) {
        (Some(spins), Some(misfit)) if misfit.item < spins => misfit_of(misfit, first, slots),
        (None, Some(misfit)) => misfit_of(misfit, first, slots),
        (spins, _) => {
            let number = spins.unwrap_or(0);
            // It has asked by the instruction before the one that it stands at.
            let address = slots.get(number as usize).map_or(0, |slot| slot.thread.address().saturating_sub(1));
            (first + number, Halt::Fault(Fault { address, kind: TrapKind::Deadlock }))
        }
    }
}

/// Rounds in which threads only ask what others write, and nobody writes anything.
#[derive(Default)]
struct Idle {
    rounds: u32,
    /// Where all were, in a round whose number is a power of two.
    seen: Vec<Position>,
}

impl Idle {
    /// Rounds after which it is worth while to look.
    const PATIENCE: u32 = 64;

    /// Takes note of a round, and says whether all are where they were before: then they will be there again and again.
    fn is_for_ever(&mut self, slots: &[Slot<'_>], runs: impl Fn(u32) -> bool) -> bool {
        self.rounds += 1;
        if self.rounds < Idle::PATIENCE {
            return false;
        }
        let running = (0..).zip(slots).filter(|(number, _)| runs(*number));
        let positions: Vec<Position> = running.map(|(_, slot)| slot.thread.position()).collect();
        let is_seen = self.seen == positions;
        if self.rounds.is_power_of_two() {
            self.seen = positions;
        }
        is_seen
    }
}

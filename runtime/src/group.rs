//! Scheduler for the work items of cooperative groups. Each item runs until it ends, yields or
//! waits at a collective operation. Completion of a collective operation resumes its waiting items.

use halfbyte_abi::cooperative::{DeadlockedItem, Group, InvalidSync, LivelockDetector, RaceDetector, Schedule, SyncOp};

use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// Reason why an item stopped running.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The item has ended.
    End,
    /// The item has executed a strong access, and continues after other items have run.
    Yield,
    /// The item waits at a collective operation.
    Collective(SyncOp<u32, bool>),
}

/// Executor of the items of a group, implemented by each target.
pub(crate) trait Runner {
    /// The execution state of a suspended item.
    type ItemState;
    /// The part of an item's state, besides memory, that determines how the item continues. A
    /// polling item that has the same position in two rounds of the scheduler makes no progress.
    type Position: PartialEq;

    /// Makes `group` the running group. Item numbers in later calls refer to the items of this
    /// group.
    fn select(&mut self, _group: u32) {}

    /// Runs item `number` of the running group until the item stops.
    fn run(&mut self, number: u32, slot: &mut Self::ItemState) -> Result<Stop, Halt>;

    /// Writes the results of a collective operation to an item's registers, and advances the item past the instruction.
    fn resume(&self, slot: &mut Self::ItemState, given: [u64; 2]);

    /// Executes the pending warp-wide instruction of each warp whose items have all arrived at it.
    /// An error holds the number of the faulting item.
    fn execute_collectives(&mut self, _: &mut [Self::ItemState]) -> Result<(), (u32, Halt)> {
        Ok(())
    }

    /// Returns the address of the item's current instruction.
    fn address(slot: &Self::ItemState) -> usize;

    /// Returns the address of the instruction that called the running function, if the source text
    /// does not define that function. Otherwise returns `None`.
    fn call_address(_: &Self::ItemState) -> Option<usize> {
        None
    }

    /// Returns the part of the item's state, besides memory, that determines how the item
    /// continues.
    fn position(slot: &Self::ItemState) -> Self::Position;

    /// Returns the race detector, if any.
    fn races(&mut self) -> &mut Option<RaceDetector>;

    /// Returns `true` if a store has changed memory since the last call.
    fn is_changed(&mut self) -> bool;
}

/// The outcome of a scheduler round. In a round, each item of a group runs that neither waits nor
/// has ended.
#[derive(PartialEq, Eq)]
enum Round {
    /// All items of the group have ended.
    Ended,
    /// All items that ran have polled memory, and memory is unchanged.
    Polled,
    /// At least one item made progress: an item ended or began to wait, a collective operation
    /// completed, or memory changed.
    Progressed,
}

/// The scheduling state of a group.
struct ScheduledGroup {
    group: Group,
    /// The items in the order in which they run in the next round.
    turns: Vec<u32>,
    has_ended: bool,
}

impl ScheduledGroup {
    fn new(items: usize, schedule: Schedule) -> ScheduledGroup {
        let items = items as u32;
        ScheduledGroup { group: Group::new(items), turns: schedule.execution_order(items, 0), has_ended: false }
    }

    /// Runs each item that neither waits nor has ended, and completes collective operations. An
    /// error holds the number, in the group, of the faulting item.
    fn run<R: Runner>(
        &mut self,
        runner: &mut R,
        slots: &mut [R::ItemState],
        schedule: Schedule,
        round: u64,
    ) -> Result<Round, (u32, Halt)> {
        let (mut ran, mut only_yields) = (false, true);
        for &number in &self.turns {
            let Some(slot) = slots.get_mut(number as usize).filter(|_| self.group.runs(number)) else { continue };
            ran = true;
            for _ in 0..schedule.accesses() {
                match runner.run(number, slot).map_err(|halt| (number, halt))? {
                    Stop::Yield => continue,
                    Stop::End => self.group.end(number),
                    Stop::Collective(sync_op) => self.group.wait(number, R::address(slot) as u32, sync_op),
                }
                only_yields = false;
                break;
            }
        }
        if let Schedule::Shuffled(_) = schedule {
            self.turns = schedule.execution_order(slots.len() as u32, round);
        }
        // The race detector is taken out of the runner, because the closure below borrows the runner.
        let mut races = runner.races().take();
        let met = self.group.complete_ready(races.as_mut(), &mut |number, given| {
            if let Some(slot) = slots.get_mut(number as usize) {
                runner.resume(slot, given);
            }
        });
        *runner.races() = races;
        let met = met.map_err(|misfit| misfit_of::<R>(misfit, slots))?;
        if met {
            runner.execute_collectives(slots)?;
        }
        if !ran && !met {
            self.has_ended = true;
            let waiting = self.group.lowest_waiting_item();
            return waiting.map_or(Ok(Round::Ended), |misfit| Err(misfit_of::<R>(misfit, slots)));
        }
        let is_changed = runner.is_changed();
        Ok(if only_yields && !met && !is_changed { Round::Polled } else { Round::Progressed })
    }

    /// Returns the position of each item that neither waits nor has ended.
    fn positions<R: Runner>(&self, slots: &[R::ItemState]) -> impl Iterator<Item = R::Position> {
        (0..).zip(slots).filter(|(number, _)| self.group.runs(*number)).map(|(_, slot)| R::position(slot))
    }
}

/// Runs all items of the groups until they end. An item may wait for writes of items in other
/// groups. An error holds the faulting item's number, counted over all groups.
pub(crate) fn run_groups<R: Runner>(
    runner: &mut R,
    groups: &mut [&mut [R::ItemState]],
    schedule: Schedule,
) -> Result<(), (u32, Halt)> {
    let mut scheduled: Vec<ScheduledGroup> =
        groups.iter().map(|slots| ScheduledGroup::new(slots.len(), schedule)).collect();
    let mut idle = LivelockDetector::default();
    let count = groups.len() as u32;
    let mut turns = schedule.execution_order(count, 0);
    for round in 1.. {
        let (mut has_ended, mut only_polls) = (true, true);
        for &number in &turns {
            let (Some(group), Some(slots)) = (scheduled.get_mut(number as usize), groups.get_mut(number as usize))
            else {
                continue;
            };
            if group.has_ended {
                continue;
            }
            runner.select(number);
            let done = group.run(runner, slots, schedule, round);
            let done = done.map_err(|(item, halt)| (first_of(groups, number) + item, halt))?;
            has_ended &= done == Round::Ended;
            only_polls &= done != Round::Progressed;
        }
        if has_ended {
            break;
        }
        if let Schedule::Shuffled(_) = schedule {
            turns = schedule.execution_order(count, round);
        }
        if !only_polls {
            idle = LivelockDetector::default();
            continue;
        }
        let all = || scheduled.iter().zip(&*groups).flat_map(|(group, slots)| group.positions::<R>(slots));
        if idle.is_livelock(|| all().collect()) {
            let first = scheduled.iter().position(|group| !group.has_ended).unwrap_or(0);
            let (Some(group), Some(slots)) = (scheduled.get(first), groups.get(first)) else { break };
            let (item, halt) = deadlock_fault::<R>(&group.group, slots);
            return Err((first_of(groups, first as u32) + item, halt));
        }
    }
    Ok(())
}

/// Returns the number of a group's first item, counted over all groups.
fn first_of<S>(groups: &[&mut [S]], group: u32) -> u32 {
    groups.iter().take(group as usize).map(|slots| slots.len() as u32).sum()
}

fn fault<R: Runner>(number: u32, slots: &[R::ItemState], address: usize, mut kind: TrapKind) -> (u32, Halt) {
    let call = |number: u32| slots.get(number as usize).and_then(R::call_address);
    for party in kind.parties_mut() {
        if let Some(call) = party.items.first().and_then(|&number| call(number)) {
            party.place = call as u32;
        }
    }
    (number, Halt::Fault(Fault { address: call(number).unwrap_or(address), kind }))
}

fn misfit_of<R: Runner>(misfit: InvalidSync, slots: &[R::ItemState]) -> (u32, Halt) {
    let address = slots.get(misfit.item as usize).map_or(0, R::address);
    fault::<R>(misfit.item, slots, address, TrapKind::Collective(misfit.why, misfit.parties))
}

/// Returns the deadlock trap of the lowest item that has not ended. This item waits for other
/// items, or polls memory that no item writes.
fn deadlock_fault<R: Runner>(group: &Group, slots: &[R::ItemState]) -> (u32, Halt) {
    // The polling access is the instruction before the current address of the item.
    let asked = |number: u32| slots.get(number as usize).map_or(0, R::address).saturating_sub(1);
    match group.find_deadlocked_item(|number| asked(number) as u32) {
        DeadlockedItem::Waits(misfit) => misfit_of::<R>(misfit, slots),
        DeadlockedItem::Polls(number, parties) => fault::<R>(number, slots, asked(number), TrapKind::Deadlock(parties)),
    }
}

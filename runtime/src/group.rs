//! Scheduler for the work items of a cooperative group. Each item runs until it ends or waits, and
//! a collective operation that completes releases its waiting items.

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
    Meet(SyncOp<u32, bool>),
}

/// Executor of the items of a group, implemented by each target.
pub(crate) trait Runner {
    /// The execution state of a suspended item.
    type ItemState;
    /// The state, without memory, that determines how an item continues. If an item that polls has
    /// the same position in two rounds of the scheduler, it makes no progress.
    type Position: PartialEq;

    /// Runs item `number` of the group until the item stops.
    fn run(&mut self, number: u32, slot: &mut Self::ItemState) -> Result<Stop, Halt>;

    /// Writes the results of a collective operation to an item's registers, and advances the item past the instruction.
    fn resume(&self, slot: &mut Self::ItemState, given: [u64; 2]);

    /// Executes the pending warp-wide instructions of the warps whose items have all arrived. An
    /// error holds the number of the faulting item.
    fn execute_collectives(&mut self, _: &mut [Self::ItemState]) -> Result<(), (u32, Halt)> {
        Ok(())
    }

    /// Returns the address of the item's current instruction.
    fn address(slot: &Self::ItemState) -> usize;

    /// Returns the state, without memory, that determines how the item continues.
    fn position(slot: &Self::ItemState) -> Self::Position;

    /// Returns the race detector, if any.
    fn races(&mut self) -> &mut Option<RaceDetector>;

    /// Returns `true` if a store has changed memory since the last call.
    fn is_changed(&mut self) -> bool;
}

/// Runs all items of a group until they end. An error holds the number, in the group, of the faulting item.
pub(crate) fn run_group<R: Runner>(
    runner: &mut R,
    slots: &mut [R::ItemState],
    schedule: Schedule,
) -> Result<(), (u32, Halt)> {
    let mut group = Group::new(slots.len() as u32);
    let mut idle = LivelockDetector::default();
    let count = slots.len() as u32;
    let mut turns = schedule.execution_order(count, 0);
    for round in 1.. {
        let (mut ran, mut only_yields) = (false, true);
        for &number in &turns {
            let Some(slot) = slots.get_mut(number as usize).filter(|_| group.runs(number)) else { continue };
            ran = true;
            for _ in 0..schedule.accesses() {
                match runner.run(number, slot).map_err(|halt| (number, halt))? {
                    Stop::Yield => continue,
                    Stop::End => group.end(number),
                    Stop::Meet(meeting) => group.wait(number, R::address(slot) as u32, meeting),
                }
                only_yields = false;
                break;
            }
        }
        if let Schedule::Shuffled(_) = schedule {
            turns = schedule.execution_order(count, round);
        }
        // The race detector is taken out of the runner, because the closure below borrows the runner.
        let mut races = runner.races().take();
        let met = group.complete_ready(races.as_mut(), &mut |number, given| {
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
            break;
        }
        let is_changed = runner.is_changed();
        if only_yields && !met && !is_changed {
            let running = (0..).zip(slots.iter()).filter(|(number, _)| group.runs(*number));
            if idle.is_livelock(|| running.map(|(_, slot)| R::position(slot)).collect()) {
                return Err(deadlock_fault::<R>(&group, slots));
            }
        } else {
            idle = LivelockDetector::default();
        }
    }
    group.lowest_waiting_item().map_or(Ok(()), |misfit| Err(misfit_of::<R>(misfit, slots)))
}

fn fault<R: Runner>(number: u32, slots: &[R::ItemState], kind: TrapKind) -> (u32, Halt) {
    let address = slots.get(number as usize).map_or(0, R::address);
    (number, Halt::Fault(Fault { address, kind }))
}

fn misfit_of<R: Runner>(misfit: InvalidSync, slots: &[R::ItemState]) -> (u32, Halt) {
    fault::<R>(misfit.item, slots, TrapKind::Collective(misfit.why, misfit.parties))
}

/// Returns the deadlock trap of the lowest item that has not ended. This item waits for other
/// items, or polls memory that no item writes.
fn deadlock_fault<R: Runner>(group: &Group, slots: &[R::ItemState]) -> (u32, Halt) {
    // The polling access is the instruction before the current address of the item.
    let asked = |number: u32| slots.get(number as usize).map_or(0, R::address).saturating_sub(1);
    match group.find_deadlocked_item(|number| asked(number) as u32) {
        DeadlockedItem::Waits(misfit) => misfit_of::<R>(misfit, slots),
        DeadlockedItem::Polls(number, parties) => {
            (number, Halt::Fault(Fault { address: asked(number), kind: TrapKind::Deadlock(parties) }))
        }
    }
}

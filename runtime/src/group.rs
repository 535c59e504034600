//! A group of items that meet: each runs until it waits for others, and those that have come together go on.

use halfbyte_abi::meet::{Dead, Group, Idle, Meeting, Misfit, Races, Schedule};

use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// Why an item does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It has ended.
    End,
    /// It has made a strong access, and goes on when others have run.
    Yield,
    /// It waits for others.
    Meet(Meeting<u32, bool>),
}

/// What runs the items of a group.
pub(crate) trait Runner {
    /// An item on its way, from one place where it meets others to the next.
    type Slot;
    /// What an item goes on from, where that is the same as far as memory is.
    type Position: PartialEq;

    /// Runs the item of that number in the group until it stops.
    fn run(&mut self, number: u32, slot: &mut Self::Slot) -> Result<Stop, Halt>;

    /// Gives an item what a meeting has given, and lets it go on after the instruction.
    fn resume(&self, slot: &mut Self::Slot, given: [u64; 2]);

    /// Executes the instructions that warps have met for and execute as a whole. A fault comes with its item's number.
    fn execute_collectives(&mut self, _: &mut [Self::Slot]) -> Result<(), (u32, Halt)> {
        Ok(())
    }

    /// The instruction at which an item is.
    fn address(slot: &Self::Slot) -> usize;

    /// What an item goes on from.
    fn position(slot: &Self::Slot) -> Self::Position;

    /// What looks for races, where something does.
    fn races(&mut self) -> &mut Option<Races>;

    /// Whether anything was written that was not there before since this was last asked.
    fn is_changed(&mut self) -> bool;
}

/// Runs the items of a group. A fault comes with its item's number in the group.
pub(crate) fn run_group<R: Runner>(
    runner: &mut R,
    slots: &mut [R::Slot],
    schedule: Schedule,
) -> Result<(), (u32, Halt)> {
    let mut group = Group::new(slots.len() as u32);
    let mut idle = Idle::default();
    let count = slots.len() as u32;
    let mut turns = schedule.turns(count, 0);
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
            turns = schedule.turns(count, round);
        }
        // The machine of the group knows nothing of items, and whoever runs them of nothing else that is given.
        let mut races = runner.races().take();
        let met = group.meet(races.as_mut(), &mut |number, given| {
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
            if idle.is_for_ever(|| running.map(|(_, slot)| R::position(slot)).collect()) {
                return Err(dead::<R>(&group, slots));
            }
        } else {
            idle = Idle::default();
        }
    }
    group.stuck().map_or(Ok(()), |misfit| Err(misfit_of::<R>(misfit, slots)))
}

fn fault<R: Runner>(number: u32, slots: &[R::Slot], kind: TrapKind) -> (u32, Halt) {
    let address = slots.get(number as usize).map_or(0, R::address);
    (number, Halt::Fault(Fault { address, kind }))
}

fn misfit_of<R: Runner>(misfit: Misfit, slots: &[R::Slot]) -> (u32, Halt) {
    fault::<R>(misfit.item, slots, TrapKind::Meets(misfit.why, misfit.parties))
}

/// The lowest item that has not ended, where none will: it waits, or asks again and again for what nobody writes.
fn dead<R: Runner>(group: &Group, slots: &[R::Slot]) -> (u32, Halt) {
    // It has asked by the instruction before the one that it stands at.
    let asked = |number: u32| slots.get(number as usize).map_or(0, R::address).saturating_sub(1);
    match group.dead(|number| asked(number) as u32) {
        Dead::Waits(misfit) => misfit_of::<R>(misfit, slots),
        Dead::Asks(number, parties) => {
            (number, Halt::Fault(Fault { address: asked(number), kind: TrapKind::Deadlock(parties) }))
        }
    }
}

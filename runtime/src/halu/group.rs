//! Execution of HALU groups whose work items synchronise.

use halfbyte_abi::Shape;
use halfbyte_abi::cooperative::{RaceDetector, Schedule};

use super::DecodedKernel;
use super::interp::{self, ItemStats, Progress};
use super::memory::Memory;
use super::state::Registers;
use crate::group::{self, Runner, Stop};
use halfbyte_abi::Work;
use halfbyte_isa::trap::Halt;

/// A work item and its private state, kept while other items run.
pub(super) struct SuspendedItem {
    progress: Progress,
    registers: Registers,
    local: Vec<u8>,
}

/// Executor of the items of a group.
struct Items<'r, 'm, 'w> {
    code: &'r DecodedKernel,
    memory: &'r mut Memory<'m>,
    budget: u64,
    work: &'r mut Work<'w>,
    /// Always `None`: HALU groups have no race detection.
    races: Option<RaceDetector>,
}

impl Runner for Items<'_, '_, '_> {
    type ItemState = SuspendedItem;
    type Position = (usize, Registers);

    fn run(&mut self, _: u32, slot: &mut SuspendedItem) -> Result<Stop, Halt> {
        let SuspendedItem { progress, registers, local } = slot;
        std::mem::swap(&mut self.memory.local, local);
        let stop = interp::run::<true>(&self.code.words, progress, registers, self.memory, self.budget, self.work);
        std::mem::swap(&mut self.memory.local, local);
        stop
    }

    fn resume(&self, slot: &mut SuspendedItem, given: [u64; 2]) {
        interp::resume(&self.code.words, &mut slot.progress, &mut slot.registers, given);
    }

    fn address(slot: &SuspendedItem) -> usize {
        slot.progress.address
    }

    fn position(slot: &SuspendedItem) -> (usize, Registers) {
        (slot.progress.address, slot.registers.clone())
    }

    fn races(&mut self) -> &mut Option<RaceDetector> {
        &mut self.races
    }

    fn is_changed(&mut self) -> bool {
        std::mem::take(&mut self.memory.is_changed)
    }
}

/// Runs the items of a group. `first` is the number, in the launch, of the group's first item. The allocations in
/// `slots` are reused from the previous group. An error holds the number of the faulting item.
pub(super) fn run_group(
    code: &DecodedKernel,
    shape: &Shape,
    first: u32,
    slots: &mut Vec<SuspendedItem>,
    memory: &mut Memory<'_>,
    budget: u64,
    work: &mut Work<'_>,
) -> Result<ItemStats, (u32, Halt)> {
    let size = shape.block.into_iter().product::<u32>().max(1);
    let local = memory.local.len();
    slots.resize_with(size as usize, || SuspendedItem {
        progress: Progress::default(),
        registers: Registers::new(*shape),
        local: vec![0; local],
    });
    for (item, slot) in (first..).zip(&mut *slots) {
        slot.progress = Progress::default();
        slot.registers.start(item, code.gprs);
        slot.local.fill(0);
    }
    memory.is_changed = false;
    let mut items = Items { code, memory, budget, work, races: None };
    group::run_groups(&mut items, &mut [slots], Schedule::Ascending)
        .map_err(|(number, halt)| (first + number, halt))?;
    let mut stats = ItemStats::default();
    for slot in slots {
        stats.instructions += slot.progress.stats.instructions;
        stats.backward += slot.progress.stats.backward;
    }
    Ok(stats)
}

//! From slots to hardware registers.

use regalloc2::{Allocation, Edit, PReg, PRegSet};

use super::super::adapter::Run;
use super::banks::{Assignment, Slot};

/// The hardware registers of a run's slots.
pub(super) struct SlotPlan {
    /// By regalloc2's register, the first hardware register of the slot.
    numbers: [u8; PReg::NUM_INDEX],
    /// General registers taken: the highest number plus one.
    pub(super) registers: u8,
}

impl SlotPlan {
    /// Numbers the general slots that the run made use of, the widest first, so that every slot is aligned to its width and
    /// none is skipped. Predicates keep their numbers.
    pub(super) fn new(run: &Run, assignment: &Assignment) -> SlotPlan {
        let mut used = PRegSet::empty();
        let mut note = |place: &Allocation| place.as_reg().into_iter().for_each(|reg| used.add(reg));
        run.output().allocs.iter().for_each(&mut note);
        for (_, Edit::Move { from, to }) in &run.output().edits {
            [from, to].into_iter().for_each(&mut note);
        }
        let mut plan = SlotPlan { numbers: [0; PReg::NUM_INDEX], registers: 0 };
        for width in [4, 2, 1] {
            for reg in used.into_iter().filter(|&reg| assignment.slot(reg) == Some(Slot::Gpr(width))) {
                plan.numbers[reg.index()] = plan.registers;
                plan.registers += width as u8;
            }
        }
        for reg in used.into_iter().filter(|&reg| assignment.slot(reg) == Some(Slot::Pred)) {
            plan.numbers[reg.index()] = reg.hw_enc() as u8;
        }
        plan
    }

    /// The first hardware register of a slot.
    pub(super) fn number(&self, reg: PReg) -> u8 {
        self.numbers[reg.index()]
    }
}

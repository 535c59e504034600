//! From slots to hardware registers.

use regalloc2::PReg;

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
        let used = run.used();
        // By width, the registers that all slots of it take, then the first that is free.
        let mut taken = [0; 5];
        for reg in used {
            if let Some(Slot::Gpr(width)) = assignment.slot(reg) {
                taken[width as usize] += width as u8;
            }
        }
        let mut next = [0, taken[4] + taken[2], taken[4], 0, 0];
        let mut plan = SlotPlan { numbers: [0; PReg::NUM_INDEX], registers: taken.iter().sum() };
        for reg in used {
            plan.numbers[reg.index()] = match assignment.slot(reg) {
                Some(Slot::Gpr(width)) => {
                    let free = &mut next[width as usize];
                    std::mem::replace(free, *free + width as u8)
                }
                Some(Slot::Pred) => reg.hw_enc() as u8,
                None => continue,
            };
        }
        plan
    }

    /// The first hardware register of a slot.
    pub(super) fn number(&self, reg: PReg) -> u8 {
        self.numbers[reg.index()]
    }
}

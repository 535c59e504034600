//! Mapping of the slots that regalloc2 allocates to hardware registers of HALU.

use regalloc2::PReg;

use super::super::adapter::AllocationRun;
use super::banks::{Assignment, SlotKind};

/// Hardware registers of the slots of one run of regalloc2.
pub(super) struct SlotPlan {
    /// First hardware register of each slot, by the index of the slot's register in regalloc2.
    numbers: [u8; PReg::NUM_INDEX],
    /// Number of general registers that the code uses: the highest register number plus one.
    pub(super) registers: u8,
}

impl SlotPlan {
    /// Assigns hardware registers to the slots that are used, the widest slots first. So every slot
    /// is aligned to its width, and no register is skipped. Predicates keep their numbers.
    pub(super) fn new(run: &AllocationRun, assignment: &Assignment) -> SlotPlan {
        let used = run.used();
        // Number of hardware registers that the used slots of each width take.
        let mut taken = [0; 5];
        for reg in used {
            if let Some(SlotKind::Gpr(width)) = assignment.slot(reg) {
                taken[width as usize] += width as u8;
            }
        }
        let mut next = [0, taken[4] + taken[2], taken[4], 0, 0];
        let mut plan = SlotPlan { numbers: [0; PReg::NUM_INDEX], registers: taken.iter().sum() };
        for reg in used {
            plan.numbers[reg.index()] = match assignment.slot(reg) {
                Some(SlotKind::Gpr(width)) => {
                    let free = &mut next[width as usize];
                    std::mem::replace(free, *free + width as u8)
                }
                Some(SlotKind::Pred) => reg.hw_enc() as u8,
                None => continue,
            };
        }
        plan
    }

    /// Returns the first hardware register of a slot.
    pub(super) fn number(&self, reg: PReg) -> u8 {
        self.numbers[reg.index()]
    }
}

//! Register banks for the allocation of HALU code by regalloc2.
//!
//! regalloc2 supports three classes of at most 64 registers, and no register pairs or quads. Each class stands for a
//! bank of slots. A slot holds one predicate, or one, two or four general registers. A 64-bit or 128-bit register takes
//! one wide slot. 32-bit registers are spread over several banks if one bank is too small.

use halfbyte_abi::MAX_LOCAL_BYTES;
use regalloc2::PReg;

use super::super::adapter::{self, RegisterBank};
use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::super::webs::Webs;
use crate::halu::machine::{Halu, RegClass};
use crate::vcode::{VCode, VReg};

/// Number of predicate registers, P0 to P6.
const PREDS: u32 = 7;
/// Number of slots of a bank for 32-bit registers, which is regalloc2's maximum.
const WORDS: u32 = 64;
/// Number of general registers for wide slots. Two banks of 64 registers, these registers, and one
/// register through which predicates are spilled add up to the 255 general registers.
const WIDE_SLOT_REGISTERS: u32 = 126;
/// Number of registers that a bank has beyond the maximum register pressure, because an exact number causes many moves
/// and spills. The size of a bank is also rounded up to a multiple of this number.
const SLACK: u32 = 8;

/// Registers that one slot of a bank holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SlotKind {
    /// One predicate register.
    Pred,
    /// The given number of general registers (1, 2 or 4), aligned to that number.
    Gpr(u32),
}

impl SlotKind {
    /// Returns the number of 32-bit words of local memory to which these registers are spilled: 1 for a predicate,
    /// otherwise the number of general registers.
    pub(super) const fn words(self) -> u32 {
        match self {
            SlotKind::Pred => 1,
            SlotKind::Gpr(words) => words,
        }
    }

    /// Returns the maximum number of slots that a bank can have.
    const fn limit(self) -> u32 {
        match self {
            SlotKind::Pred => PREDS,
            SlotKind::Gpr(1) => WORDS,
            SlotKind::Gpr(words) => WIDE_SLOT_REGISTERS / words,
        }
    }
}

/// Bank of slots that all hold the same number of registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    /// Registers that each slot holds.
    pub(super) slot: SlotKind,
    /// Number of slots that regalloc2 may use, at most 64.
    pub(super) offer: u32,
}

/// Banks of one run of regalloc2, indexed by the class of regalloc2.
pub(super) type Banks = [Option<Bank>; 3];

/// Number of registers that the banks have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegisterBudget {
    /// A few registers more than the maximum register pressure. A GPU executes more items at the
    /// same time if each uses fewer registers.
    Frugal,
    /// All registers of the machine.
    Full,
}

/// Banks for the runs of regalloc2: one run for all registers, or separate runs for predicates and general registers.
pub(super) struct Plan {
    /// Banks of the separate run for predicates, if there is one.
    pub(super) preds: Option<Assignment>,
    /// Banks of the run for general registers, and for predicates if they have no separate run.
    pub(super) main: Assignment,
}

/// Banks of one run of regalloc2, and the bank of each virtual register.
pub(super) struct Assignment {
    /// The banks.
    pub(super) banks: Banks,
    /// Bank of each virtual register, or [`ABSENT`] if the run does not allocate the register.
    bank_of: Vec<u8>,
}

const ABSENT: u8 = u8::MAX;

impl adapter::BankAssignment for Assignment {
    fn offers(&self) -> [Option<RegisterBank>; 3] {
        self.banks.map(|bank| bank.map(|bank| RegisterBank { registers: bank.offer, words: bank.slot.words() }))
    }

    fn bank_of(&self, reg: VReg) -> Option<usize> {
        match self.bank_of[reg.0 as usize] {
            ABSENT => None,
            bank => Some(bank.into()),
        }
    }

    fn fixed(&self, _: u32) -> Option<u8> {
        None
    }

    fn memory(&self) -> u64 {
        MAX_LOCAL_BYTES.into()
    }
}

impl Assignment {
    /// Returns the kind of slot that a register of regalloc2 stands for.
    pub(super) fn slot(&self, reg: PReg) -> Option<SlotKind> {
        self.banks[reg.class() as usize].map(|bank| bank.slot)
    }

    /// Assigns each virtual register to the bank of its register class, if the class has a bank.
    fn by_class(code: &VCode<Halu>, banks: Banks, bank_of: impl Fn(RegClass) -> Option<usize>) -> Assignment {
        let bank_of = code.vregs.iter().map(|&class| bank_of(class).map_or(ABSENT, |b| b as u8)).collect();
        Assignment { banks, bank_of }
    }
}

/// Chooses the banks, and assigns each virtual register to a bank.
pub(super) fn plan(code: &VCode<Halu>, flow: &Flow, liveness: &mut Liveness, effort: RegisterBudget) -> Plan {
    let live = liveness.pressure::<_, 4>(code, flow, |reg, _| Some(code.vregs[reg.0 as usize] as usize));
    let [preds, words, pairs, quads] = live;
    let wide = match (pairs, quads) {
        (0, 0) => None,
        (_, 0) => Some(SlotKind::Gpr(2)),
        _ => Some(SlotKind::Gpr(4)),
    };
    let free = 3 - usize::from(wide.is_some());
    let word_banks = match effort {
        RegisterBudget::Frugal => (words + SLACK).div_ceil(WORDS) as usize,
        RegisterBudget::Full => free,
    };
    let apart = preds > 0 && word_banks >= free;

    let full = |slot: SlotKind| Bank { slot, offer: slot.limit() };
    let slots = std::iter::repeat_n(SlotKind::Gpr(1), word_banks.min(free))
        .chain(wide)
        .chain((preds > 0 && !apart).then_some(SlotKind::Pred));
    let mut banks: Banks = [None; 3];
    for (bank, slot) in banks.iter_mut().zip(slots) {
        *bank = Some(full(slot));
    }
    let place = |slot: SlotKind| banks.iter().position(|bank| bank.is_some_and(|bank| bank.slot == slot));
    // `homes` holds the bank of each register class of HALU.
    let wide = wide.and_then(place);
    let homes = [place(SlotKind::Pred), place(SlotKind::Gpr(1)), wide, wide];
    let mut main = Assignment::by_class(code, banks, |class| homes[class as usize]);
    let most = if word_banks > 1 {
        spread(code, flow, liveness, &mut main)
    } else {
        let mut most = [0; 3];
        for (home, live) in homes.into_iter().zip(live) {
            if let Some(bank) = home {
                most[bank] += live;
            }
        }
        most
    };
    if effort == RegisterBudget::Frugal {
        for (bank, most) in main.banks.iter_mut().zip(most) {
            if let Some(bank) = bank {
                let slack = SLACK / bank.slot.words();
                bank.offer = bank.offer.min((most + slack).next_multiple_of(slack));
            }
        }
    }
    let preds = apart.then(|| {
        let banks = [Some(full(SlotKind::Pred)), None, None];
        Assignment::by_class(code, banks, |class| (class == RegClass::Pred).then_some(0))
    });
    Plan { preds, main }
}

/// Spreads 32-bit registers over the banks of single registers. Registers that do not fit there go
/// to a bank of wide slots. All registers of a web go to the same bank: among the banks with room,
/// the one with the narrowest slots, then the one with the lowest pressure. Returns the maximum
/// register pressure of each bank.
fn spread(code: &VCode<Halu>, flow: &Flow, liveness: &mut Liveness, assignment: &mut Assignment) -> [u32; 3] {
    let mut webs = Webs::of(code, flow);
    let Assignment { banks, bank_of } = assignment;
    for (bank, class) in bank_of.iter_mut().zip(&code.vregs) {
        if *class == RegClass::Word {
            *bank = ABSENT;
        }
    }
    let most = liveness.pressure::<_, 3>(code, flow, |reg, now| {
        let web = webs.find(reg.0) as usize;
        if bank_of[web] == ABSENT && code.vregs[web] == RegClass::Word {
            let room = |bank: &usize| match banks[*bank] {
                Some(Bank { slot: SlotKind::Gpr(words), offer }) => {
                    Some((now[*bank] + SLACK > offer, words, now[*bank]))
                }
                _ => None,
            };
            let best = (0..banks.len()).filter(|bank| room(bank).is_some()).min_by_key(room);
            bank_of[web] = best.map_or(ABSENT, |bank| bank as u8);
        }
        (bank_of[web] != ABSENT).then_some(bank_of[web].into())
    });
    for reg in 0..bank_of.len() as u32 {
        bank_of[reg as usize] = bank_of[webs.find(reg) as usize];
    }
    most
}

//! Banks of allocation slots: their number, the width of their slots, and the bank of each virtual
//! register.
//!
//! regalloc2 knows three classes of at most 64 registers, and no pairs or quads. So each class is a
//! bank of slots, a wide register takes one wide slot, and 32-bit registers are spread over several
//! banks if one bank is too small.

use halfbyte_abi::MAX_LOCAL_BYTES;
use regalloc2::PReg;

use super::super::adapter::{self, RegisterBank};
use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::super::webs::Webs;
use crate::halu::machine::{Halu, RegClass};
use crate::vcode::{VCode, VReg};

/// Number of allocatable predicates, P0 to P6.
const PREDS: u32 = 7;
/// Slots of a bank of 32-bit registers: regalloc2's maximum.
const WORDS: u32 = 64;
/// General registers available to wide slots. Two full banks of words, these registers, and one
/// carrier for spilled predicates add up to the 255 general registers.
const WIDE: u32 = 126;
/// Registers offered beyond the maximum pressure, because an exact offer causes many moves and
/// spills. The offer also grows in steps of this size.
const SLACK: u32 = 8;

/// Contents of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SlotKind {
    /// One predicate.
    Pred,
    /// The given number of general registers (1, 2 or 4), aligned to that number.
    Gpr(u32),
}

impl SlotKind {
    /// Returns the words of local memory that a spilled slot takes.
    pub(super) const fn words(self) -> u32 {
        match self {
            SlotKind::Pred => 1,
            SlotKind::Gpr(words) => words,
        }
    }

    /// Returns the maximum number of slots in a bank.
    const fn limit(self) -> u32 {
        match self {
            SlotKind::Pred => PREDS,
            SlotKind::Gpr(1) => WORDS,
            SlotKind::Gpr(words) => WIDE / words,
        }
    }
}

/// Bank of slots of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    /// Kind of the slots.
    pub(super) slot: SlotKind,
    /// Number of usable slots, at most 64.
    pub(super) offer: u32,
}

/// Banks of one allocation run, indexed by regalloc2's class.
pub(super) type Banks = [Option<Bank>; 3];

/// Number of registers to offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    /// A few more than the maximum pressure. Using fewer registers lets more items run at the same
    /// time.
    Frugal,
    /// All registers.
    Full,
}

/// Banks of a single run, or of one run for predicates and one for general registers.
pub(super) struct Plan {
    /// Separate run for predicates, if any.
    pub(super) preds: Option<Assignment>,
    /// General registers, and predicates if they have no separate run.
    pub(super) main: Assignment,
}

/// Banks of one run, and the bank of each virtual register.
pub(super) struct Assignment {
    /// The banks.
    pub(super) banks: Banks,
    /// Bank by virtual register; [`ABSENT`] if the run does not allocate the register.
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
    /// Returns the slot kind of the bank that contains a register.
    pub(super) fn slot(&self, reg: PReg) -> Option<SlotKind> {
        self.banks[reg.class() as usize].map(|bank| bank.slot)
    }

    /// Assigns every register to the bank of its class, if the class has a bank.
    fn by_class(code: &VCode<Halu>, banks: Banks, bank_of: impl Fn(RegClass) -> Option<usize>) -> Assignment {
        let bank_of = code.vregs.iter().map(|&class| bank_of(class).map_or(ABSENT, |b| b as u8)).collect();
        Assignment { banks, bank_of }
    }
}

/// Assigns every register to a bank.
pub(super) fn plan(code: &VCode<Halu>, flow: &Flow, liveness: &mut Liveness, effort: Effort) -> Plan {
    let live = liveness.pressure::<_, 4>(code, flow, |reg, _| Some(code.vregs[reg.0 as usize] as usize));
    let [preds, words, pairs, quads] = live;
    let wide = match (pairs, quads) {
        (0, 0) => None,
        (_, 0) => Some(SlotKind::Gpr(2)),
        _ => Some(SlotKind::Gpr(4)),
    };
    let free = 3 - usize::from(wide.is_some());
    let word_banks = match effort {
        Effort::Frugal => (words + SLACK).div_ceil(WORDS) as usize,
        Effort::Full => free,
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
    // Banks by class, in the order of the classes.
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
    if effort == Effort::Frugal {
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

/// Spreads 32-bit registers over the banks of words, and the remainder over a bank of wide slots. A
/// web goes to the narrowest slots with room where the web is live; among those, to the bank with
/// the lowest pressure. Returns the maximum pressure of each bank.
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

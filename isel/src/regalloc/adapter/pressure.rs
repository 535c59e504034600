//! What regalloc2 would have to do, before it is asked: how much must lie in memory at once, and how many values want
//! registers that others have.

use regalloc2::{Operand, OperandKind, VReg};

use super::super::flow::Flow;
use super::super::liveness::{BitSet, Liveness};
use super::{Lists, Offer};

/// The work of counting keeps its memory.
#[derive(Default)]
pub(super) struct Pressure {
    live: BitSet,
    now: [u32; 3],
    found: Excess,
}

/// What there are no registers for.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Excess {
    /// Where the most words must lie in memory at once: at least so many.
    pub(super) words: u64,
    /// The registers of the banks concerned that are live there.
    pub(super) live: u32,
    /// The registers that these banks have.
    pub(super) registers: u32,
    /// Over all instructions, the values that are live there and for which there is no register.
    pub(super) all: u64,
}

impl Pressure {
    /// Counts what is live at each instruction, going backwards. `takes_part` says of which virtual registers that lists of
    /// live ones name the bank.
    pub(super) fn excess(
        &mut self,
        lists: &Lists,
        flow: &Flow,
        liveness: &Liveness,
        vregs: usize,
        bank_of: impl Fn(u32) -> Option<usize>,
    ) -> Excess {
        self.live.reset(vregs);
        (self.now, self.found) = ([0; 3], Excess::default());
        for block in (0..flow.len()).rev() {
            for (number, succ) in flow.succs(block).iter().enumerate() {
                let live = liveness.live_in(succ.index()).iter();
                live.filter_map(|&reg| Some((reg, bank_of(reg)?))).for_each(|(reg, bank)| self.begin(reg, bank));
                lists.args.get(flow.first_edge(block) + number).iter().for_each(|&reg| self.begin_vreg(reg));
            }
            for inst in flow.range(block).iter().rev() {
                self.note(&lists.offers);
                self.inst(lists.operands.get(inst.index()));
            }
            self.note(&lists.offers);
            lists.params.get(block).iter().for_each(|&reg| self.end(reg.vreg() as u32, reg.class() as usize));
            let live = liveness.live_in(block).iter();
            live.filter_map(|&reg| Some((reg, bank_of(reg)?))).for_each(|(reg, bank)| self.end(reg, bank));
        }
        self.found
    }

    fn inst(&mut self, operands: &[Operand]) {
        let of_kind =
            |kind| operands.iter().filter(move |operand| operand.kind() == kind).map(|operand| operand.vreg());
        of_kind(OperandKind::Def).for_each(|reg| self.end(reg.vreg() as u32, reg.class() as usize));
        of_kind(OperandKind::Use).for_each(|reg| self.begin_vreg(reg));
    }

    fn begin_vreg(&mut self, reg: VReg) {
        self.begin(reg.vreg() as u32, reg.class() as usize);
    }

    /// Going backwards, the register is needed from here on.
    fn begin(&mut self, reg: u32, bank: usize) {
        self.now[bank] += u32::from(self.live.insert(reg));
    }

    /// Going backwards, the register is made here.
    fn end(&mut self, reg: u32, bank: usize) {
        self.now[bank] -= u32::from(self.live.remove(reg));
    }

    /// Counts what is live now.
    fn note(&mut self, offers: &[Option<Offer>; 3]) {
        let mut here = Excess::default();
        for (&live, offer) in self.now.iter().zip(offers) {
            let Some(offer) = offer.filter(|offer| live > offer.registers) else { continue };
            let beyond = live - offer.registers;
            here.words += u64::from(beyond) * u64::from(offer.words);
            here.all += u64::from(beyond);
            here.live += live;
            here.registers += offer.registers;
        }
        let all = self.found.all + here.all;
        if here.words > self.found.words {
            self.found = here;
        }
        self.found.all = all;
    }
}

//! Estimate of the register pressure before a run of regalloc2: the memory that spills need at
//! least, and the number of values that get no register.

use regalloc2::{Operand, OperandKind, VReg};

use super::super::flow::Flow;
use super::super::liveness::{BitSet, Liveness};
use super::{OperandLists, RegisterBank};

/// Backward walk that counts live registers, with reusable buffers.
#[derive(Default)]
pub(super) struct PressureCounter {
    live: BitSet,
    now: [u32; 3],
    found: Excess,
}

/// Register pressure beyond the number of registers.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Excess {
    /// Lower bound of the number of spilled 32-bit words, at the instruction where this bound is
    /// highest.
    pub(super) words: u64,
    /// Number of live registers in the banks that have too few registers, at the instruction with the
    /// most spilled words.
    pub(super) live: u32,
    /// Number of hardware registers in the banks that have too few registers, at the instruction with
    /// the most spilled words.
    pub(super) registers: u32,
    /// Number of live values that get no register, summed over all instructions.
    pub(super) all: u64,
}

impl PressureCounter {
    /// Returns the register pressure beyond the registers of the banks, by a backward walk over the
    /// instructions. `bank_of` returns the bank of a live-in register, or `None` if this run of
    /// regalloc2 does not allocate the register.
    pub(super) fn excess(
        &mut self,
        lists: &OperandLists,
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

    /// Begins to count a register as live. The backward walk does this at the last use.
    fn begin(&mut self, reg: u32, bank: usize) {
        self.now[bank] += u32::from(self.live.insert(reg));
    }

    /// Stops counting a register as live. The backward walk does this at the definition.
    fn end(&mut self, reg: u32, bank: usize) {
        self.now[bank] -= u32::from(self.live.remove(reg));
    }

    /// Adds the pressure at the current program point to the result.
    fn note(&mut self, offers: &[Option<RegisterBank>; 3]) {
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

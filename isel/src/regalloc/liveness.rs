//! Which virtual registers are live where, and how many at once.

use super::AllocError;
use super::flow::Flow;
use super::ragged::Ragged;
use super::verify::Sites;
use crate::vcode::{Access, Machine, VCode, VReg};

/// Registers that are live at the start of a block are no more than these, over all blocks: some 100 MB of them.
const MAX_FOUND: usize = 1 << 23;

/// The virtual registers live at the start of each block, its parameters excepted.
#[derive(Default)]
pub(super) struct Liveness {
    live_in: Ragged<u32>,
    /// Block and register of `live_in`.
    found: Vec<(u32, u32)>,
    /// The last register that was found live into a block.
    seen: Vec<u32>,
    stack: Vec<u32>,
    live: BitSet,
}

impl Liveness {
    /// Follows each use back to its definition; what it meets on the way is where the register is live. The cost is that of
    /// the answer.
    pub(super) fn compute(&mut self, flow: &Flow, sites: &mut Sites) -> Result<(), AllocError> {
        let Sites { defined_in, uses } = sites;
        uses.sort_unstable();
        uses.dedup();

        self.found.clear();
        self.seen.clear();
        self.seen.resize(flow.len(), u32::MAX);
        for &(reg, block) in &*uses {
            self.stack.push(block);
            while let Some(block) = self.stack.pop() {
                if std::mem::replace(&mut self.seen[block as usize], reg) == reg {
                    continue;
                }
                if block == 0 {
                    return Err(AllocError::Undefined(VReg(reg)));
                }
                if self.found.len() == MAX_FOUND {
                    return Err(AllocError::TooLarge);
                }
                self.found.push((block, reg));
                let defined_in = defined_in[reg as usize];
                self.stack.extend(flow.preds(block as usize).iter().map(|p| p.0).filter(|&p| p != defined_in));
            }
        }
        self.live_in.group(flow.len(), self.found.iter().copied());
        Ok(())
    }

    /// The registers live at the start of a block, its parameters excepted, by number.
    pub(super) fn live_in(&self, rank: usize) -> &[u32] {
        self.live_in.get(rank)
    }

    /// Whether a register that is no parameter of the block is live at its start.
    pub(super) fn is_live_in(&self, rank: usize, reg: VReg) -> bool {
        self.live_in(rank).binary_search(&reg.0).is_ok()
    }

    /// The most registers of each kind that are live at once. `kind` is asked whenever a register is met, going backwards,
    /// and is told how many of each are live there; it must always answer the same, and `None` for those not to be counted.
    pub(super) fn pressure<M: Machine, const N: usize>(
        &mut self,
        code: &VCode<M>,
        flow: &Flow,
        kind: impl FnMut(VReg, &[u32; N]) -> Option<usize>,
    ) -> [u32; N] {
        let Liveness { live_in, live, .. } = self;
        live.reset(code.vregs.len());
        let mut count = Count { live, now: [0; N], most: [0; N], kind };
        for (rank, block) in flow.blocks(code).rev() {
            for succ in flow.succs(rank) {
                live_in.get(succ.index()).iter().for_each(|&reg| count.begin(VReg(reg)));
            }
            code.visit_end(&block.terminator, |reg| count.begin(reg));
            for inst in code.insts_of(block).iter().rev() {
                code.visit(inst, |access, reg| {
                    if access != Access::Use {
                        count.end(reg);
                    }
                });
                code.visit(inst, |access, reg| match access {
                    Access::Use => count.begin(reg),
                    Access::Replace(old) => count.begin(old),
                    Access::Def => {}
                });
            }
            code.list(&block.params).iter().for_each(|&reg| count.end(reg));
            live_in.get(rank).iter().for_each(|&reg| count.end(VReg(reg)));
        }
        count.most
    }
}

struct Count<'a, const N: usize, F> {
    live: &'a mut BitSet,
    now: [u32; N],
    most: [u32; N],
    kind: F,
}

impl<const N: usize, F: FnMut(VReg, &[u32; N]) -> Option<usize>> Count<'_, N, F> {
    /// Going backwards, the register is needed from here on.
    fn begin(&mut self, reg: VReg) {
        if self.live.insert(reg.0)
            && let Some(kind) = (self.kind)(reg, &self.now)
        {
            self.now[kind] += 1;
            self.most[kind] = self.most[kind].max(self.now[kind]);
        }
    }

    /// Going backwards, the register is made here. One that nobody reads takes a place all the same.
    fn end(&mut self, reg: VReg) {
        let was_live = self.live.remove(reg.0);
        let Some(kind) = (self.kind)(reg, &self.now) else { return };
        if was_live {
            self.now[kind] -= 1;
        } else {
            self.most[kind] = self.most[kind].max(self.now[kind] + 1);
        }
    }
}

/// A set of small numbers.
#[derive(Default)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    /// Empty, for numbers below `len`.
    pub(super) fn reset(&mut self, len: usize) {
        self.0.clear();
        self.0.resize(len.div_ceil(64), 0);
    }

    /// Whether it was absent.
    pub(super) fn insert(&mut self, i: u32) -> bool {
        let (word, bit) = (&mut self.0[i as usize / 64], 1 << (i % 64));
        let absent = *word & bit == 0;
        *word |= bit;
        absent
    }

    /// Whether it was there.
    pub(super) fn remove(&mut self, i: u32) -> bool {
        let (word, bit) = (&mut self.0[i as usize / 64], 1 << (i % 64));
        let there = *word & bit != 0;
        *word &= !bit;
        there
    }
}

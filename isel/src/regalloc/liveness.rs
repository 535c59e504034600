//! Liveness of virtual registers, and register pressure.

use super::AllocError;
use super::flow::Flow;
use super::list_of_lists::ListOfLists;
use super::verify::DefsAndUses;
use crate::vcode::{Access, Machine, VCode, VReg};

/// Maximum total size of the live-in sets of all blocks, which limits their memory to about 100 MB.
const MAX_FOUND: usize = 1 << 23;

/// Registers that are live into each block, without the block's parameters.
#[derive(Default)]
pub(super) struct Liveness {
    live_in: ListOfLists<u32>,
    /// Pairs of a block and a register that is live into the block. `live_in` is built from the pairs.
    found: Vec<(u32, u32)>,
    /// For each block, the last register that was found live into the block.
    seen: Vec<u32>,
    stack: Vec<u32>,
    live: BitSet,
}

impl Liveness {
    /// Computes liveness by walking backwards from each use to the definition. The register is live
    /// into every block on this walk. The time is proportional to the size of the result.
    pub(super) fn compute(&mut self, flow: &Flow, sites: &mut DefsAndUses) -> Result<(), AllocError> {
        let DefsAndUses { defined_in, uses } = sites;
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

    /// Returns the live-in registers of a block, without its parameters, sorted by number.
    pub(super) fn live_in(&self, rank: usize) -> &[u32] {
        self.live_in.get(rank)
    }

    /// Returns `true` if a register is live into a block and is no parameter of the block.
    pub(super) fn is_live_in(&self, rank: usize, reg: VReg) -> bool {
        self.live_in(rank).binary_search(&reg.0).is_ok()
    }

    /// Returns the maximum number of simultaneously live registers of each kind, by a backward walk over the code.
    /// `kind` returns the kind of a register, given the numbers of currently live registers of each kind; a register
    /// without a kind is not counted. For a given register, `kind` must always return the same result.
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
                    Access::UpdateInPlace(old) => count.begin(old),
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
    /// Begins to count a register as live. The backward walk does this at the last use.
    fn begin(&mut self, reg: VReg) {
        if self.live.insert(reg.0)
            && let Some(kind) = (self.kind)(reg, &self.now)
        {
            self.now[kind] += 1;
            self.most[kind] = self.most[kind].max(self.now[kind]);
        }
    }

    /// Stops counting a register as live. The backward walk does this at the definition. A register
    /// that is never read still occupies a hardware register at its definition.
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

/// Set of small integers, with one bit per integer.
#[derive(Default)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    /// Empties the set and resizes it for integers below `len`.
    pub(super) fn reset(&mut self, len: usize) {
        self.0.clear();
        self.0.resize(len.div_ceil(64), 0);
    }

    /// Inserts an integer. Returns `true` if the set did not contain it.
    pub(super) fn insert(&mut self, i: u32) -> bool {
        let (word, bit) = (&mut self.0[i as usize / 64], 1 << (i % 64));
        let absent = *word & bit == 0;
        *word |= bit;
        absent
    }

    /// Removes an integer. Returns `true` if the set contained it.
    pub(super) fn remove(&mut self, i: u32) -> bool {
        let (word, bit) = (&mut self.0[i as usize / 64], 1 << (i % 64));
        let there = *word & bit != 0;
        *word &= !bit;
        there
    }
}

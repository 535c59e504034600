//! Checks of the invariants that allocation relies on. Code that breaks an invariant is refused.

use super::AllocError;
use super::allocate::Allocate;
use super::flow::Flow;
use crate::vcode::{Access, Machine, Terminator, VCode, VReg};

/// Marker in place of a block's rank.
const NO_BLOCK: u32 = u32::MAX;

/// Definitions and uses of virtual registers.
#[derive(Default)]
pub(super) struct DefsAndUses {
    /// Rank of the block that defines each register, or [`NO_BLOCK`] if there is no definition.
    pub(super) defined_in: Vec<u32>,
    /// Pairs of a register and the rank of a block that uses the register but does not define it.
    pub(super) uses: Vec<(u32, u32)>,
}

impl DefsAndUses {
    fn define(&mut self, reg: VReg, block: u32) -> Result<(), AllocError> {
        match self.defined_in.get_mut(reg.0 as usize) {
            Some(site) if *site == NO_BLOCK => {
                *site = block;
                Ok(())
            }
            Some(_) => Err(AllocError::Redefined(reg)),
            None => Err(AllocError::Undefined(reg)),
        }
    }

    /// Records a use of a register. Returns `false` if no definition was visited before. A definition that reaches the
    /// use is always visited before, because it precedes the use in the same block or is in an earlier block.
    fn read(&mut self, reg: VReg, block: u32) -> bool {
        let Some(&site) = self.defined_in.get(reg.0 as usize) else { return false };
        if site != block && site != NO_BLOCK {
            self.uses.push((reg.0, block));
        }
        site != NO_BLOCK
    }

    fn read_all(&mut self, mut regs: impl Iterator<Item = VReg>, block: u32) -> Result<(), AllocError> {
        regs.find(|&reg| !self.read(reg, block)).map_or(Ok(()), |reg| Err(AllocError::Undefined(reg)))
    }
}

/// Checks the registers, operands and block arguments of reachable blocks, and collects definitions and uses.
/// [`super::liveness::Liveness`] checks that definitions dominate the uses in other blocks.
pub(super) fn verify<M: Allocate>(code: &VCode<M>, flow: &Flow, sites: &mut DefsAndUses) -> Result<(), AllocError> {
    sites.defined_in.clear();
    sites.defined_in.resize(code.vregs.len(), NO_BLOCK);
    sites.uses.clear();
    for (rank, block) in flow.blocks(code) {
        let number = rank as u32;
        let params = code.list(&block.params);
        if params.len() != block.params.len() || (rank == 0 && !params.is_empty()) {
            return Err(AllocError::Arguments(flow.index(rank)));
        }
        params.iter().try_for_each(|&param| sites.define(param, number))?;
        // An invalid operand is the more specific error. So a use without a definition is reported
        // after all operands were checked.
        let mut unread = None;
        for (inst, i) in code.insts_of(block).iter().zip(block.insts.clone()) {
            let operands = code.operands(inst);
            if operands.len() != inst.operands.len() {
                return Err(AllocError::Operands(i));
            }
            code.visit(inst, |access, reg| {
                let reg = match access {
                    Access::Use => reg,
                    Access::UpdateInPlace(old) => old,
                    Access::Def => return,
                };
                if !sites.read(reg, number) {
                    unread = unread.or(Some(reg));
                }
            });
            let mut defined = Ok(());
            code.visit(inst, |access, reg| {
                if access != Access::Use && defined.is_ok() {
                    defined = sites.define(reg, number);
                }
            });
            defined?;
        }
        M::check(code, block)?;
        if let Some(reg) = unread {
            return Err(AllocError::Undefined(reg));
        }
        if let Terminator::Branch { inst, .. } = &block.terminator {
            let operands = code.operands(inst);
            let mut only_reads = true;
            code.visit(inst, |access, _| only_reads &= access == Access::Use);
            if operands.len() != inst.operands.len() || !only_reads {
                return Err(AllocError::Branch(flow.index(rank)));
            }
            M::check_branch(code, flow.index(rank), inst)?;
            let mut read = Ok(());
            code.visit(inst, |_, reg| {
                if read.is_ok() {
                    read = sites.read_all(std::iter::once(reg), number);
                }
            });
            read?;
        }
        let several = flow.succs(rank).len() > 1;
        for (edge, target) in block.terminator.edges().zip(flow.succs(rank)) {
            if several && (target.0 == 0 || flow.preds(target.index()).len() > 1) {
                return Err(AllocError::CriticalEdge { from: flow.index(rank), to: edge.block });
            }
            let params = code.list(&code.blocks[edge.block as usize].params);
            let args = code.list(&edge.args);
            let fits = |(&param, &arg): (&VReg, &VReg)| {
                class(code, param).zip(class(code, arg)).is_some_and(|(param, arg)| M::holds(param, arg))
            };
            if args.len() != edge.args.len() || args.len() != params.len() || !params.iter().zip(args).all(fits) {
                return Err(AllocError::Arguments(flow.index(rank)));
            }
            sites.read_all(args.iter().copied(), number)?;
        }
    }
    Ok(())
}

/// Returns the class of a virtual register, or `None` if the register does not exist.
pub(super) fn class<M: Machine>(code: &VCode<M>, reg: VReg) -> Option<M::Class> {
    code.vregs.get(reg.0 as usize).copied()
}

//! What allocation relies on, checked, so that code that breaks it is refused rather than allocated wrongly.

use super::AllocError;
use super::each::Each;
use super::flow::{Flow, edges, insts};
use crate::machine::Machine;
use crate::vcode::{Access, Terminator, VCode, VReg};

/// Where a virtual register is defined.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// The block's rank; [`Site::NONE`]'s where there is none.
    pub(super) block: u32,
    /// The first instruction that may read it, as [`Flow`] numbers them.
    from: u32,
}

impl Site {
    const NONE: Site = Site { block: u32::MAX, from: u32::MAX };
}

/// Checks registers, operands and arguments in reachable blocks, and finds the definitions. That a definition in another
/// block dominates a use is found by [`super::liveness::Liveness`].
pub(super) fn verify<M: Each>(code: &VCode<M>, flow: &Flow, sites: &mut Vec<Site>) -> Result<(), AllocError> {
    define(code, flow, sites)?;
    for (rank, block) in flow.blocks(code) {
        let uses = |reg: VReg, at: regalloc2::Inst| match sites.get(reg.0 as usize) {
            Some(site) if site.block == rank as u32 && at.0 < site.from => Err(AllocError::Undefined(reg)),
            Some(site) if site.block != Site::NONE.block => Ok(()),
            _ => Err(AllocError::Undefined(reg)),
        };
        let range = flow.range(rank);
        M::check(code, block)?;
        for (inst, at) in insts(code, block).iter().zip(range.iter()) {
            for operand in code.operands(inst) {
                match operand.access {
                    Access::Use => uses(operand.reg, at)?,
                    Access::Replace(old) => uses(old, at)?,
                    Access::Def => {}
                }
            }
        }
        if let Terminator::Branch { inst, .. } = &block.terminator {
            let operands = code.operands(inst);
            if operands.len() != inst.operands.len() || operands.iter().any(|o| o.access != Access::Use) {
                return Err(AllocError::Branch(flow.index(rank)));
            }
            M::check_branch(code, flow.index(rank), inst)?;
            operands.iter().try_for_each(|operand| uses(operand.reg, range.last()))?;
        }
        let several = flow.succs(rank).len() > 1;
        for (edge, target) in edges(&block.terminator).zip(flow.succs(rank)) {
            if several && (target.0 == 0 || flow.preds(target.index()).len() > 1) {
                return Err(AllocError::CriticalEdge { from: flow.index(rank), to: edge.block });
            }
            let params = code.list(&code.blocks[edge.block as usize].params);
            let args = code.list(&edge.args);
            if args.len() != edge.args.len()
                || !params.iter().map(|&p| class(code, p)).eq(args.iter().map(|&a| class(code, a)))
            {
                return Err(AllocError::Arguments(flow.index(rank)));
            }
            args.iter().try_for_each(|&arg| uses(arg, range.last()))?;
        }
    }
    Ok(())
}

fn define<M: Machine>(code: &VCode<M>, flow: &Flow, sites: &mut Vec<Site>) -> Result<(), AllocError> {
    sites.clear();
    sites.resize(code.vregs.len(), Site::NONE);
    for (rank, block) in flow.blocks(code) {
        let mut def = |reg: VReg, from: u32| match sites.get_mut(reg.0 as usize) {
            Some(site) if site.block == Site::NONE.block => {
                *site = Site { block: rank as u32, from };
                Ok(())
            }
            Some(_) => Err(AllocError::Redefined(reg)),
            None => Err(AllocError::Undefined(reg)),
        };
        let params = code.list(&block.params);
        if params.len() != block.params.len() || (rank == 0 && !params.is_empty()) {
            return Err(AllocError::Arguments(flow.index(rank)));
        }
        let range = flow.range(rank);
        params.iter().try_for_each(|&param| def(param, range.first().0))?;
        for ((inst, at), i) in insts(code, block).iter().zip(range.iter()).zip(block.insts.clone()) {
            let operands = code.operands(inst);
            if operands.len() != inst.operands.len() {
                return Err(AllocError::Operands(i));
            }
            operands.iter().filter(|o| o.access != Access::Use).try_for_each(|o| def(o.reg, at.0 + 1))?;
        }
    }
    Ok(())
}

/// What a register holds, if it exists.
pub(super) fn class<M: Machine>(code: &VCode<M>, reg: VReg) -> Option<M::Class> {
    code.vregs.get(reg.0 as usize).copied()
}

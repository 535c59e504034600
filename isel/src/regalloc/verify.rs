//! What allocation relies on, checked, so that code that breaks it is refused rather than allocated wrongly.

use halfbyte_isa::row::{Kind, RegFile, Role};

use super::AllocError;
use super::flow::{Flow, edges, insts};
use crate::vcode::{Access, Operand, RegClass, Terminator, VCode, VInst, VReg};

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
pub(super) fn verify(code: &VCode, flow: &Flow, sites: &mut Vec<Site>) -> Result<(), AllocError> {
    define(code, flow, sites)?;
    for (rank, block) in flow.blocks(code) {
        let uses = |reg: VReg, at: regalloc2::Inst| match sites.get(reg.0 as usize) {
            Some(site) if site.block == rank as u32 && at.0 < site.from => Err(AllocError::Undefined(reg)),
            Some(site) if site.block != Site::NONE.block => Ok(()),
            _ => Err(AllocError::Undefined(reg)),
        };
        let range = flow.range(rank);
        for ((inst, at), i) in insts(code, block).iter().zip(range.iter()).zip(block.insts.clone()) {
            for operand in code.operands(inst) {
                if !belongs(code, inst, operand) {
                    return Err(AllocError::Operand { inst: i, field: operand.field });
                }
                match operand.access {
                    Access::Use => uses(operand.reg, at)?,
                    Access::Replace(old) => uses(old, at)?,
                    Access::Def => {}
                }
            }
            if inst.inst.row().operands.iter().any(|o| matches!(o.kind, Kind::AllPreds)) {
                return Err(AllocError::AllPreds(i));
            }
        }
        if let Terminator::Branch { cond, .. } = block.terminator {
            uses(cond, range.last())?;
            if class(code, cond) != Some(RegClass::Pred) {
                return Err(AllocError::Arguments(flow.index(rank)));
            }
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

fn define(code: &VCode, flow: &Flow, sites: &mut Vec<Site>) -> Result<(), AllocError> {
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

/// Whether the field is a place for such a register, and the part of a wide one is where the instruction wants it.
fn belongs(code: &VCode, inst: &VInst, operand: &Operand) -> bool {
    let slot = inst.inst.registers().iter().find(|slot| slot.field == operand.field);
    let (Some(class), Some(slot)) = (class(code, operand.reg), slot) else { return false };
    let file = if class == RegClass::Pred { RegFile::Pred } else { RegFile::Gpr };
    let role = if operand.access == Access::Use { Role::Use } else { Role::Def };
    let (words, part, span) = (class.words().max(1), u32::from(operand.part), u32::from(slot.span));
    let same_place = match operand.access {
        Access::Replace(old) => self::class(code, old) == Some(class),
        Access::Use | Access::Def => true,
    };
    slot.file == file && slot.role == role && part.is_multiple_of(span) && part + span <= words && same_place
}

fn class(code: &VCode, reg: VReg) -> Option<RegClass> {
    code.vregs.get(reg.0 as usize).copied()
}

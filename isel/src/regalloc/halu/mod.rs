//! Register allocation for HALU, which has 255 general registers and seven predicates.
//!
//! regalloc2 allocates slots ([`banks`]), which are then mapped to hardware registers ([`slots`]). A slot holds one to
//! four registers. If at most three banks of slots suffice, one run of regalloc2 allocates predicates and general
//! registers together; otherwise each has its own run. The first attempt uses few registers. If it spills general
//! registers, the second attempt uses all.
//!
//! Spilled registers are stored in the item's local memory. A spilled predicate is moved through a general register,
//! which is reserved only if predicates are spilled.

mod banks;
mod rewrite;
mod slots;

use halfbyte_isa::row::{OperandRole, RegFile, RegSlot};

use super::allocate::Allocate;
use super::verify::class;
use super::{AllocError, Allocator, Options};
use crate::halu::machine::{Halu, RegClass};
use crate::mach::MachFunc;
use crate::vcode::{Access, BlockIndex, Operand, VBlock, VCode, VInst};
use banks::RegisterBudget;
use rewrite::{RunOutput, machine_function, spills_registers};

impl Allocate for Halu {
    fn check(code: &VCode<Halu>, block: &VBlock<Halu>) -> Result<(), AllocError> {
        for (inst, i) in code.insts_of(block).iter().zip(block.insts.clone()) {
            let slots = inst.inst.registers();
            // Operands are mostly in the order of the register fields. Fields 0 and 1 are the guard and the result.
            let mut next = 2;
            for operand in code.operands(inst) {
                let is_place = |slot: &RegSlot| slot.field == operand.place;
                let at = match slots.get(next) {
                    Some(slot) if is_place(slot) => Some(next),
                    _ => slots.iter().position(is_place),
                };
                let slot = at.and_then(|at| slots.get(at));
                if !slot.is_some_and(|slot| belongs(code, slot, operand)) {
                    return Err(AllocError::Operand { inst: i, field: operand.place });
                }
                next = at.map_or(next, |at| at + 1);
            }
            if inst.inst.opcode().has_all_preds() {
                return Err(AllocError::AllPreds(i));
            }
        }
        Ok(())
    }

    fn check_branch(code: &VCode<Halu>, block: BlockIndex, branch: &VInst<Halu>) -> Result<(), AllocError> {
        let is_branch = branch.inst.opcode().target().is_some();
        let slots = branch.inst.registers();
        let has_place = |operand: &Operand<Halu>| {
            let slot = slots.iter().find(|slot| slot.field == operand.place);
            slot.is_some_and(|slot| belongs(code, slot, operand))
        };
        if !is_branch || !code.operands(branch).iter().all(has_place) {
            return Err(AllocError::Branch(block));
        }
        Ok(())
    }

    fn allocate(allocator: &mut Allocator, code: VCode<Halu>, options: &Options) -> Result<MachFunc<Halu>, AllocError> {
        let Allocator { flow, liveness, main, preds, .. } = allocator;
        let mut plan = banks::plan(&code, flow, liveness, RegisterBudget::Frugal);
        main.allocate(&code, flow, liveness, &plan.main, options)?;
        if spills_registers(main, &plan.main) {
            plan = banks::plan(&code, flow, liveness, RegisterBudget::Full);
            main.allocate(&code, flow, liveness, &plan.main, options)?;
        }
        let main = RunOutput::new(main, &plan.main);
        match &plan.preds {
            None => machine_function(code, flow, &mut [main]),
            Some(assignment) => {
                preds.allocate(&code, flow, liveness, assignment, options)?;
                machine_function(code, flow, &mut [main, RunOutput::new(preds, assignment)])
            }
        }
    }
}

/// Returns `true` if an operand fits a register field: its register file and role match, and the
/// selected words of a wide register are aligned.
fn belongs(code: &VCode<Halu>, slot: &RegSlot, operand: &Operand<Halu>) -> bool {
    let Some(held) = class(code, operand.reg) else { return false };
    let file = if held == RegClass::Pred { RegFile::Pred } else { RegFile::Gpr };
    let role = if operand.access == Access::Use { OperandRole::Use } else { OperandRole::Def };
    let (words, part, span) = (held.words().max(1), u32::from(operand.part), u32::from(slot.span));
    let same_place = match operand.access {
        Access::UpdateInPlace(old) => class(code, old) == Some(held),
        Access::Use | Access::Def => true,
    };
    // The first test is usually enough and avoids a slow division.
    let is_aligned = part == 0 || part.is_multiple_of(span);
    slot.file == file && slot.role == role && is_aligned && part + span <= words && same_place
}

//! HALU: 255 general registers and seven predicates.
//!
//! What regalloc2 allocates are slots ([`banks`]), which get hardware numbers afterwards ([`slots`]). A run allocates
//! predicates and general registers together where their banks are three at most, else there is one run for each. A frugal
//! offer of registers is tried first; if they do not suffice, all of them.
//!
//! Spilled registers lie in the item's local memory. A predicate gets there by way of a general register that is kept for
//! that once there are spilled predicates.

mod banks;
mod rewrite;
mod slots;

use halfbyte_isa::row::{RegFile, RegSlot, Role};

use super::allocate::Allocate;
use super::verify::class;
use super::{AllocError, Allocator, Options};
use crate::halu::machine::{Halu, RegClass};
use crate::mach::MachFunc;
use crate::vcode::{Access, BlockIndex, Operand, VBlock, VCode, VInst};
use banks::Effort;
use rewrite::{Part, machine_function, spills_registers};

impl Allocate for Halu {
    fn check(code: &VCode<Halu>, block: &VBlock<Halu>) -> Result<(), AllocError> {
        for (inst, i) in code.insts_of(block).iter().zip(block.insts.clone()) {
            let slots = inst.inst.registers();
            for operand in code.operands(inst) {
                if !belongs(code, slots, operand) {
                    return Err(AllocError::Operand { inst: i, field: operand.place });
                }
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
        if !is_branch || !code.operands(branch).iter().all(|operand| belongs(code, slots, operand)) {
            return Err(AllocError::Branch(block));
        }
        Ok(())
    }

    fn allocate(allocator: &mut Allocator, code: VCode<Halu>, options: &Options) -> Result<MachFunc<Halu>, AllocError> {
        let Allocator { flow, liveness, main, preds, .. } = allocator;
        let mut plan = banks::plan(&code, flow, liveness, Effort::Frugal);
        main.allocate(&code, flow, liveness, &plan.main, options)?;
        if spills_registers(main, &plan.main) {
            plan = banks::plan(&code, flow, liveness, Effort::Full);
            main.allocate(&code, flow, liveness, &plan.main, options)?;
        }
        let main = Part::new(main, &plan.main);
        match &plan.preds {
            None => machine_function(code, flow, &mut [main]),
            Some(assignment) => {
                preds.allocate(&code, flow, liveness, assignment, options)?;
                machine_function(code, flow, &mut [main, Part::new(preds, assignment)])
            }
        }
    }
}

/// Whether the field is one of the instruction's places for such a register, and the part of a wide one is where it wants it.
fn belongs(code: &VCode<Halu>, slots: &[RegSlot], operand: &Operand<Halu>) -> bool {
    let slot = slots.iter().find(|slot| slot.field == operand.place);
    let (Some(held), Some(slot)) = (class(code, operand.reg), slot) else { return false };
    let file = if held == RegClass::Pred { RegFile::Pred } else { RegFile::Gpr };
    let role = if operand.access == Access::Use { Role::Use } else { Role::Def };
    let (words, part, span) = (held.words().max(1), u32::from(operand.part), u32::from(slot.span));
    let same_place = match operand.access {
        Access::Replace(old) => class(code, old) == Some(held),
        Access::Use | Access::Def => true,
    };
    slot.file == file && slot.role == role && part.is_multiple_of(span) && part + span <= words && same_place
}

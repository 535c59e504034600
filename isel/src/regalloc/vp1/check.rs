//! Checks of VP1 instructions before register allocation.

use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isa::vp1::{Inst, Opcode, Unit};
use halfbyte_isa::word::Field;

use super::super::AllocError;
use super::super::verify::class;
use super::shape::{RegisterField, accumulates, is_optional, slot_at, slots};
use crate::vcode::{Access, Operand, VBlock, VCode, VInst};
use crate::vp1::machine::Vp1;
use crate::vp1::{Class, GroupRegisterPosition};

/// Error in the operands of an instruction: an operand that does not fit its field, or a missing one.
pub(super) enum OperandError {
    Operand(Field),
    Missing(Field),
}

/// Checks the instructions of a block.
pub(super) fn check(code: &VCode<Vp1>, block: &VBlock<Vp1>) -> Result<(), AllocError> {
    let mut accumulated = false;
    for (inst, i) in code.insts_of(block).iter().zip(block.insts.clone()) {
        let members = &inst.inst.insts;
        let share = members.windows(2).all(|pair| pair[0].unit() < pair[1].unit());
        if members.is_empty() || !share || members.iter().any(transfers_control) {
            return Err(AllocError::Bundle(i));
        }
        check_operands(code, inst).map_err(|misfit| match misfit {
            OperandError::Operand(field) => AllocError::Operand { inst: i, field },
            OperandError::Missing(field) => AllocError::Missing { inst: i, field },
        })?;
        let touched = members.iter().map(accumulates);
        let (reads, writes) = touched.fold((false, false), |all, one| (all.0 || one.0, all.1 || one.1));
        if reads && !accumulated {
            return Err(AllocError::Accumulator(i));
        }
        accumulated = writes;
    }
    Ok(())
}

/// Returns `true` if the instruction is a branch or another transfer of control.
fn transfers_control(inst: &Inst) -> bool {
    inst.unit() == Unit::Branch && !matches!(inst.opcode(), Opcode::MOV_L_I | Opcode::BNOP | Opcode::B_NONE)
}

/// Groups the operands of an instruction by the register field that they are for.
pub(super) fn by_place(operands: &[Operand<Vp1>]) -> impl Iterator<Item = &[Operand<Vp1>]> {
    operands.chunk_by(|a, b| a.place == b.place)
}

/// Checks that the operands of an instruction fit its fields, and that no operand is missing.
pub(super) fn check_operands(code: &VCode<Vp1>, inst: &VInst<Vp1>) -> Result<(), OperandError> {
    let operands = code.operands(inst);
    for (i, same) in by_place(operands).enumerate() {
        let Some(&[Operand { place, .. }]) = same.get(..1) else { continue };
        let member = inst.inst.insts.get(usize::from(place.inst));
        let slot = member.and_then(|member| slot_at(member, place.field).filter(|_| !is_shared(member, place.field)));
        let again = by_place(operands).skip(i + 1).any(|other| other.first().is_some_and(|o| o.place == place));
        if again || !slot.is_some_and(|slot| belong(code, same, &slot)) {
            return Err(OperandError::Operand(place.field));
        }
    }
    for (number, member) in (0..).zip(&inst.inst.insts) {
        for slot in slots(member) {
            let place = GroupRegisterPosition { inst: number, field: slot.field };
            let named = operands.iter().any(|operand| operand.place == place);
            if !named && class_of(slot.file).is_some() && !is_optional(member, &slot) {
                return Err(OperandError::Missing(slot.field));
            }
        }
    }
    Ok(())
}

/// Returns `true` if the field names a `$c` that the instruction writes. If such a field has no operand, the flags are
/// unused, and the instruction clobbers the `$c` whose number is in the field.
pub(super) fn is_clobber(slot: &RegisterField) -> bool {
    slot.file == RegFile::C && slot.role == OperandRole::Def
}

/// Returns `true` if the field also selects a register of a file that is not allocated, such as `$a`.
fn is_shared(inst: &Inst, field: Field) -> bool {
    slots(inst).any(|slot| slot.field == field && class_of(slot.file).is_none())
}

/// Returns `true` if `operands`, all operands of one register field, fit this field.
fn belong(code: &VCode<Vp1>, operands: &[Operand<Vp1>], slot: &RegisterField) -> bool {
    let Some(expected) = class_of(slot.file) else { return false };
    let is_single = slot.shape.parts() == 1;
    let fits = |operand: &Operand<Vp1>| {
        let access = match (operand.access, slot.role) {
            (Access::Use, role) => role == OperandRole::Use,
            // A definition must write the whole register, so it cannot be a part of a tuple.
            (Access::Def, role) => role != OperandRole::Use && is_single,
            // An in-place update of `$c` is allowed, because each unit writes only its own bits.
            (Access::UpdateInPlace(old), role) => {
                let keeps = role == OperandRole::Update || role == OperandRole::Def && expected == Class::C;
                keeps && class(code, old) == Some(expected)
            }
        };
        access && class(code, operand.reg) == Some(expected) && operand.part < slot.shape.parts()
    };
    let ascend = operands.windows(2).all(|pair| pair[0].part < pair[1].part);
    let may_lack = slot.shape.allows_missing_parts() && slot.role == OperandRole::Use;
    ascend && operands.iter().all(fits) && (may_lack || operands.len() == usize::from(slot.shape.parts()))
}

/// Returns the register class of a register file, or `None` if its registers are not allocated.
const fn class_of(file: RegFile) -> Option<Class> {
    match file {
        RegFile::R => Some(Class::R),
        RegFile::V => Some(Class::V),
        RegFile::C => Some(Class::C),
        RegFile::Vc => Some(Class::Vc),
        _ => None,
    }
}

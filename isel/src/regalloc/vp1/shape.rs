//! Register fields of VP1's instructions, derived from the instructions' rows.

use halfbyte_isa::row::{LAST_FLAGS, Operand, OperandKind, OperandRole, ROTATE, RegFile};
use halfbyte_isa::vp1::fields::{ALWAYS, COND, PLAIN, R_ZERO, VAWRITE, VCIDX, VCXFRM_HIGH, VCXFRM_LOW, VWORD};
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use crate::vp1::Class;

/// Registers that a number n in a register field selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum TupleShape {
    /// n.
    Single,
    /// The given number, because the field is shared with other parts of the instruction word.
    Given(u8),
    /// n and n | 1, which are one register if n is odd.
    Pair,
    /// n and n ^ 1; a flag chooses one of the two.
    Choice,
    /// n and the following three registers of its aligned group of four, with wrap-around.
    Ring,
    /// n, a multiple of four, and the following three registers.
    Four,
}

impl TupleShape {
    /// Returns the number of registers.
    pub(super) const fn parts(self) -> u8 {
        match self {
            TupleShape::Single | TupleShape::Given(_) => 1,
            TupleShape::Pair | TupleShape::Choice => 2,
            TupleShape::Ring | TupleShape::Four => 4,
        }
    }

    /// Returns `true` if some instructions read only a part of the registers.
    pub(super) const fn allows_missing_parts(self) -> bool {
        matches!(self, TupleShape::Ring | TupleShape::Four)
    }

    /// Returns `true` if `number` is valid in the field. Both parts of a pair with an odd number
    /// are the same register.
    pub(super) const fn admits(self, number: u8, is_one_register: bool) -> bool {
        match self {
            TupleShape::Single | TupleShape::Choice | TupleShape::Ring => true,
            TupleShape::Given(given) => number == given,
            TupleShape::Pair => (number & 1 == 1) == is_one_register,
            TupleShape::Four => number & 3 == 0,
        }
    }

    /// Returns the register of a part.
    pub(super) const fn register(self, number: u8, part: u8) -> u8 {
        match self {
            TupleShape::Single | TupleShape::Given(_) | TupleShape::Four => number + part,
            TupleShape::Pair => number | part,
            TupleShape::Choice => number ^ part,
            TupleShape::Ring => number & !3 | (number + part) & 3,
        }
    }

    /// Returns the number with which the part selects `register`; for a pair, `part` must be 0.
    pub(super) const fn number(self, register: u8, part: u8) -> u8 {
        match self {
            TupleShape::Single | TupleShape::Given(_) | TupleShape::Pair => register,
            TupleShape::Choice => register ^ part,
            TupleShape::Ring => register & !3 | register.wrapping_sub(part) & 3,
            TupleShape::Four => register & !3,
        }
    }
}

/// Register field of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterField {
    /// Field that holds the number.
    pub(super) field: Field,
    /// Register file.
    pub(super) file: RegFile,
    /// Read, written or both.
    pub(super) role: OperandRole,
    /// Registers that the number selects.
    pub(super) shape: TupleShape,
}

/// Returns `true` if a bit of `$c` is constant, so that no register is read.
const fn is_constant(bit: u64) -> bool {
    matches!(bit, 11 | 12 | PLAIN | ALWAYS)
}

/// Returns `true` if a bit of `$c` is always 0.
const fn is_never(bit: u64) -> bool {
    is_constant(bit) && bit != ALWAYS
}

/// Returns `true` if two bits of `$c` rotate a quad of the instruction.
fn is_rotated(inst: &Inst) -> bool {
    let is_quad = |operand: &&Operand| matches!(operand.kind, OperandKind::Tuple { file: RegFile::V, count: 4, .. });
    let Some(quad) = inst.row().operands.iter().find(is_quad) else { return false };
    match (quad.role, inst.quad_condition()) {
        (OperandRole::Use, condition) => condition.is_none_or(|(bit, _)| bit == ROTATE),
        // A quad can be written unless its condition bit is always 0.
        _ => !is_unwritten(inst),
    }
}

/// Returns `true` if a load never writes its quad.
fn is_unwritten(inst: &Inst) -> bool {
    inst.row().operands.iter().any(|operand| match operand.kind {
        OperandKind::Selected { bit, .. } => is_never(inst.get(bit.field)),
        _ => false,
    })
}

/// Returns `true` if the transfer from the scalar unit takes its flags from a pair of `$vc`.
fn is_spread_wide(inst: &Inst) -> bool {
    (inst.get(VCXFRM_HIGH), inst.get(VCXFRM_LOW)) == (1, 3)
}

/// Returns the register fields of an instruction, given its current selection bits.
pub(super) fn slots(inst: &Inst) -> impl Iterator<Item = RegisterField> {
    inst.row().operands.iter().flat_map(|operand| operand_slots(inst, operand).into_iter().flatten())
}

fn operand_slots(inst: &Inst, operand: &Operand) -> [Option<RegisterField>; 2] {
    let role = operand.role;
    let slot = |file, field, shape| Some(RegisterField { field, file, role, shape });
    let flags = |index, bit| {
        let read = !is_constant(inst.get(bit)) || is_rotated(inst);
        read.then_some(RegisterField {
            field: index,
            file: RegFile::C,
            role: OperandRole::Use,
            shape: TupleShape::Single,
        })
    };
    match operand.kind {
        // The flags of two registers are spread over the components.
        OperandKind::Reg { file, field, .. } if field == VCIDX && is_spread_wide(inst) => {
            [slot(file, field, TupleShape::Pair), None]
        }
        OperandKind::Reg { file: RegFile::C, field, .. } if field == COND && !is_rotated(inst) => [None; 2],
        OperandKind::Reg { file: RegFile::V, field, .. } if inst.shares(field) => {
            [slot(RegFile::V, field, TupleShape::Given(inst.get(field) as u8)), None]
        }
        OperandKind::Reg { file, field, .. } => [slot(file, field, TupleShape::Single), None],
        OperandKind::FlagDef { file, field } if inst.get(field) <= LAST_FLAGS => {
            [slot(file, field, TupleShape::Single), None]
        }
        OperandKind::Tuple { file, field, count: 2 } => [slot(file, field, TupleShape::Pair), None],
        OperandKind::Tuple { file: RegFile::R, field, .. } => [slot(RegFile::R, field, TupleShape::Four), None],
        OperandKind::Tuple { .. } if role == OperandRole::Update && is_unwritten(inst) => [None; 2],
        OperandKind::Tuple { file, field, .. } => {
            [slot(file, field, inst.quad_condition().map_or(TupleShape::Ring, |(bit, _)| chosen(bit))), None]
        }
        OperandKind::Condition { index, bit } => [flags(index, bit.field), None],
        OperandKind::Selected { file, field, index, bit } => {
            [slot(file, field, chosen(inst.get(bit.field))), flags(index, bit.field)]
        }
        _ => [None; 2],
    }
}

/// Returns the registers that a bit of `$c` chooses from.
const fn chosen(bit: u64) -> TupleShape {
    match bit {
        ROTATE => TupleShape::Ring,
        _ if is_never(bit) => TupleShape::Single,
        _ => TupleShape::Choice,
    }
}

/// Returns the register field at `field`. The word selector of a vector counts as a `$vc` field if
/// the instruction follows a copy of all `$vc` to the vector.
pub(super) fn slot_at(inst: &Inst, field: Field) -> Option<RegisterField> {
    if inst.opcode() == Opcode::MOV_R_V && field == VWORD {
        return Some(RegisterField { field, file: RegFile::Vc, role: OperandRole::Use, shape: TupleShape::Single });
    }
    // A flags field that is written counts even if it does not select a register yet.
    let flags = inst.row().operands.iter().find_map(|operand| match operand.kind {
        OperandKind::FlagDef { file, field: at } if at == field => {
            Some(RegisterField { field, file, role: operand.role, shape: TupleShape::Single })
        }
        _ => None,
    });
    flags.or_else(|| slots(inst).find(|slot| slot.field == field))
}

/// Returns the register class of a file, if its registers are allocated.
pub(super) const fn class_of(file: RegFile) -> Option<Class> {
    match file {
        RegFile::R => Some(Class::R),
        RegFile::V => Some(Class::V),
        RegFile::C => Some(Class::C),
        RegFile::Vc => Some(Class::Vc),
        _ => None,
    }
}

/// Returns `true` if the field may lack an operand: it selects `$r31`, writes unused flags, or
/// reads vector flags that choose between equal factors.
pub(super) fn is_optional(inst: &Inst, slot: &RegisterField) -> bool {
    match (slot.file, slot.role) {
        (RegFile::R, _) => slot.shape == TupleShape::Single && inst.get(slot.field) == u64::from(R_ZERO),
        (RegFile::C, OperandRole::Def) | (RegFile::Vc, OperandRole::Use) => true,
        _ => false,
    }
}

/// Returns whether an instruction reads `$va`, and whether it writes `$va`.
pub(super) fn accumulates(inst: &Inst) -> (bool, bool) {
    let row = inst.row();
    let role = row.operands.iter().find_map(|o| matches!(o.kind, OperandKind::Whole(RegFile::Va)).then_some(o.role));
    match role {
        None => (false, false),
        // A conditionally written `$va` is not read.
        Some(_) if row.fields().any(|field| field == VAWRITE) => (false, inst.get(VAWRITE) != 0),
        Some(OperandRole::Use) => (true, false),
        Some(OperandRole::Def) => (false, true),
        Some(OperandRole::Update) => (true, true),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_isa::vp1::Bundle;
    use halfbyte_isa::vp1::footprint::{Footprint, Locations};

    use super::*;

    #[test]
    fn numbers_and_registers() {
        let shapes = [
            TupleShape::Single,
            TupleShape::Given(9),
            TupleShape::Pair,
            TupleShape::Choice,
            TupleShape::Ring,
            TupleShape::Four,
        ];
        for shape in shapes {
            for number in (0..32).filter(|&number| shape.admits(number, false)) {
                let registers: Vec<_> = (0..shape.parts()).map(|part| shape.register(number, part)).collect();
                assert!(
                    registers.iter().all(|register| register / shape.parts() == number / shape.parts()),
                    "{shape:?}"
                );
                for (part, &register) in (0..).zip(&registers) {
                    assert!(part > 0 && shape == TupleShape::Pair || shape.number(register, part) == number);
                    assert!(registers.iter().filter(|&&other| other == register).count() == 1, "{shape:?} {number}");
                }
            }
        }
        assert!(TupleShape::Pair.admits(5, true) && !TupleShape::Pair.admits(4, true));
        assert_eq!((TupleShape::Pair.register(5, 0), TupleShape::Pair.register(5, 1)), (5, 5));
    }

    /// Every register that the semantics of an instruction read or write is in one of its register
    /// fields.
    #[test]
    fn places_are_all_there_are() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        let files = [RegFile::R, RegFile::V, RegFile::C, RegFile::Vc];
        for &opcode in Opcode::ALL {
            for _ in 0..200 {
                let inst = Inst::random(opcode, &mut next);
                let Ok(footprint) = Footprint::of(&Bundle::new(&[inst.word()]).unwrap(), None) else { continue };
                let named = |written: bool| {
                    let slots = slots(&inst).filter(|slot| match slot.role {
                        OperandRole::Def => written,
                        OperandRole::Use => !written,
                        OperandRole::Update => true,
                    });
                    // A register that is chosen at run time is one of an aligned group of four.
                    let registers = slots.flat_map(|slot| {
                        let number = inst.get(slot.field) as u8;
                        let chosen = matches!(slot.shape, TupleShape::Choice | TupleShape::Ring | TupleShape::Four);
                        let parts = if chosen { 4 } else { slot.shape.parts() };
                        let register =
                            move |part| if chosen { number & !3 | part } else { slot.shape.register(number, part) };
                        (0..parts).map(move |part| Locations::register(slot.file, register(part)))
                    });
                    registers.fold(Locations::EMPTY, Locations::union)
                };
                let of_files = |all: Locations| {
                    let ours = files.iter().flat_map(|&file| (0..32).map(move |n| Locations::register(file, n)));
                    let ours = ours.fold(Locations::EMPTY, Locations::union);
                    all.places().filter(|&place| ours.places().any(|other| other == place)).collect::<Vec<_>>()
                };
                let allowed: Vec<_> = named(false).places().collect();
                for place in of_files(footprint.reads) {
                    // Without a transfer, a vector instruction reads its own flags.
                    let own = (0..4).any(|n| Locations::register(RegFile::Vc, n).places().any(|vc| vc == place));
                    let zero = Locations::register(RegFile::R, R_ZERO).places().any(|r31| r31 == place);
                    assert!(own || zero || allowed.contains(&place), "{inst} reads {place}");
                }
                let allowed: Vec<_> = named(true).places().collect();
                for place in of_files(footprint.writes) {
                    assert!(allowed.contains(&place), "{inst} writes {place}");
                }
            }
        }
    }
}

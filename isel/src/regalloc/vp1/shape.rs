//! How VP1's instructions take their registers, read off their rows.

use halfbyte_isa::row::{Kind, LAST_FLAGS, Operand, ROTATE, RegFile, Role};
use halfbyte_isa::vp1::fields::{ALWAYS, COND, PLAIN, R_ZERO, VAWRITE, VCIDX, VCXFRM_HIGH, VCXFRM_LOW, VWORD};
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

use crate::vp1::Class;

/// The registers that a number n in an instruction stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    /// n.
    Single,
    /// This number, which is other parts of the word too.
    Given(u8),
    /// n and n | 1, which are one if n is odd.
    Pair,
    /// n and n ^ 1: a flag chooses.
    Choice,
    /// n and the three that follow in its four, going round.
    Ring,
    /// n, a multiple of four, and the three that follow.
    Four,
}

impl Shape {
    /// How many registers it has.
    pub(super) const fn parts(self) -> u8 {
        match self {
            Shape::Single | Shape::Given(_) => 1,
            Shape::Pair | Shape::Choice => 2,
            Shape::Ring | Shape::Four => 4,
        }
    }

    /// Whether there are instructions that read only some of them.
    pub(super) const fn may_lack(self) -> bool {
        matches!(self, Shape::Ring | Shape::Four)
    }

    /// Whether n may be the number. The parts of a pair with an odd number are one register.
    pub(super) const fn admits(self, number: u8, is_one_register: bool) -> bool {
        match self {
            Shape::Single | Shape::Choice | Shape::Ring => true,
            Shape::Given(given) => number == given,
            Shape::Pair => (number & 1 == 1) == is_one_register,
            Shape::Four => number & 3 == 0,
        }
    }

    /// A part's register.
    pub(super) const fn register(self, number: u8, part: u8) -> u8 {
        match self {
            Shape::Single | Shape::Given(_) | Shape::Four => number + part,
            Shape::Pair => number | part,
            Shape::Choice => number ^ part,
            Shape::Ring => number & !3 | (number + part) & 3,
        }
    }

    /// The number under which a part has this register; of a pair, for part 0.
    pub(super) const fn number(self, register: u8, part: u8) -> u8 {
        match self {
            Shape::Single | Shape::Given(_) | Shape::Pair => register,
            Shape::Choice => register ^ part,
            Shape::Ring => register & !3 | register.wrapping_sub(part) & 3,
            Shape::Four => register & !3,
        }
    }
}

/// A place for registers in an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Where their number stands.
    pub(super) field: Field,
    /// Their file.
    pub(super) file: RegFile,
    /// Written or read.
    pub(super) role: Role,
    /// Which they are.
    pub(super) shape: Shape,
}

/// Whether a bit of `$c` is always the same, so that no register is read for it.
const fn is_constant(bit: u64) -> bool {
    matches!(bit, 11 | 12 | PLAIN | ALWAYS)
}

/// Whether a bit of `$c` is always 0.
const fn is_never(bit: u64) -> bool {
    is_constant(bit) && bit != ALWAYS
}

/// Whether an instruction has a quad that two bits of its `$c` rotate.
fn is_rotated(inst: &Inst) -> bool {
    let is_quad = |operand: &&Operand| matches!(operand.kind, Kind::Tuple { file: RegFile::V, count: 4, .. });
    let Some(quad) = inst.row().operands.iter().find(is_quad) else { return false };
    match (quad.role, inst.quad_condition()) {
        (Role::Use, condition) => condition.is_none_or(|(bit, _)| bit == ROTATE),
        // What may be written is so if a bit is 1.
        _ => !is_unwritten(inst),
    }
}

/// Whether a load never writes its quad.
fn is_unwritten(inst: &Inst) -> bool {
    inst.row().operands.iter().any(|operand| match operand.kind {
        Kind::Selected { bit, .. } => is_never(inst.get(bit.field)),
        _ => false,
    })
}

/// Whether what the scalar unit hands over takes its flags from a pair of `$vc`.
fn is_spread_wide(inst: &Inst) -> bool {
    (inst.get(VCXFRM_HIGH), inst.get(VCXFRM_LOW)) == (1, 3)
}

/// The places of an instruction, as the bits that choose among registers stand.
pub(super) fn slots(inst: &Inst) -> impl Iterator<Item = Slot> {
    inst.row().operands.iter().flat_map(|operand| operand_slots(inst, operand).into_iter().flatten())
}

fn operand_slots(inst: &Inst, operand: &Operand) -> [Option<Slot>; 2] {
    let role = operand.role;
    let slot = |file, field, shape| Some(Slot { field, file, role, shape });
    let flags = |index, bit| {
        let read = !is_constant(inst.get(bit)) || is_rotated(inst);
        read.then_some(Slot { field: index, file: RegFile::C, role: Role::Use, shape: Shape::Single })
    };
    match operand.kind {
        // What is spread over the components are the flags of two registers.
        Kind::Reg { file, field, .. } if field == VCIDX && is_spread_wide(inst) => {
            [slot(file, field, Shape::Pair), None]
        }
        Kind::Reg { file: RegFile::C, field, .. } if field == COND && !is_rotated(inst) => [None; 2],
        Kind::Reg { file: RegFile::V, field, .. } if inst.shares(field) => {
            [slot(RegFile::V, field, Shape::Given(inst.get(field) as u8)), None]
        }
        Kind::Reg { file, field, .. } => [slot(file, field, Shape::Single), None],
        Kind::FlagDef { file, field } if inst.get(field) <= LAST_FLAGS => [slot(file, field, Shape::Single), None],
        Kind::Tuple { file, field, count: 2 } => [slot(file, field, Shape::Pair), None],
        Kind::Tuple { file: RegFile::R, field, .. } => [slot(RegFile::R, field, Shape::Four), None],
        Kind::Tuple { .. } if role == Role::Update && is_unwritten(inst) => [None; 2],
        Kind::Tuple { file, field, .. } => {
            [slot(file, field, inst.quad_condition().map_or(Shape::Ring, |(bit, _)| chosen(bit))), None]
        }
        Kind::Condition { index, bit } => [flags(index, bit.field), None],
        Kind::Selected { file, field, index, bit } => {
            [slot(file, field, chosen(inst.get(bit.field))), flags(index, bit.field)]
        }
        _ => [None; 2],
    }
}

/// The registers that a bit of `$c` chooses from.
const fn chosen(bit: u64) -> Shape {
    match bit {
        ROTATE => Shape::Ring,
        _ if is_never(bit) => Shape::Single,
        _ => Shape::Choice,
    }
}

/// The place of a register operand: one of the instruction's own, or the number of a vector's word, which can be that of a `$vc`
/// where all of these were copied to the vector.
pub(super) fn slot_at(inst: &Inst, field: Field) -> Option<Slot> {
    if inst.opcode() == Opcode::MOV_R_V && field == VWORD {
        return Some(Slot { field, file: RegFile::Vc, role: Role::Use, shape: Shape::Single });
    }
    // Flags to write are a place whether or not the word names any yet.
    let flags = inst.row().operands.iter().find_map(|operand| match operand.kind {
        Kind::FlagDef { file, field: at } if at == field => {
            Some(Slot { field, file, role: operand.role, shape: Shape::Single })
        }
        _ => None,
    });
    flags.or_else(|| slots(inst).find(|slot| slot.field == field))
}

/// The class whose registers a file has, if they are allocated.
pub(super) const fn class_of(file: RegFile) -> Option<Class> {
    match file {
        RegFile::R => Some(Class::R),
        RegFile::V => Some(Class::V),
        RegFile::C => Some(Class::C),
        RegFile::Vc => Some(Class::Vc),
        _ => None,
    }
}

/// Whether a place may do without an operand: it holds the number of `$r31`, writes flags for nobody, or reads flags of vectors
/// that choose between factors which are the same.
pub(super) fn is_optional(inst: &Inst, slot: &Slot) -> bool {
    match (slot.file, slot.role) {
        (RegFile::R, _) => slot.shape == Shape::Single && inst.get(slot.field) == u64::from(R_ZERO),
        (RegFile::C, Role::Def) | (RegFile::Vc, Role::Use) => true,
        _ => false,
    }
}

/// Whether an instruction reads `$va`, and whether it writes it.
pub(super) fn accumulates(inst: &Inst) -> (bool, bool) {
    let row = inst.row();
    let role = row.operands.iter().find_map(|o| matches!(o.kind, Kind::Whole(RegFile::Va)).then_some(o.role));
    match role {
        None => (false, false),
        // What may be written and is not read.
        Some(_) if row.fields().any(|field| field == VAWRITE) => (false, inst.get(VAWRITE) != 0),
        Some(Role::Use) => (true, false),
        Some(Role::Def) => (false, true),
        Some(Role::Update) => (true, true),
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
        let shapes = [Shape::Single, Shape::Given(9), Shape::Pair, Shape::Choice, Shape::Ring, Shape::Four];
        for shape in shapes {
            for number in (0..32).filter(|&number| shape.admits(number, false)) {
                let registers: Vec<_> = (0..shape.parts()).map(|part| shape.register(number, part)).collect();
                assert!(
                    registers.iter().all(|register| register / shape.parts() == number / shape.parts()),
                    "{shape:?}"
                );
                for (part, &register) in (0..).zip(&registers) {
                    assert!(part > 0 && shape == Shape::Pair || shape.number(register, part) == number);
                    assert!(registers.iter().filter(|&&other| other == register).count() == 1, "{shape:?} {number}");
                }
            }
        }
        assert!(Shape::Pair.admits(5, true) && !Shape::Pair.admits(4, true));
        assert_eq!((Shape::Pair.register(5, 0), Shape::Pair.register(5, 1)), (5, 5));
    }

    /// Every register that an instruction's meaning reads or writes is in one of its places.
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
                        Role::Def => written,
                        Role::Use => !written,
                        Role::Update => true,
                    });
                    // What is chosen when the word runs is one of four.
                    let registers = slots.flat_map(|slot| {
                        let number = inst.get(slot.field) as u8;
                        let chosen = matches!(slot.shape, Shape::Choice | Shape::Ring | Shape::Four);
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
                    // Flags that a vector instruction would be handed are, with nobody to hand them, its own.
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

//! Register fields of VP1 instructions, derived from the descriptions of the instructions.

use halfbyte_isa::row::{LAST_FLAGS, Operand, OperandKind, OperandRole, ROTATE, RegFile};
use halfbyte_isa::vp1::fields::{ALWAYS, COND, PLAIN, R_ZERO, VAWRITE, VCIDX, VCXFRM_HIGH, VCXFRM_LOW, VWORD};
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;

/// Registers that an instruction accesses if the number n is in a register field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum TupleShape {
    /// Register n.
    Single,
    /// The given register only, because the field also encodes other parts of the instruction.
    Given(u8),
    /// Registers n and n | 1. If n is odd, both are one register.
    Pair,
    /// Register n or n ^ 1, which a flag chooses at run time.
    Choice,
    /// The four registers of the aligned group that contains n, beginning with n, with wrap-around.
    Ring,
    /// Registers n to n + 3. n must be a multiple of four.
    Four,
}

impl TupleShape {
    /// Returns the number of registers in the tuple.
    pub(super) const fn parts(self) -> u8 {
        match self {
            TupleShape::Single | TupleShape::Given(_) => 1,
            TupleShape::Pair | TupleShape::Choice => 2,
            TupleShape::Ring | TupleShape::Four => 4,
        }
    }

    /// Returns `true` if some instructions read only some registers of the tuple.
    pub(super) const fn allows_missing_parts(self) -> bool {
        matches!(self, TupleShape::Ring | TupleShape::Four)
    }

    /// Returns `true` if `number` is valid in the field. A pair takes an odd number if both parts
    /// are the same register, else an even one.
    pub(super) const fn admits(self, number: u8, is_one_register: bool) -> bool {
        match self {
            TupleShape::Single | TupleShape::Choice | TupleShape::Ring => true,
            TupleShape::Given(given) => number == given,
            TupleShape::Pair => (number & 1 == 1) == is_one_register,
            TupleShape::Four => number & 3 == 0,
        }
    }

    /// Returns the register that is part `part` of the tuple with this number in the field.
    pub(super) const fn register(self, number: u8, part: u8) -> u8 {
        match self {
            TupleShape::Single | TupleShape::Given(_) | TupleShape::Four => number + part,
            TupleShape::Pair => number | part,
            TupleShape::Choice => number ^ part,
            TupleShape::Ring => number & !3 | (number + part) & 3,
        }
    }

    /// Returns the number of the tuple whose part `part` is `register`. For a pair, `part` must be 0.
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
    /// Bit field of the instruction word that holds the number.
    pub(super) field: Field,
    /// Register file of the selected registers.
    pub(super) file: RegFile,
    /// Role of the registers: read, written, or both.
    pub(super) role: OperandRole,
    /// Registers that the number in the field selects.
    pub(super) shape: TupleShape,
}

/// Returns `true` if a bit number of `$c` stands for a constant, so that no `$c` is read.
const fn is_constant(bit: u64) -> bool {
    matches!(bit, 11 | 12 | PLAIN | ALWAYS)
}

/// Returns `true` if a bit number of `$c` stands for the constant 0.
const fn is_never(bit: u64) -> bool {
    is_constant(bit) && bit != ALWAYS
}

/// Returns `true` if two bits of `$c` rotate the vector quad that is an operand of the instruction.
fn is_rotated(inst: &Inst) -> bool {
    let is_quad = |operand: &&Operand| matches!(operand.kind, OperandKind::Tuple { file: RegFile::V, count: 4, .. });
    let Some(quad) = inst.row().operands.iter().find(is_quad) else { return false };
    match (quad.role, inst.quad_condition()) {
        (OperandRole::Use, condition) => condition.is_none_or(|(bit, _)| bit == ROTATE),
        // A store to a quad happens unless its condition bit is always 0.
        _ => !is_unwritten(inst),
    }
}

/// Returns `true` if a load never writes its vector quad, because its condition bit is always 0.
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

/// Returns the register fields of an instruction. Some fields exist only for some values of its other fields.
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
        // The flags of two `$vc` are distributed over the vector components.
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

/// Returns the registers from which a bit of `$c` chooses.
const fn chosen(bit: u64) -> TupleShape {
    match bit {
        ROTATE => TupleShape::Ring,
        _ if is_never(bit) => TupleShape::Single,
        _ => TupleShape::Choice,
    }
}

/// Returns the register field at bit field `field`. The word selector of a vector counts as a `$vc`
/// field, because intrinsics copy all `$vc` to a vector and then select one of its words.
pub(super) fn slot_at(inst: &Inst, field: Field) -> Option<RegisterField> {
    if inst.opcode() == Opcode::MOV_R_V && field == VWORD {
        return Some(RegisterField { field, file: RegFile::Vc, role: OperandRole::Use, shape: TupleShape::Single });
    }
    // A flags destination is a register field even before a register is assigned to it. `slots` omits it until then.
    let flags = inst.row().operands.iter().find_map(|operand| match operand.kind {
        OperandKind::FlagDef { file, field: at } if at == field => {
            Some(RegisterField { field, file, role: operand.role, shape: TupleShape::Single })
        }
        _ => None,
    });
    flags.or_else(|| slots(inst).find(|slot| slot.field == field))
}

/// Returns `true` if the field needs no operand: it selects `$r31`, names flags that are written
/// but unused, or names vector flags that are not needed.
pub(super) fn is_optional(inst: &Inst, slot: &RegisterField) -> bool {
    match (slot.file, slot.role) {
        (RegFile::R, _) => slot.shape == TupleShape::Single && inst.get(slot.field) == u64::from(R_ZERO),
        (RegFile::C, OperandRole::Def) | (RegFile::Vc, OperandRole::Use) => true,
        _ => false,
    }
}

/// Returns two truth values: whether an instruction reads `$va`, and whether it writes `$va`.
pub(super) fn accumulates(inst: &Inst) -> (bool, bool) {
    let row = inst.row();
    let role = row.operands.iter().find_map(|o| matches!(o.kind, OperandKind::Whole(RegFile::Va)).then_some(o.role));
    match role {
        None => (false, false),
        // An instruction with a bit that disables the write to `$va` never reads `$va`.
        Some(_) if row.fields().any(|field| field == VAWRITE) => (false, inst.get(VAWRITE) != 0),
        Some(OperandRole::Use) => (true, false),
        Some(OperandRole::Def) => (false, true),
        Some(OperandRole::Update) => (true, true),
    }
}

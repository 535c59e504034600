//! Random instructions of the targets, written as intrinsics for the kernel generator.

use std::sync::LazyLock;

use halfbyte_ir::generate::Drawn;
use halfbyte_ir::witness::Random;
use halfbyte_ir::{IntrinsicData, Type};
use halfbyte_isa::halu::fields::{GUARD, GUARD_NOT, PT, RZ, URZ};
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::ptx::module::{Body, Entry};
use halfbyte_isa::ptx::types::Type as PtxType;
use halfbyte_isa::ptx::{self, template};
use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isa::vp1;

/// First number of the registers that represent operands of a HALU instruction. All numbers have
/// three digits, so no register's name is a prefix of another name.
const FIRST: u64 = 100;

/// First number of the registers that represent operands of a VP1 instruction. All numbers have two
/// digits, so no register's name is a prefix of another name.
const FIRST_OF_VP1: u64 = 12;

/// Types of one lane or several lanes whose values fit one 32-bit register.
const WORDS: [Type; 8] =
    [Type::I32, Type::F16X2, Type::BF16X2, Type::I8X4, Type::I16X2, Type::F32, Type::F16, Type::I8];

/// Returns a random HALU instruction. The register operands of the instruction are values, or in a
/// few cases the zero register or the true predicate.
pub fn halu_intrinsic(random: &mut Random) -> Option<Drawn> {
    let &opcode = Opcode::ALL.get(random.below(Opcode::ALL.len()))?;
    let mut inst = Inst::random(opcode, &mut || random.bits());
    let mut result = None;
    let mut operands = Vec::new();
    let mut places = Vec::new();
    for (number, slot) in (0..).zip(inst.registers()) {
        let (register, ty, none) = match (slot.file, slot.span) {
            (RegFile::Gpr, 1) => (FIRST + 4 * number, WORDS.get(random.below(WORDS.len())).copied(), RZ),
            (RegFile::Gpr, span) => (FIRST + 4 * number, Some(if span == 2 { Type::I64 } else { Type::I8X16 }), RZ),
            (RegFile::Pred, _) => (number, Some(Type::I1), PT),
            _ => (0, None, URZ),
        };
        let placeholder = match (slot.role, ty) {
            _ if slot.field == GUARD || register == u64::from(none) => None,
            (OperandRole::Def, Some(ty)) if result.is_none() => {
                result = Some(ty);
                Some("$d".to_string())
            }
            (OperandRole::Use, Some(ty)) if random.below(8) > 0 => {
                operands.push(ty);
                Some(format!("${}", operands.len() - 1))
            }
            _ => None,
        };
        inst.set(slot.field, if placeholder.is_some() { register } else { none.into() });
        let letter = if slot.file == RegFile::Pred { 'P' } else { 'R' };
        places.extend(placeholder.map(|placeholder| (format!("{letter}{register}"), placeholder)));
    }
    inst.set(GUARD_NOT, 0);
    let line = inst.to_string();
    let (mnemonic, registers) = line.split_once(' ')?;
    let registers = places.iter().fold(registers.to_string(), |text, (register, place)| text.replace(register, place));
    let text = format!("{mnemonic} {registers}");
    Some(Drawn { data: IntrinsicData { target: halfbyte::HALU.name().to_string(), text }, result: result?, operands })
}

/// Declared registers for random PTX instructions. The number of registers of each type is large enough that most
/// operands of an instruction are distinct.
static REGISTERS: LazyLock<Entry> = LazyLock::new(|| {
    let mut body = Body::default();
    for (name, ty) in [("p", PtxType::Pred), ("h", PtxType::B16), ("r", PtxType::B32), ("d", PtxType::B64)] {
        body.registers.declare(name, ty, Some(8));
    }
    Entry { body, ..Entry::default() }
});

/// Returns a random PTX instruction with exactly one result.
pub fn ptx(random: &mut Random) -> Option<Drawn> {
    let &opcode = ptx::Opcode::ALL.get(random.below(ptx::Opcode::ALL.len()))?;
    let inst = ptx::Inst::random(opcode, &REGISTERS, &mut || random.bits())?;
    let registers = &REGISTERS.body.registers;
    let (text, read) = template::of(&inst, |reg| registers.ty(reg))?;
    let (_, written) = inst.registers().find(|(role, _)| *role == OperandRole::Def)?;
    let mut value = |reg| match registers.ty(reg)? {
        PtxType::Pred => Some(Type::I1),
        PtxType::B16 => [Type::F16, Type::BF16, Type::I16].get(random.below(3)).copied(),
        PtxType::B64 => [Type::F64, Type::I64].get(random.below(2)).copied(),
        _ => WORDS.iter().copied().filter(|ty| ty.bits() == 32).nth(random.below(6)),
    };
    let result = value(written)?;
    let operands = read.into_iter().map(value).collect::<Option<Vec<Type>>>()?;
    Some(Drawn { data: IntrinsicData { target: ptx::NAME.to_string(), text }, result, operands })
}

/// Returns a random instruction of VP1's scalar or vector unit. Each register operand is a value.
pub fn vp1(random: &mut Random) -> Option<Drawn> {
    let &opcode = vp1::Opcode::ALL.get(random.below(vp1::Opcode::ALL.len()))?;
    let mut inst = vp1::Inst::random(opcode, &mut || random.bits());
    let mut result = None;
    let mut operands = Vec::new();
    let mut places = Vec::new();
    // The numbers of consecutive operands differ by four, so that operands of up to four registers do not overlap.
    for (number, slot) in (0..).zip(inst.registers()) {
        let (name, ty) = match slot.file {
            RegFile::R => ("$r", WORDS.get(random.below(WORDS.len())).copied()?),
            RegFile::V => ("$v", Type::I8X16),
            // The instruction writes no flags.
            _ => {
                inst.set(slot.field, vp1::fields::NO_FLAGS);
                continue;
            }
        };
        let register = FIRST_OF_VP1 + 4 * number;
        inst.set(slot.field, register);
        let placeholder = match slot.role {
            OperandRole::Def => {
                result = Some(ty);
                "$d".to_string()
            }
            OperandRole::Use => {
                operands.extend((0..slot.span).map(|_| ty));
                format!("${}", operands.len() - usize::from(slot.span))
            }
            OperandRole::Update => return None,
        };
        places.push((format!("{name}{register}"), placeholder));
    }
    let line = inst.to_string();
    let text = places.iter().fold(line, |text, (register, place)| text.replace(register, place));
    Some(Drawn { data: IntrinsicData { target: halfbyte::VP1.name().to_string(), text }, result: result?, operands })
}

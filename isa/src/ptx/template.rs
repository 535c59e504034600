//! Instruction templates: the text with which an intrinsic of the IR names a PTX instruction. The instruction must
//! compute its result only from its operands.
//!
//! A template is a PTX instruction in which `$d` is the result register and `$0`, `$1`, ... are the operand registers.
//! PTX identifiers may begin with `$`, so the ordinary parser reads a template after declarations of these registers.
//! Memory accesses, control flow, the carry flag and special registers are not available.

use thiserror::Error;

use super::inst::Inst;
use super::module::{Body, Registers, Scope};
use super::operand::{Operand, Reg};
use super::row::{InstClass, OperandRole};
use super::text::{self, inst_text_in};
use super::types::Type;

/// The register `$d` of a template.
pub const RESULT: Reg = Reg(0);

/// Maximum number of operands of a template.
pub const MAX_OPERANDS: usize = 6;

/// Returns the operand register `$0`, `$1`, ... of a template; `number` is the number in the name.
pub const fn operand(number: u8) -> Reg {
    Reg(1 + number as u32)
}

/// Returns the register type for a value of this many bits; a 1-bit value is a predicate. Returns
/// `None` for any other width.
pub const fn register_of(bits: u32) -> Option<Type> {
    match bits {
        1 => Some(Type::Pred),
        16 => Some(Type::B16),
        32 => Some(Type::B32),
        64 => Some(Type::B64),
        _ => None,
    }
}

/// The reason why a text is not a valid template for the given types.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The intrinsic has too many operands; the value is their number.
    #[error("an intrinsic takes at most 6 operands, not {0}")]
    TooMany(usize),
    /// The text is not a valid instruction.
    #[error("{0}")]
    Text(text::ErrorKind),
    /// The text is not exactly one instruction.
    #[error("expected exactly one instruction without `;`")]
    NotOne,
    /// The instruction accesses memory or changes the control flow. The value is its mnemonic.
    #[error("`{0}` accesses memory or changes control flow, which is not allowed in an intrinsic")]
    Class(&'static str),
    /// The instruction reads or writes the carry flag, which outlives the instruction. The value is its mnemonic.
    #[error("`{0}` uses the carry flag, which is not allowed in an intrinsic")]
    Carry(&'static str),
    /// The instruction has a guard.
    #[error("a guard is not allowed in an intrinsic, because the result would be undefined")]
    Guarded,
    /// An operand is neither a register nor an immediate; for example, it is a special register.
    #[error("operands of an intrinsic must be `$d`, `$0`, `$1`, ... or numbers")]
    Operand,
    /// A register is not used as a template requires. The value describes the wrong use.
    #[error("{0}")]
    Unused(String),
}

/// Returns the name of a template register: `$d`, `$0`, `$1`, ...
fn name(reg: Reg) -> String {
    match reg.0.checked_sub(1) {
        None => "$d".to_owned(),
        Some(number) => format!("${number}"),
    }
}

/// Declares the registers of a template: the result first, then the operands.
fn registers(result: Type, operands: &[Type]) -> Result<Registers, TemplateError> {
    if operands.len() > MAX_OPERANDS {
        return Err(TemplateError::TooMany(operands.len()));
    }
    let mut registers = Registers::default();
    for (number, &ty) in (0..).zip([&[result], operands].concat().iter()) {
        registers.declare(name(Reg(number)), ty, None);
    }
    Ok(registers)
}

/// Parses a template. The result and the operands are in registers of the given types: `.pred`, `.b16`, `.b32` or
/// `.b64`. The registers of the returned instruction are [`RESULT`] and those of [`operand`].
///
/// # Errors
/// Returns an error if the text is not an instruction, if the instruction has other effects than its result, or if it
/// does not match the types.
pub fn parse(line: &str, result: Type, operands: &[Type]) -> Result<Inst, TemplateError> {
    use std::fmt::Write;

    if line.trim().is_empty() {
        return Err(TemplateError::NotOne);
    }
    let registers = registers(result, operands)?;
    let mut whole = String::from(".version 9.3\n.target sm_90\n.address_size 64\n.entry k()\n{\n");
    for family in registers.families() {
        let _ = writeln!(whole, ".reg .{} {};", family.ty.name(), family.name);
    }
    let _ = write!(whole, "{line};\n}}\n");
    let read = text::read(&whole).map_err(|errors| match errors.into_iter().next() {
        Some(error) => TemplateError::Text(error.kind),
        None => TemplateError::NotOne,
    })?;
    let [entry] = read.module.entries.as_slice() else { return Err(TemplateError::NotOne) };
    let body = &entry.body;
    let [inst] = body.insts.as_slice() else { return Err(TemplateError::NotOne) };
    let alone = body.registers == registers
        && (body.labels.is_empty() && body.tables.is_empty() && body.frame.is_empty())
        && (read.module.functions.is_empty() && read.module.variables.is_empty() && entry.params.is_empty());
    if !alone {
        return Err(TemplateError::NotOne);
    }
    check(inst, operands.len())?;
    Ok(inst.clone())
}

/// Checks that a template may contain the instruction. All operands must be registers or
/// immediates. The instruction must write `$d` once and read each of the registers `$0`, `$1`, ...;
/// `operands` is the number of these registers.
fn check(inst: &Inst, operands: usize) -> Result<(), TemplateError> {
    let mnemonic = inst.row().mnemonic;
    if inst.guard.is_some() {
        return Err(TemplateError::Guarded);
    }
    if !matches!(inst.row().class, InstClass::Compute | InstClass::Move | InstClass::Address) {
        return Err(TemplateError::Class(mnemonic));
    }
    if inst.reads_carry() || inst.writes_carry() {
        return Err(TemplateError::Carry(mnemonic));
    }
    let values = |operand: &Operand| {
        matches!(
            operand,
            Operand::Register(_)
                | Operand::Not(_)
                | Operand::Pair(_)
                | Operand::Number(_)
                | Operand::Vector(_)
                | Operand::Lanes { .. }
                | Operand::Part { .. }
        )
    };
    if !inst.operands.iter().all(values) {
        return Err(TemplateError::Operand);
    }
    let mut written = 0;
    let mut used = vec![false; operands];
    for (role, reg) in inst.registers() {
        let number = reg.0.checked_sub(1).map(|number| number as usize);
        match (number, role) {
            (None, OperandRole::Def) => written += 1,
            (None, _) => return Err(TemplateError::Unused("the result `$d` is read".into())),
            (Some(_), OperandRole::Def) => {
                return Err(TemplateError::Unused(format!("operand `{}` is written", name(reg))));
            }
            (Some(number), _) => used.get_mut(number).into_iter().for_each(|used| *used = true),
        }
    }
    if written != 1 {
        return Err(TemplateError::Unused("the result `$d` must be written exactly once".into()));
    }
    match used.iter().position(|used| !used) {
        Some(number) => Err(TemplateError::Unused(format!("operand `${number}` is not used"))),
        None => Ok(()),
    }
}

/// Returns the template of an instruction, and the registers that replace `$0`, `$1`, ... in order.
/// `types` returns the type of a register. Returns `None` if a template cannot contain the
/// instruction, or if the instruction does not write exactly one register.
pub fn of(inst: &Inst, types: impl Fn(Reg) -> Option<Type>) -> Option<(String, Vec<Reg>)> {
    let mut inst = Inst { guard: None, ..inst.clone() };
    let (mut result, mut operands) = (Vec::new(), Vec::new());
    inst.rename(|role, reg| match role {
        OperandRole::Def => {
            result.push(reg);
            RESULT
        }
        _ => {
            let known = operands.iter().position(|&of| of == reg);
            let number = known.unwrap_or_else(|| {
                operands.push(reg);
                operands.len() - 1
            });
            operand(u8::try_from(number).unwrap_or(u8::MAX))
        }
    });
    let &[result] = result.as_slice() else { return None };
    let read = operands.iter().map(|&reg| types(reg)).collect::<Option<Vec<Type>>>()?;
    let body = Body { registers: registers(types(result)?, &read).ok()?, ..Default::default() };
    check(&inst, operands.len()).ok()?;
    let line = inst_text_in(&inst, Scope { params: &[], body: &body, variables: &[], functions: &[] });
    Some((line.trim_end_matches(';').to_owned(), operands))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::Opcode;
    use super::*;

    fn error(line: &str, operands: &[Type]) -> String {
        parse(line, Type::B32, operands).unwrap_err().to_string()
    }

    #[test]
    fn an_instruction_is_read_and_printed() {
        for (line, result, operands) in [
            ("cvt.rmi.f32.f32 $d, $0", Type::B32, &[Type::B32][..]),
            ("lop3.b32 $d, $0, $1, $0, 30", Type::B32, &[Type::B32, Type::B32]),
            ("shl.b64 $d, $0, $1", Type::B64, &[Type::B64, Type::B32]),
            ("setp.lt.and.f32 $d, $0, 0f3f800000, $1", Type::Pred, &[Type::B32, Type::Pred]),
            ("vadd4.u32.u32.u32.sat $d.b10, $0, $1.b0000, $2", Type::B32, &[Type::B32; 3]),
        ] {
            let inst = parse(line, result, operands).unwrap();
            let types = [&[result], operands].concat();
            let (printed, regs) = of(&inst, |reg| types.get(reg.0 as usize).copied()).unwrap();
            assert_eq!(parse(&printed, result, operands).unwrap(), inst, "{printed}");
            assert_eq!(regs.len(), operands.len());
        }
        assert_eq!(parse("ex2.approx.f32 $d, $0", Type::B32, &[Type::B32]).unwrap().opcode, Opcode::EX2_F32);
    }

    #[test]
    fn what_is_no_template_says_why() {
        let word = [Type::B32];
        for (line, reason) in [
            ("frob.b32 $d, $0", "unknown instruction"),
            ("not.b32 $d, $1", "$1"),
            ("not.b32 $d, %r1", "%r1"),
            ("not.b32 $d, $0; not.b32 $d, $0", "expected exactly one instruction"),
            ("} .entry l() { ret", "expected exactly one instruction"),
            ("", "expected exactly one instruction"),
            ("ret", "changes control flow"),
            ("ld.global.b32 $d, [$0]", "64"),
            ("add.cc.u32 $d, $0, $0", "carry flag"),
            ("mov.u32 $d, %tid.x", "`$d`, `$0`"),
            ("mov.b32 $d, 1", "`$0` is not used"),
            ("not.b32 $0, $0", "operand `$0` is written"),
            ("add.u32 $d, $d, $0", "`$d` is read"),
            ("not.b64 $d, $0", "64"),
        ] {
            let error = error(line, &word);
            assert!(error.contains(reason), "{line}: {error}");
        }
        assert!(error("mov.b32 $d, $0", &[Type::B32; 7]).contains("not 7"));
    }
}

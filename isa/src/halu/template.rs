//! Instruction templates with placeholders. Intrinsics of the IR can use every computing instruction of HALU through a
//! template.
//!
//! A template is a line of assembly in which `$d` stands for the register of the result, and `$0`, `$1`, ... for the
//! registers of the operands. Registers other than RZ, URZ and PT cannot be named, because their contents are unknown.
//! Constant memory gives access to parameters only: `c[$1]` is the constant of operand 1, which must be a parameter.
//! Memory accesses and control flow are not allowed.

use std::fmt::Write;

use thiserror::Error;

use super::Inst;
use crate::row::{InstClass, OperandKind, OperandRole, RegFile, RegSlot};
use crate::text::AsmError;
use crate::word::Field;

const WORD: Value = Value { file: RegFile::Gpr, span: 1 };

/// The value for which a register operand of a template stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    /// The result, `$d`.
    Result,
    /// An operand: `$0`, `$1`, ...
    Operand(u8),
}

/// The register file of a value, and the number of registers that the value occupies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// The register file: GPR or predicate.
    pub file: RegFile,
    /// Number of registers: 1, 2 or 4 GPRs, or 1 predicate.
    pub span: u8,
}

/// An instruction whose registers are assigned later.
#[derive(Clone, Debug)]
pub struct Template {
    /// The instruction, with RZ or PT in place of the placeholders.
    pub inst: Inst,
    /// The register operands that stand for values, in the order of the row.
    pub slots: Vec<(RegSlot, Placeholder)>,
    /// The field with the offset of a constant in bank 0, and the number of the operand for which
    /// the constant stands. `None` if the template uses no parameter.
    pub constant: Option<(Field, u8)>,
}

/// The reason why a text is not a valid template for the given values.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A `$` that is followed by neither `d` nor the number of an operand. The second value is the
    /// number of operands.
    #[error("`${0}` is not a valid placeholder: use `$d` for the result and `$0` to `${last}` for the operands", last = .1.saturating_sub(1))]
    Placeholder(String, usize),
    /// An explicit register name.
    #[error("register `{0}` is not allowed: use `$d`, `$0`, `$1`, ...")]
    Register(String),
    /// More operands than a template supports.
    #[error("an intrinsic takes at most 6 operands; found {0}")]
    TooMany(usize),
    /// The text is not a valid instruction. The column numbers refer to the text after the
    /// placeholders were replaced by registers.
    #[error("{0}")]
    Asm(AsmError),
    /// An instruction that accesses memory or changes control flow.
    #[error("{0} accesses memory or changes control flow, which an intrinsic must not do")]
    Class(&'static str),
    /// A guarded instruction, which might not execute.
    #[error("an intrinsic cannot have a guard, because it must always write its result")]
    Guarded,
    /// A placeholder whose value is in another register file, or has another number of registers,
    /// than the instruction needs.
    #[error("the type of {0} does not fit this operand of the instruction")]
    Kind(String),
    /// An access to constant memory whose address is not the placeholder of a parameter.
    #[error("constant addresses are not allowed in `c[...]`: use `c[$0]` for a 32-bit parameter")]
    Constant,
    /// A result that is not written or an operand that is not read.
    #[error("{0}")]
    Unused(String),
}

/// Distance between the register numbers that replace the placeholders, so that each value may be a
/// quad. Also the distance in bytes between the constants that replace placeholders.
const PLACEHOLDER_DISTANCE: u8 = 4;

fn name(placeholder: Placeholder) -> String {
    match placeholder {
        Placeholder::Result => "$d".to_string(),
        Placeholder::Operand(n) => format!("${n}"),
    }
}

impl Template {
    /// Parses a template for a result and operands of these kinds.
    ///
    /// # Errors
    /// The text is not a valid instruction, names registers, or does not fit the values.
    pub fn parse(text: &str, result: Value, operands: &[Value]) -> Result<Template, TemplateError> {
        if operands.len() > 6 {
            return Err(TemplateError::TooMany(operands.len()));
        }
        let line = replace(text, result, operands)?;
        let inst: Inst = line.parse().map_err(TemplateError::Asm)?;
        let row = inst.row();
        let computes = matches!(row.class, InstClass::Compute | InstClass::Move | InstClass::Address);
        let plain = row.operands.iter().all(|operand| {
            !matches!(
                operand.kind,
                OperandKind::AllPreds
                    | OperandKind::Memory { .. }
                    | OperandKind::Target(_)
                    | OperandKind::Name(_)
                    | OperandKind::Const { align: 8, .. }
            )
        });
        if !computes || !plain {
            return Err(TemplateError::Class(row.mnemonic));
        }
        if !inst.is_unconditional() {
            return Err(TemplateError::Guarded);
        }
        let mut template = Template { inst, slots: Vec::new(), constant: None };
        let mut written = false;
        let mut read = vec![false; operands.len()];
        for &slot in inst.registers() {
            let number = inst.get(slot.field) as u8;
            if slot.file.constant().is_some_and(|c| c.0 == number) {
                continue;
            }
            let placeholder = match if slot.file == RegFile::Pred { number } else { number / PLACEHOLDER_DISTANCE } {
                0 => Placeholder::Result,
                n => Placeholder::Operand(n - 1),
            };
            let value = match placeholder {
                Placeholder::Result => Some(result),
                Placeholder::Operand(n) => operands.get(usize::from(n)).copied(),
            };
            if value != Some(Value { file: slot.file, span: slot.span }) {
                return Err(TemplateError::Kind(name(placeholder)));
            }
            match (placeholder, slot.role) {
                (Placeholder::Result, OperandRole::Def) if !written => written = true,
                (Placeholder::Operand(n), OperandRole::Use) => read[usize::from(n)] = true,
                _ => return Err(TemplateError::Kind(name(placeholder))),
            }
            template.inst.set(slot.field, slot.file.constant().map_or(0, |c| c.0).into());
            template.slots.push((slot, placeholder));
        }
        for operand in row.operands {
            let OperandKind::Const { bank, offset, .. } = operand.kind else { continue };
            let n = (inst.get(offset) / u64::from(PLACEHOLDER_DISTANCE)) as u8;
            match read.get_mut(usize::from(n)) {
                Some(read) if operands.get(usize::from(n)) == Some(&WORD) => *read = true,
                _ => return Err(TemplateError::Kind(format!("c[${n}]"))),
            }
            template.inst.set(bank, 0);
            template.inst.set(offset, 0);
            template.constant = Some((offset, n));
        }
        if !written {
            return Err(TemplateError::Unused("the result `$d` is not written".to_string()));
        }
        match read.iter().position(|used| !used) {
            Some(n) => Err(TemplateError::Unused(format!("operand `${n}` is not used"))),
            None => Ok(template),
        }
    }
}

/// Returns the text with registers and constants in place of the placeholders.
fn replace(text: &str, result: Value, operands: &[Value]) -> Result<String, TemplateError> {
    let mut line = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '$') {
        let (before, from) = rest.split_at(start);
        line.push_str(before);
        let body = from.strip_prefix('$').unwrap_or(from);
        let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
        let (word, after) = body.split_at(end);
        if from.starts_with('$') {
            let (value, number) = match word.parse::<usize>() {
                _ if word == "d" => (result, 0),
                Ok(n) if n < operands.len() => (operands[n], n as u8 + 1),
                _ => return Err(TemplateError::Placeholder(word.to_string(), operands.len())),
            };
            let _ = match value.file {
                RegFile::Pred => write!(line, "P{number}"),
                _ => write!(line, "R{}", PLACEHOLDER_DISTANCE * number),
            };
        } else if word.eq_ignore_ascii_case("c") && after.starts_with('[') {
            let (place, after) = after.split_once(']').ok_or(TemplateError::Constant)?;
            let place = place.strip_prefix("[$").ok_or(TemplateError::Constant)?;
            let n = place.parse::<u8>().ok().filter(|&n| usize::from(n) < operands.len());
            let n = n.ok_or_else(|| TemplateError::Placeholder(place.to_string(), operands.len()))?;
            let _ = write!(line, "c[0x0][{:#x}]", PLACEHOLDER_DISTANCE * n);
            rest = after;
            continue;
        } else {
            let lower = word.to_ascii_lowercase();
            let number = ["ur", "r", "p"].iter().find_map(|prefix| lower.strip_prefix(prefix));
            if number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
                return Err(TemplateError::Register(word.to_string()));
            }
            line.push_str(word);
        }
        rest = after;
    }
    line.push_str(rest);
    Ok(line)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::halu::Opcode;

    const TRUTH: Value = Value { file: RegFile::Pred, span: 1 };

    #[test]
    fn placeholders_become_slots() {
        let text = "vadd4.u32.u32.u32.sat $d.b10, $0, $1.b0000, $0";
        let template = Template::parse(text, WORD, &[WORD, WORD]).unwrap();
        assert_eq!(template.inst.opcode(), Opcode::VADD4);
        let places: Vec<_> = template.slots.iter().map(|slot| slot.1).collect();
        use Placeholder::{Operand, Result};
        assert_eq!(places, [Result, Operand(0), Operand(1), Operand(0)]);
        assert!(template.inst.is_valid());
        let template = Template::parse("SEL $d, $1, RZ, !$0", WORD, &[TRUTH, WORD]).unwrap();
        assert_eq!(template.slots.len(), 3);
        let guarded = Template::parse("@$0 SEL $d, $1, RZ, !$0", WORD, &[TRUTH, WORD]);
        assert_eq!(guarded.unwrap_err(), TemplateError::Guarded);
    }

    #[test]
    fn constants_are_parameters() {
        let template = Template::parse("HFMA2 $d, $0, -|c[$1]|.H0_H0, $0", WORD, &[WORD, WORD]).unwrap();
        assert_eq!(template.inst.opcode(), Opcode::HFMA2_RCR);
        assert_eq!(template.constant.map(|(_, operand)| operand), Some(1));
        assert_eq!(template.slots.len(), 3);
        let refused = |text: &str, second| Template::parse(text, WORD, &[WORD, second]).unwrap_err().to_string();
        let by_place = "constant addresses are not allowed in `c[...]`: use `c[$0]` for a 32-bit parameter";
        for text in ["HADD2 $d, $0, c[0x0][0x160]", "HADD2 $d, $0, c[", "HADD2 $d, $0, c[]", "HADD2 $d, $0, c[$1"] {
            assert_eq!(refused(text, WORD), by_place, "{text}");
        }
        assert!(refused("HADD2 $d, $0, c[$2]", WORD).starts_with("`$2` is not a valid placeholder"));
        assert!(refused("HADD2 $d, $0, c[$d]", WORD).starts_with("`$d` is not a valid placeholder"));
        assert_eq!(
            refused("HADD2 $d, $0, c[$1]", TRUTH),
            "the type of c[$1] does not fit this operand of the instruction"
        );
        assert!(refused("LDC $d, c[$1][$0]", WORD).contains("expected"));
        assert!(refused("ULDC UR4, c[$1]", WORD).starts_with("register `UR4`"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |text: &str| Template::parse(text, WORD, &[WORD, WORD]).unwrap_err().to_string();
        assert_eq!(refused("HADD2 $d, $0, R7"), "register `R7` is not allowed: use `$d`, `$0`, `$1`, ...");
        assert_eq!(refused("HADD2 $d, $0, UR7"), "register `UR7` is not allowed: use `$d`, `$0`, `$1`, ...");
        assert_eq!(
            refused("HADD2 $d, $0, $2"),
            "`$2` is not a valid placeholder: use `$d` for the result and `$0` to `$1` for the operands"
        );
        assert_eq!(refused("HADD2 $d, $0, $0"), "operand `$1` is not used");
        assert_eq!(refused("HADD2 RZ, $0, $1"), "the result `$d` is not written");
        assert_eq!(refused("HADD2 $0, $0, $1"), "the type of $0 does not fit this operand of the instruction");
        assert_eq!(
            refused("IMAD.WIDE.U32 $d, $0, $1, RZ"),
            "the type of $d does not fit this operand of the instruction"
        );
        assert!(refused("LDG $d, [$0.U32+URZ]").starts_with("LDG accesses memory"));
        assert!(refused("HADD3 $d, $0, $1").contains("unknown instruction"));
    }
}

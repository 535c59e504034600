//! Prints a word of a row as its one canonical line.

use super::number::{FloatFormat, float_text};
use crate::row::{Address, Kind, ModifierOrder, Operand, RegFile, Row, Suffix};
use crate::word::Field;
use std::fmt::{self, Write};

/// Writes a valid `word` of `row`. `target` writes a branch target, given its distance in words from this word.
pub fn print(
    out: &mut dyn Write,
    row: &Row,
    word: u128,
    target: &dyn Fn(&mut dyn Write, i64) -> fmt::Result,
) -> fmt::Result {
    let template = row.template();
    if let Some(guard) = row.guard
        && (word ^ template) & (guard.pred.mask() | guard.not.mask()) != 0
    {
        out.write_str(if guard.not.get(word) == 1 { "@!" } else { "@" })?;
        register(out, RegFile::Pred, guard.pred.get(word))?;
        out.write_char(' ')?;
    }
    out.write_str(row.mnemonic)?;
    for tag in row.tags {
        write!(out, ".{tag}")?;
    }
    for m in row.modifiers {
        let value = m.field.get(word);
        if m.default != Some(value)
            && let Some(text) = m.text(value)
        {
            write!(out, ".{text}")?;
        }
    }
    let is_default = |op: &Operand| op.fields().all(|f| f.get(word) == f.get(template));
    let mut separator = " ";
    for (i, op) in row.operands.iter().enumerate() {
        // Trailing operands are told apart by their number alone: one is left out only if all after it are.
        let rest = row.operands.get(i..).unwrap_or(&[]);
        let trailing = rest.iter().all(|o| o.optional);
        let omitted = if trailing { rest.iter().all(is_default) } else { op.optional && is_default(op) };
        if omitted {
            continue;
        }
        out.write_str(separator)?;
        separator = ", ";
        operand(out, op, word, target)?;
    }
    // As the seeds end their lines: packed half with a blank, video without.
    out.write_str(if row.order == ModifierOrder::Fixed { ";" } else { " ;" })
}

fn register(out: &mut dyn Write, file: RegFile, number: u64) -> fmt::Result {
    let constant = number == u64::from(file.constant());
    match file {
        RegFile::Gpr if constant => out.write_str("RZ"),
        RegFile::Ur if constant => out.write_str("URZ"),
        RegFile::Pred if constant => out.write_str("PT"),
        RegFile::Gpr => write!(out, "R{number}"),
        RegFile::Ur => write!(out, "UR{number}"),
        RegFile::Pred => write!(out, "P{number}"),
    }
}

fn operand(
    out: &mut dyn Write,
    op: &Operand,
    word: u128,
    target: &dyn Fn(&mut dyn Write, i64) -> fmt::Result,
) -> fmt::Result {
    let set = |f: Option<Field>| f.is_some_and(|f| f.get(word) == 1);
    for (field, mark) in [(op.not, '!'), (op.neg, '-'), (op.abs, '|')] {
        if set(field) {
            out.write_char(mark)?;
        }
    }
    match op.kind {
        Kind::Reg { file, field, .. } => register(out, file, field.get(word)),
        Kind::AllPreds => out.write_str("PR"),
        Kind::Const { bank, offset, .. } => {
            write!(out, "c[{:#x}][{:#x}]", bank.get(word), offset.get(word))
        }
        Kind::HalfPair { field, format } => {
            let format = if format.get(word) == 0 { FloatFormat::F16 } else { FloatFormat::BF16 };
            let bits = field.get(word) as u32;
            write!(out, "{}, {}", float_text(bits >> 16, format), float_text(bits & 0xffff, format))
        }
        Kind::F32(field) => out.write_str(&float_text(field.get(word) as u32, FloatFormat::F32)),
        Kind::Bits(field) => write!(out, "{:#x}", field.get(word)),
        Kind::Name(m) => out.write_str(m.text(m.field.get(word)).unwrap_or("?")),
        Kind::Memory { address, .. } => memory(out, address, word),
        Kind::Target(field) => target(out, field.get_signed(word)),
    }?;
    match op.suffix {
        Suffix::None => {}
        Suffix::Choice(m) => {
            let value = m.field.get(word);
            if m.default != Some(value)
                && let Some(text) = m.text(value)
            {
                write!(out, ".{text}")?;
            }
        }
        Suffix::Lanes { field, letter, lanes, bits, default } => {
            let value = field.get(word);
            if value != default {
                write!(out, ".{letter}")?;
                for lane in (0..lanes).rev() {
                    write!(out, "{}", value >> (lane * bits) & ((1 << bits) - 1))?;
                }
            }
        }
        Suffix::Mask { field, letter, lanes } => {
            let value = field.get(word);
            if value != field.max() {
                write!(out, ".{letter}")?;
                for lane in (0..lanes).rev().filter(|&l| value >> l & 1 == 1) {
                    write!(out, "{lane}")?;
                }
            }
        }
    }
    if set(op.abs) { out.write_char('|') } else { Ok(()) }
}

fn memory(out: &mut dyn Write, address: Address, word: u128) -> fmt::Result {
    let displacement = |out: &mut dyn Write, n: i64| match n {
        0 => Ok(()),
        n if n < 0 => write!(out, "-{:#x}", -n),
        n => write!(out, "+{n:#x}"),
    };
    match address {
        Address::Uniform { offset, base, imm } => {
            out.write_char('[')?;
            register(out, RegFile::Gpr, offset.get(word))?;
            out.write_str(".U32+")?;
            register(out, RegFile::Ur, base.get(word))?;
            displacement(out, imm.get_signed(word))?;
        }
        Address::Wide { base, imm } => {
            out.write_char('[')?;
            register(out, RegFile::Gpr, base.get(word))?;
            out.write_str(".64")?;
            displacement(out, imm.get_signed(word))?;
        }
        Address::Local { imm } => write!(out, "[{:#x}", imm.get(word))?,
        Address::Constant { bank, index, imm } => {
            write!(out, "c[{:#x}][", bank.get(word))?;
            register(out, RegFile::Gpr, index.get(word))?;
            displacement(out, imm.get(word) as i64)?;
        }
    }
    out.write_char(']')
}

//! Prints an instruction word as its canonical line of assembly.

use super::number::{FloatFormat, float_text};
use crate::row::{
    Address, Alias, LAST_FLAGS, ModifierOrder, Operand, OperandKind, ROTATE, RegFile, Row, Suffix, WORDS_PER_GROUP,
};
use crate::word::Field;
use std::fmt::{self, Write};

/// Writes a valid instruction word of `row` as HALU text. `target` writes a branch target, given
/// its distance from this instruction in instruction words.
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
        // No token marks an omitted operand at the end of the line. Such an operand can be omitted
        // only if all operands after it are omitted too.
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
    // In the reference listings, a blank precedes the semicolon of packed-half instructions but not
    // that of video instructions.
    out.write_str(if row.order == ModifierOrder::Fixed { ";" } else { " ;" })
}

fn register(out: &mut dyn Write, file: RegFile, number: u64) -> fmt::Result {
    let constant = file.constant();
    match file.named().iter().chain(&constant).find(|(n, _)| u64::from(*n) == number) {
        Some((_, name)) => out.write_str(name),
        None => write!(out, "{}{number}", file.prefix()),
    }
}

/// Writes an instruction word of `row` as VP1 text, with single spaces between the tokens. `target` writes a branch
/// target, given its distance in instruction words from the start of the group of four that contains this instruction.
pub fn print_spaced(
    out: &mut dyn Write,
    row: &Row,
    word: u128,
    target: &dyn Fn(&mut dyn Write, i64) -> fmt::Result,
) -> fmt::Result {
    let names = |a: &&Alias| !a.implied_fields.is_empty() && a.implied_fields.iter().all(|(f, v)| f.get(word) == *v);
    let (mnemonic, operands) =
        row.aliases.iter().find(names).map_or((row.mnemonic, row.operands), |a| (a.mnemonic, a.operands));
    let template = row.template();
    out.write_str(mnemonic)?;
    for op in operands.iter().filter(|op| !op.silent) {
        let omitted = match op.kind {
            OperandKind::FlagDef { field, .. } => field.get(word) > LAST_FLAGS,
            _ => op.optional && op.fields().all(|f| f.get(word) == f.get(template)),
        };
        if !omitted {
            out.write_char(' ')?;
            operand(out, op, word, target)?;
        }
    }
    Ok(())
}

fn tuple(out: &mut dyn Write, file: RegFile, number: u64, count: u8) -> fmt::Result {
    write!(out, "{}{number}{}", file.prefix(), if count == 4 { 'q' } else { 'd' })
}

/// Returns a number whose low and high bits are in two fields.
fn joined(low: Field, high: Field, word: u128) -> u64 {
    high.get(word) << low.width | low.get(word)
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
        OperandKind::Reg { file, field, .. } => register(out, file, field.get(word)),
        OperandKind::AllPreds => out.write_str("PR"),
        OperandKind::Const { bank, offset, .. } => {
            write!(out, "c[{:#x}][{:#x}]", bank.get(word), offset.get(word))
        }
        OperandKind::HalfPair { field, format } => {
            let format = if format.get(word) == 0 { FloatFormat::F16 } else { FloatFormat::BF16 };
            let bits = field.get(word) as u32;
            write!(out, "{}, {}", float_text(bits >> 16, format), float_text(bits & 0xffff, format))
        }
        OperandKind::F32(field) => out.write_str(&float_text(field.get(word) as u32, FloatFormat::F32)),
        OperandKind::Bits(field) => write!(out, "{:#x}", field.get(word)),
        OperandKind::Name(m) => out.write_str(m.text(m.field.get(word)).unwrap_or("?")),
        OperandKind::Memory { address, .. } => memory(out, address, word),
        OperandKind::Target(field) => target(out, field.get_signed(word)),
        OperandKind::Tuple { file, field, count } => tuple(out, file, field.get(word), count),
        OperandKind::SplitReg { file, low, high } => register(out, file, joined(low, high, word)),
        OperandKind::Whole(file) => out.write_str(file.prefix()),
        OperandKind::FlagDef { file, field } => register(out, file, field.get(word)),
        OperandKind::Condition { index, bit } => {
            register(out, RegFile::C, index.get(word))?;
            write!(out, " {}", bit.text(bit.field.get(word)).unwrap_or("?"))
        }
        OperandKind::Selected { file, field, index, bit } => match bit.field.get(word) {
            plain if bit.default == Some(plain) => register(out, file, field.get(word)),
            slct => {
                write!(out, "(slct ")?;
                register(out, RegFile::C, index.get(word))?;
                write!(out, " {} ", bit.text(slct).unwrap_or("?"))?;
                tuple(out, file, field.get(word), if slct == ROTATE { 4 } else { 2 })?;
                out.write_char(')')
            }
        },
        OperandKind::Number { field, signed, shift } => {
            let number = if signed { field.get_signed(word) } else { field.get(word) as i64 };
            let sign = if number < 0 { "-" } else { "" };
            write!(out, "{sign}{:#x}", number.unsigned_abs() << shift)
        }
        OperandKind::SplitNumber { low, high, shift } => write!(out, "{:#x}", joined(low, high, word) << shift),
        OperandKind::Word(text) => out.write_str(text),
        OperandKind::Group { field, relative: true } => target(out, WORDS_PER_GROUP * field.get_signed(word)),
        OperandKind::Group { field, relative: false } => {
            write!(out, "{:#x}", field.get(word) << WORDS_PER_GROUP.trailing_zeros())
        }
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
        Address::Wide { base, imm } | Address::Flat { base, imm } => {
            out.write_char('[')?;
            register(out, RegFile::Gpr, base.get(word))?;
            out.write_str(".64")?;
            displacement(out, imm.get_signed(word))?;
        }
        Address::Shared { offset, imm } | Address::Scratch { offset, imm } => {
            out.write_char('[')?;
            register(out, RegFile::Gpr, offset.get(word))?;
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

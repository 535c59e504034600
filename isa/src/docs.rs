//! The documents of the instruction set, made from its rows: a page a mnemonic and an index, in Markdown.

use crate::halu::{Opcode, mnemonics, opcodes_of};
use crate::row::{Address, Kind, Modifier, ModifierOrder, Operand, RegFile, Role, Row, Suffix};
use crate::text::reader::describe;
use crate::word::Field;
use std::fmt::{self, Write};

/// The page of a HALU mnemonic; `None` if there is no such mnemonic.
pub fn page(mnemonic: &str) -> Option<String> {
    let opcodes = opcodes_of(mnemonic);
    let mut text = format!("# {}\n", opcodes.first()?.row().mnemonic);
    // Rows that mean one thing share their text.
    for group in opcodes.chunk_by(|a, b| a.row().doc == b.row().doc) {
        // Writing to a string succeeds.
        let _ = meaning(&mut text, group);
    }
    Some(text)
}

/// The page that names every HALU mnemonic.
pub fn index() -> String {
    let mut text = "# HALU instructions\n\n\
        A word has 128 bits, written low byte first. A bit that no field names is 0. `@P0` or `@!P0` before the mnemonic is the guard: \
        where it is false the instruction does nothing. RZ, URZ and PT read as 0, 0 and true, and swallow what is written to them. \
        All sources are read before anything is written.\n\n\
        | mnemonic | class | |\n|---|---|---|\n"
        .to_owned();
    for mnemonic in mnemonics() {
        let Some(row) = opcodes_of(mnemonic).first().map(|o| o.row()) else {
            continue;
        };
        let paragraph = row.doc.lines().next().unwrap_or("").trim_end_matches('.');
        let end = [": ", ". "].iter().filter_map(|mark| paragraph.find(mark)).min();
        let summary = paragraph.get(..end.unwrap_or(paragraph.len())).unwrap_or("");
        let _ = writeln!(text, "| [{mnemonic}]({mnemonic}.md) | {:?} | {summary} |", row.class);
    }
    text
}

fn meaning(out: &mut String, group: &[Opcode]) -> fmt::Result {
    let rows = || group.iter().map(|o| o.row());
    let Some(first) = rows().next() else {
        return Ok(());
    };
    writeln!(out, "\n{}\n\n```", first.doc)?;
    let mut lines: Vec<String> = rows().map(syntax).collect();
    lines.dedup();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "```\n\nFor example:\n\n```")?;
    for line in first.examples {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "```")?;
    if !first.modifiers.is_empty() {
        let order = match first.order {
            ModifierOrder::Free => "read in any order",
            ModifierOrder::Fixed => "read in this order",
        };
        writeln!(
            out,
            "\nModifiers, printed in this order and {order}:\n\n| field | bits | values | default |\n|---|---|---|---|"
        )?;
        for m in first.modifiers {
            let default = match m.default {
                None => "must be written".to_owned(),
                Some(value) => m.text(value).map_or("left out".to_owned(), |t| format!("`.{t}`")),
            };
            writeln!(out, "| {} | {} | {} | {default} |", m.field.name, place(m.field), values(m, "."))?;
        }
    }
    let mut forbidden: Vec<&str> = first.forbids.iter().map(|f| f.why).collect();
    forbidden.dedup();
    if !forbidden.is_empty() {
        writeln!(out, "\nNo instruction: {}.", forbidden.join("; "))?;
    }
    for op in group {
        form(out, *op)?;
    }
    Ok(())
}

/// The layout of one form.
fn form(out: &mut String, op: Opcode) -> fmt::Result {
    let row = op.row();
    writeln!(out, "\n## {}\n\nClass: {:?}.\n\n```", op.name(), row.class)?;
    let mut fields: Vec<(Field, String)> = Vec::new();
    if let Some(guard) = row.guard {
        fields.push((guard.pred, "guard predicate".to_owned()));
        fields.push((guard.not, "1 inverts the guard".to_owned()));
    }
    fields.extend(row.modifiers.iter().map(|m| (m.field, values(m, "."))));
    row.operands.iter().for_each(|op| fields.extend(operand_fields(op)));
    fields.sort_by_key(|f| f.0.lo);
    let letters = ('A'..='Z').chain('a'..='z');
    let lettered: Vec<(char, Field)> = letters.zip(fields.iter().map(|f| f.0)).collect();
    let bit = |b: u8| {
        let holds = |f: Field| (f.lo..f.lo + f.width).contains(&b);
        let fixed =
            row.fixed.iter().find(|f| holds(f.0)).map(|(f, v)| if v >> (b - f.lo) & 1 == 1 { '1' } else { '0' });
        fixed.or_else(|| lettered.iter().find(|f| holds(f.1)).map(|f| f.0)).unwrap_or('.')
    };
    for high in [127, 95, 63, 31u8] {
        write!(out, "{high:3} ")?;
        for i in 0..32 {
            let gap = if i % 8 == 0 { " " } else { "" };
            write!(out, "{gap}{}", bit(high - i))?;
        }
        writeln!(out, "  {}", high - 31)?;
    }
    writeln!(out, "```\n\n| | bits | field | holds |\n|---|---|---|---|")?;
    for (field, value) in row.fixed {
        writeln!(out, "| | {} | {} | {value:#x} |", place(*field), field.name)?;
    }
    for ((letter, field), (_, holds)) in lettered.iter().zip(&fields) {
        writeln!(out, "| {letter} | {} | {} | {holds} |", place(*field), field.name)?;
    }
    Ok(())
}

fn place(field: Field) -> String {
    match field.width {
        1 => field.lo.to_string(),
        _ => format!("{}..{}", field.lo, field.lo + field.width - 1),
    }
}

fn values(m: &Modifier, mark: &str) -> String {
    m.choices.iter().map(|(text, value)| format!("`{mark}{text}` {value}")).collect::<Vec<_>>().join(", ")
}

/// The line of a form, as the seeds write theirs: `{}` around what may be left out, `|` between what may be written.
fn syntax(row: &'static Row) -> String {
    let mut line = String::new();
    if row.guard.is_some() {
        line.push_str("{@{!}pg} ");
    }
    line.push_str(row.mnemonic);
    row.tags.iter().for_each(|tag| line.extend([".", tag]));
    for m in row.modifiers {
        let texts = m.choices.iter().map(|c| format!(".{}", c.0)).collect::<Vec<_>>().join("|");
        let (open, close) = match (m.default, m.choices.len()) {
            (Some(_), _) => ("{", "}"),
            (None, _) => ("(", ")"),
        };
        line.extend([open, &texts, close]);
    }
    for (i, op) in row.operands.iter().enumerate() {
        let comma = if i == 0 { " " } else { ", " };
        let text = operand(op);
        if op.optional {
            line.extend(["{", comma, &text, "}"]);
        } else {
            line.extend([comma, &text]);
        }
    }
    line
}

fn operand(op: &Operand) -> String {
    let prefix = |field: Option<Field>, text: &'static str| if field.is_some() { text } else { "" };
    let what = match op.kind {
        Kind::Reg { .. } => op.name.to_owned(),
        Kind::AllPreds | Kind::Const { .. } | Kind::Memory { .. } => describe(op).to_owned(),
        Kind::HalfPair { .. } => format!("{0}.h1, {0}.h0", op.name),
        Kind::F32(_) | Kind::Bits(_) | Kind::Target(_) => op.name.to_owned(),
        Kind::Name(m) => m.choices.iter().map(|c| c.0).collect::<Vec<_>>().join("|"),
    };
    let suffix = match op.suffix {
        Suffix::None => "",
        Suffix::Choice(m) => {
            return format!(
                "{}{}{what}{{.{}}}{}",
                prefix(op.neg, "{-}"),
                prefix(op.abs, "{|}"),
                m.choices.iter().map(|c| c.0).collect::<Vec<_>>().join("|."),
                prefix(op.abs, "{|}")
            );
        }
        Suffix::Lanes { .. } => "{.sel}",
        Suffix::Mask { .. } => "{.mask}",
    };
    let bars = prefix(op.abs, "{|}");
    format!("{}{}{bars}{what}{suffix}{bars}", prefix(op.not, "{!}"), prefix(op.neg, "{-}"))
}

/// Every field of an operand, and what it holds.
fn operand_fields(op: &Operand) -> Vec<(Field, String)> {
    let name = op.name;
    let role = match op.role {
        Role::Def => "destination",
        Role::Use => "source",
    };
    let mut fields = Vec::new();
    let mut add = |field: Field, holds: String| fields.push((field, holds));
    let registers = |file: RegFile, span: u8| {
        let one = match file {
            RegFile::Gpr => "GPR",
            RegFile::Ur => "UR",
            RegFile::Pred => "predicate",
        };
        if span == 1 { one.to_owned() } else { format!("first of {span} {one}s, a multiple of {span}") }
    };
    match op.kind {
        Kind::Reg { file, field, span } => add(field, format!("`{name}`, {role}: {}", registers(file, span))),
        Kind::AllPreds => {}
        Kind::Const { bank, offset, align } => {
            add(offset, format!("`{name}`, source: byte offset, a multiple of {align}"));
            add(bank, format!("`{name}`, source: constant bank"));
        }
        Kind::HalfPair { field, .. } => add(field, format!("`{name}`, source: two 16-bit floats, lane 0 lowest")),
        Kind::F32(field) => add(field, format!("`{name}`, source: f32")),
        Kind::Bits(field) => add(field, format!("`{name}`: {} bits", field.width)),
        Kind::Name(m) => add(m.field, values(&m, "")),
        Kind::Memory { address, size } => {
            let ra = || format!("address of a {size}-byte access: {}", registers(RegFile::Gpr, 1));
            let displacement = |sign: &str| format!("displacement in bytes, {sign}");
            match address {
                Address::Uniform { offset, base, imm } => {
                    add(offset, format!("{}, zero-extended", ra()));
                    add(base, format!("64-bit base: {}", registers(RegFile::Ur, 2)));
                    add(imm, displacement("signed"));
                }
                Address::Wide { base, imm } => {
                    add(base, format!("64-bit address of a {size}-byte access: {}", registers(RegFile::Gpr, 2)));
                    add(imm, displacement("signed"));
                }
                Address::Local { imm } => {
                    add(imm, format!("address of a {size}-byte access in local memory, unsigned"))
                }
                Address::Constant { bank, index, imm } => {
                    add(bank, "constant bank".to_owned());
                    add(index, ra());
                    add(imm, displacement("unsigned"));
                }
            }
        }
        Kind::Target(field) => add(field, "distance in words from this word, signed".to_owned()),
    }
    for (field, what) in [(op.neg, "negates"), (op.abs, "takes the absolute value of"), (op.not, "inverts")] {
        if let Some(field) = field {
            add(field, format!("1 {what} `{name}`"));
        }
    }
    match op.suffix {
        Suffix::None => {}
        Suffix::Choice(m) => add(m.field, format!("suffix of `{name}`: {}", values(&m, "."))),
        Suffix::Lanes { field, bits, lanes, .. } => {
            add(
                field,
                format!("suffix of `{name}`: element number of each of {lanes} lanes, {bits} bits, lane 0 lowest"),
            );
        }
        Suffix::Mask { field, .. } => add(field, format!("suffix of `{name}`: a bit a lane, lane 0 lowest, not 0")),
    }
    fields
}

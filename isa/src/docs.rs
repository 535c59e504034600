//! Generates the Markdown documentation of the instruction sets from their rows: an index and one page per mnemonic.

use crate::row::{Address, Alias, Modifier, ModifierOrder, Operand, OperandKind, OperandRole, RegFile, Row, Suffix};
use crate::text::reader::describe;
use crate::word::Field;
use crate::{halu, vp1};
use std::fmt::{self, Write};

/// An instruction set with generated documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// [`halu`].
    Halu,
    /// [`vp1`].
    Vp1,
}

/// A row or an alias of an instruction, as a page lists it: the name of its opcode, the row, and
/// the alias if there is one.
type EncodingForm = (&'static str, &'static Row, Option<&'static Alias>);

impl Set {
    /// All documented sets.
    pub const ALL: [Set; 2] = [Set::Halu, Set::Vp1];

    fn width(self) -> u8 {
        match self {
            Set::Halu => 128,
            Set::Vp1 => 32,
        }
    }

    /// Returns every mnemonic once, in the order of the index.
    pub fn mnemonics(self) -> Vec<&'static str> {
        match self {
            Set::Halu => halu::mnemonics().collect(),
            Set::Vp1 => vp1::mnemonics().to_vec(),
        }
    }

    fn forms(self, mnemonic: &str) -> Vec<EncodingForm> {
        match self {
            Set::Halu => halu::opcodes_of(mnemonic).iter().map(|o| (o.name(), o.row(), None)).collect(),
            Set::Vp1 => vp1::forms_of(mnemonic).iter().map(|&(o, alias)| (o.name(), o.row(), alias)).collect(),
        }
    }

    /// Generates the page of a mnemonic. Returns `None` if the mnemonic is unknown.
    pub fn page(self, mnemonic: &str) -> Option<String> {
        let forms = self.forms(mnemonic);
        let (_, row, alias) = forms.first()?;
        let mut text = format!("# {}\n", alias.map_or(row.mnemonic, |a| a.mnemonic));
        // The page prints the description once for consecutive rows that have the same description.
        for group in forms.chunk_by(|a, b| a.1.doc == b.1.doc) {
            // Writing to a string does not fail.
            let _ = meaning(&mut text, self, group);
        }
        Some(text)
    }

    /// Generates the index page, which lists every mnemonic.
    pub fn index(self) -> String {
        let mut text = match self {
            Set::Halu => HALU,
            Set::Vp1 => VP1,
        }
        .to_owned();
        text.push_str("| mnemonic | class | |\n|---|---|---|\n");
        for mnemonic in self.mnemonics() {
            let Some((_, row, _)) = self.forms(mnemonic).first().copied() else { continue };
            let _ = writeln!(text, "| [{mnemonic}]({mnemonic}.md) | {:?} | {} |", row.class, summary(row.doc));
        }
        if self == Set::Vp1 {
            text.push_str(UNNAMED);
            for op in vp1::Opcode::ALL.iter().filter(|o| !o.is_named()) {
                let opcodes: Vec<String> = op.row().patterns().map(|(mask, word)| pattern(mask, word)).collect();
                let _ = writeln!(text, "| {} | {} | {} |", op.name(), opcodes.join(" "), op.row().doc);
            }
        }
        text
    }
}

/// Returns the first clause of a description.
fn summary(doc: &str) -> &str {
    let paragraph = doc.lines().next().unwrap_or("").trim_end_matches('.');
    let end = [": ", ". "].iter().filter_map(|mark| paragraph.find(mark)).min();
    paragraph.get(..end.unwrap_or(paragraph.len())).unwrap_or("")
}

/// Formats the opcode byte of an instruction pattern, followed by the other bits that `mask` selects.
fn pattern(mask: u128, word: u128) -> String {
    let rest = (mask & 0xff_ffff) as u32;
    let opcode = word >> 24;
    if rest == 0 { format!("{opcode:02x}") } else { format!("{opcode:02x}.{:x}", word as u32 & rest) }
}

const HALU: &str = "# HALU instructions\n\n\
    A word has 128 bits. It is written as `0x` and the 32 digits of its value, most significant first. A bit that no \
    field names is 0. `@P0` or `@!P0` before the mnemonic is the guard: if it is false, the instruction does nothing. \
    RZ, URZ and PT read as 0, 0 and true; writes to them are discarded. All sources are read before any result is \
    written.\n\n";

const VP1: &str = "# VP1 instructions\n\n\
    A word has 32 bits. It is written as `0x` and the 8 digits of its value, most significant first. Bits 24 to 31 \
    select the instruction and the unit that executes it. A bit that no field names is ignored, and is 0 in an \
    assembled word.\n\n\
    Words execute in bundles of at most one word for each unit, in this order: the address unit (c0 to df), the scalar \
    unit (00 to 7f), the vector unit (80 to bf) and the branch unit (e0 to ff). A word begins a bundle if its address \
    is a multiple of 4, or if its unit does not come after that of the previous word. A bundle reads all its sources \
    before it writes any result, except for the values that the scalar unit forwards to the vector unit.\n\n\
    In assembly text, one blank separates the parts of an instruction, and numbers are hexadecimal. `$r31` reads as 0 \
    and is written `0x0`. `{...}` encloses optional parts: flags that are not written, and conditions that are always \
    true. `(slct $cN bit $rMd)` is the register whose number is M xor that bit of `$cN`. With the bit b20 it is \
    `$rMq`, where bits 4 and 5 of `$cN` are added to the low two bits of M, modulo 4.\n\n";

const UNNAMED: &str = "\n## Words without a name\n\n\
    The text of these words is `.word`. The effect of words with opcode db is unknown, so they trap.\n\n\
    | | bits 24 to 31 and other fixed bits | |\n|---|---|---|\n";

fn meaning(out: &mut String, set: Set, group: &[EncodingForm]) -> fmt::Result {
    let Some(&(_, first, alias)) = group.first() else {
        return Ok(());
    };
    let mnemonic = alias.map_or(first.mnemonic, |a| a.mnemonic);
    writeln!(out, "\n{}\n\n```", first.doc)?;
    let mut lines: Vec<String> = group.iter().map(|f| syntax(set, f)).collect();
    lines.dedup();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "```\n\nFor example:\n\n```")?;
    let is_own = |line: &&&str| line.strip_prefix(mnemonic).is_some_and(|rest| rest.starts_with([' ', '.']));
    let has_own = alias.is_some() && first.examples.iter().any(|line| is_own(&line));
    for line in first.examples.iter().filter(|line| !has_own || is_own(line)) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "```")?;
    if !first.modifiers.is_empty() {
        let order = match first.order {
            ModifierOrder::Free => "accepted in any order",
            ModifierOrder::Fixed => "accepted in this order",
        };
        writeln!(
            out,
            "\nModifiers, printed in this order and {order}:\n\n| field | bits | values | default |\n|---|---|---|---|"
        )?;
        for m in first.modifiers {
            let default = match m.default {
                None => "required".to_owned(),
                Some(value) => m.text(value).map_or("omitted".to_owned(), |t| format!("`.{t}`")),
            };
            writeln!(out, "| {} | {} | {} | {default} |", m.field.name, place(m.field), values(m, "."))?;
        }
    }
    let mut forbidden: Vec<&str> = first.forbids.iter().map(|f| f.why).collect();
    forbidden.dedup();
    if !forbidden.is_empty() {
        writeln!(out, "\nConstraints: {}.", forbidden.join("; "))?;
    }
    // The aliases of a row have the same bit layout as the row, so only the first entry is shown.
    for f in group.chunk_by(|a, b| a.0 == b.0).filter_map(<[EncodingForm]>::first) {
        form(out, set, f)?;
    }
    Ok(())
}

/// Writes the bit layout of one row.
fn form(out: &mut String, set: Set, (name, row, _): &EncodingForm) -> fmt::Result {
    writeln!(out, "\n## {name}\n\nClass: {:?}.\n\n```", row.class)?;
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
    for high in (0..set.width()).skip(31).step_by(32).rev() {
        write!(out, "{high:3} ")?;
        for i in 0..32 {
            let gap = if i % 8 == 0 { " " } else { "" };
            write!(out, "{gap}{}", bit(high - i))?;
        }
        writeln!(out, "  {}", high - 31)?;
    }
    writeln!(out, "```\n\n| | bits | field | holds |\n|---|---|---|---|")?;
    let mut fixed = row.fixed.iter().peekable();
    while let Some((field, value)) = fixed.next() {
        let twins = if fixed.peek().is_none() { row.alternative_opcodes } else { &[] };
        let values: Vec<String> = [*value].iter().chain(twins).map(|v| format!("{v:#x}")).collect();
        writeln!(out, "| | {} | {} | {} |", place(*field), field.name, values.join(", or "))?;
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

/// Returns the syntax of a row or alias in the notation of the reference manuals: `{}` encloses
/// optional parts, and `|` separates alternatives.
fn syntax(set: Set, &(_, row, alias): &EncodingForm) -> String {
    if set == Set::Vp1 {
        let (mnemonic, operands) = alias.map_or((row.mnemonic, row.operands), |a| (a.mnemonic, a.operands));
        let words = operands.iter().filter(|o| !o.silent).map(operand);
        let mut line = std::iter::once(mnemonic.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        match alias {
            Some(Alias { implied_fields: [], .. }) => line.push_str("  ; accepted, not printed"),
            Some(Alias { implied_fields: when, .. }) => {
                let values: Vec<String> = when.iter().map(|(f, v)| format!("{} = {v:#x}", f.name)).collect();
                let _ = write!(line, "  ; {}", values.join(", "));
            }
            None => {}
        }
        return line;
    }
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
        OperandKind::Reg { file, .. } if file.prefix().starts_with('$') => format!("${}", op.name),
        OperandKind::Reg { .. } => op.name.to_owned(),
        OperandKind::AllPreds | OperandKind::Const { .. } | OperandKind::Memory { .. } => describe(op).to_owned(),
        OperandKind::HalfPair { .. } => format!("{0}.h1, {0}.h0", op.name),
        OperandKind::F32(_) | OperandKind::Bits(_) | OperandKind::Target(_) => op.name.to_owned(),
        OperandKind::Name(m) => {
            let names = m.choices.iter().map(|c| c.0).collect::<Vec<_>>().join("|");
            if op.optional { format!("{{{names}}}") } else { names }
        }
        OperandKind::SplitReg { .. } => format!("${}", op.name),
        OperandKind::Tuple { count, .. } => format!("${}{}", op.name, if count == 4 { 'q' } else { 'd' }),
        OperandKind::Whole(file) => file.prefix().to_owned(),
        OperandKind::FlagDef { .. } => format!("{{${}}}", op.name),
        OperandKind::Condition { .. } if op.optional => "{$cs bit}".to_owned(),
        OperandKind::Condition { .. } => "$cs bit".to_owned(),
        OperandKind::Selected { .. } => format!("${0}|(slct $cs bit ${0}d)", op.name),
        OperandKind::Number { .. } | OperandKind::SplitNumber { .. } | OperandKind::Group { .. } => op.name.to_owned(),
        OperandKind::Word(text) => text.to_owned(),
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

/// Lists the fields of an operand with their descriptions.
fn operand_fields(op: &Operand) -> Vec<(Field, String)> {
    let name = op.name;
    let role = match op.role {
        OperandRole::Def => "destination",
        OperandRole::Use => "source",
        OperandRole::Update => "source and destination",
    };
    let mut fields = Vec::new();
    let mut add = |field: Field, holds: String| fields.push((field, holds));
    let registers = |file: RegFile, span: u8| {
        let one = match file {
            RegFile::Gpr => "GPR",
            RegFile::Ur => "UR",
            RegFile::Pred => "predicate",
            file => return format!("a `{}`", file.prefix()),
        };
        if span == 1 { one.to_owned() } else { format!("first of {span} {one}s, a multiple of {span}") }
    };
    match op.kind {
        OperandKind::Reg { file, field, span } => add(field, format!("`{name}`, {role}: {}", registers(file, span))),
        OperandKind::AllPreds => {}
        OperandKind::Const { bank, offset, align } => {
            add(offset, format!("`{name}`, source: byte offset, a multiple of {align}"));
            add(bank, format!("`{name}`, source: constant bank"));
        }
        OperandKind::HalfPair { field, .. } => {
            add(field, format!("`{name}`, source: two 16-bit floats, lane 0 lowest"))
        }
        OperandKind::F32(field) => add(field, format!("`{name}`, source: f32")),
        OperandKind::Bits(field) => add(field, format!("`{name}`: {} bits", field.width)),
        OperandKind::Name(m) => add(m.field, values(&m, "")),
        OperandKind::Memory { address, size } => {
            let ra = || format!("address of a {size}-byte access: {}", registers(RegFile::Gpr, 1));
            let displacement = |sign: &str| format!("displacement in bytes, {sign}");
            match address {
                Address::Uniform { offset, base, imm } => {
                    add(offset, format!("{}, zero-extended", ra()));
                    add(base, format!("64-bit base: {}", registers(RegFile::Ur, 2)));
                    add(imm, displacement("signed"));
                }
                Address::Wide { base, imm } | Address::Flat { base, imm } => {
                    add(base, format!("64-bit address of a {size}-byte access: {}", registers(RegFile::Gpr, 2)));
                    add(imm, displacement("signed"));
                }
                Address::Shared { offset, imm } | Address::Scratch { offset, imm } => {
                    add(offset, format!("{}, zero-extended", ra()));
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
        OperandKind::Target(field) => add(field, "distance in words from this word, signed".to_owned()),
        OperandKind::Tuple { file, field, count: 4 } => {
            add(field, format!("`{name}`, {role}: a quad of `{}`", file.prefix()));
        }
        OperandKind::Tuple { file, field, .. } => {
            add(
                field,
                format!(
                    "`{name}`, {role}: a pair of `{0}`: the register, and the one whose number is this number or-ed with 1",
                    file.prefix()
                ),
            );
        }
        OperandKind::SplitReg { file, low, high } => {
            add(low, format!("`{name}`, {role}: a `{}`, low bits of its number", file.prefix()));
            add(high, "high bits of its number".to_owned());
        }
        OperandKind::FlagDef { file, field } => {
            let silent = if op.silent { "; not in the text" } else { "" };
            add(field, format!("`{name}`, {role}: a `{}`; none from 4 on{silent}", file.prefix()));
        }
        OperandKind::Condition { index, bit } => {
            add(index, format!("`{name}`: the `$c` of the condition"));
            add(bit.field, format!("bit of the condition: {}", values(&bit, "")));
        }
        OperandKind::Selected { file, field, index, bit } => {
            add(field, format!("`{name}`, {role}: a `{}`", file.prefix()));
            add(index, "the `$c` of the condition".to_owned());
            add(bit.field, format!("bit of the condition: {}; `false` selects the register itself", values(&bit, "")));
        }
        OperandKind::Number { field, signed, shift } => {
            let sort = if signed { "signed" } else { "unsigned" };
            let scale = if shift == 0 { String::new() } else { format!(", times {:#x}", 1u64 << shift) };
            add(field, format!("`{name}`: {sort}, {} bits{scale}", field.width));
        }
        OperandKind::SplitNumber { low, high, shift } => {
            let scale = if shift == 0 { String::new() } else { format!(", times {:#x}", 1u64 << shift) };
            add(low, format!("`{name}`: low bits, unsigned{scale}"));
            add(high, format!("`{name}`: high bits"));
        }
        OperandKind::Group { field, relative: true } => {
            add(field, "distance in groups of 4 words from the group of this word, signed".to_owned());
        }
        OperandKind::Group { field, relative: false } => add(field, "address in groups of 4 words".to_owned()),
        OperandKind::Whole(_) | OperandKind::Word(_) => {}
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
        Suffix::Mask { field, .. } => add(field, format!("suffix of `{name}`: one bit per lane, lane 0 lowest, not 0")),
    }
    fields
}

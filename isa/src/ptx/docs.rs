//! Generator of the instruction set documentation, in Markdown: a page for each mnemonic, and an index.

use std::fmt::{self, Write};

use super::Opcode;
use super::row::{Accuracy, Bound, ModifierSlot, OperandKind, OperandRole, OperandRow, Row, Ty, describe_part};
use super::types::Requirements;

/// Returns every mnemonic once, in the order of the index.
pub fn mnemonics() -> Vec<&'static str> {
    let mut all = Vec::new();
    for opcode in Opcode::ALL {
        let mnemonic = opcode.row().mnemonic;
        if !all.contains(&mnemonic) {
            all.push(mnemonic);
        }
    }
    all
}

/// Returns the page of a mnemonic, or `None` if there is no such mnemonic.
pub fn page(mnemonic: &str) -> Option<String> {
    let forms: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|o| o.row().mnemonic == mnemonic).collect();
    let first = forms.first()?;
    let mut text = format!("# {}\n", first.row().mnemonic);
    // Consecutive rows with the same description share one section.
    for group in forms.chunk_by(|a, b| a.row().doc == b.row().doc) {
        // The result can be ignored, because writing to a string cannot fail.
        let _ = meaning(&mut text, group);
    }
    Some(text)
}

/// Returns the index page, which lists every mnemonic.
pub fn index() -> String {
    let mut text = INDEX.to_owned();
    for mnemonic in mnemonics() {
        let rows = || Opcode::ALL.iter().map(|o| o.row()).filter(|row| row.mnemonic == mnemonic);
        let Some(first) = rows().next() else { continue };
        let mut summaries: Vec<&str> = rows().map(|row| summary(row.doc)).collect();
        summaries.dedup();
        let _ = writeln!(text, "| [{mnemonic}]({mnemonic}.md) | {:?} | {} |", first.class, summaries.join("; "));
    }
    text
}

const INDEX: &str = "# PTX instructions\n\n\
    The subset of PTX that halfbyte parses, prints and executes. Registers are virtual: a kernel declares any number \
    of them, each with a type. The type of a register operand must have the width of the operand's type, and the same \
    kind unless one of them is untyped (`.bN`); `or wider` marks operands that may be in a wider register. `@%p` or \
    `@!%p` before the mnemonic is the guard: if it is false, the instruction does nothing. All sources are read before \
    any result is written. Modifiers are written in the order of the tables.\n\n\
    Every variant needs at least PTX 6.3 and sm_75; higher requirements are listed.\n\n\
    | mnemonic | class | |\n|---|---|---|\n";

/// Returns the first clause of a description: the text before the first `: ` or `. `.
fn summary(doc: &str) -> &str {
    let paragraph = doc.lines().next().unwrap_or("").trim_end_matches('.');
    let end = [": ", ". "].iter().filter_map(|mark| paragraph.find(mark)).min();
    paragraph.get(..end.unwrap_or(paragraph.len())).unwrap_or("")
}

fn meaning(out: &mut String, group: &[Opcode]) -> fmt::Result {
    let Some(first) = group.first() else { return Ok(()) };
    writeln!(out, "\n{}\n\n```", first.row().doc)?;
    for opcode in group {
        writeln!(out, "{}", syntax(opcode.row()))?;
    }
    writeln!(out, "```\n\nFor example:\n\n```")?;
    for example in group.iter().flat_map(|o| o.row().examples) {
        writeln!(out, "{example}")?;
    }
    writeln!(out, "```")?;
    group.iter().try_for_each(|&opcode| form(out, opcode))
}

/// Returns the syntax of an instruction variant: `{}` around optional parts, `|` between alternatives.
fn syntax(row: &Row) -> String {
    let mut line = format!("{{@{{!}}p}} {}", row.mnemonic);
    for slot in row.slots {
        let mut texts: Vec<String> = slot.choices.iter().map(|c| c.token.to_string()).collect();
        abbreviate(&mut texts);
        let texts = texts.join("|");
        match (slot.optional, slot.choices.len()) {
            (true, _) => line.extend(["{", &texts, "}"]),
            (false, 1) => line.push_str(&texts),
            (false, _) => line.extend(["(", &texts, ")"]),
        }
    }
    for (i, o) in row.operands.iter().enumerate() {
        let comma = if i == 0 { " " } else { ", " };
        match o.with {
            Some(_) => line.extend(["{", comma, &operand(o), "}"]),
            None => line.extend([comma, &operand(o)]),
        }
    }
    line
}

fn operand(o: &OperandRow) -> String {
    let name = o.name;
    match o.shape {
        OperandKind::Predicates => "p{|q}".to_owned(),
        OperandKind::WithPredicate { .. } => format!("{name}|p"),
        OperandKind::Condition => format!("{{!}}{name}"),
        OperandKind::Masked(_) => format!("{name}{{.mask}}"),
        OperandKind::Selected(..) => format!("{name}{{.sel}}"),
        OperandKind::Part { takes_selector, takes_sign, .. } => {
            format!("{}{name}{}", if takes_sign { "{-}" } else { "" }, if takes_selector { "{.sel}" } else { "" })
        }
        OperandKind::Vector(_, count) => format!("{{{}}}", vec![name; count.into()].join(", ")),
        OperandKind::Parts(_) => format!("{{{name}, {name}{{, {name}, {name}}}}}"),
        OperandKind::Fragment(_) | OperandKind::Matrices => format!("{{{name}, ...}}"),
        OperandKind::Elements(_) => name.to_owned(),
        OperandKind::Results => format!("({name}, ...)"),
        OperandKind::Arguments => format!("({name}, ...)"),
        OperandKind::Memory | OperandKind::MemoryIn(_) | OperandKind::CallMemory => format!("[{name}{{+offset}}]"),
        OperandKind::Variable => format!("{name}{{+offset}}"),
        _ => name.to_owned(),
    }
}

/// Writes the documentation of one instruction variant: modifiers and operands.
fn form(out: &mut String, opcode: Opcode) -> fmt::Result {
    let row = opcode.row();
    writeln!(out, "\n## {}\n\nClass: {:?}.{}", opcode.name(), row.class, needs(row.since, " Needs ", "."))?;
    let bounds: Vec<String> = match row.accuracy {
        Accuracy::Exact => Vec::new(),
        Accuracy::Approximate(bounds) => bounds.iter().map(bound).collect(),
    };
    if !bounds.is_empty() {
        writeln!(out, "\nOn hardware, the error is at most {}.", bounds.join(", "))?;
    }
    if !row.slots.is_empty() {
        writeln!(out, "\n| property | modifiers | |\n|---|---|---|")?;
    }
    for slot in row.slots {
        let optional = if slot.optional { "optional" } else { "" };
        writeln!(out, "| {} | {} | {optional} |", slot.name, choices(slot))?;
    }
    if !row.operands.is_empty() {
        writeln!(out, "\n| operand | access | value |\n|---|---|---|")?;
    }
    for o in row.operands {
        let role = match o.role {
            OperandRole::Def => "written",
            OperandRole::Use => "read",
            OperandRole::Update => "read and written",
        };
        let with = o.with.map_or(String::new(), |slot| format!(", only if the {slot} is given"));
        writeln!(out, "| `{}` | {role} | {}{with} |", o.name, describe(o.role, o.shape))?;
    }
    Ok(())
}

fn bound(bound: &Bound) -> String {
    match bound.word {
        Some(word) => format!("{bound} with `{word}`"),
        None => bound.to_string(),
    }
}

fn choices(slot: &ModifierSlot) -> String {
    let choice = |c: &super::row::Choice| format!("`{}`{}", c.token, needs(c.since, " (", ")"));
    let mut all: Vec<String> = slot.choices.iter().map(choice).collect();
    abbreviate(&mut all);
    all.join(", ")
}

/// Replaces the middle of a list of 32 or more entries by an ellipsis.
fn abbreviate(all: &mut Vec<String>) {
    const MOST: usize = 32;
    if all.len() >= MOST {
        all.splice(2..all.len() - 1, ["...".to_owned()]);
    }
}

/// Formats target requirements between `open` and `close`. Returns an empty text for requirements
/// that every supported target meets.
fn needs(since: Requirements, open: &str, close: &str) -> String {
    if since == Requirements::ALWAYS { String::new() } else { format!("{open}{since}{close}") }
}

/// Returns a description of the valid operands of a kind, for all modifiers together.
fn describe(role: OperandRole, shape: OperandKind) -> String {
    let of = |ty: Ty| match ty {
        Ty::Is(ty) => format!("of type `{ty}`"),
        Ty::Untyped(ty) => format!("of {} bits, of any type", ty.bits()),
        Ty::Named(0) | Ty::Integer(0) => "of the first type".to_owned(),
        Ty::Named(1) | Ty::Integer(1) => "of the second type".to_owned(),
        Ty::Named(_) | Ty::Integer(_) => "of the third type".to_owned(),
        Ty::Wide => "twice as wide as the type".to_owned(),
        Ty::Within(0) => "of the first type, or wider".to_owned(),
        Ty::Within(_) => "of the second type, or wider".to_owned(),
    };
    match shape {
        OperandKind::Register(ty) => format!("a register {}", of(ty)),
        OperandKind::Value(ty) => format!("a register or a number {}", of(ty)),
        OperandKind::Part { ty, takes_selector, takes_sign } => {
            let one = if role == OperandRole::Def { OperandKind::Register(ty) } else { OperandKind::Value(ty) };
            describe(role, one) + describe_part(takes_selector, takes_sign)
        }
        OperandKind::Vector(ty, count) => format!("{count} registers {}", of(ty)),
        OperandKind::Fragment(part) => {
            format!("a fragment of {part:?}; shape and types determine the number of registers")
        }
        OperandKind::Matrices => "a register for each matrix".to_owned(),
        OperandKind::Elements(ty) => {
            format!("a register {}; with `.v2`, `.v4` or `.v8` a vector of 2, 4 or 8 registers", of(ty))
        }
        OperandKind::Parts(ty) => format!("2 or 4 registers that together are {}", of(ty)),
        other => other.describe(OperandRole::Use, &[]),
    }
}

//! Tests that the table of ops in `docs/ir.md` matches the op table of the crate.
//! `HALFBYTE_BLESS=1` rewrites the documentation.

use std::fmt::Write;
use std::path::Path;

use halfbyte_ir::op::{ArgType, Effect, OpRow, ResultType};
use halfbyte_ir::{AttrKind, FlagKind, Op, Type, text};

const BEGIN: &str = "<!-- ops: written from the op table -->\n";
const END: &str = "<!-- end of ops -->";

fn operand(arg: ArgType) -> String {
    match arg {
        ArgType::Same => "T".into(),
        ArgType::Mask => "mask of T".into(),
        ArgType::Condition => "i1 or mask of T".into(),
        ArgType::Lane => "lane of T".into(),
        ArgType::Exactly(ty) => ty.to_string(),
        ArgType::Converted => "S".into(),
    }
}

fn result(result: ResultType) -> String {
    match result {
        ResultType::None => "nothing".into(),
        ResultType::Same => "T".into(),
        ResultType::Mask => "mask of T".into(),
        ResultType::Lane => "lane of T".into(),
        ResultType::Wide => "T of twice the width".into(),
        ResultType::Exactly(ty) => ty.to_string(),
    }
}

/// Returns a list of the modifiers that an op accepts for each type. Types with the same modifiers
/// are grouped, and the largest group comes first.
fn modifiers(row: &OpRow) -> String {
    let mut of: Vec<(String, Vec<&str>)> = Vec::new();
    for &ty in Type::ALL.iter().filter(|&&ty| row.types.is_some_and(|types| types.contains(ty))) {
        let set = row.flags(ty);
        let words: Vec<&str> =
            FlagKind::ALL.into_iter().filter(|&kind| set.contains(kind)).flat_map(FlagKind::words).copied().collect();
        let words = if words.is_empty() { "none".to_owned() } else { words.join(" ") };
        match of.iter_mut().find(|(other, _)| *other == words) {
            Some((_, types)) => types.push(ty.name()),
            None => of.push((words, vec![ty.name()])),
        }
    }
    let most = of.iter().position(|(_, types)| types.len() == of.iter().map(|(_, types)| types.len()).max().unwrap());
    let first = of.remove(most.unwrap()).0;
    let rest = of.iter().map(|(words, types)| format!("; on {}: {words}", types.join(" ")));
    format!("modifiers {first}{}", rest.collect::<String>())
}

fn carried(row: &OpRow) -> Option<String> {
    Some(match row.attr {
        AttrKind::None => return None,
        AttrKind::Float(_) => modifiers(row),
        AttrKind::IntCC => "integer condition".into(),
        AttrKind::FloatCC => format!("float condition, {}", modifiers(row)),
        AttrKind::Const => "constant".into(),
        AttrKind::Axis => "axis `x`, `y` or `z` (optional)".into(),
        AttrKind::Lane => "number".into(),
        AttrKind::Lanes => "lane numbers".into(),
        AttrKind::Mem => "index (i32) and constant (both optional)".into(),
        AttrKind::Atomic => format!("{}; scope; index (i32) and constant (all optional)", orders(row)),
        AttrKind::Fence => format!("{}; scope", orders(row)),
        AttrKind::Barrier => "`unaligned` (optional)".into(),
        AttrKind::Targets => "targets".into(),
        AttrKind::Intrinsic => "target, text, any number of operands".into(),
    })
}

fn orders(row: &OpRow) -> String {
    row.op.orders().iter().map(|order| format!("`{order}`")).collect::<Vec<_>>().join(" ")
}

fn entry(row: &OpRow) -> String {
    let needed = row.args.len() - row.optional;
    let shown = |(number, arg): (usize, ArgType)| operand(arg) + if number >= needed { " (optional)" } else { "" };
    let operands: Vec<String> = row.args.iter().copied().enumerate().map(shown).collect();
    let more = if row.op == Op::Concat { " ..." } else { "" };
    let mut signature = format!("{}{more} -> {}", operands.join(", "), result(row.result));
    if let Some(carried) = carried(row) {
        write!(signature, "; {carried}").unwrap();
    }
    let types = match (row.convert, row.types) {
        // Some types that the op's type set contains are the result of no conversion, so they are
        // not listed.
        (Some(_), _) => {
            format!("T: {}", names(Type::ALL.iter().copied().filter(|&to| row.sources(to).next().is_some())))
        }
        (None, Some(types)) => format!("T: {}", types.name),
        (None, None) => "no suffix".into(),
    };
    let mut notes: Vec<&str> = Vec::new();
    notes.extend(row.lanewise.then_some("lane by lane"));
    notes.extend(row.commutative.then_some("commutative"));
    notes.extend(match row.effect {
        Effect::Pure => None,
        Effect::Read => Some("reads memory, may trap"),
        Effect::Write => Some("writes memory, may trap"),
        Effect::Atomic => Some("atomic, may trap"),
        Effect::Fence => Some("orders memory"),
        Effect::Convergent => Some("collective"),
        Effect::Terminator => Some("ends a block"),
    });
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let cell = |text: &str| text.replace('|', "\\|");
    format!(
        "| `{}` | {types} | {} | {}{notes} | `{}` |\n",
        row.name,
        cell(signature.trim_start()),
        cell(row.doc),
        cell(row.example)
    )
}

fn names(types: impl IntoIterator<Item = Type>) -> String {
    types.into_iter().map(Type::name).collect::<Vec<_>>().join(" ")
}

/// Returns a list of the conversions of an op. Types that all convert into one another are grouped;
/// other source types are listed with their result types.
fn conversions(row: &OpRow) -> String {
    let becomes = |from: Type| -> Vec<Type> {
        Type::ALL.iter().copied().filter(|&to| row.sources(to).any(|source| source == from)).collect()
    };
    let class = |from: Type| -> Vec<Type> {
        Type::ALL.iter().copied().filter(|&ty| ty == from || becomes(from).contains(&ty)).collect()
    };
    let (mut parts, mut done): (Vec<String>, Vec<Type>) = (Vec::new(), Vec::new());
    for &from in Type::ALL.iter().filter(|&&from| !becomes(from).is_empty()) {
        if done.contains(&from) {
            continue;
        }
        let all = class(from);
        if all.iter().all(|&ty| class(ty) == all) {
            parts.push(format!("between {}", names(all.iter().copied())));
            done.extend(all);
        } else {
            parts.push(format!("{from} -> {}", names(becomes(from))));
        }
    }
    parts.join("; ")
}

/// Returns the table of the types that each op converts. Ops with the same conversions share a table row.
fn conversion_table() -> String {
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for row in Op::ALL.iter().map(|op| op.row()).filter(|row| row.convert.is_some()) {
        let types = conversions(row);
        match rows.iter_mut().find(|(other, _)| *other == types) {
            Some((_, ops)) => ops.push(row.name),
            None => rows.push((types, vec![row.name])),
        }
    }
    let mut table = String::from(
        "\nIn a conversion S -> T, S is the type of the operand. The table lists all conversions S -> T:\n\n| op | conversions |\n|---|---|\n",
    );
    for (types, ops) in rows {
        let ops: Vec<String> = ops.iter().map(|op| format!("`{op}`")).collect();
        writeln!(table, "| {} | {types} |", ops.join(" ")).unwrap();
    }
    table
}

/// A conversion from S to T is in the table exactly if the verifier accepts it.
#[test]
fn conversions_are_those_that_the_verifier_accepts() {
    for row in Op::ALL.iter().map(|op| op.row()).filter(|row| row.convert.is_some()) {
        for &to in Type::ALL {
            for &from in Type::ALL.iter().filter(|&&from| from != Type::PTR && to != Type::PTR) {
                let parts = match row.op {
                    Op::Concat => (to.bits() / from.bits()).max(1) as usize,
                    _ => 1,
                };
                let number = if row.op == Op::Split { ", 0" } else { "" };
                let args = vec!["%a"; parts].join(", ");
                let text =
                    format!("kernel @k(%a: {from}) {{\n^entry:\n  %r = {}.{to} {args}{number}\n  ret\n}}\n", row.name);
                let listed = row.sources(to).any(|source| source == from);
                assert_eq!(text::read(&text).is_ok(), listed, "{text}");
            }
        }
    }
}

/// A modifier is in the table for a type exactly if the verifier accepts it.
#[test]
fn modifiers_are_those_that_the_verifier_accepts() {
    let float = |attr| matches!(attr, AttrKind::Float(_));
    for row in Op::ALL.iter().map(|op| op.row()).filter(|row| float(row.attr)) {
        for &ty in Type::ALL.iter().filter(|&&ty| row.types.is_some_and(|types| types.contains(ty))) {
            let operand = row.sources(ty).next().unwrap_or(ty);
            let args: Vec<&str> = row.args.iter().map(|_| "%a").collect();
            for kind in FlagKind::ALL {
                for word in kind.words() {
                    let (name, args) = (row.name, args.join(", "));
                    let text =
                        format!("kernel @k(%a: {operand}) {{\n^entry:\n  %r = {name}.{word}.{ty} {args}\n  ret\n}}\n");
                    assert_eq!(text::read(&text).is_ok(), row.flags(ty).contains(kind), "{text}");
                }
            }
        }
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut table = "| op | types | operands -> result | meaning | example |\n|---|---|---|---|---|\n".to_owned();
    table.extend(Op::ALL.iter().map(|op| entry(op.row())));
    table += &conversion_table();
    let fresh = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/ir.md is stale: run this test with HALFBYTE_BLESS=1");
    }
}

#[test]
fn types_are_those_there_are() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md")).unwrap();
    let (_, section) = page.split_once("## Types").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    for ty in Type::ALL {
        assert!(section.contains(&format!("`{ty}`")), "{ty}");
    }
}

#[test]
fn kernels_of_the_page_are_valid_and_canonical() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md")).unwrap();
    let kernels: Vec<&str> =
        page.split("```\n").skip(1).step_by(2).filter(|block| block.contains("kernel @")).collect();
    assert!(!kernels.is_empty());
    for source in kernels {
        let printed = text::print(&text::read(source).unwrap());
        assert!(source.ends_with(&printed), "{printed}");
    }
}

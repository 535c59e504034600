//! The table of ops in `docs/ir.md` is written from their rows: `HALFBYTE_BLESS=1` rewrites it.

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
        ArgType::Converted => "any that converts".into(),
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

fn carried(row: &OpRow) -> Option<String> {
    let flags = row.flags(Type::F16);
    let flags: Vec<&str> =
        FlagKind::ALL.into_iter().filter(|&kind| flags.contains(kind)).flat_map(FlagKind::words).copied().collect();
    Some(match row.attr {
        AttrKind::None => return None,
        AttrKind::Float(_) => format!("modifiers {}", flags.join(" ")),
        AttrKind::IntCC => "integer condition".into(),
        AttrKind::FloatCC => format!("float condition, modifier {}", flags.join(" ")),
        AttrKind::Const => "constant".into(),
        AttrKind::Lane => "number".into(),
        AttrKind::Lanes => "lane numbers".into(),
        AttrKind::Mem => "index (i32) and constant, both optional".into(),
        AttrKind::Targets => "targets".into(),
        AttrKind::Intrinsic => "target and text, any operands".into(),
    })
}

fn entry(row: &OpRow) -> String {
    let operands: Vec<String> = row.args.iter().copied().map(operand).collect();
    let more = if row.op == Op::Concat { " ..." } else { "" };
    let mut signature = format!("{}{more} -> {}", operands.join(", "), result(row.result));
    if let Some(carried) = carried(row) {
        write!(signature, "; {carried}").unwrap();
    }
    let types = row.types.map_or("no suffix".into(), |types| format!("T: {}", types.name));
    let mut notes: Vec<&str> = Vec::new();
    notes.extend(row.lanewise.then_some("lane by lane"));
    notes.extend(row.commutative.then_some("commutative"));
    notes.extend(match row.effect {
        Effect::Pure => None,
        Effect::Read => Some("reads memory, may trap"),
        Effect::Write => Some("writes memory, may trap"),
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

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ir.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut table = "| op | types | operands -> result | meaning | example |\n|---|---|---|---|---|\n".to_owned();
    table.extend(Op::ALL.iter().map(|op| entry(op.row())));
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

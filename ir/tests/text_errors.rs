//! Tests of invalid texts and their diagnostics. The cases are in `errors/*.txt`:
//!
//! ```text
//! === its name
//! the text
//! ---
//! line:column: the message; expected what
//! ```
//!
//! With `HALFBYTE_BLESS=1` in the environment, the diagnostics are rewritten instead of compared.

use std::fmt::Write;
use std::path::Path;

use halfbyte_ir::diag::Lines;
use halfbyte_ir::{Diagnostics, text};

fn diagnose(source: &str) -> String {
    let lines = Lines::new(source);
    let mut out = String::new();
    for diagnostic in text::read(source).err().unwrap_or_default() {
        let at = lines.position(diagnostic.span.start);
        write!(out, "{}:{}: {diagnostic}", at.line, at.column).unwrap();
        if let Some(help) = &diagnostic.help {
            write!(out, " (help: {help})").unwrap();
        }
        for note in &diagnostic.notes {
            let at = lines.position(note.span.unwrap().start);
            write!(out, " [{}:{}: {}]", at.line, at.column, note.message).unwrap();
        }
        out.push('\n');
    }
    out
}

#[test]
fn each_case_gets_its_diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let bless = std::env::var_os("HALFBYTE_BLESS").is_some();
    let mut cases = 0;
    let mut wrong = String::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file = std::fs::read_to_string(&path).unwrap();
        let mut blessed = String::new();
        for case in file.split("=== ").skip(1) {
            let (name, rest) = case.split_once('\n').unwrap();
            let (source, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
            let found = diagnose(source);
            cases += 1;
            writeln!(blessed, "=== {name}\n{source}---\n{}\n", found.trim_end()).unwrap();
            assert!(!found.is_empty(), "{}: {name}: nothing is found wrong", path.display());
            if found.trim() != expected.trim() {
                writeln!(
                    wrong,
                    "{}: {name}\n{source}--- expected\n{}\n--- found\n{found}",
                    path.display(),
                    expected.trim()
                )
                .unwrap();
            }
        }
        if bless {
            std::fs::write(&path, blessed).unwrap();
        }
    }
    assert!(cases >= 60, "{cases}");
    assert!(bless || wrong.is_empty(), "{wrong}");
}

#[test]
fn shown_as_plain_text() {
    let source = "kernel @k(%a: i32) {\n^entry:\n\t%b = const.f16 1.0\n\t%r = add.i32 %a, %b\n  ret\n}\n";
    let list = text::read(source).unwrap_err();
    let shown = Diagnostics { file: "dir/k.hb", source, list: &list }.to_string();
    let expected = "\
dir/k.hb:4:19: error: operand 2 of `add.i32` is `f16`
  |
4 |  %r = add.i32 %a, %b
  |                   ^^
  = expected `i32`
  = help: `fcvt_to_s.i32 %b` or `fcvt_to_u.i32 %b` makes it `i32`
  = note: its definition is here (dir/k.hb:3:2)
";
    assert_eq!(shown, expected);
}

#[test]
fn control_characters_are_shown_escaped() {
    let found = diagnose("kernel @k() {\n^entry:\n\tret\0\u{1b}\n}\n");
    assert_eq!(found, "3:5: unexpected `\\0`; expected an operand: `%name`\n");
}

#[test]
fn reports_at_most_a_hundred_errors() {
    let line = "  %r = nonsense %a\n".repeat(1000);
    let list = text::read(&format!("kernel @k() {{\n^entry:\n{line}  ret\n}}\n")).unwrap_err();
    assert_eq!(list.len(), halfbyte_ir::verify::MAX_DIAGNOSTICS);
}

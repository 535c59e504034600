//! Tests of error messages. The cases are in `tests/mistakes/*.txt`; `HALFBYTE_BLESS=1` rewrites the expected messages.
//!
//! A case begins with `=== ` and a title. Statements outside a kernel or function are placed in a kernel ([`AROUND`]).
//! The expected messages follow `---`. Each has its position, and the source text at the position in `<>`.

use std::fmt::Write;
use std::path::Path;

use halfbyte_ir::Diagnostic;
use halfbyte_ir::diag::position;
use halfbyte_lang::{Included, Includes, read};

/// Text before and after the statements of a case without a kernel.
const AROUND: [&str; 2] = [
    "struct rec { d: f16, q: i8[16] }\nfn twice<T>(n: T) -> T { n + n }\nfn at(p: in i32, i: i32) -> i32 { p[i] }\nkernel k(a: i32, b: i8, h: f16, g: f32, v: i8x4, c: i1, x: in i32, y: inout i32, r: in rec) {\n  var n = 0\n",
    "}\n",
];

/// Loader of the files that the test cases include.
struct Files;

impl Includes for Files {
    fn open(&self, path: &str, _: &str) -> Result<Included, String> {
        let text = match path {
            "self.hb" => "include \"self.hb\"\n",
            "a.hb" => "include \"b.hb\"\n",
            "b.hb" => "include \"a.hb\"\n",
            "kernels.hb" => "kernel other() {\n}\n",
            "wrong.hb" => "fn f( {\n",
            "inside.hb" => "fn worse(a: i32) -> i32 {\n  a + 1.5\n}\n",
            _ => return Err("a file that exists".into()),
        };
        Ok(Included { name: path.into(), text: text.into() })
    }
}

fn said(text: &str, error: &Diagnostic) -> String {
    let at = position(text, error.span.start);
    let covered: String =
        text.get(error.span.start as usize..error.span.end as usize).unwrap().chars().take(60).collect();
    let mut said = format!("{}:{}: <{}> {error}", at.line, at.column, covered.replace('\n', " "));
    if let Some(help) = &error.help {
        let _ = write!(said, " (help: {help})");
    }
    for note in &error.notes {
        let at = note
            .span
            .map(|span| position(text, span.start))
            .map_or(String::new(), |at| format!(" {}:{}", at.line, at.column));
        let _ = write!(said, " (note: {}{at})", note.message);
    }
    said
}

fn answer(case: &str) -> String {
    let items = ["kernel", "fn ", "const ", "struct", "include", "halfbyte", "!"];
    let is_whole = case.lines().any(|line| items.iter().any(|item| line.starts_with(item)));
    let text = if is_whole {
        case.replacen('!', "", usize::from(case.starts_with('!')))
    } else {
        format!("{}{case}\n{}", AROUND[0], AROUND[1])
    };
    match read(&text, "k.hb", &Files) {
        Ok(module) => format!("nothing is wrong:\n{module}"),
        Err(errors) => errors.iter().map(|error| said(&text, error) + "\n").collect(),
    }
}

#[test]
fn reports_each_mistake_at_its_position() {
    let bless = std::env::var_os("HALFBYTE_BLESS").is_some();
    let (mut wrong, mut count) = (String::new(), 0);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let before = std::fs::read_to_string(&path).unwrap();
        let mut after = String::new();
        for case in before.split("=== ").skip(1) {
            let (input, expected) = case.split_once("---\n").unwrap_or((case, ""));
            let (name, text) = input.split_once('\n').unwrap();
            let found = answer(text.trim_end());
            if found.starts_with("nothing") || !bless && found.trim() != expected.trim() {
                let _ = writeln!(wrong, "{name}:\n{text}{found}-- in place of\n{expected}");
            }
            let _ = write!(after, "=== {name}\n{}\n---\n{}\n\n", text.trim_end(), found.trim_end());
            count += 1;
        }
        if bless {
            std::fs::write(&path, after.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 150, "{count} mistakes");
}

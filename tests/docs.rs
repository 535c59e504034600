//! Tests that the documentation shows the program's present output, and that the dictionaries of
//! the fuzz targets match the instruction tables. `HALFBYTE_BLESS=1 cargo test docs` updates both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::root;

const PROMPT: &str = "$ ";

/// Options of a code block with commands, which follow "```sh".
struct Block<'a> {
    /// Folder in which the commands run, relative to the root folder.
    folder: &'a str,
    /// Reason why the test does not run the commands, if any.
    skipped: Option<&'a str>,
}

impl<'a> Block<'a> {
    /// Parses the first line of a code block. Returns `None` if the language is not `sh`.
    fn read(line: &'a str) -> Option<Block<'a>> {
        let options = line.strip_prefix("```sh")?;
        let mut block = Block { folder: ".", skipped: None };
        for option in options.split_whitespace() {
            match option.split_once('=') {
                Some(("cwd", folder)) => block.folder = folder,
                Some(("skip", reason)) => block.skipped = Some(reason),
                _ => panic!("{line}: expected cwd=FOLDER or skip=REASON"),
            }
        }
        Some(block)
    }

    /// Runs a command and returns its standard output, followed by its standard error.
    fn run(&self, command: &str) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_halfbyte")).parent().unwrap();
        let path = std::env::join_paths(
            [program.to_owned()]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let folder = root().join(self.folder);
        let shell = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path.unwrap()).output();
        let output = shell.unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }
}

/// Returns a page with the present output after every command of its `sh` blocks, and the number of commands.
fn renewed(text: &str) -> (String, usize) {
    let (mut out, mut commands) = (String::new(), 0);
    let mut block: Option<Block<'_>> = None;
    let mut shows = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            block = Block::read(line);
            shows = false;
        }
        let command = line.strip_prefix(PROMPT);
        if let (Some(block), Some(command)) = (block.as_ref().filter(|block| block.skipped.is_none()), command) {
            let mut command = command.to_owned();
            // A command that ends with a backslash continues on the next line.
            while command.ends_with('\\') {
                command += &format!("\n{}", lines.next().unwrap());
            }
            out += &format!("{PROMPT}{command}\n{}", block.run(&command));
            commands += 1;
            shows = true;
        } else if !shows {
            out += &format!("{line}\n");
        }
    }
    (out, commands)
}

/// Returns the paths of all pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut pages = vec![root().join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn commands_print_what_the_documents_say() {
    let mut all = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let (renewed, commands) = renewed(&text);
        all += commands;
        if std::env::var_os("HALFBYTE_BLESS").is_some() {
            fs::write(&path, &renewed).unwrap();
        } else {
            let stale = text.lines().zip(renewed.lines()).find(|(shown, now)| shown != now);
            assert!(text == renewed, "{} is stale: HALFBYTE_BLESS=1; {stale:?}", path.display());
        }
    }
    assert!(all >= 40, "{all} commands");
}

/// Every command that the test does not run has one of the known reasons, for example that it needs a GPU.
#[test]
fn every_command_is_run() {
    const REASONS: [&str; 5] = ["build", "gpu", "cluster", "nightly", "compiler"];
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(block) = Block::read(line) else { continue };
            let first = lines.next().unwrap_or_default();
            let is_run = first.starts_with(PROMPT) && block.skipped.is_none();
            let is_known = block.skipped.is_some_and(|reason| REASONS.contains(&reason));
            assert!(is_run || is_known, "{}: {line} {first}", path.display());
        }
    }
}

/// The first commands of the README are all that a new machine needs, and CI runs the second one.
#[test]
fn ci_runs_the_test_command() {
    let root = root();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let block = readme.split("```sh skip=build\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let commands: Vec<&str> = block.lines().collect();
    let [check, test] = commands[..] else { panic!("two commands: {commands:?}") };
    assert_eq!(check, "cargo run --release -- check examples");
    let ci = fs::read_to_string(root.join(".ci/run")).unwrap();
    assert!(ci.lines().any(|line| line == test), "CI does not run `{test}`");
}

/// The tour shows the kernel of the example file, and the Rust code of the tour is the code of this test.
#[test]
fn the_tour_shows_the_example() -> Result<(), Box<dyn std::error::Error>> {
    let root = root();
    let example = fs::read_to_string(root.join("examples/brighten.hb"))?;
    let tour = fs::read_to_string(root.join("docs/tour.md"))?;
    let shown = tour.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(example.contains(shown), "{shown}");

    use halfbyte::{HALU, Module, Program};
    let module = Module::parse(&example)?;
    let program = Program::load(&module.compile(HALU)?.object)?;
    let pixels = [[0_u8, 100, 215, 216]];
    let mut lighter = [[0_u8; 4]];
    program.kernel("brighten")?.bind(([40_u8; 4], &pixels, &mut lighter))?.run(1)?;
    assert_eq!(lighter, [[40, 140, 255, 255]]);
    Ok(())
}

/// The Rust code on the page about tests is the code of this test.
#[test]
fn the_page_on_tests_shows_this_test() -> Result<(), Box<dyn std::error::Error>> {
    let page = include_str!("../docs/testing.md");
    let shown = page.split("```rust\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let line = |line: &str| if line.is_empty() { "\n".into() } else { format!("    {line}\n") };
    let body: String = shown.lines().map(line).collect();
    assert!(include_str!("docs.rs").contains(&body), "{body}");

    use halfbyte::{HALU, Sm, VP1, ptx};
    use halfbyte_testkit::testing::{assert_selects, run_and_compare};

    let text = "kernel @scale(%a: i8x4, %x: in i8x4, %y: inout i8x4) {
                ^entry:
                  %i = item_id
                  %v = load %x[%i]
                  %w = load %y[%i]
                  %s = add_sat_u.i8x4 %v, %w
                  %r = min_u.i8x4 %s, %a
                  store %r, %y[%i]
                  ret
                }";
    assert_selects!(text, HALU, "vadd4.u32.u32.u32.sat", "video_min_u"; not "PRMT");
    assert_selects!(text, VP1, "vadd u", "vmin u"; not "four_min_u");

    let args = [("a", "200"), ("x", "random(100, 1)"), ("y", "random(100, 2)")];
    let compared = run_and_compare(text, "scale", 100, &args)?;
    assert_eq!(compared.targets, [HALU, VP1, ptx(Sm::SM_90)]);
    Ok(())
}

/// Tokens of PTX text that are in no instruction table.
#[rustfmt::skip]
const PTX_WORDS: &[&str] = &[
    ".version 8.8", ".target sm_90", ".address_size 64", ".visible .entry ", ".param ", ".reg ", ".global ", ".const ", ".align ",
    ".ptr", "{", "}", "[", "]", "%tid.x", "%ctaid.x", "%ntid.x", "%nctaid.x", "bra.uni ", "@%p1 ", "@!%p1 ", "0f3f800000", "$L_0:",
];
#[rustfmt::skip]
const IR_WORDS: &[&str] = &[
    "kernel @k(", "%a: ", ": in ", ": out ", ": inout ", " align ", " step ", "^entry:", "^b(", "-> ", "item_id", "data %", "= [",
];
#[rustfmt::skip]
const LINE_WORDS: &[&str] = &[
    "; run: halu, vp1, ptx: @k items=1 ", "; refuse: halu: ", "zeros(", "zeros:", "random(", "=[", "=@", "~=[", "within(", "-> ", "inf", "nan",
    "-0.0", "0x3c00",
];
#[rustfmt::skip]
const TEST_WORDS: &[&str] = &[
    "; test: lower", "; test: isel halu", "; test: asm vp1", "; test: regalloc halu", "; test: expand ptx", "; check: ", "; next: ",
    "; CHECK-NOT: ", "; check-count-2: ", "; check-dag: ",
    "; same: ", "; not: ", "; never: ", "; rule: ", "; no rule: ", ";= ", "{{", "}}", "[[", "]]", " passes=", " without=", " sm=75",
];
#[rustfmt::skip]
const JSON_WORDS: &[&str] = &[
    "\"asm\":", "\"words\":[", "\"pre\":{", "\"va\":[", "\"vx\":", "\"uc\":", "\"ds\":{", "\"vc\":{", "\"R0\":", "\"UR1\":",
    "\"P0\":true", "\"c[0x3][0x1a4]\":", "\"0x", "\"r\":{", "\"v\":{", "\"a\":{", "\"c\":{", "\"l\":{", "\"m\":{", "\"x\":{",
];

/// Returns a dictionary in the format of libFuzzer, with one token for each line.
fn dictionary(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted = |word: &str| format!("\"{}\"\n", word.replace('\\', "\\\\").replace('"', "\\\""));
    let all: std::collections::BTreeSet<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    all.into_iter().collect()
}

#[test]
fn the_fuzzers_know_every_word() {
    use halfbyte::ir::{FlagKind, FloatCC, IntCC, Op, Type};
    use halfbyte::isa::{docs::Set, halu, ptx};

    let words = |all: &[&str]| -> Vec<String> { all.iter().map(|&word| word.to_owned()).collect() };
    let halu = halu::Opcode::ALL.iter().flat_map(|op| {
        let modifiers = op.row().modifiers.iter().flat_map(|m| m.choices.iter().map(|choice| format!(".{}", choice.0)));
        modifiers.chain([format!("{} ", op.row().mnemonic)]).collect::<Vec<_>>()
    });
    let ptx = ptx::Opcode::ALL.iter().flat_map(|op| {
        let choices = op.row().slots.iter().flat_map(|slot| slot.choices);
        choices.map(|choice| choice.token.to_string()).chain([op.row().mnemonic.to_owned()]).collect::<Vec<_>>()
    });
    let ops = Op::ALL.iter().map(|op| op.name().to_owned());
    let types = || Type::ALL.iter().map(|ty| format!(".{ty}"));
    let flags = FlagKind::ALL.into_iter().flat_map(|kind| kind.words().iter().map(|word| format!(".{word}")));
    let compares = IntCC::ALL.iter().map(|cc| cc.name()).chain(FloatCC::ALL.iter().map(|cc| cc.name()));
    let ir: Vec<String> =
        ops.chain(types()).chain(flags).chain(compares.map(|name| format!(".{name}"))).chain(words(IR_WORDS)).collect();
    let vp1 = Set::Vp1.mnemonics().into_iter().map(|mnemonic| format!("{mnemonic} "));
    let bits = halfbyte::isa::vp1::fields::M_SLCT.choices.iter().map(|choice| format!(" {}", choice.0));
    let dictionaries = [
        ("halu", dictionary(halu)),
        ("vp1", dictionary(vp1.chain(bits))),
        ("ptx", dictionary(ptx.chain(words(PTX_WORDS)))),
        ("tests", dictionary(ir.iter().cloned().chain(words(TEST_WORDS)))),
        ("ir", dictionary(ir)),
        ("lines", dictionary(types().chain(words(LINE_WORDS)))),
        ("json", dictionary(words(JSON_WORDS))),
    ];
    let folder = root().join("fuzz/dicts");
    for (name, text) in dictionaries {
        let path = folder.join(format!("{name}.dict"));
        if std::env::var_os("HALFBYTE_BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert!(fs::read_to_string(&path).is_ok_and(|found| found == text), "{name}.dict is stale: HALFBYTE_BLESS=1");
        assert!(text.lines().count() > 10, "{name}");
    }
}

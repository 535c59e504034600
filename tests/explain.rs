//! Tests of `explain`: cases with their complete expected output, and properties of the explanation of every rule.
//!
//! The first line of a file in `tests/explain/` is `; explain: AT TARGET`. The expected output is at the end of the
//! file, in the lines that begin with `;=`. `HALFBYTE_BLESS=1` updates the expected outputs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use halfbyte::ir::rule::Found;
use halfbyte::ir::witness::witnesses;
use halfbyte::pipeline::Options;
use halfbyte::{Module, TARGETS, Target};
use halfbyte_inspect::explain::{Explanation, Question, Text, explain};
use halfbyte_isa::object::Loc;
use halfbyte_isel::Request;
use halfbyte_isel::trace::{PartialMatch, Selection, Trace};
use halfbyte_lower::{Context, Pipeline};

use crate::common::{halfbyte, halfbyte_on, root};

const MARK: &str = ";=";

fn ask(file: &str, text: &str, at: &str, target: Target) -> Explanation {
    let module = Module::named(file, text).unwrap();
    let options = Options::new(target);
    explain(&module, Question { at, kernel: None, options: &options }).unwrap()
}

fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).unwrap();
    let (source, expected) = match text.find(&format!("\n{MARK}")) {
        Some(end) => text.split_at(end + 1),
        None => (text.as_str(), ""),
    };
    let header = source.lines().next().and_then(|line| line.strip_prefix("; explain: ")).unwrap();
    let (at, target) = header.split_once(' ').unwrap();
    let target = if target == "vp1" { halfbyte::VP1 } else { halfbyte::HALU };
    let explanation = ask("case.hb", source, at, target);
    let mut found = String::new();
    for line in (Text { explanation: &explanation, all: false }).to_string().lines() {
        let _ = writeln!(found, "{}", format!("{MARK} {line}").trim_end());
    }
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(file, format!("{source}{found}")).unwrap();
        return Ok(());
    }
    Err(format!("{}: expected\n{expected}found\n{found}", file.display()))
}

#[test]
fn cases_are_answered_as_written() {
    let folder = root().join("tests/explain");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10);
    let wrong: Vec<String> = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the rules that match according to the trace with the rule that selection has applied.
fn agree(target: Target, selection: &Selection, of: &Found, term: &str) -> Result<(), String> {
    let rules = TARGETS.rules(target);
    let row = |number: u32| &rules[number as usize];
    let taken = selection.taken.iter().find(|taken| taken.at.as_ref() == Some(of) && row(taken.rule).term == term);
    let asked = selection.near.iter().filter(|near| near.at == *of && row(near.rule).term == term);
    let whole = asked.clone().filter(|near: &&PartialMatch| near.walk.miss.is_none());
    let first = whole.max_by_key(|near| row(near.rule).priority).map(|near| near.rule);
    match (first, taken.map(|taken| taken.rule)) {
        (first, taken) if first == taken || asked.count() == 0 => Ok(()),
        (first, taken) => {
            let name = |number: Option<u32>| number.map_or("none", |number| row(number).name);
            Err(format!("the walk says {}, selection took {}", name(first), name(taken)))
        }
    }
}

/// The interpreter of rules that the trace uses agrees with the compiled rules, on the witness kernels of every rule.
#[test]
fn interpreted_rules_agree_with_selection() {
    for target in [halfbyte::HALU, halfbyte::VP1] {
        let mut compared = 0;
        for rule in TARGETS.rules(target) {
            // The first witness of each check is enough.
            for witness in rule.checks.iter().filter_map(|check| witnesses(check).unwrap().into_iter().next()) {
                let module = Module::parse(&witness.text).unwrap();
                let mut kernel = module.ir().kernels[0].clone();
                let pack = Pipeline::named(["pack"]).unwrap();
                pack.run(&mut kernel, &mut Context::new(&TARGETS.legality(target)), &mut ()).unwrap();
                let all = kernel.insts.keys();
                let mut trace = Trace::new(all);
                let request = |trace| Request { trace, ..Request::new(&kernel, target, &|_| Loc::default()) };
                let told = TARGETS.select(request(Some(&mut trace))).unwrap();
                let untold = TARGETS.select(request(None)).unwrap();
                assert_eq!(told.fired, untold.fired, "{}: asking changes what is selected", rule.name);
                for selection in &trace.selections {
                    let things = selection
                        .taken
                        .iter()
                        .filter_map(|taken| Some((taken.at.clone()?, TARGETS.rules(target)[taken.rule as usize].term)));
                    for (thing, term) in things {
                        compared += 1;
                        agree(target, selection, &thing, term)
                            .unwrap_or_else(|error| panic!("{}: {error}\nin\n{kernel}", rule.name));
                    }
                }
            }
        }
        assert!(compared > 1000, "{compared}");
    }
}

#[test]
fn the_table_names_lines_that_hold_the_rules() {
    let root = root();
    for rule in TARGETS.rules(halfbyte::HALU).iter().chain(TARGETS.rules(halfbyte::VP1)).chain(halfbyte_lower::RULES) {
        let text = std::fs::read_to_string(root.join(rule.file)).unwrap();
        let line = text.lines().nth(rule.line as usize - 1).unwrap();
        assert!(line.contains(&format!("(rule {}", rule.name)), "{}:{}: {line}", rule.file, rule.line);
        for guard in rule.guards {
            let line = text.lines().nth(guard.line as usize - 1).unwrap();
            assert!(line.contains("(if"), "{}:{}: {line}", rule.file, guard.line);
        }
    }
}

const KERNELS: &str = "kernel @one(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %first = load %x[%i]\n  \
                       store %first, %y[%i]\n  ret\n}\nkernel @two(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  \
                       %second = load %x[%i]\n  store %second, %y[%i]\n  ret\n}\n";

#[test]
fn calls_that_ask_for_nothing_are_told_so() {
    let ask = |at: &str, more: &[&str]| {
        halfbyte_on(&[&["explain", "-", "--at", at, "--target", "halu"], more].concat(), KERNELS.as_bytes())
    };
    assert!(ask("%first", &[]).output().contains("load_at_index"));
    assert!(ask("first", &[]).output().contains("load_at_index"));
    assert!(ask("4:3", &[]).output().starts_with("%first = load"));
    assert!(ask("%i", &["--kernel", "@two"]).output().contains("@two"));
    ask("%frist", &[]).fails(2, "there is no value `%frist`, did you mean `%first`?");
    ask("%zzzzzzzzz", &[]).fails(2, "there are %x, %y, %i, %first");
    ask("%i", &[]).fails(2, "several kernels have a value `%i`: @one, @two; select one with --kernel");
    ask("%first", &["--kernel", "two"]).fails(2, "there is no value `%first`");
    ask("%first", &["--kernel", "three"]).fails(2, "has no kernel `@three`; it has @one, @two");
    ask("7", &[]).fails(2, "there is no op at 7: `}`");
    ask("700", &[]).fails(2, "there is no op at 700");
    ask("4:1", &[]).fails(2, "there is no op at 4:1");
    ask("4:x", &[]).fails(2, "`4:x` is not a valid position");
    ask("4x", &[]).fails(2, "`4x` is not a valid position");
    ask("%first", &["--passes", "no_such"]).fails(2, "no_such");
    halfbyte_on(&["explain", "-", "--at", "%a"], b"kernel @k(").fails(1, "error");
    halfbyte(&["explain", "no/such.hb", "--at", "%a"]).fails(2, "no/such.hb");
}

/// If the target refuses a kernel, the explanation contains the refusal.
#[test]
fn explains_refusals() {
    let text = "kernel @k(%x: in bf16x2, %y: inout bf16x2) {\n^entry:\n  %i = item_id\n  %a = load %x[%i]\n  %b = load %y[%i]\n  \
                %r = fadd.ftz.bf16x2 %a, %b\n  store %r, %y[%i]\n  ret\n}\n";
    let explanation = ask("k.hb", text, "%r", halfbyte::HALU);
    assert!(explanation.refused[0].starts_with("line 6: halu cannot do `fadd.bf16x2`"), "{:?}", explanation.refused);
    let near = explanation.near.iter().find(|near| near.rule.name == "half_fadd").unwrap();
    let miss = near.miss.as_ref().unwrap();
    assert_eq!((miss.wanted, miss.found.as_str()), ("(plain_flags ty flags)", "ty = bf16x2, flags = .ftz"));
    let explanation = ask("k.hb", text, "%r", halfbyte::VP1);
    assert!(explanation.refused[0].contains("vp1 cannot do"), "{:?}", explanation.refused);
}

#[test]
fn json_says_the_same() {
    let called = halfbyte_on(&["explain", "-", "--at", "%first", "--json"], KERNELS.as_bytes());
    let answer: serde_json::Value = serde_json::from_str(called.output()).unwrap();
    assert_eq!(answer["kernel"], "one");
    assert_eq!(answer["selection"][0]["outcome"]["rule"]["name"], "load_at_index");
    assert_eq!(answer["selection"][0]["words"][0]["asm"].as_str().map(|text| text.starts_with("LDG")), Some(true));
}

/// `explain` succeeds for every op of every example, on every target that accepts the kernel.
#[test]
fn every_op_of_the_examples_is_explained() {
    let root = root().join("examples");
    for file in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "hb") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let module = Module::parse(&text).unwrap();
        for kernel in &module.ir().kernels {
            let named = kernel.values.keys().filter_map(|value| kernel.value_name(value));
            // Only one op in four is tested, to keep the test fast.
            for (at, target) in named.step_by(4).flat_map(|at| [(at, halfbyte::HALU), (at, halfbyte::VP1)]) {
                let options = Options::new(target);
                let at = format!("%{at}");
                let question = Question { at: &at, kernel: Some(&kernel.name), options: &options };
                let explanation = explain(&module, question).unwrap();
                let answered =
                    !explanation.parts.is_empty() || !explanation.history.is_empty() || !explanation.refused.is_empty();
                assert!(answered, "{}: {at} on {target}", file.display());
            }
        }
    }
}

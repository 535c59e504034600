//! Tests that no text makes the parser panic, hang or overflow the stack, and that accepted texts are well formed.

use std::fmt::Write;
use std::time::{Duration, Instant};

use halfbyte_ir::verify::MAX_DIAGNOSTICS;
use halfbyte_ir::{Diagnostics, Op, text, verify};
use proptest::prelude::*;

/// Parses a text. An accepted text must verify and must print to a text that parses back to the
/// same kernel. A rejected text must have errors that can be printed.
fn survive(source: &str) {
    match text::read(source) {
        Ok(module) => {
            for kernel in &module.kernels {
                assert!(verify(kernel).is_ok());
            }
            let printed = text::print(&module);
            assert_eq!(text::print(&text::read(&printed).unwrap()), printed);
        }
        Err(list) => {
            assert!((1..=MAX_DIAGNOSTICS).contains(&list.len()));
            assert!(list.is_sorted_by_key(|diagnostic| diagnostic.span.start));
            for diagnostic in &list {
                assert!(source.get(diagnostic.span.start as usize..diagnostic.span.end as usize).is_some());
            }
            assert!(!Diagnostics { file: "f", source, list: &list }.to_string().is_empty());
        }
    }
}

/// A packed kernel with all kinds of streams.
const PACKED: &str = "
kernel @packed(%x: in i8x4, %w: i32, %y: out i8x4) groups 4 {
  stream %a: in i8x16 of %x, 4 bytes align 1 at 4 * item - 4 * %w + 8 offset -4, loop 0 trips signed 1 * %w at_least 1 by 4
  stream %t: uniform in i32 of %x, 4 bytes at 4 * item_count
  stream %m: out i8x16, 4 bytes
  stream %b: out i8x16 of %y, 4 bytes at 4 * item, guard %m
^entry:
  %g = item_id
  %v = load %a[%g]
  %s = load %t
  store %v, %m[%g]
  store %v, %b[%g]
  ret
}
";

/// Returns a text with the examples of all ops and a packed kernel.
fn corpus() -> String {
    PACKED.to_owned() + &examples()
}

fn examples() -> String {
    Op::ALL.iter().map(|&op| crate::common::example_kernel(op).replace("@k", &format!("@{op:?}"))).collect()
}

fn token() -> impl Strategy<Value = String> {
    let fixed = [
        "kernel",
        "@k",
        "(",
        ")",
        "{",
        "}",
        "\n",
        "^entry",
        "^b",
        ":",
        "%a",
        "%b",
        "%c",
        "=",
        ",",
        ".",
        "[",
        "]",
        "+",
        "-",
        "i32",
        "f16x2",
        "i8x16",
        "i1",
        "ptr",
        "in",
        "inout",
        "align",
        "step",
        "4",
        "0x3c00",
        "1.5",
        "-1",
        "inf",
        "nan",
        "rz",
        "lt_u",
        "ltu",
        "ftz",
        "\"",
        "\"t\"",
        ";",
        "99999999999999999999",
        "\u{fffd}",
        "\0",
        "halu",
        "groups",
        "stream",
        "uniform",
        "of",
        "bytes",
        "at",
        "*",
        "item",
        "offset",
        "loop",
        "trips",
        "guard",
    ];
    let ops: Vec<&str> = Op::ALL.iter().map(|op| op.name()).collect();
    prop_oneof![prop::sample::select(fixed.to_vec()), prop::sample::select(ops)].prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_characters(source in "\\PC{0,200}") {
        survive(&source);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec((token(), any::<bool>()), 0..80)) {
        let joined: String = tokens.iter().map(|(token, space)| format!("{token}{}", if *space { " " } else { "" })).collect();
        survive(&joined);
        survive(&format!("kernel @k(%a: i32, %b: inout f16x2) {{\n^entry:\n  {joined}\n  ret\n}}\n"));
        survive(&format!("kernel @k(%a: i32, %b: inout f16x2) groups 1 {{\nstream %c: {joined}\n^entry:\n  ret\n}}\n"));
    }

    #[test]
    fn any_constant(text in "-?(0x)?[0-9a-fe.+-]{0,12}", ty in prop::sample::select(vec!["i8", "i64", "f16", "bf16x2", "f32"])) {
        survive(&format!("kernel @k() {{\n^entry:\n  %r = const.{ty} {text}\n  ret\n}}\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn valid_texts_with_mistakes(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..5u8, token()), 1..6)) {
        let mut source = corpus();
        for (place, kind, token) in edits {
            let mut at = place.index(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            let line = source[at..].find('\n').map_or(source.len(), |end| at + end);
            match kind {
                0 => source.insert_str(at, &token),
                1 => drop(source.remove(at)),
                2 => source.replace_range(at..line, ""),
                3 => source.truncate(at),
                _ => {
                    let again = source[at..line].to_owned();
                    source.insert_str(line, &again);
                }
            }
            if source.is_empty() {
                break;
            }
        }
        survive(&source);
    }
}

/// Parses a large text within a time limit that only a linear algorithm can meet.
#[track_caller]
fn large(source: &str, valid: bool) {
    let start = Instant::now();
    let read = text::read(source);
    assert_eq!(read.is_ok(), valid, "{:?}", read.err().and_then(|list| list.into_iter().next()));
    if let Ok(module) = read {
        let printed = text::print(&module);
        assert!(text::read(&printed).is_ok());
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

fn lines(count: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{}", line(number)).unwrap();
        text
    })
}

fn kernel(params: &str, body: &str) -> String {
    format!("kernel @k({params}) {{\n^entry:\n{body}}}\n")
}

const MANY: usize = 100_000;

#[test]
fn many_kernels() {
    large(&lines(MANY, |k| format!("kernel @k{k}(%a: i32) {{ ^e: %r = neg.i32 %a\nret }}")), true);
}

#[test]
fn many_statements() {
    let body = lines(MANY, |i| format!("%v{} = add.i32 %v{i}, %v{}", i + 1, i / 2));
    large(&kernel("%v0: i32", &(body + "ret\n")), true);
}

#[test]
fn many_blocks_that_leave_to_one() {
    let body = lines(MANY, |b| format!("^b{b}:\nbr_if %c, ^b{}, ^out", b + 1));
    let body = format!("br ^b0\n{body}^b{MANY}:\nbr ^out\n^out:\nret\n");
    large(&kernel("%c: i1", &body), true);
}

#[test]
fn many_nested_loops() {
    let open = lines(MANY / 2, |b| format!("^b{b}:\nbr ^b{}", b + 1));
    let close = lines(MANY / 2, |b| format!("^c{b}:\nbr_if %c, ^b{}, ^c{}", MANY / 2 - 1 - b, b + 1));
    let half = MANY / 2;
    large(&kernel("%c: i1", &format!("br ^b0\n{open}^b{half}:\nbr ^c0\n{close}^c{half}:\nret\n")), true);
}

#[test]
fn many_cases_params_and_arguments() {
    let cases: Vec<String> = (0..MANY).map(|case| format!("{case}: ^b")).collect();
    large(&kernel("%a: i32", &format!("switch %a, ^b, [{}]\n^b:\nret\n", cases.join(",\n"))), true);
    let params: Vec<String> = (0..MANY).map(|p| format!("%p{p}: i32")).collect();
    large(&kernel(&params.join(", "), "ret\n"), true);
    let args = vec!["%a"; MANY];
    large(&kernel("%a: i32", &format!("br ^b({})\n^b({}):\nret\n", args.join(", "), params.join(", "))), true);
}

#[test]
fn many_streams_and_loops() {
    let packed =
        |streams: &str, body: &str| format!("kernel @k(%x: in i8) groups 1 {{\n{streams}^entry:\n{body}ret\n}}\n");
    let guards = lines(MANY, |s| format!("stream %s{s}: out i8, 1 byte, guard %s{}", s + 1));
    large(&packed(&guards, ""), false);
    let streams = lines(MANY, |s| format!("stream %s{s}: in i8 of %x, 1 byte at item, loop {s} trips 2 by 1"));
    let loads = lines(MANY, |s| format!("%v{s} = load %s{s}"));
    large(&packed(&streams, &loads), true);
    let loops: Vec<String> = (0..MANY).map(|depth| format!("loop {depth} trips 2")).collect();
    let nest = format!("stream %s: in i8 of %x, 1 byte at item, {}\n", loops.join(", "));
    large(&packed(&nest, "%v = load %s\n"), true);
    large(&packed(&format!("stream %s: in i8 of %x, 1 byte at {}\n", "1 * %x +".repeat(MANY)), ""), false);
}

#[test]
fn many_mistakes() {
    let undefined = lines(MANY, |i| format!("%v{i} = add.i32 %u{i}, %w{i}"));
    large(&kernel("", &(undefined + "ret\n")), false);
    let wrong = lines(MANY, |i| format!("%v{i} = add.f16 %a, %a"));
    large(&kernel("%a: i32", &(wrong + "ret\n")), false);
    let nonsense = lines(MANY, |i| format!("%v{i} = nonsense %a"));
    large(&kernel("%a: i32", &nonsense), false);
}

#[test]
fn long_tokens_and_lists() {
    let long = "1".repeat(MANY * 10);
    for constant in [&*long, &format!("0.{long}"), &format!("1e{long}"), &format!("0x{long}"), &format!("-{long}")] {
        for ty in ["i32", "f16", "f32"] {
            large(&kernel("", &format!("%r = const.{ty} {constant}\nret\n")), false);
        }
    }
    large(&kernel("", &format!("%r = const.i8x4 [{}1]\nret\n", "1, ".repeat(MANY))), false);
    large(&kernel("%a: i8x4", &format!("%r = shuffle.i8x4 %a, %a, [{}1]\nret\n", "1, ".repeat(MANY))), false);
    large(&kernel("", &format!("%{long} = const.i32 1\nret\n")), true);
    large(&kernel("%a: i32", &format!("%r = neg.i32{} %a\nret\n", ".x".repeat(MANY))), false);
    large(&kernel("%a: i32", &format!("%r = {long}\n%s = n{long} %a\nret\n")), false);
    for mark in ["(", "[", "{", "}", "\"", "%", "-", ";", "\n", "\0", "é"] {
        large(&mark.repeat(MANY), matches!(mark, ";" | "\n"));
        large(&kernel("", &mark.repeat(MANY)), false);
    }
}

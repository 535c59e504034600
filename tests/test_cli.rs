//! Tests of the command `halfbyte test`.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::{Called, halfbyte, halfbyte_on};

/// Returns a kernel with a product and a sum, with the expectation `beside` on the line of the sum
/// and the expectations `below` after the kernel.
fn test(name: &str, beside: &str, below: &str) -> String {
    format!(
        "kernel @{name}(%a: i32, %x: in i32, %y: inout i32) {{\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %w = load %y[%i]\n  \
         %m = mul.i32 %a, %v\n  %r = add.i32 %m, %w {beside}\n  store %r, %y[%i]\n  ret\n}}\n{below}"
    )
}

const HEADER: &str = "; test: isel halu\n";

fn on(text: &str) -> Called {
    halfbyte_on(&["test", "-"], text.as_bytes())
}

fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn what_passes_is_counted() {
    let text = [
        HEADER,
        &test("one", "; check: IMAD", ""),
        &test("two", "", "; rule: int_mad\n; no rule: int_add\n; not: IADD3\n"),
    ];
    let called = on(&text.concat());
    assert_eq!(called.output(), "2 passed, 0 failed\n");
    assert_eq!(called.err, "");
}

#[test]
fn a_failure_is_a_line_and_is_shown_with_what_was_there() {
    let called = on(&[HEADER, &test("one", "; check: IADD3", ""), &test("two", "; check: IMAD", "")].concat());
    assert_eq!(called.out, "FAILED <stdin>:8 @one: `IADD3` is not in the output from here on\n1 passed, 1 failed\n");
    called.fails(1, "--> <stdin>:8:32");
    called.fails(1, "the search began at line 1 of");
    called.fails(1, "| b0():");
}

#[test]
fn each_kind_of_expectation_can_fail() {
    for (beside, below, message) in [
        ("; check: IMAD", "; check: IMAD\n", "`IMAD` is not in the output from here on"),
        ("; next: IMAD", "", "`IMAD` is not on the next line"),
        ("; check: IMAD", "; same: IADD3\n", "`IADD3` is not on the rest of the line"),
        ("; not: IMAD", "", "`IMAD` is in the output"),
        ("; rule: int_add3", "", "rule `int_add3` is not applied"),
        ("; no rule: int_mad", "", "rule `int_mad` is applied"),
        ("; check: IMAD", "; never: LDG\n", "`LDG` is in the output"),
        (
            "; check-dag: IMAD",
            "; check-dag: IADD3\n",
            "`IADD3` is not in the rest of the output, apart from the matches of earlier lines",
        ),
        ("", "; check-count-3: LDG\n", "`LDG` is in 2 lines of the output from here on, not in 3"),
        ("", ";= exit\n", "the output differs from here on"),
    ] {
        let called = on(&[HEADER, &test("k", beside, below)].concat());
        assert!(called.out.contains(&format!("@k: {message}\n0 passed, 1 failed\n")), "{}", called.out);
        called.fails(1, message);
    }
}

#[test]
fn unordered_and_counted_lines_pass() {
    let below = "; check-dag: IMAD\n; check-dag: LDG\n; check: STG\n";
    let text = [HEADER, &test("one", "", below), &test("two", "", "; check-count-2: LDG\n; not: LDG\n; check: IMAD\n")];
    assert_eq!(on(&text.concat()).output(), "2 passed, 0 failed\n");
}

/// A misspelt directive, or one of FileCheck, is an error. As a mere comment, it would be ignored,
/// and the test would succeed.
#[test]
fn misspelt_directives_are_errors_that_name_the_right_ones() {
    for (comment, word, meant) in [
        ("; CHECK-NOT: IMAD", "CHECK-NOT:", "; not: TEXT"),
        ("; check-not: IMAD", "check-not:", "; not: TEXT"),
        ("; Never: IMAD", "Never:", "; never: TEXT"),
        ("; CHECK_DAG: IADD3", "CHECK_DAG:", "; check-dag: TEXT"),
        ("; Check next: IADD3", "Check next:", "; next: TEXT"),
        ("; CHECK-COUNT-2: IMAD", "CHECK-COUNT-2:", "; check-count-N: TEXT"),
        ("; RUN: llc %s", "RUN:", "; test: STAGE TARGET"),
        ("; never IMAD", "never", "; never: TEXT"),
    ] {
        for (beside, below) in [(comment, "; check: IMAD\n".to_owned()), ("", format!("; check: IMAD\n{comment}\n"))] {
            let called = on(&[HEADER, &test("k", beside, &below)].concat());
            assert_eq!(called.out, "FAILED <stdin>: no tests can be read\n0 passed, 1 failed\n", "{comment}");
            called.fails(1, &format!("error: `{word}` "));
            called.fails(1, meant);
        }
    }
    let prose = "; Note: IADD3 is not taken.\n; Not IADD3.\n; Checks: one\n; run: halu: @k items=1 a=1 x=[1] y=[1]\n";
    assert_eq!(on(&[HEADER, &test("k", "; check: IMAD", prose)].concat()).output(), "1 passed, 0 failed\n");
}

#[test]
fn bless_leaves_a_file_with_a_misspelt_directive_as_it_is() {
    let text = ["; test: lower halu\n", &test("k", "", "; CHECK-NOT: mul\n;= stale\n")].concat();
    let (_folder, path) = folder(&[("t.hb", &text)]);
    let file = path.join("t.hb").display().to_string();
    halfbyte(&["test", "--bless", &file]).fails(1, "`CHECK-NOT:` is not a directive");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    // With the directive corrected, `--bless` keeps the check line and updates the complete output.
    let mended = text.replace("CHECK-NOT: mul", "check-dag: mul");
    std::fs::write(&file, &mended).unwrap();
    assert!(halfbyte(&["test", "--bless", &file]).output().ends_with("1 passed, 0 failed\n"));
    let blessed = std::fs::read_to_string(&file).unwrap();
    assert!(blessed.contains("; check-dag: mul\n;= kernel @k(") && !blessed.contains("stale"), "{blessed}");
}

/// If a rule was not applied, the message explains why.
#[test]
fn it_is_said_why_a_rule_is_not_taken() {
    let called = on(&[HEADER, &test("k", "", "; rule: pair_add\n")].concat());
    called.fails(1, "wanted $I64, found i32");
    let called = on(&[HEADER, &test("k", "", "; rule: half_fmin\n")].concat());
    called.fails(1, "no op matches isel/rules/halu/half.isle:");
    let called = on(&[HEADER, &test("k", "", "; rule: int_add3\n")].concat());
    called.fails(1, "wanted (Add $I32 a b), found `%m = mul.i32 %a, %v`");
}

#[test]
fn what_a_target_refuses_is_tested_and_is_else_a_failure() {
    let kernel = test("k", "", "").replace("mul.i32 %a, %v", "atomic_add %a, %y[%v]");
    let refused = format!(
        "; test: refuse vp1\n{kernel}; check: atomic_add %a, %y[%v]\n; next: work items cannot synchronise on this target\n"
    );
    assert_eq!(on(&refused).output(), "1 passed, 0 failed\n");
    on(&refused.replace("refuse vp1", "isel vp1")).fails(1, "vp1 cannot do `atomic_add.i32`");
    on(&refused.replace("refuse vp1", "refuse halu")).fails(1, "halu does not refuse @k");
}

#[test]
fn lines_of_an_output_are_counted_from_the_kernel() {
    let expected = "; check: {{IMAD .* // 7:3$}}\n";
    let text = [HEADER, &test("one", "", expected), "; more\n\n", &test("two", "", expected)].concat();
    assert_eq!(on(&text).output(), "2 passed, 0 failed\n");
}

#[test]
fn bless_rewrites_whole_outputs_that_fail_and_nothing_else() {
    let right = on(&[HEADER, &test("k", "", ";= x\n")].concat());
    assert_eq!(right.code, 1);
    let text = [
        "; test: lower halu\n",
        &test("one", "; check: mull.i32", ""),
        &test("two", "", ";= stale\n;= lines\n"),
        &test("three", "; check: mul", ";=\n"),
    ]
    .concat();
    let (_folder, path) = folder(&[("t.hb", &text)]);
    let file = path.join("t.hb").display().to_string();
    let called = halfbyte(&["test", "--bless", &file]);
    // `--bless` does not change a failing check line.
    called.fails(1, "`mull.i32` is not in the output");
    assert!(called.out.contains("rewritten ") && called.out.ends_with("2 passed, 1 failed\n"), "{}", called.out);
    let blessed = std::fs::read_to_string(&file).unwrap();
    assert!(blessed.contains("; check: mull.i32") && !blessed.contains("stale"), "{blessed}");
    assert_eq!(blessed.matches(";= kernel @two(").count(), 1, "{blessed}");
    assert_eq!(blessed.matches(";= kernel @three(").count(), 1, "{blessed}");
    let plain = |text: &str| text.lines().filter(|line| !line.starts_with(";=")).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(&blessed), plain(&text));
    // `--bless` does not write a file that is up to date.
    assert!(!halfbyte(&["test", "--bless", &file]).out.contains("rewritten"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), blessed);
}

#[test]
fn folders_are_searched_and_bad_files_are_failures() {
    let good = [HEADER, &test("k", "; check: IMAD", "")].concat();
    let (_folder, path) =
        folder(&[("good.hb", &good), ("headless.hb", &test("k", "", ";=\n")), ("other.txt", "nothing")]);
    let called = halfbyte(&["test", &path.display().to_string()]);
    assert!(called.out.ends_with("1 passed, 1 failed\n"), "{}", called.out);
    assert!(called.out.contains("headless.hb: no tests can be read"), "{}", called.out);
    called.fails(1, "there is no `; test:` line for @k");
}

#[test]
fn wrong_calls_are_told_from_wrong_tests() {
    halfbyte(&["test"]).fails(2, "required");
    halfbyte(&["test", "no/such.hb"]).fails(2, "no/such.hb");
    halfbyte(&["test", "--bless", "-"]).fails(2, "standard input cannot be rewritten");
    let (_folder, path) = folder(&[]);
    halfbyte(&["test", &path.display().to_string()]).fails(1, "the folder has no *.hb files");
    halfbyte_on(&["test", "-"], b"\xff").fails(1, "this is not UTF-8 text");
    let help = halfbyte(&["test", "--help"]);
    assert!(help.output().contains("; check: TEXT") && help.output().contains("Examples:"), "{}", help.out);
}

#[test]
fn coverage_counts_rules_and_names_those_never_taken() {
    let text = [HEADER, &test("one", "; check: IMAD", ""), &test("two", "; check: IMAD", "")].concat();
    let called = halfbyte_on(&["test", "--coverage", "-"], text.as_bytes());
    assert!(called.out.contains("      2  halu::int_mad (isel/rules/halu/integer.isle:"), "{}", called.out);
    assert!(called.out.contains("      0  vp1::word_add (isel/rules/vp1/words.isle:"), "{}", called.out);
    assert!(called.out.ends_with("2 passed, 0 failed\n"), "{}", called.out);
    called.fails(1, "error: no test applies rule lower::add_zero (lower/rules/simplify.isle:");
    assert!(!called.err.contains("halu::int_mad"), "{}", called.err);
}

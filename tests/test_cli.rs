//! `halfbyte test` as people call it.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::{Called, halfbyte, halfbyte_on};

/// A product and a sum, with a place for what is expected beside the sum and below.
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
        ("; rule: int_add3", "", "rule `int_add3` is not taken"),
        ("; no rule: int_mad", "", "rule `int_mad` is taken"),
        ("; check: IMAD", "; never: LDG\n", "`LDG` is in the output"),
        ("", ";= exit\n", "the output differs from here on"),
    ] {
        let called = on(&[HEADER, &test("k", beside, below)].concat());
        assert!(called.out.contains(&format!("@k: {message}\n0 passed, 1 failed\n")), "{}", called.out);
        called.fails(1, message);
    }
}

/// A rule that is not taken is explained.
#[test]
fn it_is_said_why_a_rule_is_not_taken() {
    let called = on(&[HEADER, &test("k", "", "; rule: pair_add\n")].concat());
    called.fails(1, "wanted $I64, found i32");
    let called = on(&[HEADER, &test("k", "", "; rule: half_fmin\n")].concat());
    called.fails(1, "no op is what isel/rules/halu/half.isle:");
    let called = on(&[HEADER, &test("k", "", "; rule: int_add3\n")].concat());
    called.fails(1, "wanted (Add $I32 a b), found `%m = mul.i32 %a, %v`");
}

#[test]
fn what_a_target_refuses_is_tested_and_is_else_a_failure() {
    let kernel = test("k", "", "").replace("mul.i32 %a, %v", "atomic_add %a, %y[%v]");
    let refused = format!(
        "; test: refuse vp1\n{kernel}; check: atomic_add %a, %y[%v]\n; next: work items that share vectors do not meet\n"
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
    // The check that fails still does.
    called.fails(1, "`mull.i32` is not in the output");
    assert!(called.out.contains("rewritten ") && called.out.ends_with("2 passed, 1 failed\n"), "{}", called.out);
    let blessed = std::fs::read_to_string(&file).unwrap();
    assert!(blessed.contains("; check: mull.i32") && !blessed.contains("stale"), "{blessed}");
    assert_eq!(blessed.matches(";= kernel @two(").count(), 1, "{blessed}");
    assert_eq!(blessed.matches(";= kernel @three(").count(), 1, "{blessed}");
    let plain = |text: &str| text.lines().filter(|line| !line.starts_with(";=")).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(&blessed), plain(&text));
    // Once right, nothing is written.
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
    called.fails(1, "nothing says what @k is tested for");
}

#[test]
fn wrong_calls_are_told_from_wrong_tests() {
    halfbyte(&["test"]).fails(2, "required");
    halfbyte(&["test", "no/such.hb"]).fails(2, "no/such.hb");
    halfbyte(&["test", "--bless", "-"]).fails(2, "standard input cannot be rewritten");
    let (_folder, path) = folder(&[]);
    halfbyte(&["test", &path.display().to_string()]).fails(1, "there is no *.hb in this folder");
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
    called.fails(1, "error: no test takes rule lower::add_zero (lower/rules/simplify.isle:");
    assert!(!called.err.contains("halu::int_mad"), "{}", called.err);
}

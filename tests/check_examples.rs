//! Tests that the examples pass `check`, and that `check` compares every expected result.

use std::fs;
use std::path::Path;

use halfbyte::launch::Engine;
use halfbyte_testkit::check::check;

use crate::common::{halfbyte, root};

#[test]
fn check_says_one_line_a_file_and_the_count() {
    let called = halfbyte(&["check", "examples"]);
    let lines: Vec<&str> = called.output().lines().collect();
    let (last, files) = lines.split_last().unwrap();
    assert!(files.iter().all(|line| line.starts_with("ok ") && line.contains(" on ir, ")), "{files:#?}");
    let known: Vec<&&str> =
        files.iter().filter(|line| !line.contains("/baseline/") && !line.contains("/simd_in_a_word/")).collect();
    assert!(known.len() >= 45, "{known:#?}");
    assert!(known.iter().filter(|line| line.contains(" on ir, halu, ptx, vp1")).count() >= 20, "{known:#?}");
    assert_eq!(*last, format!("{} passed, 0 failed", files.len()));
}

/// The kernels of the text tests also give the results of the evaluator on all engines.
#[test]
fn text_tests_run() {
    let called = halfbyte(&["check", "tests/files"]);
    let lines: Vec<&str> = called.output().lines().collect();
    assert!(lines.iter().filter(|line| line.contains("on ir, halu")).count() >= 4, "{lines:#?}");
}

/// Regression tests: launches that gave wrong results in the past.
#[test]
fn launches_that_were_wrong_are_right() {
    for engine in ["interp", "jit"] {
        let called = halfbyte(&["check", "tests/regressions/runs", "--engine", engine]);
        assert_eq!(called.output().lines().last(), Some("1 passed, 0 failed"), "{engine}");
    }
}

/// `check` fails if any expected result in a run line of an example is changed.
#[test]
fn every_stated_result_is_compared() {
    let examples = root().join("examples");
    let folders = [examples.join("baseline"), examples.join("simd_in_a_word"), examples];
    let changed: usize = folders.iter().map(|folder| change_stated_results(folder)).sum();
    assert!(changed >= 150, "{changed}");
}

/// Changes each expected result in the files of a folder, one at a time, and asserts that `check`
/// fails. Returns the number of results.
fn change_stated_results(folder: &Path) -> usize {
    let mut changed = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hb") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // An expected result that is read from a file has no digits in the run line.
        let is_launch = |line: &str| line.starts_with("; run:") || line.starts_with("; then:");
        let stated =
            |line: &str| is_launch(line) && line.split_once("->").is_some_and(|(_, results)| !results.contains('@'));
        for (number, line) in text.lines().enumerate().filter(|(_, line)| stated(line)) {
            let (before, last) = line.rsplit_once(", ").unwrap();
            // Only the last digit is changed, so that the type can still hold the number.
            let place = last.rfind(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let other = |digit: &str| match last.contains("nan") {
                true => last.replace("nan", "-0.25"),
                false => format!("{}{digit}{}", &last[..place], &last[place + 1..]),
            };
            let other = if other("1") == last { other("2") } else { other("1") };
            let wrong = format!("{before}, {other}");
            assert_ne!(wrong, line);
            // Removes all run lines except this launch and the launches before it on the same buffers.
            let first = text.lines().take(number + 1).collect::<Vec<_>>();
            let first = first.iter().rposition(|line| line.starts_with("; run:")).unwrap();
            let kept = |(n, old): (usize, &str)| match n == number {
                true => Some(format!("{wrong}\n")),
                false => (!is_launch(old) || (first..number).contains(&n)).then(|| format!("{old}\n")),
            };
            let text: String = text.lines().enumerate().filter_map(kept).collect();
            let outcome = check("changed.hb", &text, folder, &Engine::ALL);
            let report = outcome.failures.unwrap().to_string();
            assert!(report.contains("by the run line, found"), "{wrong}\n{report}");
            changed += 1;
        }
    }
    changed
}

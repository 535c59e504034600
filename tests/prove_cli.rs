//! Tests of the command `prove`.

use crate::common::halfbyte;

/// Returns the number of cases in the last line of the output.
fn cases(output: &str) -> u64 {
    let verdict = output.lines().last().unwrap();
    let (_, cases) = verdict.split_once(": ").unwrap();
    cases.split(' ').next().unwrap().replace(',', "").parse().unwrap()
}

#[test]
fn what_was_run_stands_in_a_table() {
    let called = halfbyte(&["prove", "assembly::undefined", "F2F.F32"]);
    let lines: Vec<&str> = called.output().lines().collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].contains("subject") && lines[0].contains("instances") && lines[0].contains("cases"));
    assert!(lines[1].starts_with("ok     half::F2F.F32 of every half") && lines[1].contains("1,048,576"));
    assert!(lines[2].starts_with("ok     assembly::undefined bits and values"));
    assert!(lines[3].starts_with("shard 1/1 with seed 0: ") && lines[3].ends_with("0 of 2 subjects failed"));
}

#[test]
fn shards_add_up_whatever_the_threads() {
    let whole = cases(halfbyte(&["prove", "assembly::undefined", "--threads", "1"]).output());
    let shard = |shard| cases(halfbyte(&["prove", "assembly::undefined", "--shard", shard, "--threads", "3"]).output());
    assert_eq!(shard("1/3") + shard("2/3") + shard("3/3"), whole);
    assert!(whole > 5000);
}

#[test]
fn bad_calls_are_refused() {
    halfbyte(&["prove", "no such subject"]).fails(2, "no subject has no such subject in its name");
    halfbyte(&["prove", "--shard", "3/2"]).fails(2, "expected k/n with 1 <= k <= n");
    halfbyte(&["prove", "--threads", "x"]).fails(2, "--threads");
}

//! Tests of the command `random`.

use std::fs::write;
use std::path::Path;

use crate::common::halfbyte;

/// Returns the number in the line of the summary that begins with `name`.
fn count(output: &str, name: &str) -> u64 {
    let line = output.lines().find(|line| line.starts_with(name)).unwrap();
    let number = line.strip_prefix(name).unwrap().split_whitespace().next().unwrap();
    number.replace(',', "").parse().unwrap()
}

#[test]
fn what_was_run_is_summed_up() {
    let called = halfbyte(&["random", "--count", "10", "--seed", "3"]);
    let output = called.output();
    assert_eq!(count(output, "kernels"), 10);
    assert!(count(output, "on halu") >= 5 && count(output, "launches") >= 20, "{output}");
    assert_eq!(count(output, "differences"), 0);
    let one = halfbyte(&["random", "--count", "10", "--seed", "3", "--target", "vp1", "--engine", "interp"]);
    assert_eq!(count(one.output(), "on vp1"), count(output, "on vp1"));
    assert!(!one.output().contains("on halu"));
}

#[test]
fn the_folder_is_made_before_any_kernel_runs() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("made").join("here");
    let out = |path: &Path| halfbyte(&["random", "--count", "1", "--out", path.to_str().unwrap()]);
    out(&inner).output();
    assert!(inner.is_dir());
    let file = folder.path().join("file");
    write(&file, "").unwrap();
    out(&file).fails(2, file.to_str().unwrap());
    out(&file.join("inner")).fails(2, file.to_str().unwrap());
}

#[test]
fn kernels_depend_on_seed_and_number_alone() {
    let printed = |args: &[&str]| halfbyte(&[&["random", "--print"], args].concat()).output().to_string();
    let all = printed(&["--seed", "9", "--count", "4"]);
    let last = printed(&["--seed", "9", "--first", "3", "--count", "1"]);
    assert!(last.starts_with("kernel @random(") && all.ends_with(&last));
    let even = printed(&["--seed", "9", "--count", "4", "--shard", "1/2"]);
    assert!(all.starts_with(even.split_inclusive("\n}\n").next().unwrap()));
    assert_ne!(printed(&["--seed", "10", "--count", "4"]), all);
}

#[test]
fn bad_calls_are_refused() {
    halfbyte(&["random", "--shard", "0/2"]).fails(2, "expected k/n with 1 <= k <= n");
    halfbyte(&["random", "--threads", "0"]).fails(2, "--threads");
    halfbyte(&["random", "--target", "gpu"]).fails(2, "--target");
}

#[test]
fn programs_of_words_are_summed_up() {
    let called = halfbyte(&["random", "--words", "--count", "10", "--seed", "3"]);
    let output = called.output();
    assert_eq!(count(output, "programs"), 20);
    assert!(count(output, "to the end") + count(output, "trapping") >= 15, "{output}");
    assert_eq!(count(output, "differences"), 0);
    let printed = halfbyte(&["random", "--words", "--count", "1", "--target", "halu", "--print"]);
    assert!(printed.output().contains("EXIT ;"));
    halfbyte(&["random", "--words", "--target", "ptx"]).fails(2, "the target must be halu or vp1");
    halfbyte(&["random", "--words", "--engine", "jit"]).fails(2, "--engine");
}

#[test]
fn kernels_that_access_memory_agree_on_every_route() {
    let count = std::env::var("HALFBYTE_MEMORY_KERNELS").unwrap_or_else(|_| "120".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let called =
        halfbyte(&["random", "--memory", "--count", &count, "--seed", "5", "--out", folder.path().to_str().unwrap()]);
    let (output, kernels) = (called.output(), count.parse::<u64>().unwrap());
    assert_eq!(self::count(output, "kernels"), kernels);
    // Nearly all launches end without a trap, on most routes.
    assert!(self::count(output, "to the end") * 10 > kernels * 8, "{output}");
    assert!(self::count(output, "results") > kernels * 4, "{output}");
    assert!(!output.contains("undefined"), "{output}");
    assert_eq!(self::count(output, "differences"), 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Regression test: the liveness analysis of this kernel alternated between two states, so that its
/// translation to native code did not end.
#[test]
fn a_kernel_without_a_fixpoint_of_live_cells_is_translated() {
    let called = halfbyte(&["random", "--memory", "--seed", "777", "--first", "113", "--count", "1"]);
    assert_eq!(self::count(called.output(), "differences"), 0);
}

#[test]
fn kernels_that_access_memory_depend_on_seed_and_number_alone() {
    let printed = |args: &[&str]| halfbyte(&[&["random", "--memory", "--print"], args].concat()).output().to_string();
    let all = printed(&["--seed", "9", "--count", "40"]);
    assert!(all.ends_with(&printed(&["--seed", "9", "--first", "39", "--count", "1"])));
    for word in [
        "cp.async.cg.shared.global",
        "cp.async.ca.shared.global",
        "red.global",
        "red.shared",
        "atom.global",
        "atom.shared",
        "ldmatrix",
        "st.local",
        "ld.const",
        "ld.volatile",
        ".v4.u8",
        ".v2.b64",
        "bar.sync",
        ".nc",
        "cvta.shared",
    ] {
        assert!(all.contains(word), "{word}");
    }
    halfbyte(&["random", "--memory", "--words"]).fails(2, "--words");
    halfbyte(&["random", "--memory", "--engine", "jit"]).fails(2, "--engine");
}

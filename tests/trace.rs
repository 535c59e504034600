//! Tests of the option `run --trace`, which prints the values of one work item in the order in which they are computed.

use std::fs;

use crate::common::{halfbyte, root};

const SUMS: &str = "kernel @sums(%x: in f16x2, %n: i32, %y: out f16x2) {
^entry:
  %i = item_id
  %one = const.i32 1
  %v = load %x[%i]
  br ^loop(%n, %v)
^loop(%k: i32, %s: f16x2):
  %t = fadd.f16x2 %s, %v
  %m = sub.i32 %k, %one
  %c = icmp.gt_s.i32 %m, %one
  br_if %c, ^loop(%m, %t), ^done
^done:
  store %t, %y[%i]
  ret
}
";

fn traced(more: &[&str]) -> crate::common::Called {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sums.hb");
    fs::write(&file, SUMS).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let args = ["--items", "2", "--arg", "x=[[1.0, -0.5], [0.25, 3.0]]", "--arg", "y=zeros(2)"];
    halfbyte(&[&["run", &file], &args[..], more].concat())
}

#[test]
fn iterations_and_accesses_are_shown() {
    let called = traced(&["--target", "ir", "--arg", "n=3", "--trace", "1"]);
    let expected = "\
2:1     ^entry
3:3     %i = 1 (0x00000001)
5:3     %v = [0.25, 3.0] (0x42003400)  from x[1] at 0xd00000000000004
7:1     ^loop
7:1     %k = 3 (0x00000003)
7:1     %s = [0.25, 3.0] (0x42003400)
8:3     %t = [0.5, 6.0] (0x46003800)
9:3     %m = 2 (0x00000002)
10:3    %c = 1
7:1     ^loop
7:1     %k = 2 (0x00000002)
7:1     %s = [0.5, 6.0] (0x46003800)
8:3     %t = [0.75, 9.0] (0x48803a00)
9:3     %m = 1 (0x00000001)
10:3    %c = 0
12:1    ^done
13:3    y[1] = [0.75, 9.0] (0x48803a00)  at 0xd00200000100004
";
    let (trace, result) = called.output().split_once("\n\n").unwrap();
    assert_eq!(format!("{trace}\n"), expected);
    assert!(result.starts_with("y="), "{result}");
}

/// The trace prints integers as signed or unsigned numbers, like the buffers of the call.
#[test]
fn trace_prints_integers_like_the_results() {
    let traced = |more: &[&str]| {
        let args = ["run", "examples/average.hb", "--target", "ir", "--items", "1", "--trace", "0", "--arg", "b=[0]"];
        halfbyte(&[&args[..], more].concat()).output().to_owned()
    };
    let (unsigned, signed) = ("mean[0] = [100, 100, 100, 100] (0x64646464)", "[-56, -56, -56, -56] (0xc8c8c8c8)");
    for more in [&["--arg", "a=[200]"][..], &["--arg", "a=[-56]", "--unsigned"]] {
        let out = traced(more);
        assert!(out.contains("[200, 200, 200, 200] (0xc8c8c8c8)") && out.contains(unsigned), "{out}");
    }
    for more in [&["--arg", "a=[-56]"][..], &["--arg", "a=[200]", "--signed"]] {
        assert!(traced(more).contains(signed));
    }
}

/// The trace contains the values that were computed before a trap.
#[test]
fn a_trap_ends_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sums.hb");
    fs::write(&file, SUMS).unwrap();
    let called = halfbyte(&[
        "run",
        file.to_str().unwrap(),
        "--target",
        "ir",
        "--items",
        "2",
        "--arg",
        "x=[0.0]",
        "--arg",
        "n=1",
        "--arg",
        "y=zeros(2)",
        "--trace",
        "1",
    ]);
    assert_eq!(called.code, 1, "{}", called.err);
    assert_eq!(called.out, "2:1     ^entry\n3:3     %i = 1 (0x00000001)\n\n");
    assert!(called.err.contains("item 1"), "{}", called.err);
}

#[test]
fn calls_that_are_wrong_are_refused() {
    traced(&["--target", "ir", "--arg", "n=1", "--trace", "2"]).fails(2, "--trace 2: the launch has 2 items");
    for target in ["halu", "vp1", "ptx"] {
        traced(&["--target", target, "--arg", "n=1", "--trace", "0"]).fails(2, "use --target ir");
    }
    let axpy = root().join("examples/axpy.hb");
    halfbyte(&["run", axpy.to_str().unwrap(), "--target", "ir", "--items", "1", "--trace", "x"]).fails(2, "--trace");
}

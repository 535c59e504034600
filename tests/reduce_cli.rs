//! Tests of the command `reduce`.

use crate::common::{halfbyte, halfbyte_on};

/// A time limit of zero makes every case fail.
#[test]
fn a_failure_is_made_small_and_written_for_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("less.hb");
    let path = path.to_str().unwrap();
    let called = halfbyte(&["reduce", "examples/axpy.hb", "--patience", "0", "-o", path]);
    assert_eq!(called.output(), "");
    assert!(called.err.contains(" of ") && called.err.contains("kernels tried in"), "{}", called.err);
    let text = std::fs::read_to_string(path).unwrap();
    let expected =
        "; on halu: check does not end within 0.0 s\nkernel @axpy() {\n^entry:\n  ret\n}\n; run: halu: @axpy items=0\n";
    assert_eq!(text, expected);
    assert!(halfbyte(&["check", path]).output().contains("1 passed, 0 failed"));
}

#[test]
fn where_nothing_fails_there_is_nothing_to_reduce() {
    let called = halfbyte(&["reduce", "examples/axpy.hb"]);
    called.fails(1, "examples/axpy.hb: there is nothing to reduce: on halu");
    called.fails(1, "machine code agrees with ir");
    assert!(!called.err.contains("refuse") && !called.err.contains("limit"), "{}", called.err);
    assert_eq!(called.out, "");
    // A trap of the kernel itself is not a failure of the target.
    let trap = b"kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %v = load %x[9]\n  store %v, %y\n  ret\n}\n; run: halu: @k items=1 x=[1] y=zeros(1)\n";
    halfbyte_on(&["reduce", "-"], trap).fails(1, "there is nothing to reduce");
    // A refusal is not a failure.
    let refused = b"kernel @k(%y: out i64) {\n^entry:\n  %i = item_id\n  %v = load %y[%i]\n  %r = add.i64 %v, %v\n  store %r, %y[%i]\n  ret\n}\n; run: vp1: @k items=1 y=zeros(1)\n";
    halfbyte_on(&["reduce", "-"], refused).fails(1, "vp1 refuses the kernel; `halfbyte compile` says why");
    // A race or an exceeded limit is not a failure.
    let race = b"kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y\n  ret\n}\n; run: halu: @k items=2 y=zeros(1)\n";
    halfbyte_on(&["reduce", "-"], race).fails(1, "nothing to reduce: the launch itself is invalid: on ir: ");
    let long = b"kernel @k(%y: inout i32) {\n^entry:\n  %i = item_id\n  %v = load %y[%i]\n  %w = add.i32 %v, %v\n  store %w, %y[%i]\n  ret\n}\n; run: halu: @k items=1000000 y=zeros(1000000)\n";
    halfbyte_on(&["reduce", "-", "--max-work", "1000"], long)
        .fails(1, "on halu, a limit is exceeded: more than 1000 instructions");
}

#[test]
fn what_is_no_kernel_file_is_refused() {
    halfbyte_on(&["reduce", "-"], b"kernel @k(").fails(1, "<stdin>:1:");
    halfbyte_on(&["reduce", "-"], b"\xff").fails(1, "this is not UTF-8 text");
    halfbyte(&["reduce", "there-is-none.hb"]).fails(2, "there-is-none.hb");
    let kernel = "kernel @k() {\n^entry:\n  ret\n}\n";
    halfbyte_on(&["reduce", "-"], kernel.as_bytes()).fails(1, "no run line launches a kernel on halu, vp1 or ptx");
    let lines = [
        ("; run: halu: @l items=1\n", "there is no kernel `@l`"),
        ("; run: halu: @k items=x\n", "expected a number of work items"),
        ("; run: halu: @k items=1 a=2\n", "`a` is not a parameter"),
        ("; run: ir: @k items=1\n", "no run line launches a kernel on"),
    ];
    for (line, message) in lines {
        halfbyte_on(&["reduce", "-"], format!("{kernel}{line}").as_bytes()).fails(1, message);
    }
}

#[test]
fn bad_calls_are_refused() {
    halfbyte(&["reduce", "examples/axpy.hb", "--kernel", "bxpy"])
        .fails(2, "has no kernel `@bxpy`; did you mean `@axpy`? It has @axpy");
    halfbyte(&["reduce", "examples/axpy.hb", "--target", "vp1"]).fails(1, "no run line launches a kernel on vp1");
    halfbyte(&["reduce", "examples/axpy.hb", "--target", "gpu"]).fails(2, "--target");
    halfbyte(&["reduce", "examples/axpy.hb", "--time", "soon"]).fails(2, "--time");
    halfbyte(&["reduce"]).fails(2, "<FILE>");
    assert!(halfbyte(&["reduce", "--help"]).output().contains("halfbyte reduce wrong.hb --target vp1"));
}

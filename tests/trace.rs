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

/// A kernel whose threads sum `%tid.x + 1` numbers by calls of a function.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.func (.reg .f32 %s) plus(.reg .f32 %a, .reg .u64 %p)
{
  .reg .f32 %b;
  ld.global.f32 %b, [%p];
  add.rn.f32 %s, %a, %b;
  ret;
}
.visible .entry sums(.param .u64 x)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [x];
  mov.u32 %r0, %tid.x;
  mov.f32 %f0, 0f00000000;
again:
  mad.wide.u32 %d1, %r0, 4, %d0;
  call (%f0), plus, (%f0, %d1);
  setp.eq.s32 %p, %r0, 0;
  @!%p sub.u32 %r0, %r0, 1;
  @!%p bra again;
  @%p st.global.f32 [%d0], %f0;
  ret;
}
";

fn traced_ptx(text: &str, more: &[&str]) -> crate::common::Called {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sums.ptx");
    fs::write(&file, text).unwrap();
    let args = ["--grid", "1", "--block", "2", "--arg", "x=[1.5, 2.0]"];
    halfbyte(&[&["run", file.to_str().unwrap()], &args[..], more].concat())
}

#[test]
fn threads_of_ptx_are_traced() {
    let called = traced_ptx(PTX, &["--target", "ptx", "--trace", "1"]);
    let expected = "\
17:3    ld.param.u64 %d0, [x];                    %d0 = &x+0 (0x0d00000000000000)  from parameter x
18:3    mov.u32 %r0, %tid.x;                      %r0 = 1 (0x00000001)
19:3    mov.f32 %f0, 0f00000000;                  %f0 = 0.0 (0x00000000)
21:3    mad.wide.u32 %d1, %r0, 4, %d0;            %d1 = &x+4 (0x0d00000000000004)
22:3    call (%f0), plus, (%f0, %d1);             calls plus
7:3       ld.global.f32 %b, [%p];                 %b = 2.0 (0x40000000)  from x+4 at 0xd00000000000004
8:3       add.rn.f32 %s, %a, %b;                  %s = 2.0 (0x40000000)
9:3       ret;                                    returns to line 22
22:3    call (%f0), plus, (%f0, %d1);             %f0 = 2.0 (0x40000000)
23:3    setp.eq.s32 %p, %r0, 0;                   %p = 0
24:3    @!%p sub.u32 %r0, %r0, 1;                 %r0 = 0 (0x00000000)
25:3    @!%p bra again;                           goes to line 21: %p = 0
21:3    mad.wide.u32 %d1, %r0, 4, %d0;            %d1 = &x+0 (0x0d00000000000000)
22:3    call (%f0), plus, (%f0, %d1);             calls plus
7:3       ld.global.f32 %b, [%p];                 %b = 1.5 (0x3fc00000)  from x+0 at 0xd00000000000000
8:3       add.rn.f32 %s, %a, %b;                  %s = 3.5 (0x40600000)
9:3       ret;                                    returns to line 22
22:3    call (%f0), plus, (%f0, %d1);             %f0 = 3.5 (0x40600000)
23:3    setp.eq.s32 %p, %r0, 0;                   %p = 1
24:3    @!%p sub.u32 %r0, %r0, 1;                 skipped: %p = 1
25:3    @!%p bra again;                           skipped: %p = 1
26:3    @%p st.global.f32 [%d0], %f0;             x+0 at 0xd00000000000000 = 3.5 (0x40600000)
27:3    ret;                                      ends
";
    let (trace, result) = called.output().split_once("\n\n").unwrap();
    assert_eq!(format!("{trace}\n"), expected);
    assert_eq!(result, "x=[3.5, 2.0]\n");
}

#[test]
fn a_trap_ends_the_trace_of_ptx() {
    let text = PTX.replace("ld.global.f32 %b, [%p]", "ld.global.f32 %b, [%p+8]");
    let called = traced_ptx(&text, &["--target", "ptx", "--trace", "0"]);
    assert_eq!(called.code, 1, "{}", called.err);
    assert!(called.out.trim_end().ends_with("traps"), "{}", called.out);
    assert!(called.err.contains("out of bounds"), "{}", called.err);
}

#[test]
fn wrong_traces_of_ptx_are_refused() {
    traced_ptx(PTX, &["--target", "ptx", "--trace", "2"]).fails(2, "--trace 2: the launch has 2 items");
    traced_ptx(PTX, &["--target", "halu", "--trace", "0"]).fails(2, "use --target ir");
    traced_ptx(PTX, &["--target", "ptx", "--engine", "cuda", "--trace", "0"]).fails(2, "--trace cannot trace a GPU");
}

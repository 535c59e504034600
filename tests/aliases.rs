//! Tests of arguments that are aliases of other arguments: on the command line, in run lines, and in PTX kernels.

use std::fs;

use tempfile::TempDir;

use crate::common::{Called, halfbyte};

/// Kernel that stores y[i] = x[i] + 1, and z[i] = x[i] before that store plus x[i] after it.
pub const KERNEL: &str = "kernel @k(%x: in i32, %y: inout may_alias i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %1 = const.i32 1
  %b = add.i32 %a, %1
  store %b, %y[%i]
  %c = load %x[%i]
  %d = add.i32 %a, %c
  store %d, %z[%i]
  ret
}
";

const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
.reg .b32 %r<6>; .reg .b64 %d<9>;
mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;
ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
add.s64 %d4, %d1, %d0; add.s64 %d5, %d2, %d0;
ld.global.nc.u32 %r1, [%d4]; add.u32 %r2, %r1, 1; st.global.u32 [%d5], %r2;
ret;
}
";

struct File {
    _folder: TempDir,
    path: String,
}

fn file(name: &str, text: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    File { path: path.display().to_string(), _folder: folder }
}

fn run(file: &File, more: &[&str]) -> Called {
    halfbyte(&[&["run", &file.path], more].concat())
}

const ON: [[&str; 4]; 4] = [
    ["--target", "ir", "--engine", "interp"],
    ["--target", "halu", "--engine", "interp"],
    ["--target", "halu", "--engine", "jit"],
    ["--target", "ptx", "--engine", "interp"],
];

#[test]
fn an_argument_is_an_address_in_another() {
    let file = file("k.hb", KERNEL);
    for on in ON {
        let with = |args: &[&str]| {
            let args: Vec<&str> = args.iter().flat_map(|arg| ["--arg", arg]).collect();
            run(&file, &[&on[..], &["--items", "2"], &args].concat()).output().to_owned()
        };
        assert_eq!(with(&["y=[5, 7]", "x=&y"]), "y=[6, 8]\nz=[11, 15]\n", "{on:?}");
        assert_eq!(with(&["x=& y", "y=[5, 7]"]), "y=[6, 8]\nz=[11, 15]\n", "{on:?}");
        // `run` prints the final contents of every argument that the kernel writes.
        assert_eq!(with(&["x=[5, 7, 9]", "y=&x+0"]), "y=[6, 8, 9]\nz=[11, 15]\n", "{on:?}");
        assert_eq!(with(&["x=[5, 7, 0, 0]", "y=&x + 0x8"]), "y=[6, 8]\nz=[10, 14]\n", "{on:?}");
        assert_eq!(with(&["y=[0, 0, 5, 7]", "x=&y+8"]), "y=[6, 8, 5, 7]\nz=[10, 14]\n", "{on:?}");
    }
    // An object records the parameters that are declared with `may_alias`.
    let object = format!("{}.o", file.path);
    halfbyte(&["compile", &file.path, "--target", "halu", "--emit", "obj", "-o", &object]).output();
    let args = ["--items", "2", "--arg", "y=[5, 7]", "--arg", "x=&y", "--arg", "z=zeros(2)"];
    let called = halfbyte(&[&["run", &object, "--target", "halu"], &args[..]].concat());
    assert_eq!(called.output(), "y=[6, 8]\nz=[11, 15]\n");
}

#[test]
fn addresses_that_cannot_be() {
    let file = file("k.hb", &KERNEL.replace("%z: out i32", "%n: i32, %z: out i32"));
    let fails = |args: &[&str], message: &str| {
        let args: Vec<&str> = args.iter().flat_map(|arg| ["--arg", arg]).collect();
        for on in ON {
            let called = run(&file, &[&on[..], &["--items", "2"], &args].concat());
            assert_ne!(called.code, 0);
            assert!(called.err.contains(message), "{message:?} is not in:\n{}", called.err);
            assert!(!called.err.contains("panicked"), "{}", called.err);
        }
    };
    fails(&["n=1", "y=[5, 7]", "x=&w"], "`w` is not a parameter");
    fails(&["n=1", "y=[5, 7]", "x=&n"], "`n` is not a buffer that `x` can alias");
    fails(&["n=1", "y=[5, 7]", "x=&x"], "`x` is not a buffer that `x` can alias");
    fails(&["n=1", "x=&y", "y=&x"], "`y` is not a buffer that `x` can alias");
    fails(&["n=1", "y=[5, 7]", "x=&z"], "`z` is not a buffer that `x` can alias");
    fails(&["n=&y", "y=[5, 7]", "x=[1, 2]"], "`n` is a scalar and cannot be an alias");
    fails(&["n=1", "y=[5, 7]", "x=&y+9"], "`y` has 8 bytes");
    fails(&["n=1", "y=[5, 7]", "x=&y+-4"], "is invalid here");
    fails(&["n=1", "y=[5, 7]", "x=&"], "a buffer's parameter");
    fails(&["n=1", "y=[5, 7]", "x=&y-4"], "unexpected `-`");
    fails(&["n=1", "y=[5, 7]", "x=[&y]"], "unexpected `&`");
    fails(&["n=1", "y=[5, 7]", "x=&y+2"], "multiple of 4");
    fails(&["n=1", "y=[5, 7]", "x=[1, 2]", "z=&x"], "is written without `may_alias`");
}

#[test]
fn run_lines_give_addresses() {
    let lines = "; run: halu, ptx: @k items=2 y=[5, 7] x=&y -> y=[6, 8] z=[11, 15]
; run: halu, ptx: @k items=2 x=[5, 7, 0, 0] y=&x+8 -> y=[6, 8] z=[10, 14]
; run: halu, ptx: @k items=2 x=random(200, 1) y=&x+16
";
    let file = file("k.hb", &format!("{KERNEL}{lines}"));
    assert_eq!(halfbyte(&["check", &file.path]).output().lines().last(), Some("1 passed, 0 failed"));
}

#[test]
fn run_lines_that_give_other_results_fail() {
    let fails = |line: &str, message: &str| {
        let file = file("k.hb", &format!("{KERNEL}{line}\n"));
        halfbyte(&["check", &file.path]).fails(1, message);
    };
    fails("; run: halu: @k items=2 y=[5, 7] x=&y -> y=[6, 8] z=[10, 14]", "z[0]");
    fails("; run: halu: @k items=2 x=[5, 7] y=&x -> y=&x", "an alias cannot be the contents of a buffer");
    // If a launch has a race, its results are not compared.
    fails("; run: halu: @k items=2 x=[5, 7, 9] y=&x+4", "race on ir");
    fails("; run: vp1: @k items=2 y=[5, 7] x=&y", "vp1 cannot do `store.i32`: `%y` may overlap another buffer");
    // A `; then:` line must repeat the aliases of the first launch.
    fails("; run: halu: @k items=2 y=[5, 7] x=&y\n; then: @k items=2", "`x` has no value");
}

#[test]
fn a_text_in_ptx_is_imported_with_pointers_into_one_memory() {
    let file = file("k.ptx", PTX);
    let launch = ["--grid", "1", "--block", "2", "--arg", "x=[5, 7]", "--arg", "y=&x"];
    for on in ON {
        let called = run(&file, &[&on[..], &["--alias"], &launch].concat());
        assert_eq!(called.output(), "y=[6, 8]\n", "{on:?}");
    }
    for on in &ON[..3] {
        run(&file, &[&on[..], &launch].concat()).fails(1, "is written without `may_alias`");
    }
    // A load with `.nc` must not read memory that the kernel may write. With `--contract`, PTX is
    // recompiled even if the kernel has no packed operations.
    let compile = ["compile", &file.path, "--target", "ptx", "--contract"];
    let text = halfbyte(&[&compile[..], &["--alias"]].concat());
    assert!(!text.out.contains(".nc"), "{}", text.out);
    assert!(halfbyte(&compile).out.contains(".nc"));
}

#[test]
fn check_imports_as_it_is_asked_to() {
    let file = file("k.ptx", &format!("{PTX}// run: halu: @k grid=1 block=2 x=[5, 7] y=&x -> y=[6, 8]\n"));
    assert_eq!(halfbyte(&["check", "--alias", &file.path]).output().lines().last(), Some("1 passed, 0 failed"));
    halfbyte(&["check", &file.path]).fails(1, "is written without `may_alias`");
}

#[test]
fn kernels_of_the_ir_say_it_themselves() {
    let file = file("k.hb", KERNEL);
    let message = "--alias is only valid for PTX; in ";
    run(&file, &["--target", "ir", "--alias", "--items", "1"]).fails(2, message);
    halfbyte(&["compile", &file.path, "--target", "halu", "--alias"]).fails(2, message);
}

/// Some random kernels have parameters with `may_alias`.
#[test]
fn drawn_kernels_have_parameters_that_may_alias() {
    let called = halfbyte(&["random", "--print", "--count", "200", "--seed", "3"]);
    let headers = || called.output().lines().filter(|line| line.starts_with("kernel"));
    assert_eq!(headers().count(), 200);
    let may = headers().filter(|line| line.contains("may_alias")).count();
    assert!((5..100).contains(&may), "{may} of 200");
    assert!(headers().any(|line| line.contains(": in may_alias")), "one that is only read");
}

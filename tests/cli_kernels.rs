//! Tests of the commands `check`, `run` and `compile`: their output, messages and exit codes.

use std::fs;

use crate::common::{halfbyte, halfbyte_on};

const RUN: [&str; 9] = ["run", "examples/axpy.hb", "--target", "halu", "--items", "2", "--arg", "a=2.0", "--arg"];

fn run(more: &[&str]) -> crate::common::Called {
    halfbyte(&[&RUN, more].concat())
}

#[test]
fn a_launch_prints_or_writes_its_results() {
    let called = run(&["x=[1.0, 3.0]", "--arg", "y=[1.0, 0.0]"]);
    assert_eq!(called.output(), "y=[[3.0, 3.0], [6.0, 6.0]]\n");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for target in ["ir", "halu"] {
        let npy = path(&format!("{target}.npy"));
        let out = format!("y={npy}");
        let args = [
            "run",
            "examples/axpy.hb",
            "--kernel",
            "@axpy",
            "--target",
            target,
            "--engine",
            "interp",
            "--threads",
            "4",
        ];
        let values = ["--items", "2048", "--arg", "a=0x40003c00", "--arg", "x=@examples/chelsea-f16.npy"];
        let more = ["--arg", "y=zeros:f16x2:2048", "--out", &out];
        let called = halfbyte(&[&args[..], &values, &more].concat());
        assert_eq!(called.output(), "");
    }
    let written = fs::read(path("halu.npy")).unwrap();
    assert_eq!(written, fs::read(path("ir.npy")).unwrap());
    assert_eq!(written.len(), 128 + 4 * 2048);
    let bin = format!("y={}", path("y.bin"));
    run(&["x=[1.0, 3.0]", "--arg", "y=[1.0, 0.0]", "--out", &bin]).output();
    assert_eq!(fs::read(path("y.bin")).unwrap(), [0, 0x42, 0, 0x42, 0, 0x46, 0, 0x46]);
    let again = format!("y=@{}", path("y.bin"));
    assert_eq!(run(&["x=[0, 0]", "--arg", &again]).output(), "y=[[3.0, 3.0], [6.0, 6.0]]\n");
}

#[test]
fn an_object_runs_without_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("axpy.o").display().to_string();
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "obj", "-o", &object]).output();
    let args = ["run", &object, "--target", "halu", "--items", "2", "--arg", "a=2.0", "--arg", "x=[1.0, 3.0]", "--arg"];
    let called = halfbyte(&[&args[..], &["y=[1.0, 0.0]"]].concat());
    assert_eq!(called.output(), "y=[[3.0, 3.0], [6.0, 6.0]]\n");
    halfbyte(&[&args[..], &["y=[1.0]"]].concat()).fails(1, "examples/axpy.hb:7:3");
    let mut bytes = fs::read(&object).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&object, bytes).unwrap();
    halfbyte(&[&args[..], &["y=[1.0, 0.0]"]].concat()).fails(1, "axpy.o");
}

#[test]
fn a_trap_shows_the_text() {
    let called = run(&["x=[1.0]", "--arg", "y=[1.0, 0.0]"]);
    called.fails(1, "trap on halu (interp): @axpy, item 1");
    called.fails(1, "examples/axpy.hb:6:3");
    called.fails(1, "6 |   %xi = load %x[%i]");
    called.fails(1, "LDG");
    assert_eq!(called.out, "");
}

/// Machine code reports the traps of the evaluator, even if machine code splits an access into
/// several accesses. A loop takes as many backward branches as in the source.
#[test]
fn machine_code_traps_like_the_evaluator() {
    let pieces = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %v = load.i8x16 %x[1] align 8\n  \
                  store.i8x16 %v, %y[0] align 4\n  ret\n}\n";
    let store = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %v = load.i8x16 %x[0] align 4\n  \
                 store.i8x16 %v, %y[1] align 8\n  ret\n}\n";
    // Each iteration of the loop takes two backward branches.
    let rounds = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %n = load %x\n  br ^c(%n)\n^a(%p: i32):\n  \
                  %one = const.i32 1\n  %q = sub.i32 %p, %one\n  %zero = const.i32 0\n  \
                  %more = icmp.ne.i32 %q, %zero\n  br_if %more, ^c(%q), ^end\n^b(%r: i32):\n  br ^a(%r)\n\
                  ^c(%s: i32):\n  br ^b(%s)\n^end:\n  ret\n}\n";
    for (text, first, rc, says) in [
        (pieces, "1", 1, "8"),
        (store, "1", 1, "8"),
        (rounds, "524288", 0, ""),
        (rounds, "524289", 1, "more than 1048576 backward branches"),
    ] {
        let x = format!("x=[{first}, 0, 0, 0, 0, 0, 0, 0]");
        for target in ["ir", "halu"] {
            let args = ["run", "-", "--target", target, "--items", "1", "--arg", &x, "--arg", "y=zeros(8)"];
            let called = halfbyte_on(&args, text.as_bytes());
            if rc == 0 {
                called.output();
            } else {
                called.fails(rc, &format!("trap on {target}"));
                called.fails(rc, says);
            }
        }
    }
}

#[test]
fn arguments_that_do_not_fit_are_shown_with_a_mark() {
    run(&["x=[1.0, 3.0"]).fails(2, "arguments of @axpy:2:18");
    run(&["z=[1.0, 3.0]"]).fails(2, "`z` is not a parameter");
    run(&["x=[1.0, 3.0]"]).fails(2, "`y` has no value");
    run(&["x"]).fails(2, "expected NAME=VALUE");
    run(&["a=1"]).fails(2, "`a` is given twice");
    run(&["x=@no/such.npy", "--arg", "y=[1]"]).fails(2, "no/such.npy");
    run(&["x=zeros:f16x2:99999999999999", "--arg", "y=[1]"]).fails(2, "are too many");
    run(&["x=[1]", "--arg", "y=[1]", "--out", "x=o.npy"])
        .fails(2, "`x` is not an out or inout buffer; the out and inout buffers are: y");
    run(&["x=[1]", "--arg", "y=[1]", "--out", "y"]).fails(2, "expected NAME=FILE");
    run(&["x=[1]", "--arg", "y=[1]", "--kernel", "b"]).fails(2, "has no kernel `@b`; it has @axpy");
}

#[test]
fn ptx_says_its_lines_where_asked() {
    let compile = |flags: &[&str]| {
        let args = [&["compile", "examples/axpy.hb", "--target", "ptx"], flags].concat();
        halfbyte(&args).output().to_string()
    };
    let (plain, told) = (compile(&[]), compile(&["-g"]));
    assert!(told.contains("\n.file 1 \"examples/axpy.hb\"\n") && told.contains("    .loc 1 "), "{told}");
    let is_told = |line: &&str| line.starts_with(".file") || line.starts_with("    .loc");
    assert!(told.lines().filter(|line| !is_told(line)).eq(plain.lines()), "{plain}\n{told}");
    assert_eq!(compile(&["--line-info", "--emit", "ptx"]), told);
}

#[test]
fn calls_that_cannot_be_exit_with_2() {
    halfbyte(&[]).fails(2, "Usage");
    halfbyte(&["frob"]).fails(2, "frob");
    halfbyte(&["check"]).fails(2, "PATHS");
    halfbyte(&["check", "no/such/path"]).fails(2, "no/such/path");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "ptx", "--sm", "85"])
        .fails(2, "expected one of 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "ptx", "--emit", "words"])
        .fails(2, "has PTX, not machine code");
    halfbyte(&["run", "examples/axpy.hb", "--target", "vp1", "--engine", "cuda", "--items", "1"])
        .fails(2, "engine `cuda` cannot execute code for target vp1; use `--engine interp`");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "ptx"])
        .fails(2, "target `halu` has machine code, not PTX");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "-g"]).fails(2, "--line-info is only valid for PTX");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "ptx", "-g", "--emit", "obj"]).fails(2, "--line-info");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--passes", "fold,frob"]).fails(2, "frob");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--print-after", "frob"])
        .fails(2, "there is no step `frob`");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "mach", "--stats"]).fails(2, "--stats");
    halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "ir", "--time-passes"])
        .fails(2, "`--emit ir` runs no compiler step");
    halfbyte(&["compile", "examples", "--target", "halu"]).fails(2, "examples");
    halfbyte(&["run", "examples/axpy.hb", "--target", "halu", "--items", "4294967296"]).fails(2, "4294967296");
    halfbyte(&["run", "examples/axpy.hb", "--target", "halu"]).fails(2, "--items");
}

#[test]
fn input_that_is_wrong_exits_with_1_and_shows_every_place() {
    let text = b"kernel @k(%a: i32) {\n^entry:\n  %r = add.i32 %a, %b\n  %s = frob %a\n  ret\n}\n";
    for args in
        [&["check", "-"][..], &["compile", "-", "--target", "halu"], &["run", "-", "--target", "ir", "--items", "1"]]
    {
        let called = halfbyte_on(args, text);
        called.fails(1, "<stdin>:3:20");
        called.fails(1, "3 |   %r = add.i32 %a, %b\n  |                    ^^");
        called.fails(1, "<stdin>:4:8");
    }
    halfbyte_on(&["check", "-"], b"kernel \xff").fails(1, "this is not UTF-8 text");
    halfbyte_on(&["run", "-", "--target", "ir", "--items", "1"], b"").fails(1, "no kernel");
    let deep = "[".repeat(1_000_000);
    halfbyte_on(&["check", "-"], format!("; run: halu: @k items=1 x={deep}").as_bytes()).fails(1, "<stdin>:1:");
    halfbyte_on(&["check", "-"], deep.as_bytes()).fails(1, "<stdin>:1:");
}

#[test]
fn a_folder_without_kernels_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    halfbyte(&["check", &path]).fails(1, "the folder has no *.hb files");
    fs::create_dir(folder.path().join("below")).unwrap();
    let kernel = "kernel @k() {\n^entry:\n  ret\n}\n; run: halu: @k items=1\n";
    fs::write(folder.path().join("below/k.hb"), kernel).unwrap();
    fs::write(folder.path().join("a.hb"), kernel.replace("@k items", "@q items")).unwrap();
    let called = halfbyte(&["check", &path]);
    called.fails(1, "there is no kernel `@q`");
    assert!(called.out.ends_with("1 passed, 1 failed\n"), "{}", called.out);
    let files: Vec<&str> = called.out.lines().collect();
    assert!(files[0].starts_with("FAILED ") && files[0].contains("a.hb"), "{files:#?}");
    assert!(files[1].starts_with("ok ") && files[1].contains("k.hb"), "{files:#?}");
}

#[test]
fn files_without_run_lines_neither_pass_nor_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let kernel = "kernel @k() {\n^entry:\n  ret\n}\n";
    fs::write(folder.path().join("bare.hb"), kernel).unwrap();
    let called = halfbyte(&["check", &path]);
    assert!(
        called.output().ends_with("bare.hb  no run lines\n0 passed, 0 failed, 1 without run lines\n"),
        "{}",
        called.out
    );
    fs::write(folder.path().join("run.hb"), format!("{kernel}; run: halu: @k items=1\n")).unwrap();
    let called = halfbyte(&["check", &path]);
    assert!(called.output().starts_with("-      "), "{}", called.out);
    assert!(called.out.ends_with("\n1 passed, 0 failed, 1 without run lines\n"), "{}", called.out);
    // An invalid file is an error, even if it contains no run lines.
    fs::write(folder.path().join("bare.hb"), "kernel @k() {").unwrap();
    let called = halfbyte(&["check", &path]);
    called.fails(1, "bare.hb:1:");
    assert!(called.out.ends_with("\n1 passed, 1 failed\n"), "{}", called.out);
}

#[test]
fn the_compiler_shows_every_stage() {
    let compile = |emit: &str| {
        let called = halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", emit]);
        called.output().to_owned()
    };
    let ir = compile("ir");
    assert_eq!(halfbyte_on(&["compile", "-", "--target", "halu", "--emit", "ir"], ir.as_bytes()).output(), ir);
    assert!(compile("lowered").contains("ffma.f16x2"));
    assert!(compile("mach").contains("HFMA2"));
    assert!(compile("listing").contains("examples/axpy.hb") || compile("listing").contains("HFMA2"));
    let words = compile("words");
    assert_eq!(halfbyte_on(&["asm", "--target", "halu"], compile("asm").as_bytes()).output(), words);
    let object = |_| {
        let called = halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "obj"]);
        called.output().to_owned()
    };
    assert_eq!(object(1), object(2), "the same text gives the same bytes");
}

#[test]
fn steps_can_be_shown_timed_counted_and_chosen() {
    let args = ["compile", "examples/axpy.hb", "--target", "halu", "-o", "-"];
    let with = |more: &[&str]| halfbyte(&[&args[..], more].concat());
    let all = with(&["--print-after-all"]);
    all.output();
    for step in ["fold", "canon", "gvn", "dce", "legalise", "isel", "regalloc", "layout"] {
        assert!(all.err.contains(&format!("; @axpy after {step}")), "{}", all.err);
        assert!(with(&["--time-passes"]).err.contains(step));
    }
    let one = with(&["--print-after", "isel"]);
    assert_eq!(one.err.matches("; @axpy after").count(), 1, "{}", one.err);
    assert!(with(&["--stats"]).err.contains("@axpy: 6 ops"), "{}", with(&["--stats"]).err);
    let none = with(&["--passes", "", "--print-after-all"]);
    assert!(!none.err.contains("after fold") && none.err.contains("after isel"), "{}", none.err);
    assert_eq!(none.output(), all.output());
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [&["--help"][..], &["check", "--help"], &["run", "--help"], &["--version"]] {
        assert!(!halfbyte(args).output().is_empty());
    }
    assert!(halfbyte(&["--help"]).out.contains("halfbyte check examples"));
}

/// It is no error if the reader of standard output closes the pipe early.
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_halfbyte"))
        .args(["disasm", "--target", "halu"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut stdin, "0x0\n".repeat(10_000).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// If no passes run, instruction selection converts constants that would otherwise have been folded.
#[test]
fn a_constant_is_converted_where_nothing_has_folded_it() {
    let text = "kernel @k(%y: out f64) {\n^entry:\n  %i = item_id\n  %c = const.f32 -3.5e22\n  %d = fcvt.f64 %c\n  \
                store %d, %y[%i]\n  ret\n}\n";
    let called = halfbyte_on(&["compile", "-", "--target", "ptx", "--passes", "", "--emit", "asm"], text.as_bytes());
    assert!(called.output().contains("cvt.f64.f32"), "{}", called.out);
}

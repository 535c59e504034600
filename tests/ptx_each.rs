//! Tests of PTX files with several kernels: if one kernel is refused, the others are still read.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Called, halfbyte};
use crate::json::object;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

const TWICE: &str = ".visible .entry twice(.param .u64 x) {\n.reg .b32 %r<4>; .reg .b64 %d<3>;\nmov.u32 %r0, %tid.x;\n\
    ld.param.u64 %d0, [x]; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;\nld.global.u32 %r1, [%d2]; add.u32 %r2, %r1, %r1;\n\
    st.global.u32 [%d2], %r2;\nret;\n}\n";

/// A kernel with a surface instruction, which is on line 14 if the kernel follows `twice`.
const PAINTS: &str =
    ".visible .entry paints(.param .u64 x) {\n.reg .b32 %r<4>;\nsuld.b.1d.b32.trap {%r0}, [x, {%r1}];\nret;\n}\n";

/// A kernel that can be parsed but not imported, because one load reads a part of the parameter
/// bytes that another load reads.
const PARTS: &str = ".visible .entry parts(.param .u64 x, .param .align 8 .b8 s[16]) {\n.reg .b32 %r<4>; .reg .b64 %d<3>;\n\
    ld.param.u64 %d0, [s];\nld.param.u32 %r0, [s+4];\nld.param.u64 %d1, [x];\nst.global.u32 [%d1], %r0;\nret;\n}\n";

const RUN: &str = "// run: halu: @twice grid=1 block=2 x=[1, 2] -> x=[2, 4]\n";

struct File {
    _folder: TempDir,
    path: String,
}

fn file(parts: &[&str]) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("k.ptx");
    std::fs::write(&path, HEAD.to_owned() + &parts.concat()).unwrap();
    File { path: path.display().to_string(), _folder: folder }
}

impl File {
    fn run(&self, more: &[&str]) -> Called {
        let args = ["run", &self.path, "--grid", "1", "--block", "2", "--arg", "x=[1, 2]"];
        halfbyte(&[&args[..], more].concat())
    }

    fn compile(&self, more: &[&str]) -> Called {
        halfbyte(&[&["compile", &self.path, "--target", "halu"], more].concat())
    }

    fn check(&self, more: &[&str]) -> Called {
        halfbyte(&[&["check", &self.path], more].concat())
    }
}

/// As with ptxas, the `.version` and `.target` of the text must support each of its instructions.
/// The requested target does not matter.
#[test]
fn rejects_instructions_that_version_or_target_lack() {
    let body = "mov.b32 %f0, %r1; tanh.approx.f32 %f0, %f0; mov.b32 %r2, %f0;\nst.global";
    let text = TWICE
        .replace("add.u32 %r2, %r1, %r1;\n", "")
        .replace("st.global", body)
        .replace(".reg .b32", ".reg .f32 %f<1>; .reg .b32");
    let older = |version: &str, target: &str| {
        let mixed = file(&[&text, RUN]);
        let head = HEAD.replace("8.0", version).replace("sm_90", target);
        let whole = std::fs::read_to_string(&mixed.path).unwrap().replace(HEAD, &head);
        std::fs::write(&mixed.path, whole).unwrap();
        mixed
    };
    for (version, target, named) in [
        ("6.5", "sm_75", "`tanh.approx.f32 %f0, %f0;` needs PTX 7.0 and sm_75, but the file is for PTX 6.5 and sm_75"),
        ("6.0", "sm_70", "`tanh.approx.f32 %f0, %f0;` needs PTX 7.0 and sm_75, but the file is for PTX 6.0 and sm_70"),
        ("7.0", "sm_77", "there is no target `sm_77`"),
    ] {
        let lacking = older(version, target);
        for called in [
            lacking.run(&["--target", "ptx"]),
            lacking.run(&["--target", "ir"]),
            lacking.compile(&[]),
            lacking.check(&[]),
        ] {
            called.fails(1, named);
        }
    }
    assert_eq!(older("7.0", "sm_75").run(&["--target", "ir"]).code, 0);
}

#[test]
fn a_kernel_is_run_beside_one_that_is_refused() {
    let mixed = file(&[TWICE, PAINTS]);
    for target in ["ptx", "ir", "halu"] {
        let called = mixed.run(&["--target", target, "--kernel", "twice"]);
        assert_eq!(called.output(), "x=[2, 4]\n", "{target}");
        let called = mixed.run(&["--target", target, "--kernel", "paints"]);
        called.fails(1, "a surface (`suld`) is not supported");
        called.fails(1, "k.ptx:14:1");
        let several = "k.ptx has several kernels; select one with --kernel: twice; refused: paints";
        mixed.run(&["--target", target]).fails(2, several);
        let called = mixed.run(&["--target", target, "--kernel", "thrice"]);
        called.fails(2, "did you mean");
        called.fails(2, "refused: paints");
    }
    // If no kernel of a text is valid, all errors are reported.
    let called = file(&[PAINTS, &PAINTS.replace("paints", "draws")]).run(&["--target", "ptx"]);
    called.fails(1, "k.ptx:6:1");
    called.fails(1, "11:1");
}

#[test]
fn a_kernel_that_is_not_imported_runs_as_it_stands() {
    let mixed = file(&[TWICE, PARTS]);
    let parts = ["--kernel", "parts", "--arg", "s=0"];
    mixed.run(&[&["--target", "ir"], &parts[..]].concat()).fails(1, "k.ptx:15:1");
    mixed.run(&["--target", "ir", "--kernel", "twice"]).output();
    mixed.compile(&["--kernel", "parts"]).fails(1, "k.ptx:15:1");
    mixed.compile(&["--kernel", "twice"]).output();
}

#[test]
fn compiling_gives_all_or_the_one_that_is_named() {
    let mixed = file(&[TWICE, PAINTS]);
    for emit in ["ir", "lowered", "mach", "asm", "words"] {
        let one = mixed.compile(&["--emit", emit, "--kernel", "twice"]);
        assert_eq!(one.output(), file(&[TWICE]).compile(&["--emit", emit]).output(), "{emit}");
        let all = mixed.compile(&["--emit", emit]);
        all.fails(1, "a surface (`suld`) is not supported");
        all.fails(1, "select a supported kernel with `--kernel NAME`: @twice");
        assert_eq!(all.out, "", "{emit}");
        mixed.compile(&["--emit", emit, "--kernel", "paints"]).fails(1, "k.ptx:14:1");
    }
    let found = object("compile", &mixed.compile(&["--json"]));
    assert_eq!(found["diagnostics"][0]["line"], 14);
    assert!(found.get("output").is_none(), "{found:#}");
    mixed.compile(&["--kernel", "other"]).fails(2, "refused: paints");
}

#[test]
fn checking_says_how_far_each_kernel_came() {
    let wrong = "// run: halu: @twice grid=1 block=2 x=[1, 2] -> x=[2, 5]\n";
    let copy = |name: &str| TWICE.replace("twice", name);
    let called =
        file(&[TWICE, PAINTS, &copy("idle"), &copy("other"), RUN, &wrong.replace("twice", "other")]).check(&[]);
    called.fails(1, "a surface (`suld`) is not supported");
    let lines: Vec<&str> = called.out.lines().collect();
    assert!(
        lines[0].starts_with("FAILED ") && lines[0].ends_with("2 errors; 2 launches on ir, halu, ptx"),
        "{}",
        called.out
    );
    assert_eq!(
        lines[1..],
        [
            "       equal   @twice  1 launch",
            "       refused @paints  14:1: a surface (`suld`) is not supported",
            "       read    @idle  no launch",
            "       run     @other  1 launch: 1 run, 0 equal",
            "0 passed, 1 failed",
        ]
    );
    // A failed launch does not count as run.
    let called = file(&[TWICE, &copy("idle"), "// run: halu: @twice grid=1 block=3 x=[1, 2]\n"]).check(&[]);
    assert!(called.out.contains("read    @twice  1 launch: 0 run, 0 equal"), "{}", called.out);
    let called = file(&[TWICE, PAINTS, "// run: ptx: @paints grid=1 block=1 x=[1]\n"]).check(&[]);
    called.fails(1, "`@paints` is refused and cannot be run");
    // For a file with one kernel, `check` prints only the line of the file, unless the kernel is refused.
    let called = file(&[TWICE, RUN]).check(&[]);
    assert!(called.output().ends_with("1 launch on ir, halu, ptx\n1 passed, 0 failed\n"), "{}", called.out);
    let called = file(&[PAINTS]).check(&[]);
    assert!(called.out.contains("       refused @paints  6:1: a surface"), "{}", called.out);
}

#[test]
fn a_refusal_can_be_expected() {
    let paints = PAINTS.replace("{%r1}];", "{%r1}]; // refuse: ptx: surface");
    let called = file(&[TWICE, &paints, RUN]).check(&[]);
    assert!(called.output().contains("refused @paints  as expected, 14:1: a surface"), "{}", called.out);
    assert!(called.output().contains("1 launch on ir, halu, ptx; 1 refusal"), "{}", called.out);
    let other = paints.replace("ptx: surface", "ptx: a texture");
    file(&[TWICE, &other, RUN]).check(&[]).fails(1, "does not refuse this with a message that contains `a texture`");
    // A `refuse:` comment inside an accepted kernel applies to that kernel.
    let twice = TWICE.replace("mov.u32 %r0, %tid.x;", "mov.u32 %r0, %tid.x; // refuse: ptx: surface");
    file(&[&paints, &twice, RUN]).check(&[]).fails(1, "does not refuse this with a message that contains `surface`");
    let parts = PARTS.replace("[s+4];", "[s+4]; // refuse: halu: s");
    file(&[TWICE, &parts, RUN]).check(&[]).output();
}

#[test]
fn check_reports_each_kernel_in_json() {
    let mixed = file(&[TWICE, PAINTS, RUN]);
    let found = object("check", &mixed.check(&["--json"]));
    let kernels = found["files"][0]["kernels"].as_array().unwrap();
    let of = |kernel: &Value, member: &str| kernel[member].clone();
    let states: Vec<Value> = kernels.iter().map(|kernel| json!([of(kernel, "kernel"), of(kernel, "state")])).collect();
    assert_eq!(states, [json!(["twice", "equal"]), json!(["paints", "refused"])]);
    assert_eq!((&kernels[0]["launches"], &kernels[0]["equal"]), (&json!(1), &json!(1)));
    assert_eq!((&kernels[1]["refused"][0]["line"], &kernels[1]["as_expected"]), (&json!(14), &json!(false)));
    let results = found["files"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["verdict"] == "passed"), "{found:#}");
    let report = mixed.check(&["--junit", "-"]);
    assert_eq!(report.code, 1);
    assert!(report.out.contains("@paints is read") && report.out.contains("errors=\"1\""), "{}", report.out);
    assert!(report.out.contains("@twice on halu (interp)"), "{}", report.out);
}

#[test]
fn what_no_assembler_takes_is_refused_whole() {
    let wrong = file(&[TWICE, &TWICE.replace("twice", "wrong").replace("add.u32 %r2", "add.u32 %r9"), RUN]);
    wrong.run(&["--target", "ptx", "--kernel", "twice"]).fails(1, "k.ptx:");
    wrong.compile(&["--kernel", "twice"]).fails(1, "k.ptx:");
    let called = wrong.check(&[]);
    called.fails(1, "k.ptx:");
    assert!(!called.out.contains("@twice"), "{}", called.out);
}

#[test]
fn a_launch_says_that_it_approximates() {
    let text = |inst: &str| TWICE.replace("add.u32 %r2, %r1, %r1;", inst);
    let sine =
        file(&[&text("sin.approx.f32 %r2, %r1;"), &RUN.replace("[1, 2] -> x=[2, 4]", "[0x00000000, 0x7f800000]")]);
    let quotient = file(&[&text("div.full.f32 %r2, %r1, %r1;")]);
    for target in ["ptx", "ir", "halu"] {
        let called = sine.run(&["--target", target]);
        assert!(called.output().starts_with("x=["), "{}", called.out);
        assert!(called.err.starts_with("note: ") && called.err.contains("GPUs approximate"), "{}", called.err);
        let called = quotient.run(&["--target", target, "--json"]);
        assert_eq!(object("run", &called)["approximate"], true, "{target}");
        let called = file(&[TWICE]).run(&["--target", target]);
        assert_eq!(called.err, "", "{target}");
        let called = file(&[TWICE]).run(&["--target", target, "--json"]);
        assert!(object("run", &called).get("approximate").is_none(), "{}", called.out);
    }
    assert_eq!(sine.run(&["--target", "ir", "--quiet"]).err, "");
    let called = sine.check(&[]);
    assert!(called.output().contains("; approximate on a GPU: @twice\n"), "{}", called.out);
    let found = object("check", &sine.check(&["--json"]));
    assert_eq!(found["files"][0]["kernels"][0]["approximate"], true);
}

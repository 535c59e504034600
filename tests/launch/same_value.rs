//! Tests of same-value races, which are races of two weak stores of the same value by the same
//! instruction. By default, a same-value race is a warning; with `--races=strict`, it is an error.

use serde_json::{Value, json};

use super::answers;
use crate::common::halfbyte;

/// Options of `launch` that select three forms of execution. The tests add the option `--races`.
const WAYS: [&[&str]; 3] = [&["--via", "ptx"], &["--via", "ir"], &["--via", "halu", "--engine", "jit"]];

/// Returns a PTX kernel in which `%a` is the address of a word in shared or global memory. `body`
/// follows the computation of the address.
fn text(space: &str, body: &str) -> String {
    let address = match space {
        "shared" => "mov.u64 %a, s;",
        _ => "ld.param.u64 %a, [x];",
    };
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64
.shared .align 16 .b8 s[64];
.func put(.param .u64 at, .param .u32 value) {{
.reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [at]; ld.param.u32 %r, [value]; st.{space}.u32 [%d], %r; ret;
}}
.visible .entry k(.param .u64 x, .param .u64 o) {{
.reg .pred %p<9>; .reg .b32 %r<16>, %t; .reg .b64 %a, %o, %d<4>;
mov.u32 %t, %tid.x; {address} ld.param.u64 %o, [o]; mul.wide.u32 %d1, %t, 4; add.u64 %d1, %o, %d1;
setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 40;
{body}
ret;
}}
"
    )
    .replace("SPACE", space)
}

fn launch(space: &str, body: &str) -> String {
    let args = json!([{"zeros": 64}, {"zeros": 256}]);
    json!({"ptx": text(space, body), "grid": [1, 1, 1], "block": [64, 1, 1], "args": args}).to_string()
}

/// Returns the answer of `launch` for each form of execution in [`WAYS`].
fn each(races: &str, space: &str, body: &str) -> Vec<Value> {
    WAYS.iter().map(|way| answers(&[way, &[races][..]].concat(), &[launch(space, body)]).remove(0)).collect()
}

/// Kernel bodies in which every race is a same-value race.
const SAME: &[&str] = &[
    "st.SPACE.u32 [%a], 7; bar.sync 0; ld.SPACE.u32 %r1, [%a]; st.global.u32 [%d1], %r1;",
    // All items store 3, then 2, then 1. A barrier follows each store.
    "mov.u32 %r2, 3; L: st.SPACE.u32 [%a], %r2; bar.sync 0; sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra L;",
    // Only items 0 and 40 store.
    "or.pred %p2, %p0, %p1; @%p2 st.SPACE.u32 [%a], 7;",
    // All items store, read the word after a barrier, and store again after another barrier.
    "st.SPACE.u32 [%a], 1; bar.sync 0; ld.SPACE.u32 %r1, [%a]; bar.sync 0; st.SPACE.u32 [%a], 0;",
    "mov.u32 %r1, 5; st.SPACE.v2.u32 [%a], {%r1, %r1};",
    // Two calls reach the same store instruction in a function.
    "@!%p0 bra ELSE; {.param .b64 p; .param .b32 q; st.param.b64 [p], %a; st.param.b32 [q], 4; call put, (p, q);} bra END;
     ELSE: @!%p1 bra END; {.param .b64 p; .param .b32 q; st.param.b64 [p], %a; st.param.b32 [q], 4; call put, (p, q);} END:",
];

/// Kernel bodies with a race that is an error.
const ERRORS: &[&str] = &[
    // Stores of different values, stores by different instructions, and stores that race with
    // reads.
    "st.SPACE.u32 [%a], %t;",
    "or.pred %p2, %p0, %p1; @!%p2 bra E; selp.u32 %r1, 7, 8, %p0; st.SPACE.u32 [%a], %r1; E:",
    "@%p0 st.SPACE.u32 [%a], 7; @%p1 st.SPACE.u32 [%a], 7;",
    "@%p0 st.SPACE.u32 [%a], 7; @!%p1 bra E; st.SPACE.u32 [%a+0], 7; E:",
    "st.SPACE.u32 [%a], 7; ld.SPACE.u32 %r1, [%a]; st.global.u32 [%d1], %r1;",
    "@%p1 st.SPACE.u32 [%a], 7; bar.warp.sync -1; @%p1 ld.SPACE.u32 %r1, [%a]; @%p0 st.SPACE.u32 [%a], 7;",
    // Item 0 stores 7 twice. The other items store 8 and then 7.
    "mov.u32 %r2, 2; L: add.u32 %r1, %r2, 6; @%p0 mov.u32 %r1, 7; st.SPACE.u32 [%a], %r1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra L;",
    // Item 0 reads the word before its store, which races with the store of item 40.
    "@!%p0 bra W; st.SPACE.u32 [%a], 1; ld.SPACE.u32 %r1, [%a]; W: or.pred %p2, %p0, %p1; @!%p2 bra E; st.SPACE.u32 [%a], 7; E:",
    // A strong store that races with a weak store, and two stores of different sizes.
    "@%p0 st.volatile.SPACE.u32 [%a], 7; @!%p1 bra E; st.SPACE.u32 [%a], 7; E:",
    "or.pred %p2, %p0, %p1; @!%p2 bra E; st.SPACE.u32 [%a], 257; E: @%p1 st.SPACE.u8 [%a+1], 1;",
];

#[test]
fn stores_of_the_same_value_are_a_warning() {
    for space in ["shared", "global"] {
        for body in SAME {
            let strict = each("--races=strict", space, body);
            for ((answer, strict), way) in each("--races", space, body).iter().zip(&strict).zip(WAYS) {
                assert!(answer["buffers"].is_array(), "{way:?}: {answer}\n{body}");
                let warnings = answer["warnings"].as_array().unwrap_or_else(|| panic!("{way:?}: {answer}\n{body}"));
                assert!(!warnings.is_empty(), "{way:?}\n{body}");
                let kind = format!("race-{space}");
                for race in warnings.iter().chain([&strict["error"]]) {
                    assert_eq!(race["kind"], *kind, "{way:?}: {strict}\n{body}");
                    assert_eq!(race["line"], race["other"]["line"], "{way:?}: {race}\n{body}");
                    assert_ne!(race["item"], race["other"]["item"], "{way:?}: {race}\n{body}");
                    assert!(race["message"].as_str().unwrap().contains("with the same value"), "{way:?}: {race}");
                }
            }
            // Without `--races`, only the evaluator gives a warning.
            let plain = answers(&["--via", "ptx"], &[launch(space, body)]).remove(0);
            assert!(plain["buffers"].is_array() && plain["warnings"].is_null(), "{plain}\n{body}");
        }
    }
}

#[test]
fn other_races_are_errors() {
    for body in ERRORS {
        for space in ["shared", "global"] {
            for races in ["--races", "--races=strict"] {
                for (answer, way) in each(races, space, body).iter().zip(WAYS) {
                    assert_eq!(answer["error"]["kind"], format!("race-{space}"), "{way:?}: {answer}\n{body}");
                    assert!(answer["error"]["other"]["line"].is_u64(), "{way:?}: {answer}\n{body}");
                }
            }
        }
    }
}

#[test]
fn each_instruction_gives_one_warning() {
    let body = "st.SPACE.u32 [%a], 7; st.SPACE.u32 [%a+8], 7; bar.sync 0; st.SPACE.u32 [%a], 7;";
    for answer in each("--races", "shared", body) {
        assert_eq!(answer["warnings"].as_array().unwrap().len(), 3, "{answer}");
    }
    halfbyte(&["launch", "--json", "--races=on"]).fails(2, "[possible values: strict]");
}

/// A race error names both accesses, with the source lines that `.loc` directives give.
#[test]
fn race_errors_name_both_source_lines() {
    let body = "\n.loc 1 30 3\n@%p0 st.SPACE.u32 [%a], 7;
.loc 2 12 5, function_name $L0, inlined_at 1 30 3\n@%p1 ld.SPACE.u32 %r1, [%a];\n@%p1 st.global.u32 [%d1], %r1;\n";
    let text = text("global", body) + ".file 1 \"a.py\"\n.file 2 \"lib.py\"\n";
    let args = json!([{"zeros": 64}, {"zeros": 256}]);
    let line = json!({"ptx": text, "grid": [1, 1, 1], "block": [64, 1, 1], "args": args}).to_string();
    for way in WAYS {
        let error = &answers(&[way, &["--races"]].concat(), std::slice::from_ref(&line)).remove(0)["error"];
        let (own, other) = (error["source"].as_str(), error["other"]["source"].as_str());
        assert_eq!((own, other), (Some("lib.py:12, inlined at a.py:30"), Some("a.py:30")), "{way:?}: {error}");
        assert_eq!(error["other"]["item"], json!([[0, 0, 0], [0, 0, 0]]), "{way:?}: {error}");
        let [line, other] = [&error["line"], &error["other"]["line"]].map(|line| line.as_u64().unwrap());
        assert_eq!(line, other + 2, "{way:?}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    std::fs::write(&file, &text).unwrap();
    let file = file.to_str().unwrap();
    let args = ["--arg", "x=zeros:i32:16", "--arg", "o=zeros:i32:64", "--races"];
    for target in ["ptx", "ir", "halu"] {
        let call = ["run", file, "--grid", "1", "--block", "64", "--target", target];
        let called = halfbyte(&[&call[..], &args].concat());
        let note = "is from lib.py:12, inlined at a.py:30; line";
        assert!(called.code == 1 && called.err.contains(note), "{target}: {}", called.err);
        assert!(called.err.trim_end().contains("is from a.py:30"), "{target}: {}", called.err);
    }
}

/// `run` and `check` print the warning of a same-value race, and the result of the launch.
#[test]
fn commands_warn_and_give_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (ptx, ir) = (path("k.ptx"), path("k.hb"));
    let run = "// run: halu: @k grid=1 block=64 x=zeros(16) o=zeros(64) -> o=zeros(64)\n";
    std::fs::write(&ptx, text("global", "st.SPACE.u32 [%a], 7; st.global.u32 [%d1], 0;") + run).unwrap();
    let kernel = "kernel @k(%y: out i32) {\n^entry:\n  %one = const.i32 1\n  store %one, %y[%one]\n  ret\n}\n";
    std::fs::write(&ir, format!("{kernel}; run: halu: @k items=3 y=zeros(2) -> y=[0, 1]\n")).unwrap();
    let of_ptx = ["run", &ptx, "--grid", "1", "--block", "64", "--arg", "x=zeros:i32:16", "--arg", "o=zeros:i32:64"];
    let of_ir = ["run", &ir, "--items", "3", "--arg", "y=zeros(2)"];
    for (call, target, result) in [
        (&of_ptx[..], "ptx", "x=[7, 0,"),
        (&of_ptx[..], "ir", "x=[7, 0,"),
        (&of_ptx[..], "halu", "x=[7, 0,"),
        (&of_ir[..], "ir", "y=[0, 1]"),
        (&of_ir[..], "halu", "y=[0, 1]"),
    ] {
        let call = [call, &["--target", target]].concat();
        let called = halfbyte(&[&call[..], &["--races"]].concat());
        assert!(called.output().starts_with(result), "{target}: {}", called.out);
        let shown = &called.err;
        assert_eq!(shown.matches("warning: ").count(), 1, "{target}: {shown}");
        assert!(shown.contains("with the same value") && !shown.contains("trap"), "{target}: {shown}");
        let quiet = halfbyte(&[&call[..], &["--races", "--quiet"]].concat());
        assert_eq!((quiet.code, quiet.err.as_str()), (0, ""), "{target}");
        halfbyte(&[&call[..], &["--races=strict"]].concat()).fails(1, "with the same value");
        let answer = halfbyte(&[&call[..], &["--races", "--json"]].concat());
        let answer: Value = serde_json::from_str(answer.output()).unwrap();
        assert_eq!((&answer["ok"], &answer["diagnostics"][0]["severity"]), (&json!(true), &json!("warning")));
    }
    for file in [&ptx, &ir] {
        for races in [&["--races"][..], &[]] {
            let called = halfbyte(&[&["check", file][..], races].concat());
            assert!(called.output().contains("1 passed, 0 failed"), "{}", called.out);
            assert!(called.err.contains("warning: ") && called.err.contains("in this launch"), "{}", called.err);
        }
        halfbyte(&["check", file, "--races=strict"]).fails(1, "with the same value");
    }
    halfbyte(&["run", &ir, "--races=lax", "--target", "ir", "--items", "1"]).fails(2, "possible values: strict");
}

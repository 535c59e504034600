//! Tests of the command `halfbyte corpus`: the outcome of each launch, and the reason for the outcome.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{halfbyte, halfbyte_on};
use crate::json::object;

/// A PTX kernel that adds 1 to each 32-bit word.
const ADD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
    .reg .b32 %r<4>;\n.reg .b64 %q<4>;\n\
    ld.param.u64 %q0, [x];\nld.param.u64 %q1, [y];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %q2, %r0, 4;\n\
    add.u64 %q0, %q0, %q2;\nadd.u64 %q1, %q1, %q2;\nld.global.u32 %r1, [%q0];\nadd.u32 %r1, %r1, 1;\n\
    st.global.u32 [%q1], %r1;\nret;\n}\n";

/// Returns a launch of two threads on the 32-bit words 1 and 2, without expected results.
fn launch(text: &str) -> Value {
    json!({
        "kernel": "add", "ptx": text, "grid": [1, 1, 1], "block": [2, 1, 1],
        "args": [{ "buffer": "0100000002000000" }, { "zeros": 8 }],
    })
}

/// Returns the launch with additional members, as one line of JSON.
fn with(mut launch: Value, members: Value) -> String {
    for (name, value) in members.as_object().unwrap() {
        launch[name] = value.clone();
    }
    format!("{launch}\n")
}

fn right() -> String {
    with(launch(ADD), json!({ "expect": [null, "0200000003000000"] }))
}

/// Returns the exit code of `corpus` for one line, and the outcome and the reason that it prints.
#[track_caller]
fn outcome(line: &str) -> (i32, String, String) {
    let called = halfbyte_on(&["corpus", "-", "--json"], line.as_bytes());
    let found = &object("corpus", &called)["files"][0];
    let reason = &found["reasons"][0];
    let text = |name: &str| reason[name].as_str().unwrap_or_default().to_owned();
    (called.code, text("outcome"), text("reason"))
}

#[test]
fn launches_are_counted_by_how_far_they_came() {
    let lines = [
        right(),
        with(launch(ADD), json!({ "expect": [null, "0200000004000000"] })),
        with(launch(ADD), json!({ "args": [{ "buffer": "01000000" }, { "zeros": 8 }], "expect": [null, null] })),
        with(
            launch(&ADD.replace("ret;", "setmaxnreg.inc.sync.aligned.u32 40;\nret;")),
            json!({ "kernel": "meets", "expect": [null, null] }),
        ),
        with(launch(ADD), json!({ "args": [], "expect": [] })),
        "{\n".to_owned(),
    ];
    let called = halfbyte_on(&["corpus", "-"], lines.concat().as_bytes());
    assert_eq!(called.code, 1);
    let text = &called.out;
    assert!(text.starts_with("-: 6 launches of 3 kernels: 4 read, 2 run, 1 equal\n"), "{text}");
    for part in [
        "  no launch\n       1  not a JSON object: ",
        "  not read\n       1  ",
        ": meets, line ",
        "  not run\n",
        "out-of-bounds-global: ",
        "  not equal\n       1  buffer 1 differs at byte 4: add\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_is_not_read_fails_where_it_is_asked_for() {
    let line = with(
        launch(&ADD.replace("ret;", "setmaxnreg.inc.sync.aligned.u32 40;\nret;")),
        json!({ "expect": [null, null] }),
    );
    assert_eq!(halfbyte_on(&["corpus", "-"], line.as_bytes()).code, 0);
    assert_eq!(halfbyte_on(&["corpus", "-", "--strict"], line.as_bytes()).code, 1);
    assert_eq!(halfbyte_on(&["corpus", "-", "--strict"], right().as_bytes()).code, 0);
}

#[test]
fn errors_are_expected_by_their_kinds() {
    let short = json!([{ "buffer": "01000000" }, { "zeros": 8 }]);
    let error =
        |text: &str, args: &Value, kind: &str| outcome(&with(launch(text), json!({ "args": args, "error": kind })));
    let full = launch(ADD)["args"].clone();
    assert_eq!(error(ADD, &short, "out-of-bounds-global").0, 0);
    assert_eq!(error(ADD, &short, "misaligned").1, "not run");
    assert_eq!(error(ADD, &full, "misaligned"), (1, "not equal".into(), "no error; expected `misaligned`".into()));
    // An invalid text causes the error `type`, which the launch expects. An unsupported text does not.
    assert_eq!(error(&ADD.replace("add.u32", "add.u33"), &full, "type").0, 0);
    assert_eq!(error(&ADD.replace("add.u32", "add.u33"), &full, "budget").1, "not run");
    assert_eq!(error(&ADD.replace("ret;", "setmaxnreg.inc.sync.aligned.u32 40;\nret;"), &full, "type").1, "not read");
}

#[test]
fn numbers_may_be_off_by_their_margin() {
    let on = |found: &str, members: Value| {
        let mut line = launch(ADD);
        line["args"][0] = json!({ "buffer": found });
        outcome(&with(line, members)).0
    };
    // The kernel adds 1 to the bits of a float: the result for 1.0 is the next larger float.
    let (one, far) = ("0000803f0000803f", "0400803f0000803f");
    let units = json!({ "expect": [null, "0000803f0000803f"], "out_format": "f32", "ulp": 1 });
    assert_eq!((on(one, units.clone()), on(far, units)), (0, 1));
    let near =
        json!({ "expect": [null, "0000803f0000803f"], "dtype": ["f32", "f32"], "tol": [null, { "rel": 1.5e-7 }] });
    assert_eq!((on(one, near.clone()), on(far, near)), (0, 1));
}

#[test]
fn a_line_that_is_no_launch_says_why() {
    for (members, reason) in [
        (json!({}), "the expected result is missing; give `expect` or `error`"),
        (json!({ "expect": [], "error": "trap" }), "there are both `expect` and `error`; give one of them"),
        (json!({ "expect": {} }), "`expect` is not a list with an entry for each buffer"),
        (json!({ "expect": [null, "0"] }), "`expect` is not of strings of two hexadecimal digits a byte"),
        (json!({ "expect": [null, 7] }), "`expect` is not a list of strings and nulls"),
        (json!({ "error": 7 }), "`error` is not the name of a kind of errors"),
        (json!({ "expect": [null, ""], "tol": [null, {}] }), "`dtype` is not a format with margins"),
        (json!({ "expect": [null, ""], "tol": [null, 1], "dtype": ["f32", "f32"] }), "`tol` is not a list of"),
        (json!({ "expect": [null, ""], "out_format": "u8", "ulp": 1 }), "`out_format` is not a format"),
        (json!({ "expect": [null, ""], "out_format": "f32", "ulp": -1 }), "`ulp` is not a number of units"),
        (json!({ "expect": [null, null], "then": [] }), "`then` is for `halfbyte launch --json`"),
        (json!({ "expect": [null, null], "grid": [1] }), "`grid` is not three numbers"),
    ] {
        let (code, outcome, found) = outcome(&with(launch(ADD), members));
        assert_eq!((code, outcome.as_str()), (1, "no launch"));
        assert!(found.starts_with(reason), "{found}");
    }
    let (code, outcome, found) = outcome(&with(launch(ADD), json!({ "expect": [null] })));
    assert_eq!(
        (code, outcome.as_str(), found.as_str()),
        (1, "not equal", "the launch has 2 buffers, and `expect` has 1")
    );
}

#[test]
fn files_may_be_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("launches.jsonl.gz");
    let mut file = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
    file.write_all(right().repeat(3).as_bytes()).unwrap();
    file.finish().unwrap();
    let called = halfbyte(&["corpus", path.to_str().unwrap(), "--strict"]);
    assert!(called.out.contains("3 launches of 1 kernel: 3 read, 3 run, 3 equal"), "{}{}", called.out, called.err);
    std::fs::write(&path, "no archive").unwrap();
    let called = halfbyte(&["corpus", path.to_str().unwrap()]);
    assert_eq!(called.code, 2, "{}", called.err);
}

#[test]
fn a_file_without_launches_is_told_of() {
    let called = halfbyte_on(&["corpus", "-"], b"\n");
    assert_eq!((called.code, called.out.as_str()), (0, "-: 0 launches of 0 kernels: 0 read, 0 run, 0 equal\n"));
    assert!(called.err.contains("warning: -: the file has no launches"), "{}", called.err);
    assert_eq!(halfbyte(&["corpus", "no/such.jsonl"]).code, 2);
}

/// Runs the launches of `tests/vectors` and compares the memory with the expected memory. The
/// launches cover every kind of arithmetic, conversion, comparison and control instruction, and
/// texts that must be refused. With import, only programs that the IR can express are run.
/// `ptx_video.py` writes the launches of scalar video instructions.
#[test]
fn every_instruction_gives_its_expected_memory() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let files = [
        ("approx", 32, [32, 32]),
        ("cvt", 266, [266, 266]),
        ("cvt-small", 54, [54, 54]),
        ("errors", 138, [138, 138]),
        ("float", 142, [142, 142]),
        ("int", 101, [101, 101]),
        ("program", 72, [72, 63]),
        ("select", 87, [87, 87]),
        ("video", 184, [184, 184]),
    ];
    let ways: [(&[&str], usize); 6] = [
        (&["ptx"], 0),
        (&["ir"], 1),
        (&["halu"], 1),
        (&["halu", "--engine", "jit"], 1),
        (&["object"], 1),
        (&["recompiled"], 1),
    ];
    for (name, launches, equal) in files {
        let file = folder.join(format!("ptx-{name}.jsonl.gz")).display().to_string();
        for (via, way) in ways {
            let called = halfbyte(&[&["corpus", &file, "--via"], via].concat());
            let equal = equal[way];
            let expected =
                format!("{launches} launches of {launches} kernels: {equal} read, {equal} run, {equal} equal");
            assert!(called.out.lines().next().is_some_and(|line| line.ends_with(&expected)), "{via:?}: {}", called.out);
        }
    }
}

/// Launches with matrix products, which are only executed directly.
#[test]
fn launches_of_matrices_come_as_expected() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/mma.jsonl.gz");
    let engines: [&[&str]; 3] = [&["--races"], &["--engine", "interp"], &["--engine", "jit"]];
    for engine in engines {
        let called = halfbyte(&[&["corpus", &file.display().to_string(), "--via", "ptx"], engine].concat());
        let expected = "32 launches of 32 kernels: 32 read, 32 run, 32 equal";
        assert!(called.out.lines().next().is_some_and(|line| line.ends_with(expected)), "{engine:?}: {}", called.out);
    }
}

/// Runs launches of cooperative kernels with and without race detection, including launches that must fail.
#[test]
fn cooperative_launches_give_their_expected_results() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let files = [
        ("atomics", 244),
        ("barrier", 70),
        ("classic", 86),
        ("errors", 57),
        ("order", 26),
        ("shared", 60),
        ("sreg", 18),
        ("warp", 252),
    ];
    for (name, launches) in files {
        let file = folder.join(format!("groups-{name}.jsonl.gz")).display().to_string();
        let without_watching = if name == "errors" { 34 } else { launches };
        let engines: [(&[&str], usize); 6] = [
            (&["ptx", "--races"], launches),
            (&["ptx"], without_watching),
            (&["ir"], launches),
            (&["halu"], without_watching),
            (&["halu", "--engine", "jit"], without_watching),
            (&["recompiled"], without_watching),
        ];
        for (via, equal) in engines {
            let called = halfbyte(&[&["corpus", &file, "--via"], via].concat());
            let expected =
                format!("{launches} launches of {launches} kernels: {launches} read, {launches} run, {equal} equal");
            assert!(called.out.lines().next().is_some_and(|line| line.ends_with(&expected)), "{via:?}: {}", called.out);
        }
    }
}

/// Returns the number in the line of the summary that begins with `name`.
fn figure(output: &str, name: &str) -> u64 {
    let line = output.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {output}"));
    line.split_whitespace().next().unwrap().replace(',', "").parse().unwrap()
}

/// Random mutants of the project's launches and of compiler output give the same results on every route.
#[test]
fn mutants_agree_on_every_route() {
    let count = std::env::var("HALFBYTE_MUTANTS").unwrap_or_else(|_| "250".to_owned());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = [
        "tests/vectors/groups-atomics.jsonl.gz",
        "tests/vectors/groups-barrier.jsonl.gz",
        "tests/vectors/groups-classic.jsonl.gz",
        "tests/vectors/groups-shared.jsonl.gz",
        "tests/vectors/groups-warp.jsonl.gz",
        "tests/vectors/ptx-cvt.jsonl.gz",
        "tests/vectors/ptx-float.jsonl.gz",
        "tests/vectors/ptx-int.jsonl.gz",
        "tests/vectors/ptx-program.jsonl.gz",
        "tests/vectors/ptx-select.jsonl.gz",
        "tests/vectors/ptx-video.jsonl.gz",
        "tests/ptx/clang/kernels.ptx",
        "tests/ptx/nvcc/kernels.ptx",
    ];
    let files: Vec<String> = names.iter().map(|name| root.join(name).display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let args = ["--mutants", &count, "--seed", "3", "--out", folder.path().to_str().unwrap()];
    let called = halfbyte(&[&["corpus"], &files[..], &args].concat());
    let (output, mutants) = (called.output(), count.parse::<u64>().unwrap());
    assert!(figure(output, "mutants") * 10 > mutants * 9, "{output}");
    assert!((figure(output, "to the end") + figure(output, "trapping")) * 10 > mutants * 6, "{output}");
    assert!(figure(output, "results") > mutants * 3, "{output}");
    assert_eq!(figure(output, "differences"), 0);
}

#[test]
fn mutants_are_of_launches_in_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (launches, text) = (path("a.jsonl", &right()), path("add.ptx", ADD));
    let none =
        path("none.jsonl", &with(json!({ "hb": "kernel @k() {}", "items": 1, "args": [] }), json!({ "expect": [] })));
    let called = halfbyte(&["corpus", &launches, &text, "--mutants", "12", "--seed", "1"]);
    assert_eq!(figure(called.output(), "mutants"), 12);
    let shares = ["1/2", "2/2"].map(|shard| {
        let called = halfbyte(&["corpus", &launches, &text, "--mutants", "12", "--seed", "1", "--shard", shard]);
        figure(called.output(), "results")
    });
    assert_eq!(shares.iter().sum::<u64>(), figure(called.output(), "results"));
    halfbyte(&["corpus", &none, "--mutants", "1"]).fails(1, "the files contain no launch of a PTX kernel");
    halfbyte(&["corpus", &launches, "--mutants", "1", "--via", "ir"]).fails(2, "--via");
    halfbyte(&["corpus", &launches, "--seed", "1"]).fails(2, "--mutants");
}

//! Tests of the messages of `check` for failing files: the source location and the reason.

use std::path::Path;

use halfbyte::Sm;
use halfbyte::ir::diag::Lines;
use halfbyte::launch::Engine;
use halfbyte_testkit::check::{Outcome, check, check_for_sm};

use crate::common::{halfbyte_on, root};

/// A kernel of eight lines, to which the tests append run lines.
const COPY: &str = "\
kernel @copy(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}
";

fn checked(text: &str) -> Outcome {
    let folder = root().join("examples");
    check("t.hb", text, &folder, &Engine::ALL)
}

/// Returns the line, the column and the message of each failure of a text.
fn failures(text: &str) -> Vec<(usize, usize, String)> {
    let outcome = checked(text);
    let lines = Lines::new(text);
    let report = outcome.failures.unwrap();
    let one = |diagnostic: &halfbyte::ir::Diagnostic| {
        let position = lines.position(diagnostic.span.start);
        (position.line, position.column, diagnostic.to_string())
    };
    report.diagnostics().iter().map(one).collect()
}

#[track_caller]
fn fails(run: &str, line: usize, column: usize, message: &str) {
    let found = failures(&format!("{COPY}{run}\n"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0], (line, column, message.to_owned()));
}

#[test]
fn what_is_right_passes() {
    let outcome = checked(&format!("{COPY}; run: halu, ir, halu: @copy items=2 x=[1, 2] -> y=[1, 2]\n"));
    assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
    assert_eq!(outcome.runs, 1);
    assert!(outcome.compared.contains("halu"));
}

#[test]
fn ptx_runs_on_this_computer_for_every_sm() {
    let text = format!("{COPY}; run: ptx: @copy items=300 x=random(300, 1) y=zeros(300)\n");
    for sm in Sm::ALL {
        let outcome = check_for_sm(sm, "t.hb", &text, Path::new(""), &Engine::ALL);
        assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
        assert_eq!(outcome.compared.into_iter().collect::<Vec<_>>(), ["ptx"]);
    }
}

#[test]
fn names_and_values_that_do_not_fit_the_kernel() {
    fails(
        "; run: halu: @cpy items=1 x=[1] y=[1]",
        8,
        15,
        "there is no kernel `@cpy`; expected @copy; did you mean `@copy`?",
    );
    fails("; run: halu: @copy items=1 x=[1] z=[1] -> y=[1]", 8, 34, "`z` is not a parameter; expected one of: x, y");
    fails(
        "; run: halu: @copy items=1 -> y=[1]",
        8,
        15,
        "`x` has no value; expected `x=[..]`, @file.npy, zeros(N) or random(N, SEED)",
    );
    fails(
        "; run: halu: @copy items=1 x=[1] y=zeros(1) -> x=[1]",
        8,
        48,
        "the kernel does not write `x`; expected an out or inout buffer: y",
    );
    fails(
        "; run: halu: @copy items=2 x=[1, 2] y=zeros(2) -> y=[1]",
        8,
        53,
        "1 elements are expected, but the buffer has 2",
    );
    fails(
        "; run: halu: @copy items=1 x=1 y=zeros(1)",
        8,
        30,
        "a single number is given for a buffer; expected a list such as [1, 2]",
    );
    fails(
        "; run: halu: @copy items=1 x=[1, 70000] y=zeros(2)",
        8,
        34,
        "`70000` rounds to infinity in f16; expected a number in range, or inf; or the bits of all lanes in 0x hexadecimal",
    );
    fails(
        "; run: halu: @copy items=1 x=@chelsea.npy y=zeros(4)",
        8,
        30,
        "chelsea.npy: the array's dtype is uint8; f16x2 takes float16, uint16 or uint32",
    );
    // The data file is in the folder of the text, because a run line may only read files in this folder.
    let five = tempfile::Builder::new().suffix(".bin").tempfile_in(root().join("examples")).unwrap();
    std::fs::write(five.path(), [0; 5]).unwrap();
    let name = five.path().file_name().unwrap().display();
    let line = format!("; run: halu: @copy items=1 x=@{name} y=zeros(4)");
    fails(&line, 8, 30, "5 bytes are given for f16x2; expected a multiple of 4");
}

#[test]
fn a_wrong_result_names_kernel_item_element_and_bits() {
    fails(
        "; run: halu: @copy items=3 x=[1, 2, 3] -> y=[1, 5, 6]",
        8,
        3,
        "@copy on ir: y[1] lane 0, written by item 1, expected 5.0 (0x4500) by the run line, found 2.0 (0x4000), 1280 ulps apart; \
         2 of 3 elements differ",
    );
    fails(
        "; run: halu: @copy items=1 x=[1, 2] -> y=[1, [0, 1]]",
        8,
        3,
        "@copy on ir: y[1] lane 1, written by no item, expected 1.0 (0x3c00) by the run line, found 0.0 (0x0000), 15360 ulps apart; \
         1 of 2 elements differ",
    );
}

#[test]
fn traps_stand_at_their_instruction() {
    let found = failures(&format!("{COPY}; run: halu: @copy items=3 x=[1, 2] y=zeros(3)\n"));
    assert_eq!(found.len(), 1);
    let (line, column, message) = &found[0];
    assert_eq!((*line, *column), (4, 3));
    assert!(message.starts_with("trap on ir: @copy, item 2: load of 4 bytes at 0xd00000000000008 "), "{message}");
    let outcome = checked(&format!("{COPY}; run: halu: @copy items=3 x=[1, 2] y=zeros(3)\n"));
    let shown = outcome.failures.unwrap().to_string();
    assert!(
        shown.contains("t.hb:4:3") && shown.contains("note: in this launch") && shown.contains("t.hb:8:3"),
        "{shown}"
    );
}

#[test]
fn races_name_both_accesses() {
    let text = "\
kernel @race(%y: out i32) {
^entry:
  %i = item_id
  store %i, %y[0]
  ret
}
; run: halu: @race items=2 y=zeros(1)
";
    let found = failures(text);
    assert_eq!(found.len(), 1);
    let (line, column, message) = &found[0];
    assert_eq!((*line, *column), (4, 3));
    assert!(
        message.starts_with("data race on ir: @race, item 1 writes byte 0 of buffer `y`, which item 0 also writes"),
        "{message}"
    );
}

const GROUP: &str = "\
kernel @group(%x: in i8x16, %y: out i32) {
^entry:
  %v = load %x
  %r = group_id
  store %r, %y
  ret
}
";

#[test]
fn refusals_must_be_expected_and_made() {
    let outcome = checked(&GROUP.replace("group_id\n", "group_id ; refuse: vp1: group_id\n"));
    assert!(outcome.failures.is_none(), "{:?}", outcome.failures);
    assert_eq!(outcome.refusals, 1);

    let found = failures(&GROUP.replace("group_id\n", "group_id ; refuse: vp1: no such text\n"));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[0], (4, 19, "vp1 does not refuse this with a message that contains `no such text`".into()));
    assert!(found[1].2.contains("`group_id`"), "{found:#?}");

    let found = failures(&format!("{GROUP}; run: vp1: @group items=1 x=[0] y=[0]\n"));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1), (4, 3));
    assert!(found[0].2.contains("vp1 cannot do `group_id`"), "{found:#?}");

    let found = failures(&COPY.replace("load %x[%i]", "load %x[%i] ; refuse: halu: load"));
    assert_eq!(found, [(4, 22, "halu does not refuse this with a message that contains `load`".into())]);

    let expected = GROUP.replace("group_id\n", "group_id ; refuse: vp1: group_id\n");
    let found = failures(&format!("{expected}; run: vp1: @group items=1 x=[0] y=[0]\n"));
    assert_eq!(
        found,
        [(8, 3, "@group cannot run on vp1: a refuse line in the kernel expects vp1 to refuse it".into())]
    );
}

#[test]
fn errors_of_kernels_and_of_run_lines_come_together_in_order() {
    let text = COPY.replace("%v, %y", "%w, %y") + "; run: halo: @copy items=1\n";
    let found = failures(&text);
    let places: Vec<(usize, usize)> = found.iter().map(|&(line, column, _)| (line, column)).collect();
    assert_eq!(places, [(5, 9), (8, 8)], "{found:#?}");
}

/// The message of an out-of-bounds access names the nearest buffer, even if the address is before
/// its start. The evaluator and all engines report the same message.
#[test]
fn an_access_before_a_buffer_names_it() {
    let text = "kernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %v = load %x[%i - 1]\n  store %v, %y[%i]\n  ret\n}\n";
    for (target, on) in [("ir", "ir"), ("halu", "halu (interp)"), ("ptx", "ptx (interp)")] {
        let call = ["run", "-", "--target", target, "--items", "1", "--arg", "x=[1]", "--arg", "y=zeros(1)"];
        let message = format!("trap on {on}: @k, item 0: load of 4 bytes at ");
        let called = halfbyte_on(&call, text.as_bytes());
        called.fails(1, &message);
        called.fails(1, "is out of bounds: 4 bytes before buffer `x`");
    }
    let call = ["run", "-", "--target", "ir", "--items", "2", "--arg", "x=[1, 2]", "--arg", "y=zeros(1)"];
    halfbyte_on(&call, text.replace("- 1", "+ 0").as_bytes())
        .fails(1, "store of 4 bytes at 0xd00100000040004 is out of bounds: byte 4 of buffer `y`");
}

//! Tests of expected results that were recorded on a GPU and follow `~=` in run lines, and of the
//! tolerance of their comparison.

use std::path::Path;

use halfbyte::launch::Engine;
use halfbyte_testkit::check::{Outcome, check};

use crate::common::halfbyte_on;
use crate::json::object;

fn checked(file: &str, text: &str) -> Outcome {
    check(file, text, Path::new(""), &Engine::ALL)
}

/// Returns the errors that `check` reports for a text, one for each line.
fn failures(file: &str, text: &str) -> Vec<String> {
    let report = checked(file, text).failures;
    report.map_or(Vec::new(), |report| report.diagnostics().iter().map(ToString::to_string).collect())
}

/// Returns the errors that `check` reports for a kernel that applies an op to each element of `x`.
/// `result` is the expected result in the run line.
fn of_op(op: &str, ty: &str, x: &str, result: &str) -> Vec<String> {
    let text = format!(
        "kernel @k(%x: in {ty}, %y: out {ty}) {{\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %r = {op}.{ty} %v\n  \
         store %r, %y[%i]\n  ret\n}}\n; run: halu, ptx: @k items=2 x={x} -> {result}\n"
    );
    failures("k.hb", &text)
}

/// Returns the errors that `check` reports for a PTX kernel that applies an instruction to each
/// element of `x`. `stored` is a store of the result that may reinterpret the bits. `result` is the
/// expected result in the run line.
fn of_inst(inst: &str, stored: &str, x: &str, result: &str) -> Vec<String> {
    let ty = inst.rsplit('.').next().unwrap();
    let (bits, bytes) = if ty == "f64" { (64, 8) } else { (32, 4) };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y) {{\n.reg .{ty} %f<2>;\n\
         .reg .b{bits} %b; .reg .b32 %i; .reg .b64 %d<4>;\nmov.u32 %i, %tid.x;\nld.param.u64 %d0, [x];\nld.param.u64 %d1, [y];\n\
         mul.wide.u32 %d2, %i, {bytes};\nadd.s64 %d0, %d0, %d2;\nadd.s64 %d1, %d1, %d2;\nld.global.{ty} %f0, [%d0];\n\
         {inst} %f1, %f0;\n{stored}\nret;\n}}\n// run: halu: @k items=2 x={x} -> {result}\n"
    );
    failures("k.ptx", &text)
}

const AS_FLOAT: &str = "st.global.f32 [%d1], %f1;";
const AS_DOUBLE: &str = "st.global.f64 [%d1], %f1;";
const AS_BITS: &str = "mov.b32 %b, %f1; and.b32 %b, %b, -1; st.global.b32 [%d1], %b;";

const NONE: &[&str] = &[];

#[test]
fn what_is_within_the_bound_of_the_manual_passes() {
    // 1.4142135 is 0x3fb504f3. The expected results are 2 ulp above and 2 ulp below.
    assert_eq!(of_op("fexp2", "f32", "[0.0, 0.5]", "y~=[1.0, 0x3fb504f5]"), NONE);
    assert_eq!(of_op("fexp2", "f32", "[0.0, 0.5]", "y~=[0x3f7ffffe, 0x3fb504f1]"), NONE);
    assert_eq!(of_op("fsin", "f32", "[0.5, 10.0]", "y~=[0.47944, -0.544]"), NONE);
    assert_eq!(of_op("flog2", "f32", "[1.0, 1000.0]", "y~=[1e-7, 9.965785]"), NONE);
    assert_eq!(of_op("ftanh", "f16x2", "[[0.5, 1.0], [0.0, 9.0]]", "y~=[[0.4626, 0.761], [0.0, 1.0]]"), NONE);
    assert_eq!(of_op("fexp2", "f32", "[nan, 1000.0]", "y~=[0x7fc00000, inf]"), NONE);
    assert_eq!(of_inst("rcp.approx.f32", AS_FLOAT, "[2.0, 3.0]", "y~=[0.5, 0.33333337]"), NONE);
    assert_eq!(of_inst("rcp.approx.f32", AS_BITS, "[2.0, 3.0]", "y~=[0x3f000000, 0x3eaaaaac] within(f32)"), NONE);
}

#[test]
fn what_is_beyond_it_fails_and_says_by_how_much() {
    assert_eq!(
        of_op("fexp2", "f32", "[0.0, 0.5]", "y~=[1.0, 0x3fb504f6]"),
        [
            "@k on ir: y[1], written by item 1, expected 1.4142139 (0x3fb504f6) by the run line, found 1.4142135 (0x3fb504f3), 3 \
          ulps apart, off by 3.576e-7; outside the manual's bound, 2 ulps of `ex2.approx.f32`; 1 of 2 elements differ"
        ]
    );
    let sines = of_op("fsin", "f32", "[0.5, 10.0]", "y~=[0.47942555, -0.5439]");
    let bounds = "2^-20.5 for angles of -2 pi to 2 pi, 2^-14.7 for angles of -100 pi to 100 pi of `sin.approx.f32`";
    assert!(sines.len() == 1 && sines[0].contains(bounds), "{sines:?}");
    for (op, ty, x, y) in [
        ("flog2", "f32", "[1.0, 2.0]", "y~=[5e-7, 1.0]"),
        ("fexp2", "f32", "[nan, 0.0]", "y~=[1.0, 1.0]"),
        ("fexp2", "f32", "[1000.0, 0.0]", "y~=[-inf, 1.0]"),
        ("ftanh", "f16x2", "[[0.5, 1.0], [0.0, 9.0]]", "y~=[[0.47, 0.7617], [0.0, 1.0]]"),
    ] {
        assert_eq!(of_op(op, ty, x, y).len(), 1, "{op} {y}");
    }
    // `=` requires equal bits.
    let equal = of_op("fexp2", "f32", "[0.0, 0.5]", "y=[1.0, 0x3fb504f4]");
    assert!(equal.len() == 1 && equal[0].contains("1 ulp apart; 1 of 2 elements differ"), "{equal:?}");
}

#[test]
fn where_nothing_is_approximated_it_is_equality() {
    assert_eq!(of_op("fsqrt", "f32", "[4.0, 2.0]", "y~=[2.0, 1.4142135]"), NONE);
    let off = of_op("fsqrt", "f32", "[4.0, 2.0]", "y~=[2.0, 1.4142137]");
    assert!(off.len() == 1 && off[0].ends_with("1 ulp apart; 1 of 2 elements differ"), "{off:?}");
    assert_eq!(of_inst("sqrt.rn.f32", AS_FLOAT, "[4.0, 2.0]", "y~=[2.0, 1.4142137]").len(), 1);
    assert_eq!(of_inst("sqrt.approx.f32", AS_FLOAT, "[4.0, 2.0]", "y~=[2.0, 1.4142137]"), NONE);
    // An explicit tolerance also applies to ops with exact results.
    assert_eq!(of_op("fsqrt", "f32", "[4.0, 2.0]", "y~=[2.0, 1.4142137] within(ulps=1)"), NONE);
}

#[test]
fn a_line_has_a_margin_of_its_own() {
    let of = |within: &str| of_op("fexp2", "f32", "[0.0, 0.5]", &format!("y~=[1.0, 1.41421] within({within})"));
    for within in ["rel=1e-5", "abs=4e-6", "rel=1e-6, abs=3e-6", "f32, ulps=30", "ulps=10, rel=2e-6"] {
        assert_eq!(of(within), NONE, "{within}");
    }
    for (within, said) in [
        ("rel=1e-6", "outside the margin rel=1e-6"),
        ("abs=3e-6, ulps=2", "outside the margin abs=3e-6, ulps=2"),
        ("f32, ulps=29", "30 ulps apart, off by 3.576e-6; outside the margin ulps=29"),
        ("f32", "outside the manual's bound, 2 ulps"),
    ] {
        let found = of(within);
        assert!(found.len() == 1 && found[0].contains(said), "{within}: {found:?}");
    }
    assert_eq!(of_inst("rsqrt.approx.f64", AS_DOUBLE, "[4.0, 2.0]", "y~=[0.5, 0.70710678] within(rel=1e-8)"), NONE);
}

#[test]
fn reports_results_that_cannot_be_approximate() {
    for (found, message) in [
        (
            of_op("neg", "i32", "[1, 2]", "y~=[-1, -2]"),
            "`y` has elements of type i32, which is not a floating-point type; expected `=`, or `within(f32)` after the value if the \
             elements contain that type",
        ),
        (
            of_op("neg", "i32", "[1, 2]", "y~=[-1, -2] within(f16)"),
            "`y` has lanes of 32 bits, but f16 does not; expected a type as wide",
        ),
        (
            of_inst("rsqrt.approx.f64", AS_DOUBLE, "[4.0, 2.0]", "y~=[0.5, 0.7]"),
            "the manual has no bound for `rsqrt.approx.f64`; expected a margin after the value: `within(rel=N, abs=N)`",
        ),
        (
            of_op("fexp2", "f32", "[0.0, 0.5]", "y~=[1.0, 1.4] within(rel=-1)"),
            "`-1` is invalid here; expected a number that is not negative, such as 1e-5",
        ),
        (of_op("fexp2", "f32", "[0.0, 0.5]", "y~=[1.0, 1.4] within(rel=1, rel=2)"), "`rel` is given twice"),
        (
            of_op("fexp2", "f32", "[0.0, 0.5]", "y=[1.0, 1.4] within(rel=1)"),
            "a margin requires `~=`; expected `NAME~=VALUE within(...)`",
        ),
        (
            of_op("fexp2", "f32", "~=[0.0, 0.5]", "y=[1.0, 1.4]"),
            "unexpected `~`; expected a value: a number, a [list], @file.npy, zeros(N), random(N, SEED) or &BUFFER+BYTES",
        ),
    ] {
        assert_eq!(found, [message]);
    }
    // There is no error bound for the result type, because the kernel approximates in another type.
    let text = "kernel @k(%x: in f32, %y: out f16) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %e = fexp2.f32 %v\n  \
                %r = fcvt.f16 %e\n  store %r, %y[%i]\n  ret\n}\n; run: ptx: @k items=1 x=[0.5] -> y~=[1.414]\n";
    assert_eq!(
        failures("k.hb", text),
        ["the manual's bound for `ex2.approx.f32` does not apply to type f16; expected a margin after the value: \
          `within(rel=N, abs=N)`"]
    );
}

#[test]
fn a_launch_after_another_is_compared_so_too() {
    let kernel = "kernel @k(%y: inout f32) {\n^entry:\n  %i = item_id\n  %v = load %y[%i]\n  %r = fexp2.f32 %v\n  store %r, %y[%i]\n  ret\n}\n";
    let text = |second: &str| {
        format!("{kernel}; run: halu, ptx: @k items=1 y=[0.5] -> y~=[1.4142137]\n; then: @k items=1 -> y~={second}\n")
    };
    // The next launch reads the computed result, not the expected one.
    assert_eq!(failures("k.hb", &text("[2.6651442]")), NONE);
    assert_eq!(failures("k.hb", &text("[2.665]")).len(), 1);
}

#[test]
fn json_says_the_margin() {
    let text = "kernel @k(%x: in f32, %y: out f32) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %r = fexp2.f32 %v\n  \
                store %r, %y[%i]\n  ret\n}\n; run: ptx: @k items=1 x=[0.0] -> y~=[1.5]\n";
    let answer = object("check", &halfbyte_on(&["check", "-", "--json"], text.as_bytes()));
    let mismatch = &answer["files"][0]["results"][0]["mismatches"][0];
    assert_eq!(mismatch["margin"], "the manual's bound, 2 ulps of `ex2.approx.f32`");
    assert_eq!(mismatch["lanes"][0]["distance"], 0.5);
}

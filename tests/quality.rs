//! Tests of the number of instructions in compiled kernels. `HALFBYTE_BLESS=1 cargo test quality::`
//! updates `docs/quality.md`.

use std::fs;
use std::process::Command;

use halfbyte::{Module, Target};
use halfbyte_testkit::quality::{Quality, measure};

use crate::common::root;

fn quality(args: &[&str]) -> std::process::Output {
    let root = root();
    Command::new(env!("CARGO_BIN_EXE_halfbyte")).arg("quality").args(args).current_dir(root).output().unwrap()
}

/// The page is under version control, so that a review shows each change of the generated code.
#[test]
fn the_quality_page_is_up_to_date() {
    let output = quality(&["examples"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).unwrap();
    let path = root().join("docs/quality.md");
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    } else {
        let tracked = fs::read_to_string(&path).unwrap();
        let different = tracked.lines().zip(page.lines()).find(|(tracked, now)| tracked != now);
        assert!(tracked == page, "docs/quality.md is not of today's code; the first line that differs: {different:?}");
    }
}

/// Number of instructions in the examples that match a pattern of redundant instructions.
const SPARE: usize = 8;

#[test]
fn few_words_of_the_examples_are_spare() {
    let output = quality(&["examples", "--spare"]);
    let page = String::from_utf8(output.stdout).unwrap();
    let spare: usize = page.split(' ').next().unwrap().parse().unwrap();
    assert!(output.status.success() && spare <= SPARE, "{page}");
}

fn of_text(text: &str, target: Target) -> Result<Quality, String> {
    measure(&Module::parse(text).unwrap(), target).remove(0).1
}

/// Compiles the kernels for which the number of instructions from ptxas is known, from the IR.
#[test]
fn baselines_take_so_many_instructions() {
    for (name, compute) in [
        ("k01_h2_axpy", 1),
        ("k02_h2_gelu_poly", 14),
        ("k03_h2_relu_fma", 2),
        ("k04_h2_clamp01", 1),
        ("k05_h2_leaky_relu", 3),
        ("k06_h2_max8", 7),
        ("k07_h2_cmul", 4),
        ("k08_bf2_axpy", 1),
        ("k09_h2_dot4x4", 22),
        ("k10_v4_brighten", 4),
        ("k11_v4_sad16", 4),
        ("k12_v4_bilinear", 3),
        ("k13_v2_smith_waterman", 9),
        ("k14_v4_median9", 30),
    ] {
        let path = root().join(format!("examples/baseline/{name}.hb"));
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(of_text(&text, halfbyte::HALU).unwrap().compute, compute, "{name}");
        assert_eq!(of_text(&text, halfbyte::HALU).unwrap().spills, 0, "{name}");
    }
}

#[test]
fn counts_are_of_the_words() {
    let text = "kernel @k(%x: in i8x4, %y: out i8x4) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %k = const.i8x4 7\n  \
                %r = add_sat_u.i8x4 %v, %k\n  store %r, %y[%i]\n  ret\n}\n";
    let halu = of_text(text, halfbyte::HALU).unwrap();
    // The instruction that loads a constant into a register is counted.
    assert_eq!((halu.compute, halu.words, halu.bundles), (2, 9, None));
    let vp1 = of_text(text, halfbyte::VP1).unwrap();
    let bundles = vp1.bundles.unwrap();
    assert!(!bundles.loops.is_empty() && bundles.all.0 >= bundles.all.1, "{bundles:?}");
    let refused = of_text(
        &text.replace("i8x4", "f16x2").replace("add_sat_u", "fmax").replace("const.f16x2 7", "const.f16x2 7.0"),
        halfbyte::VP1,
    )
    .unwrap_err();
    assert!(refused.contains("fmax.f16x2"), "{refused}");
}

#[test]
fn calls_that_cannot_be_met_are_errors() {
    for (args, code, message) in [
        (&["examples", "--target", "ptx9"][..], 2, "possible values: halu, vp1, ptx"),
        (&["examples", "--target", "ir"], 2, "possible values: halu, vp1, ptx"),
        (&["no/such/folder"], 2, "no/such/folder"),
        (&["tests/files/asm/no-such.hb"], 2, "no-such.hb"),
    ] {
        let output = quality(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.contains(message)), (Some(code), true), "{args:?}: {said}");
    }
}

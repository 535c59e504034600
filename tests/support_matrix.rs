//! Tests of the support matrix of all targets, which `halfbyte support` prints.

use std::collections::BTreeSet;

use halfbyte::ir::Op;
use halfbyte::{HALU, TARGETS, Target, VP1};
use halfbyte_testkit::matrix::{Cell, OpForm, Variant, measure, page};

use crate::common::halfbyte;

fn targets() -> Vec<Target> {
    TARGETS.defaults().flat_map(|target| TARGETS.representatives(target)).collect()
}

/// Returns the names in the first cell of a row of the page. An op is in code font, and its variant may follow in plain
/// text: "`shl` by a constant `rotl`".
fn names(row: &str) -> Vec<String> {
    let cell = row.split('|').nth(1).unwrap().trim();
    let parts: Vec<&str> = cell.split('`').skip(1).map(str::trim).collect();
    parts.chunks(2).map(|part| part.join(" ").trim().to_owned()).collect()
}

/// One row may have several ops, and an op with several variants has a name for each, such as `icmp.eq`.
#[test]
fn the_page_has_a_row_for_every_op() {
    let page = page(&targets());
    let tables = &page[page.find("\n## ").unwrap()..];
    let shown: BTreeSet<String> = tables.lines().filter(|line| line.starts_with("| `")).flat_map(names).collect();
    let expected: BTreeSet<String> = Op::ALL.iter().flat_map(|&op| OpForm::of(op)).map(|form| form.name()).collect();
    assert_eq!(shown, expected);
}

/// The matrix has a row for every op except those that its introduction describes.
#[test]
fn every_op_is_asked_for() {
    let without: Vec<&str> = Op::ALL.iter().filter(|&&op| OpForm::of(op).is_empty()).map(|op| op.name()).collect();
    assert_eq!(without, ["const", "intrinsic", "br", "br_if", "switch", "ret"]);
    // An ill-formed sample kernel would show in the matrix as a refusal with the report of the verifier.
    for row in measure(Op::ALL, &[HALU]) {
        if let Cell::Refused(reason) = &row.cells[0] {
            assert!(!reason.contains('\n') && !reason.contains("-->"), "{:?}: {reason}", row.form);
        }
    }
}

fn cell(op: Op, ty: &str, variant: Variant, target: Target) -> Cell {
    let mut rows = measure(&[op], &[target]);
    let place = rows.iter().position(|row| row.form.types() == ty && row.form.variant == variant).unwrap();
    rows.remove(place).cells.remove(0)
}

/// Cells of the matrix that other pages of the documentation state.
#[test]
fn known_cells() {
    let one = |name: &str, items| Cell::Made { instructions: vec![name.into()], items };
    assert_eq!(cell(Op::Fadd, "f16x2", Variant::Plain, HALU), one("HADD2", 1));
    assert_eq!(cell(Op::AddSatU, "i8x4", Variant::Plain, VP1), one("vadd", 4));
    assert_eq!(cell(Op::Shl, "i32", Variant::ByConstant, VP1), one("shr", 1));
    let Cell::Refused(reason) = cell(Op::Fmax, "f16x2", Variant::Plain, VP1) else { panic!("VP1 has no floats") };
    assert!(reason.contains("floating-point"), "{reason}");
    let Cell::Refused(reason) = cell(Op::Add, "i64", Variant::Plain, VP1) else { panic!("VP1 has no 64 bits") };
    assert!(reason.contains("32 bits"), "{reason}");
}

#[test]
fn the_command_answers_for_one_op() {
    let called = halfbyte(&["support", "--op", "fadd.f16x2", "--target", "vp1"]);
    let table = called.output();
    assert!(table.starts_with("| op | types | vp1 |\n|---|---|---|\n| `fadd`"), "{table}");
    // The printed matrix does not mention targets that the call does not request.
    assert!(
        table.contains("\nRefused:\n\n* (a) vp1: on VP1, sums, differences and products of floats only round to nearest and have no modifiers; leave out the modifier"),
        "{table}"
    );
    assert!(!table.contains("halu:") && !table.contains("ptx:"), "{table}");
    halfbyte(&["support", "--op", "satadd"]).fails(2, "unknown op");
    halfbyte(&["support", "--op", "sat"]).fails(2, "add_sat_s, add_sat_u");
    halfbyte(&["support", "--target", "avr"]).fails(2, "halu, vp1, ptx");
}

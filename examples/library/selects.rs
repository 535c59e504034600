//! Example: tests of kernels in Rust. The tests check which instructions are selected, and compare
//! the results of all engines.

use std::error::Error;

use halfbyte::HALU;
use halfbyte_testkit::testing::{TestFile, assert_selects, run_and_compare};

const BLEND: &str = "
kernel @blend(%x: in i8x4, %y: in i8x4, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = avg_u.i8x4 %a, %b
  store %r, %z[%i]
  ret
}";

/// The same test as a text test. The first line names the compiler stage, and the expectations are
/// comments beside the ops.
const TEXT_TEST: &str = "
; test: isel halu
kernel @blend(%x: in i8x4, %y: in i8x4, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = avg_u.i8x4 %a, %b       ; check: vavrg4
  store %r, %z[%i]             ; next: STG
  ret
}
; never: vadd4
";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    assert_selects!(BLEND, HALU, "vavrg4"; not "vadd4");

    let args = [("x", "random(100, 1)"), ("y", "random(100, 2)"), ("z", "zeros(100)")];
    let compared = run_and_compare(BLEND, "blend", 100, &args)?;
    for target in &compared.targets {
        println!("{target}: every engine gives the evaluator's bits");
    }
    for (target, error) in &compared.refused {
        println!("{target}: {error}");
    }
    assert_eq!(compared.targets.len(), 3);

    let tests = TestFile::read("blend.hb", TEXT_TEST)?;
    let outcome = tests.run();
    assert!(tests.report(&outcome).is_none());
    Ok(())
}

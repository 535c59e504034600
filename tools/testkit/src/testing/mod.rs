//! Tests of compiler output: text tests, their coverage of rules, and helpers for Rust tests.
//!
//! A text test is a kernel with its expectations, below a `; test:` line that names the stage and
//! the target. `docs/testing.md` is the reference; `halfbyte test` runs text tests. In a Rust test:
//!
//! ```
//! use halfbyte_testkit::testing::TestFile;
//!
//! let text = "
//! ; test: isel halu
//! kernel @fused(%a: i32, %b: i32, %x: in i32, %y: out i32) {
//! ^entry:
//!   %i = item_id
//!   %v = load %x[%i]
//!   %m = mul.i32 %v, %a
//!   %r = add.i32 %m, %b     ; check: IMAD
//!   store %r, %y[%i]        ; next: STG
//!   ret
//! }
//! ; rule: int_mad
//! ";
//! let file = TestFile::read("fused.hb", text)?;
//! let outcome = file.run();
//! assert!(file.report(&outcome).is_none());
//! # Ok::<(), halfbyte::Report>(())
//! ```
//!
//! [`assert_selects!`] asserts that a kernel is selected with given instructions or rules.
//! [`run_and_compare`] asserts that all targets and engines give the evaluator's bits.

mod checks;
mod compare;
mod coverage;
mod directive;
mod failure_report;
mod file;
mod run;
mod selects;

pub use compare::{Compared, NamedLaunch, run_all_and_compare, run_and_compare};
pub use coverage::{Coverage, RuleCount, RuleSet};
pub use file::TestFile;
pub use run::{Outcome, Verdict};
pub use selects::{Selection, SelectsError, selects};

#[doc(inline)]
pub use crate::assert_selects;

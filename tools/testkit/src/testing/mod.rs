//! Testing what kernels become: text tests, which rules they cover, and help for Rust tests.
//!
//! A text test is a kernel with its expectation beside it, and a `; test:` line above it that names the stage and the target.
//! `docs/testing.md` is their reference; `halfbyte test` runs them. In a Rust test:
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
//! [`assert_selects!`] asserts by which instructions or rules a kernel is selected, [`run_and_compare`] that all targets and engines give the
//! evaluator's bits.

mod checks;
mod compare;
mod coverage;
mod directive;
mod file;
mod run;
mod selects;
mod why;

pub use compare::{Compared, NamedLaunch, run_all_and_compare, run_and_compare};
pub use coverage::{Coverage, Part, RuleCount};
pub use file::TestFile;
pub use run::{Outcome, Verdict};
pub use selects::{Selection, SelectsError, selects};

#[doc(inline)]
pub use crate::assert_selects;

//! Lowering: IR passes that turn source kernels into kernels of native ops.
//!
//! A [`Legality`](halfbyte_ir::Legality) describes what a target supports; this crate does not depend on any target.
//! Every pass preserves the semantics of every kernel bit for bit. A [`Pipeline`] lists the passes and their order. You
//! can add your own passes and rules to a pipeline ([`Pass`], [`RuleBook`]).

extern crate alloc;

mod idioms;
mod manager;
mod pass;
mod passes;
mod pipeline;
mod range;
mod reciprocal;
mod rewrite;
// Internal modules for `explain` and for proofs of the rules; their interface is not stable.
#[doc(hidden)]
pub mod trace;
#[doc(hidden)]
pub mod trial;
mod word_lanes;

pub use halfbyte_abi::Poll;
pub use manager::{LowerError, Observer};
pub use pass::{BuiltIn, Context, Order, Pass, PassError};
pub use passes::{ORDER, PASSES, documentation};
pub use pipeline::{Pipeline, UnknownPass, find};
#[doc(hidden)]
pub use rewrite::terms;
pub use rewrite::{RULES, Rewriter, RuleBook};

/// Includes a rule book that a build script compiled with `halfbyte_rulebook::compile_book`. The
/// macro defines a static `BOOK`, which is a [`RuleBook`]. If the book's files declare terms of
/// their own, the macro also defines a trait `Terms` that [`Rewriter`] must implement.
///
/// ```ignore
/// mod rules {
///     halfbyte_lower::rule_book!("own");
/// }
/// let pipeline = Pipeline::default().with_rules(&rules::BOOK);
/// ```
#[macro_export]
macro_rules! rule_book {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, "_book.rs"));
    };
}

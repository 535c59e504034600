//! Lowering: passes over the IR, from kernels as they are written to kernels in ops that a target has.
//!
//! What a target has is a [`Legality`](halfbyte_ir::Legality), a value that this crate is handed; it names no target.
//! Every pass keeps the meaning of every kernel, bit for bit. Which passes there are, and in which order, is a value: a
//! [`Pipeline`], to which passes and rules of someone else's can be added ([`Pass`], [`RuleBook`]).

extern crate alloc;

mod idioms;
mod manager;
mod pass;
mod passes;
mod pipeline;
mod range;
mod rewrite;
// For those who explain and prove what the passes do; not to be built on.
#[doc(hidden)]
pub mod trace;
#[doc(hidden)]
pub mod trial;

pub use halfbyte_abi::Poll;
pub use manager::{LowerError, Observer};
pub use pass::{BuiltIn, Context, Order, Pass, PassError};
pub use passes::{ORDER, PASSES, documentation};
pub use pipeline::{Pipeline, UnknownPass, find};
#[doc(hidden)]
pub use rewrite::terms;
pub use rewrite::{RULES, Rewriter, RuleBook};

/// Includes a rule book that a build script has compiled by `halfbyte_rulebook::compile_book`, as a module's static `BOOK`, a
/// [`RuleBook`]. Where its files declare terms of their own, the module has a trait `Terms` for [`Rewriter`] to implement.
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

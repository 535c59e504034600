//! Tests of `explain` and `view`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod contrast;
mod lifetimes;
mod machine;
mod page;
mod registers;
mod selected;
mod source;

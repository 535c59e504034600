//! Selection for VP1: what a kernel becomes, what it computes, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bytes;
mod machine;
mod refusals;
mod shape;
mod wide;

//! Selection for VP1: what a kernel becomes, what it computes, and what is refused.

mod bytes;
mod machine;
mod refusals;
mod shape;
mod wide;

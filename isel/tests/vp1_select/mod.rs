//! Selection for VP1: the shape of the code, its results, and refusals.

mod bytes;
mod machine;
mod refusals;
mod shape;
mod wide;

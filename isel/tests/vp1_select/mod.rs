//! Tests of instruction selection for VP1: the structure of the code, its results, and refusals.

mod bytes;
mod machine;
mod refusals;
mod shape;
mod wide;

//! What machine words mean: for every target one description (a row) of each instruction, from which encoding, decoding,
//! assembly text and documents follow, and one meaning, generic over the values it computes with.

pub mod docs;
pub mod half;
pub mod halu;
pub mod isa;
pub mod object;
pub mod plain;
pub mod ptx;
pub mod random;
pub mod row;
pub mod stream;
pub mod text;
pub mod vp1;
pub mod word;

// What fields of instructions and effects are.
pub use arrayvec::ArrayVec;
pub use smallvec::SmallVec;

//! Instruction sets of all targets. Each instruction has one description (a row), from which encoding, decoding,
//! assembly text and documentation are derived. The semantics of each instruction is defined once, as a function that
//! is generic over the kind of values on which it computes.
//!
//! ```
//! use halfbyte_isa::halu::fields::RD;
//! use halfbyte_isa::halu::{Inst, word_text};
//!
//! let inst: Inst = "LDG R1, [R0.U32+UR4] ;".parse()?;
//! assert_eq!(inst.get(RD), 1);
//! let word: u128 = inst.with(RD, 9).word();
//! assert_eq!(word_text(word), "LDG R9, [R0.U32+UR4] ;");
//! assert_eq!(Inst::decode(word), Some(inst.with(RD, 9)));
//! # Ok::<(), halfbyte_isa::text::AsmError>(())
//! ```

pub mod approx;
pub mod atomic;
pub mod buffers;
pub mod docs;
pub mod half;
pub mod halu;
pub mod isa;
pub mod object;
pub mod ptx;
pub mod random;
pub mod row;
pub mod row_isa;
pub mod stream;
pub mod text;
pub mod trap;
pub mod vp1;
pub mod word;

// The public interface of this crate uses these types.
pub use arrayvec::ArrayVec;
pub use smallvec::SmallVec;

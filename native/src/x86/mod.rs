//! Assembler for x86-64 with AVX2 and AVX-512.
//!
//! A vector instruction is described once, by a row of the table ([`vector`]). The row gives the
//! VEX and the EVEX encoding at every width. The assembler uses VEX if the operands allow it,
//! because VEX prefixes are shorter.

mod assembler;
#[cfg(feature = "aot")]
pub mod emit;
mod general;
mod predicate;
mod row;
#[cfg(test)]
mod tests;
pub mod vector;

pub use assembler::{Assembler, Constant, Label};
pub use general::{Alu, Condition, Size};
pub use predicate::Predicate;
pub use row::{Rounding, Row, VectorWidth};

/// Numbers of the general registers.
pub mod register {
    pub const RAX: u8 = 0;
    pub const RCX: u8 = 1;
    pub const RDX: u8 = 2;
    pub const RBX: u8 = 3;
    pub const RBP: u8 = 5;
    pub const RSI: u8 = 6;
    pub const RDI: u8 = 7;
    pub const R8: u8 = 8;
    pub const R9: u8 = 9;
    pub const R10: u8 = 10;
    pub const R11: u8 = 11;
    pub const R12: u8 = 12;
    pub const R13: u8 = 13;
    pub const R14: u8 = 14;
    pub const R15: u8 = 15;
}

/// Memory operand: `base + index * 2^scale + displacement`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// General register.
    pub base: u8,
    /// General register other than RSP, and its scale as a power of two (0 to 3).
    pub index: Option<(u8, u8)>,
    /// Displacement in bytes.
    pub displacement: i32,
}

impl Memory {
    /// Returns the operand `base + displacement`.
    pub const fn at(base: u8, displacement: i32) -> Memory {
        Memory { base, index: None, displacement }
    }
}

/// Last operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Register of the class that the instruction expects.
    Register(u8),
    /// Memory.
    Memory(Memory),
    /// Constant in the pool after the code.
    Constant(Constant),
}

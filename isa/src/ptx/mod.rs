//! PTX, the assembly language that NVIDIA's `ptxas` accepts: opcodes, and instructions on virtual registers.
//!
//! Instructions of the other targets are bit patterns, but a PTX instruction is a line of text. Therefore, rows of PTX
//! have another layout ([`row`]). The semantics of all targets are expressed in the same primitives
//! ([`Domain`](crate::halu::domain::Domain)).

mod calls;
mod code;
pub mod definedness;
mod device_runtime;
pub mod docs;
pub mod inst;
pub mod matrix;
pub mod meaning;
pub mod module;
pub mod names;
pub(crate) mod opcodes;
pub mod operand;
mod operand_kind;
pub mod program;
mod random;
pub mod resources;
pub mod row;
mod rows;
pub mod special;
pub mod template;
pub mod text;
pub mod types;

pub use code::{NAME, Ptx, PtxKernel, target};
pub use inst::{Guard, Inst};
pub use operand::{Address, Base, Callee, FrameVar, Label, Operand, Part, Reg, Var, Vector};
use row::Row;

use crate::row::opcode_enum;

/// Declares the opcode enum, with every row once.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// A PTX instruction variant: a mnemonic with the modifiers and operand types that distinguish it from
            /// other variants of the same mnemonic. The parser tries the variants of a mnemonic in this order.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

//! PTX, the text that NVIDIA's assembler takes: opcodes, and instructions with virtual registers.
//!
//! Other targets have words of bits; this one has lines of text, so its rows are of another form ([`row`]). What its
//! instructions mean is said in the same primitives ([`Domain`](crate::halu::domain::Domain)).

mod code;
pub mod definedness;
pub mod docs;
pub mod inst;
pub mod matrix;
pub mod meaning;
pub mod module;
pub mod names;
pub(crate) mod opcodes;
pub mod operand;
pub mod program;
mod random;
pub mod row;
mod rows;
pub mod special;
pub mod template;
pub mod text;
pub mod types;

pub use code::{Code, NAME, Ptx, target};
pub use inst::{Guard, Inst};
pub use operand::{Address, Base, Callee, FrameVar, Label, Operand, Reg, Var, Vector};
use row::Row;

use crate::row::opcode_enum;

/// Lists every row once.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// A PTX instruction in one form: its mnemonic, and what tells it from others of that mnemonic. Those of a mnemonic stand in the
            /// order in which a text is tried against them.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

//! PTX, the text that NVIDIA's assembler takes: opcodes, and instructions with virtual registers.
//!
//! Other targets have words of bits; this one has lines of text, so its rows are of another form ([`row`]). What its
//! instructions mean is said in the same primitives ([`Domain`](crate::halu::domain::Domain)).

mod code;
pub mod docs;
pub mod inst;
pub mod meaning;
pub mod module;
pub mod names;
pub(crate) mod opcodes;
pub mod operand;
mod random;
pub mod row;
mod rows;
pub mod template;
pub mod text;
pub mod types;

pub use code::{Code, NAME, Ptx, target};
pub use inst::{Guard, Inst};
pub use operand::{Address, Base, Callee, FrameVar, Label, Operand, Reg, Var, Vector};
use row::Row;

/// Lists every row once: makes the [`Opcode`] enum and what maps it to its row.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        /// A PTX instruction in one form: its mnemonic, and what tells it from others of that mnemonic.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Opcode { $($($($name,)+)*)* }

        impl Opcode {
            /// Every opcode, in order; those of a mnemonic stand in the order in which a text is tried against them.
            pub const ALL: &'static [Opcode] = &[$($($(Opcode::$name,)+)*)*];

            /// The opcode's name, `ADD_F16`.
            pub const fn name(self) -> &'static str {
                match self { $($($(Opcode::$name => stringify!($name),)+)*)* }
            }

            /// The description that everything else follows from.
            #[inline]
            pub const fn row(self) -> &'static Row {
                match self { $($($(Opcode::$name => const { &rows::$module::$name },)+)*)* }
            }
        }
    };
}

opcodes::opcodes!(define);

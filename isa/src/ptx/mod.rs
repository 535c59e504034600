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
mod random;
pub mod row;
mod rows;
pub mod text;
pub mod types;
mod vector;

pub use code::{Code, NAME, Ptx, target};
pub use inst::{Address, Base, Guard, Inst, Label, Operand, Reg, Var};
use row::Row;
pub use vector::Vector;

/// Lists every row once: makes the [`Opcode`] enum and what maps it to its row.
macro_rules! opcodes {
    ($($module:ident: $($name:ident)*;)*) => {
        /// A PTX instruction in one form: its mnemonic, and what tells it from others of that mnemonic.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Opcode { $($($name,)*)* }

        impl Opcode {
            /// Every opcode, in order; those of a mnemonic stand in the order in which a text is tried against them.
            pub const ALL: &'static [Opcode] = &[$($(Opcode::$name,)*)*];

            /// The opcode's name, `ADD_F16`.
            pub const fn name(self) -> &'static str {
                match self { $($(Opcode::$name => stringify!($name),)*)* }
            }

            /// The description that everything else follows from.
            #[inline]
            pub const fn row(self) -> &'static Row {
                match self { $($(Opcode::$name => const { &rows::$module::$name },)*)* }
            }
        }
    };
}

opcodes! {
    integer:
        ADD ADD_SAT SUB SUB_SAT MUL MUL_WIDE MAD MAD_WIDE MIN MAX ABS NEG SAD DP4A DP2A
        ADD_X2 MIN_X2 MIN_RELU_X2 MAX_X2 MAX_RELU_X2 ADD_X4 SUB_X4 MIN_X4 MAX_X4;
    bits:
        AND OR XOR NOT SHL SHR SHF LOP3 PRMT BFE BFI;
    compare:
        SETP_BITS SETP_INT SETP_UNSIGNED SETP_F32 SETP_F16 SETP_BF16 SETP_F16X2 SETP_BF16X2
        SET_BITS SET_INT SET_UNSIGNED SET_F32 SET_F16 SET_BF16 SET_F16X2 SET_BF16X2
        SELP SLCT_INT SLCT_F32;
    video:
        VADD2 VSUB2 VAVRG2 VABSDIFF2 VMIN2 VMAX2 VADD4 VSUB4 VAVRG4 VABSDIFF4 VMIN4 VMAX4;
    half:
        ADD_F16 ADD_BF16 SUB_F16 SUB_BF16 MUL_F16 MUL_BF16 FMA_F16 FMA_BF16
        MIN_F16 MIN_BF16 MAX_F16 MAX_BF16 NEG_F16 NEG_BF16 ABS_F16 ABS_BF16;
    float:
        ADD_F32 SUB_F32 MUL_F32 FMA_F32 DIV_F32 SQRT_F32 MIN_F32 MAX_F32 NEG_F32 ABS_F32;
    convert:
        CVT_INT CVT_INT_SAT CVT_PACK CVT_PACK_BYTES CVT_F32_INT CVT_F16_INT CVT_BF16_INT CVT_INT_F32 CVT_INT_F16 CVT_INT_BF16
        CVT_F16_F32 CVT_F16_F32_RELU CVT_BF16_F32 CVT_F32_F16 CVT_F32_BF16 CVT_F32_F32 CVT_F16_F16 CVT_F16X2_F32
        MOV MOV_SPECIAL MOV_PACK MOV_UNPACK MOV_ADDRESS;
    memory:
        LD_PARAM LD_PARAM_V2 LD_PARAM_V4 LD LD_V2 LD_V4 LD_NC LD_NC_V2 LD_NC_V4 ST ST_V2 ST_V4 CVTA CVTA_ADDRESS;
    control:
        BRA RET EXIT;
}

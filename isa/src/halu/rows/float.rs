//! Rows of the f32 instructions and conversions. The reference listings have no such instructions;
//! this project defines the encodings, and the mnemonics follow SASS.

use super::integer::forms;
use super::*;
use crate::row::{FieldTest, InvalidCombination};

const A_F: Operand = A.sign(RA_NEG, RA_ABS);
const B_R: Operand = gpr("rb", R32).sign(SLOT_NEG, SLOT_ABS);
const B_U: Operand = ur("urb", UR32).sign(SLOT_NEG, SLOT_ABS);
const B_I: Operand = f32_imm("fb");
const B_C: Operand = constant("cb").sign(SLOT_NEG, SLOT_ABS);
const C_R64: Operand = gpr("rc", R64).sign(R64_NEG, R64_ABS);
const B_R64: Operand = gpr("rb", R64).sign(R64_NEG, R64_ABS);

const FADD: Row = Row {
    mnemonic: "FADD",
    modifiers: &[M_RND],
    doc: "Adds two f32: `rd = ra + b`, rounded once, to nearest even unless a suffix selects another mode. Subnormals \
          are kept; a NaN result is 0x7fffffff.",
    examples: &["FADD R0, R1, -R2 ;", "FADD.RZ R0, |R1|, 0.5 ;"],
    ..HALU
};
forms! { FADD, 0x21;
    FADD_RR R [D, A_F, B_R];
    FADD_RI I [D, A_F, B_I];
    FADD_RU U [D, A_F, B_U];
    FADD_RC C [D, A_F, B_C];
}

const FMUL: Row = Row {
    mnemonic: "FMUL",
    modifiers: &[M_RND],
    doc: "Multiplies two f32: `rd = ra * b`, rounded like FADD. Subnormals are kept; a NaN result is 0x7fffffff.",
    examples: &["FMUL R0, R1, R2 ;", "FMUL.RM R0, R1, -1 ;"],
    ..HALU
};
forms! { FMUL, 0x20;
    FMUL_RR R [D, A_F, B_R];
    FMUL_RI I [D, A_F, B_I];
    FMUL_RU U [D, A_F, B_U];
    FMUL_RC C [D, A_F, B_C];
}

const FFMA: Row = Row {
    mnemonic: "FFMA",
    modifiers: &[M_RND],
    doc: "Multiplies and adds f32 with one rounding and the rounding modes of FADD: `rd = ra * b + c`. Subnormals are \
          kept; a NaN result is 0x7fffffff.",
    examples: &["FFMA R0, R1, R2, -R3 ;", "FFMA.RP R0, R1, 0.5, R3 ;"],
    ..HALU
};
forms! { FFMA, 0x23;
    FFMA_RRR R [D, A_F, B_R, C_R64];
    FFMA_RIR I [D, A_F, B_I, C_R64];
    FFMA_RRI RRI [D, A_F, B_R64, f32_imm("fc")];
    FFMA_RUR U [D, A_F, B_U, C_R64];
    FFMA_RCR C [D, A_F, B_C, C_R64];
}

const FMNMX: Row = Row {
    mnemonic: "FMNMX",
    modifiers: &[M_NAN],
    doc: "Minimum (`pp` true) or maximum (`pp` false) of two f32.\n\n\
          -0 is less than +0, and subnormals are kept. If one source is NaN, the result is the other source. If both \
          are NaN, or with `.NAN` either is, the result is 0x7fffffff.",
    examples: &["FMNMX R0, R1, R2, PT ;", "FMNMX.NAN R0, |R1|, 0.5, !PT ;"],
    ..HALU
};
forms! { FMNMX, 0x08;
    FMNMX_RR R [D, A_F, B_R, P];
    FMNMX_RI I [D, A_F, B_I, P];
    FMNMX_RU U [D, A_F, B_U, P];
    FMNMX_RC C [D, A_F, B_C, P];
}

const FSETP: Row = Row {
    mnemonic: "FSETP",
    modifiers: &[M_CMP, M_LOP],
    forbids: &[InvalidCombination {
        all: &[(PV, FieldTest::Same(PU)), (PV, FieldTest::Not(PT as u64))],
        why: "the two destination predicates must differ unless both are PT",
    }],
    doc: "Compares two f32: `pu = cmp lop pp` and `pv = !cmp lop pp`, where cmp is `ra cmp b` with one of the fourteen \
          comparisons of HSETP2. Subnormals are kept. An omitted `pp` is PT.",
    examples: &["FSETP.LT.AND P0, PT, R1, |R2| ;", "FSETP.NAN.OR P0, P1, R1, R1, !P0 ;"],
    ..HALU
};
forms! { FSETP, 0x0b;
    FSETP_RR R [DU, DV, A_F, B_R, P.optional()];
    FSETP_RI I [DU, DV, A_F, B_I, P.optional()];
    FSETP_RU U [DU, DV, A_F, B_U, P.optional()];
    FSETP_RC C [DU, DV, A_F, B_C, P.optional()];
}

const FDIV: Row = Row {
    mnemonic: "FDIV",
    modifiers: &[M_RND],
    doc: "Divides two f32: `rd = ra / rb`, correctly rounded, with the rounding modes of FADD. Subnormals are kept; a \
          NaN result is 0x7fffffff.",
    examples: &["FDIV R0, R1, R2 ;", "FDIV.RZ R0, R1, R2 ;"],
    ..HALU
};
forms! { FDIV, 0x28; FDIV_RR R [D, A_F, B_R]; }

const FSQRT: Row = Row {
    mnemonic: "FSQRT",
    modifiers: &[M_RND],
    doc: "Computes the square root of an f32, correctly rounded, with the rounding modes of FADD. The root of -0 is \
          -0; a NaN result is 0x7fffffff.",
    examples: &["FSQRT R0, |R1| ;", "FSQRT.RP R0, R1 ;"],
    ..HALU
};
forms! { FSQRT, 0x29; FSQRT_R R [D, B_R]; }

const MUFU_BASE: Row = Row {
    mnemonic: "MUFU",
    modifiers: &[M_MUFU],
    doc: "Computes a function of an f32: cosine, sine, power of 2, base-2 logarithm, reciprocal square root or \
          hyperbolic tangent. The result is the exact value rounded to nearest even, more accurate than on a GPU. \
          Subnormals are kept; a NaN result is 0x7fffffff.",
    examples: &["MUFU.EX2 R0, R1 ;", "MUFU.RSQ R0, |R1| ;"],
    ..HALU
};
forms! { MUFU_BASE, 0x35; MUFU_R R [D, B_R]; }

const I2F: Row = Row {
    mnemonic: "I2F",
    modifiers: &[M_SIGN, M_INT_RND],
    doc: "Converts a 32-bit integer to an f32, rounded like FADD.",
    examples: &["I2F.S32 R0, R1 ;", "I2F.U32.RZ R0, R1 ;"],
    ..HALU
};
forms! { I2F, 0x06; I2F_R R [D, gpr("rb", R32)]; }

const F2I: Row = Row {
    mnemonic: "F2I",
    modifiers: &[M_SIGN],
    doc: "Converts an f32 to a 32-bit integer, rounded toward zero. Values out of range saturate; NaN becomes 0.",
    examples: &["F2I.U32 R0, R1 ;"],
    ..HALU
};
forms! { F2I, 0x05; F2I_R R [D, B_R]; }

const NARROW: Row = Row {
    mnemonic: "F2F",
    modifiers: &[M_RND],
    doc: "Rounds an f32 once to a 16-bit float, in the low half of `rd`; the high half is 0. Overflow depends on the \
          rounding mode, as in IEEE 754. Subnormals are kept; a NaN result is 0x7fff.",
    examples: &["F2F.F16.F32 R0, R1 ;", "F2F.BF16.F32.RZ R0, -R1 ;"],
    ..HALU
};
const F16_F32: Row = Row { tags: &["F16", "F32"], ..NARROW };
const BF16_F32: Row = Row { tags: &["BF16", "F32"], ..NARROW };
const WIDEN: Row = Row {
    mnemonic: "F2F",
    doc: "Converts a 16-bit float exactly to f32. The suffix selects the half of `rb`. A NaN becomes 0x7fffffff.",
    examples: &["F2F.F32.F16 R0, R1.H1 ;", "F2F.F32.BF16 R0, |R1| ;"],
    ..HALU
};
const F32_F16: Row = Row { tags: &["F32", "F16"], ..WIDEN };
const F32_BF16: Row = Row { tags: &["F32", "BF16"], ..WIDEN };
const B_LANE: Operand = B_R.suffix(Suffix::Choice(M_LANE));
forms! { F16_F32, 0x2a; F2F_F16_F32 R [D, B_R]; }
forms! { BF16_F32, 0x2b; F2F_BF16_F32 R [D, B_R]; }
forms! { F32_F16, 0x2c; F2F_F32_F16 R [D, B_LANE]; }
forms! { F32_BF16, 0x2d; F2F_F32_BF16 R [D, B_LANE]; }

const F2FP: Row = Row {
    mnemonic: "F2FP",
    modifiers: &[M_PACK, M_RND],
    doc: "Rounds two f32 once each to 16-bit floats and packs them: `ra` into the high half of `rd`, `rb` into the \
          low. Overflow depends on the rounding mode, as in IEEE 754. Subnormals are kept; a NaN result is 0x7fff.",
    examples: &["F2FP.BF16 R0, R1, R2 ;", "F2FP.F16.RZ R0, R1, R2 ;"],
    ..HALU
};
forms! { F2FP, 0x3e; F2FP_RR R [D, A_F, B_R]; }

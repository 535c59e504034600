//! Rows of the f64 instructions and conversions. An f64 is in a pair of registers, the low word in
//! the register with the even number. The reference listings have no such instructions; this
//! project defines the encodings, and the mnemonics follow SASS.

use super::integer::forms;
use super::*;
use crate::row::{FieldTest, InvalidCombination};

const D_PAIR: Operand = D.span(2);
const A_PAIR: Operand = A.span(2);
const B_R: Operand = gpr("rb", R32);
const B_PAIR: Operand = B_R.span(2);
const C_PAIR: Operand = gpr("rc", R64).span(2);

macro_rules! arithmetic {
    ($($base:ident $name:ident $mnemonic:literal $optype:literal [$($operand:expr),*]; $doc:literal; $example:literal;)*) => { $(
        const $base: Row = Row {
            mnemonic: $mnemonic,
            modifiers: &[M_RND],
            doc: concat!(
                $doc,
                " The result is rounded once, to nearest even unless a suffix selects another mode. If a source is \
                 NaN, the result is the first NaN source, quieted; any other NaN result is 0xfff8000000000000. Sources \
                 and result are pairs of registers, the low word in the even one."
            ),
            examples: &[$example],
            ..HALU
        };
        forms! { $base, $optype; $name R [$($operand),*]; }
    )* };
}
arithmetic! {
    DADD DADD_RR "DADD" 0x60 [D_PAIR, A_PAIR, B_PAIR.neg(SLOT_NEG)];
        "Adds two f64; `-` subtracts the second but does not change the sign of a NaN.";
        "DADD.RZ R0, R2, -R4 ;";
    DMUL DMUL_RR "DMUL" 0x61 [D_PAIR, A_PAIR, B_PAIR];
        "Multiplies two f64.";
        "DMUL R0, R2, R4 ;";
    DFMA DFMA_RRR "DFMA" 0x62 [D_PAIR, A_PAIR, B_PAIR, C_PAIR];
        "Multiplies and adds f64: `rd = ra * rb + rc`.";
        "DFMA.RP R0, R2, R4, R6 ;";
    DDIV DDIV_RR "DDIV" 0x63 [D_PAIR, A_PAIR, B_PAIR];
        "Divides two f64.";
        "DDIV R0, R2, R4 ;";
    DSQRT DSQRT_R "DSQRT" 0x64 [D_PAIR, B_PAIR];
        "Computes the square root of an f64; the root of -0 is -0.";
        "DSQRT.RM R0, R2 ;";
}

const DMNMX: Row = Row {
    mnemonic: "DMNMX",
    doc: "Minimum (`pp` true) or maximum (`pp` false) of two f64 in pairs of registers.\n\n\
          -0 is less than +0. If one source is NaN, the result is the other source; if both are NaN, it is the first \
          one, quieted.",
    examples: &["DMNMX R0, R2, R4, !PT ;"],
    ..HALU
};
forms! { DMNMX, 0x65; DMNMX_RR R [D_PAIR, A_PAIR, B_PAIR, P]; }

const DSETP: Row = Row {
    mnemonic: "DSETP",
    modifiers: &[M_CMP, M_LOP],
    forbids: &[InvalidCombination {
        all: &[(PV, FieldTest::Same(PU)), (PV, FieldTest::Not(PT as u64))],
        why: "the two destination predicates must differ unless both are PT",
    }],
    doc: "Compares two f64 in pairs of registers: `pu = cmp lop pp` and `pv = !cmp lop pp`, where cmp is `ra cmp rb` \
          with one of the fourteen comparisons of HSETP2. An omitted `pp` is PT.",
    examples: &["DSETP.LT.AND P0, PT, R2, R4 ;"],
    ..HALU
};
forms! { DSETP, 0x66; DSETP_RR R [DU, DV, A_PAIR, B_PAIR, P.optional()]; }

macro_rules! conversions {
    ($($base:ident $name:ident $mnemonic:literal [$($tag:literal)*] $optype:literal [$($modifier:expr),*] [$($operand:expr),*];
       $doc:literal; $example:literal;)*) => { $(
        const $base: Row = Row {
            mnemonic: $mnemonic,
            tags: &[$($tag),*],
            modifiers: &[$($modifier),*],
            doc: $doc,
            examples: &[$example],
            ..HALU
        };
        forms! { $base, $optype; $name R [$($operand),*]; }
    )* };
}
conversions! {
    F64_F32 F2F_F64_F32 "F2F" ["F64" "F32"] 0x68 [] [D_PAIR, B_R];
        "Converts an f32 exactly to an f64. A NaN keeps its payload but becomes positive and quiet.";
        "F2F.F64.F32 R0, R2 ;";
    F64_F16 F2F_F64_F16 "F2F" ["F64" "F16"] 0x69 [] [D_PAIR, B_R];
        "Converts the f16 in the low half of `rb` exactly to an f64. A NaN keeps its payload but becomes positive and \
         quiet.";
        "F2F.F64.F16 R0, R2 ;";
    F32_F64 F2F_F32_F64 "F2F" ["F32" "F64"] 0x6a [M_RND] [D, B_PAIR];
        "Rounds an f64 once to an f32. Overflow depends on the rounding mode, as in IEEE 754. Subnormals are kept; a \
         NaN result is 0x7fffffff.";
        "F2F.F32.F64.RZ R0, R2 ;";
    F16_F64 F2F_F16_F64 "F2F" ["F16" "F64"] 0x6b [M_RND] [D, B_PAIR];
        "Rounds an f64 once to an f16, in the low half of `rd`; the high half is 0. Overflow depends on the rounding \
         mode, as in IEEE 754. Subnormals are kept; a NaN result is 0x7fff.";
        "F2F.F16.F64 R0, R2 ;";
    F64_INT I2F_F64 "I2F" ["F64"] 0x6c [M_SIGN] [D_PAIR, B_R];
        "Converts a 32-bit integer exactly to an f64.";
        "I2F.F64.S32 R0, R2 ;";
    F64_WIDE I2F_F64_WIDE "I2F" ["F64" "WIDE"] 0x6d [M_SIGN, M_INT_RND] [D_PAIR, B_PAIR];
        "Converts a 64-bit integer in a pair of registers to an f64, rounded to nearest even unless a suffix selects \
         another mode. The integer is signed with `.S32` and unsigned with `.U32`.";
        "I2F.F64.WIDE.U32.RZ R0, R2 ;";
    INT_F64 F2I_F64 "F2I" ["F64"] 0x6e [M_SIGN] [D, B_PAIR];
        "Converts an f64 to a 32-bit integer, rounded toward zero. Values out of range saturate; NaN becomes \
         0x80000000.";
        "F2I.F64.U32 R0, R2 ;";
    WIDE_F64 F2I_F64_WIDE "F2I" ["F64" "WIDE"] 0x6f [M_SIGN] [D_PAIR, B_PAIR];
        "Converts an f64 to a 64-bit integer, rounded toward zero. Values out of range saturate; NaN becomes \
         0x8000000000000000. The integer is signed with `.S32` and unsigned with `.U32`.";
        "F2I.F64.WIDE.S32 R0, R2 ;";
}

//! Rows of packed-half arithmetic: HADD2, HMUL2, HFMA2, HMNMX2, HSETP2, HSET2 (HALU reference, seed 001).

use super::*;
use crate::row::{FieldTest, InvalidCombination, Modifier};

const A_HALF: Operand = half(A.sign(RA_NEG, RA_ABS), RA_HALF);
/// Second source as a GPR in bits 63:32.
const B_R: Operand = half(gpr("rb", R32).sign(SLOT_NEG, SLOT_ABS), B_HALF);
const B_U: Operand = half(ur("urb", UR32).sign(SLOT_NEG, SLOT_ABS), B_HALF);
const B_C: Operand = half(constant("cb").sign(SLOT_NEG, SLOT_ABS), B_HALF);
/// Second source as a GPR at bit 64, for encodings whose third source is in bits 63:32.
const B_R64: Operand = half(gpr("rb", R64).sign(R64_NEG, R64_ABS), B_HALF);
/// Third source as a GPR at bit 64.
const C_R64: Operand = half(gpr("rc", R64).sign(R64_NEG, R64_ABS), C_HALF);
const C_U: Operand = half(ur("urc", UR32).sign(SLOT_NEG, SLOT_ABS), C_HALF);
const C_C: Operand = half(constant("cc").sign(SLOT_NEG, SLOT_ABS), C_HALF);

const fn pair(name: &'static str) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::HalfPair { field: IMM32, format: HFMT })
}

/// Defines the four rows of an instruction with two sources, whose second source is a GPR, a UR, an
/// immediate or constant memory. The operands are `lead`, the second source and `tail`.
macro_rules! two_source {
    ($base:ident, $optype:literal, [$($lead:expr),*], [$($tail:expr),*]: $rr:ident $ru:ident $ri:ident $rc:ident) => {
        two_source!(@ $base, $optype, R, [$($lead,)* B_R $(, $tail)*], $rr);
        two_source!(@ $base, $optype, U, [$($lead,)* B_U $(, $tail)*], $ru);
        two_source!(@ $base, $optype, I, [$($lead,)* pair("vb") $(, $tail)*], $ri);
        two_source!(@ $base, $optype, C, [$($lead,)* B_C $(, $tail)*], $rc);
    };
    (@ $base:ident, $optype:literal, $stype:ident, [$($operand:expr),*], $name:ident) => {
        pub(crate) const $name: Row =
            Row { fixed: &[(OPTYPE, $optype), (STYPE, $stype)], operands: &[$($operand),*], ..$base };
    };
}

const BF16_FTZ: InvalidCombination = InvalidCombination {
    all: &[(FTZ, FieldTest::Eq(1)), (HFMT, FieldTest::Eq(1))],
    why: "BF16_V2 does not support .FTZ or .SAT",
};
const BF16_SAT: InvalidCombination =
    InvalidCombination { all: &[(SAT, FieldTest::Eq(1)), (HFMT, FieldTest::Eq(1))], why: BF16_FTZ.why };
const SAT_RELU: InvalidCombination = InvalidCombination {
    all: &[(SAT, FieldTest::Eq(1)), (RELU, FieldTest::Eq(1))],
    why: ".SAT and .RELU exclude each other",
};
const SAME_PREDS: InvalidCombination = InvalidCombination {
    all: &[(PV, FieldTest::Same(PU)), (PV, FieldTest::Not(PT as u64))],
    why: "the two destination predicates must differ unless both are PT",
};

/// An optional predicate source, which the text may invert: `{, {!}pp}`. The default is PT.
const P_OPT: Operand = P.optional();

const HADD2: Row = Row {
    mnemonic: "HADD2",
    modifiers: &[M_HFMT, M_FTZ, M_SAT, M_RND, M_F32],
    forbids: &[BF16_FTZ, BF16_SAT],
    doc: "Adds two packed halves: `rd = ra + b`, each lane on its own. Lane 0 is the low 16 bits.\n\n\
          Each lane selects its half of the source, takes the absolute value, negates, adds exactly and rounds once. \
          `.FTZ` flushes subnormal sources and results to zeros of their sign. `.SAT` clamps the result to [+0, 1] and \
          turns NaN and -0 into +0. An exact zero sum of unlike signs is +0, but -0 under `.RM`. A NaN result is \
          0x7fff.\n\n\
          `.F32` converts the 16-bit result of lane 0 exactly to f32 and writes only this value; a NaN becomes \
          0x7fffffff.",
    examples: &["HADD2 R0, R1.H0_H0, R2 ;", "HADD2.SAT R3, R6, -R7 ;", "HADD2.FTZ R1, -|R4|, -1, 1 ;"],
    ..HALU
};
two_source!(HADD2, 0x30, [D, A_HALF], []: HADD2_RR HADD2_RU HADD2_RI HADD2_RC);

const HMUL2: Row = Row {
    mnemonic: "HMUL2",
    modifiers: &[M_HFMT, M_FTZ, M_SAT, M_RND],
    forbids: &[BF16_FTZ, BF16_SAT],
    doc: "Multiplies two packed halves: `rd = ra * b`, each lane on its own. Lane 0 is the low 16 bits.\n\n\
          Each lane selects its half of the source, takes the absolute value, negates, multiplies exactly and rounds \
          once. `.FTZ` flushes subnormal sources and results to zeros of their sign. `.SAT` clamps the result to [+0, \
          1] and turns NaN and -0 into +0. In every rounding mode the sign of a zero is the xor of the factors' signs. \
          A NaN result is 0x7fff.",
    examples: &["HMUL2 R0, R1, R2 ;", "HMUL2.SAT R3, R6, -R7.H0_H0 ;", "HMUL2.FTZ R1, -|R4|, 0, -1 ;"],
    ..HALU
};
two_source!(HMUL2, 0x32, [D, A_HALF], []: HMUL2_RR HMUL2_RU HMUL2_RI HMUL2_RC);

const HFMA2: Row = Row {
    mnemonic: "HFMA2",
    modifiers: &[M_HFMT, M_FTZ, M_RELU, M_SAT, M_RND],
    forbids: &[BF16_FTZ, BF16_SAT, SAT_RELU],
    doc: "Multiplies and adds packed halves with one rounding: `rd = ra * b + c`, each lane on its own. Lane 0 is the \
          low 16 bits.\n\n\
          Each lane selects its half of the source, takes the absolute value, negates, multiplies and adds exactly, \
          and rounds once. `.FTZ` flushes subnormal sources and results to zeros of their sign. `.SAT` clamps the \
          result to [+0, 1] and turns NaN and -0 into +0. `.RELU` turns results below zero into +0 and keeps -0 and \
          NaN. An exact zero sum of unlike signs is +0, but -0 under `.RM`. A NaN result is 0x7fff.",
    examples: &[
        "HFMA2 R0, R1, R2.H1_H1, RZ ;",
        "HFMA2.FTZ.RZ R0, -|R1.H1_H1|, R2, R3 ;",
        "HFMA2.BF16_V2.RELU R4, R5, 0.5, 2, -R6 ;",
    ],
    ..HALU
};

macro_rules! hfma2 {
    ($($name:ident $stype:ident $b:expr, $c:expr;)*) => { $(
        pub(crate) const $name: Row =
            Row { fixed: &[(OPTYPE, 0x31), (STYPE, $stype)], operands: &[D, A_HALF, $b, $c], ..HFMA2 };
    )* };
}
hfma2! {
    HFMA2_RRR R B_R, C_R64;
    HFMA2_RRI RRI B_R64, pair("vc");
    HFMA2_RIR I pair("vb"), C_R64;
    HFMA2_RRU RRU B_R64, C_U;
    HFMA2_RUR U B_U, C_R64;
    HFMA2_RRC RRC B_R64, C_C;
    HFMA2_RCR C B_C, C_R64;
}

const HMNMX2: Row = Row {
    mnemonic: "HMNMX2",
    modifiers: &[M_HFMT, M_FTZ, M_NAN],
    doc: "Minimum (`pp` true) or maximum (`pp` false) of two packed halves, each lane on its own. Lane 0 is the low 16 \
          bits.\n\n\
          -0 is less than +0. `.FTZ` flushes subnormal sources to zeros of their sign. If one source is NaN, the \
          result is the other source. If both are NaN, or with `.NAN` either is, the result is 0x7fff.",
    examples: &["HMNMX2 R0, -|R1|, -|R2|, !PT ;", "HMNMX2 R0, R1, 1, -4, P0 ;", "HMNMX2 R0, R1, 0.125, -2, !P1 ;"],
    ..HALU
};
two_source!(HMNMX2, 0x40, [D, A_HALF], [P]: HMNMX2_RR HMNMX2_RU HMNMX2_RI HMNMX2_RC);

const COMPARE: &[Modifier] = &[M_HFMT, M_FTZ, M_CMP, M_LOP];

const HSETP2: Row = Row {
    mnemonic: "HSETP2",
    modifiers: COMPARE,
    forbids: &[SAME_PREDS],
    doc: "Compares two packed halves and combines the result of each lane with `pp`: `pu = (ra.lane0 cmp b.lane0) lop \
          pp`, and `pv` is the same for lane 1.\n\n\
          +0 equals -0. If a source is NaN, EQ NE LT LE GT GE are false and EQU NEU LTU LEU GTU GEU are true. NUM is \
          true if neither source is NaN, NAN if either is. `.FTZ` flushes subnormal sources to zero. `pp` is read \
          before `pu` and `pv` are written. An omitted `pp` is PT.",
    examples: &["HSETP2.LE.AND P0, P1, R4, R6 ;", "HSETP2.FTZ.GTU.OR P0, P1, -|R5|, -1, 0, !PT ;"],
    ..HALU
};
two_source!(HSETP2, 0x34, [DU, DV, A_HALF], [P_OPT]: HSETP2_RR HSETP2_RU HSETP2_RI HSETP2_RC);

const HSET2: Row = Row {
    mnemonic: "HSET2",
    modifiers: &[M_HFMT, M_FTZ, M_CMP, M_LOP, M_BVAL],
    doc: "Compares two packed halves, combines the result of each lane with `pp` and writes it to the same lane of \
          `rd`. True is 0xffff, or with `.BF` 1.0; false is 0. Lane 0 is the low 16 bits.\n\n\
          +0 equals -0. If a source is NaN, EQ NE LT LE GT GE are false and EQU NEU LTU LEU GTU GEU are true. NUM is \
          true if neither source is NaN, NAN if either is. `.FTZ` flushes subnormal sources to zero. An omitted `pp` \
          is PT.",
    examples: &["HSET2.LE.AND R1, R4, R6 ;", "HSET2.FTZ.GTU.OR.BF R0, -|R5|, -1, 0, !PT ;"],
    ..HALU
};
two_source!(HSET2, 0x33, [D, A_HALF], [P_OPT]: HSET2_RR HSET2_RU HSET2_RI HSET2_RC);

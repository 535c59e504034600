//! Rows of the integer and logic instructions. The reference listings have no such instructions;
//! this project defines the encodings, and the mnemonics follow SASS.

use super::*;
use crate::row::{FieldTest, InvalidCombination};

const B_R: Operand = gpr("rb", R32);
const B_U: Operand = ur("urb", UR32);
const B_I: Operand = bits("ib", IMM32);
const B_C: Operand = constant("cb");
const C_R64: Operand = gpr("rc", R64);

/// Defines rows that share a mnemonic and differ in their operands. Each row is given by its name,
/// its STYPE and its operands.
macro_rules! forms {
    ($base:ident, $optype:literal; $($name:ident $stype:ident [$($operand:expr),*];)*) => { $(
        pub(crate) const $name: Row =
            Row { fixed: &[(OPTYPE, $optype), (STYPE, $stype)], operands: &[$($operand),*], ..$base };
    )* };
}
pub(super) use forms;

const IADD3: Row = Row {
    mnemonic: "IADD3",
    modifiers: &[M_X],
    defaults: &[(PP_NOT, 1)],
    forbids: &[
        InvalidCombination {
            all: &[(PP, FieldTest::Not(PT as u64)), (X, FieldTest::Eq(0))],
            why: "a carry source needs .X",
        },
        InvalidCombination {
            all: &[(PP_NOT, FieldTest::Eq(0)), (X, FieldTest::Eq(0))],
            why: "a carry source needs .X",
        },
    ],
    doc: "Adds three 32-bit integers: `rd` is the exact sum S modulo 2^32, and `pu` is the carry, `S >= 2^32`. An \
          omitted `pu` is PT.\n\n\
          Sources are unsigned. A source with `-` contributes `~x + 1` to S, so that `-0` contributes 2^32. With `.X` \
          such a source contributes `~x`, and 1 is added if `pp` is true. An omitted `pp` is !PT, which is false. A \
          carry of 2 sets `pu` like a carry of 1, so the third source of a carry chain must be RZ:\n\n\
          * 64-bit sum: `IADD3 R0, P0, R2, R4, RZ`, then `IADD3.X R1, R3, R5, RZ, P0`\n\
          * 64-bit difference: `IADD3 R0, P0, R2, -R4, RZ`, then `IADD3.X R1, R3, -R5, RZ, P0`",
    examples: &["IADD3 R0, P0, R2, -R4, RZ ;", "IADD3.X R1, R3, -R5, RZ, P0 ;", "IADD3 R0, R1, 0x10, R2 ;"],
    ..HALU
};
const CARRY_OUT: Operand = DU.optional();
const IADD3_A: Operand = A.neg(RA_NEG);
const IADD3_C: Operand = C_R64.neg(R64_NEG);
forms! { IADD3, 0x10;
    IADD3_RRR R [D, CARRY_OUT, IADD3_A, B_R.neg(SLOT_NEG), IADD3_C, P.optional()];
    IADD3_RIR I [D, CARRY_OUT, IADD3_A, B_I, IADD3_C, P.optional()];
    IADD3_RUR U [D, CARRY_OUT, IADD3_A, B_U.neg(SLOT_NEG), IADD3_C, P.optional()];
    IADD3_RCR C [D, CARRY_OUT, IADD3_A, B_C.neg(SLOT_NEG), IADD3_C, P.optional()];
}

const IMAD: Row = Row {
    mnemonic: "IMAD",
    doc: "Multiplies and adds 32-bit integers: `rd = ra * b + c` modulo 2^32.",
    examples: &["IMAD R0, R1, R2, R3 ;", "IMAD R0, R1, 0x10, RZ ;"],
    ..HALU
};
forms! { IMAD, 0x24;
    IMAD_RRR R [D, A, B_R, C_R64];
    IMAD_RIR I [D, A, B_I, C_R64];
    IMAD_RRI RRI [D, A, gpr("rb", R64), bits("ic", IMM32)];
    IMAD_RUR U [D, A, B_U, C_R64];
    IMAD_RCR C [D, A, B_C, C_R64];
}

const IMAD_WIDE: Row = Row {
    mnemonic: "IMAD",
    tags: &["WIDE"],
    modifiers: &[M_SIGN],
    class: InstClass::Address,
    doc: "Multiplies 32-bit integers to 64 bits and adds a 64-bit integer: `rd:rd+1 = ra * b + rc:rc+1` modulo 2^64, \
          the low word in the even register. `.U32` zero-extends and `.S32` sign-extends `ra` and `b`.",
    examples: &["IMAD.WIDE.U32 R4, R0, R1, R2 ;", "IMAD.WIDE.S32 R4, R0, 0x4, RZ ;"],
    ..HALU
};
const D_PAIR: Operand = D.span(2);
const C_PAIR: Operand = C_R64.span(2);
forms! { IMAD_WIDE, 0x25;
    IMAD_WIDE_RRR R [D_PAIR, A, B_R, C_PAIR];
    IMAD_WIDE_RIR I [D_PAIR, A, B_I, C_PAIR];
    IMAD_WIDE_RUR U [D_PAIR, A, B_U, C_PAIR];
    IMAD_WIDE_RCR C [D_PAIR, A, B_C, C_PAIR];
}

macro_rules! division {
    ($($base:ident $name:ident $mnemonic:literal $optype:literal [$($tag:literal)?] [$($operand:expr),*]; $doc:literal; $example:literal;)*) => { $(
        const $base: Row = Row {
            mnemonic: $mnemonic,
            tags: &[$($tag)?],
            modifiers: &[M_SIGN],
            doc: $doc,
            examples: &[$example],
            ..HALU
        };
        forms! { $base, $optype; $name R [$($operand),*]; }
    )* };
}
const A_PAIR: Operand = A.span(2);
const B_PAIR: Operand = B_R.span(2);
division! {
    IDIV IDIV_RR "IDIV" 0x2e [] [D, A, B_R];
        "Divides 32-bit integers and rounds the quotient toward zero. A division by 0 gives all ones; with `.S32` the \
         least integer divided by -1 gives the least integer.";
        "IDIV.U32 R0, R1, R2 ;";
    IREM IREM_RR "IREM" 0x2f [] [D, A, B_R];
        "Computes the remainder of a division of 32-bit integers, `ra - rb * (ra / rb)`, which has the sign of `ra`. A \
         division by 0 gives all ones.";
        "IREM.S32 R0, R1, R2 ;";
    IDIV_WIDE IDIV_WIDE_RR "IDIV" 0x36 ["WIDE"] [D_PAIR, A_PAIR, B_PAIR];
        "Divides 64-bit integers in pairs of registers, with the semantics of IDIV. The low word is in the even \
         register. The integers are signed with `.S32` and unsigned with `.U32`.";
        "IDIV.WIDE.U32 R4, R0, R2 ;";
    IREM_WIDE IREM_WIDE_RR "IREM" 0x37 ["WIDE"] [D_PAIR, A_PAIR, B_PAIR];
        "Computes the remainder of a division of 64-bit integers in pairs of registers, with the semantics of IREM.";
        "IREM.WIDE.S32 R4, R0, R2 ;";
}

const LEA_BASE: Row = Row {
    mnemonic: "LEA",
    class: InstClass::Address,
    doc: "Scales an index and adds an offset: `rd = (ra << shift) + rb` modulo 2^32.",
    examples: &["LEA R0, R1, RZ, 0x2 ;"],
    ..HALU
};
forms! { LEA_BASE, 0x11; LEA R [D, A, B_R, bits("shift", SHIFT)]; }

const LOP3: Row = Row {
    mnemonic: "LOP3",
    doc: "Computes any bitwise function of three words. Bit i of `rd` is bit `4*a + 2*b + c` of the truth table, where \
          a, b and c are bit i of the sources. The table of a function is the value of the function for a = 0xf0, b = \
          0xcc, c = 0xaa.",
    examples: &["LOP3 R0, R1, R2, RZ, 0xc0 ;", "LOP3 R0, R1, 0xff, R3, 0xea ;"],
    ..HALU
};
const TABLE: Operand = bits("lut", LUT);
forms! { LOP3, 0x12;
    LOP3_RRR R [D, A, B_R, C_R64, TABLE];
    LOP3_RIR I [D, A, B_I, C_R64, TABLE];
    LOP3_RUR U [D, A, B_U, C_R64, TABLE];
    LOP3_RCR C [D, A, B_C, C_R64, TABLE];
}

const SHF: Row = Row {
    mnemonic: "SHF",
    modifiers: &[M_DIR, M_SIGN, M_HI],
    doc: "Shifts the 64-bit value `rc:ra` (`rc` is the high word) by `b` modulo 32, left with `.L`, right with `.R`. \
          `rd` is the low word of the result, or with `.HI` the high word. A right shift is arithmetic with `.S32` and \
          logical with `.U32`; only the high word differs.\n\n\
          * `x << n`: `SHF.L.U32 rd, x, n, RZ`\n\
          * `x >> n`: `SHF.R.U32.HI rd, RZ, n, x`, arithmetic with `.S32`\n\
          * rotation left: `SHF.L.U32.HI rd, x, n, x`",
    examples: &["SHF.L.U32 R0, R1, 0x4, RZ ;", "SHF.R.S32.HI R0, RZ, R2, R1 ;"],
    ..HALU
};
forms! { SHF, 0x19;
    SHF_RRR R [D, A, B_R, C_R64];
    SHF_RIR I [D, A, bits("ib", IMM32), C_R64];
}

const PRMT: Row = Row {
    mnemonic: "PRMT",
    doc: "Builds a word from the bytes of two words. Bytes 0 to 3 are those of `ra`, lowest first, and bytes 4 to 7 \
          those of `rc`. Bits 0 to 2 of nibble i of the selector choose byte i of `rd`. If bit 3 of the nibble is set, \
          byte i of `rd` is filled with the sign bit of the chosen byte. The selector is the low 16 bits of `b`.",
    examples: &["PRMT R0, R1, R2, R3 ;", "PRMT R0, R1, 0xba98, R3 ;"],
    ..HALU
};
forms! { PRMT, 0x16;
    PRMT_RRR R [D, A, B_R, C_R64];
    PRMT_RIR I [D, A, bits("selector", IMM16), C_R64];
}

const POPC: Row =
    Row { mnemonic: "POPC", doc: "Counts the set bits of a word: 0 to 32.", examples: &["POPC R0, R1 ;"], ..HALU };
forms! { POPC, 0x09; POPC_R R [D, B_R]; }

const FLO: Row = Row {
    mnemonic: "FLO",
    tags: &["U32"],
    doc: "Finds the leading one: the number of the highest set bit of a word, or -1 if no bit is set. 31 minus the \
          result is the number of leading zeros, also for 0.",
    examples: &["FLO.U32 R0, R1 ;"],
    ..HALU
};
forms! { FLO, 0x0a; FLO_R R [D, B_R]; }

const BREV: Row = Row {
    mnemonic: "BREV",
    doc: "Reverses the bits of a word: bit i of `rd` is bit 31 - i of `rb`.",
    examples: &["BREV R0, R1 ;"],
    ..HALU
};
forms! { BREV, 0x01; BREV_R R [D, B_R]; }

const IDP_BYTES: Row = Row {
    mnemonic: "IDP",
    tags: &["4A"],
    modifiers: &[M_BYTES_A, M_BYTES_B],
    order: ModifierOrder::Fixed,
    doc: "Dot product of bytes: multiplies each byte of `ra` by the same byte of `rb` and adds the four products to \
          `rc`, modulo 2^32. `.U8` zero-extends and `.S8` sign-extends the bytes of `ra` (first suffix) and `rb` \
          (second suffix).",
    examples: &["IDP.4A.S8.S8 R0, R1, R2, R3;", "IDP.4A.U8.S8 R0, R1, R2, RZ;"],
    ..HALU
};
forms! { IDP_BYTES, 0x26; IDP_4A R [D, A, B_R, C_R64]; }

const IDP_HALVES: Row = Row {
    mnemonic: "IDP",
    tags: &["2A"],
    modifiers: &[M_UPPER, M_HALVES_A, M_BYTES_B],
    order: ModifierOrder::Fixed,
    doc: "Dot product of halfwords and bytes: multiplies the two halfwords of `ra` by two bytes of `rb`, the lower two \
          with `.LO`, the upper two with `.HI`, and adds the products to `rc`, modulo 2^32. The type suffixes select \
          zero-extension or sign-extension of the halfwords and the bytes.",
    examples: &["IDP.2A.LO.S16.S8 R0, R1, R2, R3;", "IDP.2A.HI.U16.U8 R0, R1, R2, RZ;"],
    ..HALU
};
forms! { IDP_HALVES, 0x27; IDP_2A R [D, A, B_R, C_R64]; }

const ISETP: Row = Row {
    mnemonic: "ISETP",
    modifiers: &[M_ICMP, M_SIGN, M_LOP, M_EX],
    forbids: &[
        InvalidCombination {
            all: &[(PX, FieldTest::Not(PT as u64)), (EX, FieldTest::Eq(0))],
            why: "a second source predicate needs .EX",
        },
        InvalidCombination {
            all: &[(PX_NOT, FieldTest::Eq(1)), (EX, FieldTest::Eq(0))],
            why: "a second source predicate needs .EX",
        },
        InvalidCombination {
            all: &[(PV, FieldTest::Same(PU)), (PV, FieldTest::Not(PT as u64))],
            why: "the two destination predicates must differ unless both are PT",
        },
    ],
    doc: "Compares two 32-bit integers: `pu = cmp lop pp` and `pv = !cmp lop pp`, where cmp is `ra cmp b`.\n\n\
          With `.EX` cmp is `px` if `ra` equals `b`. A 64-bit comparison is an unsigned comparison of the low words, \
          then the same comparison of the high words with `.EX` and the first result as `px`. Omitted `pp` and `px` \
          are PT.",
    examples: &[
        "ISETP.LT.U32.AND P0, PT, R1, R2 ;",
        "ISETP.GE.S32.AND P0, PT, R1, 0x10, P2 ;",
        "ISETP.LT.S32.AND.EX P0, PT, R1, R3, PT, P0 ;",
    ],
    ..HALU
};
const PX_OPT: Operand = pred("px", PX).not(PX_NOT).optional();
forms! { ISETP, 0x0c;
    ISETP_RR R [DU, DV, A, B_R, P.optional(), PX_OPT];
    ISETP_RI I [DU, DV, A, B_I, P.optional(), PX_OPT];
    ISETP_RU U [DU, DV, A, B_U, P.optional(), PX_OPT];
    ISETP_RC C [DU, DV, A, B_C, P.optional(), PX_OPT];
}

//! Rows of the address unit: loads, stores and address arithmetic.

use super::*;

/// Appends the computation of the address to the description of a load or store. With `then`, the
/// access updates the address register; with `or`, the register is unchanged.
macro_rules! access {
    (then $what:literal) => {
        access!(@ $what, " The second source is then added to the low 16 bits of the address register.", "new address")
    };
    (or $what:literal) => {
        access!(@ $what, " The address is the register or-ed with the offset. The register is not changed.", "sum of address and offset")
    };
    (@ $what:literal, $then:literal, $next:literal) => {
        concat!(
            $what, $then, "\n\n\
            An address is bits 0 to 12 of its register; bits 30 and 31 are the stride code t. A row is 16 bytes; byte \
            n is in bank `n + (t == 0 ? n >> 5 & 7 : n >> 4 + t) & 15` of row `n >> 4`. aef of `cd`: the low 16 bits \
            of the ", $next, " are at least the limit, bits 16 to 29."
        )
    };
}

const LDVH_DOC: &str = access!(then "Loads 16 bytes of one row; the low 4 bits of the address are ignored.");
const LDVV_DOC: &str = access!(then "Loads a column: component i is byte `n | i << 4 + t`, where the 4 address bits from bit 4 + t are ignored.");
const LDS_DOC: &str = access!(then "Loads 4 bytes, the lowest first; the low 2 bits of the address are ignored.");
const STVH_DOC: &str = access!(then "Stores 16 bytes to one row; the low 4 bits of the address are ignored.");
const STVV_DOC: &str = access!(then "Stores a column: component i is byte `n | i << 4 + t`, where the 4 address bits from bit 4 + t are ignored.");
const STS_DOC: &str = access!(then "Stores 4 bytes, the lowest first; the low 2 bits of the address are ignored.");

const A_1_STEP: Operand = update("a1", RegFile::A, SRC1);
const A_D_STEP: Operand = update("ad", RegFile::A, DST);
const A_D_USE: Operand = reg("ad", RegFile::A, DST);
const STEP: Operand = signed("imm", IMM);
const OFFSET: Operand = unsigned("imm", IMM);
const VX_D: Operand = implicit("vx", OperandRole::Def, RegFile::Vx);
/// A quad of destination registers. The instruction writes at most one of these registers.
const V_DQ: Operand =
    Operand::new("vd", OperandRole::Update, OperandKind::Tuple { file: RegFile::V, field: DST, count: 4 });
const DMA: &str = "DMA instruction. Its effect is unknown, so it traps.";

rows! {
    MEMORY LDAVH_R = 0xc0; "ldavh" [V_D, C_D, A_1_STEP, A_S] "ldavh $v10 $a21 (slct $c0 aef $a9d)", LDVH_DOC;
    MEMORY LDAVV_R = 0xc1; "ldavv" [V_D, C_D, A_1_STEP, A_S] "ldavv $v0 $c2 $a19 (slct $c2 b18 $a13d)", LDVV_DOC;
    MEMORY LDAS_R = 0xc2; "ldas" [R_D, C_D, A_1_STEP, A_S] "ldas $r6 $a10 (slct $c0 aef $a4d)", LDS_DOC;
    MEMORY LDAVH_I = 0xd0; "ldavh" [V_D, C_D, A_1_STEP, STEP] "ldavh $v9 $c0 $a22 0x26f", LDVH_DOC;
    MEMORY LDAVV_I = 0xd1; "ldavv" [V_D, C_D, A_1_STEP, STEP] "ldavv $v0 $a16 -0x96", LDVV_DOC;
    MEMORY LDAS_I = 0xd2; "ldas" [R_D, C_D, A_1_STEP, STEP] "ldas $r1 $a18 0x1c2", LDS_DOC;
    MEMORY STAVH_R = 0xc4; "stavh" [V_1, C_D, A_D_STEP, A_S] "stavh $v28 $c0 $a15 $a10", STVH_DOC;
    MEMORY STAVV_R = 0xc5; "stavv" [V_1, C_D, A_D_STEP, A_S] "stavv $v29 $a31 (slct $c1 b20 $a5q)", STVV_DOC;
    MEMORY STAS_R = 0xc6; "stas" [R_1, C_D, A_D_STEP, A_S] "stas $r23 $a2 (slct $c0 azf $a5d)", STS_DOC;
    MEMORY STAVH_I = 0xd4; "stavh" [V_1, C_D, A_D_STEP, STEP] "stavh $v25 $c0 $a0 -0x146", STVH_DOC;
    MEMORY STAVV_I = 0xd5; "stavv" [V_1, C_D, A_D_STEP, STEP] "stavv $v18 $a16 0x3bb", STVV_DOC;
    MEMORY STAS_I = 0xd6; "stas" [R_1, C_D, A_D_STEP, STEP] "stas $r5 $c2 $a26 -0x341", STS_DOC;
    MEMORY LDVH = 0xd8; "ldvh" [V_D, C_D, A_1, OFFSET] "ldvh $v30 $a21 0x449",
        access!(or "Loads 16 bytes of one row; the low 4 bits of the address are ignored.");
    MEMORY LDVV = 0xd9; "ldvv" [V_D, C_D, A_1, OFFSET] "ldvv $v28 $c3 $a2 0x308",
        access!(or "Loads a column: component i is byte `n | i << 4 + t`, where the 4 address bits from bit 4 + t are ignored.");
    MEMORY LDS = 0xda; "lds" [R_D, C_D, A_1, OFFSET] "lds $r20 $a18 0x5bf",
        access!(or "Loads 4 bytes, the lowest first; the low 2 bits of the address are ignored.");
    MEMORY STVH = 0xdc; "stvh" [V_1, C_D, A_D_USE, OFFSET] "stvh $v16 $c0 $a30 0x4cc",
        access!(or "Stores 16 bytes to one row; the low 4 bits of the address are ignored.");
    MEMORY STVV = 0xdd; "stvv" [V_1, C_D, A_D_USE, OFFSET] "stvv $v0 $a29 0x10e",
        access!(or "Stores a column: component i is byte `n | i << 4 + t`, where the 4 address bits from bit 4 + t are ignored.");
    MEMORY STS = 0xde; "sts" [R_1, C_D, A_D_USE, OFFSET] "sts $r12 $c2 $a27 0x53a",
        access!(or "Stores 4 bytes, the lowest first; the low 2 bits of the address are ignored.");
    MEMORY LDAXH = 0xc8; "ldaxh" [V_DQ, C_D, A_1_STEP, A_S, VX_D] "ldaxh $v7q $a10 (slct $c3 b19a $a12d)",
        access!(then "Loads 16 bytes of one row, as `ldavh`, to `$vx`; if the bit of `$c` is 1, also to register 0 of the quad `vd`, after the quad is rotated by bits 4 and 5 of `$c`.");
    MEMORY LDAXV = 0xc9; "ldaxv" [V_DQ, C_D, A_1_STEP, A_S, VX_D] "ldaxv $v0q $a8 $a4",
        access!(then "Loads a column, as `ldavv`, to `$vx`; if the bit of `$c` is 1, also to register 0 of the quad `vd`, after the quad is rotated by bits 4 and 5 of `$c`.");
    MEMORY LDR = 0xd7, SUBOP = 0; "ldr" [V_D, A_1, V_2] "ldr $v8 $a21 $v7",
        "Loads component i from bank i of row `(address >> 4) | v2_i`; row numbers of the data store have 9 bits. \
         Writes neither flags nor the address register.";
    MEMORY STAR = 0xd7, SUBOP = 1; "star" [V_1, A_D_STEP, A_S] "star $v3 $a11 $a17",
        "Stores component i to bank i of the row `address >> 4`. The second source is then added to the low 16 bits of the address register. Writes no flags.";
    ADDRESS AADD = 0xca; "aadd" [A_D_STEP, C_D, A_S, ignored(SRC1)] "aadd $a14 (slct $c1 b20 $a29q)",
        "Adds to the low 16 bits of an address.\n\n\
         aef of `cd`: the new low 16 bits are at least the limit, bits 16 to 29.";
    ADDRESS ADD_A = 0xcb; "add" [A_D, C_D, A_1, A_S] "add $a15 $a20 (slct $c1 b20 $a11q)", "Adds 32-bit integers.\n\nazf of `cd`: the result is 0. asf: bit 31 of the result.";
    ADDRESS SETLO_A = 0xcc; "setlo" [A_D_STEP, unsigned("imm", IMM16)] "setlo $a13 0x53c9", "Replaces the low 16 bits. The other half of the register is kept. Writes no flags.";
    ADDRESS SETHI_A = 0xcd; "sethi" [A_D_STEP, HIGH16] "sethi $a30 0xf45e0000", "Replaces the high 16 bits. The other half of the register is kept. Writes no flags.";
    CONTROL XDLD_I = 0xc3, XDNONE = 0; "xdld" [A_D_USE, pair("a1", RegFile::A, SRC1), unsigned("imm", XDIMM)] "xdld $a13 $a0d 0x1467", DMA;
    CONTROL XDLD = 0xc3, XDNONE = 1; "xdld" [A_D_USE, pair("a1", RegFile::A, SRC1)] "xdld $a21 $a18d", DMA;
    CONTROL XDST_I = 0xc7, XDNONE = 0; "xdst" [pair("ad", RegFile::A, DST), A_1, unsigned("imm", XDIMM)] "xdst $a11d $a23 0x2f4", DMA;
    CONTROL XDST = 0xc7, XDNONE = 1; "xdst" [pair("ad", RegFile::A, DST), A_1] "xdst $a28d $a9", DMA;
    CONTROL XDBAR_I = 0xce, BARREG = 0; "xdbar" [choice("kind", M_BARKIND_I), unsigned("w", BARW), unsigned("u", BARU)] "xdbar ld 0x0 0x3", DMA;
    CONTROL XDBAR_R = 0xce, BARREG = 1; "xdbar" [choice("kind", M_BARKIND_R), A_D_USE, unsigned("u", BARU)] "xdbar st $a14 0x0", DMA;
    CONTROL XDWAIT_I = 0xcf, BARREG = 0; "xdwait" [choice("kind", M_BARKIND_I), unsigned("w", BARW), unsigned("u", BARU)] "xdwait st 0x2 0x2", DMA;
    CONTROL XDWAIT_R = 0xcf, BARREG = 1; "xdwait" [choice("kind", M_BARKIND_R), A_D_USE, unsigned("u", BARU)] "xdwait ld $a13 0x1", DMA;
}

pub(crate) const BITOP_A: Row = Row {
    mnemonic: "bitop",
    fixed: &[(OP, 0xd3)],
    operands: &[TABLE, A_D, C_D, A_1, A_2],
    aliases: bitop_names!("nor" "and" "xor" "nand" "nxor" "or", [A_D, C_D], A_1, A_2),
    doc: concat!(bitop_doc!(), "\n\nazf of `cd`: the result is 0. asf: bit 31 of the result."),
    examples: &[
        "bitop 0xc $a26 $a1 $a7",
        "nor $a25 $c3 $a17 $a0",
        "and $a7 $c3 $a18 not $a5",
        "xor $a9 $c0 $a18 $a5",
        "nand $a15 $c1 $a29 $a11",
        "nxor $a0 $c0 $a26 $a7",
        "or $a2 $c3 not $a21 $a28",
    ],
    ..ADDRESS
};

pub(crate) const ANOP: Row = Row { mnemonic: "anop", fixed: &[(OP, 0xdf)], examples: &["anop"], ..NOP };

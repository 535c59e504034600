//! Rows of the scalar unit: arithmetic on `$r` registers as 32-bit words and as four bytes, and
//! instructions that forward values to the vector unit.

use super::*;

/// Appends to a description the text on the flags of the result.
macro_rules! doc {
    ($text:literal) => {
        concat!(
            $text,
            "\n\n`cd` receives sf, zf and bits 18 to 21 of the result; b20d is bit 20 of the result xor bit 20 of `r1`."
        )
    };
    (one $text:literal) => {
        concat!($text, "\n\n`cd` receives sf, zf and bits 18 to 21 of the result; b20d is bit 20 of the result.")
    };
    (bits $text:literal) => {
        concat!($text, "\n\n`cd` receives zf and bits 18 to 21 of the result; sf and b20d are 0.")
    };
    (bytes $text:literal) => {
        concat!($text, ".\n\nEach of the four bytes is computed separately. The flags of `cd` are cleared.")
    };
}

const IMM11: Operand = signed("imm", IMM);

rows! {
    VP1 MUL_RR = 0x41 / 0x51; "mul" [R_D, C_D, R_1, R_S] "mul $r24 $c0 $r16 $r5", doc!("Multiplies the low halves as signed 16-bit integers.");
    VP1 MUL_RI = 0x61 / 0x71; "mul" [R_D, C_D, R_1, IMM11] "mul $r17 $r5 0x50", doc!("Multiplies the low halves as signed 16-bit integers.");
    VP1 MIN_RR = 0x48 / 0x58; "min" [R_D, C_D, R_1, R_S] "min $r29 $c0 $r27 $r9", doc!("Computes the minimum of two signed integers.");
    VP1 MIN_RI = 0x68 / 0x78; "min" [R_D, C_D, R_1, IMM11] "min $r26 $r13 -0x178", doc!("Computes the minimum of two signed integers.");
    VP1 MAX_RR = 0x49 / 0x59; "max" [R_D, C_D, R_1, R_S] "max $r20 $r5 (slct $c3 b20 $r19q)", doc!("Computes the maximum of two signed integers.");
    VP1 MAX_RI = 0x69 / 0x79; "max" [R_D, C_D, R_1, IMM11] "max $r22 $c3 $r16 -0x233", doc!("Computes the maximum of two signed integers.");
    VP1 ABS = 0x4a / 0x5a / 0x7a; "abs" [R_D, C_D, R_1] "abs $r23 $r11", doc!("Computes the absolute value of a signed integer; 0x80000000 is unchanged.");
    VP1 NEG = 0x4b / 0x5b / 0x7b; "neg" [R_D, C_D, R_1] "neg $r18 $r7", doc!(one "Negates: `0 - r1`, modulo 2^32.");
    VP1 ADD_RR = 0x4c / 0x5c; "add" [R_D, C_D, R_1, R_S] "add $r12 $c0 $r22 (slct $c0 sf $r5d)", doc!("Adds modulo 2^32.");
    VP1 ADD_RI = 0x6c / 0x7c; "add" [R_D, C_D, R_1, IMM11] "add $r6 $r25 -0x196", doc!("Adds modulo 2^32.");
    VP1 SUB_RR = 0x4d / 0x5d; "sub" [R_D, C_D, R_1, R_S] "sub $r1 $r30 $r27", doc!("Subtracts the second source from the first modulo 2^32.");
    VP1 SUB_RI = 0x6d / 0x7d; "sub" [R_D, C_D, R_1, IMM11] "sub $r24 $c0 $r16 0x2b8", doc!("Subtracts the second source from the first modulo 2^32.");
    VP1 SAR_RR = 0x4e; "sar" [R_D, C_D, R_1, R_S] "sar $r24 $r1 (slct $c0 zf $r29d)", doc!("Shifts right arithmetically. The count n is the low 6 bits of the second source, signed. A negative n shifts left by -n, except that -32 does not shift.");
    VP1 SAR_RI = 0x6e; "sar" [R_D, C_D, R_1, IMM11] "sar $r22 $r11 0xb8", doc!("Shifts right arithmetically. The count n is the low 6 bits of the second source, signed. A negative n shifts left by -n, except that -32 does not shift.");
    VP1 SHR_RR = 0x5e; "shr" [R_D, C_D, R_1, R_S] "shr $r10 $r23 $r22", doc!("Shifts right logically. The count n is the low 6 bits of the second source, signed. A negative n shifts left by -n, except that -32 does not shift.");
    VP1 SHR_RI = 0x7e; "shr" [R_D, C_D, R_1, IMM11] "shr $r1 $c0 $r16 -0xe", doc!("Shifts right logically. The count n is the low 6 bits of the second source, signed. A negative n shifts left by -n, except that -32 does not shift.");
    VP1 AND_RI = 0x62; "and" [R_D, C_D, R_1, IMM11] "and $r18 $r14 -0x7d", doc!(bits "Bitwise and with a sign-extended immediate.");
    VP1 XOR_RI = 0x63; "xor" [R_D, C_D, R_1, IMM11] "xor $r16 $c0 $r30 0x39", doc!(bits "Bitwise exclusive or with a sign-extended immediate.");
    VP1 OR_RI = 0x64; "or" [R_D, C_D, R_1, IMM11] "or $r28 $c3 $r22 0x3b7", doc!(bits "Bitwise or with a sign-extended immediate.");
    MOVE MOV_I = 0x65; "mov" [R_D, signed("imm", IMM19)] "mov $r13 -0x3cf71", "Loads a signed 19-bit constant. Writes no flags.";
    MOVE SETHI = 0x75; "sethi" [update("rd", RegFile::R, DST), HIGH16] "sethi $r12 0xd01f0000", "Replaces the high 16 bits and keeps the low 16 bits. Writes no flags.";

    VP1 BMIN_S_RR = 0x08; "bmin" [S, R_D, C_D, R_1, R_S] "bmin s $r18 $r9 (slct $c2 b20d $r23d)", doc!(bytes "Computes the minimum of two signed bytes");
    VP1 BMIN_U_RR = 0x18; "bmin" [U, R_D, C_D, R_1, R_S] "bmin u $r30 $r18 $r2", doc!(bytes "Computes the minimum of two unsigned bytes");
    VP1 BMIN_S_RI = 0x28; "bmin" [S, R_D, C_D, R_1, BIMM8] "bmin s $r26 $r15 0x63", doc!(bytes "Computes the minimum of two signed bytes");
    VP1 BMIN_U_RI = 0x38; "bmin" [U, R_D, C_D, R_1, BIMM8] "bmin u $r23 $r25 0xde", doc!(bytes "Computes the minimum of two unsigned bytes");
    VP1 BMAX_S_RR = 0x09; "bmax" [S, R_D, C_D, R_1, R_S] "bmax s $r25 $r8 (slct $c0 b21 $r13d)", doc!(bytes "Computes the maximum of two signed bytes");
    VP1 BMAX_U_RR = 0x19; "bmax" [U, R_D, C_D, R_1, R_S] "bmax u $r11 $r27 $r20", doc!(bytes "Computes the maximum of two unsigned bytes");
    VP1 BMAX_S_RI = 0x29; "bmax" [S, R_D, C_D, R_1, BIMM8] "bmax s $r30 $r5 0xa5", doc!(bytes "Computes the maximum of two signed bytes");
    VP1 BMAX_U_RI = 0x39; "bmax" [U, R_D, C_D, R_1, BIMM8] "bmax u $r22 $r27 0x17", doc!(bytes "Computes the maximum of two unsigned bytes");
    VP1 BABS_S = 0x0a / 0x2a; "babs" [S, R_D, C_D, R_1] "babs s $r6 $c3 $r5", doc!(bytes "Computes the absolute value of a signed byte, clamped to 0x7f");
    VP1 BABS_U = 0x1a / 0x3a; "babs" [U, R_D, C_D, R_1] "babs u $r15 $c1 $r10", doc!(bytes "Copies the unsigned byte");
    VP1 BNEG_S = 0x0b / 0x2b; "bneg" [S, R_D, C_D, R_1] "bneg s $r23 $r3", doc!(bytes "Negates a signed byte, clamped to 0x7f");
    VP1 BNEG_U = 0x1b / 0x3b; "bneg" [U, R_D, C_D, R_1] "bneg u $r29 $r27", doc!(bytes "Negates an unsigned byte, clamped to 0..0xff, which always gives 0");
    VP1 BADD_S_RR = 0x0c; "badd" [S, R_D, C_D, R_1, R_S] "badd s $r11 $c3 $r4 (slct $c1 b18 $r6d)", doc!(bytes "Adds signed bytes, clamped to -0x80..0x7f");
    VP1 BADD_U_RR = 0x1c; "badd" [U, R_D, C_D, R_1, R_S] "badd u $r25 $c1 $r23 (slct $c1 b20 $r21q)", doc!(bytes "Adds unsigned bytes, clamped to 0..0xff");
    VP1 BADD_S_RI = 0x2c; "badd" [S, R_D, C_D, R_1, BIMM8] "badd s $r24 $c2 $r0 0x8f", doc!(bytes "Adds signed bytes, clamped to -0x80..0x7f");
    VP1 BADD_U_RI = 0x3c; "badd" [U, R_D, C_D, R_1, BIMM8] "badd u $r14 $c0 $r3 0x23", doc!(bytes "Adds unsigned bytes, clamped to 0..0xff");
    VP1 BSUB_S_RR = 0x0d; "bsub" [S, R_D, C_D, R_1, R_S] "bsub s $r29 $r9 $r13", doc!(bytes "Subtracts signed bytes, clamped to -0x80..0x7f");
    VP1 BSUB_U_RR = 0x1d; "bsub" [U, R_D, C_D, R_1, R_S] "bsub u $r0 $r21 (slct $c2 azf $r20d)", doc!(bytes "Subtracts unsigned bytes, clamped to 0..0xff");
    VP1 BSUB_S_RI = 0x2d; "bsub" [S, R_D, C_D, R_1, BIMM8] "bsub s $r1 $c1 $r26 0x9f", doc!(bytes "Subtracts signed bytes, clamped to -0x80..0x7f");
    VP1 BSUB_U_RI = 0x3d; "bsub" [U, R_D, C_D, R_1, BIMM8] "bsub u $r26 $r7 0x57", doc!(bytes "Subtracts unsigned bytes, clamped to 0..0xff");
    VP1 BSHR_S_RR = 0x0e; "bshr" [S, R_D, C_D, R_1, R_S] "bshr s $r28 $r7 $r6", doc!(bytes "Shifts right arithmetically by the low 4 bits of the second source, signed, and keeps the low 8 bits of the result. A negative count shifts left");
    VP1 BSHR_U_RR = 0x1e; "bshr" [U, R_D, C_D, R_1, R_S] "bshr u $r4 $r1 (slct $c1 zf $r9d)", doc!(bytes "Shifts right logically by the low 4 bits of the second source, signed, and keeps the low 8 bits of the result. A negative count shifts left");
    VP1 BSHR_S_RI = 0x2e; "bshr" [S, R_D, C_D, R_1, BIMM8] "bshr s $r5 $c1 $r13 0xb8", doc!(bytes "Shifts right arithmetically by the low 4 bits of the second source, signed, and keeps the low 8 bits of the result. A negative count shifts left");
    VP1 BSHR_U_RI = 0x3e; "bshr" [U, R_D, C_D, R_1, BIMM8] "bshr u $r15 $c3 $r0 0x1b", doc!(bytes "Shifts right logically by the low 4 bits of the second source, signed, and keeps the low 8 bits of the result. A negative count shifts left");
    VP1 BAND_RI = 0x25; "band" [R_D, C_SILENT, R_1, BIMM8] "band $r10 $r13 0x49", doc!(bytes "Bitwise and with an immediate");
    VP1 BOR_RI = 0x26; "bor" [R_D, C_SILENT, R_1, BIMM8] "bor $r6 $r3 0x55", doc!(bytes "Bitwise or with an immediate");
    VP1 BXOR_RI = 0x27; "bxor" [R_D, C_SILENT, R_1, BIMM8] "bxor $r27 $r20 0xb9", doc!(bytes "Bitwise exclusive or with an immediate");
}

pub(crate) const BITOP_RR: Row = Row {
    mnemonic: "bitop",
    fixed: &[(OP, 0x42)],
    operands: &[TABLE, R_D, C_D, R_1, R_2],
    aliases: bitop_names!("nor" "and" "xor" "nand" "nxor" "or", [R_D, C_D], R_1, R_2),
    doc: concat!(bitop_doc!(), "\n\n`cd` receives zf and bits 18 to 21 of the result; sf and b20d are 0."),
    examples: &[
        "bitop 0x5 $r9 $c0 $r29 $r5",
        "nor $r16 $c2 $r14 $r6",
        "and $r28 $c2 not $r16 $r20",
        "xor $r28 $c2 0x0 $r9",
        "nand $r1 $c0 $r22 $r0",
        "nxor $r18 $r21 $r5",
        "or $r30 $r30 not $r17",
    ],
    ..VP1
};

/// Generates the description of a multiplication of bytes.
macro_rules! product {
    ($result:literal) => {
        concat!(
            "Multiplies each of four bytes. A signed source is doubled. ",
            $result,
            "\n\n\
             If the vector unit of the bundle uses forwarded factors, it reads the products before they are clamped. \
             Writes no flags."
        )
    };
}

const SIGNED_PRODUCT: &str =
    product!("The product, plus 0x100 under `rn`, is shifted right by 9 and clamped to -0x80..0x7f.");
const UNSIGNED_PRODUCT: &str =
    product!("The product, plus 0x80 under `rn`, is shifted right by 8 and clamped to 0..0xff.");
const ROUND: Operand = choice("rnd", M_RND);
const SG1: Operand = choice("sign1", M_SIGN1);
const SG2: Operand = choice("sign2", M_SIGN2);
const BAD: Row = Row { overlaps: &[BIMMBAD], ..VP1 };

rows! {
    VP1 BMUL_S_RR = 0x01; "bmul" [ROUND, S, R_D, SG1, R_1, SG2, R_2] "bmul rn s $r26 s $r28 u $r1", SIGNED_PRODUCT;
    VP1 BMUL_U_RR = 0x11; "bmul" [ROUND, U, R_D, SG1, R_1, SG2, R_2] "bmul rd u $r2 s $r19 s $r13", UNSIGNED_PRODUCT;
    VP1 BMULA_S_RR = 0x02; "bmula" [ROUND, S, R_D, SG1, R_1, SG2, R_2] "bmula rn s $r4 u $r8 s $r2", SIGNED_PRODUCT;
    VP1 BMULA_U_RR = 0x12; "bmula" [ROUND, U, R_D, SG1, R_1, SG2, R_2] "bmula rd u $r2 s $r4 s $r4", UNSIGNED_PRODUCT;
    VP1 BMUL_S_RI = 0x21; "bmul" [ROUND, S, R_D, SG1, R_1, SG2, BIMMMUL] "bmul rn s $r14 s $r5 s 0x84", SIGNED_PRODUCT;
    VP1 BMUL_U_RI = 0x31; "bmul" [ROUND, U, R_D, SG1, R_1, SG2, BIMMMUL] "bmul rn u $r27 s $r25 s 0xd4", UNSIGNED_PRODUCT;
    BAD BMULA_S_RI = 0x22; "bmula" [ROUND, S, R_D, SG1, R_1, SG2, unsigned("imm", BIMMBAD)] "bmula rn s $r30 u $r11 u 0xc8", SIGNED_PRODUCT;
    BAD BMULA_U_RI = 0x32; "bmula" [ROUND, U, R_D, SG1, R_1, SG2, unsigned("imm", BIMMBAD)] "bmula rd u $r29 s $r6 s 0x7f", UNSIGNED_PRODUCT;
}

/// The `$vc` whose flags are forwarded to the vector unit.
const S2V_VC: Operand = reg("vcs", RegFile::Vc, VCIDX);
const S2V_FLAG: Operand = choice("flag", M_VCFLAG);
const S2V_XFRM: Operand =
    Operand::new("xfrm", OperandRole::Use, OperandKind::SplitNumber { low: VCXFRM_LOW, high: VCXFRM_HIGH, shift: 0 });

/// Generates the description of an instruction that forwards values to the vector unit.
macro_rules! s2v {
    ($factors:literal) => {
        concat!(
            "Forwards four signed 10-bit factors, two 16-bit masks and 16 flags to the vector unit of the same bundle. ", $factors,
            "\n\n\
             Mask k is bits 1 to 8 of factor 2k, followed by bits 1 to 8 of factor 2k + 1. The flags are the half \
             `flag` of `vcs`, distributed over the components by `xfrm`. The instruction itself writes no flags."
        )
    };
}

rows! {
    VP1 BVECMAD = 0x04; "bvecmad" [R_1, quad("r2", RegFile::R, SRC2), PREDICATE, S2V_VC, S2V_FLAG, S2V_XFRM] "bvecmad $r25 $r27q $c2 b18 $vc0 zf 0x7",
        s2v!("Factor i is `(X_i * 256 + p * Y_i + 0x40) >> 7`, where X = `$r[SRC2 | u]`, Y = `$r[SRC2 | 2 | u]`, X_i and Y_i are signed bytes, and p is bits 11 to 18 of `r1`. u is the bit of `$c`, or for b20 bits 4 and 5 of `$c`.");
    VP1 BVECMADSEL = 0x05; "bvecmadsel" [R_1, quad("r2", RegFile::R, SRC2), PREDICATE, S2V_VC, S2V_FLAG, S2V_XFRM] "bvecmadsel $r6 $r11q $c0 lzf $vc3 zf 0x2",
        s2v!("As `bvecmad`, except that p is bits 11 to 17 of `r1`, and both factors of each pair are the first factor, or the second if the bit is b19 and bit 7 of `$c` is 1.");
    VP1 BVEC = 0x0f; "bvec" [R_1, S2V_VC, S2V_FLAG, S2V_XFRM] "bvec $r24 $vc1 zf 0x1", s2v!("Factor i is twice the signed byte i of `r1`.");
    VP1 VEC = 0x24; "vec" [signed("f1", FACTOR1), signed("f2", FACTOR2), S2V_VC, S2V_FLAG, S2V_XFRM] "vec -0x14 -0x49 $vc0 zf 0x4",
        s2v!("Factors 0 and 1 are `f1`, factors 2 and 3 `f2`.");
    VP1 VECMS = 0x45; "vecms" [update("r1", RegFile::R, SRC1), S2V_VC, S2V_FLAG, S2V_XFRM] "vecms $r24 $vc1 sf 0x5",
        s2v!("Factor 0 is 0x1e if bit 0 of `r1` is set, or-ed with 0x1e0 if bit 1 is set. Factor 1 is the same for bits 2 and 3; factors 2 and 3 are 0. `r1` is then shifted right arithmetically by 4.");
}

pub(crate) const SNOP: Row = Row { mnemonic: "snop", fixed: &[(OP, 0x4f)], examples: &["snop"], ..NOP };

unnamed! {
    S_CLEAR = 0x1f / 0x2f / 0x3f / 0x40 / 0x43 / 0x44 / 0x46 / 0x47 / 0x50 / 0x52 / 0x53 / 0x54 / 0x55 / 0x56 / 0x57 / 0x5f
        / 0x60 / 0x66 / 0x67 / 0x6f / 0x70 / 0x72 / 0x73 / 0x74 / 0x76 / 0x77 / 0x7f;
        [C_SILENT] "Has no result and clears the flags of `cd`.";
    S_NONE = 0x00 / 0x03 / 0x06 / 0x07 / 0x10 / 0x13 / 0x14 / 0x15 / 0x16 / 0x17 / 0x20 / 0x23 / 0x30 / 0x33 / 0x34 / 0x35
        / 0x36 / 0x37;
        [] "Has no result and writes no flags.";
}

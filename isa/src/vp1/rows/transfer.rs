//! Rows of the moves between `$r` and the other register files, which the scalar unit executes.
//! If CDST is below 4, a move also clears bits 0 to 7 of `$c[CDST]`. Assembly text does not show this register.

use super::*;

const TO: &str = "Copies `r1`. A counter receives its low 16 bits.\n\n\
                  If CDST is below 4, bits 0 to 7 of `$c[CDST]`, which the text does not show, are cleared.";
const FROM: &str = "Copies to `rd`; a value of less than 32 bits is zero-extended.\n\n\
                    If CDST is below 4, bits 0 to 7 of `$c[CDST]`, which the text does not show, are cleared.";

const WORD: Operand = unsigned("word", VWORD);
const M_D: Operand =
    Operand::new("md", OperandRole::Def, OperandKind::SplitReg { file: RegFile::M, low: DST, high: MHIGH });
const M_1: Operand =
    Operand::new("m1", OperandRole::Use, OperandKind::SplitReg { file: RegFile::M, low: SRC1, high: MHIGH });

rows! {
    MOVE MOV_V_R = 0x6a, RFILE_V = 0; "mov" [update("vd", RegFile::V, DST), WORD, R_1, C_SILENT] "mov $v24 0x1 $r21",
        "Replaces bytes 4k to 4k + 3 of a vector by those of `r1`, where k is `word`.\n\n\
         If CDST is below 4, bits 0 to 7 of `$c[CDST]`, which the text does not show, are cleared.";
    MOVE MOV_SR_R = 0x6a, RFILE = 8; "mov" [def("srd", RegFile::Sr, DST), R_1, C_SILENT] "mov $sr8 $r3", TO;
    MOVE MOV_MI_R = 0x6a, RFILE = 9; "mov" [def("mid", RegFile::Mi, DST), R_1, C_SILENT] "mov $mi23 $r8", TO;
    MOVE MOV_UC_R = 0x6a, RFILE = 10; "mov" [def("ucd", RegFile::Uc, DST), R_1, C_SILENT] "mov $uc29 $r22", TO;
    MOVE MOV_L_R = 0x6a, RFILE = 11; "mov" [def("ld", RegFile::L, DST), R_1, C_SILENT] "mov $l2 $r25", TO;
    MOVE MOV_A_R = 0x6a, RFILE = 12; "mov" [A_D, R_1, C_SILENT] "mov $a30 $r6", TO;
    MOVE MOV_M_R = 0x6a, RFILE_M = 10; "mov" [M_D, R_1, C_SILENT] "mov $m38 $r18", TO;
    MOVE MOV_D_R = 0x6a, RFILE = 22; "mov" [def("dd", RegFile::D, DDST), R_1, C_SILENT] "mov $d5 $r29", TO;
    MOVE MOV_F_R = 0x6a, RFILE = 23; "mov" [def("fd", RegFile::F, FDST), R_1, C_SILENT] "mov $f1 $r21", TO;
    MOVE MOV_X_R = 0x6a, RFILE = 24; "mov" [def("xd", RegFile::X, XDST), R_1, C_SILENT] "mov $x4 $r27", TO;

    MOVE MOV_R_V = 0x6b, RFILE_V = 0; "mov" [R_D, V_1, WORD, C_SILENT] "mov $r26 $v31 0x3",
        "Copies bytes 4k to 4k + 3 of a vector to `rd`, where k is `word`.\n\n\
         If CDST is below 4, bits 0 to 7 of `$c[CDST]`, which the text does not show, are cleared.";
    MOVE MOV_R_SR = 0x6b, RFILE = 8; "mov" [R_D, reg("sr1", RegFile::Sr, SRC1), C_SILENT] "mov $r15 $sr1", FROM;
    MOVE MOV_R_MI = 0x6b, RFILE = 9; "mov" [R_D, reg("mi1", RegFile::Mi, SRC1), C_SILENT] "mov $r18 $mi9", FROM;
    MOVE MOV_R_UC = 0x6b, RFILE = 10; "mov" [R_D, reg("uc1", RegFile::Uc, SRC1), C_SILENT] "mov $r3 $uc8", FROM;
    MOVE MOV_R_L = 0x6b, RFILE = 11; "mov" [R_D, reg("l1", RegFile::L, SRC1), C_SILENT] "mov $r25 $l1", FROM;
    MOVE MOV_R_A = 0x6b, RFILE = 12; "mov" [R_D, A_1, C_SILENT] "mov $r15 $a26", FROM;
    MOVE MOV_R_C = 0x6b, RFILE = 13; "mov" [R_D, reg("c1", RegFile::C, CSRC), C_SILENT] "mov $r7 $c2",
        "Copies to `rd`, zero-extended. The value is 0 if any of bits 16 to 18 of the word is set; the text does not \
         show these bits.\n\n\
         If CDST is below 4, bits 0 to 7 of `$c[CDST]`, which the text does not show, are cleared.";
    MOVE MOV_R_M = 0x6b, RFILE_M = 10; "mov" [R_D, M_1, C_SILENT] "mov $r30 $m39", FROM;
    MOVE MOV_R_D = 0x6b, RFILE = 22; "mov" [R_D, reg("d1", RegFile::D, DSRC), C_SILENT] "mov $r22 $d2", FROM;
    MOVE MOV_R_F = 0x6b, RFILE = 23; "mov" [R_D, reg("f1", RegFile::F, FSRC), C_SILENT] "mov $r4 $f0", FROM;
    MOVE MOV_R_X = 0x6b, RFILE = 24; "mov" [R_D, reg("x1", RegFile::X, XSRC), C_SILENT] "mov $r25 $x4", FROM;
}

unnamed! {
    MOV_V2_R = 0x6a, RFILE = 18; [update("vd", RegFile::V, DST), R_1, C_SILENT] "Acts as `mov` to word 2 of `vd`.";
    MOV_NONE_R = 0x6a, RFILE = 4 / 5 / 6 / 7 / 13 / 14 / 15 / 16 / 17 / 19 / 25 / 26 / 27 / 28 / 29 / 30 / 31;
        [C_SILENT] "Moves to no register file. Clears the flags of `cd`.";
    MOV_R_NONE = 0x6b, RFILE = 4 / 5 / 6 / 7 / 14 / 15 / 16 / 17 / 18 / 19 / 25 / 26 / 27 / 28 / 29 / 30 / 31;
        [C_SILENT] "Moves from no register file: `rd` is not written. Clears the flags of `cd`.";
}

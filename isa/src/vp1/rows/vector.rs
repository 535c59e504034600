//! Rows of the vector unit: arithmetic on 16 bytes at once, the accumulator, and interpolation (VP1
//! reference, seed 004).

use super::*;

/// Appends to a description the text on the flags of the result.
macro_rules! doc {
    (s $text:literal) => {
        concat!(
            $text,
            ", clamped to -0x80..0x7f.\n\nzf of `vcd`: the stored byte is 0. sf: the unclamped result is negative."
        )
    };
    (u $text:literal) => {
        concat!(
            $text,
            ", clamped to 0..0xff.\n\nzf of `vcd`: the stored byte is 0. sf: the unclamped result is outside 0..0xff."
        )
    };
    (bits $text:literal) => {
        concat!($text, "\n\nzf of `vcd`: the stored byte is 0. sf: 0.")
    };
    (high $text:literal) => {
        concat!($text, "\n\nzf of `vcd`: the stored byte is 0. sf: bit 7 of the stored byte.")
    };
}

rows! {
    VP1 VMIN_S_RR = 0x88; "vmin" [S, V_D, VC_D, V_1, V_2] "vmin s $v25 $vc3 $v18 $v26", doc!(s "Computes the minimum of two signed bytes");
    VP1 VMIN_U_RR = 0x98; "vmin" [U, V_D, VC_D, V_1, V_2] "vmin u $v26 $v24 $v20", doc!(u "Computes the minimum of two unsigned bytes");
    VP1 VMIN_S_RI = 0xa8; "vmin" [S, V_D, VC_D, V_1, BIMM8] "vmin s $v10 $v1 0xd1", doc!(s "Computes the minimum of two signed bytes");
    VP1 VMIN_U_RI = 0xb8; "vmin" [U, V_D, VC_D, V_1, BIMM8] "vmin u $v19 $vc3 $v27 0x60", doc!(u "Computes the minimum of two unsigned bytes");
    VP1 VMAX_S_RR = 0x89; "vmax" [S, V_D, VC_D, V_1, V_2] "vmax s $v23 $v23 $v18", doc!(s "Computes the maximum of two signed bytes");
    VP1 VMAX_U_RR = 0x99; "vmax" [U, V_D, VC_D, V_1, V_2] "vmax u $v18 $v1 $v27", doc!(u "Computes the maximum of two unsigned bytes");
    VP1 VMAX_S_RI = 0xa9; "vmax" [S, V_D, VC_D, V_1, BIMM8] "vmax s $v25 $vc0 $v28 0x1", doc!(s "Computes the maximum of two signed bytes");
    VP1 VMAX_U_RI = 0xb9; "vmax" [U, V_D, VC_D, V_1, BIMM8] "vmax u $v27 $v22 0x23", doc!(u "Computes the maximum of two unsigned bytes");
    VP1 VABS_S = 0x8a; "vabs" [S, V_D, VC_D, V_1] "vabs s $v1 $vc2 $v4", doc!(s "Computes the absolute value of a signed byte");
    VP1 VABS_U = 0x9a; "vabs" [U, V_D, VC_D, V_1] "vabs u $v13 $v3", doc!(u "Copies an unsigned byte");
    VP1 VNEG_S = 0x8b; "vneg" [S, V_D, VC_D, V_1] "vneg s $v8 $v3", doc!(s "Negates a signed byte");
    VP1 VADD_S_RR = 0x8c; "vadd" [S, V_D, VC_D, V_1, V_2] "vadd s $v7 $vc3 $v19 $v0", doc!(s "Adds signed bytes");
    VP1 VADD_U_RR = 0x9c; "vadd" [U, V_D, VC_D, V_1, V_2] "vadd u $v23 $v29 $v18", doc!(u "Adds unsigned bytes");
    VP1 VADD_S_RI = 0xac; "vadd" [S, V_D, VC_D, V_1, BIMM8] "vadd s $v30 $v28 0x65", doc!(s "Adds signed bytes");
    VP1 VADD_U_RI = 0xbc; "vadd" [U, V_D, VC_D, V_1, BIMM8] "vadd u $v31 $v12 0xc0", doc!(u "Adds unsigned bytes");
    VP1 VSUB_S_RR = 0x8d; "vsub" [S, V_D, VC_D, V_1, V_2] "vsub s $v7 $vc3 $v19 $v0", doc!(s "Subtracts signed bytes");
    VP1 VSUB_U_RR = 0x9d; "vsub" [U, V_D, VC_D, V_1, V_2] "vsub u $v7 $v19 $v23", doc!(u "Subtracts unsigned bytes");
    VP1 VSUB_U_RI = 0xbd; "vsub" [U, V_D, VC_D, V_1, BIMM8] "vsub u $v13 $v10 0xe5", doc!(u "Subtracts unsigned bytes");
    VP1 VADD9 = 0x9f; "vadd9" [V_D, VC_D, V_1, V_2, V_3] "vadd9 $v29 $v31 $v10 $v29", doc!(u "Adds to unsigned bytes the signed 9-bit integers in the halfwords of `v2` (components 0 to 7) and `v3` (components 8 to 15)");
    VP1 VCLIP = 0xa4; "vclip" [V_D, VC_D, V_1, V_2, V_3] "vclip $v0 $vc3 $v30 $v7 $v29",
        "Computes the median of three signed bytes: `v1` clamped to the range between `v2` and `v3`.\n\n\
         zf of `vcd`: the stored byte is 0. sf: not `v2 < v1 < v3`.";
    VP1 VMINABS = 0xa5; "vminabs" [V_D, VC_D, V_1, V_2] "vminabs $v16 $v6 $v22", doc!(bits "Computes the minimum of the absolute values of two signed bytes, clamped to 0x7f.");
    VP1 VAND_RI = 0xaa; "vand" [V_D, VC_D, V_1, BIMM8] "vand $v2 $vc0 $v5 0x41", doc!(bits "Bitwise and of each byte with an immediate.");
    VP1 VXOR_RI = 0xab; "vxor" [V_D, VC_D, V_1, BIMM8] "vxor $v10 $v20 0xfb", doc!(bits "Bitwise exclusive or of each byte with an immediate.");
    VP1 VOR_RI = 0xaf; "vor" [V_D, VC_D, V_1, BIMM8] "vor $v10 $v15 0xe9", doc!(bits "Bitwise or of each byte with an immediate.");
    MOVE VMOV_I = 0xad; "vmov" [V_D, VC_D, BIMM8] "vmov $v4 $vc0 0xfb", doc!(high "Loads a constant into every byte.");
    MOVE MOV_V = 0xba; "mov" [V_D, VC_D, V_1] "mov $v25 $vc3 $v27", doc!(bits "Copies a vector.");
    MOVE MOV_VC = 0xbb; "mov" [V_D, Operand::new("vc", OperandRole::Use, OperandKind::Whole(RegFile::Vc))] "mov $v9 $vc",
        "Copies all `$vc` registers: bytes 4k and 4k + 1 are sf of `$vck`, component 0 lowest; bytes 4k + 2 and 4k + 3 \
         are zf.";
}

pub(crate) const VSWZ: Row = Row {
    mnemonic: "vswz",
    fixed: &[(OP, 0x9b)],
    operands: &[V_D, V_1, V_2, LOHI, V_3],
    aliases: &[Alias { mnemonic: "vswz", implied_fields: &[], operands: &[LOHI, V_D, V_1, V_2, V_3] }],
    doc: "Selects bytes of `v1` and `v2`: byte i of `v3` selects byte i of the result. With `lo`, bits 0 to 3 of the \
          selector are the byte number and bit 4 is the vector; with `hi`, bits 4 to 7 are the byte number and bit 0 \
          is the vector. Vector 0 is `v1`.",
    examples: &["vswz $v16 $v23 $v3 hi $v28"],
    ..VP1
};

const LOHI: Operand = choice("lohi", M_SWZLOHI);

const VSHR_S: &str = "Shifts each byte right arithmetically by the low 4 bits of the second source, signed, and keeps \
                      the low 8 bits of the result. A negative count shifts left.\n\n\
                      zf of `vcd`: the stored byte is 0. sf: bit 7 of the stored byte.";
const VSHR_U: &str = "Shifts each byte right logically by the low 4 bits of the second source, signed, and keeps the \
                      low 8 bits of the result. A negative count shifts left.\n\n\
                      zf of `vcd`: the stored byte is 0. sf: bit 7 of the stored byte.";

/// Defines the alias of a vector right shift: `vsar` for signed bytes and `vshr` for unsigned bytes.
macro_rules! shift_alias {
    ($name:literal, $b:expr) => {
        &[Alias { mnemonic: $name, implied_fields: &[], operands: &[V_D, VC_D, V_1, $b] }]
    };
}

const SAR_RR: Row = Row { aliases: shift_alias!("vsar", V_2), ..VP1 };
const SHR_RR: Row = Row { aliases: shift_alias!("vshr", V_2), ..VP1 };
const SAR_RI: Row = Row { aliases: shift_alias!("vsar", BIMM8), ..VP1 };
const SHR_RI: Row = Row { aliases: shift_alias!("vshr", BIMM8), ..VP1 };

rows! {
    SAR_RR VSHR_S_RR = 0x8e; "vshr" [S, V_D, VC_D, V_1, V_2] "vshr s $v25 $vc2 $v14 $v3", VSHR_S;
    SHR_RR VSHR_U_RR = 0x9e; "vshr" [U, V_D, VC_D, V_1, V_2] "vshr u $v11 $v15 $v4", VSHR_U;
    SAR_RI VSHR_S_RI = 0xae; "vshr" [S, V_D, VC_D, V_1, BIMM8] "vshr s $v27 $v17 0x20", VSHR_S;
    SHR_RI VSHR_U_RI = 0xbe; "vshr" [U, V_D, VC_D, V_1, BIMM8] "vshr u $v7 $vc0 $v13 0x40", VSHR_U;
}

pub(crate) const VBITOP_RR: Row = Row {
    mnemonic: "vbitop",
    fixed: &[(OP, 0x94)],
    operands: &[TABLE, V_D, VC_D, V_1, V_2],
    aliases: bitop_names!("vnor" "vand" "vxor" "vnand" "vnxor" "vor", [V_D, VC_D], V_1, V_2),
    doc: concat!(bitop_doc!(), "\n\nzf of `vcd`: the stored byte is 0. sf: 0."),
    examples: &[
        "vbitop 0xc $v8 $v5 $v22",
        "vnor $v31 $vc3 $v24 $v0",
        "vand $v0 $vc0 $v8 not $v9",
        "vxor $v27 $vc1 $v29 $v16",
        "vnand $v6 $v16 $v17",
        "vnxor $v2 $v27 $v22",
        "vor $v4 $vc0 not $v2 $v18",
    ],
    ..VP1
};

const VCMPAD_OPERANDS: &[Operand] = &[unsigned("table", CMPOP), VC_D, V_1D, selected("v2", RegFile::V)];

pub(crate) const VCMPAD: Row = Row {
    mnemonic: "vcmpad",
    fixed: &[(OP, 0x8f)],
    operands: VCMPAD_OPERANDS,
    aliases: &[Alias { mnemonic: "vcmppad", implied_fields: &[], operands: VCMPAD_OPERANDS }],
    doc: "Compares an absolute difference: d is `|v2 - v1|` and t is the second register of the pair, all bytes \
          unsigned. zf of `vcd` is `d == t`, and sf is bit `2 * (d < t) + f` of the table. f is the flag that the \
          scalar unit of the bundle forwards. Without a forwarded flag, f is sf of `$vc[w & 3]` if bit 2 of the word w \
          is 0, else zf of it.",
    examples: &["vcmpad 0xc $vc2 $v28d (slct $c0 sf $v1d)", "vcmpad 0x1 $vc0 $v15d $v31"],
    ..VP1
};

/// Appends to a description the text that all multiplications share: the scaling, rounding and
/// readout of the accumulator.
macro_rules! product {
    ($what:literal, $out:literal) => {
        concat!(
            $what, " `$va` receives the sum, which wraps to 28 bits", $out, "\n\n\
             A source with `u` is an unsigned byte, with `s` a signed byte, doubled with `fract`. `int` multiplies the \
             products by 256. R is 16 - SHIFT with `int`, else 8 - SHIFT for an unsigned result and 9 - SHIFT for a \
             signed one. `rn` adds half a unit of the lowest result bit, less 1 if `$uccfg` rounds ties down; if no \
             bits are below the lowest result bit, nothing is added. The readout is the sum shifted right by R - 8 and \
             clamped to 16 bits of the result's signedness; `hi` reads bits 8 to 15, `lo` bits 0 to 7."
        )
    };
}

const VMUL: &str = product!("Multiplies: `v1 * v2`.", ", and `vd` the readout.");
const VMUL_VA: &str = product!("Multiplies: `v1 * v2`.", ".");
const VMAC: &str = product!("Multiplies and accumulates: `$va + v1 * v2`.", ", and `vd` the readout.");
const VMAC_VA: &str = product!("Multiplies and accumulates: `$va + v1 * v2`.", ".");
const VMAD2: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and adds a base: `(v2 << R) + v1 * \
     f1 + v1' * f2`, where v1' is the second register of the pair. With `factor`, f1 and f2 are factors c and 2 + c, \
     where c is the flag of the component; with `mask`, they are 0x100 or 0, selected by the two masks.",
    ", and `vd` the readout."
);
const VMAD2_VA: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and adds a base: `(v2 << R) + v1 * \
     f1 + v1' * f2`, where v1' is the second register of the pair. With `factor`, f1 and f2 are factors c and 2 + c, \
     where c is the flag of the component; with `mask`, they are 0x100 or 0, selected by the two masks.",
    "."
);
const VMAC2: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and accumulates: `$va + v1 * f1 + \
     v1' * f2`, where v1' is the second register of the pair. With `factor`, f1 and f2 are factors c and 2 + c, where \
     c is the flag of the component; with `mask`, they are 0x100 or 0, selected by the two masks.",
    ", and `vd` the readout."
);
const VMAC2_VA: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and accumulates: `$va + v1 * f1 + \
     v1' * f2`, where v1' is the second register of the pair. With `factor`, f1 and f2 are factors c and 2 + c, where \
     c is the flag of the component; with `mask`, they are 0x100 or 0, selected by the two masks.",
    "."
);
const VMAC2_3: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and accumulates: `$va + v1 * f1 + \
     v3 * f2`. With `factor`, f1 and f2 are factors c and 2 + c, where c is the flag of the component; with `mask`, \
     they are 0x100 or 0, selected by the two masks. SRC3 overlaps HILO, SHIFT and RND; all of them take effect.",
    ", and `vd` the readout."
);
const VMAC2_3_VA: &str = product!(
    "Multiplies two vectors by factors that the scalar unit of the bundle forwards, and accumulates: `$va + v1 * f1 + \
     v3 * f2`. With `factor`, f1 and f2 are factors c and 2 + c, where c is the flag of the component; with `mask`, \
     they are 0x100 or 0, selected by the two masks. SRC3 overlaps HILO, SHIFT and RND; all of them take effect.",
    "."
);

const ROUND: Operand = choice("rnd", M_RND);
const FI: Operand = choice("fractint", M_FRACTINT);
const SHIFTED: Operand = signed("shift", SHIFT);
const HL: Operand = choice("hilo", M_HILO);
const SG1: Operand = choice("sign1", M_SIGN1);
const SG2: Operand = choice("sign2", M_SIGN2);
const MODE: Operand = choice("s2v", M_S2VMODE);
const VA_D: Operand = implicit("va", OperandRole::Def, RegFile::Va);
const VA_U: Operand = implicit("va", OperandRole::Update, RegFile::Va);
const V_1D: Operand = pair("v1", RegFile::V, SRC1);
const BAD: Row = Row { overlaps: &[BIMMBAD, SRC3], ..VP1 };

rows! {
    VP1 VMUL_S_RR = 0x81; "vmul" [S, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, V_2, VA_D] "vmul s rn int -0x2 lo $v2 s $v9 s $v29", VMUL;
    VP1 VMUL_U_RR = 0x91; "vmul" [U, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, V_2, VA_D] "vmul u rd fract 0x0 hi $v28 s $v18 u $v7", VMUL;
    VP1 VMUL_S_RI = 0xa1; "vmul" [S, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, BIMMMUL, VA_D] "vmul s rn fract 0x1 hi $v30 s $v13 s 0xa0", VMUL;
    VP1 VMUL_U_RI = 0xb1; "vmul" [U, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, BIMMMUL, VA_D] "vmul u rd int 0x0 lo $v23 s $v20 s 0xe8", VMUL;
    VP1 VMUL_S_RR_VA = 0x80; "vmul" [S, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, V_2, VA_D] "vmul s rn int -0x2 hi # u $v22 s $v2", VMUL_VA;
    VP1 VMUL_S_RI_VA = 0xa0; "vmul" [S, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, BIMMMUL, VA_D] "vmul s rd int 0x0 hi # u $v17 u 0x64", VMUL_VA;
    BAD VMUL_U_RI_VA = 0xb0; "vmul" [U, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, unsigned("imm", BIMMBAD), VA_D] "vmul u rn int -0x1 hi # s $v24 s 0xef", VMUL_VA;
    VP1 VMAC_S_RR = 0x82; "vmac" [S, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, V_2, VA_U] "vmac s rn int -0x2 lo $v7 s $v20 s $v4", VMAC;
    VP1 VMAC_U_RR = 0x92; "vmac" [U, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, V_2, VA_U] "vmac u rn fract -0x2 hi $v7 s $v12 u $v19", VMAC;
    VP1 VMAC_S_RI = 0xa2; "vmac" [S, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, BIMMMUL, VA_U] "vmac s rd fract 0x3 lo $v24 s $v15 s 0xfc", VMAC;
    VP1 VMAC_U_RI = 0xb2; "vmac" [U, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, SG2, BIMMMUL, VA_U] "vmac u rn fract -0x1 hi $v6 s $v4 u 0xa0", VMAC;
    VP1 VMAC_S_RR_VA = 0x83; "vmac" [S, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, V_2, VA_U] "vmac s rd int 0x2 hi # s $v16 s $v29", VMAC_VA;
    VP1 VMAC_U_RR_VA = 0x93; "vmac" [U, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, V_2, VA_U] "vmac u rd fract 0x1 lo # u $v1 u $v24", VMAC_VA;
    VP1 VMAC_S_RI_VA = 0xa3; "vmac" [S, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, SG2, BIMMMUL, VA_U] "vmac s rn fract 0x1 hi # s $v10 s 0xf4", VMAC_VA;
    VP1 VMAD2_S = 0x85; "vmad2" [S, MODE, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1D, SG2, V_2, VA_D] "vmad2 s factor rd int 0x0 hi $v27 u $v18d u $v27", VMAD2;
    VP1 VMAD2_U = 0x95; "vmad2" [U, MODE, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1D, SG2, V_2, VA_D] "vmad2 u mask rn fract -0x2 lo $v18 s $v19d u $v24", VMAD2;
    VP1 VMAD2_S_VA = 0x84; "vmad2" [S, MODE, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1D, SG2, V_2, VA_D] "vmad2 s mask rn fract 0x1 hi # u $v3d s $v4", VMAD2_VA;
    VP1 VMAC2_S = 0x87; "vmac2" [S, MODE, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1D, VA_U] "vmac2 s mask rn int 0x2 lo $v29 s $v4d", VMAC2;
    VP1 VMAC2_U = 0x97; "vmac2" [U, MODE, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1D, VA_U] "vmac2 u factor rn int -0x2 lo $v19 s $v19d", VMAC2;
    VP1 VMAC2_S_VA = 0x86; "vmac2" [S, MODE, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1D, VA_U] "vmac2 s factor rn fract -0x2 hi # u $v6d", VMAC2_VA;
    BAD VMAC2_S_RR = 0xa7; "vmac2" [S, MODE, ROUND, FI, SHIFTED, HL, V_D, SG1, V_1, V_3, VA_U] "vmac2 s mask rn fract -0x2 hi $v12 u $v28 $v28", VMAC2_3;
    BAD VMAC2_S_RR_VA = 0xa6; "vmac2" [S, MODE, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, V_3, VA_U] "vmac2 s factor rn fract -0x2 lo # u $v19 $v29", VMAC2_3_VA;
    BAD VMAC2_U_RR_VA = 0x96; "vmac2" [U, MODE, ROUND, FI, SHIFTED, HL, NONE, SG1, V_1, V_3, VA_U] "vmac2 u mask rn int -0x4 hi # s $v26 $v24", VMAC2_3_VA;
}

const V_1Q: Operand = quad("v1", RegFile::V, SRC1);
/// The `$vc` register whose flags choose one of two factors for each component.
const VC_S: Operand = reg("vcs", RegFile::Vc, VCSRC);
const VC_F: Operand = choice("flag", M_VCSEL);

/// Appends to a description the text that all interpolations share.
macro_rules! lerp {
    ($what:literal) => {
        concat!(
            $what, "\n\n\
            q0 to q3 are the registers of the quad, rotated by bits 4 and 5 of `$c`. f1 and f2 are factors c and 2 + c \
            that the scalar unit of the bundle forwards, where c is the flag of the component in `vcs`. The arithmetic \
            is that of `vmul` with `fract`: R is 8 - SHIFT for an unsigned result and 9 - SHIFT for a signed one."
        )
    };
}

const VX_USE: Operand = implicit("vx", OperandRole::Use, RegFile::Vx);

rows! {
    VP1 VLRP = 0x90; "vlrp" [ROUND, SHIFTED, V_D, V_1D, V_2] "vlrp rn -0x2 $v18 $v15d $v19",
        "Interpolates between unsigned bytes: `v1' + ((v1 - v1') * v2 << SHIFT) / 256`, clamped, where v1' is the \
         second register of the pair. Rounds like `vmul` and does not write `$va`.";
    VP1 VLRP2 = 0xb3; "vlrp2" [choice("signd", M_SIGND), mark("va", M_VAWRITE), ROUND, SHIFTED, V_D, choice("signs", M_SIGNS), mark("xor", M_LRP2X), V_1Q, C_ROTATE, VC_S, VC_F, VA_U]
        "vlrp2 s va rd 0x1 $v29 u xor $v1q $c0 $vc3 zf", lerp!("Interpolates in two directions: `(q0 << R) + (q2 - q0) * f1 + (q3 - q0) * f2`, and reads the high half. `xor` inverts bit 7 of the base, but not in the differences. `va` also writes `$va`.");
    VP1 VLRP4A = 0xb4; "vlrp4a" [ROUND, SHIFTED, NONE, V_1Q, C_ROTATE, VC_S, VC_F, VA_D] "vlrp4a rn 0x3 # $v27q $c1 $vc2 sf",
        lerp!("First half of an interpolation between four unsigned vectors: `$va` receives `(q0 << R) + (q2 - q0) * f1 + (q3 - q0) * f2`, rounded for a readout of the low half.");
    VP1 VLRPF = 0xb5; "vlrpf" [ROUND, SHIFTED, NONE, V_1Q, C_ROTATE, V_2, VC_S, VC_F, VA_D] "vlrpf rd -0x1 # $v18q $c3 $v22 $vc3 zf",
        lerp!("Interpolates factors: `$va` receives `(v2 << R) + (q2 - q3) * f1 + q3 * f2`, where v2 is signed, rounded for a readout of the low half.");
}

/// Defines the rows of `vlrp4b`, whose canonical text contains the `$c` register twice. The alias
/// has the syntax of the VP1 reference, which contains the register once.
macro_rules! vlrp4b {
    ($($name:ident = $op:literal $sign:expr, $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: "vlrp4b",
            fixed: &[(OP, $op)],
            operands: vlrp4b!(@ $sign, C_ROTATE, PREDICATE),
            overlaps: &[COND],
            aliases: &[Alias { mnemonic: "vlrp4b", implied_fields: &[], operands: vlrp4b!(@ $sign, PREDICATE) }],
            doc: lerp!(
                "Second half of an interpolation between four vectors: `$va` receives `$va + (s1 - s0) * f1 + ($vx - \
                s0) * f2`, and `vd` the high half. With the bit b20, s0 and s1 are q0 and q1. With any other bit, both \
                are the register whose number is that of `v1` xor the bit."
            ),
            examples: &[$example],
            ..VP1
        };
    )* };
    (@ $sign:expr, $($cond:expr),*) => {
        &[$sign, choice("altrnd", M_ALTRND), signed("altshift", ALTSHIFT), V_D, V_1Q, $($cond,)* VC_S, VC_F, VX_USE, VA_U]
    };
}

vlrp4b! {
    VLRP4B_U = 0xb6 U, "vlrp4b u rd -0x2 $v15 $v7q $c3 $c3 false $vc3 zf";
    VLRP4B_S = 0xb7 S, "vlrp4b s rn 0x2 $v10 $v3q $c2 $c2 lzf $vc3 zf";
}

pub(crate) const VNOP: Row = Row { mnemonic: "vnop", fixed: &[(OP, 0xbf)], examples: &["vnop"], ..NOP };

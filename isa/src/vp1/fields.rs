//! The bit fields of VP1 instruction words and the spellings of their values. The fields are those
//! of the VP1 reference (seed 004). The names `OP` to `SLCT` and those of the immediates come from
//! the reference's section on the scalar unit.

use crate::row::Modifier;
use crate::word::Field;

const fn field(lo: u8, width: u8, name: &'static str) -> Field {
    Field::new(lo, width, name)
}

/// The opcode.
pub const OP: Field = field(24, 8, "OP");
/// All bits except the opcode, in an instruction that does nothing.
pub const IGNORED: Field = field(0, 24, "ignored");
/// The bits that `ret` ignores.
pub const IGNORED_RET: Field = field(3, 21, "ignored");
/// Destination, or the address register of a store.
pub const DST: Field = field(19, 5, "DST");
/// First source, the address register of a load, or the data of a store.
pub const SRC1: Field = field(14, 5, "SRC1");
/// Second source.
pub const SRC2: Field = field(9, 5, "SRC2");
/// Third source (vector unit only).
pub const SRC3: Field = field(4, 5, "SRC3");
/// The `$c` or `$vc` register that receives the flags of the result. Values from 4 upwards mean
/// that no flags are written.
pub const CDST: Field = field(0, 3, "CDST");
/// The number of the `$c` register whose bits are a condition, select a register or rotate a quad.
pub const COND: Field = field(3, 2, "COND");
/// The number of a bit in the `$c` register that [`COND`] names.
pub const SLCT: Field = field(5, 4, "SLCT");

/// 11-bit immediate. In a load or store that does not update the address register, the immediate is
/// unsigned; in any other instruction, the immediate is signed.
pub const IMM: Field = field(3, 11, "IMM");
/// Signed immediate of `mov`.
pub const IMM19: Field = field(0, 19, "IMM19");
/// 16-bit immediate for half of a register, or an exit code.
pub const IMM16: Field = field(0, 16, "IMM16");
/// Byte immediate.
pub const BIMM: Field = field(3, 8, "BIMM");
/// Bits 2 to 6 of a multiplier's byte immediate; bits 0 and 1 are 0.
pub const BIMMMUL_LOW: Field = field(9, 5, "BIMMMUL.low");
/// Bit 7 of a multiplier's byte immediate.
pub const BIMMMUL_HIGH: Field = field(0, 1, "BIMMMUL.high");
/// Byte immediate that overlaps other fields.
pub const BIMMBAD: Field = field(0, 8, "BIMMBAD");

/// Truth table of a bitwise operation: the result bit is `op >> (s2 | s1 << 1) & 1`, where `op` is the field.
pub const BITOP: Field = field(3, 4, "BITOP");
/// Truth table of `vcmpad`. The inputs of the table are the result of the comparison (s1) and a
/// flag (s2).
pub const CMPOP: Field = field(19, 4, "CMPOP");
/// Rounding: 0 rounds down, 1 rounds to nearest.
pub const RND: Field = field(8, 1, "RND");
/// First source is signed.
pub const SIGN1: Field = field(2, 1, "SIGN1");
/// Second source is signed.
pub const SIGN2: Field = field(1, 1, "SIGN2");
/// Register file of a move. If the file is `$v`, the low bits hold the number of a 32-bit word in
/// the register. In the rows of moves, the other bits are fixed.
pub const RFILE: Field = field(3, 5, "RFILE");
/// The bits of RFILE above [`VWORD`].
pub const RFILE_V: Field = field(5, 3, "RFILE.v");
/// Number k of a 32-bit word in a `$v` register. Word k consists of bytes 4k to 4k + 3.
pub const VWORD: Field = field(3, 2, "VWORD");
/// The bits of RFILE above [`MHIGH`].
pub const RFILE_M: Field = field(4, 4, "RFILE.m");
/// Bit 5 of the number of an `$m` register.
pub const MHIGH: Field = field(3, 1, "MHIGH");
/// The number of the `$c` register that a move reads.
pub const CSRC: Field = field(14, 2, "CSRC");
/// The number of the `$d` register that a move writes.
pub const DDST: Field = field(19, 3, "DDST");
/// The number of the `$d` register that a move reads.
pub const DSRC: Field = field(14, 3, "DSRC");
/// The number of the `$f` register that a move writes.
pub const FDST: Field = field(19, 1, "FDST");
/// The number of the `$f` register that a move reads.
pub const FSRC: Field = field(14, 1, "FSRC");
/// The number of the `$x` register that a move writes.
pub const XDST: Field = field(19, 4, "XDST");
/// The number of the `$x` register that a move reads.
pub const XSRC: Field = field(14, 4, "XSRC");

/// Immediate of `vec` for the factors 0 and 1.
pub const FACTOR1: Field = field(1, 9, "FACTOR1");
/// Immediate of `vec` for the factors 2 and 3.
pub const FACTOR2: Field = field(10, 9, "FACTOR2");
/// The number of the `$vc` register whose flags the scalar unit forwards to the vector unit.
pub const VCIDX: Field = field(19, 2, "VCIDX");
/// The flags of a `$vc` register that the scalar unit forwards: sign flags (0) or zero flags (1).
pub const VCFLAG: Field = field(21, 1, "VCFLAG");
/// Low two bits of the code that determines how the flags of the forwarded `$vc` register are
/// distributed over the vector components.
pub const VCXFRM_LOW: Field = field(22, 2, "VCXFRM.low");
/// High bit of the code that determines how the flags of the forwarded `$vc` register are
/// distributed over the vector components.
pub const VCXFRM_HIGH: Field = field(0, 1, "VCXFRM.high");

/// Interpretation of the values that the scalar unit forwards: factors or masks.
pub const S2VMODE: Field = field(0, 1, "S2VMODE");
/// Arithmetic of a multiplication: fixed point (0) or integer (1).
pub const FRACTINT: Field = field(3, 1, "FRACTINT");
/// The half of the 16-bit result of a multiplication that is written: high (0) or low (1).
pub const HILO: Field = field(4, 1, "HILO");
/// Scale of a product: a signed count of bits by which the product is shifted left.
pub const SHIFT: Field = field(5, 3, "SHIFT");
/// The nibble of each selector byte of `vswz` that is the component number: low (0) or high (1).
pub const SWZLOHI: Field = field(3, 1, "SWZLOHI");
/// The number of the `$vc` register whose flags choose factors.
pub const VCSRC: Field = field(0, 2, "VCSRC");
/// The flags of a `$vc` register that choose factors: sign flags (0) or zero flags (1).
pub const VCSEL: Field = field(2, 1, "VCSEL");
/// Signedness of the sources of `vlrp2`.
pub const SIGNS: Field = field(9, 1, "SIGNS");
/// Combines the base of `vlrp2` with 0x80 by exclusive or.
pub const LRP2X: Field = field(10, 1, "LRP2X");
/// Makes `vlrp2` write `$va`.
pub const VAWRITE: Field = field(11, 1, "VAWRITE");
/// Signedness of the result of `vlrp2`.
pub const SIGND: Field = field(12, 1, "SIGND");
/// Rounding of `vlrp4b`. Other instructions encode it in [`RND`].
pub const ALTRND: Field = field(9, 1, "ALTRND");
/// Scale of a product of `vlrp4b`. Other instructions encode it in [`SHIFT`].
pub const ALTSHIFT: Field = field(11, 3, "ALTSHIFT");

/// Distinguishes `ldr` from `star`.
pub const SUBOP: Field = field(0, 1, "SUBOP");
/// Signed branch distance, in groups of four instruction words.
pub const BTARG: Field = field(9, 15, "BTARG");
/// Target of `abra`: the number of a group of four instruction words, counted from the start of the program.
pub const ABTARG: Field = field(0, 16, "ABTARG");
/// The number of the loop counter to read. The field shares its bits with COND, which also has its usual effect.
pub const LSRC: Field = field(3, 2, "LSRC");
/// The number of the loop counter to write. The field is the low two bits of CDST, whose bit 2 is ignored.
pub const LDST: Field = field(0, 2, "LDST");
/// The number of the `$l` register, and of the `$c` register, that a move of the branch unit writes.
pub const LC: Field = field(19, 2, "LC");
/// Makes `exit` raise an interrupt.
pub const INTR: Field = field(16, 1, "INTR");
/// Immediate of a DMA transfer.
pub const XDIMM: Field = field(0, 13, "XDIMM");
/// 1 if a DMA transfer has no immediate.
pub const XDNONE: Field = field(13, 1, "XDNONE");
/// Second number of a DMA barrier.
pub const BARU: Field = field(3, 2, "BARU");
/// First number of a DMA barrier.
pub const BARW: Field = field(20, 2, "BARW");
/// 1 if the first number of a DMA barrier is in a register.
pub const BARREG: Field = field(16, 1, "BARREG");
/// Direction of a DMA barrier whose number is in a register.
pub const BARKIND_R: Field = field(0, 1, "BARKIND");
/// Direction of a DMA barrier whose number is an immediate.
pub const BARKIND_I: Field = field(19, 1, "BARKIND");

const fn modifier(field: Field, choices: &'static [(&'static str, u64)]) -> Modifier {
    Modifier { field, choices, default: None }
}

/// The names of the bits of a `$c` register. Bits 11 and 12 are always 0 and have no name in the reference.
pub const M_SLCT: Modifier = Modifier {
    field: SLCT,
    choices: &[
        ("sf", 0),
        ("zf", 1),
        ("b19", 2),
        ("b20d", 3),
        ("b20", 4),
        ("b21", 5),
        ("b19a", 6),
        ("b18", 7),
        ("asf", 8),
        ("azf", 9),
        ("aef", 10),
        ("unk11", 11),
        ("unk12", 12),
        ("lzf", 13),
        ("false", 14),
        ("true", 15),
    ],
    default: Some(ALWAYS),
};
/// SLCT of an operand that is not selected at run time: the bit of `$c` that is always false.
pub const PLAIN: u64 = 14;
/// SLCT of a branch that is always taken: the bit of `$c` that is always true.
pub const ALWAYS: u64 = 15;
/// The bit of a `$c` register that selects a register at run time. The default is the bit that is always false.
pub const M_CHOOSE: Modifier = Modifier { default: Some(PLAIN), ..M_SLCT };
/// Rounding: down or to nearest.
pub const M_RND: Modifier = modifier(RND, &[("rd", 0), ("rn", 1)]);
/// Rounding of `vlrp4b`: down or to nearest.
pub const M_ALTRND: Modifier = modifier(ALTRND, &[("rd", 0), ("rn", 1)]);
/// Signedness of the first source.
pub const M_SIGN1: Modifier = modifier(SIGN1, &[("u", 0), ("s", 1)]);
/// Signedness of the second source.
pub const M_SIGN2: Modifier = modifier(SIGN2, &[("u", 0), ("s", 1)]);
/// Signedness of the sources of `vlrp2`.
pub const M_SIGNS: Modifier = modifier(SIGNS, &[("u", 0), ("s", 1)]);
/// Signedness of the result of `vlrp2`.
pub const M_SIGND: Modifier = modifier(SIGND, &[("u", 0), ("s", 1)]);
/// Interpretation of the forwarded values: factors or masks.
pub const M_S2VMODE: Modifier = modifier(S2VMODE, &[("factor", 0), ("mask", 1)]);
/// Arithmetic of a multiplication: fixed point or integer.
pub const M_FRACTINT: Modifier = modifier(FRACTINT, &[("fract", 0), ("int", 1)]);
/// The half of the 16-bit result of a multiplication that is written: high or low.
pub const M_HILO: Modifier = modifier(HILO, &[("hi", 0), ("lo", 1)]);
/// The nibble of each selector byte of `vswz` that is the component number: low or high.
pub const M_SWZLOHI: Modifier = modifier(SWZLOHI, &[("lo", 0), ("hi", 1)]);
/// The flags of a `$vc` register that the scalar unit forwards: sign flags or zero flags.
pub const M_VCFLAG: Modifier = modifier(VCFLAG, &[("sf", 0), ("zf", 1)]);
/// The flags of a `$vc` register that choose factors: sign flags or zero flags.
pub const M_VCSEL: Modifier = modifier(VCSEL, &[("sf", 0), ("zf", 1)]);
/// Combines the base of `vlrp2` with 0x80 by exclusive or.
pub const M_LRP2X: Modifier = Modifier { field: LRP2X, choices: &[("xor", 1)], default: Some(0) };
/// Makes `vlrp2` write `$va` in addition to its vector register.
pub const M_VAWRITE: Modifier = Modifier { field: VAWRITE, choices: &[("va", 1)], default: Some(0) };
/// Makes `exit` raise an interrupt.
pub const M_INTR: Modifier = Modifier { field: INTR, choices: &[("intr", 1)], default: Some(0) };
/// Direction of a DMA barrier whose number is in a register.
pub const M_BARKIND_R: Modifier = modifier(BARKIND_R, &[("st", 0), ("ld", 1)]);
/// Direction of a DMA barrier whose number is an immediate.
pub const M_BARKIND_I: Modifier = modifier(BARKIND_I, &[("st", 0), ("ld", 1)]);

/// Number of `$r31`, the register that always holds 0.
pub const R_ZERO: u8 = 31;
/// The CDST of an instruction that writes no flags.
pub const NO_FLAGS: u64 = 7;

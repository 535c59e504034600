//! The bit fields of VP1 words and the spellings of their values. The fields are those of seed 004;
//! the names `OP` to `SLCT` and those of the immediates come from its section on the scalar unit.

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
/// Destination `$c` or `$vc` of the result's flags; values from 4 upwards mean no destination.
pub const CDST: Field = field(0, 3, "CDST");
/// The `$c` of a condition, a selection or a rotation.
pub const COND: Field = field(3, 2, "COND");
/// The bit of that `$c`.
pub const SLCT: Field = field(5, 4, "SLCT");

/// 11-bit immediate. It is unsigned in loads and stores that do not update the address register,
/// and signed elsewhere.
pub const IMM: Field = field(3, 11, "IMM");
/// Signed immediate of `mov`.
pub const IMM19: Field = field(0, 19, "IMM19");
/// Immediate for half of a register, or an exit code.
pub const IMM16: Field = field(0, 16, "IMM16");
/// Byte immediate.
pub const BIMM: Field = field(3, 8, "BIMM");
/// Bits 2 to 6 of a multiplier's byte immediate; bits 0 and 1 are 0.
pub const BIMMMUL_LOW: Field = field(9, 5, "BIMMMUL.low");
/// Bit 7 of a multiplier's byte immediate.
pub const BIMMMUL_HIGH: Field = field(0, 1, "BIMMMUL.high");
/// Byte immediate that overlaps other fields.
pub const BIMMBAD: Field = field(0, 8, "BIMMBAD");

/// Truth table: the result bit is `op >> (s2 | s1 << 1) & 1`.
pub const BITOP: Field = field(3, 4, "BITOP");
/// Truth table whose inputs are the comparison (s1) and the flag (s2).
pub const CMPOP: Field = field(19, 4, "CMPOP");
/// Rounding: 0 rounds down, 1 rounds to nearest.
pub const RND: Field = field(8, 1, "RND");
/// First source is signed.
pub const SIGN1: Field = field(2, 1, "SIGN1");
/// Second source is signed.
pub const SIGN2: Field = field(1, 1, "SIGN2");
/// Register file of a move, and the word number if the file is `$v`. Fixed bits in the rows of
/// moves.
pub const RFILE: Field = field(3, 5, "RFILE");
/// The bits of RFILE above [`VWORD`].
pub const RFILE_V: Field = field(5, 3, "RFILE.v");
/// Word number within a `$v`: word k is bytes 4k to 4k + 3.
pub const VWORD: Field = field(3, 2, "VWORD");
/// The bits of RFILE above [`MHIGH`].
pub const RFILE_M: Field = field(4, 4, "RFILE.m");
/// Bit 5 of the number of an `$m`.
pub const MHIGH: Field = field(3, 1, "MHIGH");
/// The `$c` that a move reads.
pub const CSRC: Field = field(14, 2, "CSRC");
/// The `$d` that a move writes.
pub const DDST: Field = field(19, 3, "DDST");
/// The `$d` that a move reads.
pub const DSRC: Field = field(14, 3, "DSRC");
/// The `$f` that a move writes.
pub const FDST: Field = field(19, 1, "FDST");
/// The `$f` that a move reads.
pub const FSRC: Field = field(14, 1, "FSRC");
/// The `$x` that a move writes.
pub const XDST: Field = field(19, 4, "XDST");
/// The `$x` that a move reads.
pub const XSRC: Field = field(14, 4, "XSRC");

/// Factors 0 and 1 of `vec`.
pub const FACTOR1: Field = field(1, 9, "FACTOR1");
/// Factors 2 and 3 of `vec`.
pub const FACTOR2: Field = field(10, 9, "FACTOR2");
/// The `$vc` that the scalar unit forwards to the vector unit.
pub const VCIDX: Field = field(19, 2, "VCIDX");
/// The half of that `$vc`: sign flags or zero flags.
pub const VCFLAG: Field = field(21, 1, "VCFLAG");
/// The distribution of its bits over the components, low bits of the code.
pub const VCXFRM_LOW: Field = field(22, 2, "VCXFRM.low");
/// The distribution of its bits over the components, high bit of the code.
pub const VCXFRM_HIGH: Field = field(0, 1, "VCXFRM.high");

/// Interpretation of the values that the scalar unit forwards: factors or masks.
pub const S2VMODE: Field = field(0, 1, "S2VMODE");
/// Arithmetic: fixed point or integer.
pub const FRACTINT: Field = field(3, 1, "FRACTINT");
/// The half of a product that is read.
pub const HILO: Field = field(4, 1, "HILO");
/// Scale of a product: a signed shift count.
pub const SHIFT: Field = field(5, 3, "SHIFT");
/// The bits of a swizzle's selectors that are used.
pub const SWZLOHI: Field = field(3, 1, "SWZLOHI");
/// The `$vc` that selects factors.
pub const VCSRC: Field = field(0, 2, "VCSRC");
/// The half of that `$vc`: sign flags or zero flags.
pub const VCSEL: Field = field(2, 1, "VCSEL");
/// Signedness of the sources of `vlrp2`.
pub const SIGNS: Field = field(9, 1, "SIGNS");
/// Combines the base of `vlrp2` with 0x80 by exclusive or.
pub const LRP2X: Field = field(10, 1, "LRP2X");
/// Makes `vlrp2` write `$va`.
pub const VAWRITE: Field = field(11, 1, "VAWRITE");
/// Signedness of the result of `vlrp2`.
pub const SIGND: Field = field(12, 1, "SIGND");
/// [`RND`] of `vlrp4b`.
pub const ALTRND: Field = field(9, 1, "ALTRND");
/// [`SHIFT`] of `vlrp4b`.
pub const ALTSHIFT: Field = field(11, 3, "ALTSHIFT");

/// Distinguishes `ldr` from `star`.
pub const SUBOP: Field = field(0, 1, "SUBOP");
/// Signed branch distance, in groups of four words.
pub const BTARG: Field = field(9, 15, "BTARG");
/// Target of `abra`: the number of a group of four words.
pub const ABTARG: Field = field(0, 16, "ABTARG");
/// Loop counter to read. Overlaps COND, which also has its usual effect.
pub const LSRC: Field = field(3, 2, "LSRC");
/// Loop counter to write. Lies within CDST, whose bit 2 is ignored.
pub const LDST: Field = field(0, 2, "LDST");
/// The number of the `$l`, and of the `$c`, that a move of the branch unit writes.
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

/// Bits of `$c`. Bits 11 and 12 are always 0 and have no name in the reference.
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
/// SLCT of a plain register: the bit that is always false.
pub const PLAIN: u64 = 14;
/// SLCT of a branch that is always taken: the bit that is always true.
pub const ALWAYS: u64 = 15;
/// The bit of `$c` that chooses a register; the default is the bit that is always false.
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
/// Arithmetic: fixed point or integer.
pub const M_FRACTINT: Modifier = modifier(FRACTINT, &[("fract", 0), ("int", 1)]);
/// Half of the product: high or low.
pub const M_HILO: Modifier = modifier(HILO, &[("hi", 0), ("lo", 1)]);
/// Bits of the selectors: low or high.
pub const M_SWZLOHI: Modifier = modifier(SWZLOHI, &[("lo", 0), ("hi", 1)]);
/// Half of the `$vc` that the scalar unit forwards: sign or zero flags.
pub const M_VCFLAG: Modifier = modifier(VCFLAG, &[("sf", 0), ("zf", 1)]);
/// Half of the `$vc` that selects factors: sign or zero flags.
pub const M_VCSEL: Modifier = modifier(VCSEL, &[("sf", 0), ("zf", 1)]);
/// Combines the base with 0x80 by exclusive or.
pub const M_LRP2X: Modifier = Modifier { field: LRP2X, choices: &[("xor", 1)], default: Some(0) };
/// Also writes `$va`.
pub const M_VAWRITE: Modifier = Modifier { field: VAWRITE, choices: &[("va", 1)], default: Some(0) };
/// Raises an interrupt.
pub const M_INTR: Modifier = Modifier { field: INTR, choices: &[("intr", 1)], default: Some(0) };
/// Direction of a DMA barrier whose number is in a register.
pub const M_BARKIND_R: Modifier = modifier(BARKIND_R, &[("st", 0), ("ld", 1)]);
/// Direction of a DMA barrier whose number is an immediate.
pub const M_BARKIND_I: Modifier = modifier(BARKIND_I, &[("st", 0), ("ld", 1)]);

/// `$r31`: reads as 0.
pub const R_ZERO: u8 = 31;
/// The CDST of an instruction that writes no flags.
pub const NO_FLAGS: u64 = 7;

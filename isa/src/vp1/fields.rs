//! The bit fields of VP1 words, each named by its place, and the spellings of their values (seed 004, which takes `OP` to
//! `SLCT` and the immediates from the scalar unit's documents).

use crate::row::Modifier;
use crate::word::Field;

const fn field(lo: u8, width: u8, name: &'static str) -> Field {
    Field::new(lo, width, name)
}

/// The opcode.
pub const OP: Field = field(24, 8, "OP");
/// All but the opcode, of an instruction that does nothing.
pub const IGNORED: Field = field(0, 24, "ignored");
/// What `ret` ignores.
pub const IGNORED_RET: Field = field(3, 21, "ignored");
/// Destination; the address register of a store.
pub const DST: Field = field(19, 5, "DST");
/// First source; the address register of a load, the data of a store.
pub const SRC1: Field = field(14, 5, "SRC1");
/// Second source.
pub const SRC2: Field = field(9, 5, "SRC2");
/// Third source, of the vector unit.
pub const SRC3: Field = field(4, 5, "SRC3");
/// `$c` or `$vc` that the result's flags go to; from 4 on none.
pub const CDST: Field = field(0, 3, "CDST");
/// `$c` of a condition, a selection or a rotation.
pub const COND: Field = field(3, 2, "COND");
/// Bit of that `$c`.
pub const SLCT: Field = field(5, 4, "SLCT");

/// 11-bit immediate: signed, but unsigned in loads and stores that leave the address register alone.
pub const IMM: Field = field(3, 11, "IMM");
/// Signed immediate of `mov`.
pub const IMM19: Field = field(0, 19, "IMM19");
/// Half a register, or an exit code.
pub const IMM16: Field = field(0, 16, "IMM16");
/// Byte immediate.
pub const BIMM: Field = field(3, 8, "BIMM");
/// Bits 2 to 6 of a multiplier's byte immediate; bits 0 and 1 are 0.
pub const BIMMMUL_LOW: Field = field(9, 5, "BIMMMUL.low");
/// Bit 7 of a multiplier's byte immediate.
pub const BIMMMUL_HIGH: Field = field(0, 1, "BIMMMUL.high");
/// Byte immediate that lies over other fields.
pub const BIMMBAD: Field = field(0, 8, "BIMMBAD");

/// Truth table: result bit = op >> (s2 | s1 << 1) & 1.
pub const BITOP: Field = field(3, 4, "BITOP");
/// Truth table over the comparison (s1) and the flag (s2).
pub const CMPOP: Field = field(19, 4, "CMPOP");
/// 1 rounds to nearest.
pub const RND: Field = field(8, 1, "RND");
/// First source is signed.
pub const SIGN1: Field = field(2, 1, "SIGN1");
/// Second source is signed.
pub const SIGN2: Field = field(1, 1, "SIGN2");
/// Register file of a move and, of `$v`, the word: fixed bits of the rows of moves.
pub const RFILE: Field = field(3, 5, "RFILE");
/// The bits of RFILE above [`VWORD`].
pub const RFILE_V: Field = field(5, 3, "RFILE.v");
/// Word of a `$v`, bytes 4k to 4k + 3.
pub const VWORD: Field = field(3, 2, "VWORD");
/// The bits of RFILE above [`MHIGH`].
pub const RFILE_M: Field = field(4, 4, "RFILE.m");
/// Bit 5 of the number of a `$m`.
pub const MHIGH: Field = field(3, 1, "MHIGH");
/// `$c` that a move reads.
pub const CSRC: Field = field(14, 2, "CSRC");
/// `$d` that a move writes.
pub const DDST: Field = field(19, 3, "DDST");
/// `$d` that a move reads.
pub const DSRC: Field = field(14, 3, "DSRC");
/// `$f` that a move writes.
pub const FDST: Field = field(19, 1, "FDST");
/// `$f` that a move reads.
pub const FSRC: Field = field(14, 1, "FSRC");
/// `$x` that a move writes.
pub const XDST: Field = field(19, 4, "XDST");
/// `$x` that a move reads.
pub const XSRC: Field = field(14, 4, "XSRC");

/// Factors 0 and 1 of `vec`.
pub const FACTOR1: Field = field(1, 9, "FACTOR1");
/// Factors 2 and 3 of `vec`.
pub const FACTOR2: Field = field(10, 9, "FACTOR2");
/// `$vc` that the scalar unit hands to the vector unit.
pub const VCIDX: Field = field(19, 2, "VCIDX");
/// Which half of it.
pub const VCFLAG: Field = field(21, 1, "VCFLAG");
/// How it is spread over the components, low bits.
pub const VCXFRM_LOW: Field = field(22, 2, "VCXFRM.low");
/// How it is spread over the components, high bit.
pub const VCXFRM_HIGH: Field = field(0, 1, "VCXFRM.high");

/// How the vector unit takes what the scalar unit hands it: factors or masks.
pub const S2VMODE: Field = field(0, 1, "S2VMODE");
/// Fixed point or integers.
pub const FRACTINT: Field = field(3, 1, "FRACTINT");
/// Which half of a product is read.
pub const HILO: Field = field(4, 1, "HILO");
/// Signed scale of a product.
pub const SHIFT: Field = field(5, 3, "SHIFT");
/// Which bits of a swizzle's selectors count.
pub const SWZLOHI: Field = field(3, 1, "SWZLOHI");
/// `$vc` that selects factors.
pub const VCSRC: Field = field(0, 2, "VCSRC");
/// Which half of it.
pub const VCSEL: Field = field(2, 1, "VCSEL");
/// Sources of `vlrp2` are signed.
pub const SIGNS: Field = field(9, 1, "SIGNS");
/// Base of `vlrp2` is xored with 0x80.
pub const LRP2X: Field = field(10, 1, "LRP2X");
/// `vlrp2` writes `$va`.
pub const VAWRITE: Field = field(11, 1, "VAWRITE");
/// Result of `vlrp2` is signed.
pub const SIGND: Field = field(12, 1, "SIGND");
/// [`RND`] of `vlrp4b`.
pub const ALTRND: Field = field(9, 1, "ALTRND");
/// [`SHIFT`] of `vlrp4b`.
pub const ALTSHIFT: Field = field(11, 3, "ALTSHIFT");

/// Tells `ldr` from `star`.
pub const SUBOP: Field = field(0, 1, "SUBOP");
/// Signed branch distance, in groups of four words.
pub const BTARG: Field = field(9, 15, "BTARG");
/// Target of `abra`, a group of four words.
pub const ABTARG: Field = field(0, 16, "ABTARG");
/// Loop counter that is read. Shares its place with COND, which acts too.
pub const LSRC: Field = field(3, 2, "LSRC");
/// Loop counter that is written. Lies within CDST, whose bit 2 it ignores.
pub const LDST: Field = field(0, 2, "LDST");
/// `$l`, and `$c` of the same number, that a move of the branch unit writes.
pub const LC: Field = field(19, 2, "LC");
/// `exit` raises an interrupt.
pub const INTR: Field = field(16, 1, "INTR");
/// Immediate of a DMA transfer.
pub const XDIMM: Field = field(0, 13, "XDIMM");
/// 1 where a DMA transfer has no immediate.
pub const XDNONE: Field = field(13, 1, "XDNONE");
/// Second number of a DMA barrier.
pub const BARU: Field = field(3, 2, "BARU");
/// First number of a DMA barrier.
pub const BARW: Field = field(20, 2, "BARW");
/// 1 where the first number of a DMA barrier is in a register.
pub const BARREG: Field = field(16, 1, "BARREG");
/// Direction of a DMA barrier with a register.
pub const BARKIND_R: Field = field(0, 1, "BARKIND");
/// Direction of a DMA barrier with a number.
pub const BARKIND_I: Field = field(19, 1, "BARKIND");

const fn modifier(field: Field, choices: &'static [(&'static str, u64)]) -> Modifier {
    Modifier { field, choices, default: None }
}

/// A bit of `$c`. Bits 11 and 12 have no name of their own: they are always 0.
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
/// A bit of `$c` that chooses a register; by default none does.
pub const M_CHOOSE: Modifier = Modifier { default: Some(PLAIN), ..M_SLCT };
/// Down, or to nearest.
pub const M_RND: Modifier = modifier(RND, &[("rd", 0), ("rn", 1)]);
/// Down, or to nearest.
pub const M_ALTRND: Modifier = modifier(ALTRND, &[("rd", 0), ("rn", 1)]);
/// Signedness of the first source.
pub const M_SIGN1: Modifier = modifier(SIGN1, &[("u", 0), ("s", 1)]);
/// Signedness of the second source.
pub const M_SIGN2: Modifier = modifier(SIGN2, &[("u", 0), ("s", 1)]);
/// Signedness of vlrp2's sources.
pub const M_SIGNS: Modifier = modifier(SIGNS, &[("u", 0), ("s", 1)]);
/// Signedness of vlrp2's result.
pub const M_SIGND: Modifier = modifier(SIGND, &[("u", 0), ("s", 1)]);
/// Factors or masks.
pub const M_S2VMODE: Modifier = modifier(S2VMODE, &[("factor", 0), ("mask", 1)]);
/// Fixed point or integers.
pub const M_FRACTINT: Modifier = modifier(FRACTINT, &[("fract", 0), ("int", 1)]);
/// High or low half.
pub const M_HILO: Modifier = modifier(HILO, &[("hi", 0), ("lo", 1)]);
/// Low or high bits.
pub const M_SWZLOHI: Modifier = modifier(SWZLOHI, &[("lo", 0), ("hi", 1)]);
/// Half of the `$vc` that the scalar unit hands over.
pub const M_VCFLAG: Modifier = modifier(VCFLAG, &[("sf", 0), ("zf", 1)]);
/// Half of the `$vc` that selects factors.
pub const M_VCSEL: Modifier = modifier(VCSEL, &[("sf", 0), ("zf", 1)]);
/// Xors the base with 0x80.
pub const M_LRP2X: Modifier = Modifier { field: LRP2X, choices: &[("xor", 1)], default: Some(0) };
/// Writes `$va`.
pub const M_VAWRITE: Modifier = Modifier { field: VAWRITE, choices: &[("va", 1)], default: Some(0) };
/// Raises an interrupt.
pub const M_INTR: Modifier = Modifier { field: INTR, choices: &[("intr", 1)], default: Some(0) };
/// Direction of a DMA barrier with a register.
pub const M_BARKIND_R: Modifier = modifier(BARKIND_R, &[("st", 0), ("ld", 1)]);
/// Direction of a DMA barrier with a number.
pub const M_BARKIND_I: Modifier = modifier(BARKIND_I, &[("st", 0), ("ld", 1)]);

/// `$r31`: reads as 0.
pub const R_ZERO: u8 = 31;
/// CDST of an instruction that writes no flags.
pub const NO_FLAGS: u64 = 7;

//! The bit fields of HALU instruction words and the spellings of their values. If instructions use a bit position for
//! different purposes, the name of its field is the position. Packed-half encodings follow the HALU reference (seed
//! 001), and video encodings the video references (seeds 000, 002 and 003). This project defines the others
//! (`docs/isa`).

use crate::row::Modifier;
use crate::word::Field;

const fn field(lo: u8, width: u8, name: &'static str) -> Field {
    Field::new(lo, width, name)
}

/// Opcode.
pub const OPTYPE: Field = field(0, 8, "optype");
/// Kinds of the source operands and their positions.
pub const STYPE: Field = field(8, 4, "stype");
/// Guard predicate.
pub const GUARD: Field = field(12, 3, "pg");
/// Inverts the guard.
pub const GUARD_NOT: Field = field(15, 1, "pg.not");
/// Destination GPR.
pub const RD: Field = field(16, 8, "rd");
/// Destination UR.
pub const URD: Field = field(16, 6, "urd");
/// First source GPR.
pub const RA: Field = field(24, 8, "ra");
/// GPR in bits 63:32, which hold the second source of most instructions.
pub const R32: Field = field(32, 8, "r32");
/// UR in bits 63:32, which hold the second source of most instructions.
pub const UR32: Field = field(32, 6, "ur32");
/// 32-bit immediate in bits 63:32: a half pair, an f32, an integer or a branch distance.
pub const IMM32: Field = field(32, 32, "imm32");
/// 16-bit immediate in bits 47:32.
pub const IMM16: Field = field(32, 16, "imm16");
/// Displacement of a memory address, in bytes.
pub const IMM24: Field = field(40, 24, "imm24");
/// Byte offset in a constant bank.
pub const CMEM_OFFSET: Field = field(32, 16, "offset");
/// Constant bank.
pub const CMEM_BANK: Field = field(48, 5, "bank");
/// Axis of a special register: the low bits of its number.
pub const AXIS: Field = field(32, 2, "axis");
/// Special register, without its axis.
pub const SREG: Field = field(34, 6, "sr");
/// GPR at bit 40, next to a GPR at bit 32.
pub const R40: Field = field(40, 8, "r40");
/// GPR at bit 64, above the source in bits 63:32.
pub const R64: Field = field(64, 8, "r64");

/// GPR at bit 72.
pub const R72: Field = field(72, 8, "r72");

/// Negates `ra`.
pub const RA_NEG: Field = field(72, 1, "ra.neg");
/// Takes the absolute value of `ra`.
pub const RA_ABS: Field = field(73, 1, "ra.abs");
/// Negates the GPR at bit 64.
pub const R64_NEG: Field = field(74, 1, "r64.neg");
/// Takes the absolute value of the GPR at bit 64.
pub const R64_ABS: Field = field(75, 1, "r64.abs");
/// Negates the source in bits 63:32.
pub const SLOT_NEG: Field = field(96, 1, "slot.neg");
/// Takes the absolute value of the source in bits 63:32.
pub const SLOT_ABS: Field = field(97, 1, "slot.abs");

/// Flushes subnormals to zero.
pub const FTZ: Field = field(76, 1, "ftz");
/// Saturates the result to [+0, 1].
pub const SAT: Field = field(77, 1, "sat");
/// Function of MUFU. Overlaps FTZ and SAT, which MUFU does not have.
pub const MUFU: Field = field(74, 4, "mufu");
/// Rounding mode.
pub const RND: Field = field(78, 2, "rnd");
/// Rounding mode of I2F. The bits of RND hold SIGN in this instruction.
pub const INT_RND: Field = field(80, 2, "rnd");
/// Half selector of `ra`.
pub const RA_HALF: Field = field(80, 2, "ra.hsel2");
/// Half selector of the second source, which is in bits 63:32 or at bit 64.
pub const B_HALF: Field = field(82, 2, "b.hsel2");
/// Half selector of the third source, which is in bits 63:32 or at bit 64.
pub const C_HALF: Field = field(84, 2, "c.hsel2");
/// Propagates NaN in minimum and maximum.
pub const NAN: Field = field(84, 1, "nan");
/// Logical operation that combines a comparison with the predicate source.
pub const LOP: Field = field(84, 2, "lop");
/// Floating-point comparison.
pub const CMP: Field = field(86, 4, "cmp");
/// Register value that represents true.
pub const BVAL: Field = field(90, 1, "bval");
/// Replaces results less than zero by +0.
pub const RELU: Field = field(92, 1, "relu");
/// Widens lane 0 of the result of HADD2 to f32. Overlaps RELU, which HADD2 does not have.
pub const F32: Field = field(92, 1, "f32");
/// Format of both halves: f16 or bf16.
pub const HFMT: Field = field(94, 1, "hfmt_v2");
/// Source predicate.
pub const PP: Field = field(98, 3, "pp");
/// Inverts the source predicate.
pub const PP_NOT: Field = field(101, 1, "pp.not");
/// Second source predicate.
pub const PX: Field = field(102, 3, "px");
/// Inverts the second source predicate.
pub const PX_NOT: Field = field(105, 1, "px.not");
/// Third source predicate (PLOP3 only).
pub const PY: Field = field(88, 3, "py");
/// Inverts the third source predicate (PLOP3 only).
pub const PY_NOT: Field = field(91, 1, "py.not");
/// First destination predicate.
pub const PU: Field = field(106, 3, "pu");
/// Second destination predicate.
pub const PV: Field = field(109, 3, "pv");

/// Video: signedness of the destination.
pub const DTYPE: Field = field(72, 1, "dtype");
/// Video: signedness of Va.
pub const ATYPE: Field = field(73, 1, "atype");
/// Video: signedness of Vb.
pub const BTYPE: Field = field(74, 1, "btype");
/// Video: adds the lane results to the third operand instead of replacing its lanes.
pub const VADD: Field = field(76, 1, "add");
/// Video: saturates to the range of `dtype`.
pub const VSAT: Field = field(77, 1, "sat");
/// Video, four lanes: numbers of the elements that the lanes of Va read, 3 bits per lane.
pub const ASEL4: Field = field(80, 12, "asel");
/// Video, four lanes: numbers of the elements that the lanes of Vb read, 3 bits per lane.
pub const BSEL4: Field = field(92, 12, "bsel");
/// Video, four lanes: write mask of the destination lanes.
pub const MASK4: Field = field(104, 4, "mask");
/// Video, two lanes: numbers of the elements that the lanes of Va read, 2 bits per lane.
pub const ASEL2: Field = field(80, 4, "asel");
/// Video, two lanes: numbers of the elements that the lanes of Vb read, 2 bits per lane.
pub const BSEL2: Field = field(92, 4, "bsel");
/// Video, two lanes: write mask of the destination lanes.
pub const MASK2: Field = field(104, 2, "mask");

/// Extended IADD3: a source with a minus sign is complemented instead of negated, and the carry predicate is added.
pub const X: Field = field(76, 1, "x");
/// Extended ISETP: if the operands are equal, the result is the second source predicate.
pub const EX: Field = field(76, 1, "ex");
/// SHF: returns the high word of the shifted 64-bit pair instead of the low word.
pub const HI: Field = field(76, 1, "hi");
/// Direction of SHF.
pub const DIR: Field = field(77, 1, "dir");
/// IDP.2A: multiplies by the upper two bytes of `rb` instead of the lower two.
pub const UPPER: Field = field(76, 1, "hi");
/// Signedness of an integer operation.
pub const SIGN: Field = field(78, 1, "sign");
/// Truth table of LOP3 and PLOP3.
pub const LUT: Field = field(80, 8, "lut");
/// Shift count of LEA.
pub const SHIFT: Field = field(80, 5, "shift");
/// Mask of the predicates P0..P6 that P2R and R2P access.
pub const PMASK: Field = field(80, 7, "pmask");
/// Integer comparison.
pub const ICMP: Field = field(86, 3, "cmp");
/// Half of the source register that F2F widens.
pub const LANE: Field = field(82, 1, "lane");

/// Operation of an atomic instruction.
pub const ATOM: Field = field(80, 4, "atom");
/// Signedness of an atomic operation.
pub const ATOM_SIGN: Field = field(84, 1, "sign");
/// Memory ordering of an access.
pub const ORDER: Field = field(86, 3, "order");
/// Scope of an access or a fence.
pub const SCOPE: Field = field(89, 2, "scope");
/// Sequentially consistent fence.
pub const SC: Field = field(86, 1, "sc");
/// Shuffle mode of SHFL.
pub const SHFL_MODE: Field = field(80, 2, "mode");
/// Lane number, distance or lane mask of SHFL, depending on its mode.
pub const SHFL_BY: Field = field(64, 5, "by");
/// Segment of SHFL: the range of lanes in which items exchange values.
pub const SHFL_SEGMENT: Field = field(82, 13, "segment");
/// Mode of VOTE.
pub const VOTE: Field = field(80, 2, "vote");
/// BAR.RED: the reduction of the items' predicates, AND or OR.
pub const BAR_REDUCTION: Field = field(80, 1, "red");
/// Selects MATCH.ALL instead of MATCH.ANY.
pub const MATCH: Field = field(80, 1, "match");
/// Reduction of REDUX.
pub const REDUX: Field = field(80, 3, "redux");
/// Allows the items of a warp to reach the barrier at different BAR instructions.
pub const UNALIGNED: Field = field(92, 1, "unaligned");

/// `$sched $req` of the syntax in the reference listings. The listings give no bit positions, so
/// the field is reserved and must be 0.
pub const SCHED_REQ: Field = field(112, 16, "sched, req");

const fn modifier(field: Field, choices: &'static [(&'static str, u64)], default: Option<u64>) -> Modifier {
    Modifier { field, choices, default }
}

/// `.F16_V2` or `.BF16_V2`.
pub const M_HFMT: Modifier = modifier(HFMT, &[("F16_V2", 0), ("BF16_V2", 1)], Some(0));
/// `.F16` or `.BF16` of F2FP.
pub const M_PACK: Modifier = modifier(HFMT, &[("F16", 0), ("BF16", 1)], None);
/// `.FTZ`.
pub const M_FTZ: Modifier = modifier(FTZ, &[("FTZ", 1)], Some(0));
/// `.SAT`.
pub const M_SAT: Modifier = modifier(SAT, &[("SAT", 1)], Some(0));
/// `.RELU`.
pub const M_RELU: Modifier = modifier(RELU, &[("RELU", 1)], Some(0));
/// `.F32` of HADD2.
pub const M_F32: Modifier = modifier(F32, &[("F32", 1)], Some(0));
/// `.NAN` of HMNMX2.
pub const M_NAN: Modifier = modifier(NAN, &[("NAN", 1)], Some(0));
/// Rounding mode: to nearest even, down, up, toward zero.
pub const M_RND: Modifier = modifier(RND, &[("RN", 0), ("RM", 1), ("RP", 2), ("RZ", 3)], Some(0));
/// Rounding mode of I2F.
pub const M_INT_RND: Modifier = modifier(INT_RND, M_RND.choices, M_RND.default);
/// The functions of MUFU.
pub const M_MUFU: Modifier =
    modifier(MUFU, &[("COS", 0), ("SIN", 1), ("EX2", 2), ("LG2", 3), ("RSQ", 5), ("TANH", 9)], None);
/// The fourteen floating-point comparisons.
pub const M_CMP: Modifier = modifier(
    CMP,
    &[
        ("LT", 1),
        ("EQ", 2),
        ("LE", 3),
        ("GT", 4),
        ("NE", 5),
        ("GE", 6),
        ("NUM", 7),
        ("NAN", 8),
        ("LTU", 9),
        ("EQU", 10),
        ("LEU", 11),
        ("GTU", 12),
        ("NEU", 13),
        ("GEU", 14),
    ],
    None,
);
/// The six integer comparisons. Their codes equal those of the floating-point comparisons.
pub const M_ICMP: Modifier = modifier(ICMP, &[("LT", 1), ("EQ", 2), ("LE", 3), ("GT", 4), ("NE", 5), ("GE", 6)], None);
/// `.AND`, `.OR` or `.XOR` with the predicate source.
pub const M_LOP: Modifier = modifier(LOP, &[("AND", 0), ("OR", 1), ("XOR", 2)], None);
/// Register value that represents true: all ones (`.BM`) or 1.0 (`.BF`).
pub const M_BVAL: Modifier = modifier(BVAL, &[("BM", 0), ("BF", 1)], Some(0));
/// `.U32` or `.S32`.
pub const M_SIGN: Modifier = modifier(SIGN, &[("U32", 0), ("S32", 1)], None);
/// `.X` of IADD3.
pub const M_X: Modifier = modifier(X, &[("X", 1)], Some(0));
/// `.EX` of ISETP.
pub const M_EX: Modifier = modifier(EX, &[("EX", 1)], Some(0));
/// `.L` or `.R` of SHF.
pub const M_DIR: Modifier = modifier(DIR, &[("L", 0), ("R", 1)], None);
/// `.HI` of SHF.
pub const M_HI: Modifier = modifier(HI, &[("HI", 1)], Some(0));
/// Video: signedness of the destination.
pub const M_DTYPE: Modifier = modifier(DTYPE, &[("u32", 0), ("s32", 1)], None);
/// Video: signedness of Va.
pub const M_ATYPE: Modifier = modifier(ATYPE, &[("u32", 0), ("s32", 1)], None);
/// Video: signedness of Vb.
pub const M_BTYPE: Modifier = modifier(BTYPE, &[("u32", 0), ("s32", 1)], None);
/// `.sat` of a video instruction.
pub const M_VSAT: Modifier = modifier(VSAT, &[("sat", 1)], Some(0));
/// `.add` of a video instruction.
pub const M_VADD: Modifier = modifier(VADD, &[("add", 1)], Some(0));
/// Signedness of the elements of `ra` in IDP.4A.
pub const M_BYTES_A: Modifier = modifier(ATYPE, &[("U8", 0), ("S8", 1)], None);
/// Signedness of the elements of `ra` in IDP.2A.
pub const M_HALVES_A: Modifier = modifier(ATYPE, &[("U16", 0), ("S16", 1)], None);
/// Signedness of the bytes of `rb` in IDP.
pub const M_BYTES_B: Modifier = modifier(BTYPE, &[("U8", 0), ("S8", 1)], None);
/// `.LO` or `.HI` of IDP.2A.
pub const M_UPPER: Modifier = modifier(UPPER, &[("LO", 0), ("HI", 1)], None);
/// Special registers.
pub const M_SREG: Modifier = modifier(SREG, &[("SR_ITEM", 0), ("SR_TID", 8), ("SR_CTAID", 9)], None);
/// `.X`, `.Y` or `.Z` of a special register.
pub const M_AXIS: Modifier = modifier(AXIS, &[("X", 1), ("Y", 2), ("Z", 3)], Some(0));
/// Lane 0 or 1 of a packed register.
pub const M_LANE: Modifier = modifier(LANE, &[("H0", 0), ("H1", 1)], Some(0));

/// Operations of a 64-bit atomic instruction.
pub const M_ATOM_64: Modifier =
    modifier(ATOM, &[("ADD", 0), ("MIN", 1), ("MAX", 2), ("AND", 5), ("OR", 6), ("XOR", 7), ("EXCH", 8)], None);
/// Operations of a 32-bit atomic instruction, wrapping increment and decrement included.
pub const M_ATOM: Modifier = modifier(
    ATOM,
    &[("ADD", 0), ("MIN", 1), ("MAX", 2), ("INC", 3), ("DEC", 4), ("AND", 5), ("OR", 6), ("XOR", 7), ("EXCH", 8)],
    None,
);
/// Signedness of a 32-bit atomic operation: `.S32`, or unsigned by default.
pub const M_ATOM_SIGN: Modifier = modifier(ATOM_SIGN, &[("U32", 0), ("S32", 1)], Some(0));
/// Signedness of a 64-bit atomic operation: `.S64`, or unsigned by default.
pub const M_ATOM_SIGN_64: Modifier = modifier(ATOM_SIGN, &[("U64", 0), ("S64", 1)], Some(0));
/// Memory ordering of an atomic operation.
pub const M_ATOM_ORDER: Modifier = modifier(ORDER, &[("ACQUIRE", 2), ("RELEASE", 3), ("ACQ_REL", 4)], Some(0));
/// Memory ordering of a load: weak by default, strong or acquire.
pub const M_LOAD_ORDER: Modifier = modifier(ORDER, &[("STRONG", 1), ("ACQUIRE", 2)], Some(0));
/// Memory ordering of a store: weak by default, strong or release.
pub const M_STORE_ORDER: Modifier = modifier(ORDER, &[("STRONG", 1), ("RELEASE", 3)], Some(0));
/// Scope of an access: device (GPU), group (CTA) or system (SYS).
pub const M_SCOPE: Modifier = modifier(SCOPE, &[("GPU", 0), ("CTA", 1), ("SYS", 2)], Some(0));
/// `.SC` of MEMBAR.
pub const M_SC: Modifier = modifier(SC, &[("SC", 1)], Some(0));
/// Shuffle modes of SHFL.
pub const M_SHFL: Modifier = modifier(SHFL_MODE, &[("IDX", 0), ("UP", 1), ("DOWN", 2), ("BFLY", 3)], None);
/// Modes of VOTE.
pub const M_VOTE: Modifier = modifier(VOTE, &[("ALL", 0), ("ANY", 1), ("EQ", 2)], None);
/// Reductions of BAR.RED.
pub const M_ASKED: Modifier = modifier(BAR_REDUCTION, &[("AND", 0), ("OR", 1)], None);
/// `.ANY` or `.ALL` of MATCH.
pub const M_MATCH: Modifier = modifier(MATCH, &[("ANY", 0), ("ALL", 1)], None);
/// Reductions of REDUX.
pub const M_REDUX: Modifier =
    modifier(REDUX, &[("SUM", 0), ("MIN", 1), ("MAX", 2), ("AND", 3), ("OR", 4), ("XOR", 5)], None);
/// Signedness of REDUX: `.S32`, or unsigned by default.
pub const M_REDUX_SIGN: Modifier = modifier(SIGN, &[("U32", 0), ("S32", 1)], Some(0));
/// `.UNALIGNED` of BAR.
pub const M_UNALIGNED: Modifier = modifier(UNALIGNED, &[("UNALIGNED", 1)], Some(0));

/// Returns the modifier that selects the halves of a packed source, encoded in the given field.
pub const fn half_select(field: Field) -> Modifier {
    modifier(field, &[("H1_H0", 0), ("H0_H0", 2), ("H1_H1", 3)], Some(0))
}

/// Number of RZ, the GPR that always holds 0.
pub const RZ: u8 = 255;
/// Number of URZ, the uniform register that always holds 0.
pub const URZ: u8 = 63;
/// Number of PT, the predicate that is always true.
pub const PT: u8 = 7;

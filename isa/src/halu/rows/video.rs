//! Rows of the video instructions: arithmetic on two half-words or four bytes of a register. The
//! instructions select elements of the sources, and merge or accumulate the results (video
//! references, seeds 000, 002 and 003).

use super::*;
use crate::row::{FieldTest, InvalidCombination};

const VIDEO: Row = Row {
    modifiers: &[M_DTYPE, M_ATYPE, M_BTYPE, M_VSAT, M_VADD],
    order: ModifierOrder::Fixed,
    forbids: &[InvalidCombination {
        all: &[(VSAT, FieldTest::Eq(1)), (VADD, FieldTest::Eq(1))],
        why: ".sat cannot be used with .add",
    }],
    ..HALU
};

const fn lanes4(op: Operand, field: Field, default: u64) -> Operand {
    op.suffix(Suffix::Lanes { field, letter: 'b', lanes: 4, bits: 3, default })
}

const fn lanes2(op: Operand, field: Field, default: u64) -> Operand {
    op.suffix(Suffix::Lanes { field, letter: 'h', lanes: 2, bits: 2, default })
}

const RC: Operand = gpr("rc", R64);

const OPERANDS4: &[Operand] = &[
    D.suffix(Suffix::Mask { field: MASK4, letter: 'b', lanes: 4 }),
    lanes4(A, ASEL4, 0o3210),
    lanes4(gpr("rb", R32), BSEL4, 0o7654),
    RC,
];

const OPERANDS2: &[Operand] = &[
    D.suffix(Suffix::Mask { field: MASK2, letter: 'h', lanes: 2 }),
    lanes2(A, ASEL2, 0b01_00),
    lanes2(gpr("rb", R32), BSEL2, 0b11_10),
    RC,
];

macro_rules! video {
    ($operands:ident, $lanes:literal, $highest:literal, $elements:literal; $($name:ident $optype:literal $mnemonic:literal $verb:literal $t:literal $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            fixed: &[(OPTYPE, $optype), (STYPE, R)],
            operands: $operands,
            doc: concat!(
                $verb, " ", $lanes, " selected from two registers: `t = ", $t, "`. Merges t into `rc` or adds it to `rc`.\n\n",
                "The last digit of a selector is lane 0. Elements 0 to ", $highest, " are those of `ra` and the ", $elements, " after them those of `rb`, for both selectors. ",
                "`.atype` selects the extension of Va's elements and `.btype` that of Vb's, from whichever register \
                 they come. t is an exact signed integer; operands of different types are compared by value.\n\n",
                "`.sat` clamps t to the range of a lane of `.dtype`; otherwise t wraps to its lane. Lanes outside the \
                 mask are copied from `rc`. ",
                "`.add` writes `rc` plus the sum of the unclamped t of the lanes in the mask, modulo 2^32, and \
                 excludes `.sat`.",
            ),
            examples: &[$($example),*],
            ..VIDEO
        };
    )* };
}

video! { OPERANDS4, "four bytes", "3", "4";
    VADD4 0x58 "vadd4" "Adds" "Va + Vb" "vadd4.s32.s32.u32.sat R1, R2, R3, R1;";
    VSUB4 0x59 "vsub4" "Subtracts" "Va - Vb" "vsub4.s32.s32.s32.sat R1.b0, R2.b7654, R3.b3210, R1;";
    VAVRG4 0x5a "vavrg4" "Averages" "s >= 0 ? (s + 1) >> 1 : s >> 1` with `s = Va + Vb" "vavrg4.u32.u32.u32 R1, R2, R3, RZ;";
    VABSDIFF4 0x5b "vabsdiff4" "Computes the absolute difference of" "|Va - Vb|" "vabsdiff4.u32.u32.u32.add R1, R2, R3, R1;";
    VMIN4 0x5c "vmin4" "Computes the minimum of" "min(Va, Vb)" "vmin4.s32.u32.u32.add R1.b10, R2.b0000, R3.b2222, R1;";
    VMAX4 0x5d "vmax4" "Computes the maximum of" "max(Va, Vb)" "vmax4.s32.s32.s32 R1, R2, RZ, RZ;";
}

video! { OPERANDS2, "two half-words", "1", "2";
    VADD2 0x50 "vadd2" "Adds" "Va + Vb" "vadd2.s32.s32.u32.sat R1, R2, R3, R1;";
    VSUB2 0x51 "vsub2" "Subtracts" "Va - Vb" "vsub2.s32.s32.s32.sat R1.h0, R2.h32, R3.h10, R1;";
    VAVRG2 0x52 "vavrg2" "Averages" "s >= 0 ? (s + 1) >> 1 : s >> 1` with `s = Va + Vb" "vavrg2.u32.u32.u32 R1, R2, R3, RZ;";
    VABSDIFF2 0x53 "vabsdiff2" "Computes the absolute difference of" "|Va - Vb|" "vabsdiff2.u32.u32.u32.add R1, R2, R3, R1;";
    VMIN2 0x54 "vmin2" "Computes the minimum of" "min(Va, Vb)" "vmin2.s32.u32.u32.add R1.h1, R2.h00, R3.h22, R1;";
    VMAX2 0x55 "vmax2" "Computes the maximum of" "max(Va, Vb)" "vmax2.s32.s32.s32 R1, R2, RZ, RZ;";
}

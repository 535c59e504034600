//! Rows of video instructions: arithmetic on two half-words or four bytes of a register, with
//! element selection and a merge or accumulation.

use super::*;

const SIGNS: &[Choice] = types!(U32 S32);
const SLOTS: &[ModifierSlot] = &[
    ModifierSlot::one_of("type of d", SIGNS),
    ModifierSlot::one_of("type of a", SIGNS),
    ModifierSlot::one_of("type of b", SIGNS),
    ModifierSlot::optional("merge", words!(Sat Add)),
];

const fn operands(lanes: Lanes, a: u16, b: u16, c: Ty) -> [OperandRow; 4] {
    [
        OperandRow::def("d", OperandKind::Masked(lanes)),
        OperandRow::used("a", OperandKind::Selected(lanes, a)),
        OperandRow::used("b", OperandKind::Selected(lanes, b)),
        reg("c", c),
    ]
}

const OPERANDS4: &[OperandRow] = &operands(Lanes::Four, 0o3210, 0o7654, T);
const OPERANDS2: &[OperandRow] = &operands(Lanes::Two, 0b01_00, 0b11_10, T);
const COMPARED4: &[OperandRow] = &operands(Lanes::Four, 0o3210, 0o7654, U32);
const COMPARED2: &[OperandRow] = &operands(Lanes::Two, 0b01_00, 0b11_10, U32);

macro_rules! video {
    ($operands:ident, $lanes:literal, $highest:literal, $elements:literal; $($name:ident $mnemonic:literal $verb:literal $t:literal $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: SLOTS,
            operands: $operands,
            doc: concat!(
                $verb, " ", $lanes, " selected from two registers: `t = ", $t, "`. Merges t into `c` or adds it to `c`.\n\n",
                "The last digit of a selector is lane 0. Elements 0 to ", $highest, " are those of `a` and the ", $elements, " after them those of `b`, for both selectors. ",
                "The type of a selects the extension of Va's elements and the type of b that of Vb's, from whichever \
                 register they come. t is an exact signed integer.\n\n",
                "`.sat` clamps t to the range of a lane of the type of d; otherwise t wraps to its lane. Lanes outside \
                 the mask are copied from `c`. ",
                "`.add` writes `c` plus the sum of the unclamped t of the lanes in the mask, modulo 2^32.",
            ),
            examples: &[$example],
            ..PTX
        };
    )* };
}

video! { OPERANDS4, "four bytes", "3", "4";
    VADD4 "vadd4" "Adds" "Va + Vb" "vadd4.u32.u32.u32.sat %d, %a, %b, %c;";
    VSUB4 "vsub4" "Subtracts" "Va - Vb" "vsub4.s32.s32.s32.sat %d.b0, %a.b7654, %b.b3210, %c;";
    VAVRG4 "vavrg4" "Averages" "s >= 0 ? (s + 1) >> 1 : s >> 1` with `s = Va + Vb" "vavrg4.u32.u32.u32 %d, %a, %b, %c;";
    VABSDIFF4 "vabsdiff4" "Computes the absolute difference of" "|Va - Vb|" "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;";
    VMIN4 "vmin4" "Computes the minimum of" "min(Va, Vb)" "vmin4.s32.u32.u32.add %d.b10, %a.b0000, %b.b2222, %c;";
    VMAX4 "vmax4" "Computes the maximum of" "max(Va, Vb)" "vmax4.s32.s32.s32 %d, %a, %b, %c;";
}

video! { OPERANDS2, "two half-words", "1", "2";
    VADD2 "vadd2" "Adds" "Va + Vb" "vadd2.s32.s32.u32.sat %d, %a, %b, %c;";
    VSUB2 "vsub2" "Subtracts" "Va - Vb" "vsub2.s32.s32.s32.sat %d.h0, %a.h32, %b.h10, %c;";
    VAVRG2 "vavrg2" "Averages" "s >= 0 ? (s + 1) >> 1 : s >> 1` with `s = Va + Vb" "vavrg2.u32.u32.u32 %d, %a, %b, %c;";
    VABSDIFF2 "vabsdiff2" "Computes the absolute difference of" "|Va - Vb|" "vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;";
    VMIN2 "vmin2" "Computes the minimum of" "min(Va, Vb)" "vmin2.s32.u32.u32.add %d.h1, %a.h00, %b.h22, %c;";
    VMAX2 "vmax2" "Computes the maximum of" "max(Va, Vb)" "vmax2.s32.s32.s32 %d, %a, %b, %c;";
}

const COMPARED: &[ModifierSlot] = &[
    ModifierSlot::one_of("type of a", SIGNS),
    ModifierSlot::one_of("type of b", SIGNS),
    ModifierSlot::one_of("compare", words!(Eq Ne Lt Le Gt Ge)),
    ModifierSlot::optional("merge", words!(Add)),
];

macro_rules! compares {
    ($($name:ident $mnemonic:literal $operands:ident $lanes:literal $highest:literal $elements:literal $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: COMPARED,
            operands: $operands,
            doc: concat!(
                "Compares ", $lanes, " selected from two registers: the result is 1 if the comparison is true, else 0. It becomes a lane of `d` or is added to `c`.\n\n",
                "The last digit of a selector is lane 0. Elements 0 to ", $highest, " are those of `a` and the ", $elements, " after them those of `b`, for both selectors. ",
                "The type of a selects the extension of Va's elements and the type of b that of Vb's, from whichever \
                 register they come. Elements are compared as exact integers.\n\n",
                "Lanes outside the mask are copied from `c`. `.add` writes `c` plus the number of lanes in the mask \
                 for which the comparison is true, modulo 2^32.",
            ),
            examples: &[$example],
            ..PTX
        };
    )* };
}

compares! {
    VSET4 "vset4" COMPARED4 "four bytes" "3" "4" "vset4.u32.u32.lt.add %d.b310, %a.b7654, %b.b3210, %c;";
    VSET2 "vset2" COMPARED2 "two half-words" "1" "2" "vset2.s32.u32.ne %d, %a, %b.h10, %c;";
}

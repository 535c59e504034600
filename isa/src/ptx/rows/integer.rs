//! Rows of integer arithmetic.

use super::*;

const INTEGERS: ModifierSlot = ty(types!(U16 U32 U64 S16 S32 S64));
const SIGNED: ModifierSlot = ty(types!(S16 S32 S64));
const NARROW: ModifierSlot = ty(types!(U16 U32 S16 S32));
const HALF: ModifierSlot = ModifierSlot::one_of("half of the product", words!(Lo Hi));
const WIDE: ModifierSlot = ModifierSlot::one_of("half of the product", words!(Wide));
const S32: ModifierSlot = ty(types!(S32));
const MUST_SAT: ModifierSlot = ModifierSlot::one_of("clamping", words!(Sat));
const MUST_RELU: ModifierSlot = ModifierSlot::one_of("clamping", words!(Relu));
const BYTES: ModifierSlot = ty(types!(U8x4 S8x4));

macro_rules! integer {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

const MAYBE_CC: ModifierSlot = ModifierSlot::optional("carry", words!(Cc));
const CC: ModifierSlot = ModifierSlot::one_of("carry", words!(Cc));
const CARRIES: ModifierSlot = ty(types!(U32 U64 S32 S64));
const WORDS: ModifierSlot = ty(types!(U32 S32));
const HIGH: ModifierSlot = ModifierSlot::one_of("half of the product", words!(Hi));
const MAD_WIDE_OPERANDS: &[OperandRow] = &[def("d", Ty::Wide), value("a", T), value("b", T), value("c", Ty::Wide)];
const DOT: &[OperandRow] = &[def("d", U32), value("a", T), value("b", Ty::Named(1)), value("c", U32)];
const FIRST: ModifierSlot = ModifierSlot::one_of("type of a", types!(U32 S32));
const SECOND: ModifierSlot = ModifierSlot::one_of("type of b", types!(U32 S32));

integer! {
    ADD "add" &[INTEGERS], D_A_B, "Adds two integers: `a + b`, wrapping.", "add.s64 %d, %a, 16;";
    ADD_SAT "add" &[MUST_SAT, S32], D_A_B, "Adds two integers and clamps the sum to the range of an s32.", "add.sat.s32 %d, %a, %b;";
    SUB "sub" &[INTEGERS], D_A_B, "Subtracts two integers: `a - b`, wrapping.", "sub.u16 %d, %a, %b;";
    SUB_SAT "sub" &[MUST_SAT, S32], D_A_B, "Subtracts two integers and clamps the difference to the range of an s32.", "sub.sat.s32 %d, %a, %b;";
    MUL "mul" &[HALF, INTEGERS], D_A_B, "Multiplies two integers and returns the low half (`.lo`) or the high half (`.hi`) of the product.", "mul.lo.s32 %d, %a, 12;" "mul.hi.u64 %d, %a, %b;";
    MUL_WIDE "mul" &[WIDE, NARROW], &[def("d", Ty::Wide), value("a", T), value("b", T)],
        "Multiplies two integers to a product of twice the width.", "mul.wide.s32 %d, %a, 4;";
    MAD "mad" &[HALF, INTEGERS], D_A_B_C, "Multiplies two integers and adds a third to the low half (`.lo`) or the high half (`.hi`) of the product.", "mad.lo.s32 %d, %a, %b, %c;";
    MAD_WIDE "mad" &[WIDE, NARROW], MAD_WIDE_OPERANDS, "Multiplies two integers and adds a third that is as wide as the product.", "mad.wide.u32 %d, %a, %b, %c;";
    MAD_SAT "mad" &[HIGH, MUST_SAT, S32], D_A_B_C, "Multiplies two integers, adds a third to the high half of the product, and clamps the sum to the range of an s32.", "mad.hi.sat.s32 %d, %a, %b, %c;";
    MUL24 "mul24" &[HALF, WORDS], D_A_B,
        "Multiplies the low 24 bits of two integers, extended by the type. `.lo` returns bits 0 to 31 and `.hi` bits \
         16 to 47 of the 48-bit product.",
        "mul24.lo.u32 %d, %a, %b;";
    MAD24 "mad24" &[HALF, WORDS], D_A_B_C, "Multiplies like `mul24` and adds a third integer.", "mad24.hi.s32 %d, %a, %b, %c;";
    MAD24_SAT "mad24" &[HIGH, MUST_SAT, S32], D_A_B_C, "Multiplies like `mul24`, adds a third integer and clamps the sum to the range of an s32.", "mad24.hi.sat.s32 %d, %a, %b, %c;";
    DIV "div" &[INTEGERS], D_A_B, "Divides two integers and rounds the quotient toward zero. A division by 0 gives all ones; the least integer divided by -1 gives the least integer.", "div.u32 %d, %a, %b;";
    REM "rem" &[INTEGERS], D_A_B, "Computes the remainder of a division, `a - b * (a / b)`, which has the sign of `a`. A division by 0 gives all ones.", "rem.s64 %d, %a, 10;";
    MIN "min" &[INTEGERS], D_A_B, "Computes the minimum of two integers.", "min.s32 %d, %a, 255;";
    MAX "max" &[INTEGERS], D_A_B, "Computes the maximum of two integers.", "max.s32 %d, %a, 0;";
    ABS "abs" &[SIGNED], D_A, "Computes the absolute value of an integer; the least integer is unchanged.", "abs.s32 %d, %a;";
    NEG "neg" &[SIGNED], D_A, "Negates an integer; the least integer is unchanged.", "neg.s32 %d, %a;";
    SAD "sad" &[INTEGERS], D_A_B_C, "Adds the absolute difference of two integers to a third: `|a - b| + c`, wrapping.", "sad.u32 %d, %a, %b, %c;";
    DP4A "dp4a" &[FIRST, SECOND], DOT,
        "Multiplies the four bytes of `a` by those of `b` and adds the products to `c`, modulo 2^32. The bytes of each \
         operand are extended by its own type.",
        "dp4a.u32.s32 %d, %a, %b, %c;";
    DP2A "dp2a" &[ModifierSlot::one_of("half of b", words!(Lo Hi)), FIRST, SECOND], DOT,
        "Multiplies the two half-words of `a` by the low or the high two bytes of `b` and adds the products to `c`, \
         modulo 2^32. Each operand is extended by its own type.",
        "dp2a.lo.u32.u32 %d, %a, %b, %c;";
}

macro_rules! carries {
    ($($name:ident $mnemonic:literal $carry:ident $slots:expr, $operands:expr, $doc:literal, $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            carry: Carry::$carry,
            doc: $doc,
            examples: &[$example],
            ..PTX
        };
    )* };
}

carries! {
    ADD_CC "add" Out &[CC, CARRIES], D_A_B, "Adds two integers and sets the carry flag to the carry out of the sum.", "add.cc.u32 %d, %a, %b;";
    ADDC "addc" In &[MAYBE_CC, CARRIES], D_A_B, "Adds two integers and the carry flag. With `.cc` the flag becomes the carry out of the sum.", "addc.u32 %d, %a, 0;";
    SUB_CC "sub" Out &[CC, CARRIES], D_A_B, "Subtracts two integers and sets the carry flag to the carry out of `a + ~b + 1`, which is `a >= b` unsigned.", "sub.cc.u32 %d, %a, %b;";
    SUBC "subc" In &[MAYBE_CC, CARRIES], D_A_B, "Computes `a + ~b` plus the carry flag: `a - b` if the flag is set, else `a - b - 1`. With `.cc` the flag becomes the carry out of this sum.", "subc.cc.u32 %d, %a, %b;";
    MAD_CC "mad" Out &[HALF, CC, CARRIES], D_A_B_C, "Multiplies two integers, adds a third to a half of the product and sets the carry flag to the carry out of this sum.", "mad.lo.cc.u32 %d, %a, %b, %c;";
    MADC "madc" In &[HALF, MAYBE_CC, CARRIES], D_A_B_C, "Multiplies two integers and adds a third and the carry flag to a half of the product. With `.cc` the flag becomes the carry out of this sum.", "madc.hi.cc.u32 %d, %a, %b, %c;";
}

macro_rules! clamped_below {
    ($($name:ident $mnemonic:literal $doc:literal, $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: &[MUST_RELU, S32],
            operands: D_A_B,
            since: PACKED_16,
            doc: $doc,
            examples: &[$example],
            ..PTX
        };
    )* };
}

clamped_below! {
    MIN_RELU "min" "Computes the minimum of two integers, or 0 if it is negative.", "min.relu.s32 %d, %a, %b;";
    MAX_RELU "max" "Computes the maximum of two integers, or 0 if it is negative.", "max.relu.s32 %d, %a, %b;";
}

const HALFWORDS: ModifierSlot = ty(types!(U16x2 S16x2));
const SIGNED_HALFWORDS: ModifierSlot = ty(types!(S16x2));

macro_rules! packed {
    ($($name:ident $mnemonic:literal $slots:expr, $since:expr, $doc:literal, $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: REGS_2,
            since: $since,
            doc: $doc,
            examples: &[$example],
            ..PTX
        };
    )* };
}

packed! {
    ADD_X2 "add" &[HALFWORDS], PACKED_16, "Adds half-words lane by lane; sums wrap.", "add.u16x2 %d, %a, %b;";
    MIN_X2 "min" &[HALFWORDS], PACKED_16, "Computes the minimum of two half-words, lane by lane.", "min.s16x2 %d, %a, %b;";
    MIN_RELU_X2 "min" &[MUST_RELU, SIGNED_HALFWORDS], PACKED_16, "Computes the minimum of two half-words, or 0 if it is negative, lane by lane.", "min.relu.s16x2 %d, %a, %b;";
    MAX_X2 "max" &[HALFWORDS], PACKED_16, "Computes the maximum of two half-words, lane by lane.", "max.s16x2 %d, %a, %b;";
    MAX_RELU_X2 "max" &[MUST_RELU, SIGNED_HALFWORDS], PACKED_16, "Computes the maximum of two half-words, or 0 if it is negative, lane by lane.", "max.relu.s16x2 %d, %a, %b;";
    ADD_X4 "add" &[SAT, BYTES], PACKED_8, "Adds bytes lane by lane; sums wrap, or with `.sat` are clamped to the type.", "add.sat.u8x4 %d, %a, %b;";
    SUB_X4 "sub" &[SAT, BYTES], PACKED_8, "Subtracts bytes lane by lane; differences wrap, or with `.sat` are clamped to the type.", "sub.sat.s8x4 %d, %a, %b;";
    MIN_X4 "min" &[BYTES], PACKED_8, "Computes the minimum of two bytes, lane by lane.", "min.u8x4 %d, %a, %b;";
    MAX_X4 "max" &[BYTES], PACKED_8, "Computes the maximum of two bytes, lane by lane.", "max.s8x4 %d, %a, %b;";
}

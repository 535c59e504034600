//! Rows of f32 arithmetic.

use super::*;

const F32: ModifierSlot = ty(types!(F32));

macro_rules! arithmetic {
    ($what:literal) => {
        concat!($what, "\n\nResults are rounded once: to nearest even (`.rn`, the default), toward zero (`.rz`), down (`.rm`) or up (`.rp`). Every NaN is 0x7fffffff. `.ftz` flushes subnormal operands and results to ",
            "zeros of their sign. `.sat` clamps to [0, 1] and turns NaN and -0 into +0.")
    };
    ($what:literal, fusing) => {
        concat!(arithmetic!($what), "\n\nWithout a rounding modifier, an assembler may fuse a product with a sum; halfbyte rounds each.")
    };
}

macro_rules! extremum {
    ($which:literal, $count:literal) => {
        concat!(
            "Computes the ",
            $which,
            " of ",
            $count,
            " f32; -0 is less than +0. A NaN operand is ignored, or with `.NaN` makes the result NaN; if all operands \
             are NaN, the result is NaN, ",
            "0x7fffffff. `.ftz` flushes subnormal operands to zeros of their sign; `.abs` takes the magnitudes of the \
             operands."
        )
    };
}

macro_rules! signed {
    ($which:literal) => {
        concat!("Computes the ", $which, " of the magnitudes of two floats; its sign is the xor of their signs. NaN has no sign and is treated as in the variant without `.xorsign`.")
    };
}
pub(super) use signed;

const SAME_2: &[OperandRow] = &[def("d", T), reg("a", Ty::Named(1)), value("c", T)];
const SAME_3: &[OperandRow] = &[def("d", T), reg("a", Ty::Named(1)), reg("b", Ty::Named(1)), value("c", T)];
const HALF: ModifierSlot = source_ty(types!(F16 Bf16));
const PAIR: ModifierSlot = ty(types!(F32x2));
const MAYBE_ABS: ModifierSlot = ModifierSlot::optional("magnitudes", words!(Abs));
const THREE: Requirements = Requirements::new(8, 8, 100);
const PROPERTY: ModifierSlot =
    ModifierSlot::one_of("property", words!(Finite Infinite Number NotANumber Normal Subnormal));
const SINGLES: ModifierSlot = ty(types!(F32 F64));

rows! {
    ADD_F32 "add" &[MAYBE_ROUND, FTZ, SAT, F32], D_A_B, Requirements::ALWAYS, arithmetic!("Adds two f32.", fusing), "add.rn.f32 %d, %a, 0f3f800000;";
    SUB_F32 "sub" &[MAYBE_ROUND, FTZ, SAT, F32], D_A_B, Requirements::ALWAYS, arithmetic!("Subtracts two f32.", fusing), "sub.rn.f32 %d, %a, %b;";
    MUL_F32 "mul" &[MAYBE_ROUND, FTZ, SAT, F32], D_A_B, Requirements::ALWAYS, arithmetic!("Multiplies two f32.", fusing), "mul.rn.sat.f32 %d, %a, %b;";
    FMA_F32 "fma" &[ROUND, FTZ, SAT, F32], D_A_B_C, Requirements::ALWAYS, arithmetic!("Multiplies and adds f32 with one rounding."), "fma.rn.f32 %d, %a, %b, %c;";
    MAD_F32 "mad" &[ROUND, FTZ, SAT, F32], D_A_B_C, Requirements::ALWAYS, arithmetic!("Synonym of `fma`."), "mad.rz.f32 %d, %a, %b, %c;";
    DIV_F32 "div" &[ROUND, FTZ, F32], D_A_B, Requirements::ALWAYS, arithmetic!("Divides two f32, correctly rounded."), "div.rn.f32 %d, %a, %b;";
    RCP_F32 "rcp" &[ROUND, FTZ, F32], D_A, Requirements::ALWAYS, arithmetic!("Computes the reciprocal of an f32, correctly rounded."), "rcp.rn.f32 %d, %a;";
    SQRT_F32 "sqrt" &[ROUND, FTZ, F32], D_A, Requirements::ALWAYS, arithmetic!("Computes the square root of an f32, correctly rounded."), "sqrt.rn.f32 %d, %a;";
    ADD_F32_HALF "add" &[MAYBE_ROUND, SAT, F32, HALF], SAME_2, MIXED, arithmetic!("Adds an f32 to a half, which converts exactly to f32."), "add.rn.f32.f16 %d, %a, %c;";
    SUB_F32_HALF "sub" &[MAYBE_ROUND, SAT, F32, HALF], SAME_2, MIXED, arithmetic!("Subtracts an f32 from a half, which converts exactly to f32."), "sub.rn.f32.f16 %d, %a, %c;";
    FMA_F32_HALF "fma" &[ROUND, SAT, F32, HALF], SAME_3, MIXED, arithmetic!("Multiplies two halves and adds an f32, with one rounding."), "fma.rn.f32.bf16 %d, %a, %b, %c;";
    ADD_F32X2 "add" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Adds pairs of f32.", fusing), "add.rn.f32x2 %d, %a, %b;";
    SUB_F32X2 "sub" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Subtracts pairs of f32.", fusing), "sub.rn.f32x2 %d, %a, %b;";
    MUL_F32X2 "mul" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Multiplies pairs of f32.", fusing), "mul.rn.f32x2 %d, %a, %b;";
    FMA_F32X2 "fma" &[ROUND, FTZ, PAIR], REGS_3, MIXED, arithmetic!("Multiplies and adds pairs of f32 with one rounding."), "fma.rn.f32x2 %d, %a, %b, %c;";
    MIN_F32 "min" &[FTZ, NAN, F32], D_A_B, Requirements::ALWAYS, extremum!("minimum", "two"), "min.f32 %d, %a, %b;";
    MAX_F32 "max" &[FTZ, NAN, F32], D_A_B, Requirements::ALWAYS, extremum!("maximum", "two"), "max.NaN.f32 %d, %a, %b;";
    MIN_XORSIGN_F32 "min" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F32], D_A_B, XORSIGNS, signed!("minimum"), "min.xorsign.abs.f32 %d, %a, %b;";
    MAX_XORSIGN_F32 "max" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F32], D_A_B, XORSIGNS, signed!("maximum"), "max.NaN.xorsign.abs.f32 %d, %a, %b;";
    MIN3_F32 "min" &[FTZ, NAN, MAYBE_ABS, F32], D_A_B_C, THREE, extremum!("minimum", "three"), "min.f32 %d, %a, %b, %c;";
    MAX3_F32 "max" &[FTZ, NAN, MAYBE_ABS, F32], D_A_B_C, THREE, extremum!("maximum", "three"), "max.abs.f32 %d, %a, %b, %c;";
    NEG_F32 "neg" &[FTZ, F32], D_A, Requirements::ALWAYS, "Inverts the sign bit of an f32, also of NaN. `.ftz` flushes a subnormal to a zero of its sign.", "neg.f32 %d, %a;";
    ABS_F32 "abs" &[FTZ, F32], D_A, Requirements::ALWAYS, "Clears the sign bit of an f32, also of NaN. `.ftz` flushes a subnormal to zero.", "abs.f32 %d, %a;";
    COPYSIGN "copysign" &[SINGLES], D_A_B, Requirements::ALWAYS, "Copies `b` with the sign of `a`; a NaN keeps its other bits.", "copysign.f32 %d, %a, %b;";
    TESTP "testp" &[PROPERTY, SINGLES], &[def("p", PRED), value("a", T)], Requirements::ALWAYS,
        "Tests whether a float is finite, infinite, a number, not a number, normal or subnormal. Zeros are normal.", "testp.finite.f32 %p, %a;";
}

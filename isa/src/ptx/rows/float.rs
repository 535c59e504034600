//! f32 arithmetic.

use super::*;

const F32: ModifierSlot = ty(types!(F32));

macro_rules! arithmetic {
    ($what:literal) => {
        concat!($what, "\n\nResults are rounded once: to nearest even (`.rn`, and where nothing is said), towards zero (`.rz`), down (`.rm`) or up (`.rp`). Every NaN is 0x7fffffff. `.ftz` takes subnormal operands and results for ",
            "zeros of their sign. `.sat` clamps to 0 to 1, and NaN and -0 become +0.")
    };
    ($what:literal, fusing) => {
        concat!(arithmetic!($what), "\n\nWithout a rounding an assembler may fuse a product with a sum; here each is rounded.")
    };
}

macro_rules! extremum {
    ($which:literal, $count:literal) => {
        concat!(
            "The ",
            $which,
            " of ",
            $count,
            " f32; -0 is less than +0. Of a NaN and a number it is the number, and NaN with `.NaN`; of two NaNs ",
            "0x7fffffff. `.ftz` takes subnormal operands for zeros of their sign; `.abs` takes their signs away."
        )
    };
}

macro_rules! signed {
    ($which:literal) => {
        concat!("The ", $which, " of the magnitudes of two floats, negative where just one of them was. NaN has no sign and is treated as by the form without `.xorsign`.")
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
    MAD_F32 "mad" &[ROUND, FTZ, SAT, F32], D_A_B_C, Requirements::ALWAYS, arithmetic!("Another name of `fma`."), "mad.rz.f32 %d, %a, %b, %c;";
    DIV_F32 "div" &[ROUND, FTZ, F32], D_A_B, Requirements::ALWAYS, arithmetic!("Divides two f32, correctly rounded."), "div.rn.f32 %d, %a, %b;";
    RCP_F32 "rcp" &[ROUND, FTZ, F32], D_A, Requirements::ALWAYS, arithmetic!("The reciprocal of an f32, correctly rounded."), "rcp.rn.f32 %d, %a;";
    SQRT_F32 "sqrt" &[ROUND, FTZ, F32], D_A, Requirements::ALWAYS, arithmetic!("The square root of an f32, correctly rounded."), "sqrt.rn.f32 %d, %a;";
    ADD_F32_HALF "add" &[MAYBE_ROUND, SAT, F32, HALF], SAME_2, MIXED, arithmetic!("Adds an f32 to a half, whose value is exact in f32."), "add.rn.f32.f16 %d, %a, %c;";
    SUB_F32_HALF "sub" &[MAYBE_ROUND, SAT, F32, HALF], SAME_2, MIXED, arithmetic!("Subtracts an f32 from a half, whose value is exact in f32."), "sub.rn.f32.f16 %d, %a, %c;";
    FMA_F32_HALF "fma" &[ROUND, SAT, F32, HALF], SAME_3, MIXED, arithmetic!("Multiplies two halves and adds an f32, with one rounding."), "fma.rn.f32.bf16 %d, %a, %b, %c;";
    ADD_F32X2 "add" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Adds pairs of f32.", fusing), "add.rn.f32x2 %d, %a, %b;";
    SUB_F32X2 "sub" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Subtracts pairs of f32.", fusing), "sub.rn.f32x2 %d, %a, %b;";
    MUL_F32X2 "mul" &[MAYBE_ROUND, FTZ, PAIR], REGS_2, MIXED, arithmetic!("Multiplies pairs of f32.", fusing), "mul.rn.f32x2 %d, %a, %b;";
    FMA_F32X2 "fma" &[ROUND, FTZ, PAIR], REGS_3, MIXED, arithmetic!("Multiplies and adds pairs of f32 with one rounding."), "fma.rn.f32x2 %d, %a, %b, %c;";
    MIN_F32 "min" &[FTZ, NAN, F32], D_A_B, Requirements::ALWAYS, extremum!("lesser", "two"), "min.f32 %d, %a, %b;";
    MAX_F32 "max" &[FTZ, NAN, F32], D_A_B, Requirements::ALWAYS, extremum!("greater", "two"), "max.NaN.f32 %d, %a, %b;";
    MIN_XORSIGN_F32 "min" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F32], D_A_B, XORSIGNS, signed!("lesser"), "min.xorsign.abs.f32 %d, %a, %b;";
    MAX_XORSIGN_F32 "max" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F32], D_A_B, XORSIGNS, signed!("greater"), "max.NaN.xorsign.abs.f32 %d, %a, %b;";
    MIN3_F32 "min" &[FTZ, NAN, MAYBE_ABS, F32], D_A_B_C, THREE, extremum!("least", "three"), "min.f32 %d, %a, %b, %c;";
    MAX3_F32 "max" &[FTZ, NAN, MAYBE_ABS, F32], D_A_B_C, THREE, extremum!("greatest", "three"), "max.abs.f32 %d, %a, %b, %c;";
    NEG_F32 "neg" &[FTZ, F32], D_A, Requirements::ALWAYS, "Turns the sign of an f32 over, of NaN too. `.ftz` takes a subnormal for the zero of its sign.", "neg.f32 %d, %a;";
    ABS_F32 "abs" &[FTZ, F32], D_A, Requirements::ALWAYS, "Takes the sign of an f32 away, of NaN too. `.ftz` takes a subnormal for zero.", "abs.f32 %d, %a;";
    COPYSIGN "copysign" &[SINGLES], D_A_B, Requirements::ALWAYS, "`b` with the sign of `a`; a NaN keeps its other bits.", "copysign.f32 %d, %a, %b;";
    TESTP "testp" &[PROPERTY, SINGLES], &[def("p", PRED), value("a", T)], Requirements::ALWAYS,
        "Whether a float is finite, infinite, a number, not a number, normal or subnormal. Zeros are normal.", "testp.finite.f32 %p, %a;";
}

//! f32.

use super::*;

const F32: Slot = ty(types!(F32));

macro_rules! float {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:ident, $doc:expr, $example:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            doc: $doc,
            examples: &[$example],
            ..PTX
        };
    )* };
}

macro_rules! arithmetic {
    ($what:literal) => {
        concat!($what, "\n\nResults are rounded to nearest even, and every NaN is 0x7fffffff. `.ftz` takes subnormal operands and results for ",
            "zeros of their sign. `.sat` clamps to 0 to 1, and NaN and -0 become +0.")
    };
    ($what:literal, fusing) => {
        concat!(arithmetic!($what), "\n\nWithout `.rn` an assembler may fuse a product with a sum; here each is rounded.")
    };
}

macro_rules! extremum {
    ($which:literal) => {
        concat!("The ", $which, " of two f32; -0 is less than +0. Of a NaN and a number it is the number, and NaN with `.NaN`; of two NaNs ",
            "0x7fffffff. `.ftz` takes subnormal operands for zeros of their sign.")
    };
}

float! {
    ADD_F32 "add" &[MAYBE_RN, FTZ, SAT, F32], D_A_B, arithmetic!("Adds two f32.", fusing), "add.rn.f32 %d, %a, 0f3f800000;";
    SUB_F32 "sub" &[MAYBE_RN, FTZ, SAT, F32], D_A_B, arithmetic!("Subtracts two f32.", fusing), "sub.rn.f32 %d, %a, %b;";
    MUL_F32 "mul" &[MAYBE_RN, FTZ, SAT, F32], D_A_B, arithmetic!("Multiplies two f32.", fusing), "mul.rn.sat.f32 %d, %a, %b;";
    FMA_F32 "fma" &[RN, FTZ, SAT, F32], D_A_B_C, arithmetic!("Multiplies and adds f32 with one rounding."), "fma.rn.f32 %d, %a, %b, %c;";
    DIV_F32 "div" &[RN, FTZ, F32], D_A_B, arithmetic!("Divides two f32, correctly rounded."), "div.rn.f32 %d, %a, %b;";
    SQRT_F32 "sqrt" &[RN, FTZ, F32], D_A, arithmetic!("The square root of an f32, correctly rounded."), "sqrt.rn.f32 %d, %a;";
    MIN_F32 "min" &[FTZ, NAN, F32], D_A_B, extremum!("lesser"), "min.f32 %d, %a, %b;";
    MAX_F32 "max" &[FTZ, NAN, F32], D_A_B, extremum!("greater"), "max.NaN.f32 %d, %a, %b;";
    NEG_F32 "neg" &[FTZ, F32], D_A, "Turns the sign of an f32 over, of NaN too. `.ftz` takes a subnormal for the zero of its sign.", "neg.f32 %d, %a;";
    ABS_F32 "abs" &[FTZ, F32], D_A, "Takes the sign of an f32 away, of NaN too. `.ftz` takes a subnormal for zero.", "abs.f32 %d, %a;";
}

//! What machines approximate. Here a result is the exact one rounded to nearest, which is within every bound that the manual has.

use super::*;

const APPROX: Slot = Slot::one_of("accuracy", words!(Approx));
const APPROX_OR_FULL: Slot = Slot::one_of("accuracy", words!(Approx Full));
const MUST_FTZ: Slot = Slot::one_of("subnormals", words!(Ftz));
const F32: Slot = ty(types!(F32));
const F16: Slot = ty(types!(F16 F16x2));
const BF16S: Slot = ty(types!(Bf16 Bf16x2));

/// From these on there is a hyperbolic tangent, and 2 to the power of f16.
const SM_75: Since = Since::new(7, 0, 75);

macro_rules! high_word {
    () => {
        "Only the high word of the operand is read, as a number with 20 bits of fraction, and the low word of the result is zero. \
         Subnormal operands and results are zeros of their sign.\n\nThe exact result, rounded to nearest even; every NaN is \
         0x7fffffff00000000. The manual has no bound for what machines give."
    };
}

macro_rules! nearest {
    ($what:literal) => {
        concat!($what, "\n\nThe exact result, rounded to nearest even; every NaN is 0x7fffffff, of halves 0x7fff. Machines have results ",
            "nearby, within the bound of the manual. `.ftz` takes subnormal operands and results for zeros of their sign.")
    };
}

rows! {
    DIV_APPROX_F32 "div" &[APPROX_OR_FULL, FTZ, F32], D_A_B, Since::ALWAYS, nearest!("Divides two f32. With `.approx` a divisor above 2^126 gives a zero, and NaN of an infinity."), "div.approx.f32 %d, %a, %b;";
    RCP_APPROX_F32 "rcp" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("1 by an f32."), "rcp.approx.f32 %d, %a;";
    SQRT_APPROX_F32 "sqrt" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("The square root of an f32."), "sqrt.approx.ftz.f32 %d, %a;";
    RSQRT_F32 "rsqrt" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("1 by the square root of an f32."), "rsqrt.approx.f32 %d, %a;";
    RSQRT_F64 "rsqrt" &[APPROX, F64], D_A, Since::ALWAYS, "1 by the square root of an f64.\n\nThe exact result, rounded to nearest even; every NaN is 0x7ff8000000000000. The manual has no bound for what machines give.", "rsqrt.approx.f64 %d, %a;";
    RCP_APPROX_F64 "rcp" &[APPROX, MUST_FTZ, F64], D_A, Since::ALWAYS, concat!("1 by an f64, in short. ", high_word!()), "rcp.approx.ftz.f64 %d, %a;";
    RSQRT_APPROX_F64 "rsqrt" &[APPROX, MUST_FTZ, F64], D_A, Since::ALWAYS, concat!("1 by the square root of an f64, in short. ", high_word!()), "rsqrt.approx.ftz.f64 %d, %a;";
    SIN_F32 "sin" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("The sine of an angle in radians; of infinity NaN."), "sin.approx.f32 %d, %a;";
    COS_F32 "cos" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("The cosine of an angle in radians; of infinity NaN."), "cos.approx.f32 %d, %a;";
    LG2_F32 "lg2" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("The logarithm to base 2; of zeros -infinity, of a negative number NaN."), "lg2.approx.f32 %d, %a;";
    EX2_F32 "ex2" &[APPROX, FTZ, F32], D_A, Since::ALWAYS, nearest!("2 to the power of an f32."), "ex2.approx.ftz.f32 %d, %a;";
    EX2_F16 "ex2" &[APPROX, F16], REGS_1, SM_75, nearest!("2 to the power of halves, lane by lane."), "ex2.approx.f16x2 %d, %a;";
    EX2_BF16 "ex2" &[APPROX, MUST_FTZ, BF16S], REGS_1, BF16, nearest!("2 to the power of halves, lane by lane."), "ex2.approx.ftz.bf16x2 %d, %a;";
    TANH_F32 "tanh" &[APPROX, F32], D_A, SM_75, nearest!("The hyperbolic tangent of an f32."), "tanh.approx.f32 %d, %a;";
    TANH_F16 "tanh" &[APPROX, F16], REGS_1, SM_75, nearest!("The hyperbolic tangent of halves, lane by lane."), "tanh.approx.f16x2 %d, %a;";
    TANH_BF16 "tanh" &[APPROX, BF16S], REGS_1, BF16, nearest!("The hyperbolic tangent of halves, lane by lane."), "tanh.approx.bf16x2 %d, %a;";
}

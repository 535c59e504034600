//! Instructions that hardware approximates. The engines return the exact result rounded to nearest,
//! which is within every bound of the PTX manual.

use super::*;
use crate::ptx::row::Bound;
use crate::ptx::row::Distance::{Absolute, Relative, Ulps};

const APPROX: ModifierSlot = ModifierSlot::one_of("accuracy", words!(Approx));
const APPROX_OR_FULL: ModifierSlot = ModifierSlot::one_of("accuracy", words!(Approx Full));
const MUST_FTZ: ModifierSlot = ModifierSlot::one_of("subnormals", words!(Ftz));
const F32: ModifierSlot = ty(types!(F32));
const F16: ModifierSlot = ty(types!(F16 F16x2));
const BF16S: ModifierSlot = ty(types!(Bf16 Bf16x2));

/// Requirements of `tanh`, and of `ex2` on f16.
const SM_75: Requirements = Requirements::new(7, 0, 75);

/// Error bounds of `sin` and `cos`. The PTX manual states no bound for larger angles.
const ANGLES: &[Bound] = &[
    Bound::new(Absolute(-20.5), "angles of -2 pi to 2 pi"),
    Bound::new(Absolute(-14.7), "angles of -100 pi to 100 pi"),
];

macro_rules! high_word {
    () => {
        "Reads only the high word of the operand, as a number with 20 fraction bits; the low word of the result is \
         zero. Subnormal operands and results are flushed to zeros of their sign.\n\n\
         The result is the exact value rounded to nearest even; every NaN is 0x7fffffff00000000. The PTX manual states \
         no error bound for hardware."
    };
}

macro_rules! nearest {
    ($what:literal) => {
        concat!($what, "\n\nThe result is the exact value rounded to the nearest f32, and for halves then to the nearest half; ties go to even. Every NaN is 0x7fffffff, or 0x7fff for halves. Hardware results differ within the bound of the PTX manual. ",
            "`.ftz` flushes subnormal operands and results to zeros of their sign.")
    };
}

/// Declares rows of approximate instructions, one row per line: variant, mnemonic, slots, operands,
/// requirements, error bounds of the PTX manual, description and examples.
macro_rules! approximations {
    ($($name:ident $mnemonic:literal $slots:expr, $operands:expr, $since:expr, $bounds:expr, $doc:expr, $($example:literal)+;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            since: $since,
            accuracy: Accuracy::Approximate($bounds),
            doc: $doc,
            examples: &[$($example),+],
            ..PTX
        };
    )* };
}

approximations! {
    DIV_APPROX_F32 "div" &[APPROX_OR_FULL, FTZ, F32], D_A_B, Requirements::ALWAYS, &[Bound::with(Token::Approx, Ulps(2), "divisors of 2^-126 to 2^126"), Bound::with(Token::Full, Ulps(2), "")], nearest!("Divides two f32. With `.approx`, a divisor whose magnitude is above 2^126 gives zero, or NaN if the dividend is infinite."), "div.approx.f32 %d, %a, %b;";
    RCP_APPROX_F32 "rcp" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, &[Bound::new(Ulps(1), "")], nearest!("Computes the reciprocal of an f32."), "rcp.approx.f32 %d, %a;";
    SQRT_APPROX_F32 "sqrt" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, &[Bound::new(Relative(-23.0), "")], nearest!("Computes the square root of an f32."), "sqrt.approx.ftz.f32 %d, %a;";
    RSQRT_F32 "rsqrt" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, &[Bound::new(Relative(-22.9), "")], nearest!("Computes the reciprocal square root of an f32."), "rsqrt.approx.f32 %d, %a;";
    RSQRT_F64 "rsqrt" &[APPROX, F64], D_A, Requirements::ALWAYS, &[], "Computes the reciprocal square root of an f64.\n\nThe result is the exact value rounded to nearest even; every NaN is 0x7ff8000000000000. The PTX manual states no error bound for hardware.", "rsqrt.approx.f64 %d, %a;";
    RCP_APPROX_F64 "rcp" &[APPROX, MUST_FTZ, F64], D_A, Requirements::ALWAYS, &[], concat!("Computes the reciprocal of an f64 with reduced precision. ", high_word!()), "rcp.approx.ftz.f64 %d, %a;";
    RSQRT_APPROX_F64 "rsqrt" &[APPROX, MUST_FTZ, F64], D_A, Requirements::ALWAYS, &[], concat!("Computes the reciprocal square root of an f64 with reduced precision. ", high_word!()), "rsqrt.approx.ftz.f64 %d, %a;";
    SIN_F32 "sin" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, ANGLES, nearest!("Computes the sine of an angle in radians; the sine of infinity is NaN."), "sin.approx.f32 %d, %a;";
    COS_F32 "cos" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, ANGLES, nearest!("Computes the cosine of an angle in radians; the cosine of infinity is NaN."), "cos.approx.f32 %d, %a;";
    LG2_F32 "lg2" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, &[Bound::new(Absolute(-22.0), "operands between 0.5 and 2"), Bound::new(Relative(-22.0), "other operands")], nearest!("Computes the base-2 logarithm; the logarithm of zero is -infinity, that of a negative number is NaN."), "lg2.approx.f32 %d, %a;";
    EX2_F32 "ex2" &[APPROX, FTZ, F32], D_A, Requirements::ALWAYS, &[Bound::new(Ulps(2), "")], nearest!("Raises 2 to the power of an f32."), "ex2.approx.ftz.f32 %d, %a;";
    EX2_F16 "ex2" &[APPROX, F16], REGS_1, SM_75, &[Bound::new(Relative(-9.9), "")], nearest!("Raises 2 to the power of halves, lane by lane."), "ex2.approx.f16x2 %d, %a;";
    EX2_BF16 "ex2" &[APPROX, MUST_FTZ, BF16S], REGS_1, BF16, &[Bound::new(Relative(-7.0), "")], nearest!("Raises 2 to the power of halves, lane by lane."), "ex2.approx.ftz.bf16x2 %d, %a;";
    TANH_F32 "tanh" &[APPROX, F32], D_A, SM_75, &[Bound::new(Relative(-11.0), "")], nearest!("Computes the hyperbolic tangent of an f32."), "tanh.approx.f32 %d, %a;";
    TANH_F16 "tanh" &[APPROX, F16], REGS_1, SM_75, &[Bound::new(Absolute(-10.987), "")], nearest!("Computes the hyperbolic tangent of halves, lane by lane."), "tanh.approx.f16x2 %d, %a;";
    TANH_BF16 "tanh" &[APPROX, BF16S], REGS_1, BF16, &[Bound::new(Absolute(-8.0), "")], nearest!("Computes the hyperbolic tangent of halves, lane by lane."), "tanh.approx.bf16x2 %d, %a;";
}

//! Rows of arithmetic on f16 and bfloat16, scalar or as a packed pair.

use super::*;

const F16: ModifierSlot = ty(types!(F16 F16x2));
const BF16S: ModifierSlot = ty(types!(Bf16 Bf16x2));
const RELU: ModifierSlot = ModifierSlot::optional("clamping", &[since(SM_80, Token::Relu)]);
const CLAMP: ModifierSlot = ModifierSlot::optional("clamping", &[word(Token::Sat), since(SM_80, Token::Relu)]);

/// Target requirements of `abs` on f16. The requirements of `neg` on f16 are lower.
const WITH_ABS: Requirements = Requirements::new(6, 5, 75);

macro_rules! arithmetic {
    ($what:literal) => {
        concat!($what, "\n\nResults are rounded to nearest even, and every NaN is 0x7fff. `.ftz` flushes subnormal operands, and results that are ",
            "below the least normal number before rounding, to zeros of their sign. `.sat` clamps to [0, 1] and turns \
             NaN and -0 into +0; ",
            "`.relu` turns -0 and negative values into +0 and keeps NaN.")
    };
    ($what:literal, fusing) => {
        concat!(arithmetic!($what), "\n\nWithout `.rn`, an assembler may fuse a product with a sum; halfbyte rounds each.")
    };
}

macro_rules! extremum {
    ($which:literal) => {
        concat!(
            "Computes the ",
            $which,
            " of two halves, lane by lane; -0 is less than +0. A NaN operand is ignored, or with ",
            "`.NaN` makes the result NaN; if both operands are NaN, the result is NaN, 0x7fff. `.ftz` flushes \
             subnormal operands to zeros of their sign."
        )
    };
}

const MIN_DOC: &str = extremum!("minimum");
const MAX_DOC: &str = extremum!("maximum");
const NEG_DOC: &str =
    "Inverts the sign bit of halves, lane by lane, also of NaN. `.ftz` flushes subnormals to zeros of their sign.";
const ABS_DOC: &str = "Clears the sign bit of halves, lane by lane, also of NaN. `.ftz` flushes subnormals to zero.";

rows! {
    ADD_F16 "add" &[MAYBE_RN, FTZ, SAT, F16], REGS_2, Requirements::ALWAYS, arithmetic!("Adds two halves, lane by lane.", fusing), "add.rn.f16x2 %d, %a, %b;";
    ADD_BF16 "add" &[MAYBE_RN, BF16S], REGS_2, BF16, arithmetic!("Adds two halves, lane by lane.", fusing), "add.rn.bf16x2 %d, %a, %b;";
    SUB_F16 "sub" &[MAYBE_RN, FTZ, SAT, F16], REGS_2, Requirements::ALWAYS, arithmetic!("Subtracts two halves, lane by lane.", fusing), "sub.rn.ftz.f16x2 %d, %a, %b;";
    SUB_BF16 "sub" &[MAYBE_RN, BF16S], REGS_2, BF16, arithmetic!("Subtracts two halves, lane by lane.", fusing), "sub.rn.bf16x2 %d, %a, %b;";
    MUL_F16 "mul" &[MAYBE_RN, FTZ, SAT, F16], REGS_2, Requirements::ALWAYS, arithmetic!("Multiplies two halves, lane by lane.", fusing), "mul.rn.f16x2 %d, %a, %b;";
    MUL_BF16 "mul" &[MAYBE_RN, BF16S], REGS_2, BF16, arithmetic!("Multiplies two halves, lane by lane.", fusing), "mul.rn.bf16x2 %d, %a, %b;";
    FMA_F16 "fma" &[RN, FTZ, CLAMP, F16], REGS_3, Requirements::ALWAYS, arithmetic!("Multiplies and adds halves with one rounding, lane by lane."), "fma.rn.sat.f16x2 %d, %a, %b, %c;";
    FMA_BF16 "fma" &[RN, RELU, BF16S], REGS_3, SM_80, arithmetic!("Multiplies and adds halves with one rounding, lane by lane."), "fma.rn.relu.bf16x2 %d, %a, %b, %c;";
    MIN_F16 "min" &[FTZ, NAN, F16], REGS_2, SM_80, MIN_DOC, "min.f16x2 %d, %a, %b;";
    MIN_BF16 "min" &[NAN, BF16S], REGS_2, SM_80, MIN_DOC, "min.NaN.bf16x2 %d, %a, %b;";
    MAX_F16 "max" &[FTZ, NAN, F16], REGS_2, SM_80, MAX_DOC, "max.f16x2 %d, %a, %b;";
    MAX_BF16 "max" &[NAN, BF16S], REGS_2, SM_80, MAX_DOC, "max.bf16x2 %d, %a, %b;";
    MIN_XORSIGN_F16 "min" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F16], REGS_2, XORSIGNS, super::float::signed!("minimum"), "min.xorsign.abs.f16x2 %d, %a, %b;";
    MIN_XORSIGN_BF16 "min" &[NAN, XORSIGN, OF_MAGNITUDES, BF16S], REGS_2, XORSIGNS, super::float::signed!("minimum"), "min.NaN.xorsign.abs.bf16x2 %d, %a, %b;";
    MAX_XORSIGN_F16 "max" &[FTZ, NAN, XORSIGN, OF_MAGNITUDES, F16], REGS_2, XORSIGNS, super::float::signed!("maximum"), "max.xorsign.abs.f16x2 %d, %a, %b;";
    MAX_XORSIGN_BF16 "max" &[NAN, XORSIGN, OF_MAGNITUDES, BF16S], REGS_2, XORSIGNS, super::float::signed!("maximum"), "max.xorsign.abs.bf16x2 %d, %a, %b;";
    NEG_F16 "neg" &[FTZ, F16], REGS_1, Requirements::ALWAYS, NEG_DOC, "neg.f16x2 %d, %a;";
    NEG_BF16 "neg" &[BF16S], REGS_1, SM_80, NEG_DOC, "neg.bf16x2 %d, %a;";
    ABS_F16 "abs" &[FTZ, F16], REGS_1, WITH_ABS, ABS_DOC, "abs.f16 %d, %a;";
    ABS_BF16 "abs" &[BF16S], REGS_1, SM_80, ABS_DOC, "abs.bf16 %d, %a;";
}

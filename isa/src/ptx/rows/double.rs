//! Rows of f64 arithmetic.

use super::*;

macro_rules! double {
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
        concat!($what, "\n\nResults are rounded once: to nearest even (`.rn`, the default), toward zero (`.rz`), down (`.rm`) or up (`.rp`). ",
            "If an operand is NaN, the result is the first NaN operand, quieted; any other NaN result is \
             0xfff8000000000000.")
    };
    ($what:literal, fusing) => {
        concat!(arithmetic!($what), "\n\nWithout a rounding modifier, an assembler may fuse a product with a sum; halfbyte rounds each.")
    };
}

macro_rules! extremum {
    ($which:literal) => {
        concat!(
            "Computes the ",
            $which,
            " of two f64; -0 is less than +0. If one operand is NaN, the result is the other operand; if both are NaN, \
             it is the first one, quieted."
        )
    };
}

double! {
    ADD_F64 "add" &[MAYBE_ROUND, F64], D_A_B, arithmetic!("Adds two f64.", fusing), "add.rn.f64 %d, %a, 0d3ff0000000000000;";
    SUB_F64 "sub" &[MAYBE_ROUND, F64], D_A_B, arithmetic!("Subtracts two f64.", fusing), "sub.rn.f64 %d, %a, %b;";
    MUL_F64 "mul" &[MAYBE_ROUND, F64], D_A_B, arithmetic!("Multiplies two f64.", fusing), "mul.rn.f64 %d, %a, %b;";
    FMA_F64 "fma" &[ROUND, F64], D_A_B_C, arithmetic!("Multiplies and adds f64 with one rounding."), "fma.rn.f64 %d, %a, %b, %c;";
    MAD_F64 "mad" &[ROUND, F64], D_A_B_C, arithmetic!("Synonym of `fma`."), "mad.rn.f64 %d, %a, %b, %c;";
    DIV_F64 "div" &[ROUND, F64], D_A_B, arithmetic!("Divides two f64."), "div.rn.f64 %d, %a, %b;";
    RCP_F64 "rcp" &[ROUND, F64], D_A, arithmetic!("Computes the reciprocal of an f64."), "rcp.rn.f64 %d, %a;";
    SQRT_F64 "sqrt" &[ROUND, F64], D_A, arithmetic!("Computes the square root of an f64."), "sqrt.rn.f64 %d, %a;";
    MIN_F64 "min" &[F64], D_A_B, extremum!("minimum"), "min.f64 %d, %a, %b;";
    MAX_F64 "max" &[F64], D_A_B, extremum!("maximum"), "max.f64 %d, %a, %b;";
    NEG_F64 "neg" &[F64], D_A, "Inverts the sign bit of an f64, also of NaN.", "neg.f64 %d, %a;";
    ABS_F64 "abs" &[F64], D_A, "Clears the sign bit of an f64, also of NaN.", "abs.f64 %d, %a;";
}

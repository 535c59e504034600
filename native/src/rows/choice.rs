//! Selection of the function of an instruction set for an operation. The sets have functions of the
//! same names.

/// Defines the selection among the functions of a set. `$plain`, which the compiler vectorises, computes all other
/// operations.
macro_rules! functions {
    ($plain:expr) => {
        const ADD: u8 = 0;
        const MUL: u8 = 1;
        const FMA: u8 = 2;

        /// Returns the function of an operation.
        pub(super) fn function(op: &RowOp) -> RowFn {
            match op {
                RowOp::Half(op) => half(op),
                RowOp::Widen(Format::F16) => widen_row::<false>,
                RowOp::Widen(Format::Bf16) => widen_row::<true>,
                RowOp::Narrow(Format::F16, Rounding::Nearest) => narrow_row::<false, NEAREST>,
                RowOp::Narrow(Format::F16, Rounding::Down) => narrow_row::<false, DOWN>,
                RowOp::Narrow(Format::F16, Rounding::Up) => narrow_row::<false, UP>,
                RowOp::Narrow(Format::F16, Rounding::Zero) => narrow_row::<false, ZERO>,
                RowOp::Narrow(Format::Bf16, Rounding::Nearest) => narrow_row::<true, NEAREST>,
                RowOp::Narrow(Format::Bf16, Rounding::Down) => narrow_row::<true, DOWN>,
                RowOp::Narrow(Format::Bf16, Rounding::Up) => narrow_row::<true, UP>,
                RowOp::Narrow(Format::Bf16, Rounding::Zero) => narrow_row::<true, ZERO>,
                _ => $plain,
            }
        }

        fn half(HalfOp { kind, mode }: &HalfOp) -> RowFn {
            let plain = !mode.ftz && mode.clamp == Clamp::None;
            macro_rules! pick {
                ($kind:ident, $bf16:literal) => {
                    match (mode.rounding, plain) {
                        (Rounding::Nearest, true) => half_row::<$kind, $bf16, NEAREST, true>,
                        (Rounding::Down, true) => half_row::<$kind, $bf16, DOWN, true>,
                        (Rounding::Up, true) => half_row::<$kind, $bf16, UP, true>,
                        (Rounding::Zero, true) => half_row::<$kind, $bf16, ZERO, true>,
                        (Rounding::Nearest, false) => half_row::<$kind, $bf16, NEAREST, false>,
                        (Rounding::Down, false) => half_row::<$kind, $bf16, DOWN, false>,
                        (Rounding::Up, false) => half_row::<$kind, $bf16, UP, false>,
                        (Rounding::Zero, false) => half_row::<$kind, $bf16, ZERO, false>,
                    }
                };
            }
            match (mode.format, kind) {
                (Format::F16, HalfKind::Add) => pick!(ADD, false),
                (Format::F16, HalfKind::Mul) => pick!(MUL, false),
                (Format::F16, HalfKind::Fma) => pick!(FMA, false),
                (Format::Bf16, HalfKind::Add) => pick!(ADD, true),
                (Format::Bf16, HalfKind::Mul) => pick!(MUL, true),
                (Format::Bf16, HalfKind::Fma) => pick!(FMA, true),
            }
        }
    };
}
pub(super) use functions;

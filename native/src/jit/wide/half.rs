//! Half-precision arithmetic with AVX-512: the sixteen halves of eight words as f32s in one
//! register. The algorithms are those of [`rows`](crate::rows), which explains them.

use halfbyte_isa::half::{Clamp, Format, HalfMode, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::Predicate;
use super::encode::Code;
use crate::x86::vector::*;
use crate::x86::{self, Operand, VectorWidth};

/// Supported operation: binary16 without flushing and clamping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::jit) struct HalfStep {
    pub kind: HalfKind,
    rounding: Rounding,
}

impl HalfStep {
    /// Returns `None` if the operation is not supported.
    pub fn of(op: &HalfOp) -> Option<HalfStep> {
        let HalfMode { format, rounding, ftz, clamp } = op.mode;
        let is_plain = format == Format::F16 && !ftz && clamp == Clamp::None;
        is_plain.then_some(HalfStep { kind: op.kind, rounding })
    }
}

/// Scratch registers. No value is held in them because VEX instructions cannot encode them.
const A: u8 = 16;
const B: u8 = 17;
const C: u8 = 18;
const BELOW: u8 = 19;

/// Mask registers.
const IS_ODD: u8 = 1;
const IS_NAN: u8 = 2;

/// Returns the embedded rounding of a rounding mode.
fn embedded(rounding: Rounding) -> x86::Rounding {
    match rounding {
        Rounding::Nearest => x86::Rounding::Nearest,
        Rounding::Down => x86::Rounding::Down,
        Rounding::Up => x86::Rounding::Up,
        Rounding::Zero => x86::Rounding::Zero,
    }
}

impl Code {
    /// Emits an operation on the halves of words. NaNs become the halves of the register `nan`.
    pub(super) fn half(&mut self, HalfStep { kind, rounding }: HalfStep, result: u8, [a, b, c, nan]: [u8; 4]) {
        let mut push = |inst| self.assembler.vector(inst);
        let unary = |row, result, from| VectorInst::new(row, VectorWidth::B512, [result, 0], Operand::Register(from));
        let binary = |row, result, second, last| {
            VectorInst::new(row, VectorWidth::B512, [result, second], Operand::Register(last))
        };
        let mode = embedded(rounding);
        let operands = [(A, a), (B, b), (C, c)];
        for (to, from) in operands.into_iter().take(if kind == HalfKind::Fma { 3 } else { 2 }) {
            push(unary(&VCVTPH2PS, to, from));
        }
        match (kind, rounding) {
            // An f32 has more than twice the precision of a half, so double rounding is harmless.
            (HalfKind::Add, _) => push(binary(&VADDPS, A, A, B).rounded(mode)),
            // The product is exact as an f32.
            (HalfKind::Mul, _) => push(binary(&VMULPS, A, A, B).rounded(mode)),
            (HalfKind::Fma, Rounding::Nearest) => {
                push(unary(&VMOVAPS, BELOW, A));
                push(binary(&VFMADD213PS, BELOW, B, C).rounded(x86::Rounding::Down));
                push(binary(&VFMADD213PS, A, B, C).rounded(x86::Rounding::Up));
                // Move the last bits to the sign positions.
                push(VectorInst::shift(&VPSLLD_IMM, VectorWidth::B512, B, Operand::Register(BELOW), 31));
                push(unary(&VPMOVD2M, IS_ODD, B));
                push(unary(&VMOVAPS, A, BELOW).masked(IS_ODD));
            }
            (HalfKind::Fma, _) => push(binary(&VFMADD213PS, A, B, C).rounded(mode)),
        }
        push(binary(&VCMPPS_MASK, IS_NAN, A, A).with_immediate(Predicate::NAN.number()));
        push(unary(&VCVTPS2PH, A, result).with_immediate(mode as u8));
        let select = VectorInst::new(&VMOVDQU16_LOAD, VectorWidth::B256, [result, 0], Operand::Register(nan));
        push(select.masked(IS_NAN));
    }
}

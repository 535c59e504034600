//! Wide lanes, which no register holds: sums of products in them are computed by the accumulator. With them what other
//! instructions compute of several ops at once.

mod bytes;
mod plan;
mod sum;
mod uses;

use halfbyte_ir::{Inst, Kernel, Op, Type, Value};
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst as Word, Opcode};

use super::builder::second;
use super::context::rules;
use super::lowering::Lowering;
use super::operands::{Alu, Factor, Half, Readout, Reg, Round, Sign, Src, VFlag};
use super::{Class, Group};
use crate::vcode::VReg;

pub(crate) use plan::{Chain, Clip, Operand, Pair, Plan, Step};
use plan::{Scalar, Weights};
pub(crate) use uses::Uses;

/// A word of factors that the loop over groups needs: of each pair of its bytes one scalar.
pub(crate) type FactorWord = ([Scalar; 2], VReg);

/// Whether the lanes of a type are wider than those of any register.
pub(crate) fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::I16X16 | Type::I32X16)
}

/// The value before it was clipped to halfwords, where clipping that to bytes is the same.
fn unclipped(kernel: &Kernel, clip: Clip, value: Value) -> Option<(Value, Sign)> {
    let inst = kernel.def_inst(value).filter(|_| kernel.ty(value) == Type::I16X16)?;
    let sign = match (kernel.insts[inst].op, clip, clip_source(clip)) {
        (Op::NarrowSatS, Clip::Signed | Clip::Unsigned, _) => Sign::S,
        (Op::NarrowSatU, Clip::Unsigned, Some(Sign::U)) => Sign::S,
        (Op::NarrowSatUU, Clip::Unsigned, Some(Sign::U)) => Sign::U,
        _ => return None,
    };
    Some((*kernel.args(inst).first()?, sign))
}

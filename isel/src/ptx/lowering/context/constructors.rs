//! The terms of the rules at which selection begins.

use halfbyte_ir::{Inst, Value};

use super::{Lowering, rules};
use crate::ptx::operands::{Pred, Reg, Src};

/// Selects an instruction by the rules; returns `None` if no rule matches.
pub(in crate::ptx::lowering) fn lower(lowering: &mut Lowering<'_>, inst: Inst) -> Option<Reg> {
    rules::constructor_lower(lowering, inst)
}

/// Returns a value as a source operand.
pub(in crate::ptx::lowering) fn src(lowering: &mut Lowering<'_>, value: Value) -> Src {
    rules::constructor_src(lowering, value)
}

/// Returns the register of the negated half-words of a value.
pub(in crate::ptx::lowering) fn opposite(lowering: &mut Lowering<'_>, value: Value) -> Reg {
    rules::constructor_opposite_there(lowering, value)
}

/// Returns an `i1` value as a predicate.
pub(in crate::ptx::lowering) fn pred(lowering: &mut Lowering<'_>, value: Value) -> Pred {
    rules::constructor_pred(lowering, value)
}

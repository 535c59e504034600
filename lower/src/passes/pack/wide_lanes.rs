//! Selection of the values that are held in wide lanes.
//!
//! A value of more than eight bits is normally held as one scalar for each item. If the value is
//! computed from bytes, and only bytes or truth values are computed from it, the items of a group
//! share one vector of wide lanes. The same applies to block parameters that are pairs of
//! half-words.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Inst, Kernel, Op, Type, Value, ValueDef};

use super::values::Values;

/// Maximum nesting of logical ops on truth values that the search follows.
const MAX_DEPTH: u32 = 8;

/// Returns the largest set of values that can be held in wide lanes. The op that defines such a
/// value and all ops that use it must support wide lanes.
pub(super) fn select_wide_values(
    kernel: &Kernel,
    values: &Values<'_>,
    varies: &dyn Fn(Value) -> bool,
) -> EntitySet<Value> {
    let mut kept = WideLaneCandidates { kernel, varies, set: EntitySet::new() };
    for (value, data) in kernel.values.iter() {
        if values.wide_type(data.ty).is_some() && varies(value) {
            kept.set.insert(value);
        }
    }
    if kept.set.is_empty() {
        return kept.set;
    }
    while kept.settle() {}
    kept.set
}

struct WideLaneCandidates<'a> {
    kernel: &'a Kernel,
    varies: &'a dyn Fn(Value) -> bool,
    set: EntitySet<Value>,
}

impl WideLaneCandidates<'_> {
    /// Removes values from the set that cannot be held in wide lanes. Returns `true` if it removed any.
    fn settle(&mut self) -> bool {
        let mut settled = true;
        let kernel = self.kernel;
        for &block in &kernel.layout {
            for &inst in &kernel.blocks[block].insts {
                if let Some(result) = kernel.result(inst).filter(|&result| self.set.contains(result))
                    && !self.is_made_wide(inst)
                {
                    settled &= !self.set.remove(result);
                }
                for &arg in kernel.args(inst) {
                    if self.set.contains(arg) && kernel.ty(arg).is_scalar() && !self.takes_wide(inst) {
                        settled &= !self.set.remove(arg);
                    }
                }
                for call in kernel.targets(inst) {
                    for (&param, &arg) in kernel.block_params(call.block).iter().zip(kernel.call_args(call)) {
                        let is_scalar = kernel.ty(param).is_scalar();
                        if self.set.contains(param) && !self.is_kept(arg) {
                            settled &= !self.set.remove(param);
                        }
                        if is_scalar && self.set.contains(arg) && !self.set.contains(param) {
                            settled &= !self.set.remove(arg);
                        }
                    }
                }
            }
        }
        !settled
    }

    /// Returns `true` if an operand is in the set or uniform.
    fn is_kept(&self, value: Value) -> bool {
        self.set.contains(value) || !(self.varies)(value)
    }

    fn constant(&self, value: Value) -> bool {
        self.kernel.def_inst(value).is_some_and(|inst| self.kernel.insts[inst].op == Op::Const)
    }

    /// Returns `true` if a value is a byte extended to more bits.
    fn is_byte(&self, value: Value) -> bool {
        let inst =
            self.kernel.def_inst(value).filter(|&inst| matches!(self.kernel.insts[inst].op, Op::Zext | Op::Sext));
        inst.is_some_and(|inst| self.kernel.args(inst).iter().all(|&arg| self.kernel.ty(arg) == Type::I8))
    }

    /// Returns `true` if the result of an instruction can be computed in wide lanes.
    fn is_made_wide(&self, inst: Inst) -> bool {
        let (kernel, data) = (self.kernel, self.kernel.insts[inst]);
        let args = kernel.args(inst);
        let all_kept = || args.iter().all(|&arg| self.is_kept(arg));
        if !data.ty.is_scalar() {
            // For all other ops on pairs, the decision is made when they are vectorised.
            return !matches!(data.op, Op::Load | Op::Concat | Op::Insert | Op::Splat | Op::Intrinsic);
        }
        match (data.op, args) {
            (Op::Zext | Op::Sext, &[narrow]) => kernel.ty(narrow) == Type::I8 || self.is_kept(narrow),
            (Op::Add | Op::Sub | Op::Neg | Op::Abs | Op::MinS | Op::MinU | Op::MaxS | Op::MaxU, _) => all_kept(),
            (Op::And | Op::Or | Op::Xor | Op::Not, _) => all_kept(),
            (Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU, _) => all_kept(),
            (Op::Mul, &[a, b]) => {
                let is_factor = |value: Value| self.constant(value) || self.is_byte(value);
                all_kept() && (self.constant(a) || self.constant(b) || is_factor(a) && is_factor(b))
            }
            (Op::MulWideS | Op::MulWideU, args) => args.iter().all(|&arg| kernel.ty(arg) == Type::I8),
            (Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU, &[value, count]) => {
                self.is_kept(value) && self.constant(count)
            }
            (Op::Select, &[condition, a, b]) => {
                self.is_truth(condition, MAX_DEPTH) && self.is_kept(a) && self.is_kept(b)
            }
            _ => false,
        }
    }

    /// Returns `true` if an instruction can read operands in wide lanes.
    fn takes_wide(&self, inst: Inst) -> bool {
        let (kernel, data) = (self.kernel, self.kernel.insts[inst]);
        let Some(result) = kernel.result(inst) else {
            // The arguments of a branch are checked together with the block parameters.
            return !kernel.targets(inst).is_empty();
        };
        match data.op {
            Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU if data.ty == Type::I8 => true,
            Op::Icmp => kernel.args(inst).iter().all(|&arg| self.is_kept(arg)),
            _ => self.set.contains(result),
        }
    }

    /// Returns `true` if a truth value can be computed for all items at once. It must be uniform,
    /// or a comparison of bytes or of values in the set.
    fn is_truth(&self, value: Value, depth: u32) -> bool {
        if !(self.varies)(value) {
            return true;
        }
        let ValueDef::Result(inst) = self.kernel.values[value].def else { return false };
        let (data, args) = (self.kernel.insts[inst], self.kernel.args(inst));
        match data.op {
            Op::Icmp => data.ty == Type::I8 || args.iter().all(|&arg| self.is_kept(arg)),
            Op::And | Op::Or | Op::Xor | Op::Not if depth > 0 => args.iter().all(|&arg| self.is_truth(arg, depth - 1)),
            _ => false,
        }
    }
}

//! Facts about block parameters: unions of their arguments, and ranges of induction variables.

use super::{Known, KnownValues, Lane};
use crate::Type;
use crate::attr::IntCC;
use crate::kernel::{Attr, Block, Kernel, Value};
use crate::op::Op;

/// Maximum number of edges into a block, and of targets of a branch, for which the facts are computed.
const MOST_EDGES: usize = 2;

impl KnownValues<'_> {
    /// Computes the facts about a block parameter from its arguments.
    pub(super) fn of_block_param(
        &mut self,
        kernel: &Kernel,
        (block, number): (Block, usize),
        param: Value,
        depth: u32,
    ) -> Option<Known> {
        let flow = self.flow?;
        if flow.predecessors(block).len() > MOST_EDGES {
            return None;
        }
        let mut given = Vec::new();
        for &from in flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)) {
            let branch = kernel.terminator(from).filter(|&branch| kernel.targets(branch).len() <= MOST_EDGES)?;
            for (target, call) in kernel.targets(branch).iter().enumerate().filter(|(_, call)| call.block == block) {
                let value = *kernel.call_args(call).get(number)?;
                if value != param {
                    given.push((from, target, value));
                }
            }
        }
        if kernel.ty(param) == Type::I32 && given.iter().any(|&(.., value)| steps(kernel, value, param).is_some()) {
            return self.counter(kernel, &given, param, depth);
        }
        let mut known = given.iter().map(|&(.., value)| self.within(kernel, value, depth));
        let first = known.next()?;
        Some(known.fold(first, |all, one| all.or(&one)))
    }

    /// Returns the range of an induction variable: a block parameter to which each iteration adds a
    /// positive constant, as long as the sum is below a bound.
    fn counter(&mut self, kernel: &Kernel, given: &[(Block, usize, Value)], param: Value, depth: u32) -> Option<Known> {
        let (mut first, mut last, mut most_step): (Option<Lane>, Option<i64>, i64) = (None, None, 0);
        for &(from, target, value) in given {
            match steps(kernel, value, param) {
                Some(step) => {
                    last = last.max(Some(self.bound(kernel, (from, target), value, depth)?));
                    most_step = most_step.max(step);
                }
                None => {
                    let lane = self.within(kernel, value, depth).all();
                    first = Some(first.map_or(lane, |first| first.or(lane)));
                }
            }
        }
        let (low, high) = first?.signed();
        let last = last.map_or(high, |last| last.max(high));
        // The sum does not exceed the signed range, so it has not wrapped when it is compared with the bound.
        let fits = i32::try_from(last + most_step).is_ok();
        let known = fits.then(|| Lane::of_signed(32, low, last))?;
        Known::of_lanes(Type::I32, |_| Some(known))
    }

    /// Returns the upper bound of a value on a branch's edge to a target, if the branch's condition implies one.
    fn bound(&mut self, kernel: &Kernel, (from, target): (Block, usize), value: Value, depth: u32) -> Option<i64> {
        let branch = kernel.terminator(from)?;
        let compare = kernel.def_inst(*kernel.args(branch).first()?)?;
        let (Op::BrIf, Op::Icmp, Attr::IntCC(cc), &[a, b]) =
            (kernel.insts[branch].op, kernel.insts[compare].op, kernel.insts[compare].attr, kernel.args(compare))
        else {
            return None;
        };
        if kernel.ty(a) != Type::I32 {
            return None;
        }
        let holds = if target == 0 { cc } else { cc.inverted() };
        let (holds, limit) = match (a == value, b == value) {
            (true, false) => (holds, b),
            (false, true) => (holds.swapped(), a),
            _ => return None,
        };
        let (least, most) = self.within(kernel, limit, depth).all().signed();
        match holds {
            IntCC::LtS => Some(most - 1),
            IntCC::LeS => Some(most),
            IntCC::LtU if least >= 0 => Some(most - 1),
            IntCC::LeU if least >= 0 => Some(most),
            _ => None,
        }
    }
}

/// Returns the positive constant `c` if `value` is `param + c`.
fn steps(kernel: &Kernel, value: Value, param: Value) -> Option<i64> {
    let inst = kernel.def_inst(value)?;
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Add, &[a, b]) if a == param => {
            let [bits, ..] = kernel.const_bits(kernel.def_inst(b)?)?;
            Some(i64::from(bits as i32)).filter(|&step| step > 0)
        }
        _ => None,
    }
}

//! Indices that are the same scaled in 32 bits and in 64.
//!
//! Where the range of an index shows that no product reaches 2^32, `%x[%i]` and `%x[%i wide]` say the same, and the target gets the
//! one that is worth more to it.

use halfbyte_ir::{Attr, Block, Flow, IntCC, Kernel, Op, Type, Value, ValueDef};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::accesses::address;
use crate::range::{self, Range, is_in, signed_lanes};
use crate::trace::{How, Tell};

/// The pass.
pub const PASS: BuiltIn = BuiltIn {
    name: "index",
    description: "scales indices in 64 bits, or in 32, as the target would rather, where their ranges show that it is the same",
    order: &[(Order::Before("pack"), "streams scale indices in 32 bits")],
    run,
};

/// So many definitions are looked through, one after another.
const DEPTH: u32 = 6;
/// A block to which more edges lead, or that has more, is none of a counted loop.
const MOST_EDGES: usize = 2;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let wanted = context.legality.has_wide_indices();
    let mut changed = false;
    let flow = context.flow(kernel);
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        for number in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            let Attr::Mem(mem) = kernel.insts[inst].attr else { continue };
            let &[_, index] = address(kernel, inst) else { continue };
            if mem.wide == wanted || !flow.is_reachable(block) {
                continue;
            }
            let range = of(kernel, &flow, index, DEPTH);
            if *range.start() < 0 || range.end() * i128::from(mem.scale) > u32::MAX.into() {
                continue;
            }
            let mut before = context.trace.before(kernel, inst);
            if let Attr::Mem(mem) = &mut kernel.insts[inst].attr {
                mem.wide = wanted;
            }
            let how = How::Told("its index stays below 2^32 bytes, so that it is the same scaled in 32 bits and in 64");
            context.trace.changed(&mut before, how, kernel, inst);
            changed = true;
        }
    }
    context.keep_flow(flow);
    changed
}

/// The signed range of an `i32`.
fn of(kernel: &Kernel, flow: &Flow, value: Value, depth: u32) -> Range {
    let all = signed_lanes(Type::I32);
    let Some(depth) = depth.checked_sub(1) else { return all };
    let of = |value| of(kernel, flow, value, depth);
    let found = match kernel.values[value].def {
        ValueDef::BlockParam(block, number) => counter(kernel, flow, block, number as usize, value, depth),
        ValueDef::Result(inst) => match (kernel.insts[inst].op, kernel.args(inst)) {
            (Op::Add, &[a, b]) => Some(range::sum(&of(a), &of(b))),
            (Op::Mul, &[a, b]) => Some(range::product(&of(a), &of(b))),
            (Op::Shl, &[a, b]) => {
                constant(kernel, b).map(|count| range::product(&of(a), &(1 << (count & 31)..=1 << (count & 31))))
            }
            _ => None,
        },
        ValueDef::Param(_) | ValueDef::Array(_) => None,
    };
    found.filter(|range| is_in(range, &all)).unwrap_or_else(|| range::of(kernel, value))
}

fn constant(kernel: &Kernel, value: Value) -> Option<i128> {
    let [bits, ..] = kernel.const_bits(kernel.def_inst(value)?)?;
    Some(i128::from(bits as i32))
}

/// The range of a block's parameter that goes up by a number while what it becomes is less than a bound.
fn counter(kernel: &Kernel, flow: &Flow, block: Block, number: usize, param: Value, depth: u32) -> Option<Range> {
    let (mut first, mut last, mut most_step): (Option<Range>, Option<i128>, i128) = (None, None, 0);
    if flow.predecessors(block).len() > MOST_EDGES {
        return None;
    }
    for &from in flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)) {
        let branch = kernel.terminator(from).filter(|&branch| kernel.targets(branch).len() <= MOST_EDGES)?;
        for (target, call) in kernel.targets(branch).iter().enumerate().filter(|(_, call)| call.block == block) {
            let given = *kernel.call_args(call).get(number)?;
            match steps(kernel, given, param) {
                Some(step) => {
                    last = last.max(Some(bound(kernel, flow, from, target, given, depth)?));
                    most_step = most_step.max(step);
                }
                None => {
                    let range = of(kernel, flow, given, depth);
                    first = Some(match first {
                        Some(other) => *other.start().min(range.start())..=*other.end().max(range.end()),
                        None => range,
                    });
                }
            }
        }
    }
    let first = first?;
    let last = last.map_or(*first.end(), |last| last.max(*first.end()));
    // No step leads beyond the signed numbers, so that what is compared with the bound did not wrap.
    (last + most_step <= i128::from(i32::MAX)).then(|| *first.start()..=last)
}

/// By how much a value is more than a parameter.
fn steps(kernel: &Kernel, value: Value, param: Value) -> Option<i128> {
    let inst = kernel.def_inst(value)?;
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Add, &[a, b]) if a == param => constant(kernel, b).filter(|&step| step > 0),
        _ => None,
    }
}

/// The most that a value is where a branch goes to its target, if the branch says so.
fn bound(kernel: &Kernel, flow: &Flow, from: Block, target: usize, value: Value, depth: u32) -> Option<i128> {
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
    let limit = of(kernel, flow, limit, depth);
    match holds {
        IntCC::LtS => Some(limit.end() - 1),
        IntCC::LeS => Some(*limit.end()),
        IntCC::LtU if *limit.start() >= 0 => Some(limit.end() - 1),
        IntCC::LeU if *limit.start() >= 0 => Some(*limit.end()),
        _ => None,
    }
}

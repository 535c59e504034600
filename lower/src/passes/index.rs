//! Choice of index widths and constant offsets of accesses, by value ranges.
//!
//! If the scaled index is always below 2^32, `%x[%i]` and `%x[%i wide]` are equivalent, and the
//! pass chooses the one that the target prefers. If the index is a sum with a constant that cannot
//! wrap, the pass moves the constant to the offset of the access.

use halfbyte_ir::{Attr, Axis, Block, Flow, Inst, IntCC, Kernel, Op, Type, Value, ValueDef};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::accesses::address;
use crate::range::{self, Range, is_in, signed_lanes};
use crate::trace::{ChangeKind, Report};

/// The `index` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "index",
    description: "scales indices in 64 or 32 bits, as the target prefers, and folds constants into offsets, if the \
                  ranges of the indices permit both",
    order: &[(Order::Before("pack"), "streams scale indices in 32 bits")],
    run,
};

/// Largest offset in bytes that the access instructions of every target can encode.
const MOST_OFFSET: i128 = 1 << 20;
/// Maximum number of nested definitions that the range analysis follows.
const DEPTH: u32 = 6;
/// Maximum number of edges into a loop header, and of targets of a branch, for which a counter's range is computed.
const MOST_EDGES: usize = 2;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let wanted = context.legality.has_wide_indices();
    // On targets with streams, an access has no byte offset, because a stream advances by whole elements.
    let takes_constants = context.legality.lanes().is_none();
    let mut changed = false;
    let flow = context.flow(kernel);
    let ranges = Ranges { flow: &flow, block: context.legality.block() };
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        for number in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            if !flow.is_reachable(block) {
                break;
            }
            while takes_constants && let Some((index, offset)) = ranges.without_constant(kernel, inst) {
                let mut before = context.trace.before(kernel, inst);
                if let Some(last) = kernel.insts[inst].args.as_mut_slice(&mut kernel.pool).last_mut() {
                    *last = index;
                }
                if let Attr::Mem(mem) = &mut kernel.insts[inst].attr {
                    mem.offset = offset;
                }
                let how = ChangeKind::Told("constant folded into the offset: the index sum does not wrap");
                context.trace.changed(&mut before, how, kernel, inst);
                changed = true;
            }
            let Attr::Mem(mem) = kernel.insts[inst].attr else { continue };
            let &[base, index] = address(kernel, inst) else { continue };
            // Arrays in scratch memory are small, so a 32-bit index is enough.
            let wanted = wanted && !matches!(kernel.values[base].def, ValueDef::Array(_));
            if mem.wide == wanted {
                continue;
            }
            let range = ranges.of(kernel, index, DEPTH);
            if *range.start() < 0 || range.end() * i128::from(mem.scale) > u32::MAX.into() {
                continue;
            }
            let mut before = context.trace.before(kernel, inst);
            if let Attr::Mem(mem) = &mut kernel.insts[inst].attr {
                mem.wide = wanted;
            }
            let how = ChangeKind::Told("index width changed: the scaled index stays below 2^32 bytes");
            context.trace.changed(&mut before, how, kernel, inst);
            changed = true;
        }
    }
    context.keep_flow(flow);
    changed
}

/// Range analysis of the values of a kernel.
struct Ranges<'f> {
    flow: &'f Flow,
    /// Group size along each axis, if it is fixed for all launches.
    block: Option<[u32; 3]>,
}

impl Ranges<'_> {
    /// Matches an index that is a value plus a constant and does not wrap. Returns the value, and
    /// the offset of the access with the constant added.
    fn without_constant(&self, kernel: &Kernel, inst: Inst) -> Option<(Value, i32)> {
        let Attr::Mem(mem) = kernel.insts[inst].attr else { return None };
        let &[_, index] = address(kernel, inst) else { return None };
        let sum = kernel.def_inst(index).filter(|&sum| kernel.insts[sum].op == Op::Add)?;
        let &[a, b] = kernel.args(sum) else { return None };
        let (index, constant) = constant(kernel, b).map(|b| (a, b)).or_else(|| Some((b, constant(kernel, a)?)))?;
        let range = self.of(kernel, index, DEPTH);
        let scale = i128::from(mem.scale);
        // If the scaled index has 32 bits, the index must fit when scaled, with and without the constant.
        let most =
            if mem.wide { i128::from(i32::MAX) } else { (i128::from(u32::MAX) / scale.max(1)).min(i32::MAX.into()) };
        let fits = |range: &Range| is_in(range, &(0..=most));
        let offset = i128::from(mem.offset) + constant * scale;
        if !fits(&range) || !fits(&range::sum(&range, &(constant..=constant))) || offset.abs() > MOST_OFFSET {
            return None;
        }
        Some((index, offset as i32))
    }

    /// Returns a range that contains a value of type `i32`, as a signed number.
    fn of(&self, kernel: &Kernel, value: Value, depth: u32) -> Range {
        let all = signed_lanes(Type::I32);
        let Some(depth) = depth.checked_sub(1) else { return all };
        let of = |value| self.of(kernel, value, depth);
        let found = match kernel.values[value].def {
            ValueDef::BlockParam(block, number) => self.counter(kernel, block, number as usize, value, depth),
            ValueDef::Result(inst) => match (kernel.insts[inst].op, kernel.args(inst)) {
                (Op::Add, &[a, b]) => Some(range::sum(&of(a), &of(b))),
                (Op::Mul, &[a, b]) => Some(range::product(&of(a), &of(b))),
                (Op::Shl, &[a, b]) => {
                    constant(kernel, b).map(|count| range::product(&of(a), &(1 << (count & 31)..=1 << (count & 31))))
                }
                (Op::LocalId, _) => self.block.map(|block| 0..=last_local(kernel.insts[inst].attr.axis(), block)),
                (Op::LaneId, _) => Some(0..=31),
                _ => None,
            },
            ValueDef::Param(_) | ValueDef::Array(_) => None,
        };
        found.filter(|range| is_in(range, &all)).unwrap_or_else(|| range::of(kernel, value))
    }

    /// Returns the range of an induction variable. This is a block parameter to which each
    /// iteration adds a positive constant, as long as the sum is below a bound.
    fn counter(&self, kernel: &Kernel, block: Block, number: usize, param: Value, depth: u32) -> Option<Range> {
        let (mut first, mut last, mut most_step): (Option<Range>, Option<i128>, i128) = (None, None, 0);
        let flow = self.flow;
        if flow.predecessors(block).len() > MOST_EDGES {
            return None;
        }
        for &from in flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)) {
            let branch = kernel.terminator(from).filter(|&branch| kernel.targets(branch).len() <= MOST_EDGES)?;
            for (target, call) in kernel.targets(branch).iter().enumerate().filter(|(_, call)| call.block == block) {
                let given = *kernel.call_args(call).get(number)?;
                match steps(kernel, given, param) {
                    Some(step) => {
                        last = last.max(Some(self.bound(kernel, from, target, given, depth)?));
                        most_step = most_step.max(step);
                    }
                    None => {
                        let range = self.of(kernel, given, depth);
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
        // The sum does not exceed the signed range, so it has not wrapped when it is compared with the bound.
        (last + most_step <= i128::from(i32::MAX)).then(|| *first.start()..=last)
    }

    /// Returns the upper bound of a value on a branch's edge to a target, if the branch's condition implies one.
    fn bound(&self, kernel: &Kernel, from: Block, target: usize, value: Value, depth: u32) -> Option<i128> {
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
        let limit = self.of(kernel, limit, depth);
        match holds {
            IntCC::LtS => Some(limit.end() - 1),
            IntCC::LeS => Some(*limit.end()),
            IntCC::LtU if *limit.start() >= 0 => Some(limit.end() - 1),
            IntCC::LeU if *limit.start() >= 0 => Some(*limit.end()),
            _ => None,
        }
    }
}

/// Returns the largest local index along an axis, or over all axes, in a group of size `block`.
fn last_local(axis: Option<Axis>, block: [u32; 3]) -> i128 {
    let count: i128 = axis.map_or_else(|| block.into_iter().map(i128::from).product(), |axis| axis.of(block).into());
    count - 1
}

fn constant(kernel: &Kernel, value: Value) -> Option<i128> {
    let [bits, ..] = kernel.const_bits(kernel.def_inst(value)?)?;
    Some(i128::from(bits as i32))
}

/// Returns the positive constant `c` if `value` is `param + c`.
fn steps(kernel: &Kernel, value: Value, param: Value) -> Option<i128> {
    let inst = kernel.def_inst(value)?;
    match (kernel.insts[inst].op, kernel.args(inst)) {
        (Op::Add, &[a, b]) if a == param => constant(kernel, b).filter(|&step| step > 0),
        _ => None,
    }
}

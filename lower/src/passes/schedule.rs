//! Scheduling of packed kernels to reduce register pressure.
//!
//! A packed kernel computes some ops item by item: it executes an op sixteen times, then the next op sixteen times. Up
//! to sixteen results are therefore live at once. If the live values exceed the registers, the pass reorders each block
//! by a depth-first search from its instructions with side effects. The search visits the operand that needs the most
//! registers first (Sethi and Ullman). Loads and stores keep their order.
//!
//! The cost of an order is the number of live values beyond the registers, summed over all instructions. The pass uses
//! the new order if its cost is at most the cost of the old order divided by [`WORTH`].

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Block, Flow, Inst, Kernel, Op, Type, Value};

use crate::pass::{BuiltIn, Context, Order};

/// The `schedule` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "schedule",
    description: "reorders packed kernels item by item to reduce register pressure",
    order: &[
        (Order::After("legalise"), "legalisation creates the operations per item and per lane"),
        (Order::After("gvn"), "shared values have longer live ranges"),
    ],
    run,
};

fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let Some(lanes) = context.legality.lanes().filter(|_| kernel.packing.is_some()) else { return false };
    let mut poll = context.poll();
    let flow = context.flow(kernel);
    let mut found = Vec::new();
    let mut live = None;
    for block in flow.reverse_postorder() {
        let insts = &kernel.blocks[block].insts;
        // A block that has no more instructions than the target has registers needs no spill slots.
        if insts.len() <= lanes.registers {
            continue;
        }
        if poll.is_stopped_after(insts.len()) {
            break;
        }
        let live = live.get_or_insert_with(|| live_out(kernel, &flow));
        let beyond = |insts: &[Inst]| beyond(kernel, insts, &live[block], lanes.registers);
        let before = beyond(insts);
        if before == 0 {
            continue;
        }
        let orders = RootOrder::ALL.map(|start| depth_first(kernel, block, start));
        let least = orders.into_iter().map(|insts| (beyond(&insts), insts)).min_by_key(|(beyond, _)| *beyond);
        if let Some((beyond, insts)) = least
            && beyond <= before / WORTH
        {
            found.push((block, insts));
        }
    }
    context.keep_flow(flow);
    let changed = !found.is_empty();
    for (block, insts) in found {
        kernel.blocks[block].insts = insts;
    }
    changed
}

/// Factor by which a new order must reduce the number of live values beyond the registers. A new order gives the bundle
/// scheduler less freedom, because no instruction may move past the end of a register's live range.
const WORTH: usize = 4;

/// A register file of the target.
#[derive(Clone, Copy)]
enum File {
    Scalars,
    Vectors,
}

/// Returns the register file that holds a value. A constant needs no register because it is an
/// immediate, and a sum of products is held in the accumulator.
fn file(kernel: &Kernel, value: Value) -> Option<File> {
    let is_constant = kernel.def_inst(value).is_some_and(|inst| kernel.const_bits(inst).is_some());
    match kernel.ty(value) {
        _ if is_constant => None,
        ty if ty.bits() <= u32::BITS => Some(File::Scalars),
        Type::I8X16 => Some(File::Vectors),
        _ => None,
    }
}

/// Returns the operands of an instruction, and the block arguments that it passes.
fn read<'k>(kernel: &'k Kernel, inst: Inst) -> impl Iterator<Item = Value> + 'k {
    let handed_on = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
    kernel.args(inst).iter().chain(handed_on).copied()
}

/// Returns the values that are live at the end of each block.
fn live_out(kernel: &Kernel, flow: &Flow) -> SecondaryMap<Block, EntitySet<Value>> {
    let mut live: SecondaryMap<Block, EntitySet<Value>> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for block in flow.reverse_postorder().rev() {
            let mut alive = live[block].clone();
            for &inst in kernel.blocks[block].insts.iter().rev() {
                if let Some(result) = kernel.result(inst) {
                    alive.remove(result);
                }
                alive.extend(read(kernel, inst));
            }
            for &param in kernel.block_params(block) {
                alive.remove(param);
            }
            for &before in flow.predecessors(block) {
                for value in alive.iter() {
                    changed |= live[before].insert(value);
                }
            }
        }
    }
    live
}

/// Returns the number of live values that exceed the registers, summed over all instructions of a block.
fn beyond(kernel: &Kernel, insts: &[Inst], live_out: &EntitySet<Value>, registers: usize) -> usize {
    let mut alive = live_out.clone();
    let mut counts = [0usize; 2];
    let mut sum = 0;
    for value in alive.iter() {
        if let Some(file) = file(kernel, value) {
            counts[file as usize] += 1;
        }
    }
    for &inst in insts.iter().rev() {
        if let Some(result) = kernel.result(inst)
            && alive.remove(result)
            && let Some(file) = file(kernel, result)
        {
            counts[file as usize] -= 1;
        }
        for value in read(kernel, inst) {
            if alive.insert(value)
                && let Some(file) = file(kernel, value)
            {
                counts[file as usize] += 1;
            }
        }
        sum += counts.iter().map(|count| count.saturating_sub(registers)).sum::<usize>();
    }
    sum
}

/// Returns the instructions of a block in depth-first order from the roots that `start` selects.
fn depth_first(kernel: &Kernel, block: Block, start: RootOrder) -> Vec<Inst> {
    let insts = &kernel.blocks[block].insts;
    let mut of_block = EntitySet::with_capacity(kernel.insts.len());
    of_block.extend(insts.iter().copied());
    let operands = |inst: Inst| {
        read(kernel, inst).filter_map(|value| kernel.def_inst(value)).filter(|&def| of_block.contains(def))
    };
    let needs = needs(kernel, insts, operands);
    // Each load or store depends on the one before it, so that their order is kept.
    let mut access_before: SecondaryMap<Inst, Option<Inst>> = SecondaryMap::new();
    let mut last = None;
    for &inst in insts.iter().filter(|&&inst| !kernel.insts[inst].op.is_pure()) {
        access_before[inst] = last.replace(inst);
    }
    let mut ordered = Vec::with_capacity(insts.len());
    let mut begun: EntitySet<Inst> = EntitySet::with_capacity(kernel.insts.len());
    let mut stack: Vec<(Inst, bool)> = Vec::new();
    let (ends, body): (Vec<Inst>, Vec<Inst>) = insts.iter().partition(|&&inst| Some(inst) == kernel.terminator(block));
    let words = match start {
        RootOrder::Effects => Vec::new(),
        RootOrder::Words => words(kernel, &body, false),
        RootOrder::Vectors => words(kernel, &body, true),
    };
    // The remaining roots are the values that only other blocks use.
    let with_effect = body.iter().filter(|&&inst| !kernel.insts[inst].op.is_pure());
    for &root in words.iter().chain(with_effect).chain(&body).chain(&ends) {
        stack.push((root, false));
        while let Some((inst, is_ready)) = stack.pop() {
            if is_ready {
                ordered.push(inst);
                continue;
            }
            if !begun.insert(inst) {
                continue;
            }
            stack.push((inst, true));
            let first = stack.len();
            stack.extend(operands(inst).map(|operand| (operand, false)));
            // The top of the stack is visited first: the previous access, then the operands by
            // decreasing need of registers. Among equal operands, the first one is visited first.
            if let Some(operands) = stack.get_mut(first..) {
                operands.reverse();
                operands.sort_by_key(|&(operand, _)| needs[operand]);
            }
            stack.extend(access_before[inst].map(|access| (access, false)));
        }
    }
    ordered
}

/// Order of the instructions at which the depth-first search begins.
#[derive(Clone, Copy)]
enum RootOrder {
    /// Instructions with side effects.
    Effects,
    /// Words that are assembled from scalars, then instructions with side effects.
    Words,
    /// Words and vectors that are assembled from scalars, then instructions with side effects.
    Vectors,
}

impl RootOrder {
    const ALL: [RootOrder; 3] = [RootOrder::Effects, RootOrder::Words, RootOrder::Vectors];
}

/// Returns the instructions that assemble words, and vectors if `and_vectors`, from scalars. They are ordered by the
/// first item on which each depends, so that a value that several results of an item use is computed close to its uses.
fn words(kernel: &Kernel, insts: &[Inst], and_vectors: bool) -> Vec<Inst> {
    let is_scalar = |value: Value| matches!(file(kernel, value), Some(File::Scalars));
    let mut firsts: SecondaryMap<Inst, usize> = SecondaryMap::with_default(usize::MAX);
    let mut words = Vec::new();
    for (number, &inst) in insts.iter().enumerate() {
        let args = kernel.args(inst);
        let first = args.iter().filter_map(|&arg| kernel.def_inst(arg)).map(|def| firsts[def]).min();
        let is_word = kernel.result(inst).is_some_and(is_scalar);
        let begins = is_word && !args.iter().any(|&arg| is_scalar(arg));
        firsts[inst] = if begins { number } else { first.unwrap_or(usize::MAX) };
        if kernel.insts[inst].op == Op::Concat && (is_word || and_vectors && args.iter().any(|&arg| is_scalar(arg))) {
            words.push(inst);
        }
    }
    words.sort_by_key(|&inst| firsts[inst]);
    words
}

/// Returns an estimate of the number of registers that each instruction needs if its operands are
/// computed one after another.
fn needs<I: Iterator<Item = Inst>>(
    kernel: &Kernel,
    insts: &[Inst],
    operands: impl Fn(Inst) -> I,
) -> SecondaryMap<Inst, u32> {
    let mut needs: SecondaryMap<Inst, u32> = SecondaryMap::new();
    let mut own: Vec<u32> = Vec::new();
    for &inst in insts {
        own.clear();
        own.extend(operands(inst).map(|operand| needs[operand]).filter(|&need| need > 0));
        own.sort_unstable_by(|a, b| b.cmp(a));
        let most = (0..).zip(&own).map(|(kept, need)| kept + need).max().unwrap_or(0);
        let result = kernel.result(inst).is_some_and(|result| file(kernel, result).is_some());
        needs[inst] = most.max(u32::from(result));
    }
    needs
}

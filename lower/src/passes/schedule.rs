//! Scheduling for registers: what a packed kernel computes for one item after another is done so, and not each op for all items.
//!
//! A packed kernel does item by item what lanes cannot, sixteen times the same op, then sixteen times the next, so that as many
//! values are alive at once. Where these are more than there are registers, each block is taken in another order: depth first
//! from what has an effect, of an op's operands first the one that needs most registers (Sethi and Ullman). Accesses stay in
//! their order. The order that has fewer values beyond the registers, over all instructions, is kept.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Block, Flow, Inst, Kernel, Op, Type, Value};

use crate::pass::{BuiltIn, Context, Order};

/// The pass.
pub const PASS: BuiltIn = BuiltIn {
    name: "schedule",
    description: "computes one item after another in a packed kernel, where doing each op for all of them takes more registers than there are",
    order: &[
        (Order::After("legalise"), "that does by items and by lanes what the target cannot do at once"),
        (Order::After("gvn"), "what is shared lives longer"),
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
        // Fewer values than registers need no look.
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
        let orders = Start::ALL.map(|start| depth_first(kernel, block, start));
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

/// An order is only worth what it takes from the scheduler of bundles, which moves nothing across the end of a value's register, if
/// it leaves at most one in so many values beyond the registers.
const WORTH: usize = 4;

/// A register file.
#[derive(Clone, Copy)]
enum File {
    Scalars,
    Vectors,
}

/// Where a value is kept. Instructions have constants in them, and sums of products are in no register.
fn file(kernel: &Kernel, value: Value) -> Option<File> {
    let is_constant = kernel.def_inst(value).is_some_and(|inst| kernel.const_bits(inst).is_some());
    match kernel.ty(value) {
        _ if is_constant => None,
        ty if ty.bits() <= u32::BITS => Some(File::Scalars),
        Type::I8X16 => Some(File::Vectors),
        _ => None,
    }
}

/// What an instruction reads, and what it hands on to other blocks.
fn read<'k>(kernel: &'k Kernel, inst: Inst) -> impl Iterator<Item = Value> + 'k {
    let handed_on = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
    kernel.args(inst).iter().chain(handed_on).copied()
}

/// The values that are alive behind each block.
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

/// How many values there are for which no register is left, summed up over the instructions.
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

/// The instructions of a block in the order in which what has an effect needs them.
fn depth_first(kernel: &Kernel, block: Block, start: Start) -> Vec<Inst> {
    let insts = &kernel.blocks[block].insts;
    let mut of_block = EntitySet::with_capacity(kernel.insts.len());
    of_block.extend(insts.iter().copied());
    let operands = |inst: Inst| {
        read(kernel, inst).filter_map(|value| kernel.def_inst(value)).filter(|&def| of_block.contains(def))
    };
    let needs = needs(kernel, insts, operands);
    // An access waits for the one before it.
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
        Start::Effects => Vec::new(),
        Start::Words => words(kernel, &body, false),
        Start::Vectors => words(kernel, &body, true),
    };
    // What nothing in the block needs, other blocks do.
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
            // The last one is taken first: the access before this one, then the operand that needs most; the first of equal ones.
            if let Some(operands) = stack.get_mut(first..) {
                operands.reverse();
                operands.sort_by_key(|&(operand, _)| needs[operand]);
            }
            stack.extend(access_before[inst].map(|access| (access, false)));
        }
    }
    ordered
}

/// Where a depth-first order begins.
#[derive(Clone, Copy)]
enum Start {
    /// What has an effect.
    Effects,
    /// Words that are put together of scalars, and then what has an effect.
    Words,
    /// Such words and vectors.
    Vectors,
}

impl Start {
    const ALL: [Start; 3] = [Start::Effects, Start::Words, Start::Vectors];
}

/// The instructions that put scalars together, in the order of the first items of vectors that they are computed of: what is
/// computed of an item more than once is computed while its parts are at hand.
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

/// About how many registers it takes to compute each instruction, its operands one after another.
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

//! List scheduling of the operations of a block into bundles. The priority of an operation is the
//! length of the longest dependence chain that begins at it.

use std::cmp::Reverse;

use arrayvec::ArrayVec;
use halfbyte_isa::vp1::{Inst, Unit};

use super::graph::Graph;
use super::op::Op;
use super::pairs::Pairs;

/// Indices of the operations in a bundle.
pub(crate) type Members = ArrayVec<u32, 4>;

/// A scheduled block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Operations of each bundle. An empty bundle fills the delay slot of a branch.
    pub bundles: Vec<Members>,
    /// Lower bound of the number of bundles.
    pub bound: u32,
}

/// Returns the number of instruction words for each unit, indexed by unit number.
pub(crate) fn pressure<'a>(ops: impl IntoIterator<Item = &'a Op>) -> [u32; 4] {
    let mut words = [0; 4];
    for inst in ops.into_iter().flat_map(Op::insts) {
        if let Some(words) = words.get_mut(inst.unit() as usize) {
            *words += 1;
        }
    }
    words
}

/// Maximum number of operation orders that are tried for a block.
const MAX_TRIES: u64 = 12;
/// Maximum number of operations that are scheduled in all tries for a block together.
const MAX_TRIED: u64 = 1 << 14;

/// Maximum number of ready operations that are considered for a bundle, in the order of their
/// priority.
const MAX_LOOKED_AT: usize = 1 << 9;

/// Schedules the operations of a block. The operations must be in program order, with branches and
/// exits last.
pub(crate) fn schedule(ops: &[Op]) -> Schedule {
    let graph = Graph::new(ops);
    let pairs = Pairs::new(ops);
    // A branch also takes the bundle of its delay slot.
    let own = |op: u32| ops.get(op as usize).map_or(0, |op| 1 + u32::from(op.has_delay_slot()));
    let heights = graph.heights(own);
    let bound = bound(ops, &heights);
    let mut best = Schedule::default();
    let tries = (MAX_TRIED / (ops.len() as u64).max(1)).clamp(1, MAX_TRIES);
    for seed in 0..tries {
        let bundles = try_order(ops, &graph, &pairs, &heights, seed);
        if best.bundles.is_empty() || bundles.len() < best.bundles.len() {
            best = Schedule { bundles, bound };
        }
        if best.bundles.len() as u32 <= bound {
            break;
        }
    }
    best
}

/// Returns a lower bound of the number of bundles, from the longest dependence chain and from the
/// instruction words of each unit.
fn bound(ops: &[Op], heights: &[u32]) -> u32 {
    // A branch cannot be in the delay slot of another branch.
    let branches = 2 * ops.iter().filter(|op| op.has_delay_slot()).count() as u32;
    heights.iter().copied().chain(pressure(ops)).chain([branches]).max().unwrap_or(0)
}

/// Returns the priority of each operation: its height. Equal heights are ordered by program order
/// for seed 0, otherwise at random.
fn priorities(heights: &[u32], seed: u64) -> Vec<(u32, u32)> {
    let mut random = seed;
    let mut tie = |op: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        if seed == 0 { u32::MAX - op as u32 } else { (random >> 33) as u32 }
    };
    heights.iter().enumerate().map(|(op, &height)| (height, tie(op))).collect()
}

/// Scheduling state of an operation that has not been placed in a bundle.
#[derive(Clone, Copy, Default)]
struct Waiting {
    /// Number of predecessors that have not been scheduled.
    pending: u32,
    /// First bundle in which the dependences allow the operation.
    earliest: u32,
}

/// Schedules the operations by the priorities for one seed.
fn try_order(ops: &[Op], graph: &Graph, pairs: &Pairs<'_>, heights: &[u32], seed: u64) -> Vec<Members> {
    let priorities = priorities(heights, seed);
    let priority = |op: u32| priorities.get(op as usize).copied().unwrap_or_default();
    let mut waiting = vec![Waiting::default(); ops.len()];
    for edge in graph.edges() {
        if let Some(waiting) = waiting.get_mut(edge.to as usize) {
            waiting.pending += 1;
        }
    }
    let controls = ops.iter().rev().take_while(|op| op.is_control()).count();
    let body = (ops.len() - controls) as u32;
    // Operations without unscheduled predecessors, highest priority first.
    let mut ready: Vec<u32> =
        (0..body).filter(|&op| waiting.get(op as usize).is_some_and(|op| op.pending == 0)).collect();
    ready.sort_unstable_by_key(|&op| Reverse(priority(op)));
    let mut bundles: Vec<Members> = Vec::new();
    while !ready.is_empty() {
        let at = bundles.len() as u32;
        let mut bundle = Members::new();
        // When an operation is added to the bundle, operations that overwrite its operands become
        // ready for the same bundle.
        while !bundle.is_full() {
            let joins =
                |&op: &u32| waiting.get(op as usize).is_some_and(|op| op.earliest <= at) && pairs.fits(&bundle, op);
            let Some(index) = ready.iter().take(MAX_LOOKED_AT).position(joins) else { break };
            let op = ready.remove(index);
            bundle.push(op);
            release(graph, &mut waiting, op, at, |op| {
                if op < body {
                    let place = ready.partition_point(|&other| priority(other) > priority(op));
                    ready.insert(place, op);
                }
            });
        }
        bundles.push(bundle);
    }
    for op in body..ops.len() as u32 {
        place_control(ops, pairs, op, &mut bundles, &waiting, op == body);
        let at = bundles.iter().position(|bundle| bundle.contains(&op)).unwrap_or_default() as u32;
        release(graph, &mut waiting, op, at, |_| {});
    }
    bundles
}

/// Updates the successors of an operation that has been placed in bundle `at`, and calls `ready`
/// for each of them that becomes ready.
fn release(graph: &Graph, waiting: &mut [Waiting], op: u32, at: u32, mut ready: impl FnMut(u32)) {
    for edge in graph.after(op) {
        let Some(waiting) = waiting.get_mut(edge.to as usize) else { continue };
        waiting.pending -= 1;
        waiting.earliest = waiting.earliest.max(at + edge.latency);
        if waiting.pending == 0 {
            ready(edge.to);
        }
    }
}

/// Places a branch or an exit. If it is the first one of the block, the other operations are before it, in its bundle,
/// or in its delay slot. A further branch follows the delay slot of the previous one.
fn place_control(ops: &[Op], pairs: &Pairs<'_>, op: u32, bundles: &mut Vec<Members>, waiting: &[Waiting], first: bool) {
    let Some(control) = ops.get(op as usize) else { return };
    let slots = u32::from(control.has_delay_slot());
    let earliest = waiting.get(op as usize).map_or(0, |op| op.earliest);
    let end = bundles.len() as u32;
    let mut at = if first { earliest.max(end.saturating_sub(1 + slots)) } else { earliest.max(end) };
    while bundles.get(at as usize).is_some_and(|bundle| !pairs.fits(bundle, op)) {
        at += 1;
    }
    let length = (at + 1 + slots).max(end);
    bundles.resize(length as usize, Members::new());
    if let Some(bundle) = bundles.get_mut(at as usize) {
        bundle.push(op);
    }
}

/// Appends a jump. If possible, the jump is in the second to last bundle, and the last bundle fills its delay slot.
pub(crate) fn append_jump(ops: &mut Vec<Op>, bundles: &mut Vec<Members>, jump: Op) {
    let number = ops.len() as u32;
    ops.push(jump);
    let pairs = Pairs::new(ops);
    let last_but_one = bundles.len().checked_sub(2).and_then(|at| bundles.get_mut(at));
    match last_but_one.filter(|bundle| pairs.fits(bundle, number)) {
        Some(bundle) => bundle.push(number),
        None => bundles.extend([Members::from_iter([number]), Members::new()]),
    }
}

/// Returns the instruction of a bundle that executes on a unit, and the operation to which the instruction belongs.
pub(crate) fn words_of<'a>(ops: &'a [Op], bundle: &'a [u32], unit: Unit) -> Option<(&'a Op, Inst)> {
    bundle.iter().filter_map(|&op| ops.get(op as usize)).find_map(|op| Some((op, op.inst(unit)?)))
}

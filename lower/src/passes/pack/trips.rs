//! Loops whose trip counts are known at launch.

use halfbyte_ir::eval::{Operand, fold};
use halfbyte_ir::{Affine, Attr, Block, Flow, IntCC, Kernel, Op, TripCount, Type, Value};

use crate::passes::loops::{LoopId, Loops};

use super::affine::{AffineAnalysis, Linear, as_constant, constant, plus};
use super::region::Edge;

/// Maximum trip count that the simulation of a loop with constant bounds finds. It equals the
/// default budget of an item.
const MOST_COUNTED: u32 = 1 << 20;

/// Counted exit of a loop: in every iteration, a branch compares an induction variable with a bound, so that the trip
/// count until this exit is known.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// Edge by which the branch leaves the loop.
    pub leaving: Edge,
    /// Number of iterations in which the branch stays in the loop.
    pub stays_count: TripCount,
    /// Number of iterations that reach the branch, which is `stays_count` plus one; `None` if the
    /// number may be 2^32.
    pub before: Option<TripCount>,
    /// `true` if the loop ends only when the induction variable equals the bound. If another branch
    /// ensures that this happens, and that branch is converted, the loop might not end.
    pub needs_equality: bool,
}

/// Returns the counted exits of a loop, closest to the loop header first.
pub(super) fn counted(
    kernel: &Kernel,
    flow: &Flow,
    loops: &Loops,
    sums: &AffineAnalysis<'_>,
    id: LoopId,
) -> Vec<Counted> {
    let around = loops.get(id);
    let in_every_iteration = |&block: &Block| {
        loops.innermost_of(block) == Some(id) && around.latches.iter().all(|&latch| flow.dominates(block, latch))
    };
    let blocks = flow.reverse_postorder().filter(in_every_iteration);
    blocks.filter_map(|block| test(kernel, loops, sums, id, block)).collect()
}

/// Returns `true` if the branch at the end of a block gives its loop the trip count `counted`.
pub(super) fn counts_alike(
    kernel: &Kernel,
    loops: &Loops,
    sums: &AffineAnalysis<'_>,
    block: Block,
    counted: &Counted,
) -> bool {
    let found = loops.innermost_of(block).and_then(|id| test(kernel, loops, sums, id, block));
    found.is_some_and(|found| found.stays_count == counted.stays_count && found.before == counted.before)
}

fn test(kernel: &Kernel, loops: &Loops, sums: &AffineAnalysis<'_>, id: LoopId, block: Block) -> Option<Counted> {
    let branch = kernel.terminator(block)?;
    let (&[then, otherwise], &[condition]) = (kernel.targets(branch), kernel.args(branch)) else { return None };
    let inside = |block| loops.get(id).contains(block);
    let leaves_at = match (inside(then.block), inside(otherwise.block)) {
        (true, false) => 1,
        (false, true) => 0,
        _ => return None,
    };
    let compare = kernel.def_inst(condition)?;
    let (Op::Icmp, Type::I32, Attr::IntCC(cc)) =
        (kernel.insts[compare].op, kernel.insts[compare].ty, kernel.insts[compare].attr)
    else {
        return None;
    };
    let stays = if leaves_at == 1 { cc } else { cc.inverted() };
    let &[a, b] = kernel.args(compare) else { return None };
    let header = loops.get(id).header;
    let test = match (counter(sums, a, header), sums.of(b).as_ref().and_then(Linear::at_launch)) {
        (Some((start, step)), Some(bound)) => Test { start, step, bound: bound.clone(), stays },
        _ => {
            let (start, step) = counter(sums, b, header)?;
            Test { start, step, bound: sums.of(a)?.at_launch()?.clone(), stays: stays.swapped() }
        }
    };
    let to = kernel.targets(branch).get(leaves_at)?.block;
    // The count of this exit must be exact, because the loop may end much earlier by another exit.
    if !test.is_exact() && ways_out(kernel, inside) > 1 {
        return None;
    }
    test.count(Edge { from: block, number: leaves_at, to })
}

/// Returns the number of edges that leave a loop.
fn ways_out(kernel: &Kernel, inside: impl Fn(Block) -> bool) -> usize {
    let terminators =
        kernel.layout.iter().filter(|&&block| inside(block)).filter_map(|&block| kernel.terminator(block));
    terminators.flat_map(|branch| kernel.targets(branch)).filter(|target| !inside(target.block)).count()
}

/// Returns the initial value and the constant step of an induction variable that depends on no other loop.
fn counter(sums: &AffineAnalysis<'_>, value: Value, header: Block) -> Option<(Affine, u32)> {
    let linear = sums.of(value)?;
    match linear.counters.as_slice() {
        [(of, step)] if *of == header && linear.item.is_zero() => {
            Some((linear.launch_term.clone(), as_constant(step)?))
        }
        _ => None,
    }
}

/// Exit test of a loop, which compares `start + step * k` with a bound in iteration k. The loop
/// continues while the condition `stays` is true.
struct Test {
    start: Affine,
    step: u32,
    bound: Affine,
    stays: IntCC,
}

impl Test {
    /// Returns `true` if the computed trip count is exact for every loop that a launch can finish.
    fn is_exact(&self) -> bool {
        let is_zero = |sum: &Affine| as_constant(sum) == Some(0);
        // If one operand is a small non-negative number, a difference that wraps is far from zero.
        let is_small = |sum: &Affine| as_constant(sum).is_some_and(|number| number < MOST_COUNTED);
        match self.stays {
            IntCC::LtU => is_zero(&self.start),
            IntCC::LtS => is_small(&self.start),
            IntCC::GtU => is_zero(&self.bound),
            IntCC::GtS => is_small(&self.bound),
            IntCC::Ne => true,
            _ => as_constant(&self.start).is_some() && as_constant(&self.bound).is_some(),
        }
    }

    fn count(&self, leaving: Edge) -> Option<Counted> {
        if let (Some(start), Some(bound)) = (as_constant(&self.start), as_constant(&self.bound)) {
            let times = self.run(start, bound)?;
            let before = Some(TripCount::Const(times + 1));
            return Some(Counted { leaving, stays_count: TripCount::Const(times), before, needs_equality: false });
        }
        let distance = match self.step {
            1 => plus(&self.bound, &self.start, u32::MAX),
            u32::MAX => plus(&self.start, &self.bound, u32::MAX),
            _ => return None,
        };
        let up = self.step == 1;
        // If the signed difference is negative, the bound lies before the start, and the count is
        // 0. This is wrong only for 2^31 iterations or more, which no launch reaches. The count of
        // an unsigned comparison from 0 is always exact.
        let (from, unsigned) = if up { (&self.start, IntCC::LtU) } else { (&self.bound, IntCC::GtU) };
        let from_zero = self.stays == unsigned && as_constant(from) == Some(0);
        let from_one = self.stays == unsigned && as_constant(from) == Some(1);
        if self.stays == IntCC::GeU && as_constant(&self.bound) == Some(0) {
            return None;
        }
        let (more, signed, meets) = match (self.stays, up) {
            (IntCC::LtS | IntCC::LtU, true) | (IntCC::GtS | IntCC::GtU, false) => (0, !from_zero, false),
            (IntCC::LeS | IntCC::LeU, true) | (IntCC::GeS | IntCC::GeU, false) => (1, true, false),
            (IntCC::Ne, _) => (0, false, as_constant(&distance).is_none()),
            _ => return None,
        };
        let behind = plus(&distance, &constant(more), 1);
        let before = plus(&behind, &constant(1), 1);
        let may_wrap = meets || from_zero && !up;
        Some(Counted {
            leaving,
            stays_count: trips(behind, signed, 0),
            before: (!may_wrap).then(|| trips(before, signed && !from_one, 1)),
            needs_equality: meets,
        })
    }

    /// Simulates the exit test with a constant start and a constant bound. Returns the number of iterations.
    fn run(&self, start: u32, bound: u32) -> Option<u32> {
        let mut at = start;
        for times in 0..MOST_COUNTED {
            if !holds(self.stays, at, bound) {
                return Some(times);
            }
            at = at.wrapping_add(self.step);
        }
        None
    }
}

fn trips(count: Affine, signed: bool, at_least: u32) -> TripCount {
    match as_constant(&count) {
        Some(count) => TripCount::Const(TripCount::at_launch(count, signed, at_least)),
        None => TripCount::Of { count, signed, at_least },
    }
}

/// Returns `true` if the condition `cc` is true for two numbers.
fn holds(cc: IntCC, a: u32, b: u32) -> bool {
    let lanes = [u64::from(a), u64::from(b)];
    let operand = |lanes| Operand { ty: Type::I32, lanes };
    let mut out = [0];
    let operands = [operand(&lanes[..1]), operand(&lanes[1..])];
    fold(Op::Icmp, Attr::IntCC(cc), &operands, Type::I1, &mut out) && out != [0]
}

//! Streaming kernels. A run of items consists of a few loops from buffers to buffers, if the items
//! stay convergent and all guards hold. Both conditions are checked before the first side effect.
//! If a check fails, the items run on the general code.

use super::cells::Cells;
use super::dataflow::{Access, Action, Id, Location, Op, Shape};
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next, Target};
use super::schedule::{Inlines, Schedule, schedule};
use super::split::{Split, is_told_by_ends, splits};
use super::unit::{Items, Unit};
use halfbyte_isa::halu::domain::Width;

/// Maximum number of blocks of a kernel.
const MOST_BLOCKS: usize = 16;
/// Maximum number of accesses of a block.
const MOST_ACCESSES: usize = 12;

/// Blocks of a streaming kernel, in the variant for runs of items.
pub(super) struct Runs {
    pub units: Vec<Option<Unit>>,
    pub plans: Vec<Option<Schedule>>,
    pub splits: Vec<Option<Split>>,
}

/// Returns the reachable blocks, or `None` if the kernel does not stream. `fma` and `inlines` determine the operations
/// that loops may contain.
pub(super) fn runs(
    kernel: &Kernel<'_>,
    blocks: &[Block],
    (flow, units): (&Flow, &[Option<Unit>]),
    cells: &mut Cells,
    (fma, inlines): (bool, Inlines),
) -> Option<Runs> {
    if blocks.len() > MOST_BLOCKS
        || flow.has_loop
        || units.iter().flatten().all(|unit| unit.dataflow.accesses.is_empty())
    {
        return None;
    }
    let run = |(id, (block, unit)): (BlockId, (&Block, &Option<Unit>))| {
        unit.as_ref().map(|_| kernel.front.unit(block, cells, Items::Run(flow.before(id))))
    };
    let units: Vec<Option<Unit>> = (0..).map(BlockId).zip(blocks.iter().zip(units)).map(run).collect();
    let splits = splits(blocks, &units);
    // Conditions that are known only at run time must be checked before the first store.
    let is_end = |block: &Block| matches!(block.next, Next::Exit | Next::To(Target::Block { .. }));
    let ends_after = |from: &Block| {
        let mut open: Vec<BlockId> = from.successors().collect();
        while let Some(id) = open.pop() {
            let (Some(block), Some(Some(unit))) = (blocks.get(id.index()), units.get(id.index())) else { return false };
            if !is_end(block) || !unit.dataflow.accesses.is_empty() || !unit.assumed.is_empty() {
                return false;
            }
            open.extend(block.successors());
        }
        is_end(from)
    };
    let mut plans = Vec::new();
    for ((block, unit), split) in blocks.iter().zip(&units).zip(&splits) {
        let Some(unit) = unit else {
            plans.push(None);
            continue;
        };
        let live = |cell| block.successors().any(|next| flow.live.has(next, cell));
        let plan = schedule(kernel.pointers, unit, cells, live, fma, false, inlines);
        let is_quiet = unit.dataflow.accesses.is_empty();
        if !(is_quiet || ends_after(block)) || !is_taken(unit, &plan, *split) {
            return None;
        }
        plans.push(Some(plan));
    }
    Some(Runs { units, plans, splits })
}

/// Returns `true` if an access has a guard.
pub(super) fn has_guards(units: &[Option<Unit>]) -> bool {
    units.iter().flatten().any(|unit| unit.dataflow.accesses.iter().any(|access| access.guard.is_some()))
}

/// Returns `true` if a block consists only of loops of one stage and of accesses in these loops.
fn is_taken(unit: &Unit, plan: &Schedule, split: Option<Split>) -> bool {
    let dataflow = &unit.dataflow;
    let is_known = |condition: Id| {
        dataflow.shape(condition) == Shape::Uniform
            || (split == Some(Split::ByEnds) && is_told_by_ends(dataflow, condition))
    };
    let is_bare = |access: &Access| {
        let place = match &access.action {
            Action::Load { place, .. } => place,
            Action::Store { place, width: Width::B8 | Width::B16 | Width::B32, .. } => place,
            _ => return false,
        };
        access.guard.is_none() && !access.yields && matches!(place, Location::Global { .. })
    };
    !unit.dead
        && plan.stages.len() <= 1
        && plan.stages.iter().all(|stage| stage.first.is_none())
        && plan.streams(unit, split)
        && plan.stages.iter().flat_map(|stage| &stage.end).all(|&id| matches!(dataflow.op(id), Op::Access(_)))
        && unit.condition.is_none_or(is_known)
        && dataflow.accesses.len() <= MOST_ACCESSES
        && dataflow.accesses.iter().all(is_bare)
}

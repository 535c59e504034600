//! Kernels that stream: what they do for a run of items is a few loops, which read buffers and write them, once it is known that the items
//! stay together and that guards hold for all of them. Nothing is done before that is known, so that where it is not the same items
//! are run as any are. Objects have such loops for runs whose accesses may all be made, and need no context for them.

use super::cells::Cells;
use super::dataflow::{Access, Action, Id, Location, Op, Shape};
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next, Target};
use super::schedule::{Inlines, Schedule, schedule};
use super::split::{Split, is_told_by_ends, splits};
use super::unit::{Items, Unit};
use halfbyte_isa::halu::domain::Width;
#[cfg(feature = "aot")]
use {
    super::cells::Cell,
    super::emit::{Row, Vectorizer},
    super::layout::Layout,
    super::schedule::Method,
    halfbyte_abi::Axis,
    halfbyte_isa::halu::domain::{IndexKind, SpecialReg},
};

/// What a computer that code is made for has.
#[cfg(feature = "aot")]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Vectors {
    /// Vectors of 256 bits, of integers and of floats, with multiply-adds.
    pub wide: bool,
    /// Those that arithmetic on halves is made of.
    pub halves: bool,
}

/// A block of a kernel that streams, for a run of whole chunks.
#[cfg(feature = "aot")]
pub(crate) struct Stream {
    pub unit: Unit,
    /// By access, how it is made.
    pub accesses: Vec<Run>,
    pub loops: Vec<StreamLoop>,
    /// Cells that hold the same for all items or grow evenly, at the end.
    pub slots: Vec<(Cell, Id)>,
    /// Where its guards hold for no item, nothing is done, and all items end.
    pub is_idle: bool,
}

/// How all items of a run make an access.
#[cfg(feature = "aot")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Run {
    /// All load the same.
    Same,
    /// A loop makes it: from an item to the next the address grows by so many bytes.
    Each(i64),
}

/// A loop, with an address and the offsets of a run's first item and of its end, in words, as arguments. At the address are those of
/// rows, and words that are the same for all items, each at its offset.
#[cfg(feature = "aot")]
pub(crate) struct StreamLoop {
    pub code: Vec<u8>,
    pub table_bytes: u32,
    /// The place in memory of the first item's access.
    pub rows: Vec<(i32, u32)>,
    pub words: Vec<(i32, Id)>,
}

/// Blocks that are looked at.
const MOST_BLOCKS: usize = 16;
/// Accesses of a block that are checked.
const MOST_ACCESSES: usize = 12;

/// The blocks of a kernel that streams, as they are for runs of items.
pub(super) struct Runs {
    pub units: Vec<Option<Unit>>,
    pub plans: Vec<Option<Schedule>>,
    pub splits: Vec<Option<Split>>,
}

/// The blocks that are reached; none where the kernel does not stream. `fma` and `inlines` say what loops compute.
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
    // What is found where it is not known before is found before anything is written.
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

/// Whether guards say of some accesses whether items make them.
pub(super) fn has_guards(units: &[Option<Unit>]) -> bool {
    units.iter().flatten().any(|unit| unit.dataflow.accesses.iter().any(|access| access.guard.is_some()))
}

/// The blocks of a kernel for an object, those that are reached; none where it does not stream.
#[cfg(feature = "aot")]
pub(crate) fn streams(
    kernel: &Kernel<'_>,
    blocks: &[Block],
    cells: &mut Cells,
    vectors: Vectors,
) -> Option<Vec<Option<Stream>>> {
    let is_simple = kernel.groups.is_none() && kernel.scratch_bytes == 0 && kernel.specials.iter().all(is_of_line);
    if !vectors.wide || !is_simple || blocks.iter().any(Block::goes_back) {
        return None;
    }
    let (flow, all_units) = Flow::new(kernel, Layout::Along, blocks, cells).ok()?;
    let inlines = Inlines { halves: vectors.halves, strides: true };
    let Runs { units, plans, splits } = runs(kernel, blocks, (&flow, &all_units), cells, (true, inlines))?;
    let is_idle = |(block, unit): (&Block, &Option<Unit>)| {
        let is_guarded = |unit: &Unit| unit.dataflow.accesses.iter().all(|access| access.guard.is_some());
        block.next == Next::Exit && unit.as_ref().is_some_and(is_guarded)
    };
    let mut idle = blocks.iter().zip(&all_units).map(is_idle);
    let stream = |((unit, plan), split): ((Option<Unit>, Option<Schedule>), Option<Split>)| {
        let is_idle = idle.next().unwrap_or(false);
        let (Some(unit), Some(plan)) = (unit, plan) else { return Some(None) };
        let accesses = unit.dataflow.accesses.iter().zip(&plan.methods).map(|(access, method)| match &access.action {
            _ if *method == Method::LoadSame => Some(Run::Same),
            Action::Load { place, .. } | Action::Store { place, .. } => match place.stride_shape(&unit.dataflow)? {
                Shape::Affine(stride) => Some(Run::Each(stride.cast_signed().into())),
                _ => None,
            },
            _ => None,
        });
        let accesses = accesses.collect::<Option<Vec<Run>>>()?;
        let loops = loops(&unit, &plan, split)?;
        Some(Some(Stream { unit, accesses, loops, slots: plan.slots, is_idle }))
    };
    units.into_iter().zip(plans).zip(splits).map(stream).collect()
}

/// Whether a special register grows evenly along a line of items, or is the same there.
#[cfg(feature = "aot")]
pub(super) fn is_of_line(register: &SpecialReg) -> bool {
    register.of == IndexKind::Item || matches!(register.axis, Some(Axis::Y | Axis::Z))
}

/// Whether a block is nothing but loops of one stage, and accesses that these make.
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

/// The loops of a block; none where one is not in wide vectors, or needs a context.
#[cfg(feature = "aot")]
fn loops(unit: &Unit, plan: &Schedule, split: Option<Split>) -> Option<Vec<StreamLoop>> {
    let made = Vectorizer { unit, plan, masked: false, split, map: None }.loops(true)?;
    let mut loops = Vec::new();
    for (stage, made) in plan.stages.iter().zip(made) {
        // A stage that has a condition alone needs no loop: the first item and the last decide it.
        if stage.stores.is_empty() && stage.keeps.is_empty() {
            continue;
        }
        let made = made?;
        let row = |(number, row): (u8, &Row)| match *row {
            Row::Access(access, 0) => Some((made.table.row(number), access)),
            _ => None,
        };
        loops.push(StreamLoop {
            rows: (0..).zip(&made.rows).map(row).collect::<Option<_>>()?,
            words: (0..).zip(&made.words).map(|(number, &id)| (made.table.word(number), id)).collect(),
            code: made.code,
            table_bytes: made.table_bytes,
        });
    }
    Some(loops)
}

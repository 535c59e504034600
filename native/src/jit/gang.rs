//! Gangs: a few items side by side, whose words are in vectors from the start of a kernel to its end. Objects run kernels in them that do
//! not stream, where nothing that an item loads may be what another one of the gang stores: until all of a gang have ended it may be given
//! up, and its items run one after another.

use halfbyte_abi::Axis;
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use super::cells::{Cell, Cells, Name};
use super::dataflow::{Access, Action, Dataflow, Id, Location, Op, Shape};
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next};
use super::layout::Layout;
use super::seen_nans::SeenNans;
use super::unit::{Items, Unit};

/// What is known of a kernel for gangs.
pub(crate) struct Gang {
    /// The blocks that all items run together, where they are reached.
    pub together: Vec<Option<Unit>>,
    /// Those that items run which have diverged, by a mask. From then on they stay apart.
    pub masked: Vec<Option<Unit>>,
    /// Whether an item may take a backward branch.
    pub has_loop: bool,
    /// The cells of special registers, and how these grow from the first item on.
    pub start: Vec<(Cell, Shape)>,
    /// Cells whose NaNs must be canonical.
    pub seen_nans: SeenNans,
    flow: Flow,
    /// Words of the kernel.
    words: usize,
}

/// Words of kernels that are taken: all blocks are made twice.
const MOST_WORDS: usize = 4096;
/// Limit for kernels without a function of vector IR.
const MOST_WORDS_OF_CLIF: usize = 256;
/// Operations that each item does alone: what vectors have none for.
const MOST_ALONE: usize = 8;

impl Gang {
    /// None of a kernel that does what gangs do not. `fma` says that vectors have multiply-adds.
    pub fn new(kernel: &Kernel<'_>, blocks: &[Block], cells: &mut Cells, fma: bool) -> Option<Gang> {
        let is_simple = kernel.groups.is_none() && kernel.scratch_bytes == 0 && kernel.specials.iter().all(is_of_line);
        let is_undefined = |block: &Block| matches!(block.next, Next::Meet { .. } | Next::Undefined(_));
        if !is_simple || kernel.front.count() > MOST_WORDS || blocks.iter().any(is_undefined) {
            return None;
        }
        let (flow, together) = Flow::without_reconvergence(kernel, Layout::Along, blocks, cells).ok()?;
        let masked = (0..).map(BlockId).zip(blocks).map(|(id, block)| {
            flow.reaches_diverged(id).then(|| kernel.front.unit(block, cells, Items::Masked(&flow.divergent)))
        });
        let masked: Vec<Option<Unit>> = masked.collect();
        let special = |register| Some((cells.find(Name::Special(register))?, Layout::Along.shape(register)));
        let start = kernel.specials.iter().copied().filter_map(special).collect();
        let seen_nans = SeenNans::new(blocks, [&together, &masked], cells.len(), fma);
        let words = kernel.front.count();
        Some(Gang { together, masked, has_loop: flow.has_loop, start, seen_nans, flow, words })
    }

    /// Returns `true` if Cranelift's vectors do what the kernel does.
    pub fn is_of_clif(&self, fma: bool) -> bool {
        let units = || self.together.iter().chain(&self.masked).flatten();
        let alone = |unit: &Unit| {
            let ids = (0..unit.dataflow.nodes.len() as u32).map(Id);
            ids.filter(|&id| is_alone(&unit.dataflow, id, fma)).count()
        };
        self.words <= MOST_WORDS_OF_CLIF
            && units().map(alone).sum::<usize>() <= MOST_ALONE
            && units().all(|unit| is_taken(&unit.dataflow))
    }

    /// Returns the cells that the first block reads before it writes them.
    pub fn live_at_start(&self) -> impl Iterator<Item = Cell> {
        self.flow.live.iter(BlockId(0))
    }

    /// Whether a cell is read after a block before it is written.
    pub fn is_live_after(&self, block: &Block, cell: Cell) -> bool {
        block.successors().any(|next| self.flow.live.has(next, cell))
    }

    /// The cells that are vectors from a block on and were not after another that leads there, with the shapes that they have.
    pub fn spread(&self, from: BlockId, to: BlockId) -> Vec<(Cell, Shape)> {
        let rows = self.flow.live.iter(to).filter(|&cell| self.flow.shape_before(to, cell).is_varying());
        rows.filter_map(|cell| Some((cell, self.flow.shape_after(from, cell).even()?))).collect()
    }

    /// The same where items diverge at the end of a block.
    pub fn spread_diverged(&self, from: BlockId) -> Vec<(Cell, Shape)> {
        self.flow.divergences.get(&from).map_or(Vec::new(), |divergence| divergence.spread.clone())
    }
}

/// Returns `true` if a special register is affine or uniform along a line of items.
fn is_of_line(register: &SpecialReg) -> bool {
    register.of == IndexKind::Item || matches!(register.axis, Some(Axis::Y | Axis::Z))
}

/// Whether an operation is done for each item alone: one that vectors do not have.
pub(crate) fn is_alone(dataflow: &Dataflow, id: Id, fma: bool) -> bool {
    let node = dataflow.node(id);
    node.shape.is_varying() && node.op.row_op(node.args.map(|arg| dataflow.shape(arg)), fma).is_some()
}

/// Whether a gang does what a block does.
fn is_taken(dataflow: &Dataflow) -> bool {
    let is_of_two = |op: Op| matches!(op, Op::Double(..) | Op::Convert(..));
    let is_access_taken = |access: &Access| match &access.action {
        Action::Load { place, .. } | Action::Store { place, .. } => {
            matches!(place, Location::Global { .. }) && !access.yields
        }
        Action::Fence | Action::Fault(_) => true,
        Action::Atomic { .. } => false,
    };
    !dataflow.nodes.iter().any(|node| node.shape.is_varying() && is_of_two(node.op))
        && dataflow.accesses.iter().all(is_access_taken)
}

//! Gangs: a few consecutive items, whose words are in vectors from the start of a kernel to its
//! end. Objects run kernels in gangs if the kernel does not stream. In addition, no item of a gang
//! may load a value that another item of the gang may store. Until all items of a gang have ended,
//! the gang may be given up. The items of the gang then run one after another.

use halfbyte_abi::Axis;
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use super::cells::{Cell, Cells, Name};
use super::dataflow::Shape;
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next};
use super::layout::Layout;
use super::seen_nans::SeenNans;
use super::unit::{Items, Unit};

/// Analysis of a kernel for gangs.
pub(crate) struct Gang {
    /// Blocks that all items run together, if reachable.
    pub together: Vec<Option<Unit>>,
    /// Blocks for divergent items, which run under a mask. Divergent items never reconverge.
    pub masked: Vec<Option<Unit>>,
    /// `true` if an item may take a backward branch.
    pub has_loop: bool,
    /// Cells of special registers, with their shapes along the gang.
    pub start: Vec<(Cell, Shape)>,
    /// Cells whose NaNs must be canonical.
    pub seen_nans: SeenNans,
    flow: Flow,
}

/// Maximum size of a kernel in instructions. Every block is compiled twice.
const MOST_WORDS: usize = 4096;

impl Gang {
    /// Returns `None` if the kernel does something that gangs do not support.
    pub fn new(kernel: &Kernel<'_>, blocks: &[Block], cells: &mut Cells) -> Option<Gang> {
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
        let seen_nans = SeenNans::new(blocks, [&together, &masked], cells.len());
        Some(Gang { together, masked, has_loop: flow.has_loop, start, seen_nans, flow })
    }

    /// Returns the cells that the first block reads before it writes them.
    pub fn live_at_start(&self) -> impl Iterator<Item = Cell> {
        self.flow.live.iter(BlockId(0))
    }

    /// Returns `true` if a cell is live after a block.
    pub fn is_live_after(&self, block: &Block, cell: Cell) -> bool {
        block.successors().any(|next| self.flow.live.has(next, cell))
    }
}

/// Returns `true` if a special register is affine or uniform along a line of items.
fn is_of_line(register: &SpecialReg) -> bool {
    register.of == IndexKind::Item || matches!(register.axis, Some(Axis::Y | Axis::Z))
}

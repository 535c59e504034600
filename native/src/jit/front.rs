//! What native code is made of, whichever machine's instructions say it.

use halfbyte_isa::halu::domain::SpecialReg;

use super::cells::Cells;
use super::graph::Block;
use super::layout::Cut;
use super::meet::Place;
use super::unit::{Items, Unit};
use crate::launch::LaunchOptions;
use crate::launch::Pointer;

/// The instructions of a kernel, by number.
pub(crate) trait Front: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The blocks that they are, by the number of their first instruction. The first one is where items begin.
    fn blocks(&self) -> Vec<Block>;

    /// What a block does for some items.
    fn unit(&self, block: &Block, cells: &mut Cells, items: Items<'_>) -> Unit;

    /// What items meet for at a block that is one instruction for it.
    fn place(&self, block: &Block, cells: &mut Cells) -> Option<Place>;
}

/// A kernel, and what the blocks of it have in common.
pub(crate) struct Kernel<'a> {
    pub front: &'a dyn Front,
    /// The addresses of buffers in constant bank 0.
    pub pointers: &'a [Pointer],
    /// The special registers that instructions read.
    pub specials: &'a [SpecialReg],
    /// Words of constant bank 0 that follow from the size of a group, by their offsets.
    pub sizes: &'a [(u32, u32)],
    /// Items of a group, where its items meet, have memory together, or read what others write meanwhile.
    pub groups: Option<u32>,
    /// Bytes that they have together.
    pub shared_bytes: usize,
    /// Bytes of local memory that each item declares.
    pub scratch_bytes: usize,
    /// The address of the first of them.
    pub scratch_start: u64,
}

impl Kernel<'_> {
    /// How a launch is cut into rows.
    pub(super) fn cut(&self, order: &LaunchOptions<'_>) -> Cut {
        Cut::new(self.specials, &order.shape, order.items, self.groups)
    }
}

//! Input of native code generation, independent of the instruction set of the kernel.

use halfbyte_isa::halu::domain::SpecialReg;

use super::cells::Cells;
use super::graph::Block;
use super::layout::Cut;
use super::meet::Place;
use super::unit::{Items, Unit};
use crate::launch::LaunchOptions;
use crate::launch::Pointer;

/// Instructions of a kernel, by number.
pub(crate) trait Front: Sync {
    /// Returns the number of instructions.
    fn count(&self) -> usize;

    /// Returns the blocks, by the number of their first instruction. The first one is where items begin. Blocks of more than
    /// `most` instructions are split.
    fn blocks(&self, most: u32) -> Vec<Block>;

    /// Returns the dataflow of a block for some items.
    fn unit(&self, block: &Block, cells: &mut Cells, items: Items<'_>) -> Unit;

    /// Returns the collective operation of a block that consists of one, if any.
    fn place(&self, block: &Block, cells: &mut Cells) -> Option<Place>;
}

/// Kernel, with properties that all of its blocks share.
pub(crate) struct Kernel<'a> {
    pub front: &'a dyn Front,
    /// Addresses of buffers in constant bank 0.
    pub pointers: &'a [Pointer],
    /// Special registers that the instructions read.
    pub specials: &'a [SpecialReg],
    /// Words of constant bank 0 that follow from the group size, as pairs of offset and word.
    pub sizes: &'a [(u32, u32)],
    /// Group size, if items of a group synchronise, share memory, or read memory that other items write meanwhile.
    pub groups: Option<u32>,
    /// Size of shared memory in bytes.
    pub shared_bytes: usize,
    /// Size in bytes of the local memory that each item declares.
    pub scratch_bytes: usize,
    /// Address of the local memory.
    pub scratch_start: u64,
}

impl Kernel<'_> {
    /// Returns the division of a launch into rows.
    pub(super) fn cut(&self, order: &LaunchOptions<'_>) -> Cut {
        Cut::new(self.specials, &order.shape, order.items, self.groups)
    }
}

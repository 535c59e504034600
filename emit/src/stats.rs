//! Statistics about the number of bundles and instruction words of a block.

use halfbyte_isel::vcode::BlockIndex;

/// Number of bundles of a block, and a lower bound of this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockStats {
    /// The block of the machine function.
    pub block: BlockIndex,
    /// Index of the block's first bundle in the kernel. The block's bundles end where those of the next block begin.
    pub start: u32,
    /// `true` for a software-pipelined loop.
    pub pipelined: bool,
    /// Number of bundles of the block; for a pipelined loop, the initiation interval.
    pub bundles: u32,
    /// Number of instruction words for each unit, without nops. The order is that of the units in a bundle.
    pub words: [u32; 4],
    /// Lower bound of `bundles`: the maximum of the instruction words of any unit and of the length of the longest
    /// dependence chain. For a pipelined loop, the chains are those that lead from one iteration to the next.
    pub bound: u32,
}

//! Statistics about bundle density.

use halfbyte_isel::vcode::BlockIndex;

/// Number of bundles of a block, with its lower bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockStats {
    /// The block of the machine function.
    pub block: BlockIndex,
    /// Index of the block's first bundle in the kernel. The block's bundles end where the next
    /// block's begin.
    pub start: u32,
    /// `true` for a software-pipelined loop.
    pub pipelined: bool,
    /// Number of bundles of the block; for a pipelined loop, the initiation interval.
    pub bundles: u32,
    /// Number of words per unit without nops, in the order of the units in a bundle.
    pub words: [u32; 4],
    /// Lower bound of `bundles`: the maximum of the words of any unit and of the longest dependence
    /// chain. For a pipelined loop, the chains are those from one iteration to the next.
    pub bound: u32,
}

//! How dense bundles are.

use halfbyte_isel::vcode::BlockIndex;

/// The bundles of a block, and how few they could be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockStats {
    /// The block of the machine function.
    pub block: BlockIndex,
    /// The number of its first bundle in the kernel. Its bundles go on to the first of the next block here.
    pub start: u32,
    /// The block is a loop whose iterations overlap.
    pub pipelined: bool,
    /// Its bundles; of a pipelined loop those from one iteration to the next.
    pub bundles: u32,
    /// The words in it that are no nops, by unit in the order of a bundle.
    pub words: [u32; 4],
    /// The fewest bundles that there could be: the most words of a unit, or the longest chain of dependences; in a pipelined loop
    /// the longest from one iteration to the next.
    pub bound: u32,
}

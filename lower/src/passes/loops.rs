//! Natural loops and their nesting.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap, entity_impl};
use halfbyte_ir::{Block, Flow, Kernel};

/// Number of a loop. An outer loop has a lower number than the loops inside it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LoopId(u32);
entity_impl!(LoopId, "loop");

/// A natural loop.
pub(super) struct Loop {
    pub header: Block,
    pub parent: Option<LoopId>,
    pub latches: Vec<Block>,
    blocks: EntitySet<Block>,
}

/// The natural loops of a kernel.
pub(super) struct Loops {
    loops: Vec<Loop>,
    innermost: SecondaryMap<Block, PackedOption<LoopId>>,
}

/// A cycle of the control-flow graph that the loop analysis does not support.
pub(super) enum UnsupportedLoop {
    /// A cycle with a second entry, at this block.
    Irreducible(Block),
    /// A loop without an exit, with this header.
    Endless(Block),
}

impl Loops {
    pub(super) fn new(kernel: &Kernel, flow: &Flow) -> Result<Loops, UnsupportedLoop> {
        let mut number: SecondaryMap<Block, u32> = SecondaryMap::new();
        for (place, block) in flow.reverse_postorder().enumerate() {
            number[block] = place as u32;
        }
        let mut loops = Loops { loops: Vec::new(), innermost: SecondaryMap::new() };
        for header in flow.reverse_postorder() {
            let mut latches = Vec::new();
            for &from in flow.predecessors(header) {
                if !flow.is_reachable(from) || number[from] < number[header] {
                    continue;
                }
                if !flow.dominates(header, from) {
                    return Err(UnsupportedLoop::Irreducible(header));
                }
                if !latches.contains(&from) {
                    latches.push(from);
                }
            }
            if !latches.is_empty() {
                loops.add(header, latches, flow);
            }
        }
        for found in &loops.loops {
            let leaves = |block| kernel.successors(block).any(|to| !found.contains(to));
            if !found.blocks.iter().any(leaves) {
                return Err(UnsupportedLoop::Endless(found.header));
            }
        }
        Ok(loops)
    }

    /// Adds a loop, and makes it the innermost loop of its blocks. Outer loops must be added before
    /// the loops inside them.
    fn add(&mut self, header: Block, latches: Vec<Block>, flow: &Flow) {
        let id = LoopId::new(self.loops.len());
        let parent = self.innermost[header].expand();
        let mut blocks = EntitySet::new();
        blocks.insert(header);
        let mut work = latches.clone();
        while let Some(block) = work.pop() {
            if blocks.insert(block) {
                work.extend(flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)));
            }
        }
        for block in blocks.iter() {
            self.innermost[block] = id.into();
        }
        self.loops.push(Loop { header, parent, latches, blocks });
    }

    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = LoopId> + use<> {
        (0..self.loops.len()).map(LoopId::new)
    }

    pub(super) fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// Returns the innermost loop that contains a block.
    pub(super) fn innermost_of(&self, block: Block) -> Option<LoopId> {
        self.innermost[block].expand()
    }

    /// Returns the loops that contain a block, innermost first.
    pub(super) fn nest(&self, block: Block) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.innermost_of(block), |&id| self.get(id).parent)
    }

    /// Returns `true` if the loop `region` contains the block. The region `None` contains every block.
    pub(super) fn is_in(&self, block: Block, region: Option<LoopId>) -> bool {
        region.is_none_or(|id| self.get(id).contains(block))
    }
}

impl Loop {
    pub(super) fn contains(&self, block: Block) -> bool {
        self.blocks.contains(block)
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.blocks.iter()
    }
}

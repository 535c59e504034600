//! The flow graph of a kernel: predecessors, reverse postorder, dominators.
//!
//! Dominators are found as Lengauer and Tarjan do ("A fast algorithm for finding dominators in a flowgraph", 1979), whose
//! bound of m log n holds on every graph: a text of many thousand blocks is read as a matter of course.

use std::cell::OnceCell;
use std::collections::BinaryHeap;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::kernel::{Block, Kernel};

/// The flow graph of a kernel as it was when this was made.
#[derive(Clone, Debug)]
pub struct Flow {
    search: Search,
    preds: Vec<Block>,
    /// By block, where its predecessors end in the list of all; they begin where those of the block before end.
    pred_ends: Vec<u32>,
    /// Found when it is first asked for: most passes need nothing but an order of the blocks.
    dominators: OnceCell<Dominators>,
}

/// The closest node that is above all of these in a tree, or one of them; none where there are none. `parent` of a node has a
/// smaller number than the node. The steps are those of the ways that lead there, each taken once.
pub fn common_ancestor(nodes: impl IntoIterator<Item = usize>, parent: impl Fn(usize) -> usize) -> Option<usize> {
    let mut below: BinaryHeap<usize> = nodes.into_iter().collect();
    let mut lowest = below.pop()?;
    while let Some(&next) = below.peek() {
        if lowest == next {
            below.pop();
            continue;
        }
        // The lowest of them is none that is above the others.
        let above = parent(lowest);
        lowest = if above > next { above } else { std::mem::replace(&mut *below.peek_mut()?, above) };
    }
    Some(lowest)
}

/// The tree of dominators.
#[derive(Clone, Debug)]
struct Dominators {
    idom: SecondaryMap<Block, PackedOption<Block>>,
    /// Of a reachable block, the numbers between which those of all the blocks that it dominates lie.
    tree: SecondaryMap<Block, Interval>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    first: u32,
    /// 0 for unreachable blocks.
    end: u32,
}

impl Flow {
    /// Walks the kernel's graph. A target that is no block of the kernel is passed over.
    pub fn new(kernel: &Kernel) -> Flow {
        // Most small kernels have no branches.
        if let &[only] = kernel.layout.as_slice()
            && kernel.blocks.is_valid(only)
            && kernel.successors(only).next().is_none()
        {
            let mut search = Search::with_capacity(1, only.as_u32() as usize + 1);
            search.visit(only, 0);
            search.postorder.push(only);
            return Flow { search, preds: Vec::new(), pred_ends: Vec::new(), dominators: OnceCell::new() };
        }
        let (preds, pred_ends) = predecessors(kernel);
        Flow { search: Search::new(kernel), preds, pred_ends, dominators: OnceCell::new() }
    }

    /// Whether the kernel still has this graph, its blocks in the same order.
    pub fn is_of(&self, kernel: &Kernel) -> bool {
        let Flow { search, preds, pred_ends, .. } = Flow::new(kernel);
        (&search.postorder, &preds) == (&self.search.postorder, &self.preds)
            && pred_ends.iter().zip(&self.pred_ends).all(|(a, b)| a == b)
    }

    /// The reachable blocks in reverse postorder: the entry first, and a block before all that it dominates.
    pub fn reverse_postorder(&self) -> impl DoubleEndedIterator<Item = Block> + '_ {
        self.search.postorder.iter().rev().copied()
    }

    /// The blocks that go to a block, reachable or not, once for each target that names it.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        let number = block.as_u32() as usize;
        let end = |number: usize| self.pred_ends.get(number).copied().unwrap_or(0) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.preds.get(start..end(number)).unwrap_or_default()
    }

    /// Whether the block can be reached from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.search.number[block] != usize::MAX
    }

    /// The closest block that dominates this one and is not it; none for the entry and unreachable blocks.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        // Of the entry alone no tree need be found.
        let entry = self.search.preorder.first();
        if entry == Some(&block) { None } else { self.dominators().idom[block].expand() }
    }

    /// Whether every way from the entry to `b` leads through `a`; of itself always, of an unreachable block by no other.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        if a == b {
            return true;
        }
        let tree = &self.dominators().tree;
        let (a_tree, b_tree) = (tree[a], tree[b]);
        a_tree.first <= b_tree.first && b_tree.end <= a_tree.end && b_tree.end != 0
    }

    fn dominators(&self) -> &Dominators {
        self.dominators.get_or_init(|| Dominators::new(self))
    }
}

impl Dominators {
    fn new(flow: &Flow) -> Dominators {
        let search = &flow.search;
        let idom = search.dominators(flow);
        let mut dominators = Dominators { idom: SecondaryMap::new(), tree: SecondaryMap::new() };
        let blocks = flow.pred_ends.len();
        dominators.idom.resize(blocks);
        dominators.tree.resize(blocks);
        for (number, &block) in search.preorder.iter().enumerate().skip(1) {
            dominators.idom[block] = search.preorder.get(idom[number]).copied().into();
        }
        // Descendants of a block in the search tree follow it, so sizes of dominator subtrees add up backwards, and
        // numbers are handed out forwards.
        let mut size = vec![1u32; idom.len()];
        for number in (1..idom.len()).rev() {
            size[idom[number]] += size[number];
        }
        let mut next = vec![0u32; idom.len()];
        for (number, &block) in search.preorder.iter().enumerate() {
            let first = if number == 0 { 0 } else { next[idom[number]] };
            if number > 0 {
                next[idom[number]] += size[number];
            }
            next[number] = first + 1;
            dominators.tree[block] = Interval { first, end: first + size[number] };
        }
        dominators
    }
}

/// All predecessors in one list, ordered by block, and where each block's end in it.
fn predecessors(kernel: &Kernel) -> (Vec<Block>, Vec<u32>) {
    let edges = || {
        kernel.layout.iter().flat_map(move |&from| {
            let to = kernel.successors(from).filter(|&to| kernel.blocks.is_valid(to));
            to.map(move |to| (from, to))
        })
    };
    let mut at = vec![0u32; kernel.blocks.len() + 1];
    for (_, to) in edges() {
        at[to.as_u32() as usize + 1] += 1;
    }
    for block in 1..at.len() {
        at[block] += at[block - 1];
    }
    let total = at.last().copied().unwrap_or(0);
    let mut preds = vec![Block::from_u32(0); total as usize];
    // Each block's place moves from where its predecessors start to where they end.
    for (from, to) in edges() {
        let slot = &mut at[to.as_u32() as usize];
        preds[*slot as usize] = from;
        *slot += 1;
    }
    (preds, at)
}

/// A depth-first search from the entry.
#[derive(Clone, Debug)]
struct Search {
    preorder: Vec<Block>,
    postorder: Vec<Block>,
    /// By preorder number, that of the parent.
    parent: Vec<usize>,
    /// Preorder numbers; `usize::MAX` where unreachable.
    number: SecondaryMap<Block, usize>,
}

impl Search {
    /// With room for so many blocks in the kernel's order, and for the numbers of so many.
    fn with_capacity(blocks: usize, numbers: usize) -> Search {
        let mut number = SecondaryMap::with_default(usize::MAX);
        number.resize(numbers);
        let (preorder, postorder) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks));
        Search { preorder, postorder, parent: Vec::with_capacity(blocks), number }
    }

    fn new(kernel: &Kernel) -> Search {
        let mut search = Search::with_capacity(kernel.layout.len(), kernel.blocks.len());
        let mut stack = Vec::with_capacity(kernel.layout.len());
        if let Some(entry) = kernel.entry() {
            search.visit(entry, 0);
            stack.push((entry, kernel.successors(entry)));
        }
        while let Some((block, successors)) = stack.last_mut() {
            let block = *block;
            match successors.find(|&to| kernel.blocks.is_valid(to) && search.number[to] == usize::MAX) {
                Some(to) => {
                    search.visit(to, search.number[block]);
                    stack.push((to, kernel.successors(to)));
                }
                None => {
                    search.postorder.push(block);
                    stack.pop();
                }
            }
        }
        search
    }

    fn visit(&mut self, block: Block, parent: usize) {
        self.number[block] = self.preorder.len();
        self.preorder.push(block);
        self.parent.push(parent);
    }

    /// Immediate dominators, all by preorder number; the entry's is itself.
    fn dominators(&self, flow: &Flow) -> Vec<usize> {
        let count = self.preorder.len();
        let mut forest = Forest {
            ancestor: vec![usize::MAX; count],
            label: (0..count).collect(),
            semi: (0..count).collect(),
            path: Vec::new(),
        };
        let mut idom = vec![0; count];
        // Blocks whose semidominator is this one, as linked lists.
        let mut bucket = vec![usize::MAX; count];
        let mut bucket_next = vec![usize::MAX; count];
        for w in (1..count).rev() {
            for &pred in flow.predecessors(self.preorder[w]) {
                let v = self.number[pred];
                if v != usize::MAX {
                    let u = forest.eval(v);
                    forest.semi[w] = forest.semi[w].min(forest.semi[u]);
                }
            }
            let semi = forest.semi[w];
            bucket_next[w] = std::mem::replace(&mut bucket[semi], w);
            let parent = self.parent[w];
            forest.ancestor[w] = parent;
            let mut v = std::mem::replace(&mut bucket[parent], usize::MAX);
            while v != usize::MAX {
                let u = forest.eval(v);
                idom[v] = if forest.semi[u] < forest.semi[v] { u } else { parent };
                v = bucket_next[v];
            }
        }
        for w in 1..count {
            if idom[w] != forest.semi[w] {
                idom[w] = idom[idom[w]];
            }
        }
        idom
    }
}

/// The part of the search tree that is done with, its paths shortened as they are walked.
struct Forest {
    ancestor: Vec<usize>,
    /// The block with the least semidominator between this one and where `ancestor` skips to.
    label: Vec<usize>,
    semi: Vec<usize>,
    path: Vec<usize>,
}

impl Forest {
    fn eval(&mut self, v: usize) -> usize {
        if self.ancestor[v] == usize::MAX {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at]] != usize::MAX {
            self.path.push(at);
            at = self.ancestor[at];
        }
        while let Some(at) = self.path.pop() {
            let above = self.ancestor[at];
            if self.semi[self.label[above]] < self.semi[self.label[at]] {
                self.label[at] = self.label[above];
            }
            self.ancestor[at] = self.ancestor[above];
        }
        self.label[v]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Attr, BlockCall, Span, ValueList};
    use crate::op::Op;
    use halfbyte_abi::Type;

    /// A kernel of blocks with these successors, of no other sense.
    fn graph(successors: &[Vec<usize>]) -> (Kernel, Vec<Block>) {
        let mut kernel = Kernel::new("k");
        let blocks: Vec<Block> = successors.iter().map(|_| kernel.add_block()).collect();
        for (from, to) in successors.iter().enumerate() {
            let call = |&to: &usize| BlockCall { block: blocks[to], args: ValueList::new(), case: 0 };
            let calls: Vec<BlockCall> = to.iter().map(call).collect();
            let attr = Attr::Targets(kernel.add_calls(&calls));
            kernel.push_inst(blocks[from], Op::Switch, Type::I32, attr, &[], None, Span::default());
        }
        (kernel, blocks)
    }

    fn reaches(successors: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; successors.len()];
        let mut stack: Vec<usize> = (Some(0) != without).then_some(0).into_iter().collect();
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(successors[at].iter().filter(|&&to| Some(to) != without));
            }
        }
        seen
    }

    #[test]
    fn dominators_are_what_their_definition_says() {
        let mut state = 7u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) as usize % below
        };
        for _ in 0..300 {
            let count = 1 + random(12);
            let successors: Vec<Vec<usize>> =
                (0..count).map(|_| (0..random(4)).map(|_| random(count)).collect()).collect();
            let (kernel, blocks) = graph(&successors);
            let flow = Flow::new(&kernel);
            let reachable = reaches(&successors, None);
            assert_eq!(flow.reverse_postorder().count(), reachable.iter().filter(|&&r| r).count());
            for a in 0..count {
                assert_eq!(flow.is_reachable(blocks[a]), reachable[a]);
                let without = reaches(&successors, Some(a));
                for b in 0..count {
                    let expected = a == b || (reachable[a] && reachable[b] && !without[b]);
                    assert_eq!(flow.dominates(blocks[a], blocks[b]), expected, "{a} {b} {successors:?}");
                }
                let preds = successors.iter().flatten().filter(|&&to| to == a).count();
                assert_eq!(flow.predecessors(blocks[a]).len(), preds);
                let idom = flow.immediate_dominator(blocks[a]);
                assert_eq!(idom.is_some(), reachable[a] && a != 0);
                assert!(idom.is_none_or(|idom| flow.dominates(idom, blocks[a])));
            }
        }
    }

    #[test]
    fn long_chains_take_no_stack_and_little_time() {
        let last = 200_000;
        let mut successors: Vec<Vec<usize>> = (0..last).map(|block| vec![block + 1, last]).collect();
        successors.push(vec![]);
        let (kernel, blocks) = graph(&successors);
        let flow = Flow::new(&kernel);
        assert_eq!(flow.immediate_dominator(blocks[last]), Some(blocks[0]));
        assert!(flow.dominates(blocks[5], blocks[last - 1]));
    }
}

//! Flow graphs: predecessors, reverse postorder, dominators. The one of a kernel, and those of others who have nodes and edges.
//!
//! Dominators are found as Lengauer and Tarjan do ("A fast algorithm for finding dominators in a flowgraph", 1979), whose
//! bound of m log n holds on every graph: a text of many thousand blocks is read as a matter of course.

use std::cell::OnceCell;

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, SecondaryMap, entity_impl};

use crate::kernel::{Block, Kernel};

/// Nodes and the edges between them.
pub trait Graph {
    /// What stands for a node.
    type Node: EntityRef + ReservedValue;

    /// Nodes have smaller indices.
    fn count(&self) -> usize;

    /// Where control comes from; none of a graph without nodes.
    fn entry(&self) -> Option<Self::Node>;

    /// The nodes, reachable or not, in the order in which predecessors are listed.
    fn nodes(&self) -> impl Iterator<Item = Self::Node>;

    /// The nodes that a node goes to, in the order in which a search visits them.
    fn successors(&self, node: Self::Node) -> impl Iterator<Item = Self::Node>;
}

/// A node of a graph that numbers them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(u32);
entity_impl!(Node, "node");

/// A graph by lists.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Where control comes from.
    pub entry: Node,
    /// By node, those that it goes to.
    pub successors: Vec<Vec<Node>>,
}

impl Graph for Lists {
    type Node = Node;

    fn count(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> Option<Node> {
        Some(self.entry).filter(|entry| entry.index() < self.successors.len())
    }

    fn nodes(&self) -> impl Iterator<Item = Node> {
        (0..self.successors.len()).map(Node::new)
    }

    fn successors(&self, node: Node) -> impl Iterator<Item = Node> {
        let all = self.successors.get(node.index()).into_iter().flatten().copied();
        all.filter(|to| to.index() < self.successors.len())
    }
}

/// Targets that are no block of the kernel are passed over.
impl Graph for Kernel {
    type Node = Block;

    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> Option<Block> {
        Kernel::entry(self).filter(|&entry| self.blocks.is_valid(entry))
    }

    fn nodes(&self) -> impl Iterator<Item = Block> {
        self.layout.iter().copied()
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> {
        Kernel::successors(self, block).filter(|&to| self.blocks.is_valid(to))
    }
}

/// The reachable nodes in reverse postorder, where nothing else of the graph is asked.
pub fn reverse_postorder<G: Graph>(graph: &G) -> Vec<G::Node> {
    let mut order = Search::new(graph).postorder;
    order.reverse();
    order
}

/// A flow graph as it was when this was made; that of a kernel's blocks, where nothing else is said.
#[derive(Clone, Debug)]
pub struct Flow<N: EntityRef + ReservedValue = Block> {
    search: Search<N>,
    preds: Vec<N>,
    /// By node, where its predecessors end in the list of all; they begin where those of the node before end.
    pred_ends: Vec<u32>,
    /// Found when it is first asked for: most passes need nothing but an order of the blocks.
    dominators: OnceCell<Dominators<N>>,
}

/// The tree of dominators.
#[derive(Clone, Debug)]
struct Dominators<N: EntityRef + ReservedValue> {
    idom: SecondaryMap<N, PackedOption<N>>,
    /// Of a reachable node, the numbers between which those of all the nodes that it dominates lie.
    tree: SecondaryMap<N, Interval>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    first: u32,
    /// 0 for unreachable nodes.
    end: u32,
}

impl<N: EntityRef + ReservedValue> Flow<N> {
    /// Walks a graph.
    pub fn new(graph: &impl Graph<Node = N>) -> Flow<N> {
        // Most small kernels have no branches.
        if let (Some(entry), 1) = (graph.entry(), graph.nodes().take(2).count())
            && graph.successors(entry).next().is_none()
        {
            let mut search = Search::with_capacity(1, entry.index() + 1);
            search.visit(entry, 0);
            search.postorder.push(entry);
            return Flow { search, preds: Vec::new(), pred_ends: Vec::new(), dominators: OnceCell::new() };
        }
        let (preds, pred_ends) = predecessors(graph);
        Flow { search: Search::new(graph), preds, pred_ends, dominators: OnceCell::new() }
    }

    /// Whether this is still the graph, its nodes in the same order.
    pub fn is_of(&self, graph: &impl Graph<Node = N>) -> bool {
        let Flow { search, preds, pred_ends, .. } = Flow::new(graph);
        (&search.postorder, &preds) == (&self.search.postorder, &self.preds)
            && pred_ends.iter().zip(&self.pred_ends).all(|(a, b)| a == b)
    }

    /// The reachable nodes in reverse postorder: the entry first, and a node before all that it dominates.
    pub fn reverse_postorder(&self) -> impl DoubleEndedIterator<Item = N> + '_ {
        self.search.postorder.iter().rev().copied()
    }

    /// The nodes that go to a node, reachable or not, once for each edge.
    pub fn predecessors(&self, node: N) -> &[N] {
        let number = node.index();
        let end = |number: usize| self.pred_ends.get(number).copied().unwrap_or(0) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.preds.get(start..end(number)).unwrap_or_default()
    }

    /// Whether the node can be reached from the entry.
    pub fn is_reachable(&self, node: N) -> bool {
        self.search.number[node] != usize::MAX
    }

    /// The closest node that dominates this one and is not it; none for the entry and unreachable nodes.
    pub fn immediate_dominator(&self, node: N) -> Option<N> {
        // Of the entry alone no tree need be found.
        let entry = self.search.preorder.first();
        if entry == Some(&node) { None } else { self.dominators().idom[node].expand() }
    }

    /// Whether every path from the entry to `b` goes through `a`; of itself always, of an unreachable node by no other.
    pub fn dominates(&self, a: N, b: N) -> bool {
        if a == b {
            return true;
        }
        let tree = &self.dominators().tree;
        let (a_tree, b_tree) = (tree[a], tree[b]);
        a_tree.first <= b_tree.first && b_tree.end <= a_tree.end && b_tree.end != 0
    }

    fn dominators(&self) -> &Dominators<N> {
        self.dominators.get_or_init(|| Dominators::new(self))
    }
}

impl<N: EntityRef + ReservedValue> Dominators<N> {
    fn new(flow: &Flow<N>) -> Dominators<N> {
        let search = &flow.search;
        let idom = search.dominators(flow);
        let mut dominators = Dominators { idom: SecondaryMap::new(), tree: SecondaryMap::new() };
        let nodes = flow.pred_ends.len();
        dominators.idom.resize(nodes);
        dominators.tree.resize(nodes);
        for (number, &node) in search.preorder.iter().enumerate().skip(1) {
            dominators.idom[node] = search.preorder.get(idom[number]).copied().into();
        }
        // Descendants of a node in the search tree follow it, so sizes of dominator subtrees add up backwards, and
        // numbers are handed out forwards.
        let mut size = vec![1u32; idom.len()];
        for number in (1..idom.len()).rev() {
            size[idom[number]] += size[number];
        }
        let mut next = vec![0u32; idom.len()];
        for (number, &node) in search.preorder.iter().enumerate() {
            let first = if number == 0 { 0 } else { next[idom[number]] };
            if number > 0 {
                next[idom[number]] += size[number];
            }
            next[number] = first + 1;
            dominators.tree[node] = Interval { first, end: first + size[number] };
        }
        dominators
    }
}

/// All predecessors in one list, ordered by node, and where each node's end in it.
fn predecessors<G: Graph>(graph: &G) -> (Vec<G::Node>, Vec<u32>) {
    let edges = || graph.nodes().flat_map(|from| graph.successors(from).map(move |to| (from, to)));
    let mut at = vec![0u32; graph.count() + 1];
    for (_, to) in edges() {
        at[to.index() + 1] += 1;
    }
    for node in 1..at.len() {
        at[node] += at[node - 1];
    }
    let total = at.last().copied().unwrap_or(0);
    let mut preds = vec![G::Node::reserved_value(); total as usize];
    // Each node's place moves from where its predecessors start to where they end.
    for (from, to) in edges() {
        let slot = &mut at[to.index()];
        preds[*slot as usize] = from;
        *slot += 1;
    }
    (preds, at)
}

/// A depth-first search from the entry.
#[derive(Clone, Debug)]
struct Search<N: EntityRef> {
    preorder: Vec<N>,
    postorder: Vec<N>,
    /// By preorder number, that of the parent.
    parent: Vec<usize>,
    /// Preorder numbers; `usize::MAX` where unreachable.
    number: SecondaryMap<N, usize>,
}

impl<N: EntityRef + ReservedValue> Search<N> {
    /// With room for so many nodes in order, and for the numbers of so many.
    fn with_capacity(nodes: usize, numbers: usize) -> Search<N> {
        let mut number = SecondaryMap::with_default(usize::MAX);
        number.resize(numbers);
        let (preorder, postorder) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
        Search { preorder, postorder, parent: Vec::with_capacity(nodes), number }
    }

    fn new(graph: &impl Graph<Node = N>) -> Search<N> {
        let mut search = Search::with_capacity(graph.count(), graph.count());
        let mut stack = Vec::with_capacity(graph.count());
        if let Some(entry) = graph.entry() {
            search.visit(entry, 0);
            stack.push((entry, graph.successors(entry)));
        }
        while let Some((node, successors)) = stack.last_mut() {
            let node = *node;
            match successors.find(|&to| search.number[to] == usize::MAX) {
                Some(to) => {
                    search.visit(to, search.number[node]);
                    stack.push((to, graph.successors(to)));
                }
                None => {
                    search.postorder.push(node);
                    stack.pop();
                }
            }
        }
        search
    }

    fn visit(&mut self, node: N, parent: usize) {
        self.number[node] = self.preorder.len();
        self.preorder.push(node);
        self.parent.push(parent);
    }

    /// Immediate dominators, all by preorder number; the entry's is itself.
    fn dominators(&self, flow: &Flow<N>) -> Vec<usize> {
        let count = self.preorder.len();
        let mut forest = Forest {
            ancestor: vec![usize::MAX; count],
            label: (0..count).collect(),
            semi: (0..count).collect(),
            path: Vec::new(),
        };
        let mut idom = vec![0; count];
        // Nodes whose semidominator is this one, as linked lists.
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
    /// The node with the least semidominator between this one and where `ancestor` skips to.
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
    use crate::kernel::{Attr, BlockCall, ValueList};
    use crate::op::Op;
    use crate::span::Span;
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

//! Control-flow graphs of kernels and other directed graphs: predecessors, reverse postorder and dominators.
//!
//! Dominators use the algorithm of Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph",
//! 1979). The algorithm takes O(m log n) time for every graph with m edges and n nodes, so a text with many thousand
//! blocks is not a problem.

use std::cell::OnceCell;

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, entity_impl};
use smallvec::{SmallVec, smallvec};

use crate::kernel::{Block, Kernel};

/// A directed graph with an entry node.
pub trait Graph {
    /// Identifier of a node.
    type Node: EntityRef + ReservedValue;

    /// Returns a number that is greater than every node index.
    fn count(&self) -> usize;

    /// Returns the entry node; `None` if the graph has no nodes.
    fn entry(&self) -> Option<Self::Node>;

    /// Returns all nodes, reachable or not, in the order in which predecessors are listed.
    fn nodes(&self) -> impl Iterator<Item = Self::Node>;

    /// Returns the successors of a node, in the order in which a search visits them.
    fn successors(&self, node: Self::Node) -> impl Iterator<Item = Self::Node>;
}

/// Numbered node of a [`Lists`] graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(u32);
entity_impl!(Node, "node");

/// A graph as adjacency lists.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Entry node.
    pub entry: Node,
    /// Successors of each node.
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

/// The implementation ignores targets that are not blocks of the kernel.
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

/// Returns the reachable nodes in reverse postorder, without the cost of building a [`Flow`].
pub fn reverse_postorder<G: Graph>(graph: &G) -> Vec<G::Node> {
    let mut order = Search::new(graph).postorder;
    order.reverse();
    order.into_vec()
}

/// A list with inline storage. Most kernels have few blocks, and heap allocation would dominate the
/// analysis of such a graph.
type Few<T> = SmallVec<[T; 8]>;

/// Analysis of a control-flow graph as it was at construction. By default, the nodes are the blocks of a kernel.
#[derive(Clone, Debug)]
pub struct Flow<N: EntityRef + ReservedValue = Block>(Box<Walked<N>>);

/// Analysis results, which passes that preserve control flow can reuse.
#[derive(Clone, Debug)]
struct Walked<N: EntityRef + ReservedValue> {
    search: Search<N>,
    preds: Few<N>,
    /// End index of each node's predecessors in `preds`, which is the start index of the next node's predecessors.
    pred_ends: Few<u32>,
    /// Dominator tree by node, computed on first use. Most passes need only the order of the blocks.
    dominators: OnceCell<Few<Dominated<N>>>,
}

/// Position of a node in the dominator tree.
#[derive(Clone, Copy, Debug)]
struct Dominated<N: ReservedValue> {
    idom: PackedOption<N>,
    /// Dominator-tree number of a reachable node. The nodes that it dominates, including itself,
    /// have the numbers in the interval from `first` to `end`.
    first: u32,
    /// Exclusive end of the interval of the dominated nodes' numbers; 0 for an unreachable node.
    end: u32,
}

impl<N: ReservedValue> Dominated<N> {
    /// Returns the dominator-tree position of an unreachable node.
    fn nowhere() -> Dominated<N> {
        Dominated { idom: None.into(), first: 0, end: 0 }
    }
}

impl<N: EntityRef + ReservedValue> Flow<N> {
    /// Analyses a control-flow graph.
    pub fn new(graph: &impl Graph<Node = N>) -> Flow<N> {
        // Fast path: most small kernels have no branches.
        if let (Some(entry), 1) = (graph.entry(), graph.nodes().take(2).count())
            && graph.successors(entry).next().is_none()
        {
            let mut search = Search::with_capacity(1, entry.index() + 1);
            search.visit(entry, 0);
            search.postorder.push(entry);
            return Flow::of(search, Few::new(), Few::new());
        }
        let (preds, pred_ends) = predecessors(graph);
        Flow::of(Search::new(graph), preds, pred_ends)
    }

    fn of(search: Search<N>, preds: Few<N>, pred_ends: Few<u32>) -> Flow<N> {
        Flow(Box::new(Walked { search, preds, pred_ends, dominators: OnceCell::new() }))
    }

    /// Returns `true` if `graph` equals the analysed graph, including the order of its nodes.
    pub fn is_of(&self, graph: &impl Graph<Node = N>) -> bool {
        let Walked { search, preds, pred_ends, .. } = *Flow::new(graph).0;
        (&search.postorder, &preds) == (&self.0.search.postorder, &self.0.preds)
            && pred_ends.iter().zip(&self.0.pred_ends).all(|(a, b)| a == b)
    }

    /// Returns the reachable nodes in reverse postorder: the entry first, and every node before the
    /// nodes that it dominates.
    pub fn reverse_postorder(&self) -> impl DoubleEndedIterator<Item = N> + '_ {
        self.0.search.postorder.iter().rev().copied()
    }

    /// Returns the predecessors of a node, which may be unreachable. A predecessor occurs once per edge.
    pub fn predecessors(&self, node: N) -> &[N] {
        let number = node.index();
        let end = |number: usize| self.0.pred_ends.get(number).copied().unwrap_or(0) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.0.preds.get(start..end(number)).unwrap_or_default()
    }

    /// Returns `true` if the node is reachable from the entry.
    pub fn is_reachable(&self, node: N) -> bool {
        self.0.search.number(node).is_some()
    }

    /// Returns the immediate dominator of a node; `None` for the entry and for unreachable nodes.
    pub fn immediate_dominator(&self, node: N) -> Option<N> {
        // The entry node has no immediate dominator, so the dominator tree is not needed.
        let entry = self.0.search.preorder.first();
        if entry == Some(&node) { None } else { self.dominated(node).idom.expand() }
    }

    /// Returns `true` if `a` dominates `b`. Every node dominates itself, and no other node
    /// dominates an unreachable node.
    pub fn dominates(&self, a: N, b: N) -> bool {
        if a == b {
            return true;
        }
        let (a, b) = (self.dominated(a), self.dominated(b));
        a.first <= b.first && b.end <= a.end && b.end != 0
    }

    fn dominated(&self, node: N) -> Dominated<N> {
        let tree = self.0.dominators.get_or_init(|| self.find_dominators());
        tree.get(node.index()).copied().unwrap_or(Dominated::nowhere())
    }

    fn find_dominators(&self) -> Few<Dominated<N>> {
        let search = &self.0.search;
        let mut steps = search.dominators(self);
        // Descendants of a node in the search tree have larger preorder numbers. Subtree sizes are
        // therefore summed backwards, and interval numbers are assigned forwards.
        for number in (1..steps.len()).rev() {
            let Step { idom, size, .. } = steps[number];
            steps[idom].size += size;
        }
        let mut tree = smallvec![Dominated::nowhere(); search.number.len()];
        for (number, &node) in search.preorder.iter().enumerate() {
            let Step { idom, size, .. } = steps[number];
            let mut place = Dominated { idom: None.into(), first: 0, end: size };
            if number > 0 {
                let first = steps[idom].next;
                steps[idom].next += size;
                place = Dominated { idom: search.preorder.get(idom).copied().into(), first, end: first + size };
            }
            steps[number].next = place.first + 1;
            tree[node.index()] = place;
        }
        tree
    }
}

/// Returns all predecessors in one list, ordered by node, and the end of each node's predecessors in the list.
fn predecessors<G: Graph>(graph: &G) -> (Few<G::Node>, Few<u32>) {
    let edges = || graph.nodes().flat_map(|from| graph.successors(from).map(move |to| (from, to)));
    let mut at: Few<u32> = smallvec![0; graph.count() + 1];
    for (_, to) in edges() {
        at[to.index() + 1] += 1;
    }
    for node in 1..at.len() {
        at[node] += at[node - 1];
    }
    let total = at.last().copied().unwrap_or(0);
    let mut preds = smallvec![G::Node::reserved_value(); total as usize];
    // Each node has a cursor, which moves from the start of the node's predecessors to their end.
    for (from, to) in edges() {
        let slot = &mut at[to.index()];
        preds[*slot as usize] = from;
        *slot += 1;
    }
    (preds, at)
}

/// Result of a depth-first search from the entry node.
#[derive(Clone, Debug)]
struct Search<N: EntityRef> {
    preorder: Few<N>,
    postorder: Few<N>,
    /// Preorder number of the parent of each node, by the node's preorder number.
    parent: Few<u32>,
    /// Preorder number of each node; [`UNREACHED`] for unreachable nodes.
    number: Few<u32>,
}

const UNREACHED: u32 = u32::MAX;

impl<N: EntityRef + ReservedValue> Search<N> {
    /// Creates an empty search result with capacity for `nodes` reachable nodes and `numbers` node indices.
    fn with_capacity(nodes: usize, numbers: usize) -> Search<N> {
        Search {
            preorder: Few::with_capacity(nodes),
            postorder: Few::with_capacity(nodes),
            parent: Few::with_capacity(nodes),
            number: smallvec![UNREACHED; numbers],
        }
    }

    fn new(graph: &impl Graph<Node = N>) -> Search<N> {
        let mut search = Search::with_capacity(graph.count(), graph.count());
        let mut stack: Few<_> = Few::new();
        if let Some(entry) = graph.entry() {
            search.visit(entry, 0);
            stack.push((entry, 0, graph.successors(entry)));
        }
        while let Some((node, number, successors)) = stack.last_mut() {
            match successors.find(|&to| search.number(to).is_none()) {
                Some(to) => {
                    let parent = *number;
                    let number = search.visit(to, parent);
                    stack.push((to, number, graph.successors(to)));
                }
                None => {
                    search.postorder.push(*node);
                    stack.pop();
                }
            }
        }
        search
    }

    /// Assigns the next preorder number to a node, whose parent has preorder number `parent`.
    fn visit(&mut self, node: N, parent: u32) -> u32 {
        let number = self.preorder.len() as u32;
        if node.index() >= self.number.len() {
            self.number.resize(node.index() + 1, UNREACHED);
        }
        self.number[node.index()] = number;
        self.preorder.push(node);
        self.parent.push(parent);
        number
    }

    /// Returns the preorder number of a reached node.
    fn number(&self, node: N) -> Option<usize> {
        let number = self.number.get(node.index()).copied().filter(|&number| number != UNREACHED);
        number.map(|number| number as usize)
    }

    /// Computes immediate dominators by preorder number. In the result, the entry is its own immediate dominator.
    fn dominators(&self, flow: &Flow<N>) -> Few<Step> {
        let count = self.preorder.len();
        let mut forest = Forest { steps: (0..count).map(Step::new).collect(), path: Few::new() };
        for w in (1..count).rev() {
            for &pred in flow.predecessors(self.preorder[w]) {
                if let Some(v) = self.number(pred) {
                    let u = forest.eval(v);
                    forest.steps[w].semi = forest.steps[w].semi.min(forest.steps[u].semi);
                }
            }
            let semi = forest.steps[w].semi;
            forest.steps[w].bucket_next = std::mem::replace(&mut forest.steps[semi].bucket, w);
            let parent = self.parent[w] as usize;
            forest.steps[w].ancestor = parent;
            let mut v = std::mem::replace(&mut forest.steps[parent].bucket, NONE);
            while v != NONE {
                let u = forest.eval(v);
                let is_lower = forest.steps[u].semi < forest.steps[v].semi;
                forest.steps[v].idom = if is_lower { u } else { parent };
                v = forest.steps[v].bucket_next;
            }
        }
        let mut steps = forest.steps;
        for w in 1..count {
            let Step { idom, semi, .. } = steps[w];
            if idom != semi {
                steps[w].idom = steps[idom].idom;
            }
        }
        steps
    }
}

/// Sentinel for the preorder number of a missing node.
const NONE: usize = usize::MAX;

/// Per-node state of the dominator algorithm. All node references are preorder numbers.
struct Step {
    ancestor: usize,
    /// Node with the least semidominator on the compressed path from this node to `ancestor`.
    label: usize,
    semi: usize,
    /// First node of the list of nodes whose semidominator is this node.
    bucket: usize,
    /// Next node with the same semidominator.
    bucket_next: usize,
    idom: usize,
    /// Number of nodes that this node dominates, including itself.
    size: u32,
    next: u32,
}

impl Step {
    fn new(number: usize) -> Step {
        let (label, semi) = (number, number);
        Step { ancestor: NONE, label, semi, bucket: NONE, bucket_next: NONE, idom: 0, size: 1, next: 0 }
    }
}

/// Forest of processed nodes of the search tree, with path compression.
struct Forest {
    steps: Few<Step>,
    path: Few<usize>,
}

impl Forest {
    fn eval(&mut self, v: usize) -> usize {
        let Forest { steps, path } = self;
        if steps[v].ancestor == NONE {
            return v;
        }
        let mut at = v;
        while steps[steps[at].ancestor].ancestor != NONE {
            path.push(at);
            at = steps[at].ancestor;
        }
        while let Some(at) = path.pop() {
            let above = steps[at].ancestor;
            if steps[steps[above].label].semi < steps[steps[at].label].semi {
                steps[at].label = steps[above].label;
            }
            steps[at].ancestor = steps[above].ancestor;
        }
        steps[v].label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Attr, BlockCall, ValueList};
    use crate::op::Op;
    use crate::span::Span;
    use halfbyte_abi::Type;

    /// Builds a kernel of blocks with the given successors, without meaningful instructions.
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

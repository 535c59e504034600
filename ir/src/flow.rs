//! Flow graphs: predecessors, reverse postorder, dominators. The one of a kernel, and those of others who have nodes and edges.
//!
//! Dominators are found as Lengauer and Tarjan do ("A fast algorithm for finding dominators in a flowgraph", 1979), whose
//! bound of m log n holds on every graph: a text of many thousand blocks is read as a matter of course.

use std::cell::OnceCell;

use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, entity_impl};
use smallvec::{SmallVec, smallvec};

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
    order.into_vec()
}

/// Most kernels have few blocks. The lists of such a graph take no memory of their own, which would be most of the work on it.
type Few<T> = SmallVec<[T; 8]>;

/// A flow graph as it was when this was made; that of a kernel's blocks, where nothing else is said.
#[derive(Clone, Debug)]
pub struct Flow<N: EntityRef + ReservedValue = Block>(Box<Walked<N>>);

/// The lists of a graph, which passes that leave control flow as it is hand on.
#[derive(Clone, Debug)]
struct Walked<N: EntityRef + ReservedValue> {
    search: Search<N>,
    preds: Few<N>,
    /// By node, where its predecessors end in the list of all; they begin where those of the node before end.
    pred_ends: Few<u32>,
    /// The tree of dominators by node, found when it is first asked for: most passes need nothing but an order of the blocks.
    dominators: OnceCell<Few<Dominated<N>>>,
}

/// A node's place in the tree of dominators.
#[derive(Clone, Copy, Debug)]
struct Dominated<N: ReservedValue> {
    idom: PackedOption<N>,
    /// Of a reachable node, the numbers between which those of all the nodes that it dominates lie.
    first: u32,
    /// 0 for unreachable nodes.
    end: u32,
}

impl<N: ReservedValue> Dominated<N> {
    /// That of an unreachable node.
    fn nowhere() -> Dominated<N> {
        Dominated { idom: None.into(), first: 0, end: 0 }
    }
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
            return Flow::of(search, Few::new(), Few::new());
        }
        let (preds, pred_ends) = predecessors(graph);
        Flow::of(Search::new(graph), preds, pred_ends)
    }

    fn of(search: Search<N>, preds: Few<N>, pred_ends: Few<u32>) -> Flow<N> {
        Flow(Box::new(Walked { search, preds, pred_ends, dominators: OnceCell::new() }))
    }

    /// Whether this is still the graph, its nodes in the same order.
    pub fn is_of(&self, graph: &impl Graph<Node = N>) -> bool {
        let Walked { search, preds, pred_ends, .. } = *Flow::new(graph).0;
        (&search.postorder, &preds) == (&self.0.search.postorder, &self.0.preds)
            && pred_ends.iter().zip(&self.0.pred_ends).all(|(a, b)| a == b)
    }

    /// The reachable nodes in reverse postorder: the entry first, and a node before all that it dominates.
    pub fn reverse_postorder(&self) -> impl DoubleEndedIterator<Item = N> + '_ {
        self.0.search.postorder.iter().rev().copied()
    }

    /// The nodes that go to a node, reachable or not, once for each edge.
    pub fn predecessors(&self, node: N) -> &[N] {
        let number = node.index();
        let end = |number: usize| self.0.pred_ends.get(number).copied().unwrap_or(0) as usize;
        let start = number.checked_sub(1).map_or(0, end);
        self.0.preds.get(start..end(number)).unwrap_or_default()
    }

    /// Whether the node can be reached from the entry.
    pub fn is_reachable(&self, node: N) -> bool {
        self.0.search.number(node).is_some()
    }

    /// The closest node that dominates this one and is not it; none for the entry and unreachable nodes.
    pub fn immediate_dominator(&self, node: N) -> Option<N> {
        // Of the entry alone no tree need be found.
        let entry = self.0.search.preorder.first();
        if entry == Some(&node) { None } else { self.dominated(node).idom.expand() }
    }

    /// Whether every path from the entry to `b` goes through `a`; of itself always, of an unreachable node by no other.
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
        // Descendants of a node in the search tree follow it, so sizes of dominator subtrees add up backwards, and
        // numbers are handed out forwards.
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

/// All predecessors in one list, ordered by node, and where each node's end in it.
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
    preorder: Few<N>,
    postorder: Few<N>,
    /// By preorder number, that of the parent.
    parent: Few<u32>,
    /// Preorder numbers by node; [`UNREACHED`] of others.
    number: Few<u32>,
}

const UNREACHED: u32 = u32::MAX;

impl<N: EntityRef + ReservedValue> Search<N> {
    /// With room for so many nodes in order, and for the numbers of so many.
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

    /// Gives a node the next preorder number.
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

    /// The preorder number of a node that was reached.
    fn number(&self, node: N) -> Option<usize> {
        let number = self.number.get(node.index()).copied().filter(|&number| number != UNREACHED);
        number.map(|number| number as usize)
    }

    /// By preorder number, what is found of each node, of which the immediate dominator counts; the entry's is itself.
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

/// No preorder number.
const NONE: usize = usize::MAX;

/// What is found of a node on the way to its dominators; nodes are named by their preorder numbers.
struct Step {
    ancestor: usize,
    /// The node with the least semidominator between this one and where `ancestor` skips to.
    label: usize,
    semi: usize,
    /// The first of the nodes whose semidominator is this one.
    bucket: usize,
    /// The next one with the same semidominator.
    bucket_next: usize,
    idom: usize,
    /// How many nodes it dominates, and the number that the next of them gets.
    size: u32,
    next: u32,
}

impl Step {
    fn new(number: usize) -> Step {
        let (label, semi) = (number, number);
        Step { ancestor: NONE, label, semi, bucket: NONE, bucket_next: NONE, idom: 0, size: 1, next: 0 }
    }
}

/// The part of the search tree that is done with, its paths shortened as they are walked.
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

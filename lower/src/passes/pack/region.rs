//! Regions: loop bodies as acyclic graphs.

use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use halfbyte_ir::flow::{Lists, Node as GraphNode};
use halfbyte_ir::{Block, Flow, Kernel};
use rustc_hash::FxHashSet;

use crate::passes::loops::{LoopId, Loops};

/// Edge of the control-flow graph: the block that branches, the index of the target in its branch,
/// and the target block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub from: Block,
    pub number: usize,
    pub to: Block,
}

/// Index of a node in a region. The nodes are in topological order.
pub(super) type Node = usize;

/// Acyclic graph of a loop body, or of the code outside of all loops, without back edges. A node is
/// a block or a whole inner loop.
pub(super) struct Region {
    /// Block of each node. For an inner loop, this is the loop header. The first node is the entry of the region.
    pub nodes: Vec<Block>,
    /// The inner loop that a node stands for; `None` if the node is a block.
    pub inner: Vec<Option<LoopId>>,
    /// Edges from each node to other nodes of the region, with the target nodes.
    pub out: Vec<Vec<(Edge, Node)>>,
    /// Back edges to the loop's header, with their source nodes.
    pub back: Vec<(Edge, Node)>,
    /// Edges that leave the loop, with their source nodes.
    pub leaving: Vec<(Edge, Node)>,
    place: SecondaryMap<Block, u32>,
    dominator: Vec<Node>,
    /// Immediate post-dominator of each node. The value is the number of nodes if there is none.
    postdominator: Vec<Node>,
    /// For each node, the first node that is executed by exactly the same items.
    same_items: Vec<Node>,
}

impl Region {
    pub(super) fn new(kernel: &Kernel, flow: &Flow, loops: &Loops, region: Option<LoopId>) -> Region {
        let head = region.map_or(kernel.entry(), |id| Some(loops.get(id).header));
        let mut built = Region {
            nodes: Vec::new(),
            inner: Vec::new(),
            out: Vec::new(),
            back: Vec::new(),
            leaving: Vec::new(),
            place: SecondaryMap::with_default(u32::MAX),
            dominator: Vec::new(),
            postdominator: Vec::new(),
            same_items: Vec::new(),
        };
        let Some(head) = head else { return built };
        // A block of an inner loop belongs to the node of the outermost loop that the region contains.
        let node_of = |block: Block| loops.nest(block).take_while(|&id| Some(id) != region).last();
        let mut order = PostorderSearch { kernel, loops, region, head, found: Vec::new(), seen: EntitySet::new() };
        order.visit_all(&node_of);
        for (block, inner) in order.found.into_iter().rev() {
            built.place[block] = built.nodes.len() as u32;
            built.nodes.push(block);
            built.inner.push(inner);
        }
        built.out = vec![Vec::new(); built.nodes.len()];
        for node in 0..built.nodes.len() {
            for edge in edges(kernel, flow, loops, built.nodes[node], built.inner[node]) {
                if !loops.is_in(edge.to, region) {
                    built.leaving.push((edge, node));
                } else if edge.to == head {
                    built.back.push((edge, node));
                } else {
                    let to = built.place[edge.to] as Node;
                    built.out[node].push((edge, to));
                }
            }
        }
        built.dominators();
        built
    }

    fn dominators(&mut self) {
        let count = self.nodes.len();
        let forward: Vec<Vec<GraphNode>> =
            self.out.iter().map(|out| out.iter().map(|&(_, to)| GraphNode::new(to)).collect()).collect();
        // The reverse graph, with an additional exit node.
        let mut backward = vec![Vec::new(); count + 1];
        for (from, out) in self.out.iter().enumerate() {
            out.iter().for_each(|&(_, to)| backward[to].push(GraphNode::new(from)));
            if out.is_empty() {
                backward[count].push(GraphNode::new(from));
            }
        }
        let leaving = self.back.iter().chain(&self.leaving);
        backward[count].extend(leaving.map(|&(_, from)| GraphNode::new(from)));
        let closest = |entry, successors| {
            let flow = Flow::new(&Lists { entry: GraphNode::new(entry), successors });
            let above = |node| flow.immediate_dominator(GraphNode::new(node)).map_or(entry, EntityRef::index);
            (0..count).map(above).collect::<Vec<Node>>()
        };
        self.dominator = closest(0, forward);
        self.postdominator = closest(count, backward);
        self.postdominator.push(count);
        self.same_items = (0..count).collect();
        for node in 1..count {
            let dominator = self.dominator[node];
            if self.postdominator[dominator] == node {
                self.same_items[node] = self.same_items[dominator];
            }
        }
    }

    /// Returns the node of a block. In an inner loop, only the header has a node.
    pub(super) fn node(&self, block: Block) -> Option<Node> {
        Some(self.place[block] as Node).filter(|&node| node < self.nodes.len())
    }

    /// Returns the immediate dominator of a node. The first node is its own dominator.
    pub(super) fn dominator(&self, node: Node) -> Node {
        self.dominator[node]
    }

    /// Returns the immediate post-dominator of a node; `None` if some paths from the node leave the
    /// region before they reconverge.
    pub(super) fn postdominator(&self, node: Node) -> Option<Node> {
        Some(self.postdominator[node]).filter(|&node| node < self.nodes.len())
    }

    /// Returns the first node that is executed by exactly the items of `node`. It dominates `node`,
    /// and `node` post-dominates it.
    pub(super) fn same_items(&self, node: Node) -> Node {
        self.same_items[node]
    }

    pub(super) fn dominates(&self, above: Node, mut node: Node) -> bool {
        while node > above {
            node = self.dominator[node];
        }
        node == above
    }

    /// Returns `true` if every path from `node` to the exit contains `below`.
    pub(super) fn postdominates(&self, below: Node, mut node: Node) -> bool {
        while node < below {
            node = self.postdominator[node];
        }
        node == below
    }

    /// Returns, for each node, `true` if a marked node lies on a path from the node to its
    /// post-dominator, or to the region's exit if it has none.
    pub(super) fn leads_to(&self, marked: &[bool]) -> Vec<bool> {
        let count = self.nodes.len();
        let mut leads = vec![false; count];
        // For each node, the number of post-dominators, including the node, that are marked or lead to a marked node.
        let mut on_way = vec![0u32; count + 1];
        for node in (0..count).rev() {
            let meet = self.postdominator[node];
            leads[node] = self.out[node].iter().any(|&(_, next)| on_way[next] > on_way[meet]);
            on_way[node] = on_way[meet] + u32::from(marked[node] || leads[node]);
        }
        leads
    }

    /// Returns the nodes on paths from `from` to `to`, or to the region's exit if `to` is `None`.
    /// Both ends are excluded.
    pub(super) fn between(&self, from: Node, to: Option<Node>) -> Vec<Node> {
        // A hash set, because the result may be much smaller than the region.
        let mut reached = FxHashSet::default();
        let mut found = Vec::new();
        let mut work: Vec<Node> = vec![from];
        while let Some(node) = work.pop() {
            for &(_, next) in &self.out[node] {
                if Some(next) != to && reached.insert(next) {
                    found.push(next);
                    work.push(next);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// Returns the edges out of a block, or out of an inner loop.
fn edges(kernel: &Kernel, flow: &Flow, loops: &Loops, block: Block, inner: Option<LoopId>) -> Vec<Edge> {
    let of_block = |from: Block| {
        let targets = kernel.terminator(from).map_or(&[][..], |inst| kernel.targets(inst));
        targets.iter().enumerate().map(move |(number, call)| Edge { from, number, to: call.block })
    };
    match inner {
        None => of_block(block).collect(),
        Some(id) => {
            let blocks = kernel.layout.iter().filter(|&&block| flow.is_reachable(block));
            let inside = blocks.filter(|&&block| loops.get(id).contains(block));
            inside.flat_map(|&block| of_block(block)).filter(|edge| !loops.get(id).contains(edge.to)).collect()
        }
    }
}

/// Depth-first search that collects the nodes of a region in postorder.
struct PostorderSearch<'a> {
    kernel: &'a Kernel,
    loops: &'a Loops,
    region: Option<LoopId>,
    head: Block,
    found: Vec<(Block, Option<LoopId>)>,
    seen: EntitySet<Block>,
}

impl PostorderSearch<'_> {
    /// Visits all nodes without recursion. The targets of a branch are visited last to first, so
    /// that the first target comes first in reverse postorder.
    fn visit_all(&mut self, node_of: &dyn Fn(Block) -> Option<LoopId>) {
        let mut stack = vec![self.enter(self.head, node_of)];
        while let Some((block, inner, next)) = stack.last_mut() {
            match next.pop() {
                Some(to) => {
                    if self.loops.is_in(to, self.region) && to != self.head && !self.seen.contains(to) {
                        let entered = self.enter(to, node_of);
                        stack.push(entered);
                    }
                }
                None => {
                    self.found.push((*block, *inner));
                    stack.pop();
                }
            }
        }
    }

    fn enter(
        &mut self,
        block: Block,
        node_of: &dyn Fn(Block) -> Option<LoopId>,
    ) -> (Block, Option<LoopId>, Vec<Block>) {
        self.seen.insert(block);
        let inner = node_of(block);
        let next: Vec<Block> = match inner {
            None => self.kernel.successors(block).collect(),
            Some(id) => {
                let inside = self.kernel.layout.iter().filter(|&&block| self.loops.get(id).contains(block));
                let out = inside.flat_map(|&block| self.kernel.successors(block));
                out.filter(|&to| !self.loops.get(id).contains(to)).collect()
            }
        };
        (block, inner, next)
    }
}

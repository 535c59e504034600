//! Execution masks: conditions that are `true` for the items that execute a block.

use std::collections::HashMap;

use halfbyte_ir::{Op, Type, Value};

use super::code::KernelBuilder;
use super::region::{Edge, Node, Region};

/// A truth value, or the complement of a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    pub value: Value,
    pub negated: bool,
}

impl Condition {
    pub(super) const fn complement(self) -> Condition {
        Condition { value: self.value, negated: !self.negated }
    }
}

/// Set of items for which a condition holds; `None` means all items.
pub(super) type Mask = Option<Condition>;

impl KernelBuilder {
    /// Returns a condition as one value, and emits a complement if necessary.
    pub(super) fn truth(&mut self, condition: Condition) -> Value {
        match condition.negated {
            false => condition.value,
            true => self.op(Op::Not, Type::I1, &[condition.value]),
        }
    }

    /// Returns the intersection of two masks.
    pub(super) fn both(&mut self, a: Mask, b: Mask) -> Mask {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
        if a == b {
            return Some(a);
        }
        Some(self.join(Op::And, Op::Or, a, b))
    }

    /// Returns the union of two masks.
    pub(super) fn either(&mut self, a: Mask, b: Mask) -> Mask {
        let (a, b) = (a?, b?);
        match a == b {
            true => Some(a),
            false if a == b.complement() => None,
            false => Some(self.join(Op::Or, Op::And, a, b)),
        }
    }

    /// Combines two conditions by `op`. If both are complements, combines the uncomplemented values
    /// by `dual` and returns the complement of the result.
    fn join(&mut self, op: Op, dual: Op, a: Condition, b: Condition) -> Condition {
        if a.negated && b.negated {
            return Condition { value: self.op(dual, Type::I1, &[a.value, b.value]), negated: true };
        }
        let args = [self.truth(a), self.truth(b)];
        Condition { value: self.op(op, Type::I1, &args), negated: false }
    }

    /// Returns a value that is `then` for items in the mask, and `otherwise` for all other items.
    pub(super) fn choose(&mut self, mask: Mask, then: Value, otherwise: Value) -> Value {
        let Some(condition) = mask.filter(|_| then != otherwise) else { return then };
        let (then, otherwise) = if condition.negated { (otherwise, then) } else { (then, otherwise) };
        let ty = self.kernel.ty(then);
        self.op(Op::Select, ty, &[condition.value, then, otherwise])
    }
}

/// An edge from a node that has been converted.
pub(super) struct MaskedEdge {
    pub from: Node,
    /// Condition under which an item that executes `from` takes the edge.
    pub mask: Mask,
    pub args: Vec<Value>,
}

/// Masks of the nodes of a region. The mask of a node may be computed only after all edges into the
/// node have been added.
pub(super) struct Masks {
    /// Items that enter the region.
    pub entering: Mask,
    pub ways: Vec<Vec<MaskedEdge>>,
    /// Back edges to the loop's header, each with its source node and its mask as in
    /// [`MaskedEdge`].
    pub back: Vec<(Edge, Node, Mask)>,
    /// Edges that leave the loop, each with its source node and its mask as in [`MaskedEdge`].
    pub leaving: Vec<(Edge, Node, Mask)>,
    /// Cached results of [`Masks::among`], by node and base.
    known: HashMap<(Node, Node), Mask>,
}

impl Masks {
    pub(super) fn new(entering: Mask, nodes: usize) -> Masks {
        let ways = (0..nodes).map(|_| Vec::new()).collect();
        Masks { entering, ways, back: Vec::new(), leaving: Vec::new(), known: HashMap::new() }
    }

    /// Returns the condition under which an item that executes `base` also executes `node`. `base`
    /// must dominate `node`.
    pub(super) fn among(&mut self, code: &mut KernelBuilder, graph: &Region, node: Node, base: Node) -> Mask {
        // Dominators have lower numbers. If the base is not above the first node with exactly the
        // same items, both nodes have the same items.
        let node = graph.same_items(node);
        if base >= node {
            return None;
        }
        if let Some(&mask) = self.known.get(&(node, base)) {
            return mask;
        }
        let ways = self.ways.get(node).into_iter().flatten();
        let ways: Vec<(Node, Mask)> = ways.map(|way| (way.from, way.mask)).collect();
        let mut all: Option<Mask> = None;
        for (from, taken) in ways {
            let mask = self.along(code, graph, from, taken, base);
            all = Some(match all {
                None => mask,
                Some(all) => code.either(all, mask),
            });
        }
        let mask = all.flatten();
        self.known.insert((node, base), mask);
        mask
    }

    /// Returns the condition under which an item that executes `base` takes an edge out of node
    /// `from`. `taken` is the mask of the edge.
    pub(super) fn along(
        &mut self,
        code: &mut KernelBuilder,
        graph: &Region,
        from: Node,
        taken: Mask,
        base: Node,
    ) -> Mask {
        let there = self.among(code, graph, from, base);
        code.both(there, taken)
    }

    /// Returns the mask of the items that execute a node.
    pub(super) fn at(&mut self, code: &mut KernelBuilder, graph: &Region, node: Node) -> Mask {
        let among = self.among(code, graph, node, 0);
        code.both(self.entering, among)
    }

    /// Merges the values that several edges pass. If the values differ, selects by the masks of the
    /// edges, relative to the node `base`, which dominates them.
    pub(super) fn merge(
        &mut self,
        code: &mut KernelBuilder,
        graph: &Region,
        ways: &[(Node, Mask, Value)],
        base: Node,
    ) -> Option<Value> {
        let (&(_, _, last), others) = ways.split_last()?;
        if others.iter().all(|&(_, _, value)| value == last) {
            return Some(last);
        }
        let mut merged = last;
        for &(from, taken, value) in others.iter().rev() {
            let mask = self.along(code, graph, from, taken, base);
            merged = code.choose(mask, value, merged);
        }
        Some(merged)
    }
}

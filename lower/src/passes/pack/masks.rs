//! Masks: which items execute a block, as truth values.

use std::collections::HashMap;

use halfbyte_ir::{Op, Type, Value};

use super::code::Code;
use super::region::{Edge, Node, Region};

/// A truth value or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    pub value: Value,
    pub negated: bool,
}

impl Condition {
    pub const fn complement(self) -> Condition {
        Condition { value: self.value, negated: !self.negated }
    }
}

/// The items for which a condition holds; all of them where there is none.
pub(super) type Mask = Option<Condition>;

impl Code {
    /// A condition as a value.
    pub fn truth(&mut self, condition: Condition) -> Value {
        match condition.negated {
            false => condition.value,
            true => self.op(Op::Not, Type::I1, &[condition.value]),
        }
    }

    /// The items in both masks.
    pub fn both(&mut self, a: Mask, b: Mask) -> Mask {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
        if a == b {
            return Some(a);
        }
        Some(self.join(Op::And, Op::Or, a, b))
    }

    /// The items in one of the masks.
    pub fn either(&mut self, a: Mask, b: Mask) -> Mask {
        let (a, b) = (a?, b?);
        match a == b {
            true => Some(a),
            false if a == b.complement() => None,
            false => Some(self.join(Op::Or, Op::And, a, b)),
        }
    }

    /// Two complements are joined as the complement of what the dual op makes.
    fn join(&mut self, op: Op, dual: Op, a: Condition, b: Condition) -> Condition {
        if a.negated && b.negated {
            return Condition { value: self.op(dual, Type::I1, &[a.value, b.value]), negated: true };
        }
        let args = [self.truth(a), self.truth(b)];
        Condition { value: self.op(op, Type::I1, &args), negated: false }
    }

    /// The first value for items in the mask, for others the second.
    pub fn choose(&mut self, mask: Mask, then: Value, otherwise: Value) -> Value {
        let Some(condition) = mask.filter(|_| then != otherwise) else { return then };
        let (then, otherwise) = if condition.negated { (otherwise, then) } else { (then, otherwise) };
        let ty = self.kernel.ty(then);
        self.op(Op::Select, ty, &[condition.value, then, otherwise])
    }
}

/// An edge into a node that has been passed.
pub(super) struct Way {
    pub from: Node,
    /// Of the items at `from`, those that take it.
    pub mask: Mask,
    pub args: Vec<Value>,
}

/// The masks of a region's nodes. A node is asked for after all edges into it are known.
pub(super) struct Masks {
    /// The items that enter the region.
    pub entering: Mask,
    pub ways: Vec<Vec<Way>>,
    /// The edges back to the loop's header, and those that leave it, with their nodes and masks as of [`Way`].
    pub back: Vec<(Edge, Node, Mask)>,
    pub leaving: Vec<(Edge, Node, Mask)>,
    /// By node and the node whose items are taken for all.
    known: HashMap<(Node, Node), Mask>,
}

impl Masks {
    pub fn new(entering: Mask, nodes: usize) -> Masks {
        let ways = (0..nodes).map(|_| Vec::new()).collect();
        Masks { entering, ways, back: Vec::new(), leaving: Vec::new(), known: HashMap::new() }
    }

    /// Of the items at `base`, which dominates the node, those that come to the node.
    pub fn among(&mut self, code: &mut Code, graph: &Region, node: Node, base: Node) -> Mask {
        // Numbers rise down the tree of dominators, so a base at or below the highest such node has the same items too.
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

    /// Of the items at `base`, those that take a way out of a node.
    pub fn along(&mut self, code: &mut Code, graph: &Region, from: Node, taken: Mask, base: Node) -> Mask {
        let there = self.among(code, graph, from, base);
        code.both(there, taken)
    }

    /// The items at a node.
    pub fn at(&mut self, code: &mut Code, graph: &Region, node: Node) -> Mask {
        let among = self.among(code, graph, node, 0);
        code.both(self.entering, among)
    }

    /// The value that each edge gives: where edges differ, by the mask of items at the node `base` above them.
    pub fn merge(
        &mut self,
        code: &mut Code,
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

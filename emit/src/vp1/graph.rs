//! Dependence graph of a block's operations.

use std::collections::BTreeMap;

use halfbyte_isa::vp1::footprint::Locations;

use super::op::Op;

/// Dependence between two operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// The earlier operation.
    pub from: u32,
    /// The later operation.
    pub to: u32,
    /// Minimum distance in bundles; 0 if both operations may share a bundle.
    pub latency: u32,
}

/// Dependences between the operations of a block, in program order.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Edges sorted by their later operation.
    edges: Vec<Edge>,
    /// Indices of edges, sorted by their earlier operation.
    order: Vec<u32>,
    /// Index in `order` of the first edge from each operation, followed by the length of `order`.
    starts: Vec<u32>,
}

/// Latency in bundles from a write to a read or to another write, which must be in a later bundle.
const AFTER_WRITE: u32 = 1;
/// Latency in bundles from a read to a write. Both may share a bundle, because a bundle reads before
/// it writes.
const AFTER_READ: u32 = 0;

/// The last operation that wrote a location, and the operations that have read the location since.
#[derive(Clone, Default)]
struct Users {
    writer: Option<u32>,
    readers: Vec<u32>,
}

/// Memory accesses on which later accesses may depend. One list exists for each stream, and one for
/// the accesses without a stream. A store replaces earlier accesses to the same bytes, because an
/// access that depends on the store also follows the earlier ones.
#[derive(Clone, Default)]
struct Accesses {
    stores: Vec<u32>,
    loads: Vec<u32>,
}

impl Accesses {
    /// Returns the earlier accesses that must keep their order with an access.
    fn conflicts<'o>(&'o self, ops: &'o [Op], op: &'o Op) -> impl Iterator<Item = u32> + 'o {
        let is_store = op.footprint.access.is_some_and(|access| access.store);
        // Two loads need not keep their order.
        let loads: &[u32] = if is_store { &self.loads } else { &[] };
        let conflicts = |&from: &u32| ops.get(from as usize).is_some_and(|earlier| earlier.conflicts(op));
        self.stores.iter().chain(loads).copied().filter(conflicts)
    }

    fn add(&mut self, ops: &[Op], number: u32, op: &Op) {
        let Some(access) = op.footprint.access else { return };
        let list = if access.store { &mut self.stores } else { &mut self.loads };
        list.push(number);
        if !access.store {
            return;
        }
        let is_kept = |&from: &u32| {
            let earlier = ops.get(from as usize).filter(|_| from != number);
            let other = earlier.and_then(|earlier| earlier.footprint.access);
            !other.is_some_and(|mut other| {
                other.store = true;
                other == access
            })
        };
        self.stores.retain(is_kept);
        self.loads.retain(is_kept);
    }
}

impl Graph {
    /// Builds the dependence graph of operations, which are in program order.
    pub(super) fn new(ops: &[Op]) -> Graph {
        let mut edges: Vec<Edge> = Vec::new();
        let mut users = vec![Users::default(); Locations::LOCATION_LIMIT];
        let (mut streams, mut others) = (BTreeMap::new(), Accesses::default());
        // Index of the latest edge that begins at each operation.
        let mut last = vec![usize::MAX; ops.len()];
        for (to, op) in (0..).zip(ops) {
            let first = edges.len();
            let mut wait = |from: u32, latency: u32| {
                let Some(last) = last.get_mut(from as usize).filter(|_| from != to) else { return };
                match edges.get_mut(*last).filter(|_| *last >= first) {
                    Some(edge) => edge.latency = edge.latency.max(latency),
                    None => {
                        *last = edges.len();
                        edges.push(Edge { from, to, latency });
                    }
                }
            };
            for place in op.footprint.reads.numbers() {
                let Some(users) = users.get_mut(usize::from(place)) else { continue };
                users.writer.into_iter().for_each(|writer| wait(writer, AFTER_WRITE));
                users.readers.push(to);
            }
            for place in op.footprint.writes.numbers() {
                let Some(users) = users.get_mut(usize::from(place)) else { continue };
                users.writer.into_iter().for_each(|writer| wait(writer, AFTER_WRITE));
                users.readers.drain(..).for_each(|reader| wait(reader, AFTER_READ));
                users.writer = Some(to);
            }
            if let Some(access) = op.footprint.access {
                let mut after = |from: u32| {
                    let earlier = ops.get(from as usize).and_then(|earlier| earlier.footprint.access);
                    let stored = earlier.is_some_and(|earlier| earlier.store);
                    // A store may be in the bundle of an earlier load, because the load reads the
                    // memory before the bundle writes.
                    wait(from, if stored || !access.store { AFTER_WRITE } else { AFTER_READ });
                };
                match op.stream {
                    // Accesses of different streams never overlap.
                    Some(stream) => {
                        let own: &mut Accesses = streams.entry(stream).or_default();
                        own.conflicts(ops, op).chain(others.conflicts(ops, op)).for_each(&mut after);
                        own.add(ops, to, op);
                    }
                    None => {
                        others.conflicts(ops, op).for_each(&mut after);
                        streams.values().flat_map(|of| of.conflicts(ops, op)).for_each(after);
                        others.add(ops, to, op);
                    }
                }
            }
        }
        Graph::of_edges(ops.len(), edges)
    }

    /// Builds a dependence graph from the edges between `count` operations.
    fn of_edges(count: usize, edges: Vec<Edge>) -> Graph {
        let mut starts = vec![0; count + 1];
        for edge in &edges {
            if let Some(start) = starts.get_mut(edge.from as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        order.sort_by_key(|&edge| edges.get(edge as usize).map(|edge| edge.from));
        Graph { edges, order, starts }
    }

    /// Returns the edges that begin at an operation.
    pub(super) fn after(&self, op: u32) -> impl Iterator<Item = &Edge> {
        let at = |index: usize| self.starts.get(index).map_or(0, |&start| start as usize);
        let range = at(op as usize)..at(op as usize + 1);
        self.order.get(range).unwrap_or_default().iter().filter_map(|&edge| self.edges.get(edge as usize))
    }

    /// Returns all edges, sorted by their later operation.
    pub(super) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the number of operations.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the height of each operation: the number of bundles of the longest dependence chain from the operation
    /// to the end, including the operation. `own` returns the number of bundles that an operation itself takes.
    pub(super) fn heights(&self, own: impl Fn(u32) -> u32) -> Vec<u32> {
        let mut heights: Vec<u32> = (0..self.len() as u32).map(own).collect();
        for op in (0..self.len() as u32).rev() {
            let height = self.after(op).filter_map(|edge| Some(heights.get(edge.to as usize)? + edge.latency)).max();
            if let (Some(height), Some(own)) = (height, heights.get_mut(op as usize)) {
                *own = height.max(*own);
            }
        }
        heights
    }
}

//! Dependences between the operations of a block.

use std::collections::BTreeMap;

use halfbyte_isa::vp1::footprint::Locations;

use super::op::Op;

/// An operation comes after another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// The earlier one.
    pub from: u32,
    /// The later one.
    pub to: u32,
    /// The fewest bundles from the one to the other: 0 where they may be in one.
    pub latency: u32,
}

/// The operations of a block, in the order of the program, and what each must wait for.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// By the operation that waits.
    edges: Vec<Edge>,
    /// By the operation that is waited for: numbers of edges.
    order: Vec<u32>,
    /// For each operation its first in `order`, and the end.
    starts: Vec<u32>,
}

/// A read must see what was written before: one bundle later. What is read may be written in the same bundle, whose reads come
/// first. Two writes of one place are in two bundles.
const AFTER_WRITE: u32 = 1;
const AFTER_READ: u32 = 0;

/// Who has to do with a place.
#[derive(Clone, Default)]
struct Users {
    writer: Option<u32>,
    readers: Vec<u32>,
}

/// Accesses that later ones have to keep their order with: those to one stream, or those to none. What comes after a store of the
/// same bytes comes after all that the store has come after, so that only the store is kept.
#[derive(Clone, Default)]
struct Accesses {
    stores: Vec<u32>,
    loads: Vec<u32>,
}

impl Accesses {
    /// Those that an access conflicts with.
    fn conflicts<'o>(&'o self, ops: &'o [Op], op: &'o Op) -> impl Iterator<Item = u32> + 'o {
        let is_store = op.footprint.access.is_some_and(|access| access.store);
        // Two loads never do.
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
    /// The graph of operations in the order of the program.
    pub fn new(ops: &[Op]) -> Graph {
        let mut edges: Vec<Edge> = Vec::new();
        let mut users = vec![Users::default(); Locations::PLACES];
        let (mut streams, mut others) = (BTreeMap::new(), Accesses::default());
        // The last edge from each operation.
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
            for place in op.footprint.reads.places() {
                let Some(users) = users.get_mut(usize::from(place)) else { continue };
                users.writer.into_iter().for_each(|writer| wait(writer, AFTER_WRITE));
                users.readers.push(to);
            }
            for place in op.footprint.writes.places() {
                let Some(users) = users.get_mut(usize::from(place)) else { continue };
                users.writer.into_iter().for_each(|writer| wait(writer, AFTER_WRITE));
                users.readers.drain(..).for_each(|reader| wait(reader, AFTER_READ));
                users.writer = Some(to);
            }
            if let Some(access) = op.footprint.access {
                let mut after = |from: u32| {
                    let earlier = ops.get(from as usize).and_then(|earlier| earlier.footprint.access);
                    let stored = earlier.is_some_and(|earlier| earlier.store);
                    // Loads read the state of before the bundle.
                    wait(from, if stored || !access.store { AFTER_WRITE } else { AFTER_READ });
                };
                match op.stream {
                    // Those of different streams lie apart.
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

    /// The graph of edges between `count` operations.
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

    /// What waits for an operation.
    pub fn after(&self, op: u32) -> impl Iterator<Item = &Edge> {
        let at = |index: usize| self.starts.get(index).map_or(0, |&start| start as usize);
        let range = at(op as usize)..at(op as usize + 1);
        self.order.get(range).unwrap_or_default().iter().filter_map(|&edge| self.edges.get(edge as usize))
    }

    /// All edges, by the operation that waits.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// For each operation the bundles from its own, inclusive, to the end that what waits for it takes; `own` is what it takes
    /// itself.
    pub fn heights(&self, own: impl Fn(u32) -> u32) -> Vec<u32> {
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

//! Modulo scheduling (Rau, "Iterative modulo scheduling"). The schedule assigns each operation a time relative to the
//! start of its iteration, such that a new iteration can start every `interval` bundles.
//!
//! The live range of a value ends before the next iteration defines the value again, so all iterations use the same
//! registers.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::Locations;

use super::op::Op;
use super::pairs::Pairs;
use super::schedule::{Members, pressure};
use super::values::{Value, Values};

/// Dependence between two operations: `to` executes at least `latency - interval * distance`
/// bundles after `from`. A link between nodes relates the times of their first operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Link {
    from: u32,
    to: u32,
    latency: i32,
    /// Number of iterations from the first operation to the second.
    distance: i32,
}

impl Link {
    fn delay(&self, interval: i32) -> i32 {
        self.latency - interval * self.distance
    }
}

/// Operations that execute in consecutive bundles: a single operation, or a dependence chain
/// through `$va`. No other operation may use `$va` during the chain.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Number of the first operation. The other operations have the next higher numbers.
    first: u32,
    /// Number of operations.
    count: u32,
}

/// A link of a node, with the node at its other end.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    /// The node at the other end.
    node: u32,
    /// `true` if the node at the other end is the source of the link.
    is_before: bool,
    link: Link,
}

/// Dependences and resources of a loop that is scheduled.
pub(crate) struct Loop<'a> {
    ops: &'a [Op],
    nodes: Vec<Node>,
    /// Node of each operation.
    node_of: Vec<u32>,
    /// Dependences between nodes, ordered from the last source node to the first.
    links: Vec<Link>,
    /// Links between each node and other nodes.
    neighbours: Vec<Vec<Neighbour>>,
    /// `true` for each operation that must not execute speculatively. An iteration is speculative
    /// as long as the exit tests of earlier iterations have not all been executed.
    bound: Vec<bool>,
    /// Pairs of operations that cannot share a bundle.
    pairs: Pairs<'a>,
    /// Lower bound of the initiation interval.
    pub least: u32,
    /// Number of node placements that all further searches together may make.
    effort: usize,
}

/// Schedule of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// Initiation interval in bundles.
    pub interval: u32,
    /// Bundle of each operation, relative to the start of its iteration.
    pub times: Vec<u32>,
}

/// Smallest initiation interval in bundles: the bundle of the branch and its delay slot.
const LEAST_INTERVAL: u32 = 2;

/// Maximum number of iterations that may start speculatively.
const MAX_AHEAD: u32 = 2;

/// Maximum number of node placements in one search, per node of the loop.
const EFFORT: usize = 24;
/// Maximum number of node placements in all searches for a loop together. The limit allows all searches for a small
/// loop, but only a few for a large loop, which gains less from overlapping iterations.
const TOTAL_EFFORT: usize = 1 << 14;

/// Number of placement orders that are tried for one interval.
const TRIES: u64 = 6;

impl<'a> Loop<'a> {
    /// Analyses a loop whose last operation is the back branch. `live` are the locations that are
    /// live after the loop. Returns `None` if the loop cannot be modulo scheduled.
    pub(super) fn new(ops: &'a [Op], values: &Values, live: Locations) -> Option<Loop<'a>> {
        let (nodes, node_of) = nodes(ops, values);
        let resources = pressure(ops).into_iter().max().unwrap_or(0).max(LEAST_INTERVAL);
        let mut looped = Loop {
            ops,
            nodes,
            node_of,
            links: Vec::new(),
            neighbours: Vec::new(),
            bound: Vec::new(),
            pairs: Pairs::new(ops),
            least: 0,
            effort: TOTAL_EFFORT,
        };
        looped.add_links(values.values.iter().flat_map(flow).chain(memory(ops)));
        looped.least = (resources..=resources + ops.len() as u32).find(|&at| looped.heights(at as i32).is_some())?;
        looped.add_links(storage(values, &looped.chained(values)));
        looped.neighbours = vec![Vec::new(); looped.nodes.len()];
        for &link in looped.links.iter().filter(|link| link.from != link.to) {
            for (node, other, is_before) in [(link.from, link.to, false), (link.to, link.from, true)] {
                let neighbours = looped.neighbours.get_mut(node as usize);
                neighbours.into_iter().for_each(|all| all.push(Neighbour { node: other, is_before, link }));
            }
        }
        looped.bound = ops.iter().map(Op::stores).collect();
        for cluster in values.clusters.iter().filter(|cluster| cluster.step.is_none()) {
            for value in cluster.values.iter().filter_map(|&value| values.values.get(value as usize)) {
                let bound =
                    value.def.filter(|_| live.contains(value.place)).and_then(|def| looped.bound.get_mut(def as usize));
                bound.into_iter().for_each(|bound| *bound = true);
            }
        }
        Some(looped)
    }

    /// Adds dependences between operations as links between the nodes of these operations.
    fn add_links(&mut self, links: impl IntoIterator<Item = Link>) {
        for link in links {
            let (Some((from, first)), Some((to, second))) = (self.at(link.from), self.at(link.to)) else { continue };
            let latency = link.latency + first - second;
            self.links.push(Link { from: from as u32, to: to as u32, latency, ..link });
        }
        // This order usually lets `heights` visit the successors of a node before the node itself.
        self.links.sort_by_key(|link| std::cmp::Reverse(link.from));
    }

    /// Returns, for each value, `true` if the value is in `$va` and cannot conflict with another value in `$va`. This
    /// is the case for all values in `$va`, if each of them is used only by the operation after its definition.
    fn chained(&self, values: &Values) -> Vec<bool> {
        let in_accumulator = |value: &Value| Locations::file_of(value.place) == Some(RegFile::Va);
        let used_at_once = |value: &Value| {
            let def = value.def.filter(|_| !value.carried);
            def.is_some_and(|def| value.uses.iter().all(|&(op, distance)| distance == 0 && op == def + 1))
        };
        let all = values.values.iter().filter(|value| in_accumulator(value)).all(used_at_once);
        values.values.iter().map(|value| all && in_accumulator(value)).collect()
    }

    /// Returns a schedule with an initiation interval of `interval` bundles for which `accept` returns `true`.
    pub(super) fn schedule(&mut self, interval: u32, mut accept: impl FnMut(&Times) -> bool) -> Option<Times> {
        let heights = self.heights(interval as i32)?;
        for seed in 0..TRIES {
            for ahead in 0..=MAX_AHEAD {
                let mut budget = self.effort.min(EFFORT * self.nodes.len());
                self.effort -= budget;
                let times = self.search(interval, ahead, &heights, seed, &mut budget);
                self.effort += budget;
                if let Some(times) = times.filter(|times| accept(times)) {
                    return Some(times);
                }
            }
        }
        None
    }

    /// Returns the length in bundles of the longest path from each node. Returns `None` if the
    /// interval is too short for a dependence cycle.
    fn heights(&self, interval: i32) -> Option<Vec<i32>> {
        let mut heights = vec![0; self.nodes.len()];
        for _ in 0..=self.nodes.len() {
            let mut changed = false;
            for link in &self.links {
                let height = heights.get(link.to as usize).copied().unwrap_or(0) + link.delay(interval);
                if link.from == link.to && link.delay(interval) > 0 {
                    return None;
                }
                let known = heights.get_mut(link.from as usize);
                if let Some(known) = known.filter(|known| **known < height && link.from != link.to) {
                    *known = height;
                    changed = true;
                }
            }
            if !changed {
                return Some(heights);
            }
        }
        None
    }

    /// Returns the node of an operation, and the operation's offset in the node.
    fn at(&self, op: u32) -> Option<(usize, i32)> {
        let node = *self.node_of.get(op as usize)? as usize;
        Some((node, (op - self.nodes.get(node)?.first) as i32))
    }

    /// Searches for a schedule whose back branch executes `ahead` intervals after the first interval of its iteration.
    /// The search places at most `budget` nodes, and subtracts the placed nodes from `budget`.
    fn search(&self, interval: u32, ahead: u32, heights: &[i32], seed: u64, budget: &mut usize) -> Option<Times> {
        let mut search = Search {
            looped: self,
            interval: interval as i32,
            lead: (ahead * interval) as i32,
            times: vec![None; self.nodes.len()],
            rows: vec![Reservation::default(); interval as usize],
            least: vec![0; self.nodes.len()],
            evicted: Vec::new(),
            branch: self.nodes.len() - 1,
        };
        // The branch must be in the second to last bundle of an interval, because its delay slot is the last one.
        let end = search.lead + search.interval - LEAST_INTERVAL as i32;
        search.place(search.branch, end);
        let order = self.order(search.branch, heights, seed);
        let mut ranks = vec![0; order.len()];
        for (rank, &node) in order.iter().enumerate() {
            ranks.get_mut(node).into_iter().for_each(|known| *known = rank);
        }
        // All nodes before index `next` of the order have been placed.
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            if search.times.get(node).is_none_or(|time| time.is_some()) {
                next += 1;
                continue;
            }
            *budget = budget.checked_sub(1)?;
            search.schedule(node)?;
            for evicted in search.evicted.drain(..) {
                next = ranks.get(evicted).map_or(0, |&rank| next.min(rank));
            }
        }
        let mut times = vec![0; self.ops.len()];
        for (op, time) in (0..).zip(&mut times) {
            let (node, offset) = self.at(op)?;
            *time = u32::try_from(search.times.get(node).copied().flatten()? + offset).ok()?;
        }
        Some(Times { interval, times })
    }

    /// Returns the order in which the nodes are placed: first the predecessors of the branch, then
    /// by decreasing height. Ties are broken at random.
    fn order(&self, branch: usize, heights: &[i32], seed: u64) -> Vec<usize> {
        let mut before = vec![false; self.nodes.len()];
        let mark = |node: usize, before: &mut Vec<bool>| {
            before.get_mut(node).is_some_and(|known| !std::mem::replace(known, true))
        };
        mark(branch, &mut before);
        let mut changed = true;
        while changed {
            changed = false;
            for link in self.links.iter().filter(|link| link.distance == 0) {
                if before.get(link.to as usize).copied().unwrap_or(false) {
                    changed |= mark(link.from as usize, &mut before);
                }
            }
        }
        let mut random = seed;
        let mut key = |node: usize| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let tie = if seed == 0 { node as u64 } else { random >> 33 };
            let blur = if seed < 2 { 0 } else { (random >> 40) as i32 & 3 };
            let height = heights.get(node).copied().unwrap_or(0) + blur;
            (!before.get(node).copied().unwrap_or(false), std::cmp::Reverse(height), tie)
        };
        let mut keyed: Vec<_> = (0..self.nodes.len()).map(|node| (key(node), node)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, node)| node).collect()
    }

    /// Returns the links between a node and other nodes.
    fn neighbours(&self, node: usize) -> &[Neighbour] {
        self.neighbours.get(node).map_or(&[], Vec::as_slice)
    }
}

/// State of a search.
struct Search<'a> {
    looped: &'a Loop<'a>,
    interval: i32,
    /// First time at which an iteration is no longer speculative.
    lead: i32,
    /// Time of each node's first operation.
    times: Vec<Option<i32>>,
    /// Reservation table, with one row for each bundle of the interval.
    rows: Vec<Reservation>,
    /// Earliest time at which each node is placed if it has to evict other nodes again.
    least: Vec<i32>,
    /// Nodes that were evicted and must be placed again.
    evicted: Vec<usize>,
    branch: usize,
}

/// Row of the reservation table: the units and operations of one bundle of the interval.
#[derive(Clone, Default)]
struct Reservation {
    /// Bit set of the units in use.
    units: u8,
    /// Operations in the row.
    ops: Members,
}

impl Search<'_> {
    /// Returns the operations of a node.
    fn members(&self, node: usize) -> std::ops::Range<u32> {
        self.looped.nodes.get(node).map_or(0..0, |node| node.first..node.first + node.count)
    }

    /// Returns the time of a node, if it is placed.
    fn time(&self, node: u32) -> Option<i32> {
        self.times.get(node as usize).copied().flatten()
    }

    fn row(&self, time: i32) -> usize {
        time.rem_euclid(self.interval) as usize
    }

    fn units(&self, op: u32) -> u8 {
        self.looped.pairs.units(op)
    }

    fn place(&mut self, node: usize, time: i32) {
        for (op, at) in self.members(node).zip(time..) {
            let (row, units) = (self.row(at), self.units(op));
            if let Some(row) = self.rows.get_mut(row) {
                row.units |= units;
                // The operations of a row use different units, so the array has space for all of them.
                let _ = row.ops.try_push(op);
            }
        }
        self.times.get_mut(node).into_iter().for_each(|known| *known = Some(time));
    }

    fn remove(&mut self, node: usize) {
        let Some(time) = self.times.get_mut(node).and_then(Option::take) else { return };
        for (op, at) in self.members(node).zip(time..) {
            let (row, units) = (self.row(at), self.units(op));
            if let Some(row) = self.rows.get_mut(row) {
                row.units &= !units;
                row.ops.retain(|other| *other != op);
            }
        }
        self.evicted.push(node);
    }

    /// Returns the earliest time of a node such that its operations that must not be speculative
    /// execute at `lead` or later.
    fn start(&self, node: usize) -> i32 {
        let bound = |op: &u32| self.looped.bound.get(*op as usize).copied().unwrap_or(true);
        let members = self.members(node);
        let first = members.start;
        members.filter(bound).map(|op| self.lead - (op - first) as i32).max().unwrap_or(0).max(0)
    }

    /// Returns the earliest and the latest time that the links to placed nodes allow. The third
    /// result is `true` if a placed node precedes the node in the same iteration.
    fn window(&self, node: usize) -> (i32, Option<i32>, bool) {
        let (mut low, mut high, mut follows) = (self.start(node), None, false);
        for Neighbour { node, is_before, link } in self.looped.neighbours(node) {
            let Some(time) = self.time(*node) else { continue };
            let delay = link.delay(self.interval);
            if *is_before {
                low = low.max(time + delay);
                follows |= link.distance == 0;
            } else {
                high = Some(high.map_or(time - delay, |high: i32| high.min(time - delay)));
            }
        }
        (low, high, follows)
    }

    /// Returns the placed operations that conflict with a node if the node is placed at `time`.
    fn conflicts(&self, node: usize, time: i32) -> impl Iterator<Item = u32> {
        self.members(node).zip(time..).flat_map(move |(op, at)| {
            let row = self.rows.get(self.row(at)).map_or(&[][..], |row| row.ops.as_slice());
            row.iter().copied().filter(move |&other| self.looped.pairs.interact(op, other))
        })
    }

    /// Returns `true` if no placed operation conflicts with a node at `time`.
    fn is_free(&self, node: usize, time: i32) -> bool {
        let units = |(op, at)| self.rows.get(self.row(at)).is_some_and(|row| row.units & self.units(op) == 0);
        self.members(node).zip(time..).all(units) && self.conflicts(node, time).next().is_none()
    }

    /// Places a node. If no time is free, evicts other nodes.
    fn schedule(&mut self, node: usize) -> Option<()> {
        let (low, high, follows) = self.window(node);
        let last = low + self.interval - 1;
        let end = high.map_or(last, |high| high.min(last));
        // A node with a placed successor but no placed predecessor is placed as late as possible,
        // any other node as early as possible.
        let found = match high {
            Some(high) if !follows => {
                (low.max(high - self.interval + 1)..=high).rev().find(|&time| self.is_free(node, time))
            }
            _ => (low..=end).find(|&time| self.is_free(node, time)),
        };
        let time = match found {
            Some(time) => time,
            None => self.force(node, low)?,
        };
        self.place(node, time);
        self.least.get_mut(node).into_iter().for_each(|least| *least = time + 1);
        Some(())
    }

    /// Evicts the nodes that conflict with a node. Returns the time at which the node is placed:
    /// the first time from `low` on that has not been tried and does not evict the branch.
    fn force(&mut self, node: usize, low: i32) -> Option<i32> {
        let first = low.max(self.least.get(node).copied().unwrap_or(0));
        for time in first..first + self.interval {
            let mut evicted = Vec::new();
            for op in self.conflicts(node, time) {
                evicted.push(self.looped.at(op)?.0);
            }
            for Neighbour { node, is_before, link } in self.looped.neighbours(node) {
                let Some(other) = self.time(*node) else { continue };
                let (first, second) = if *is_before { (other, time) } else { (time, other) };
                if second < first + link.delay(self.interval) {
                    evicted.push(*node as usize);
                }
            }
            if !evicted.contains(&self.branch) {
                evicted.into_iter().for_each(|node| self.remove(node));
                return Some(time);
            }
        }
        None
    }
}

/// Divides a loop into nodes: chains through `$va`, and single operations. Also returns the node of each operation.
fn nodes(ops: &[Op], values: &Values) -> (Vec<Node>, Vec<u32>) {
    let accumulator = |value: &&Value| Locations::file_of(value.place) == Some(RegFile::Va);
    // For each operation, `true` if it writes an accumulator that only the next operation reads.
    let mut goes_on = vec![false; ops.len()];
    for value in values.values.iter().filter(accumulator).filter(|value| !value.carried) {
        let Some(def) = value.def else { continue };
        let next = !value.uses.is_empty() && value.uses.iter().all(|&(op, distance)| op == def + 1 && distance == 0);
        goes_on.get_mut(def as usize).into_iter().for_each(|goes_on| *goes_on = next);
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_of = Vec::with_capacity(ops.len());
    let mut joined = false;
    for (op, goes_on) in (0..).zip(goes_on) {
        match nodes.last_mut().filter(|_| joined) {
            Some(node) => node.count += 1,
            None => nodes.push(Node { first: op, count: 1 }),
        }
        node_of.push(nodes.len() as u32 - 1);
        joined = goes_on;
    }
    (nodes, node_of)
}

/// Returns the true dependences of a value: each use follows the definition.
fn flow(value: &Value) -> impl Iterator<Item = Link> {
    let def = value.def.into_iter();
    def.flat_map(|from| {
        value.uses.iter().map(move |&(to, distance)| Link { from, to, latency: 1, distance: distance as i32 })
    })
}

/// Returns the dependences between memory accesses, in the same iteration and from one iteration to the next.
fn memory(ops: &[Op]) -> Vec<Link> {
    let mut links = Vec::new();
    let accesses: Vec<(u32, &Op)> = (0..).zip(ops).filter(|(_, op)| op.footprint.access.is_some()).collect();
    for (index, &(first, a)) in accesses.iter().enumerate() {
        for &(second, b) in accesses.iter().skip(index + 1).filter(|(_, b)| a.conflicts(b)) {
            links.push(Link { from: first, to: second, latency: i32::from(a.stores()), distance: 0 });
            links.push(Link { from: second, to: first, latency: i32::from(b.stores()), distance: 1 });
        }
    }
    links
}

/// Returns the anti-dependences and output dependences: all uses of a value precede the next
/// definition of its location, by the next iteration or by another value. Skips the values for
/// which `chained` is `true`.
fn storage(values: &Values, chained: &[bool]) -> Vec<Link> {
    // Two values share a location in every schedule if neither can be renamed, or if both are
    // renamed together.
    let mut members: Vec<(u32, &Value)> = Vec::new();
    for (number, cluster) in (0..).zip(&values.clusters) {
        let room = if cluster.step.is_none() { u32::MAX } else { number };
        let free = cluster.values.iter().filter(|&&value| chained.get(value as usize) == Some(&false));
        let made = free.filter_map(|&value| values.values.get(value as usize)).filter(|value| value.def.is_some());
        members.extend(made.map(|value| (room, value)));
    }
    members.sort_by_key(|(room, value)| (*room, value.place, value.def));
    let mut links = Vec::new();
    for group in members.chunk_by(|(x, a), (y, b)| (x, a.place) == (y, b.place)) {
        let next = group.iter().skip(1).map(|next| (next, 0)).chain(group.first().map(|next| (next, 1)));
        for ((_, value), ((_, next), later)) in group.iter().zip(next) {
            let (Some(def), Some(to)) = (value.def, next.def) else { continue };
            if def != to {
                links.push(Link { from: def, to, latency: 1, distance: later });
            }
            for &(from, distance) in &value.uses {
                let distance = later - distance as i32;
                if from != to || distance != 0 {
                    links.push(Link { from, to, latency: 0, distance });
                }
            }
        }
    }
    links
}

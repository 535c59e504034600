//! Symbolic execution of a group at compile time. The group size is known, so the position of each
//! item is known.
//!
//! Divergent items run as on the machine: the block with the lowest address runs first. A
//! block updates the lanes of its active items, and the other lanes keep their values. A branch on
//! an unknown condition becomes a branch of the code, if all items are together there. If such
//! items then take different paths, the code gives the group up. A loop with an unknown exit
//! becomes a loop of the code; every other loop is unrolled.

use std::collections::BTreeMap;

use halfbyte_isa::halu::domain::Width;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::access::{At, Now, Where};
use super::graph::{Graph, LANES, Node, Place, Value, ZEROS};
use super::memory::KnownMemory;
use crate::jit::cells::Cell;
use crate::jit::dataflow::{Action, Dataflow, Id, Op};
use crate::jit::flow::Flow;
use crate::jit::graph::{Block, BlockId, Next, Target};
use crate::jit::meet;
use crate::jit::unit::Unit;

/// Operation with a side effect, in program order.
#[derive(Clone, Debug)]
pub enum Sink {
    /// Gives the group up unless `holds` is true in all lanes of the mask.
    Check {
        holds: Node,
        mask: u16,
    },
    Store {
        place: Place,
        at: Where,
        data: Node,
    },
    /// Load from shared memory. The result may be unused, but the bounds must be checked.
    Read(Node),
    /// Load from other memory, at any time before the segment ends.
    Load(Node),
    /// Sets a loop-carried vector for the next iteration.
    Carry {
        row: Node,
        value: Node,
    },
}

/// Terminator of a segment.
#[derive(Clone, Debug)]
pub enum End {
    /// The group is done.
    Done,
    /// Gives the group up: another engine runs the group from its start.
    GiveUp,
    Go(usize),
    /// All items take the same branch. Each vector has a condition and the mask of its active items.
    Branch {
        holds: Vec<(Node, u16)>,
        taken: usize,
        fall: usize,
    },
}

/// Code that is entered only at its start.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Segment that first branches to this one. The parent always runs before this segment.
    pub parent: Option<usize>,
    pub sinks: Vec<Sink>,
    pub end: End,
    /// Instructions and backward branches, summed over all items.
    pub issued: u64,
    pub backward: u64,
    /// Upper bound of the backward branches of an item.
    pub most_backward: u64,
}

/// Set of items: a lane mask for each vector.
pub type Mask = SmallVec<[u16; 16]>;

/// Change of a cell from one iteration of a loop of the code to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Change {
    #[default]
    No,
    /// By the same amount for all items.
    Same,
    Any,
}

/// Reason why a path cannot be followed to its end.
pub enum Stop {
    /// The walk must start again, because more is now known about loops.
    Again,
    /// No code can be emitted for the kernel.
    Refused,
}

/// Loops of the code, by their header: the change of each cell.
type Loops = BTreeMap<BlockId, BTreeMap<Cell, Change>>;

/// Loop that encloses the current segment.
#[derive(Clone)]
struct Open {
    block: BlockId,
    segment: usize,
    /// Values of cells at the loop header, by vector: loop-carried vectors if they change.
    cells: Vec<(Cell, Change, Vec<Value>)>,
}

/// State of a path: the positions of the items and the values of their cells.
#[derive(Clone)]
pub struct State {
    segment: usize,
    /// Values by cell, then by vector.
    pub cells: Vec<Vec<Value>>,
    at: BTreeMap<BlockId, Mask>,
    ended: Mask,
    shared: KnownMemory,
    /// Private memory by vector.
    private: Vec<KnownMemory>,
    open: Vec<Open>,
    /// Loads that already have a sink on this path.
    loaded: FxHashSet<Node>,
    /// Number of unknown branches so far, and their number when each block was last executed.
    branches: u32,
    last: BTreeMap<BlockId, u32>,
}

/// Kernel to follow.
pub struct Source<'a> {
    pub blocks: &'a [Block],
    pub units: &'a [Unit],
    pub flow: &'a Flow,
    pub meetings: &'a BTreeMap<BlockId, meet::Place>,
    /// Known words of constant bank 0, with their offsets.
    pub known: &'a [(u32, u32)],
    pub shared_bytes: u32,
    /// Size of the private memory of an item, and its first address.
    pub private_bytes: u32,
    pub private_start: i64,
    /// Items per group.
    pub items: u32,
    pub cells: usize,
}

/// Initial graph, and the initial values of cells by vector. All other cells are zero.
pub type Start = (Graph, Vec<(Cell, Vec<Value>)>);

/// Limits on the operations of all walks together, counted for each vector, and on segments.
const MOST_OPS: usize = 1 << 21;
const MOST_SEGMENTS: usize = 128;

/// All paths of a group.
pub struct Paths {
    pub graph: Graph,
    pub segments: Vec<Segment>,
    /// `true` if an item may read shared memory that no item has written.
    pub reads_zeros: bool,
}

/// State of the walk.
pub struct Walk<'a> {
    pub source: &'a Source<'a>,
    pub graph: Graph,
    pub segments: Vec<Segment>,
    /// Items of the group.
    pub items: Mask,
    loops: &'a mut Loops,
    /// Number of operations that the walk may still follow.
    left: &'a mut usize,
    /// `true` if an item may read shared memory that no item has written.
    pub reads_zeros: bool,
    /// Set while a block is followed if the code gives the group up in this block.
    pub gives_up: bool,
}

/// Follows all paths of a group. Returns `None` if no code can be emitted.
pub fn walk(source: &Source<'_>, start: impl Fn() -> Start) -> Option<Paths> {
    /// Maximum number of walks.
    const MOST: u32 = 32;
    let (mut loops, mut left) = (Loops::new(), MOST_OPS);
    for _ in 0..MOST {
        let items = (0..source.items.div_ceil(LANES as u32)).map(|vector| {
            let left = source.items - vector * LANES as u32;
            u16::MAX >> (LANES as u32 - left.min(LANES as u32))
        });
        let (graph, special) = start();
        let mut walk = Walk {
            source,
            graph,
            segments: Vec::new(),
            items: items.collect(),
            loops: &mut loops,
            left: &mut left,
            reads_zeros: false,
            gives_up: false,
        };
        match walk.all(&special) {
            Ok(()) => {
                let Walk { graph, segments, reads_zeros, .. } = walk;
                return Some(Paths { graph, segments, reads_zeros });
            }
            Err(Stop::Again) => {}
            Err(Stop::Refused) => return None,
        }
    }
    None
}

fn is_empty(mask: &Mask) -> bool {
    mask.iter().all(|&lanes| lanes == 0)
}

fn count(mask: &Mask) -> u64 {
    mask.iter().map(|lanes| u64::from(lanes.count_ones())).sum()
}

impl Walk<'_> {
    fn all(&mut self, special: &[(Cell, Vec<Value>)]) -> Result<(), Stop> {
        let vectors = self.items.len();
        let mut cells = vec![vec![Value::Known(ZEROS); vectors]; self.source.cells];
        for (cell, values) in special {
            cells[cell.index()].clone_from(values);
        }
        let segment = self.segment(None)?;
        let first = State {
            segment,
            cells,
            at: [(BlockId(0), self.items.clone())].into(),
            ended: self.items.iter().map(|_| 0).collect(),
            shared: KnownMemory::default(),
            private: vec![KnownMemory::default(); vectors],
            open: Vec::new(),
            loaded: FxHashSet::default(),
            branches: 0,
            last: BTreeMap::new(),
        };
        let mut left = vec![first];
        while let Some(state) = left.pop() {
            self.path(state, &mut left)?;
        }
        Ok(())
    }

    fn segment(&mut self, parent: Option<usize>) -> Result<usize, Stop> {
        if self.segments.len() == MOST_SEGMENTS {
            return Err(Stop::Refused);
        }
        let (sinks, end) = (Vec::new(), End::Done);
        self.segments.push(Segment { parent, sinks, end, issued: 0, backward: 0, most_backward: 0 });
        Ok(self.segments.len() - 1)
    }

    /// Appends an operation to a segment.
    pub fn sink(&mut self, segment: usize, sink: Sink) {
        self.segments[segment].sinks.push(sink);
    }

    /// Follows a path to its end or to an unknown branch.
    fn path(&mut self, mut state: State, left: &mut Vec<State>) -> Result<(), Stop> {
        loop {
            if self.graph.is_full() {
                return Err(Stop::Refused);
            }
            let Some(id) = self.next(&state)? else {
                self.segments[state.segment].end = End::Done;
                return Ok(());
            };
            let Some(mask) = state.at.remove(&id) else { return Err(Stop::Refused) };
            let are_together = state.at.is_empty();
            if are_together {
                let before = state.last.insert(id, state.branches);
                if before.is_some_and(|before| before != state.branches) && !self.loops.contains_key(&id) {
                    self.loops.insert(id, BTreeMap::new());
                    return Err(Stop::Again);
                }
                if self.loops.contains_key(&id) && self.goes_round(&mut state, id)? {
                    return Ok(());
                }
            }
            let block = self.source.blocks[id.index()];
            if let Next::Meet { then } = block.next {
                let place = self.source.meetings.get(&id);
                let Some(place) = place.filter(|_| are_together && is_empty(&state.ended)) else {
                    return Err(Stop::Refused);
                };
                self.meet(&mut state, place).ok_or(Stop::Refused)?;
                self.segments[state.segment].issued += count(&mask);
                if !self.go(&mut state, then, &mask) {
                    return Ok(());
                }
                continue;
            }
            if !self.block(&mut state, id, &mask, left)? {
                return Ok(());
            }
        }
    }

    /// Returns the next block to follow: the block with the lowest address whose items do not wait. Items wait at a
    /// collective operation until all items are there.
    fn next(&self, state: &State) -> Result<Option<BlockId>, Stop> {
        let waits = |id: &&BlockId| matches!(self.source.blocks[id.index()].next, Next::Meet { .. });
        match state.at.keys().find(|id| !waits(id)) {
            Some(&id) => Ok(Some(id)),
            None if state.at.len() > 1 => Err(Stop::Refused),
            None => Ok(state.at.keys().next().copied()),
        }
    }

    /// Enters a loop header of the code. Returns `true` if the path ends here because the loop is closed.
    fn goes_round(&mut self, state: &mut State, id: BlockId) -> Result<bool, Stop> {
        let live: Vec<Cell> = self.source.flow.live.iter(id).collect();
        let mut changes = self.loops.get(&id).cloned().unwrap_or_default();
        let mut is_known = true;
        let mut raise = |cell: Cell, to: Change| {
            let change = changes.entry(cell).or_default();
            *change = to.max(*change);
            is_known = false;
        };
        let mut sinks = Vec::new();
        let round = state.open.iter().find(|open| open.block == id).cloned();
        let mut starts = Vec::new();
        match &round {
            Some(open) => {
                for (cell, change, starts) in &open.cells {
                    let now = state.cells[cell.index()].clone();
                    for (vector, (&start, &now)) in starts.iter().zip(&now).enumerate() {
                        let row = self.row(start).filter(|_| *change != Change::No);
                        match self.carried(start, row, now, self.items[vector]) {
                            Ok(None) => {}
                            Ok(Some((row, value))) => sinks.push(Sink::Carry { row, value }),
                            Err(change) => raise(*cell, change),
                        }
                    }
                }
            }
            None => {
                for cell in live {
                    let change = self.loops[&id].get(&cell).copied().unwrap_or_default();
                    let now = state.cells[cell.index()].clone();
                    let mut values = Vec::with_capacity(now.len());
                    for value in now {
                        let (start, first) = match (change, self.graph.sum(value)) {
                            (Change::No, _) => {
                                values.push(value);
                                continue;
                            }
                            (Change::Same, Some((node, known))) => {
                                let first = node.map_or(Value::Known(ZEROS), |node| Value::Offset(node, ZEROS));
                                let first = self.graph.node(first);
                                let row = self.graph.carry(first, true);
                                ((row, Value::Offset(row, known)), first)
                            }
                            _ => {
                                let first = self.graph.node(value);
                                let row = self.graph.carry(first, false);
                                ((row, Value::Any(row)), first)
                            }
                        };
                        sinks.push(Sink::Carry { row: start.0, value: first });
                        values.push(start.1);
                    }
                    starts.push((cell, change, values));
                }
            }
        }
        if !is_known {
            self.loops.insert(id, changes);
            return Err(Stop::Again);
        }
        self.segments[state.segment].sinks.extend(sinks);
        if let Some(open) = round {
            self.segments[state.segment].end = End::Go(open.segment);
            return Ok(true);
        }
        let segment = self.segment(Some(state.segment))?;
        self.segments[state.segment].end = End::Go(segment);
        state.segment = segment;
        for (cell, _, values) in &starts {
            state.cells[cell.index()].clone_from(values);
        }
        state.shared.forget();
        state.private.iter_mut().for_each(KnownMemory::forget);
        state.open.push(Open { block: id, segment, cells: starts });
        Ok(false)
    }

    /// Returns the loop-carried vector of a value.
    fn row(&self, value: Value) -> Option<Node> {
        match value {
            Value::Any(node) | Value::Offset(node, _) => Some(node),
            Value::Known(_) => None,
        }
    }

    /// Returns the loop-carried vector and its value for the next iteration, or `None` if the value is unchanged. Fails
    /// with the actual kind of change if the loop was entered with another kind.
    fn carried(
        &mut self,
        start: Value,
        row: Option<Node>,
        now: Value,
        items: u16,
    ) -> Result<Option<(Node, Node)>, Change> {
        if start == now {
            return Ok(None);
        }
        let is_any = row.is_some_and(|row| !self.graph.step(row).is_same);
        if let (Some(row), true) = (row, is_any) {
            let value = self.graph.node(now);
            return Ok(Some((row, value)));
        }
        let (Some((_, before)), Some((node, after))) = (self.graph.sum(start), self.graph.sum(now)) else {
            return Err(Change::Any);
        };
        let (before, after) = (self.graph.known(before), self.graph.known(after));
        let mut by =
            (0..LANES).filter(|lane| items >> lane & 1 != 0).map(|lane| after[lane].wrapping_sub(before[lane]));
        let first = by.next().unwrap_or(0);
        if by.any(|other| other != first) {
            return Err(Change::Any);
        }
        let Some(row) = row else { return Err(Change::Same) };
        let by = Value::Known(self.graph.same(first));
        let value = match node {
            Some(node) => self.graph.compute(Op::Add, &[Value::Offset(node, ZEROS), by]).ok_or(Change::Any)?,
            None => by,
        };
        let value = self.graph.node(value);
        Ok((value != row).then_some((row, value)))
    }

    /// Moves items to a target. Returns `true` if the path continues.
    fn go(&mut self, state: &mut State, target: Target, mask: &Mask) -> bool {
        if is_empty(mask) {
            return true;
        }
        let segment = &mut self.segments[state.segment];
        let Target::Block { id, backward } = target else {
            segment.end = End::GiveUp;
            return false;
        };
        if backward {
            segment.backward += count(mask);
            segment.most_backward += 1;
        }
        let at = state.at.entry(id).or_insert_with(|| mask.iter().map(|_| 0).collect());
        at.iter_mut().zip(mask).for_each(|(at, lanes)| *at |= lanes);
        true
    }

    fn end(&mut self, state: &mut State, mask: &Mask) -> bool {
        state.ended.iter_mut().zip(mask).for_each(|(ended, lanes)| *ended |= lanes);
        true
    }

    /// Follows a block for the items of a mask. Returns `true` if the path continues.
    fn block(&mut self, state: &mut State, id: BlockId, mask: &Mask, left: &mut Vec<State>) -> Result<bool, Stop> {
        let (block, unit) = (self.source.blocks[id.index()], &self.source.units[id.index()]);
        let live: Vec<bool> = {
            let flow = &self.source.flow.live;
            let is_live = |cell: Cell| block.successors().any(|next| flow.has(next, cell));
            unit.finals.iter().map(|&(cell, _)| is_live(cell)).collect()
        };
        self.gives_up = unit.dead;
        let ops = mask.len() * (1 + unit.dataflow.nodes.len());
        *self.left = self.left.checked_sub(ops).ok_or(Stop::Refused)?;
        let mut holds: Vec<(Value, u16)> = Vec::with_capacity(mask.len());
        for (vector, &lanes) in mask.iter().enumerate() {
            if lanes == 0 {
                holds.push((Value::Known(ZEROS), 0));
                continue;
            }
            let values = self.vector(state, unit, vector, lanes).ok_or(Stop::Refused)?;
            let value = |id: Id| values.get(id.index()).copied().unwrap_or(Value::Known(ZEROS));
            let alive = self.items[vector] & !state.ended[vector];
            for (&(cell, id), _) in unit.finals.iter().zip(&live).filter(|(_, live)| **live) {
                let place = &mut state.cells[cell.index()][vector];
                *place = if lanes == alive { value(id) } else { self.graph.blend(lanes, value(id), *place) };
            }
            let always = Value::Known(super::graph::ONES);
            holds.push((unit.condition.map_or(always, value), lanes));
        }
        self.segments[state.segment].issued += u64::from(block.end - block.start) * count(mask);
        if self.gives_up {
            self.segments[state.segment].end = End::GiveUp;
            return Ok(false);
        }
        let (taken, fall) = match block.next {
            Next::To(target) => return Ok(self.go(state, target, mask)),
            Next::Exit => return Ok(self.end(state, mask)),
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            Next::Meet { .. } | Next::Undefined(_) => {
                self.segments[state.segment].end = End::GiveUp;
                return Ok(false);
            }
        };
        let known = |&(value, lanes): &(Value, u16)| match value {
            Value::Known(known) => {
                let words = self.graph.known(known);
                Some((0..).zip(words).fold(0, |mask, (lane, word)| mask | u16::from(word != 0) << lane) & lanes)
            }
            _ => None,
        };
        let known: Option<Mask> = holds.iter().map(known).collect();
        if let Some(who) = known {
            let others = mask.iter().zip(&who).map(|(lanes, who)| lanes & !who).collect();
            let on = match taken {
                Some(taken) => self.go(state, taken, &who),
                None => self.end(state, &who),
            };
            return Ok(on && self.go(state, fall, &others));
        }
        if !state.at.is_empty() {
            return Err(Stop::Refused);
        }
        let mut all: Vec<(Node, u16)> = Vec::new();
        for (value, lanes) in holds.into_iter().filter(|(_, lanes)| *lanes != 0) {
            let node = self.graph.node(value);
            if !all.contains(&(node, lanes)) {
                all.push((node, lanes));
            }
        }
        let from = state.segment;
        let (first, second) = (self.segment(Some(from))?, self.segment(Some(from))?);
        self.segments[from].end = End::Branch { holds: all, taken: first, fall: second };
        state.branches += 1;
        let mut other = state.clone();
        (state.segment, other.segment) = (second, first);
        let goes_on = match taken {
            Some(taken) => self.go(&mut other, taken, mask),
            None => self.end(&mut other, mask),
        };
        if goes_on {
            left.push(other);
        }
        if self.go(state, fall, mask) {
            left.push(state.clone());
        }
        Ok(false)
    }

    /// Evaluates the operations of a block for the active items of a vector.
    fn vector(&mut self, state: &mut State, unit: &Unit, vector: usize, lanes: u16) -> Option<Vec<Value>> {
        let dataflow = &unit.dataflow;
        let mut values: Vec<Value> = Vec::with_capacity(dataflow.nodes.len());
        let mut loaded: Vec<SmallVec<[Value; 4]>> = vec![SmallVec::new(); dataflow.accesses.len()];
        for node in &dataflow.nodes {
            let value = match node.op {
                Op::Input(cell) => state.cells[cell.index()][vector],
                Op::Bank { offset, width, signed } => match self.source.known.iter().find(|known| known.0 == offset) {
                    Some(&(_, word)) if width == Width::B32 => Value::Known(self.graph.same(word)),
                    _ => self.graph.bank(offset, width, signed),
                },
                Op::Loaded(number, k) => {
                    let words = loaded.get(number as usize);
                    words.and_then(|words| words.get(usize::from(k))).copied().unwrap_or(Value::Known(ZEROS))
                }
                Op::Access(number) => {
                    let place = loaded.get_mut(number as usize)?;
                    *place = self.access(state, dataflow, number, &values, (vector, lanes))?;
                    Value::Known(ZEROS)
                }
                op => {
                    let args: SmallVec<[Value; 6]> =
                        node.args.iter().take(op.arity()).map(|id| values[id.index()]).collect();
                    self.graph.compute(op, &args)?
                }
            };
            values.push(value);
        }
        Some(values)
    }

    /// Executes an access for the active items of a vector. Returns the loaded words, or `None` if no code can be
    /// emitted.
    fn access(
        &mut self,
        state: &mut State,
        dataflow: &Dataflow,
        number: u32,
        values: &[Value],
        (vector, mut lanes): (usize, u16),
    ) -> Option<SmallVec<[Value; 4]>> {
        let access = dataflow.accesses.get(number as usize)?;
        let value = |id: Id| values.get(id.index()).copied().unwrap_or(Value::Known(ZEROS));
        match access.guard.map(value) {
            None => {}
            Some(Value::Known(known)) => {
                let words = self.graph.known(known);
                lanes &= (0..).zip(words).fold(0, |mask, (lane, word)| mask | u16::from(word != 0) << lane);
            }
            Some(holds) => {
                let holds = self.graph.node(holds);
                self.sink(state.segment, Sink::Check { holds, mask: lanes });
            }
        }
        let is_none = lanes == 0;
        match &access.action {
            Action::Fence => Some(SmallVec::new()),
            Action::Fault(_) => {
                self.gives_up |= !is_none;
                Some(SmallVec::new())
            }
            Action::Atomic { .. } => None,
            _ if access.yields => None,
            Action::Load { .. } | Action::Store { .. } if is_none => Some(SmallVec::new()),
            Action::Load { place, width, signed } => {
                let now = Now {
                    segment: state.segment,
                    shared: &mut state.shared,
                    private: state.private.get_mut(vector)?,
                    loaded: &mut state.loaded,
                };
                self.load(now, At::of(place, value)?, (*width, *signed), lanes)
            }
            Action::Store { place, width, data } => {
                let data: SmallVec<[Value; 4]> = data.iter().map(|&id| value(id)).collect();
                let now = Now {
                    segment: state.segment,
                    shared: &mut state.shared,
                    private: state.private.get_mut(vector)?,
                    loaded: &mut state.loaded,
                };
                self.store(now, At::of(place, value)?, *width, &data, lanes)?;
                Some(SmallVec::new())
            }
        }
    }
}

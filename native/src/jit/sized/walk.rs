//! A group's path through a kernel, followed while code is made: which items are where is known, as the size of the group is.
//!
//! Items that diverge take turns as on the machine, block by block from the lowest address on; what each does is a vector's lanes of which
//! the others keep what they have. A branch that is not known is one of the code where all items are together: they take it together, or
//! the group is given up. A loop whose end is not known is a loop of the code; every other one is unrolled.

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

/// What is done in order.
#[derive(Clone, Debug)]
pub enum Sink {
    /// The group is given up unless lanes hold, of those in the mask.
    Check {
        holds: Node,
        mask: u16,
    },
    Store {
        place: Place,
        at: Where,
        data: Node,
    },
    /// The memory of the group is read, which may be asked for nothing but its bounds.
    Read(Node),
    /// Memory is read, at any time before the segment ends.
    Load(Node),
    /// A row becomes what a loop goes on with.
    Carry {
        row: Node,
        value: Node,
    },
}

/// How a segment ends.
#[derive(Clone, Debug)]
pub enum End {
    /// The group is done.
    Done,
    /// It is given up: another engine runs it, from its start.
    GiveUp,
    Go(usize),
    /// All take one side, by lanes of vectors that hold, or that do not, of those in the masks.
    Branch {
        holds: Vec<(Node, u16)>,
        taken: usize,
        fall: usize,
    },
}

/// Code without labels.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The segment that this one is first reached from.
    pub parent: Option<usize>,
    pub sinks: Vec<Sink>,
    pub end: End,
    /// Words executed by all items, and backward branches that they take.
    pub issued: u64,
    pub backward: u64,
    /// Backward branches of the item that takes most, or more.
    pub most_backward: u64,
}

/// Items, by vector.
pub type Mask = SmallVec<[u16; 16]>;

/// Whether what a cell holds changes in a loop of the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Change {
    #[default]
    No,
    /// By the same for all.
    Same,
    Any,
}

/// Why the path is not followed to its end.
pub enum Stop {
    /// It is to be followed again, with what is known now of loops.
    Again,
    /// There is no such code.
    Refused,
}

/// The loops of the code by their first block: how cells change there.
type Loops = BTreeMap<BlockId, BTreeMap<Cell, Change>>;

/// A loop that is open.
#[derive(Clone)]
struct Open {
    block: BlockId,
    segment: usize,
    /// What cells hold at its start, by vector: rows of its own where they change.
    cells: Vec<(Cell, Change, Vec<Value>)>,
}

/// Where items are, and what they have.
#[derive(Clone)]
pub struct State {
    segment: usize,
    /// By cell, by vector.
    pub cells: Vec<Vec<Value>>,
    at: BTreeMap<BlockId, Mask>,
    ended: Mask,
    shared: KnownMemory,
    /// By vector.
    private: Vec<KnownMemory>,
    open: Vec<Open>,
    /// What has been read.
    loaded: FxHashSet<Node>,
    /// Branches that were not known, so far, and when blocks were last at.
    branches: u32,
    last: BTreeMap<BlockId, u32>,
}

/// A kernel, as it is followed.
pub struct Source<'a> {
    pub blocks: &'a [Block],
    pub units: &'a [Unit],
    pub flow: &'a Flow,
    pub meetings: &'a BTreeMap<BlockId, meet::Place>,
    /// Words of constant bank 0 that are known, by their offsets.
    pub known: &'a [(u32, u32)],
    pub shared_bytes: u32,
    /// Bytes that each item declares of its own, and the address of the first.
    pub private_bytes: u32,
    pub private_start: i64,
    /// Of a group.
    pub items: u32,
    pub cells: usize,
}

/// A graph at the start, and what cells hold there, by vector; those that are not here hold zero.
pub type Start = (Graph, Vec<(Cell, Vec<Value>)>);

/// Operations that are looked at, of all vectors and as often as a kernel is followed, and segments.
const MOST_OPS: usize = 1 << 21;
const MOST_SEGMENTS: usize = 128;

/// All that a group may do.
pub struct Paths {
    pub graph: Graph,
    pub segments: Vec<Segment>,
    /// Whether memory of the group may be read that no item has stored to.
    pub reads_zeros: bool,
}

/// A path, followed.
pub struct Walk<'a> {
    pub source: &'a Source<'a>,
    pub graph: Graph,
    pub segments: Vec<Segment>,
    /// The items of the group.
    pub items: Mask,
    loops: &'a mut Loops,
    /// Operations that may yet be looked at.
    left: &'a mut usize,
    /// Whether memory of the group may be read that no item has stored to.
    pub reads_zeros: bool,
    /// Found while a block is followed: the group is given up there.
    pub gives_up: bool,
}

/// Follows all paths of a group.
pub fn walk(source: &Source<'_>, start: impl Fn() -> Start) -> Option<Paths> {
    /// Times that it is tried.
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

    /// Adds to a segment what is done next.
    pub fn sink(&mut self, segment: usize, sink: Sink) {
        self.segments[segment].sinks.push(sink);
    }

    /// Follows a path to its end, or to a branch that is not known.
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

    /// The block that is followed next: the lowest, but where items wait for others.
    fn next(&self, state: &State) -> Result<Option<BlockId>, Stop> {
        let waits = |id: &&BlockId| matches!(self.source.blocks[id.index()].next, Next::Meet { .. });
        match state.at.keys().find(|id| !waits(id)) {
            Some(&id) => Ok(Some(id)),
            None if state.at.len() > 1 => Err(Stop::Refused),
            None => Ok(state.at.keys().next().copied()),
        }
    }

    /// Comes to the first block of a loop of the code; whether the loop goes round.
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

    /// The row of a loop that a value is of.
    fn row(&self, value: Value) -> Option<Node> {
        match value {
            Value::Any(node) | Value::Offset(node, _) => Some(node),
            Value::Known(_) => None,
        }
    }

    /// What a row becomes for a loop to go round, in which a value is what it was at the start; how it changes, where that is in another way.
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

    /// Items go on at a target; whether there is more to follow.
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

    /// Follows a block for some items; whether there is more to follow on this path.
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

    /// What the operations of a block are for some items of a vector.
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

    /// Makes an access for some items of a vector; what it loads, and none where there is no code for it.
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

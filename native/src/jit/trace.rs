//! What cells hold on the way through a block.

use std::mem::take;

use halfbyte_isa::halu::domain::Domain;

use super::cells::{Cell, Cells, Name, State};
use super::dataflow::{Dataflow, Id, Op, Shape};
use super::graph::{Block, Next};
use super::split::{is_known_before, is_told_by_ends};
use super::unit::{Items, Unit};

/// Adds the instructions of a block to its dataflow, one after another.
pub(crate) trait Build<'a, I: 'a>: Sized {
    /// Where an instruction acts; none where it always does.
    fn guard(&mut self, dataflow: &mut Dataflow, inst: &I) -> Option<Id>;

    /// Adds an instruction that acts where `holds`; whether any item gets past it.
    fn step(&mut self, dataflow: &mut Dataflow, address: u32, inst: &I, holds: Option<Id>) -> bool;

    /// Adds one for which items meet; `guarded` says whether some may not act.
    fn meet(&mut self, dataflow: &mut Dataflow, inst: &I, guarded: bool);

    /// The state of the cells.
    fn trace(&mut self) -> &mut Trace<'a>;

    /// The same, at the end of the block.
    fn into_trace(self) -> Trace<'a>;

    /// The dataflow of a block of these instructions, each with its number.
    fn build<'i>(mut self, mut dataflow: Dataflow, block: &Block, insts: impl Iterator<Item = (u32, &'i I)>) -> Unit
    where
        I: 'i,
    {
        let (mut condition, mut dead) = (None, false);
        for (address, inst) in insts {
            let holds = self.guard(&mut dataflow, inst);
            if address == block.last() && matches!(block.next, Next::Branch { .. } | Next::ExitIf { .. }) {
                condition = holds;
                break;
            }
            if let Next::Meet { .. } = block.next {
                self.meet(&mut dataflow, inst, holds.is_some());
                break;
            }
            if holds.is_some_and(|holds| dataflow.constant(holds) == Some(0)) {
                continue;
            }
            let is_open = |&holds: &Id| dataflow.constant(holds).is_none() && !self.trace().assumes(&dataflow, holds);
            let holds = holds.filter(is_open);
            if !self.step(&mut dataflow, address, inst, holds) {
                dead = true;
                break;
            }
        }
        self.into_trace().finish(dataflow, condition, dead)
    }
}

/// The state of the cells after some of a block's instructions.
pub(crate) struct Trace<'a> {
    cells: &'a mut Cells,
    items: Items<'a>,
    /// The items that are at the block, where those are not all.
    mask: Option<Id>,
    /// By cell.
    states: Vec<State>,
    /// Those that were read or written.
    met: Vec<Cell>,
    /// Guards that are to hold for all items.
    assumed: Vec<Id>,
}

impl<'a> Trace<'a> {
    /// The state before the first instruction.
    pub fn new(dataflow: &mut Dataflow, cells: &'a mut Cells, items: Items<'a>) -> Trace<'a> {
        let mask = match items {
            Items::Start(_) | Items::All(_) | Items::Run(_) => None,
            Items::Masked(_) => Some(dataflow.push(Op::Mask, &[], Shape::Varying)),
        };
        let states = take(&mut cells.spare);
        Trace { cells, items, mask, states, met: Vec::new(), assumed: Vec::new() }
    }

    fn state(&mut self, cell: Cell) -> &mut State {
        if self.states.len() <= cell.index() {
            self.states.resize(self.cells.len().max(cell.index() + 1), State::default());
        }
        let state = &mut self.states[cell.index()];
        if state.now.is_none() {
            self.met.push(cell);
        }
        state
    }

    /// Whether instructions act as if a guard held for all items.
    fn assumes(&mut self, dataflow: &Dataflow, guard: Id) -> bool {
        // It is asked at the start of the block.
        let is_assumed =
            matches!(self.items, Items::Run(_)) && is_told_by_ends(dataflow, guard) && is_known_before(dataflow, guard);
        if is_assumed && !self.assumed.contains(&guard) {
            self.assumed.push(guard);
        }
        is_assumed
    }

    /// The items for which an instruction acts that does where `holds`; none where all of the row do.
    pub fn acting(&self, dataflow: &mut Dataflow, holds: Option<Id>) -> Option<Id> {
        match (self.mask, holds) {
            (Some(mask), Some(holds)) => Some(dataflow.both(mask, holds)),
            (one, other) => one.or(other),
        }
    }

    /// What a cell holds.
    pub fn read(&mut self, dataflow: &mut Dataflow, name: Name) -> Id {
        let cell = self.cells.get(name);
        if let Some(value) = self.states.get(cell.index()).and_then(|state| state.now) {
            return value;
        }
        let shape = match (self.items, name) {
            (Items::Start(layout), Name::Special(register)) => layout.shape(register),
            (Items::Start(_), _) => Shape::Uniform,
            (Items::All(shapes) | Items::Run(shapes) | Items::Masked(shapes), _) => {
                shapes.get(cell.index()).copied().unwrap_or(Shape::Varying)
            }
        };
        let value = dataflow.push(Op::Input(cell), &[], shape);
        let state = self.state(cell);
        (state.now, state.input) = (Some(value), Some(value));
        value
    }

    /// A cell becomes a value where `holds`.
    pub fn write(&mut self, dataflow: &mut Dataflow, name: Name, value: Id, holds: Option<Id>) {
        let value = match holds {
            None => value,
            Some(holds) => {
                let old = self.read(dataflow, name);
                if name.is_truth() { dataflow.choose(holds, value, old) } else { dataflow.select(holds, value, old) }
            }
        };
        let cell = self.cells.get(name);
        self.state(cell).write(value, holds.is_none());
    }

    /// A cell is given something by who runs the block: it will be in its row.
    pub fn given(&mut self, dataflow: &mut Dataflow, name: Name, guarded: bool) {
        let cell = self.cells.get(name);
        if guarded {
            self.read(dataflow, name);
        }
        let value = dataflow.push(Op::Input(cell), &[], Shape::Varying);
        self.state(cell).write(value, !guarded);
    }

    /// The block, at whose end there may be a branch or exit with a guard. `dead` says that nobody gets there.
    pub fn finish(self, mut dataflow: Dataflow, condition: Option<Id>, dead: bool) -> Unit {
        let Trace { cells, mask, mut states, mut met, assumed, .. } = self;
        met.sort_unstable();
        let (mut finals, mut reads, mut kills) = (Vec::new(), Vec::new(), Vec::new());
        // Under a mask nothing but what is always written is kept from before, and reads are not asked for.
        for cell in met {
            let State { now, input, written } = take(&mut states[cell.index()]);
            reads.extend(input.map(|_| cell));
            kills.extend(written.filter(|&always| always).map(|_| cell));
            let (Some(mut value), Some(_)) = (now, written) else { continue };
            if let Some(mask) = mask {
                let old = input.unwrap_or_else(|| dataflow.push(Op::Input(cell), &[], Shape::Varying));
                value = match cells.is_pred(cell) {
                    true => dataflow.choose(mask, value, old),
                    false => dataflow.select(mask, value, old),
                };
            }
            finals.push((cell, value));
        }
        cells.spare = states;
        Unit { dataflow, finals, reads, kills, condition, assumed, dead }
    }
}

impl State {
    fn write(&mut self, value: Id, always: bool) {
        self.now = Some(value);
        self.written = Some(always || self.written == Some(true));
    }
}

//! Values of cells during the construction of a block.

use std::mem::take;

use halfbyte_isa::halu::domain::Domain;

use super::cells::{Cell, Cells, Name, State};
use super::dataflow::{Dataflow, Id, Op, Shape};
use super::graph::{Block, Next};
use super::split::{is_known_before, is_told_by_ends};
use super::unit::{Items, Unit};

/// Builder that adds the instructions of a block to its dataflow, in order.
pub(crate) trait Build<'a, I: 'a>: Sized {
    /// Returns the guard of an instruction, or `None` if the instruction is unconditional.
    fn guard(&mut self, dataflow: &mut Dataflow, inst: &I) -> Option<Id>;

    /// Adds an instruction that applies where `holds`. Returns `true` if any item continues after the instruction.
    fn step(&mut self, dataflow: &mut Dataflow, address: u32, inst: &I, holds: Option<Id>) -> bool;

    /// Adds a collective operation. `guarded` is `true` if some items may not take part.
    fn meet(&mut self, dataflow: &mut Dataflow, inst: &I, guarded: bool);

    /// Returns the state of the cells.
    fn trace(&mut self) -> &mut Trace<'a>;

    /// Returns the state of the cells at the end of the block.
    fn into_trace(self) -> Trace<'a>;

    /// Builds the dataflow of a block from its instructions. Each instruction comes with its number.
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

/// State of the cells after some instructions of a block.
pub(crate) struct Trace<'a> {
    cells: &'a mut Cells,
    items: Items<'a>,
    /// Items that are at the block, if this is not all items.
    mask: Option<Id>,
    /// States, indexed by cell.
    states: Vec<State>,
    /// Cells that were read or written.
    met: Vec<Cell>,
    /// Guards that must hold for all items.
    assumed: Vec<Id>,
}

impl<'a> Trace<'a> {
    /// Creates the state before the first instruction.
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

    /// Returns `true` if instructions act as if a guard held for all items.
    fn assumes(&mut self, dataflow: &Dataflow, guard: Id) -> bool {
        // The guard is tested at the start of the block.
        let is_assumed =
            matches!(self.items, Items::Run(_)) && is_told_by_ends(dataflow, guard) && is_known_before(dataflow, guard);
        if is_assumed && !self.assumed.contains(&guard) {
            self.assumed.push(guard);
        }
        is_assumed
    }

    /// Returns the items for which an instruction with the guard `holds` applies, or `None` for all items of the row.
    pub fn acting(&self, dataflow: &mut Dataflow, holds: Option<Id>) -> Option<Id> {
        match (self.mask, holds) {
            (Some(mask), Some(holds)) => Some(dataflow.both(mask, holds)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the value of a cell.
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

    /// Assigns a value to a cell where `holds`.
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

    /// Marks a cell as written by the runner of the block. The value will be in the row of the cell.
    pub fn given(&mut self, dataflow: &mut Dataflow, name: Name, guarded: bool) {
        let cell = self.cells.get(name);
        if guarded {
            self.read(dataflow, name);
        }
        let value = dataflow.push(Op::Input(cell), &[], Shape::Varying);
        self.state(cell).write(value, !guarded);
    }

    /// Completes the block, whose branch or exit has the guard `condition`. `dead` is `true` if no item reaches the end
    /// of the block.
    pub fn finish(self, mut dataflow: Dataflow, condition: Option<Id>, dead: bool) -> Unit {
        let Trace { cells, mask, mut states, mut met, assumed, .. } = self;
        met.sort_unstable();
        let (mut finals, mut reads, mut kills) = (Vec::new(), Vec::new(), Vec::new());
        // Under a mask, only a cell that is always written still needs its old value. Masked units do not use `reads`.
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

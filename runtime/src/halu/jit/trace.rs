//! What cells hold on the way through a block.

use std::collections::BTreeMap;

use halfbyte_isa::halu::domain::Domain;

use super::cells::{Cell, Cells, Name};
use super::dataflow::{Dataflow, Id, Op, Shape};
use super::graph::{Block, Next};
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
            let holds = holds.filter(|&holds| dataflow.constant(holds).is_none());
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
    /// What cells hold, once read or written.
    now: BTreeMap<Cell, Id>,
    /// What those that were read held before.
    inputs: BTreeMap<Cell, Id>,
    /// Those that were written, and whether always.
    written: BTreeMap<Cell, bool>,
}

impl<'a> Trace<'a> {
    /// The state before the first instruction.
    pub fn new(dataflow: &mut Dataflow, cells: &'a mut Cells, items: Items<'a>) -> Trace<'a> {
        let mask = match items {
            Items::All(_) => None,
            Items::Masked(_) => Some(dataflow.push(Op::Mask, &[], Shape::Varying)),
        };
        Trace { cells, items, mask, now: BTreeMap::new(), inputs: BTreeMap::new(), written: BTreeMap::new() }
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
        if let Some(&value) = self.now.get(&cell) {
            return value;
        }
        let (Items::All(shapes) | Items::Masked(shapes)) = self.items;
        let shape = shapes.get(cell.index()).copied().unwrap_or(Shape::Varying);
        let value = dataflow.push(Op::Input(cell), &[], shape);
        self.now.insert(cell, value);
        self.inputs.insert(cell, value);
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
        self.now.insert(cell, value);
        *self.written.entry(cell).or_default() |= holds.is_none();
    }

    /// A cell is given something by who runs the block: it will be in its row.
    pub fn given(&mut self, dataflow: &mut Dataflow, name: Name, guarded: bool) {
        let cell = self.cells.get(name);
        if guarded {
            self.read(dataflow, name);
        }
        let value = dataflow.push(Op::Input(cell), &[], Shape::Varying);
        self.now.insert(cell, value);
        *self.written.entry(cell).or_default() |= !guarded;
    }

    /// The block, at whose end there may be a branch or exit with a guard. `dead` says that nobody gets there.
    pub fn finish(self, mut dataflow: Dataflow, condition: Option<Id>, dead: bool) -> Unit {
        let Trace { cells, mask, now, inputs, written, .. } = self;
        let mut finals: BTreeMap<Cell, Id> = written.keys().filter_map(|cell| Some((*cell, *now.get(cell)?))).collect();
        // Under a mask nothing but what is always written is kept from before, and reads are not asked for.
        let reads = inputs.keys().copied().collect();
        let kills = written.iter().filter(|(_, all)| **all).map(|(cell, _)| *cell).collect();
        if let Some(mask) = mask {
            for (&cell, value) in &mut finals {
                let old = match inputs.get(&cell) {
                    Some(&old) => old,
                    None => dataflow.push(Op::Input(cell), &[], Shape::Varying),
                };
                *value = if cells.is_pred(cell) {
                    dataflow.choose(mask, *value, old)
                } else {
                    dataflow.select(mask, *value, old)
                };
            }
        }
        Unit { dataflow, finals, reads, kills, condition, dead }
    }
}

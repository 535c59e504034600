//! What an item has of its own: registers, predicates and words of local memory, numbered in the order they are met.

use halfbyte_isa::halu::domain::SpecialReg;
use rustc_hash::FxHashMap;

use super::dataflow::Id;

/// A cell by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Cell(pub u32);

impl Cell {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A cell by what it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Name {
    Gpr(u8),
    Ur(u8),
    Pred(u8),
    /// A word of local memory: its address over 4.
    Local(u32),
    /// A word of a virtual register: of its number, the low one or the high one.
    Virtual(u32, u8),
    /// A virtual register that is a predicate.
    Truth(u32),
    /// What the item cannot change.
    Special(SpecialReg),
}

impl Name {
    /// Whether what it holds is a truth value.
    pub fn is_truth(self) -> bool {
        matches!(self, Name::Pred(_) | Name::Truth(_))
    }
}

/// The cells that a kernel names.
#[derive(Clone, Default)]
pub(crate) struct Cells {
    numbers: FxHashMap<Name, Cell>,
    preds: Vec<bool>,
    /// Room for what traces know of each cell, one after another.
    pub spare: Vec<State>,
}

/// What the trace of a block knows of a cell.
#[derive(Clone, Copy, Default)]
pub(crate) struct State {
    /// What it holds, once read or written.
    pub now: Option<Id>,
    /// What it held before, where it was read.
    pub input: Option<Id>,
    /// Whether it was always written, if it was written.
    pub written: Option<bool>,
}

impl Cells {
    /// The cell of a name, a new one where it is met first.
    pub fn get(&mut self, name: Name) -> Cell {
        if let Some(&cell) = self.numbers.get(&name) {
            return cell;
        }
        let cell = self.add(name.is_truth());
        self.numbers.insert(name, cell);
        cell
    }

    /// The cell of a name that was met.
    pub fn find(&self, name: Name) -> Option<Cell> {
        self.numbers.get(&name).copied()
    }

    /// A new cell without a name.
    pub fn add(&mut self, truth: bool) -> Cell {
        self.preds.push(truth);
        Cell(self.preds.len() as u32 - 1)
    }

    /// Whether a cell holds a truth value.
    pub fn is_pred(&self, cell: Cell) -> bool {
        self.preds.get(cell.index()).is_some_and(|&pred| pred)
    }

    pub fn len(&self) -> usize {
        self.preds.len()
    }
}

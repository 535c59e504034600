//! State of an item: registers, predicates and words of local memory, numbered by first use.

use halfbyte_isa::halu::domain::SpecialReg;
use rustc_hash::FxHashMap;

use super::dataflow::Id;

/// Number of a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Cell(pub u32);

impl Cell {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Register, predicate or word that a cell stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Name {
    Gpr(u8),
    Ur(u8),
    Pred(u8),
    /// Word of local memory, as its address divided by 4.
    Local(u32),
    /// Word of a virtual register: the register number, and 0 for the low word or 1 for the high word.
    Virtual(u32, u8),
    /// Virtual register that is a predicate.
    Truth(u32),
    /// Special register, which the item cannot change.
    Special(SpecialReg),
}

impl Name {
    /// Returns `true` if the cell holds a truth value.
    pub fn is_truth(self) -> bool {
        matches!(self, Name::Pred(_) | Name::Truth(_))
    }
}

/// Cells that a kernel names.
#[derive(Clone, Default)]
pub(crate) struct Cells {
    numbers: FxHashMap<Name, Cell>,
    preds: Vec<bool>,
    /// Reusable storage for the state of each cell in a trace, indexed by cell.
    pub spare: Vec<State>,
}

/// State of a cell in the trace of a block.
#[derive(Clone, Copy, Default)]
pub(crate) struct State {
    /// Current value, once the cell has been read or written.
    pub now: Option<Id>,
    /// Value at the start of the block, if the cell was read.
    pub input: Option<Id>,
    /// `true` if a write of the cell is unconditional; `None` if the cell was not written.
    pub written: Option<bool>,
}

impl Cells {
    /// Returns the cell of a name, and creates a cell at the first use.
    pub fn get(&mut self, name: Name) -> Cell {
        if let Some(&cell) = self.numbers.get(&name) {
            return cell;
        }
        let cell = self.add(name.is_truth());
        self.numbers.insert(name, cell);
        cell
    }

    /// Returns the cell of a name that has been used before.
    pub fn find(&self, name: Name) -> Option<Cell> {
        self.numbers.get(&name).copied()
    }

    /// Adds a cell without a name.
    pub fn add(&mut self, truth: bool) -> Cell {
        self.preds.push(truth);
        Cell(self.preds.len() as u32 - 1)
    }

    /// Returns `true` if a cell holds a truth value.
    pub fn is_pred(&self, cell: Cell) -> bool {
        self.preds.get(cell.index()).is_some_and(|&pred| pred)
    }

    pub fn len(&self) -> usize {
        self.preds.len()
    }
}

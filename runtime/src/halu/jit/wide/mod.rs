//! Loops over vectors of 256 bits, which Cranelift has none of: as code for x86-64 with AVX2, made here.
//!
//! A loop is straight. It loads words of rows, eight items at a time, computes, and stores to rows, with every value in a register.
//! One that takes more registers than there are is left to Cranelift.

mod encode;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use arrayvec::ArrayVec;

use super::vector::video::LaneOp;
use crate::halu::rows::Variant;
use encode::encode;
pub(super) use encode::{Opcode, Table};

/// Rows that a loop reads and writes at most, and words that are the same for all items.
pub(super) const MOST_ROWS: usize = 7;
const MOST_WORDS: usize = 32;
/// Words that stay in registers from one iteration to the next, where a loop has no more.
const HELD_WORDS: u8 = 6;

/// Whether this computer runs such loops, and may.
pub(super) fn is_here() -> bool {
    cfg!(target_arch = "x86_64") && Variant::best() >= Variant::Avx2
}

/// The width of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    B8,
    B16,
    B32,
}

/// A value of a loop: the step that makes it, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(u32);

/// A word of each of eight items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vector {
    /// Words of a row.
    Row(u8),
    /// The same word for all.
    Word(u8),
    Binary(Opcode, [Step; 2]),
    /// The first two multiplied and the third added, with one rounding.
    MultiplyAdd([Step; 3]),
    /// The float of a signed number.
    Float(Step),
    /// All ones where a float is NaN.
    IsNan(Step),
    /// Words shifted by a constant.
    Shift(Shift, Step, u8),
    /// The second where the first is all ones, the third where it is 0.
    Select([Step; 3]),
}

/// How words are shifted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    Right,
    /// With the sign.
    Arithmetic,
}

impl Vector {
    fn args(&self) -> ArrayVec<Step, 3> {
        match *self {
            Vector::Row(_) | Vector::Word(_) => ArrayVec::new(),
            Vector::Binary(_, args) => args.into_iter().collect(),
            Vector::Shift(_, arg, _) | Vector::Float(arg) | Vector::IsNan(arg) => [arg].into_iter().collect(),
            Vector::MultiplyAdd(args) | Vector::Select(args) => args.into(),
        }
    }
}

/// A loop on its way. Rows and words are numbered as they are asked for.
#[derive(Clone, Default, Debug)]
pub(super) struct Loop {
    steps: Vec<Vector>,
    rows: u8,
    words: u8,
    /// Once all steps of an iteration are done: rows, and what is written to them, in order.
    stores: Vec<(u8, Step)>,
}

impl Loop {
    /// A row that the loop reads or writes; none where there are too many.
    pub fn row(&mut self) -> Option<u8> {
        let row = self.rows;
        (usize::from(row) < MOST_ROWS).then(|| {
            self.rows += 1;
            row
        })
    }

    /// What the row that has a number holds.
    pub fn load(&mut self, row: u8) -> Step {
        self.push(Vector::Row(row))
    }

    /// A word that is the same for all items; none where there are too many.
    pub fn word(&mut self) -> Option<Step> {
        let word = self.words;
        (usize::from(word) < MOST_WORDS).then(|| {
            self.words += 1;
            self.push(Vector::Word(word))
        })
    }

    pub fn binary(&mut self, op: Opcode, a: Step, b: Step) -> Step {
        self.push(Vector::Binary(op, [a, b]))
    }

    pub fn shift(&mut self, shift: Shift, a: Step, count: u32) -> Step {
        self.push(Vector::Shift(shift, a, (count & 31) as u8))
    }

    pub fn select(&mut self, holds: Step, a: Step, b: Step) -> Step {
        self.push(Vector::Select([holds, a, b]))
    }

    pub fn multiply_add(&mut self, a: Step, b: Step, c: Step) -> Step {
        self.push(Vector::MultiplyAdd([a, b, c]))
    }

    pub fn float(&mut self, number: Step) -> Step {
        self.push(Vector::Float(number))
    }

    /// A float, or the other value where it is NaN.
    pub fn or_if_nan(&mut self, float: Step, other: Step) -> Step {
        let is_nan = self.push(Vector::IsNan(float));
        self.select(is_nan, other, float)
    }

    /// An operation on lanes; none where there is no short form of it.
    pub fn lanes(&mut self, op: LaneOp, width: Width, a: Step, b: Step) -> Option<Step> {
        if let Some(op) = Opcode::of_lanes(op, width) {
            return Some(self.binary(op, a, b));
        }
        let LaneOp::AbsDiff { signed } = op else { return None };
        if let (false, Some(less)) = (signed, Opcode::of_lanes(LaneOp::SubSat { signed }, width)) {
            let (p, n) = (self.binary(less, a, b), self.binary(less, b, a));
            return Some(self.binary(Opcode::OR, p, n));
        }
        let most = self.lanes(LaneOp::Max { signed }, width, a, b)?;
        let least = self.lanes(LaneOp::Min { signed }, width, a, b)?;
        self.lanes(LaneOp::Sub, width, most, least)
    }

    /// Writes a value to a row.
    pub fn store(&mut self, row: u8, value: Step) {
        self.stores.push((row, value));
    }

    fn push(&mut self, vector: Vector) -> Step {
        self.steps.push(vector);
        Step(self.steps.len() as u32 - 1)
    }

    /// What the code is called with.
    pub fn table(&self) -> Table {
        Table { rows: self.rows, words: self.words }
    }

    /// The loop's code; none where registers do not suffice. It is a function of the convention of System V, of the address of a
    /// [`Table`] and a number of bytes: of each row it goes over so many, a multiple of those of a chunk of items and not 0.
    pub fn code(&self) -> Option<Vec<u8>> {
        encode(self)
    }
}

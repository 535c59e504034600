//! Loops over vectors of 256 bits, which Cranelift has none of: as code for x86-64 with AVX2, made here.
//!
//! A loop is straight. It loads from rows, eight items at a time as words, or sixteen in lanes of 16 bits, computes, and stores to rows.
//! What registers have no room for is spilled. A loop of more rows than there are registers for addresses is left to Cranelift.

mod encode;
mod half;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use arrayvec::ArrayVec;

use super::vector::video::LaneOp;
use crate::rows::Variant;
use crate::x86::Row;
use crate::x86::vector::{VPCMPEQD, VPMAXUD, VPOR, VPXOR};
use encode::encode;
pub(super) use encode::{Predicate, Table, lane_row};
pub(super) use half::HalfStep;

/// Rows that a loop reads and writes at most, and words that are the same for all items.
pub(super) const MOST_ROWS: usize = 11;
const MOST_WORDS: usize = 64;
/// Words that stay in registers from one iteration to the next, where a loop has no more.
const HELD_WORDS: usize = 6;

/// Whether this computer runs such loops, and may.
pub(super) fn is_here() -> bool {
    cfg!(target_arch = "x86_64") && Variant::best() >= Variant::Avx2
}

/// Whether it runs those with arithmetic on halves.
pub(super) fn has_halves() -> bool {
    cfg!(target_arch = "x86_64") && Variant::best() >= Variant::Avx512
}

/// The width of lanes, and of an item in a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Width {
    B8,
    B16,
    #[default]
    B32,
}

impl Width {
    fn bytes(self) -> u8 {
        1 << self.log2()
    }

    fn log2(self) -> u8 {
        match self {
            Width::B8 => 0,
            Width::B16 => 1,
            Width::B32 => 2,
        }
    }
}

/// A row: so many bytes behind an address in the table, which has a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub row: u8,
    pub at: i32,
    /// What each item has there: no more than a lane holds.
    pub item: Width,
}

/// A value of a loop: the step that makes it, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(u32);

/// A lane for each of eight items, or of sixteen. But for `Binary` and `Shift`, they are of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vector {
    /// What a row holds, extended with its sign or without.
    Row(Place, bool),
    /// The same word for all, from the table.
    Word(u8),
    /// The same word for all, from a place in what a row is in; the row's width does not count.
    Same(Place),
    /// The same constant for all, or for each two of them.
    Constant(u32),
    Binary(&'static Row, [Step; 2]),
    /// The first two multiplied and the third added, with one rounding.
    MultiplyAdd([Step; 3]),
    /// The float of a signed number.
    Float(Step),
    /// Of floats, all ones where it holds.
    Compare(Predicate, [Step; 2]),
    /// The square root of a float.
    Root(Step),
    /// All ones.
    Ones,
    /// The item's number in the row.
    Numbers,
    /// On the halves of up to three words; the fourth one has what NaN becomes.
    Half(HalfStep, [Step; 4]),
    /// Lanes shifted by a constant.
    Shift(Shift, Step, u8),
    /// Lanes that are no more than an item of this width, side by side, for a row of such items.
    Narrow(Step, Width),
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
    fn args(&self) -> ArrayVec<Step, 4> {
        match *self {
            Vector::Row(..) | Vector::Word(_) | Vector::Same(_) | Vector::Constant(_) => ArrayVec::new(),
            Vector::Ones | Vector::Numbers => ArrayVec::new(),
            Vector::Binary(_, args) | Vector::Compare(_, args) => args.into_iter().collect(),
            Vector::Shift(_, arg, _) | Vector::Float(arg) | Vector::Root(arg) | Vector::Narrow(arg, _) => {
                [arg].into_iter().collect()
            }
            Vector::MultiplyAdd(args) | Vector::Select(args) => args.into_iter().collect(),
            Vector::Half(_, args) => args.into(),
        }
    }
}

/// A loop on its way. Rows and words are numbered as they are asked for.
#[derive(Clone, Default, Debug)]
pub(super) struct Loop {
    lane: Width,
    steps: Vec<Vector>,
    rows: u8,
    words: u8,
    /// Once all steps of an iteration are done: rows, and what is written to them, in order.
    stores: Vec<(Place, Step)>,
}

impl Loop {
    /// A loop with lanes of 16 bits, or of 32.
    pub fn new(lane: Width) -> Loop {
        Loop { lane, ..Loop::default() }
    }

    /// The address of a row that the loop reads or writes, or of several; none where there are too many.
    pub fn row(&mut self) -> Option<u8> {
        let row = self.rows;
        (usize::from(row) < MOST_ROWS).then(|| {
            self.rows += 1;
            row
        })
    }

    /// What a row holds.
    pub fn load(&mut self, place: Place, signed: bool) -> Step {
        self.push(Vector::Row(place, signed))
    }

    /// A word of the table, which is the same for all items, or for each two of them; none where there are too many.
    pub fn word(&mut self) -> Option<Step> {
        let word = self.words;
        (usize::from(word) < MOST_WORDS).then(|| {
            self.words += 1;
            self.push(Vector::Word(word))
        })
    }

    /// A word that is the same for all items, from where a row begins.
    pub fn same(&mut self, place: Place) -> Step {
        self.push(Vector::Same(place))
    }

    /// A constant, for all items or for each two of them.
    pub fn constant(&mut self, word: u32) -> Step {
        self.push(Vector::Constant(word))
    }

    pub fn binary(&mut self, op: &'static Row, a: Step, b: Step) -> Step {
        self.push(Vector::Binary(op, [a, b]))
    }

    pub fn shift(&mut self, shift: Shift, a: Step, count: u32) -> Step {
        let last = 8 * u32::from(self.lane.bytes()) - 1;
        self.push(Vector::Shift(shift, a, (count & last) as u8))
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
        let is_nan = self.compare(Predicate::NAN, float, float);
        self.select(is_nan, other, float)
    }

    pub fn compare(&mut self, predicate: Predicate, a: Step, b: Step) -> Step {
        self.push(Vector::Compare(predicate, [a, b]))
    }

    /// The items' numbers in the row.
    pub fn numbers(&mut self) -> Step {
        self.push(Vector::Numbers)
    }

    /// An operation on halves, whose NaNs become those of another value.
    pub fn half(&mut self, op: HalfStep, [a, b, c]: [Step; 3], nan: Step) -> Step {
        self.push(Vector::Half(op, [a, b, c, nan]))
    }

    pub fn root(&mut self, float: Step) -> Step {
        self.push(Vector::Root(float))
    }

    pub fn not(&mut self, a: Step) -> Step {
        let ones = self.push(Vector::Ones);
        self.binary(&VPXOR, a, ones)
    }

    /// Of unsigned words, all ones where the first is less.
    pub fn less(&mut self, a: Step, b: Step) -> Step {
        let greater = self.binary(&VPMAXUD, a, b);
        let is_not = self.binary(&VPCMPEQD, greater, a);
        self.not(is_not)
    }

    /// An operation on lanes; none where there is no short form of it.
    pub fn lanes(&mut self, op: LaneOp, width: Width, a: Step, b: Step) -> Option<Step> {
        if let Some(op) = lane_row(op, width) {
            return Some(self.binary(op, a, b));
        }
        let LaneOp::AbsDiff { signed } = op else { return None };
        if let (false, Some(less)) = (signed, lane_row(LaneOp::SubSat { signed }, width)) {
            let (p, n) = (self.binary(less, a, b), self.binary(less, b, a));
            return Some(self.binary(&VPOR, p, n));
        }
        let most = self.lanes(LaneOp::Max { signed }, width, a, b)?;
        let least = self.lanes(LaneOp::Min { signed }, width, a, b)?;
        self.lanes(LaneOp::Sub, width, most, least)
    }

    /// Writes a value to a row, of narrower items one that they hold.
    pub fn store(&mut self, place: Place, value: Step) {
        let value = if place.item < self.lane { self.push(Vector::Narrow(value, place.item)) } else { value };
        self.stores.push((place, value));
    }

    fn push(&mut self, vector: Vector) -> Step {
        self.steps.push(vector);
        Step(self.steps.len() as u32 - 1)
    }

    /// What the code is called with.
    pub fn table(&self) -> Table {
        Table { rows: self.rows, words: self.words }
    }

    /// The loop's code, and the bytes of the table; none where there is too much of something. It is a function of the convention of System V, of the address of a
    /// [`Table`] and two offsets of items in rows of words, in bytes, multiples of those of a chunk of items: it goes over each row from the
    /// first to the second, a greater one.
    pub fn code(&self) -> Option<(Vec<u8>, u32)> {
        encode(self)
    }
}

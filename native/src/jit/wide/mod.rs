//! Loops in vectors of 256 bits, which Cranelift lacks, as x86-64 code with AVX2.
//!
//! The loop body is branch-free: loads from rows, arithmetic, and stores to rows. A vector has
//! eight items as words, or sixteen items in lanes of 16 bits. Values without a register are
//! spilled. A loop with more rows than address registers falls back to Cranelift.

mod encode;
mod half;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use arrayvec::ArrayVec;

use super::vector::video::LaneOp;
use crate::rows::Variant;
pub(super) use crate::x86::Predicate;
use crate::x86::Row;
use crate::x86::vector::{VPCMPEQD, VPMAXUD, VPOR, VPXOR};
use encode::encode;
pub(super) use encode::{Table, lane_row};
pub(super) use half::HalfStep;

/// Maximum numbers of rows and of uniform words of a loop.
pub(super) const MOST_ROWS: usize = 11;
const MOST_WORDS: usize = 64;
/// Maximum number of uniform words of a loop that keeps all of them in registers.
const HELD_WORDS: usize = 6;

/// Returns `true` if the machine and the configuration support such loops.
pub(super) fn is_here() -> bool {
    cfg!(target_arch = "x86_64") && Variant::best() >= Variant::Avx2
}

/// Returns `true` if the machine and the configuration support half-precision arithmetic in such loops.
pub(super) fn has_halves() -> bool {
    cfg!(target_arch = "x86_64") && Variant::best() >= Variant::Avx512
}

/// Width of a lane, or of an item in a row.
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

/// Row at an offset from an address in the table, which is identified by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub row: u8,
    pub at: i32,
    /// Width of an item in the row, at most the width of a lane.
    pub item: Width,
}

/// Value of a loop, identified by the step that computes the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(u32);

/// Operation with one lane for each of eight or sixteen items. All operations except `Binary` and `Shift` have lanes of
/// 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vector {
    /// Load from a row, with sign extension if the flag is set.
    Row(Place, bool),
    /// Broadcast of a word of the table.
    Word(u8),
    /// Broadcast of the word at a fixed offset from a row's address. The item width is ignored.
    Same(Place),
    /// Constant word, repeated for each item or for each pair of items.
    Constant(u32),
    Binary(&'static Row, [Step; 2]),
    /// Fused multiply-add: the product of the first two operands plus the third.
    MultiplyAdd([Step; 3]),
    /// Conversion of a signed integer to a float.
    Float(Step),
    /// Comparison of floats: all ones if the comparison holds.
    Compare(Predicate, [Step; 2]),
    /// Square root of a float.
    Root(Step),
    /// All ones.
    Ones,
    /// Number of the item in the row.
    Numbers,
    /// Packed-half operation on up to three operands; the fourth holds the canonical NaN.
    Half(HalfStep, [Step; 4]),
    /// Shift of all lanes by a constant.
    Shift(Shift, Step, u8),
    /// Packs lanes whose values fit the item width into contiguous items of a row.
    Narrow(Step, Width),
    /// Second operand where the first is all ones, third operand where the first is 0.
    Select([Step; 3]),
}

/// Kind of a shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    Right,
    /// Copies the sign bit.
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

/// Loop during construction. Rows and words are numbered in the order of the requests.
#[derive(Clone, Default, Debug)]
pub(super) struct Loop {
    lane: Width,
    steps: Vec<Vector>,
    rows: u8,
    words: u8,
    /// Stores after all steps of an iteration, in order.
    stores: Vec<(Place, Step)>,
}

impl Loop {
    /// Creates a loop with lanes of 16 or 32 bits.
    pub fn new(lane: Width) -> Loop {
        Loop { lane, ..Loop::default() }
    }

    /// Allocates an address for one or more rows. Returns `None` if no address register is left.
    pub fn row(&mut self) -> Option<u8> {
        let row = self.rows;
        (usize::from(row) < MOST_ROWS).then(|| {
            self.rows += 1;
            row
        })
    }

    /// Loads from a row.
    pub fn load(&mut self, place: Place, signed: bool) -> Step {
        self.push(Vector::Row(place, signed))
    }

    /// Allocates a word of the table, repeated for each item or for each pair of items. Returns `None` if the table is
    /// full.
    pub fn word(&mut self) -> Option<Step> {
        let word = self.words;
        (usize::from(word) < MOST_WORDS).then(|| {
            self.words += 1;
            self.push(Vector::Word(word))
        })
    }

    /// Broadcasts the word at a fixed offset from a row's address.
    pub fn same(&mut self, place: Place) -> Step {
        self.push(Vector::Same(place))
    }

    /// Returns a constant word, repeated for each item or for each pair of items.
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

    /// Returns `float`, or `other` in the lanes where `float` is NaN.
    pub fn or_if_nan(&mut self, float: Step, other: Step) -> Step {
        let is_nan = self.compare(Predicate::NAN, float, float);
        self.select(is_nan, other, float)
    }

    pub fn compare(&mut self, predicate: Predicate, a: Step, b: Step) -> Step {
        self.push(Vector::Compare(predicate, [a, b]))
    }

    /// Returns the numbers of the items in the row.
    pub fn numbers(&mut self) -> Step {
        self.push(Vector::Numbers)
    }

    /// Computes an operation on halves. NaNs become the halves of `nan`.
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

    /// Compares unsigned words: all ones where `a` is less than `b`.
    pub fn less(&mut self, a: Step, b: Step) -> Step {
        let greater = self.binary(&VPMAXUD, a, b);
        let is_not = self.binary(&VPCMPEQD, greater, a);
        self.not(is_not)
    }

    /// Emits an operation on lanes. Returns `None` if the operation has no short instruction sequence.
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

    /// Stores a value to a row. Each value must fit the item width of the row.
    pub fn store(&mut self, place: Place, value: Step) {
        let value = if place.item < self.lane { self.push(Vector::Narrow(value, place.item)) } else { value };
        self.stores.push((place, value));
    }

    fn push(&mut self, vector: Vector) -> Step {
        self.steps.push(vector);
        Step(self.steps.len() as u32 - 1)
    }

    /// Returns the layout of the table that the code takes.
    pub fn table(&self) -> Table {
        Table { rows: self.rows, words: self.words }
    }

    /// Returns the code of the loop and the size of the table in bytes. Returns `None` if the loop exceeds a limit.
    ///
    /// The code is a function with the System V calling convention. Its arguments are the address of a [`Table`] and
    /// two offsets in a row of words, in bytes. Both offsets are multiples of the size of a chunk. The function
    /// processes each row from the first offset to the second, which is greater.
    pub fn code(&self) -> Option<(Vec<u8>, u32)> {
        encode(self)
    }
}

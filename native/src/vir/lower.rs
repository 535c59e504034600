//! Lowering of the dataflow of a block.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::fixed::{Basis, Contents};
use super::group::Group;
use super::{Binary, Builder, Cell, Function, Input, Node, Row, Shift, Value, Width, Word};
use crate::jit::{Access, Block, CellNumber, Cells, Dataflow, Gang, Id, Op, Shape, Unit};
use halfbyte_isa::halu::domain;

/// Kernel, and facts about the kernel.
pub struct Facts<'a> {
    pub gang: &'a Gang,
    pub cells: &'a Cells,
    pub blocks: &'a [Block],
    /// By block, the cells that hold a word of constant bank 0 before the block, with the offset of the word.
    pub known: &'a [BTreeMap<CellNumber, u32>],
    /// Function that returns the parameter whose buffer an access of a block reaches, if known.
    pub param: &'a dyn Fn(usize, &Unit, &Access) -> Option<usize>,
    /// By parameter, the offset in constant bank 0 of a buffer's address.
    pub pointers: &'a [Option<u32>],
    /// By parameter, `true` if the kernel stores to the buffer of the parameter.
    pub stored: &'a [bool],
    /// Backward branches that an item may take.
    pub budget: u64,
    /// `true` if the machine has AVX512-FP16.
    pub has_fp16: bool,
    /// `true` if the setup computes invariant values and checks rows for all items.
    pub hoists: bool,
}

/// State of the lowering of a kernel. Methods return `None` for an operation that has no form in vectors.
pub(super) struct Lower<'a> {
    pub facts: &'a Facts<'a>,
    pub function: Function,
    /// The block of the kernel that is lowered.
    pub block: usize,
    pub unit: &'a Unit,
    /// Cell with the mask of the items that run the block. Without such a cell, all items run the block.
    pub mask: Option<Cell>,
    pub b: Builder,
    pub lowered: Lowered,
    /// Nodes of the setup, and the values of the block that the setup computes.
    pub setup: Builder,
    pub lowered_in_setup: Lowered,
    /// Words of the table that the setup sets, by value.
    pub firsts: FxHashMap<Value, Word>,
    /// Contents of cells before the block.
    pub entry: BTreeMap<CellNumber, Contents>,
    /// Basis of each value of the block.
    pub bases: Vec<Basis>,
    pub loaded: Vec<[Option<Value>; 4]>,
    /// Guards that hold for all items of the gang.
    pub assumed: Vec<Id>,
    /// Groups of accesses of the block.
    pub groups: Vec<Group>,
    /// `true` while `b` is the builder of the setup.
    pub is_setup: bool,
}

/// Lowered values of a block, by their numbers in the dataflow.
#[derive(Default)]
pub(super) struct Lowered {
    pub words: Vec<Option<Value>>,
    /// Floats whose NaNs have any payload.
    floats: Vec<Option<Value>>,
    /// Packed halves whose NaNs have any payload, and the floats of bfloat16 numbers.
    pub halves: Vec<Option<Value>>,
    pub half_floats: Vec<Option<[Value; 2]>>,
}

impl Lowered {
    fn of(count: usize) -> Lowered {
        let none = vec![None; count];
        Lowered { words: none.clone(), floats: none.clone(), halves: none, half_floats: vec![None; count] }
    }
}

impl<'a> Lower<'a> {
    pub fn new(facts: &'a Facts<'a>, unit: &'a Unit) -> Lower<'a> {
        let cells = (facts.cells.len() + facts.blocks.len() + 1) as u32;
        let budget = facts.gang.has_loop.then_some(facts.budget);
        let function = Function {
            setup: Vec::new(),
            blocks: Vec::new(),
            inputs: Vec::new(),
            cells,
            rows: 0,
            hoisted: Vec::new(),
            budget,
        };
        Lower {
            facts,
            function,
            block: 0,
            unit,
            mask: None,
            b: Builder::default(),
            lowered: Lowered::default(),
            setup: Builder::default(),
            lowered_in_setup: Lowered::default(),
            firsts: FxHashMap::default(),
            entry: BTreeMap::new(),
            bases: Vec::new(),
            loaded: Vec::new(),
            assumed: Vec::new(),
            groups: Vec::new(),
            is_setup: false,
        }
    }

    /// Begins a block of the kernel. `entry` has the contents of cells before the block.
    pub fn enter(&mut self, block: usize, unit: &'a Unit, mask: Option<Cell>, entry: BTreeMap<CellNumber, Contents>) {
        self.entry = entry;
        self.block = block;
        self.unit = unit;
        self.mask = mask;
        self.b = Builder::default();
        self.assumed.clear();
        self.lowered = Lowered::of(unit.dataflow.nodes.len());
        self.lowered_in_setup = Lowered::of(unit.dataflow.nodes.len());
        self.bases = self.bases();
        self.loaded = vec![[None; 4]; unit.dataflow.accesses.len()];
    }

    pub fn dataflow(&self) -> &'a Dataflow {
        &self.unit.dataflow
    }

    /// Returns the word of the table for an input. Adds the input unless an equal input exists.
    pub fn input(&mut self, input: Input) -> Word {
        let inputs = &mut self.function.inputs;
        let at = inputs.iter().position(|&other| other == input).unwrap_or_else(|| {
            inputs.push(input);
            inputs.len() - 1
        });
        Word(at as u32)
    }

    pub fn row(&mut self) -> Row {
        self.function.rows += 1;
        Row(self.function.rows - 1)
    }

    /// Returns the vector of a cell of the kernel.
    pub fn cell(&self, cell: CellNumber) -> Cell {
        Cell(cell.index() as u32)
    }

    /// Returns the words of all items.
    pub fn value(&mut self, id: Id) -> Option<Value> {
        if let Some(&Some(value)) = self.lowered.words.get(id.index()) {
            return Some(value);
        }
        let value = match self.fixed(id)? {
            Some(value) => value,
            None => self.compute(id)?,
        };
        *self.lowered.words.get_mut(id.index())? = Some(value);
        Some(value)
    }

    /// Lowers a value without making NaNs canonical. A read of the bits adds the canonical form.
    pub fn lower(&mut self, id: Id) -> Option<()> {
        match self.dataflow().op(id) {
            Op::Half(_) => self.any_half(id),
            _ => self.float(id),
        }?;
        Some(())
    }

    /// Returns the words of all items. NaNs have any payload.
    pub fn float(&mut self, id: Id) -> Option<Value> {
        let known = |values: &[Option<Value>]| values.get(id.index()).copied().flatten();
        if let Some(value) = known(&self.lowered.floats).or_else(|| known(&self.lowered.words)) {
            return Some(value);
        }
        if !self.is_setup && self.is_fixed(id) {
            return self.value(id);
        }
        match self.any_nan(id)? {
            Some(value) => {
                *self.lowered.floats.get_mut(id.index())? = Some(value);
                Some(value)
            }
            None => self.value(id),
        }
    }

    fn bank(&mut self, offset: u32, width: domain::Width, signed: bool) -> Value {
        let word = self.input(Input::Bank(offset / 4));
        let word = self.b.word(word);
        let bits = match width {
            domain::Width::B8 => 8,
            domain::Width::B16 => 16,
            domain::Width::B32 | domain::Width::B64 | domain::Width::B128 => return word,
        };
        let left = (32 - bits - 8 * (offset % 4)) as u8;
        let high = self.b.shift_words(Shift::Left, word, left);
        let right = if signed { Shift::Arithmetic } else { Shift::Right };
        self.b.shift_words(right, high, (32 - bits) as u8)
    }

    fn compute(&mut self, id: Id) -> Option<Value> {
        let dataflow = self.dataflow();
        Some(match dataflow.op(id) {
            Op::Const(word) => self.b.constant(word),
            Op::Truth(truth) => self.b.constant(u32::from(truth).wrapping_neg()),
            Op::Input(cell) => {
                // Under a mask, the contents of the cell are known only for the active items.
                let known = self.facts.known.get(self.block).filter(|_| self.mask.is_none() || self.is_setup);
                match known.and_then(|known| known.get(&cell)) {
                    Some(&offset) => self.bank(offset, domain::Width::B32, false),
                    None if self.is_setup => match self.entry.get(&cell) {
                        Some(contents) => contents.value,
                        None => self.at_start(cell)?,
                    },
                    None => {
                        let cell = self.cell(cell);
                        self.b.cell(cell)
                    }
                }
            }
            Op::Bank { offset, width, signed } => self.bank(offset, width, signed),
            Op::Mask => match self.mask {
                Some(cell) => self.b.cell(cell),
                None => self.b.constant(u32::MAX),
            },
            Op::Loaded(number, k) => (*self.loaded.get(number as usize)?.get(usize::from(k))?)?,
            Op::Access(_) => return None,
            op => {
                if self.is_setup {
                    self.limit(id)?;
                }
                self.operation(id, op)?
            }
        })
    }

    /// Returns the words of a special register for the first gang. Returns `None` for other cells.
    pub fn at_start(&mut self, cell: CellNumber) -> Option<Value> {
        let &(_, shape) = self.facts.gang.start.iter().find(|(other, _)| *other == cell)?;
        let word = self.input(Input::Cell(cell));
        let first = self.b.word(word);
        match shape {
            Shape::Uniform => Some(first),
            Shape::Affine(1) => {
                let steps = self.b.steps(1);
                Some(self.b.words(Binary::Add, first, steps))
            }
            _ => None,
        }
    }

    /// Joins the low and high words of an address to 64-bit numbers. Each result has the numbers of four items.
    pub fn pair(&mut self, [low, high]: [Id; 2]) -> Option<[Value; 2]> {
        let (low, high) = (self.value(low)?, self.value(high)?);
        Some(self.b.join([low, high]))
    }

    /// Returns the even words of 64-bit numbers.
    pub fn low_words(&mut self, of: [Value; 2]) -> Value {
        self.b.push(Node::Every2nd { odd: false, split: false, of })
    }

    /// Shifts words by counts modulo 32.
    pub fn shift_by(&mut self, shift: Shift, word: Id, count: Id) -> Option<Value> {
        let from = self.value(word)?;
        if let Some(count) = self.dataflow().constant(count) {
            return Some(self.b.shift(shift, Width::B32, from, (count & 31) as u8));
        }
        let count = self.value(count)?;
        let count = self.b.and_constant(count, 31);
        Some(self.b.push(Node::ShiftBy(shift, [from, count])))
    }
}

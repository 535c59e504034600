//! Invariant values, which the setup of a function computes once for all items.
//!
//! A comparison of the item's place with a bound, such as `i < n`, is invariant, too. The setup
//! limits the function to the items for which the comparison has the result of the first item.

use std::collections::BTreeMap;

use super::lower::Lower;
use super::{Input, Limit, Node, Value, Word};
use crate::jit::{Block, CellNumber, Id, Op, Shape};

/// Inputs of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) enum Basis {
    /// Any inputs, such as memory or cells that a loop changes.
    #[default]
    Any,
    /// Only the item's place and the arguments.
    Place,
    /// Only the item's place and the arguments. All items have the same value.
    Fixed,
}

/// Contents of a cell at a block that all items reach together, which depend on the places and the arguments only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Contents {
    /// Value of the first gang, in the setup.
    pub value: Value,
    pub is_fixed: bool,
}

/// Comparison of an affine number with a uniform bound.
struct Comparison {
    place: Id,
    step: u32,
    bound: Id,
    signed: bool,
    /// Limits between items with different results. `true` is the limit after the items that equal the bound, `false`
    /// is the limit before these items.
    limits: &'static [bool],
}

impl Lower<'_> {
    /// Returns the basis of each value of the block.
    pub(super) fn bases(&self) -> Vec<Basis> {
        let dataflow = self.dataflow();
        let mut bases = Vec::with_capacity(dataflow.nodes.len());
        for id in (0..dataflow.nodes.len() as u32).map(Id) {
            let args = dataflow.args(id);
            let all = |basis: Basis| args.iter().all(|arg| bases.get(arg.index()).is_some_and(|&of| of >= basis));
            let is_of_place = match dataflow.op(id) {
                Op::Const(_) | Op::Truth(_) | Op::Bank { .. } => true,
                Op::Input(cell) => {
                    self.facts.gang.start.iter().any(|(other, _)| *other == cell)
                        || self.facts.known.get(self.block).is_some_and(|known| known.contains_key(&cell))
                        || self.entry.contains_key(&cell)
                }
                Op::Mask | Op::Loaded(..) | Op::Access(_) => false,
                _ => all(Basis::Place),
            };
            let is_logic = matches!(dataflow.op(id), Op::Both | Op::Either | Op::Differ | Op::Negate | Op::Choose);
            let is_fixed = dataflow.shape(id) == Shape::Uniform
                || matches!(dataflow.op(id), Op::Input(cell) if self.entry.get(&cell).is_some_and(|of| of.is_fixed))
                || is_logic && all(Basis::Fixed)
                || self.comparison(id).is_some();
            bases.push(match (is_of_place, is_fixed) {
                (false, _) => Basis::Any,
                (true, false) => Basis::Place,
                (true, true) => Basis::Fixed,
            });
        }
        bases
    }

    fn basis(&self, id: Id) -> Basis {
        self.bases.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns `true` if a value depends on nothing but the item's place and the arguments.
    pub(super) fn is_of_place(&self, id: Id) -> bool {
        self.basis(id) != Basis::Any
    }

    /// Returns `true` if a value is computed before the first gang.
    pub(super) fn is_fixed(&self, id: Id) -> bool {
        self.facts.hoists && self.mask.is_none() && self.basis(id) == Basis::Fixed
    }

    fn comparison(&self, id: Id) -> Option<Comparison> {
        let dataflow = self.dataflow();
        let &[a, b] = dataflow.args(id).as_slice() else { return None };
        let step_of = |id: Id| match dataflow.shape(id) {
            Shape::Affine(step) if step.is_power_of_two() && step <= 1 << 30 => Some(step),
            _ => None,
        };
        let (place, bound, step) = match (dataflow.shape(a), dataflow.shape(b)) {
            (_, Shape::Uniform) => (a, b, step_of(a)?),
            (Shape::Uniform, _) => (b, a, step_of(b)?),
            _ => return None,
        };
        let (signed, limits): (_, &[bool]) = match dataflow.op(id) {
            // `place < bound` ends at the bound. `bound < place` begins after the bound.
            Op::Less(signed) => (signed, if place == a { &[false] } else { &[true] }),
            Op::Equal => (false, &[false, true]),
            _ => return None,
        };
        Some(Comparison { place, step, bound, signed, limits })
    }

    /// Limits the items to those for which a comparison has the result of the first item. The builder is that of the
    /// setup.
    pub(super) fn limit(&mut self, id: Id) -> Option<()> {
        if let Some(Comparison { place, step, bound, signed, limits }) = self.comparison(id) {
            let (from, bound) = (self.value(place)?, self.value(bound)?);
            for &is_inclusive in limits {
                self.b.once(Node::Limit(Limit { from, step, bound, is_inclusive, signed }));
            }
        }
        Some(())
    }

    /// Returns the word of the table with the value of the first item.
    pub(super) fn of_first(&mut self, id: Id) -> Option<Word> {
        let value = self.in_setup(id)?;
        if let Some(&word) = self.firsts.get(&value) {
            return Some(word);
        }
        self.function.inputs.push(Input::Own);
        let word = Word(self.function.inputs.len() as u32 - 1);
        self.setup.push(Node::SetWord(word, value));
        self.firsts.insert(value, word);
        Some(word)
    }

    /// Ends the function before the first gang unless a guard holds. If all accesses of the kernel have this guard, the
    /// items count as done.
    pub(super) fn require(&mut self, guard: Id) -> Option<()> {
        let accesses = &self.dataflow().accesses;
        let is_once = self.facts.blocks.len() == 1 && !self.facts.gang.has_loop;
        let is_of_all = is_once && accesses.iter().all(|access| access.guard == Some(guard));
        let guard = self.in_setup(guard)?;
        if is_of_all {
            self.setup.once(Node::SkipUnless(guard));
        } else {
            let others = self.setup.not(guard);
            self.setup.once(Node::UnlessBits(others));
        }
        Some(())
    }

    /// Returns the contents of cells after the block.
    pub(super) fn exit(&mut self, block: &Block) -> Option<BTreeMap<CellNumber, Contents>> {
        let mut cells = self.entry.clone();
        for &(cell, id) in &self.unit.finals {
            cells.remove(&cell);
            let is_of_use = self.is_of_place(id) && (self.is_fixed(id) || !self.dataflow().shape(id).is_varying());
            if is_of_use && self.facts.gang.is_live_after(block, cell) {
                let contents = Contents { value: self.in_setup(id)?, is_fixed: self.is_fixed(id) };
                cells.insert(cell, contents);
            }
        }
        Some(cells)
    }

    /// Sets a truth value to a constant, and the truth values that follow from the constant.
    pub(super) fn learn(&mut self, id: Id, holds: bool) {
        let truth = self.b.constant(u32::from(holds).wrapping_neg());
        match self.lowered.words.get_mut(id.index()) {
            Some(value) if *value != Some(truth) => *value = Some(truth),
            _ => return,
        }
        let dataflow = self.dataflow();
        let args = dataflow.args(id);
        match (dataflow.op(id), holds) {
            (Op::Negate, _) => args.iter().for_each(|&arg| self.learn(arg, !holds)),
            (Op::Both, true) | (Op::Either, false) => args.iter().for_each(|&arg| self.learn(arg, holds)),
            _ => {}
        }
    }

    /// Lowers a value in the setup, for the first gang.
    fn in_setup(&mut self, id: Id) -> Option<Value> {
        self.swap_setup();
        let value = self.value(id);
        self.swap_setup();
        value
    }

    fn swap_setup(&mut self) {
        self.is_setup = !self.is_setup;
        std::mem::swap(&mut self.b, &mut self.setup);
        std::mem::swap(&mut self.lowered, &mut self.lowered_in_setup);
    }

    /// Returns the words of an invariant value. Returns `Some(None)` for a leaf and for a value that varies.
    #[expect(clippy::option_option, reason = "no form in vectors, or not such a value")]
    pub(super) fn fixed(&mut self, id: Id) -> Option<Option<Value>> {
        let is_leaf = match self.dataflow().op(id) {
            Op::Input(cell) => !self.entry.contains_key(&cell),
            _ => self.dataflow().args(id).is_empty(),
        };
        if self.is_setup || !self.is_fixed(id) || is_leaf {
            return Some(None);
        }
        let word = self.of_first(id)?;
        Some(Some(self.b.word(word)))
    }
}

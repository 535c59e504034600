//! Demand analysis: the items for which the values of a block are needed. A value that is used only
//! by accesses with a guard is needed only for the items that make the access. If the guard can
//! hold only for the first items of a row, the value is needed only for those items.

use std::collections::BTreeSet;

use super::cells::Cell;
use super::dataflow::{Action, Dataflow, Id, Op, Shape};
use super::unit::Unit;

/// Items for which a value is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    Nobodys,
    /// Items for which a truth value holds.
    Where(Id),
    All,
}

impl Wanted {
    fn or(self, other: Wanted) -> Wanted {
        match (self, other) {
            (Wanted::Nobodys, one) | (one, Wanted::Nobodys) => one,
            (one, other) if one == other => one,
            _ => Wanted::All,
        }
    }
}

/// Returns the value that is read for a demand: a select by the same truth value is replaced by its second operand.
fn chosen(d: &Dataflow, mut value: Id, wanted: Wanted) -> Id {
    let Wanted::Where(holds) = wanted else { return value };
    while let (Op::Select | Op::Choose, [by, one, ..]) = (d.op(value), d.node(value).args)
        && by == holds
    {
        value = one;
    }
    value
}

/// Returns the demand for operand `number` of an operation with the demand `wanted`.
fn of_operand(d: &Dataflow, id: Id, number: usize, wanted: Wanted) -> Wanted {
    match (d.op(id), wanted, number) {
        (Op::Select | Op::Choose, Wanted::All, 1) => Wanted::Where(d.node(id).args[0]),
        _ => wanted,
    }
}

/// Returns the demand for each operation. `live` is `true` for cells that are live after the block. `reads_first` is
/// `true` for accesses that evaluate their guard only for the first items, as far as the guard can hold.
pub(super) fn wanted(unit: &Unit, live: impl Fn(Cell) -> bool, reads_first: impl Fn(u32) -> bool) -> Vec<Wanted> {
    let d = &unit.dataflow;
    let mut all = vec![Wanted::Nobodys; d.nodes.len()];
    let want = |all: &mut Vec<Wanted>, id: Id, by: Wanted| {
        let place = &mut all[chosen(d, id, by).index()];
        *place = place.or(by);
    };
    let finals = unit.finals.iter().filter(|(cell, _)| live(*cell)).map(|&(_, id)| id);
    finals.chain(unit.condition).for_each(|id| want(&mut all, id, Wanted::All));
    for id in (0..d.nodes.len() as u32).rev().map(Id) {
        if let Op::Access(number) = d.op(id) {
            let access = &d.accesses[number as usize];
            let by = access.guard.map_or(Wanted::All, Wanted::Where);
            if let Some(guard) = access.guard {
                want(&mut all, guard, if reads_first(number) { by } else { Wanted::All });
            }
            access.action.words().into_iter().for_each(|word| want(&mut all, word, by));
            continue;
        }
        let by = all[id.index()];
        if by != Wanted::Nobodys {
            for (number, arg) in d.args(id).into_iter().enumerate() {
                want(&mut all, arg, of_operand(d, id, number, by));
            }
        }
    }
    all
}

/// Returns the cells whose values before a block are needed.
pub(super) fn inputs(unit: &Unit, live: impl Fn(Cell) -> bool) -> BTreeSet<Cell> {
    let wanted = wanted(unit, live, |_| false);
    let input = |(node, wanted): (&super::dataflow::Node, &Wanted)| match node.op {
        Op::Input(cell) if *wanted != Wanted::Nobodys => Some(cell),
        _ => None,
    };
    unit.dataflow.nodes.iter().zip(&wanted).filter_map(input).collect()
}

/// Replaces selects in operands by the selected value, if the operands are needed only for the selecting items.
pub(super) fn narrow(unit: &mut Unit, live: impl Fn(Cell) -> bool) {
    let wanted = wanted(unit, live, |_| false);
    let d = &mut unit.dataflow;
    for id in (0..d.nodes.len() as u32).map(Id) {
        for number in 0..d.op(id).arity() {
            let by = of_operand(d, id, number, wanted[id.index()]);
            let arg = chosen(d, d.node(id).args[number], by);
            d.nodes[id.index()].args[number] = arg;
        }
    }
    for number in 0..d.accesses.len() {
        let Some(guard) = d.accesses[number].guard else { continue };
        let mut action = d.accesses[number].action.clone();
        action.map_words(|word| chosen(d, word, Wanted::Where(guard)));
        d.accesses[number].action = action;
    }
}

/// Bound of the items of a row for which a truth value may hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// The truth value holds while a word of stride one, signed or unsigned, is less than a limit.
    Less { signed: bool, grows: Id, limit: Id },
    /// The truth value holds only while a word of stride one equals a uniform word.
    Equal { grows: Id, word: Id },
}

impl Bound {
    /// Returns the bound of a truth value, if any.
    pub fn of(d: &Dataflow, holds: Id) -> Option<Bound> {
        let &[a, b, ..] = &d.node(holds).args;
        let is = |grows: Id, other: Id| d.shape(grows) == Shape::Affine(1) && d.shape(other) == Shape::Uniform;
        match d.op(holds) {
            Op::Less(signed) if is(a, b) => Some(Bound::Less { signed, grows: a, limit: b }),
            Op::Equal if is(a, b) => Some(Bound::Equal { grows: a, word: b }),
            Op::Equal if is(b, a) => Some(Bound::Equal { grows: b, word: a }),
            Op::Both => [a, b].into_iter().find_map(|holds| Bound::of(d, holds)),
            _ => None,
        }
    }

    /// Returns the words that the bound depends on.
    pub fn words(self) -> [Id; 2] {
        let (Bound::Less { grows, limit: word, .. } | Bound::Equal { grows, word }) = self;
        [grows, word]
    }
}

impl Action {
    /// Returns the operands of an access except for its guard.
    pub fn words(&self) -> Vec<Id> {
        let mut words = Vec::new();
        self.clone().map_words(|word| {
            words.push(word);
            word
        });
        words
    }

    /// Replaces the operands of an access except for its guard.
    fn map_words(&mut self, mut by: impl FnMut(Id) -> Id) {
        match self {
            Action::Fault(_) | Action::Fence => {}
            Action::Load { place, .. } => place.map_words(&mut by),
            Action::Store { place, data, .. } => {
                place.map_words(&mut by);
                data.iter_mut().for_each(|word| *word = by(*word));
            }
            Action::Atomic { place, operands, .. } => {
                place.map_words(&mut by);
                operands.iter_mut().for_each(|word| *word = by(*word));
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use arrayvec::ArrayVec;
    use halfbyte_isa::halu::domain::{Domain, Width};

    use super::super::dataflow::{Access, Location};
    use super::*;
    use halfbyte_isa::trap::Space;

    /// Returns a store of `(p ? a : b) + 1` with the guard `p`. The sum remains in a cell.
    fn store_of_a_choice() -> (Unit, [Id; 5]) {
        let mut d = Dataflow::default();
        let input = |d: &mut Dataflow, cell, shape| d.push(Op::Input(Cell(cell)), &[], shape);
        let (grows, limit) = (input(&mut d, 0, Shape::Affine(1)), input(&mut d, 1, Shape::Uniform));
        let (a, b) = (input(&mut d, 2, Shape::Varying), input(&mut d, 3, Shape::Varying));
        let (p, one) = (d.less(false, grows, limit), d.word(1));
        let choice = d.select(p, a, b);
        let sum = d.add(choice, one);
        let place = Location::Own { space: Space::Shared, offset: grows, imm: 0 };
        let action = Action::Store { place, width: Width::B32, data: ArrayVec::from_iter([sum]) };
        d.access(Access { address: 0, guard: Some(p), action, yields: false }, 0);
        let finals = vec![(Cell(4), sum)];
        let unit = Unit {
            dataflow: d,
            finals,
            reads: vec![],
            kills: vec![],
            condition: None,
            assumed: Vec::new(),
            dead: false,
        };
        (unit, [a, b, p, choice, sum])
    }

    #[test]
    fn a_choice_is_wanted_of_those_for_whom_it_is_made() {
        let (mut unit, [a, b, p, choice, sum]) = store_of_a_choice();
        let found = wanted(&unit, |_| false, |_| false);
        let of = |id: Id| found[id.index()];
        assert_eq!([a, sum].map(of), [Wanted::Where(p); 2]);
        assert_eq!([b, choice].map(of), [Wanted::Nobodys; 2]);
        assert_eq!(of(p), Wanted::All);
        assert_eq!(inputs(&unit, |_| false), BTreeSet::from([0, 1, 2].map(Cell)));
        narrow(&mut unit, |_| false);
        assert_eq!(unit.dataflow.node(sum).args[0], a);
    }

    #[test]
    fn what_is_alive_afterwards_is_wanted_of_all() {
        let (mut unit, [a, b, p, choice, sum]) = store_of_a_choice();
        let found = wanted(&unit, |_| true, |_| true);
        let of = |id: Id| found[id.index()];
        assert_eq!([b, choice, sum].map(of), [Wanted::All; 3]);
        assert_eq!([a, p].map(of), [Wanted::Where(p), Wanted::All]);
        assert_eq!(inputs(&unit, |_| true), BTreeSet::from([0, 1, 2, 3].map(Cell)));
        narrow(&mut unit, |_| true);
        assert_eq!(unit.dataflow.node(sum).args[0], choice);
    }

    #[test]
    fn bounds_are_of_what_grows_by_one() {
        let (unit, [a, .., sum]) = store_of_a_choice();
        let mut d = unit.dataflow;
        let (grows, limit) = (Id(0), Id(1));
        let bounded = [d.less(true, grows, limit), d.equal(limit, grows)];
        let both = d.both(a, bounded[0]);
        assert!([bounded[0], bounded[1], both].into_iter().all(|holds| Bound::of(&d, holds).is_some()));
        let free = [d.less(false, limit, grows), d.less(false, a, limit), d.equal(sum, limit)];
        assert!(free.into_iter().all(|holds| Bound::of(&d, holds).is_none()));
    }
}

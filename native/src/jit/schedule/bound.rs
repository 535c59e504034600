//! Bounds of loops: a loop covers only the first items of a row if its results are needed for no
//! other items.

use super::super::cells::Cell;
use super::super::dataflow::{Access, Id, Op};
use super::super::demand::{Bound, Wanted, wanted};
use super::super::unit::Unit;
use super::{Class, Schedule};

/// Limits loops to the items whose results are needed.
pub(super) fn bound_stages(plan: &mut Schedule, unit: &Unit, live: impl Fn(Cell) -> bool) {
    let dataflow = &unit.dataflow;
    if !(0..dataflow.accesses.len() as u32).any(|number| plan.is_of_first(dataflow, number)) {
        return;
    }
    let wanted = wanted(unit, live, |number| plan.is_of_first(dataflow, number));
    for (number, stage) in (0..).zip(&mut plan.stages) {
        let words = stage.keeps.iter().map(|&(id, _)| id).chain(stage.stores.iter().map(|&(_, id)| id));
        let mut wanted = words.map(|id| wanted[id.index()]);
        let Some(Wanted::Where(holds)) = wanted.next() else { continue };
        let is_known = |bound: Bound| bound.words().iter().all(|word| plan.stage_of[word.index()] <= number);
        if !stage.condition
            && wanted.all(|other| other == Wanted::Where(holds))
            && Bound::of(dataflow, holds).is_some_and(is_known)
        {
            stage.first = Some(holds);
        }
    }
    let is_first = |access: &Access, user: Id| {
        let stage = plan.stage_of.get(user.index()).and_then(|&stage| plan.stages.get(stage as usize));
        plan.class[user.index()] == Class::Inline && stage.is_some_and(|stage| stage.first == access.guard)
    };
    let mut read_first: Vec<bool> =
        (0..dataflow.accesses.len() as u32).map(|number| plan.is_of_first(dataflow, number)).collect();
    let mut reads = |value: Id, user: Option<Id>| {
        if let Op::Loaded(number, _) = dataflow.op(value)
            && let (Some(first), Some(access)) =
                (read_first.get_mut(number as usize), dataflow.accesses.get(number as usize))
        {
            *first &= user.is_some_and(|user| is_first(access, user));
        }
    };
    unit.finals.iter().for_each(|&(_, value)| reads(value, None));
    for user in (0..dataflow.nodes.len() as u32).map(Id) {
        match dataflow.op(user) {
            Op::Access(number) => {
                let words = dataflow.accesses[number as usize].action.words();
                words.into_iter().for_each(|value| reads(value, None));
            }
            _ if wanted[user.index()] == Wanted::Nobodys => {}
            _ => dataflow.args(user).into_iter().for_each(|value| reads(value, Some(user))),
        }
    }
    plan.read_first = read_first;
}

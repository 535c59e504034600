//! Which operations can be in one bundle, found out once a pair.

use std::cell::Cell;

use super::op::Op;

/// Operations, and what is known of pairs of them.
pub(crate) struct Pairs<'a> {
    ops: &'a [Op],
    /// For each operation the units that it needs, a bit each.
    units: Vec<u8>,
    /// For each pair whether the two interact, once it was asked; empty where there are too many pairs.
    known: Vec<Cell<Option<bool>>>,
}

/// Of more operations it is found out each time.
const MAX_KNOWN: usize = 1024;

impl<'a> Pairs<'a> {
    /// Nothing is known yet.
    pub fn new(ops: &'a [Op]) -> Pairs<'a> {
        let pairs = if ops.len() <= MAX_KNOWN { ops.len() * ops.len() } else { 0 };
        let units = ops.iter().map(|op| op.insts().fold(0, |units, inst| units | 1 << inst.unit() as u8)).collect();
        Pairs { ops, units, known: vec![Cell::new(None); pairs] }
    }

    /// The units that an operation needs, a bit each.
    pub fn units(&self, op: u32) -> u8 {
        self.units.get(op as usize).copied().unwrap_or(u8::MAX)
    }

    /// Whether two operations want one unit or one port, or one hears what the other hands over.
    pub fn interact(&self, a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        let known = self.known.get(low as usize * self.ops.len() + high as usize);
        known.and_then(Cell::get).unwrap_or_else(|| {
            let (Some(a), Some(b)) = (self.ops.get(low as usize), self.ops.get(high as usize)) else { return true };
            let interact = a.interacts(b);
            known.into_iter().for_each(|known| known.set(Some(interact)));
            interact
        })
    }

    /// Whether an operation may join the others of a bundle.
    pub fn fits(&self, bundle: &[u32], op: u32) -> bool {
        let disjoint = |other: u32| {
            let pair = self.ops.get(op as usize).zip(self.ops.get(other as usize));
            pair.is_some_and(|(a, b)| a.footprint.is_disjoint(&b.footprint))
        };
        // Most that do not fit find their unit taken.
        let units = self.units(op);
        bundle.iter().all(|&other| units & self.units(other) == 0)
            && bundle.iter().all(|&other| disjoint(other) && !self.interact(op, other))
    }
}
